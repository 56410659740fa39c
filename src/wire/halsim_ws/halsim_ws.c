/* halsim_ws.c: what a robot program says over HALSim's WebSocket becomes commands; sensors and driver station are told.
 *
 * A program says each value once, when it changes. So what it said is kept, and submitted again after a reset and after a
 * watchdog; and what it was told is kept, so that only changes leave. A program that comes hears everything.
 */
#include "wire/halsim_ws/halsim_ws.h"

#include "halsim/exchange.h"
#include "halsim/station.h"
#include "wire/halsim_ws/explain.h"
#include "wire/halsim_ws/link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 2048 /* of the longest that leaves */

typedef struct halsim_ws {
  const tt_halsim_ws_config *config;
  tt_halsim_map map;
  tt_halsim *halsim;
  tt_halsim_link *link;
  tt_websocket *websocket; /* NULL: no program is there */
  tt_submission *submissions;
  uint64_t heard;                            /* valid messages since the last receive */
  bool again;                                /* what was said before is to be submitted again */
  bool held;                                 /* the driver station keeps commands from the robot */
  char refused[160];                         /* why, as told last */
  double seconds;                            /* simulated, between two sends */
  int station_every;                         /* sends */
  int station_due;                           /* sends until the station is told */
  tt_ds_joystick joysticks[TT_DS_JOYSTICKS]; /* as told */
} halsim_ws;

/* --- opening --- */

static void on_open(void *context, tt_websocket *websocket);
static void on_message(void *context, bool text, const uint8_t *bytes, size_t size);
static void on_close(void *context, bool came, const char *reason);

static void send_text(tt_wire *wire, const char *text, size_t size);

/* A program keeps what it was told last: without this it would go on as enabled, and drive whatever it finds next. */
static void disable_program(tt_wire *wire) {
  tt_driver_station off = *tt_wire_driver_station(wire);
  char text[TT_HALSIM_STATION_BYTES];
  off.enabled = false;
  send_text(wire, text, tt_halsim_write_station(&off, text, sizeof text));
}

static void close_wire(tt_wire *wire) {
  halsim_ws *self = wire->self;
  if (self->websocket && wire->tells_driver_station) disable_program(wire);
  tt_halsim_link_close(self->link);
  tt_halsim_free(self->halsim);
  tt_halsim_map_clear(&self->map);
  free(self->submissions);
  free(self);
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
}

static tt_status prepare(tt_wire *wire, halsim_ws *self, tt_error *error) {
  static const tt_halsim_link_handler handler = {on_open, on_message, on_close};
  const tt_halsim_ws_config *config = self->config;
  TT_TRY(tt_halsim_map_resolve(config->devices, config->device_count, wire->names, wire->model,
                               wire->robot, wire->where, &self->map, error));
  wire->owned = self->map.commands;
  wire->owned_count = self->map.command_count;
  wire->tells_driver_station = !config->ds || *config->ds;
  self->seconds = tt_model_timestep(wire->model) * (double)wire->period_steps;
  self->station_every = (int)fmax(1, rint(TT_HALSIM_STATION_PERIOD / self->seconds));
  self->halsim = tt_halsim_new(&self->map);
  self->submissions = calloc((size_t)self->map.count + 1, sizeof *self->submissions);
  if (!self->halsim || !self->submissions) return tt_fail(error, TT_NOMEM, "out of memory");
  if (wire->check_only) return TT_OK;
  return tt_halsim_link_open(wire, config, &handler, wire, &self->link, error);
}

static tt_status open_wire(tt_wire *wire, const void *config, tt_error *error) {
  halsim_ws *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->config = config;
  tt_status status = prepare(wire, self, error);
  if (status != TT_OK) close_wire(wire);
  return status;
}

/* --- the program comes and goes --- */

static void on_open(void *context, tt_websocket *websocket) {
  tt_wire *wire = context;
  halsim_ws *self = wire->self;
  self->websocket = websocket;
  self->station_due = 0;
  self->heard = 0;
  self->again = false;
  self->refused[0] = '\0';
  memset(self->joysticks, 0, sizeof self->joysticks);
  tt_halsim_forget(self->halsim);
  wire->state = TT_WIRE_WAITING;
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", tt_websocket_peer(websocket));
  tt_wire_event(wire, "connected %s", wire->stats.peer);
}

/* What it commanded ends with the wire's watchdog. */
static void on_close(void *context, bool came, const char *reason) {
  tt_wire *wire = context;
  halsim_ws *self = wire->self;
  if (!came) { /* the next attempts often say the same */
    if (strncmp(self->refused, reason, sizeof self->refused - 1) != 0)
      tt_wire_event(wire, "refused: %s", reason);
    snprintf(self->refused, sizeof self->refused, "%s", reason);
    return;
  }
  self->websocket = NULL;
  tt_wire_event(wire, "disconnected %s: %s", wire->stats.peer, reason);
  wire->state = TT_WIRE_WAITING;
  wire->stats.peer[0] = '\0';
  if (strcmp(self->config->on_disconnect, "reset") == 0) tt_wire_request_reset(wire);
}

/* --- receiving --- */

static void on_message(void *context, bool text, const uint8_t *bytes, size_t size) {
  tt_wire *wire = context;
  halsim_ws *self = wire->self;
  tt_halsim_message message;
  tt_halsim_fault fault;
  tt_error error = {.text = "it is binary; HALSim's messages are text"};
  tt_wire_received(wire, bytes, size);
  if (!text || tt_halsim_read((const char *)bytes, size, &message, &error) != TT_OK) {
    tt_wire_drop(wire, TT_DROP_SYNTAX, wire->stats.peer, bytes, size, "%s", error.text);
    return;
  }
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  int count = tt_halsim_values(&message, values);
  if (tt_halsim_hear(self->halsim, message.type, message.device, values, count, &fault) == TT_OK)
    self->heard++;
  else
    tt_wire_drop(wire, fault.drop, wire->stats.peer, bytes, size, "%s", fault.text);
  tt_halsim_message_clear(&message);
}

/* A program that nobody else keeps busy says nothing while nothing changes: then its connection is its word. */
static void receive(tt_wire *wire) {
  halsim_ws *self = wire->self;
  bool is_quiet = self->websocket && !wire->tells_driver_station && wire->state != TT_WIRE_WAITING;
  bool let_go = tt_halsim_is_let_go(tt_wire_driver_station(wire), &self->held);
  if (let_go && self->websocket) self->again = true;
  if (!self->heard && !self->again && !is_quiet) return;
  if (self->again || wire->state == TT_WIRE_SILENT) tt_halsim_repeat(self->halsim);
  int count = tt_halsim_take(self->halsim, self->submissions);
  uint64_t counted = wire->stats.accepted + self->heard;
  self->heard = 0;
  self->again = false;
  if (count > 0)
    tt_wire_submit(wire, self->submissions, count, NULL); /* checked when it was heard */
  else
    tt_wire_alive(wire);
  wire->stats.accepted = counted;
}

/* --- sending --- */

static void send_text(tt_wire *wire, const char *text, size_t size) {
  halsim_ws *self = wire->self;
  if (size == 0 || !self->websocket) return;
  tt_wire_sent(wire, text, size, tt_websocket_send(self->websocket, true, text, size) == TT_OK);
}

static void tell(void *context, const char *type, const char *device, const tt_halsim_value *values,
                 int count) {
  char text[MESSAGE_BYTES];
  size_t size = tt_halsim_write(type, device, values, count, text, sizeof text);
  send_text(context, text, size);
}

static void send_station(tt_wire *wire) {
  halsim_ws *self = wire->self;
  const tt_driver_station *station = tt_wire_driver_station(wire);
  char text[TT_HALSIM_STATION_BYTES];
  if (self->station_due-- > 0) return;
  self->station_due = self->station_every - 1;
  for (int i = 0; i < TT_DS_JOYSTICKS; i++) {
    const tt_ds_joystick *joystick = &station->joysticks[i];
    if (tt_halsim_same_joystick(joystick, &self->joysticks[i])) continue;
    self->joysticks[i] = *joystick;
    send_text(wire, text, tt_halsim_write_joystick(i, joystick, text, sizeof text));
  }
  send_text(wire, text, tt_halsim_write_station(station, text, sizeof text));
}

/* Sensors first: what the driver station says lets the program look at them. */
static void send_view(tt_wire *wire, const tt_view *view) {
  halsim_ws *self = wire->self;
  if (!self->websocket) return;
  tt_halsim_tell(self->halsim, view, self->seconds, tell, wire);
  if (wire->tells_driver_station) send_station(wire);
  tt_halsim_list_strangers(self->halsim, self->seconds, wire->name, wire->names, wire->model,
                           wire->robot);
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  halsim_ws *self = wire->self;
  tt_halsim_restart(self->halsim);
  self->again = self->websocket != NULL;
}

static const char *address(const tt_wire *wire) {
  const halsim_ws *self = wire->self;
  if (self->link) return tt_halsim_link_address(self->link);
  return self->config->listen ? self->config->listen : self->config->connect;
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  (void)wire;
  (void)incoming;
  tt_halsim_explain(to);
}

static void list_names(const tt_wire *wire, FILE *to) {
  const halsim_ws *self = wire->self;
  tt_halsim_map_print(&self->map, to);
}

const tt_wire_ops tt_halsim_ws_ops = {
    .protocol = "halsim-ws",
    .open = open_wire,
    .receive = receive,
    .send = send_view,
    .reset = reset,
    .address = address,
    .explain = explain,
    .close = close_wire,
    .list_names = list_names,
};

/* sharp_json.c: the vehicle's end of the sharp-json wire: motor speeds of the newest message in, encoder counts out.
 *
 * A message may leave keys out, which then keep their last value, so messages are read in the order of arrival
 * into one set of values, and that set is submitted at receive. Start and guide act when they go from 0 to 1,
 * also where several messages arrive in one period.
 */
#include "wire/sharp_json/sharp_json.h"

#include "base/clock.h"
#include "wire/convert.h"
#include "wire/sharp_json/explain.h"
#include "wire/udp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE -1
#define TELL_AGAIN_AFTER 1.0 /* s simulated: who drives, where many do in turn */

typedef struct sharp_json {
  tt_wire_udp link; /* first: see wire/udp.h */
  tt_sharp_style style;
  int commands[TT_SHARP_MOTORS]; /* indices into model->commands, or NONE */
  tt_conversion command_conversions[TT_SHARP_MOTORS];
  bool reads[TT_SHARP_MOTORS]; /* there is a sensor */
  tt_signal sensors[TT_SHARP_MOTORS];
  tt_conversion sensor_conversions[TT_SHARP_MOTORS];
  int match_timer; /* command index */
  int owned[TT_SHARP_MOTORS];

  int values[TT_SHARP_COMMAND_VALUES]; /* as last heard */
  bool pending;                        /* a message waits for receive */
  bool start_pressed, guide_pressed;   /* since the last receive */
  char pending_peer[64];
  char told_peer[64]; /* who drives, as told last */
  double told_at;     /* s of tt_wire_run_time() */
  uint64_t sent_ns;   /* wall clock of the newest state */
  uint64_t due_ns;    /* wall clock from which on the next one may leave */
  bool tells_reset;   /* the next one is the first after a reset */
  bool said_unknown;  /* which keys mean nothing here */
} sharp_json;
_Static_assert(offsetof(sharp_json, link) == 0, "the operations of wire/udp.h find the link there");

/* --- opening --- */

static tt_status resolve_command(tt_wire *wire, const tt_name_entry *entry, int index,
                                 tt_error *error) {
  sharp_json *self = wire->self;
  char where[512];
  self->commands[index] = NONE;
  if (strcmp(entry->name, "none") == 0) return TT_OK;
  snprintf(where, sizeof where, "%s.commands[%d]", wire->where, index);
  int *command = &self->commands[index];
  TT_TRY(tt_names_find_command(wire->names, entry->name, wire->robot, where, command, error));
  self->owned[wire->owned_count++] = *command;
  return tt_conversion_prepare(entry, wire->model->commands[*command].dimension, where,
                               &self->command_conversions[index], error);
}

static tt_status resolve_sensor(tt_wire *wire, const tt_name_entry *entry, int index,
                                tt_error *error) {
  sharp_json *self = wire->self;
  char where[512];
  if (strcmp(entry->name, "none") == 0) return TT_OK;
  snprintf(where, sizeof where, "%s.sensors[%d]", wire->where, index);
  self->reads[index] = true;
  tt_signal *signal = &self->sensors[index];
  TT_TRY(tt_names_find_signal(wire->names, entry->name, wire->robot, where, signal, error));
  return tt_conversion_prepare(entry, signal->dimension, where, &self->sensor_conversions[index],
                               error);
}

static tt_status resolve(tt_wire *wire, const tt_sharp_json_config *config, tt_error *error) {
  sharp_json *self = wire->self;
  wire->owned = self->owned;
  for (int i = 0; i < TT_SHARP_MOTORS; i++) {
    TT_TRY(resolve_command(wire, &config->commands[i], i, error));
    TT_TRY(resolve_sensor(wire, &config->sensors[i], i, error));
  }
  self->match_timer = NONE;
  for (int i = 0; i < wire->model->command_count; i++) {
    if (wire->model->commands[i].kind == TT_COMMAND_MATCH_TIMER) self->match_timer = i;
  }
  return TT_OK;
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer);

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  const tt_sharp_json_config *config = untyped;
  sharp_json *self = calloc(1, sizeof *self);
  if (self == NULL) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->link.bind = config->bind;
  tt_sharp_style_parse(config->style, &self->style);
  tt_status status = resolve(wire, config, error);
  if (status == TT_OK && !wire->check_only)
    status = tt_wire_open_udp(wire, &config->common, config->bind, config->peer,
                              TT_SHARP_MAX_DATAGRAM, on_datagram, &self->link, error);
  if (status != TT_OK) tt_wire_close_udp(wire);
  return status;
}

/* --- receiving --- */

/** A motor's speed in SI: the wire's number as a part of full speed, converted as the scene says. */
static double motor_speed(const sharp_json *self, int motor, const int *values) {
  double part = (double)values[TT_SHARP_LEFT_DRIVE + motor] / TT_SHARP_FULL;
  return tt_convert_in(&self->command_conversions[motor], part);
}

/** Whether every motor takes the speed asked of it; a scale of the scene may ask for too much. */
static bool in_range(tt_wire *wire, const int *values, tt_refusal *fault) {
  const sharp_json *self = wire->self;
  for (int i = 0; i < TT_SHARP_MOTORS; i++) {
    if (self->commands[i] == NONE) continue;
    const tt_command *command = &wire->model->commands[self->commands[i]];
    double speed = motor_speed(self, i, values);
    if (speed >= command->lower && speed <= command->upper) continue;
    fault->drop = TT_DROP_RANGE;
    snprintf(fault->text, sizeof fault->text, "%s is %g, not within %g to %g", command->name, speed,
             command->lower, command->upper);
    return false;
  }
  return true;
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer) {
  tt_wire *wire = context;
  sharp_json *self = wire->self;
  int values[TT_SHARP_COMMAND_VALUES];
  tt_refusal fault = {TT_DROP_LENGTH, "longer than any message of this wire"};
  char unknown[TT_SHARP_UNKNOWN_TEXT] = "";
  memcpy(values, self->values, sizeof values);
  tt_wire_received(wire, bytes, size);
  if (truncated ||
      tt_sharp_decode(&tt_sharp_command_format, bytes, size, values,
                      self->said_unknown ? NULL : unknown, &fault) != TT_OK ||
      !in_range(wire, values, &fault)) {
    tt_wire_drop(wire, fault.drop, peer, bytes, size, "%s", fault.text);
    return;
  }
  if (!tt_wire_take_udp(wire, &self->link, peer, bytes, size)) return;
  if (unknown[0] != '\0') {
    self->said_unknown = true;
    tt_wire_event(wire, "these keys of %s mean nothing here: %s", peer, unknown);
  }
  if (self->pending) {
    tt_wire_drop(wire, TT_DROP_SUPERSEDED, peer, bytes, size,
                 "a newer message came in the same period");
  }
  self->start_pressed |= values[TT_SHARP_START] && !self->values[TT_SHARP_START];
  self->guide_pressed |= values[TT_SHARP_GUIDE] && !self->values[TT_SHARP_GUIDE];
  memcpy(self->values, values, sizeof values);
  self->pending = true;
  snprintf(self->pending_peer, sizeof self->pending_peer, "%s", peer);
}

static void tell_driver(tt_wire *wire) {
  sharp_json *self = wire->self;
  double now = tt_wire_run_time(wire);
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", self->pending_peer);
  if (strcmp(self->told_peer, self->pending_peer) == 0 ||
      (self->told_peer[0] && now - self->told_at < TELL_AGAIN_AFTER))
    return;
  tt_wire_event(wire, "driven by %s", self->pending_peer);
  snprintf(self->told_peer, sizeof self->told_peer, "%s", self->pending_peer);
  self->told_at = now;
}

static void submit_pending(tt_wire *wire) {
  sharp_json *self = wire->self;
  tt_submission submissions[TT_SHARP_MOTORS + 1];
  int count = 0;
  for (int i = 0; i < TT_SHARP_MOTORS; i++) {
    if (self->commands[i] == NONE) continue;
    submissions[count++] = (tt_submission){self->commands[i], motor_speed(self, i, self->values)};
  }
  if (self->start_pressed && self->match_timer != NONE) {
    submissions[count++] = (tt_submission){self->match_timer, 1};
  }
  self->pending = self->start_pressed = false;
  tell_driver(wire);
  tt_wire_submit(wire, submissions, count, NULL); /* checked when it arrived */
}

static void receive(tt_wire *wire) {
  sharp_json *self = wire->self;
  tt_wire_advance_udp(wire, &self->link);
  if (self->pending) submit_pending(wire);
  if (self->guide_pressed) tt_wire_request_reset(wire);
  self->guide_pressed = false;
}

static bool wants_reset(tt_wire *wire) { return ((sharp_json *)wire->self)->guide_pressed; }

/* --- sending --- */

/* A world that was late makes up for it in one go. A core that reads one state a loop would see these one by one, each
 * older than the one before was: they are left out, and the one of the present leaves. Where a world never catches up, states
 * leave all the same. */
static bool is_past(tt_wire *wire, uint64_t now) {
  const sharp_json *self = wire->self;
  return tt_wire_is_behind(wire) && now - self->sent_ns < (uint64_t)(TT_SHARP_PERIOD * 1e9);
}

/* ns of wall clock between two states, on average: a core reads no more however fast its world runs, unless the scene's own
 * period says that it does. */
static uint64_t least_interval(const tt_wire *wire) {
  double period = (double)wire->period_steps * tt_model_timestep(wire->model);
  return (uint64_t)(fmin(TT_SHARP_PERIOD, period) * 1e9);
}

/* A world faster than real time makes more states than a core reads. */
static bool is_one_too_many(const tt_wire *wire, uint64_t now) {
  const sharp_json *self = wire->self;
  return wire->realtime && now < self->due_ns;
}

static void send_state(tt_wire *wire, const tt_view *view) {
  sharp_json *self = wire->self;
  uint64_t now = tt_monotonic_ns(), due = self->due_ns + least_interval(wire);
  if (!self->tells_reset && (is_past(wire, now) || is_one_too_many(wire, now))) return;
  self->tells_reset = false;
  self->sent_ns = now;
  if (due > now + least_interval(wire)) due = now + least_interval(wire); /* of many resets */
  self->due_ns = due > now ? due : now; /* one that was late doesn't delay the next */
  int values[TT_SHARP_STATE_VALUES] = {0};
  for (int i = 0; i < TT_SHARP_MOTORS; i++) {
    if (!self->reads[i]) continue;
    double count = (double)tt_convert_out(&self->sensor_conversions[i],
                                          tt_signal_read(&self->sensors[i], view));
    values[i] = (int)lrint(fmax(0, fmin(TT_SHARP_TICKS - 1, count)));
  }
  char text[TT_SHARP_MAX_TEXT];
  size_t size = tt_sharp_encode(&tt_sharp_state_format, self->style, values, text);
  tt_wire_send_udp(wire, &self->link, text, size);
}

/* --- the rest of the contract --- */

/** Speeds start from rest; the buttons stay as they are, so that one still held is not pressed again. A core knows a reset
 *  by the encoders alone, so that the state which tells it leaves in any case. */
static void reset(tt_wire *wire) {
  sharp_json *self = wire->self;
  for (int i = 0; i < TT_SHARP_MOTORS; i++) self->values[TT_SHARP_LEFT_DRIVE + i] = 0;
  self->pending = false;
  self->tells_reset = true;
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  (void)wire;
  tt_sharp_explain(incoming ? &tt_sharp_command_format : &tt_sharp_state_format, to);
}

static const char *const command_lists[] = {"commands", NULL};

const tt_wire_ops tt_sharp_json_ops = {
    .command_lists = command_lists,
    .protocol = "sharp-json",
    .open = open_wire,
    .poll = tt_wire_poll_udp,
    .receive = receive,
    .wants_reset = wants_reset,
    .must_wait = tt_wire_udp_must_wait,
    .send = send_state,
    .reset = reset,
    .eject = tt_wire_eject_udp,
    .address = tt_wire_udp_address,
    .explain = explain,
    .close = tt_wire_close_udp,
};

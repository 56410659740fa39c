/* halsim_step.c: a robot program on WPILib drives the world frame by frame.
 *
 * The program's end is tether-halsim.so in its process. It says hello, and once the program waits for its clock what the program
 * uses; from then on each frame of ours is answered by what the program gave in that period. Programs say what changes, so
 * everything that comes is heard, also what answers a frame that the world has left behind (policies hold and zero, a reset).
 *
 * What belongs to one program, but its connection, stands in `program`.
 */
#include "wire/halsim_step/halsim_step.h"

#include "base/clock.h"
#include "base/log.h"
#include "halsim/exchange.h"
#include "halsim/station.h"
#include "wire/halsim_step/codec.h"
#include "wire/halsim_step/explain.h"
#include "wire/stream.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_BYTES (TT_STEP_MOST_BYTES + TT_STEP_LENGTH) /* unread */
#define MESSAGE_BYTES 2048                                 /* of the longest that leaves */
#define MOST_TROUBLES 16 /* of a connection that are told: nobody fills the log */

typedef enum phase {
  UNHEARD,  /* it has not said hello */
  STARTING, /* the program does not wait for its clock yet */
  RUNNING,  /* it is sent frames */
} phase;

typedef struct program {
  phase phase;
  bool heard;                                /* it answered, and receive has not obeyed that yet */
  int troubles;                              /* told */
  tt_ds_joystick joysticks[TT_DS_JOYSTICKS]; /* as told */
} program;

typedef struct halsim_step {
  tt_wire_stream stream;
  const tt_halsim_step_config *config;
  tt_halsim_map map;
  tt_halsim *halsim;
  tt_submission *submissions;
  double seconds;      /* of a period */
  uint64_t next_frame; /* its number */
  bool again;          /* what was said before is to be submitted again */
  bool held;           /* the driver station keeps commands from the robot */
  program program;
  tt_bytes frame; /* the latest that left */
} halsim_step;

/* --- opening --- */

static void take_frames(tt_wire *wire);
static void forget(tt_wire *wire);

static void close_wire(tt_wire *wire) {
  halsim_step *self = wire->self;
  tt_halsim_free(self->halsim);
  tt_halsim_map_clear(&self->map);
  tt_bytes_free(&self->frame);
  free(self->submissions);
  tt_wire_close_stream(wire);
}

static tt_status prepare(tt_wire *wire, halsim_step *self, tt_error *error) {
  const tt_halsim_step_config *config = self->config;
  TT_TRY(tt_halsim_map_resolve(config->devices, config->device_count, wire->names, wire->model,
                               wire->robot, wire->where, &self->map, error));
  wire->owned = self->map.commands;
  wire->owned_count = self->map.command_count;
  wire->tells_driver_station = !self->config->ds || *self->config->ds;
  self->seconds = tt_model_timestep(wire->model) * (double)wire->period_steps;
  self->halsim = tt_halsim_new(&self->map);
  self->submissions = calloc((size_t)self->map.count + 1, sizeof *self->submissions);
  if (!self->halsim || !self->submissions) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_wire_stream_use use = {.whom = "robot program",
                            .refusal = "one robot program at a time",
                            .listen = config->listen,
                            .enough = ENOUGH_BYTES,
                            .then = tt_wire_disconnect_of(config->on_disconnect),
                            .take = take_frames,
                            .lost = forget};
  return tt_wire_open_stream(wire, &use, &config->common, error);
}

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  halsim_step *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->config = untyped;
  tt_status status = prepare(wire, self, error);
  if (status != TT_OK) close_wire(wire);
  return status;
}

/* --- a frame leaves --- */

static void tell(void *context, const char *type, const char *device, const tt_halsim_value *values,
                 int count) {
  char text[MESSAGE_BYTES];
  size_t size = tt_halsim_write(type, device, values, count, text, sizeof text);
  if (size > 0) tt_step_add(context, text, size);
}

static void tell_station(tt_wire *wire, tt_bytes *to) {
  halsim_step *self = wire->self;
  const tt_driver_station *station = tt_wire_driver_station(wire);
  char text[TT_HALSIM_STATION_BYTES];
  size_t size;
  for (int i = 0; i < TT_DS_JOYSTICKS; i++) {
    const tt_ds_joystick *joystick = &station->joysticks[i];
    if (tt_halsim_same_joystick(joystick, &self->program.joysticks[i])) continue;
    self->program.joysticks[i] = *joystick;
    size = tt_halsim_write_joystick(i, joystick, text, sizeof text);
    if (size > 0) tt_step_add(to, text, size);
  }
  size = tt_halsim_write_station(station, text, sizeof text);
  if (size > 0) tt_step_add(to, text, size);
}

/* Whole µs whose sum keeps to the world's time, though a period may be none. */
static int64_t length_of(const halsim_step *self, uint64_t frame) {
  return llround((double)(frame + 1) * self->seconds * 1e6) -
         llround((double)frame * self->seconds * 1e6);
}

/* Sensors first: what the driver station says lets the program look at them. */
static void send_frame(tt_wire *wire) {
  halsim_step *self = wire->self;
  uint64_t frame = self->next_frame - 1;
  tt_bytes_cut(&self->frame, 0);
  tt_step_begin(&self->frame, frame, length_of(self, frame));
  tt_halsim_tell(self->halsim, tt_wire_view(wire), self->seconds, tell, &self->frame);
  if (wire->tells_driver_station) tell_station(wire, &self->frame);
  self->stream.owed++;
  self->stream.sent_at = tt_monotonic_ns();
  bool sent = tt_step_end(&self->frame) &&
              tt_tcp_send(self->stream.tcp, self->frame.data, self->frame.size) == TT_OK;
  tt_wire_sent(wire, self->frame.data, self->frame.size, sent);
}

static void forget(tt_wire *wire) {
  halsim_step *self = wire->self;
  self->program = (program){.phase = UNHEARD};
  self->again = false;
  tt_halsim_forget(self->halsim);
}

/* --- a frame comes --- */

/* Of a message that is wrong in itself the program's others are heard; one that can't be read ends the connection. */
static tt_status hear(tt_wire *wire, const char *text, size_t size, tt_error *error) {
  halsim_step *self = wire->self;
  tt_halsim_message message;
  tt_halsim_fault fault;
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  TT_TRY(tt_halsim_read(text, size, &message, error));
  int count = tt_halsim_values(&message, values);
  if (tt_halsim_hear(self->halsim, message.type, message.device, values, count, &fault) != TT_OK)
    tt_wire_drop(wire, fault.drop, wire->stats.peer, (const uint8_t *)text, size, "%s", fault.text);
  tt_halsim_message_clear(&message);
  return TT_OK;
}

static tt_status read_head(const char *text, size_t size, tt_step_head *head, tt_error *error) {
  tt_halsim_message message;
  TT_TRY(tt_halsim_read(text, size, &message, error));
  tt_status status = tt_step_read_head(&message, head, error);
  tt_halsim_message_clear(&message);
  return status;
}

static tt_status take_hello(tt_wire *wire, const tt_step_head *head, tt_error *error) {
  halsim_step *self = wire->self;
  if (head->version != TT_STEP_VERSION)
    return tt_fail(error, TT_INVALID,
                   "its tether-halsim.so speaks version %lld, and this Tether %d: use the one that "
                   "came with this Tether",
                   (long long)head->version, TT_STEP_VERSION);
  if (self->program.phase != UNHEARD) return tt_fail(error, TT_INVALID, "a second hello");
  self->program.phase = STARTING;
  tt_log_info("%s: robot program '%s' at %s", wire->name, head->text, wire->stats.peer);
  return TT_OK;
}

/* The first says what the program uses, and that it waits for its clock; each later one answers a frame. */
static tt_status take_answer(tt_wire *wire, tt_error *error) {
  halsim_step *self = wire->self;
  tt_wire_stream *stream = &self->stream;
  program *program = &self->program;
  if (program->phase == UNHEARD) return tt_fail(error, TT_INVALID, "no hello stands before it");
  if (program->phase == STARTING) {
    program->phase = RUNNING;
    if (stream->tcp) send_frame(wire); /* else it left while this stood unread */
    return TT_OK;
  }
  if (stream->owed == 0) return tt_fail(error, TT_INVALID, "it answers a frame that was not sent");
  stream->owed--;
  if (stream->stale > 0) {
    stream->stale--;
    return TT_OK;
  }
  stream->said = true;
  program->heard = true; /* also where it is late: the newest frame still wants its own */
  if (stream->owed > 0) return TT_OK;
  stream->answered = true;
  tt_wire_answered(wire, stream->sent_at);
  return TT_OK;
}

static void tell_trouble(tt_wire *wire, const char *text) {
  halsim_step *self = wire->self;
  if (self->program.troubles++ >= MOST_TROUBLES) return;
  tt_log_warning("%s: %s", wire->name, text);
  tt_wire_event(wire, "trouble: %s", text);
}

/* TT_CLOSED: it was the last. */
static tt_status take_frame(tt_wire *wire, const uint8_t *body, size_t body_size, tt_error *error) {
  size_t at = 0, size;
  const char *text;
  tt_step_head head;
  tt_status status = tt_step_line(body, body_size, &at, &text, &size, error);
  if (status == TT_END) return tt_fail(error, TT_INVALID, "an empty frame");
  if (status == TT_OK) status = read_head(text, size, &head, error);
  if (status != TT_OK) return status;
  while (head.kind == TT_STEP_ANSWER &&
         (status = tt_step_line(body, body_size, &at, &text, &size, error)) == TT_OK)
    TT_TRY(hear(wire, text, size, error));
  if (status != TT_OK && status != TT_END) return status;
  switch (head.kind) {
    case TT_STEP_HELLO: return take_hello(wire, &head, error);
    case TT_STEP_ANSWER: return take_answer(wire, error);
    case TT_STEP_TROUBLE: tell_trouble(wire, head.text); return TT_OK;
    default: return tt_fail(error, TT_CLOSED, "%s", head.text);
  }
}

/* False: the program is gone. */
static bool take_next(tt_wire *wire, const uint8_t *bytes, size_t whole, const uint8_t *body,
                      size_t body_size) {
  tt_error error = {.text = ""};
  tt_wire_received(wire, bytes, whole);
  tt_status status = take_frame(wire, body, body_size, &error);
  if (status == TT_OK) return true;
  if (status != TT_CLOSED)
    tt_wire_drop(wire, TT_DROP_SYNTAX, wire->stats.peer, bytes, whole,
                 "%s; the connection is closed", error.text);
  tt_wire_end_stream(wire, status == TT_CLOSED ? error.text : "its frame was refused");
  return false;
}

/* Takes whole frames out of the buffer until the newest one of ours is answered. Before frame 0 stands what a new program says
 * waits. */
static void take_frames(tt_wire *wire) {
  halsim_step *self = wire->self;
  tt_wire_stream *stream = &self->stream;
  size_t used = 0;
  while (stream->stands && !stream->answered) {
    const uint8_t *bytes = stream->bytes + used, *body;
    size_t body_size, whole;
    tt_error error;
    tt_status status = tt_step_frame(bytes, stream->size - used, &body, &body_size, &whole, &error);
    if (status == TT_AGAIN) break;
    if (status != TT_OK) {
      tt_wire_drop(wire, TT_DROP_LENGTH, wire->stats.peer, bytes, stream->size - used,
                   "%s; the connection is closed", error.text);
      tt_wire_end_stream(wire, "its frame was refused");
      return;
    }
    used += whole;
    if (!take_next(wire, bytes, whole, body, body_size)) return;
  }
  tt_wire_stream_taken(stream, used);
}

/* Its commands were made safe, and it does not know: it says what changes. */
static bool was_made_safe(const tt_wire *wire) {
  return wire->state == TT_WIRE_SILENT ||
         (wire->state == TT_WIRE_LATE && wire->late == TT_LATE_ZERO);
}

static void receive(tt_wire *wire) {
  halsim_step *self = wire->self;
  if (tt_halsim_is_let_go(tt_wire_driver_station(wire), &self->held)) self->again = true;
  tt_wire_obey_stream(&self->stream);
  if (!self->program.heard) return;
  self->program.heard = false;
  if (self->again || was_made_safe(wire)) tt_halsim_repeat(self->halsim);
  self->again = false;
  int count = tt_halsim_take(self->halsim, self->submissions);
  if (count > 0)
    tt_wire_submit(wire, self->submissions, count, NULL); /* checked when it was heard */
  else
    tt_wire_alive(wire);
}

/* --- sending --- */

static void send_view(tt_wire *wire, const tt_view *view) {
  halsim_step *self = wire->self;
  (void)view; /* tt_wire_view() is the same, also for a program that comes later */
  self->next_frame++;
  tt_wire_stand_stream(&self->stream);
  if (self->stream.tcp && self->program.phase == RUNNING) {
    send_frame(wire);
    tt_halsim_list_strangers(self->halsim, self->seconds, wire->name, wire->names, wire->model,
                             wire->robot);
  }
  tt_wire_reread_stream(wire); /* several may have come at once */
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  halsim_step *self = wire->self;
  tt_wire_reset_stream(wire);
  tt_halsim_restart(self->halsim);
  self->next_frame = 0;
  self->program.heard = false;
  self->again = true;
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  (void)wire;
  (void)incoming;
  tt_halsim_step_explain(to);
}

static void list_names(const tt_wire *wire, FILE *to) {
  const halsim_step *self = wire->self;
  tt_halsim_map_print(&self->map, to);
}

const tt_wire_ops tt_halsim_step_ops = {
    .protocol = "halsim-step",
    .open = open_wire,
    .receive = receive,
    .must_wait = tt_wire_stream_must_wait,
    .send = send_view,
    .reset = reset,
    .eject = tt_wire_eject_stream,
    .end_left = tt_wire_end_left_stream,
    .address = tt_wire_stream_address,
    .explain = explain,
    .close = close_wire,
    .list_names = list_names,
};

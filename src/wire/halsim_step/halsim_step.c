/* halsim_step.c: a robot program on WPILib drives the world frame by frame.
 *
 * The program's end is tether-halsim.so in its process. It says hello, and once the program waits for its clock what the program
 * uses; from then on each frame of ours is answered by what the program gave in that period. Programs say what changes, so
 * everything that comes is heard, also what answers a frame that the world has left behind (policies hold and zero, a reset).
 *
 * What belongs to one program (its connection, what it sent, what it is still owed) stands in `program`.
 */
#include "wire/halsim_step/halsim_step.h"

#include "base/log.h"
#include "halsim/exchange.h"
#include "halsim/station.h"
#include "wire/halsim_step/codec.h"
#include "wire/halsim_step/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more than this unread the program is not listened to until the world has caught up: it feels TCP's own
 * backpressure. A read brings at most READ_AT_MOST more. */
#define ENOUGH_BYTES (TT_STEP_MOST_BYTES + TT_STEP_LENGTH)
#define READ_AT_MOST 65536
#define MESSAGE_BYTES 2048 /* of the longest that leaves */
#define MOST_TROUBLES 16   /* of a connection that are told: nobody fills the log */
#define LIST_AFTER 0.5     /* s simulated without a new device: then strangers are listed */

typedef enum phase {
  UNHEARD,  /* it has not said hello */
  STARTING, /* the program does not wait for its clock yet */
  RUNNING,  /* it is sent frames */
} phase;

typedef struct program {
  tt_tcp *tcp; /* NULL: nobody */
  phase phase;
  size_t size; /* bytes in the buffer */
  bool paused;
  bool answered;    /* it has answered the newest frame */
  bool left;        /* it is gone, but what it had answered is still obeyed; `tcp` is NULL */
  uint64_t owed;    /* frames sent that it has not answered */
  uint64_t stale;   /* of those, sent before a reset */
  uint64_t sent_at; /* wall clock, ns, for statistics */
  double quiet;     /* s simulated since a stranger came */
  int strangers;
  int troubles;                              /* told */
  tt_ds_joystick joysticks[TT_DS_JOYSTICKS]; /* as told */
} program;

typedef enum on_disconnect {
  ON_DISCONNECT_RESET,
  ON_DISCONNECT_KEEP,
  ON_DISCONNECT_EXIT
} on_disconnect;

typedef struct halsim_step {
  const tt_halsim_step_config *config;
  on_disconnect on_disconnect;
  tt_tcp_server *server;
  tt_halsim_map map;
  tt_halsim *halsim;
  tt_submission *submissions;
  double seconds;      /* of a period */
  uint64_t next_frame; /* its number */
  bool
      frame_stands; /* the latest view is the present; false before the first and while a reset is on its way */
  bool again; /* what was said before is to be submitted again */
  bool held;  /* the driver station keeps commands from the robot */
  program program;
  tt_bytes frame;  /* the latest that left */
  uint8_t *buffer; /* of what the program sent: ENOUGH_BYTES + READ_AT_MOST */
} halsim_step;

/* --- opening --- */

static void on_open(void *context, tt_tcp *tcp);
static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size);
static void on_close(void *context, tt_tcp *tcp, const char *reason);

static tt_status open_socket(tt_wire *wire, halsim_step *self, tt_error *error) {
  const tt_halsim_step_config *config = self->config;
  tt_tcp_options options = tt_tcp_options_default();
  options.address = config->listen;
  options.max_connections = 2; /* the second one is told by us why it is refused */
  options.allow =
      (tt_allow){(const char *const *)config->common.allow, (int)config->common.allow_count};
  options.handler = (tt_tcp_handler){.on_open = on_open, .on_data = on_data, .on_close = on_close};
  options.context = wire;
  tt_error reason;
  tt_status status = tt_tcp_listen(wire->net, &options, &self->server, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

static void close_wire(tt_wire *wire) {
  halsim_step *self = wire->self;
  tt_tcp_server_close(self->server);
  tt_halsim_free(self->halsim);
  tt_halsim_map_clear(&self->map);
  tt_bytes_free(&self->frame);
  free(self->submissions);
  free(self->buffer);
  free(self);
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
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
  if (wire->check_only) return TT_OK;
  self->buffer = malloc(ENOUGH_BYTES + READ_AT_MOST);
  if (!self->buffer) return tt_fail(error, TT_NOMEM, "out of memory");
  return open_socket(wire, self, error);
}

static on_disconnect parse_policy(const char *text) {
  if (strcmp(text, "keep") == 0) return ON_DISCONNECT_KEEP;
  return strcmp(text, "exit") == 0 ? ON_DISCONNECT_EXIT : ON_DISCONNECT_RESET;
}

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  halsim_step *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->config = untyped;
  self->on_disconnect = parse_policy(self->config->on_disconnect);
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
  self->program.owed++;
  self->program.sent_at = tt_net_now();
  bool sent = tt_step_end(&self->frame) &&
              tt_tcp_send(self->program.tcp, self->frame.data, self->frame.size) == TT_OK;
  tt_wire_sent(wire, self->frame.data, self->frame.size, sent);
}

/* --- the program comes and goes --- */

static void lose_program(tt_wire *wire, const char *reason) {
  halsim_step *self = wire->self;
  tt_wire_event(wire, "disconnected %s: %s", wire->stats.peer, reason);
  self->program = (program){.tcp = NULL};
  self->again = false;
  tt_halsim_forget(self->halsim);
  wire->state = TT_WIRE_WAITING;
  wire->stats.peer[0] = '\0';
  if (self->on_disconnect == ON_DISCONNECT_RESET) {
    self->frame_stands = false;
    tt_wire_request_reset(wire);
  } else if (self->on_disconnect == ON_DISCONNECT_EXIT) {
    tt_wire_request_stop(wire, TT_OK, "its robot program is gone");
  }
}

static void close_program(tt_wire *wire, const char *reason) {
  halsim_step *self = wire->self;
  tt_tcp *tcp = self->program.tcp;
  lose_program(wire, reason);
  if (tcp) tt_tcp_close(tcp, reason);
}

static void on_open(void *context, tt_tcp *tcp) {
  tt_wire *wire = context;
  halsim_step *self = wire->self;
  if (self->program.left || (self->program.tcp && tt_tcp_closed(self->program.tcp)))
    close_program(wire, "closed by peer");
  if (self->program.tcp) {
    tt_wire_drop(wire, TT_DROP_REFUSED, tt_tcp_peer(tcp), NULL, 0,
                 "%s is connected; one robot program at a time", tt_tcp_peer(self->program.tcp));
    tt_tcp_close(tcp, "refused");
    return;
  }
  self->program = (program){.tcp = tcp};
  wire->state = TT_WIRE_WAITING; /* it gets its own time to start */
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", tt_tcp_peer(tcp));
  tt_wire_event(wire, "connected %s", tt_tcp_peer(tcp));
}

/* Whether the end comes together with the last answer or after its tick is chance; what the world does is not: every
 * answer that came gets its tick. */
static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  tt_wire *wire = context;
  halsim_step *self = wire->self;
  if (tcp != self->program.tcp) return;
  self->program.tcp = NULL;
  self->program.left = self->program.answered;
  if (!self->program.left) lose_program(wire, reason);
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
  program *program = &((halsim_step *)wire->self)->program;
  if (program->phase == UNHEARD) return tt_fail(error, TT_INVALID, "no hello stands before it");
  if (program->phase == STARTING) {
    program->phase = RUNNING;
    send_frame(wire);
    return TT_OK;
  }
  if (program->owed == 0) return tt_fail(error, TT_INVALID, "it answers a frame that was not sent");
  program->owed--;
  if (program->stale > 0) {
    program->stale--;
    return TT_OK;
  }
  if (program->owed > 0) return TT_OK;
  program->answered = true;
  tt_wire_answered(wire, program->sent_at);
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
  close_program(wire, status == TT_CLOSED ? error.text : "its frame was refused");
  return false;
}

/* Takes whole frames out of the buffer until the newest one of ours is answered. Before frame 0 stands what a new program says
 * waits. */
static void take_frames(tt_wire *wire) {
  halsim_step *self = wire->self;
  program *program = &self->program;
  size_t used = 0;
  while (self->frame_stands && !program->answered) {
    const uint8_t *bytes = self->buffer + used, *body;
    size_t body_size, whole;
    tt_error error;
    tt_status status =
        tt_step_frame(bytes, program->size - used, &body, &body_size, &whole, &error);
    if (status == TT_AGAIN) break;
    if (status != TT_OK) {
      tt_wire_drop(wire, TT_DROP_LENGTH, wire->stats.peer, bytes, program->size - used,
                   "%s; the connection is closed", error.text);
      close_program(wire, "its frame was refused");
      return;
    }
    used += whole;
    if (!take_next(wire, bytes, whole, body, body_size)) return;
  }
  program->size -= used;
  if (used > 0 && program->size > 0) memmove(self->buffer, self->buffer + used, program->size);
}

static void set_paused(halsim_step *self) {
  program *program = &self->program;
  bool paused = program->size > ENOUGH_BYTES;
  if (!program->tcp || program->paused == paused) return;
  program->paused = paused;
  tt_tcp_pause(program->tcp, paused);
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  tt_wire *wire = context;
  halsim_step *self = wire->self;
  if (tcp != self->program.tcp) return; /* refused, and not gone yet */
  memcpy(self->buffer + self->program.size, bytes, size);
  self->program.size += size;
  take_frames(wire);
  set_paused(self);
}

static bool must_wait(const tt_wire *wire) {
  const halsim_step *self = wire->self;
  return !self->program.answered;
}

/* While an e-stop holds commands change nothing, and whoever disables a robot makes it safe. */
static void watch_station(tt_wire *wire) {
  halsim_step *self = wire->self;
  const tt_driver_station *station = tt_wire_driver_station(wire);
  bool held = station->estop || !station->enabled;
  if (self->held && !held) self->again = true;
  self->held = held;
}

static void receive(tt_wire *wire) {
  halsim_step *self = wire->self;
  watch_station(wire);
  if (!self->program.answered) return;
  self->program.answered = false;
  if (self->again || wire->state == TT_WIRE_SILENT) tt_halsim_repeat(self->halsim);
  self->again = false;
  int count = tt_halsim_take(self->halsim, self->submissions);
  if (count > 0)
    tt_wire_submit(wire, self->submissions, count, NULL); /* checked when it was heard */
  else
    tt_wire_alive(wire);
}

/* --- sending --- */

/* Once a program has begun: what it uses and nobody mapped, each with the line that would. */
static void list_strangers(tt_wire *wire) {
  halsim_step *self = wire->self;
  program *program = &self->program;
  tt_halsim_stranger stranger;
  int count = tt_halsim_strangers(self->halsim);
  program->quiet = count == program->strangers ? program->quiet + self->seconds : 0;
  program->strangers = count;
  if (count == 0 || program->quiet < LIST_AFTER) return;
  while (tt_halsim_next_stranger(self->halsim, &stranger)) {
    char line[160 + 2 * TT_HALSIM_NAME];
    tt_halsim_propose(self->halsim, &stranger, wire->names, wire->model, wire->robot, line,
                      sizeof line);
    tt_log_warning("%s: the program uses %s %s, which no line of `devices` maps; for example %s",
                   wire->name, stranger.type, stranger.device, line);
  }
  program->strangers = 0;
}

static void send_view(tt_wire *wire, const tt_view *view) {
  halsim_step *self = wire->self;
  program *program = &self->program;
  (void)view; /* tt_wire_view() is the same, also for a program that comes later */
  self->next_frame++;
  self->frame_stands = true;
  if (program->tcp && program->phase == RUNNING) {
    send_frame(wire);
    list_strangers(wire);
  }
  if (!program->tcp && !program->left) return;
  take_frames(wire); /* several may have come at once */
  if (program->left && !program->answered) lose_program(wire, "closed by peer");
  set_paused(self);
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  halsim_step *self = wire->self;
  if (self->program.left) close_program(wire, "closed by peer");
  tt_halsim_restart(self->halsim);
  self->next_frame = 0;
  self->frame_stands = false;
  self->again = true;
  self->program.answered = false;
  self->program.stale = self->program.owed;
}

static void eject(tt_wire *wire) {
  halsim_step *self = wire->self;
  if (self->program.tcp) close_program(wire, "ejected: no answer in time");
}

static const char *address(const tt_wire *wire) {
  const halsim_step *self = wire->self;
  return self->server ? tt_tcp_server_address(self->server) : self->config->listen;
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
    .must_wait = must_wait,
    .send = send_view,
    .reset = reset,
    .eject = eject,
    .address = address,
    .explain = explain,
    .close = close_wire,
    .list_names = list_names,
};

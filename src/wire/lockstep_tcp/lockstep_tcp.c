/* lockstep_tcp.c: a client drives the world frame by frame.
 *
 * What belongs to one client (its connection, what it sent, what it is still owed) stands in `client`. Where every
 * client has a world of its own, each of those has a wire of its own, which is given its connection.
 */
#include "wire/lockstep_tcp/lockstep_tcp.h"

#include "base/log.h"
#include "wire/byte_order.h"
#include "wire/bytes.h"
#include "wire/convert.h"
#include "wire/explain.h"
#include "wire/lockstep_tcp/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With more than this unread the client is not listened to until the world has caught up: it feels TCP's own
 * backpressure. A read brings at most READ_AT_MOST more. */
#define ENOUGH_BYTES 8192
#define READ_AT_MOST 65536

typedef struct client {
  tt_tcp *tcp; /* NULL: nobody */
  size_t size; /* bytes in `buffer` */
  bool paused;
  bool answered;    /* it has answered the newest frame */
  bool ordered;     /* `velocities` are valid and wait for receive */
  bool left;        /* it is gone, but what it had answered is still obeyed; `tcp` is NULL */
  uint64_t owed;    /* frames sent that it has not answered */
  uint64_t stale;   /* of those, sent before a reset: their answers are thrown away */
  uint64_t sent_at; /* wall clock, ns, for statistics */
  float velocities[TT_LOCKSTEP_MAX];
  uint8_t buffer[ENOUGH_BYTES + READ_AT_MOST];
} client;

typedef enum on_disconnect {
  ON_DISCONNECT_RESET,
  ON_DISCONNECT_KEEP,
  ON_DISCONNECT_EXIT
} on_disconnect;

typedef struct lockstep_tcp {
  tt_tcp_server *server;
  on_disconnect on_disconnect;
  int joints;
  const char *names[TT_LOCKSTEP_MAX];
  tt_signal signals[TT_LOCKSTEP_MAX];
  bool wraps[TT_LOCKSTEP_MAX]; /* hinges do */
  int commands[TT_LOCKSTEP_MAX];
  tt_lockstep_frame frame; /* the latest */
  uint64_t next_counter;
  bool
      frame_stands; /* `frame` is the present; false before the first and while a reset is on its way */
  client client;
  bool warned_of_byte_order;
  const char *address; /* when only checked */
} lockstep_tcp;

/* --- opening --- */

static int velocity_command(const tt_model *model, int axis) {
  return tt_model_axis_command(model, TT_COMMAND_VELOCITY, axis);
}

static void add_axis(tt_wire *wire, lockstep_tcp *self, const char *name, const tt_signal *signal) {
  const tt_joint *joint = &wire->model->joints[wire->model->axis_joint[signal->index]];
  int i = self->joints++;
  self->names[i] = name;
  self->signals[i] = *signal;
  self->wraps[i] = joint->kind == TT_HINGE;
  self->commands[i] = velocity_command(wire->model, signal->index);
}

static tt_status add_named(tt_wire *wire, lockstep_tcp *self, const char *name, int index,
                           tt_error *error) {
  char where[512], whole[300];
  snprintf(where, sizeof where, "%s.joints[%d]", wire->where, index);
  snprintf(whole, sizeof whole, "%s.position", name);
  tt_signal signal;
  TT_TRY(tt_names_find_signal(wire->names, whole, wire->robot, where, &signal, error));
  if (signal.source != TT_SIGNAL_JOINT_POSITION || velocity_command(wire->model, signal.index) < 0)
    return tt_fail(error, TT_INVALID, "%s: '%s' is no hinge or slide joint", where, name);
  for (int i = 0; i < self->joints; i++)
    if (self->signals[i].index == signal.index)
      return tt_fail(error, TT_INVALID, "%s: '%s' stands in the list twice", where, name);
  add_axis(wire, self, name, &signal);
  return TT_OK;
}

static tt_status add_all(tt_wire *wire, lockstep_tcp *self, tt_error *error) {
  for (int i = 0; i < wire->model->joint_count; i++) {
    const tt_joint *joint = &wire->model->joints[i];
    bool single = joint->kind == TT_HINGE || joint->kind == TT_SLIDE;
    bool ours = wire->robot == TT_NO_ROBOT || joint->robot == wire->robot;
    if (!single || !ours || velocity_command(wire->model, joint->axis) < 0) continue;
    if (self->joints == TT_LOCKSTEP_MAX)
      return tt_fail(error, TT_INVALID, "%s: more than %d joints; list those you want under joints",
                     wire->where, TT_LOCKSTEP_MAX);
    tt_signal signal = {.source = TT_SIGNAL_JOINT_POSITION, .index = joint->axis};
    add_axis(wire, self, joint->name, &signal);
  }
  if (self->joints == 0)
    return tt_fail(error, TT_INVALID, "%s: its robot has no hinge or slide joint", wire->where);
  return TT_OK;
}

static tt_status resolve_joints(tt_wire *wire, const tt_lockstep_tcp_config *config,
                                lockstep_tcp *self, tt_error *error) {
  for (unsigned i = 0; i < config->joint_count; i++)
    TT_TRY(add_named(wire, self, config->joints[i], (int)i, error));
  if (config->joint_count == 0) TT_TRY(add_all(wire, self, error));
  wire->owned = self->commands;
  wire->owned_count = self->joints;
  return TT_OK;
}

static void on_open(void *context, tt_tcp *tcp);
static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size);
static void on_close(void *context, tt_tcp *tcp, const char *reason);

static tt_status open_socket(tt_wire *wire, const tt_lockstep_tcp_config *config,
                             lockstep_tcp *self, tt_error *error) {
  tt_tcp_options options = tt_tcp_options_default();
  options.address = config->listen;
  options.max_connections = 2; /* the second one is told by us why it is refused */
  options.allow =
      (tt_allow){(const char *const *)config->common.allow, (int)config->common.allow_count};
  options.handler = (tt_tcp_handler){.on_open = on_open, .on_data = on_data, .on_close = on_close};
  options.context = wire;
  tt_error reason;
  tt_status status =
      config->connection
          ? tt_tcp_adopt(wire->net, config->connection, &options, &self->server, &reason)
          : tt_tcp_listen(wire->net, &options, &self->server, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

static void close_wire(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  tt_tcp_server_close(self->server);
  free(self);
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
}

static on_disconnect parse_policy(const char *text) {
  if (strcmp(text, "keep") == 0) return ON_DISCONNECT_KEEP;
  return strcmp(text, "exit") == 0 ? ON_DISCONNECT_EXIT : ON_DISCONNECT_RESET;
}

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  const tt_lockstep_tcp_config *config = untyped;
  lockstep_tcp *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->on_disconnect =
      config->connection ? ON_DISCONNECT_EXIT : parse_policy(config->on_disconnect);
  self->address = config->listen;
  tt_status status = resolve_joints(wire, config, self, error);
  if (status == TT_OK && !wire->check_only) status = open_socket(wire, config, self, error);
  if (status != TT_OK) close_wire(wire);
  return status;
}

/* --- the client comes and goes --- */

static void send_frame(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  uint8_t bytes[TT_LOCKSTEP_FRAME_BYTES(TT_LOCKSTEP_MAX)];
  size_t size = tt_lockstep_encode_frame(&self->frame, self->joints, bytes);
  self->client.owed++;
  self->client.sent_at = tt_net_now();
  tt_wire_sent(wire, bytes, size, tt_tcp_send(self->client.tcp, bytes, size) == TT_OK);
}

static void lose_client(tt_wire *wire, const char *reason) {
  lockstep_tcp *self = wire->self;
  tt_wire_event(wire, "disconnected %s: %s", wire->stats.peer, reason);
  self->client = (client){0};
  wire->state = TT_WIRE_WAITING;
  wire->stats.peer[0] = '\0';
  if (self->on_disconnect == ON_DISCONNECT_RESET) {
    self->frame_stands = false;
    tt_wire_request_reset(wire);
  } else if (self->on_disconnect == ON_DISCONNECT_EXIT) {
    tt_wire_request_stop(wire, TT_OK, "its client is gone");
  }
}

static void close_client(tt_wire *wire, const char *reason) {
  lockstep_tcp *self = wire->self;
  tt_tcp *tcp = self->client.tcp;
  lose_client(wire, reason);
  if (tcp) tt_tcp_close(tcp, reason);
}

static void on_open(void *context, tt_tcp *tcp) {
  tt_wire *wire = context;
  lockstep_tcp *self = wire->self;
  if (self->client.left || (self->client.tcp && tt_tcp_closed(self->client.tcp)))
    close_client(wire, "closed by peer");
  if (self->client.tcp) {
    tt_wire_drop(wire, TT_DROP_REFUSED, tt_tcp_peer(tcp), NULL, 0,
                 "%s is connected; one client at a time", tt_tcp_peer(self->client.tcp));
    tt_tcp_close(tcp, "refused");
    return;
  }
  self->client = (client){.tcp = tcp};
  wire->state = TT_WIRE_WAITING; /* it gets its own time to answer */
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", tt_tcp_peer(tcp));
  tt_wire_event(wire, "connected %s", tt_tcp_peer(tcp));
  if (self->frame_stands) send_frame(wire);
}

/* Whether the end comes together with the last answer or after its tick is chance; what the world does is not: every
 * answer that came gets its tick. */
static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  tt_wire *wire = context;
  lockstep_tcp *self = wire->self;
  if (tcp != self->client.tcp) return;
  self->client.tcp = NULL;
  self->client.left = self->client.answered;
  if (!self->client.left) lose_client(wire, reason);
}

/* --- receiving --- */

static void warn_of_byte_order(tt_wire *wire, const uint8_t *bytes, bool refused) {
  lockstep_tcp *self = wire->self;
  if (self->warned_of_byte_order || !tt_floats_look_swapped(bytes, self->joints, true, refused))
    return;
  self->warned_of_byte_order = true;
  tt_log_warning("%s: the numbers of %s look like little-endian floats; send big-endian ones",
                 wire->name, wire->stats.peer);
}

/* All fields finite and in range; otherwise the connection ends. */
static bool validate(tt_wire *wire, const uint8_t *bytes, size_t size) {
  lockstep_tcp *self = wire->self;
  const char *peer = wire->stats.peer;
  int field;
  if (tt_lockstep_decode_velocities(bytes, self->joints, self->client.velocities, &field) !=
      TT_OK) {
    tt_wire_drop(wire, TT_DROP_NON_FINITE, peer, bytes, size,
                 "velocity %d (%s) is not a finite number; the connection is closed", field + 1,
                 self->names[field]);
    return false;
  }
  for (int i = 0; i < self->joints; i++) {
    const tt_command *command = &wire->model->commands[self->commands[i]];
    double value = self->client.velocities[i];
    if (value >= command->lower && value <= command->upper) continue;
    tt_wire_drop(wire, TT_DROP_RANGE, peer, bytes, size,
                 "velocity %d (%s) is %g, not within %g to %g; the connection is closed", i + 1,
                 self->names[i], value, command->lower, command->upper);
    return false;
  }
  return true;
}

/* Takes the next whole answer out of the buffer, past those to frames from before a reset. An answer to a frame that
 * the world has already left behind (policies hold and zero) is obeyed like any other, but the newest frame still wants
 * its own: else a client that was late once would lag for ever. */
static void take_answer(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  client *client = &self->client;
  if (!self->frame_stands)
    return; /* what a new client says before its frame 0 waits until that is sent */
  size_t size = TT_LOCKSTEP_VELOCITY_BYTES((size_t)self->joints), used = 0;
  while (!client->answered && client->size - used >= size) {
    const uint8_t *bytes = client->buffer + used;
    used += size;
    tt_wire_received(wire, bytes, size);
    if (client->owed) client->owed--;
    bool valid = validate(wire, bytes, size);
    warn_of_byte_order(wire, bytes, !valid);
    if (!valid) {
      close_client(wire, "its message was refused");
      return;
    }
    if (client->stale) {
      client->stale--;
      tt_wire_drop(wire, TT_DROP_STALE, wire->stats.peer, bytes, size,
                   "answers a frame from before a reset");
      continue;
    }
    if (client->ordered)
      tt_wire_drop(wire, TT_DROP_SUPERSEDED, wire->stats.peer, bytes, size, "late");
    client->ordered = true;
    if (client->owed > 0) continue;
    client->answered = true;
    tt_wire_answered(wire, client->sent_at);
  }
  client->size -= used;
  if (client->size) memmove(client->buffer, client->buffer + used, client->size);
}

static void set_paused(client *client, bool paused) {
  if (client->paused == paused) return;
  client->paused = paused;
  tt_tcp_pause(client->tcp, paused);
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  tt_wire *wire = context;
  lockstep_tcp *self = wire->self;
  client *client = &self->client;
  if (tcp != client->tcp) return; /* refused, and not gone yet */
  memcpy(client->buffer + client->size, bytes, size);
  client->size += size;
  take_answer(wire);
  if (client->tcp) set_paused(client, client->size > ENOUGH_BYTES);
}

static bool must_wait(const tt_wire *wire) {
  const lockstep_tcp *self = wire->self;
  return !self->client.answered;
}

static void receive(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  client *client = &self->client;
  if (!client->ordered) return;
  tt_submission submissions[TT_LOCKSTEP_MAX];
  for (int i = 0; i < self->joints; i++)
    submissions[i] = (tt_submission){self->commands[i], client->velocities[i]};
  client->answered = client->ordered = false;
  if (tt_wire_submit(wire, submissions, self->joints, NULL) != TT_OK)
    close_client(wire, "the world refused its message");
}

/* --- sending --- */

static void send_positions(tt_wire *wire, const tt_view *view) {
  lockstep_tcp *self = wire->self;
  self->frame.counter = self->next_counter++;
  for (int i = 0; i < self->joints; i++) {
    double position = tt_signal_read(&self->signals[i], view);
    self->frame.positions[i] = self->wraps[i] ? tt_wrap_angle(position) : (float)position;
  }
  self->frame_stands = true;
  if (self->client.tcp) send_frame(wire);
  if (!self->client.tcp && !self->client.left) return;
  take_answer(wire); /* it may have sent several sets at once */
  if (self->client.left && !self->client.answered) lose_client(wire, "closed by peer");
  if (self->client.tcp) set_paused(&self->client, self->client.size > ENOUGH_BYTES);
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  if (self->client.left) close_client(wire, "closed by peer");
  self->next_counter = 0;
  self->frame_stands = false;
  self->client.answered = self->client.ordered = false;
  self->client.stale = self->client.owed;
}

static void eject(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  if (self->client.tcp) close_client(wire, "ejected: no answer in time");
}

static const char *address(const tt_wire *wire) {
  const lockstep_tcp *self = wire->self;
  return self->server ? tt_tcp_server_address(self->server) : self->address;
}

static bool is_acceptable(const tt_wire *wire, int joint, double velocity) {
  const lockstep_tcp *self = wire->self;
  const tt_command *command = &wire->model->commands[self->commands[joint]];
  return velocity >= command->lower && velocity <= command->upper;
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  static const char *const units[2][2] = {{"m", "m/s"}, {"rad", "rad/s"}};
  const lockstep_tcp *self = wire->self;
  int start = incoming ? 0 : TT_LOCKSTEP_COUNTER;
  tt_wire_field *field = NULL;
  if (!incoming) field = tt_explain_field(to, "frame", "", 0, TT_LOCKSTEP_COUNTER);
  if (field)
    snprintf(field->value, sizeof field->value, "%llu",
             (unsigned long long)tt_get_u64_be(to->bytes));
  for (int i = 0; i < self->joints; i++) {
    int offset = start + 4 * i;
    field = tt_explain_field(to, self->names[i], units[self->wraps[i]][incoming], offset, 4);
    if (!field) continue;
    double value = (double)tt_get_float_be(to->bytes + offset);
    field->wrong = incoming && !is_acceptable(wire, i, value);
    tt_explain_number(field, value);
  }
  tt_explain_rest(to, start + 4 * self->joints);
}

const tt_wire_ops tt_lockstep_tcp_ops = {
    .protocol = "lockstep-tcp",
    .open = open_wire,
    .receive = receive,
    .must_wait = must_wait,
    .send = send_positions,
    .reset = reset,
    .eject = eject,
    .address = address,
    .explain = explain,
    .close = close_wire,
};

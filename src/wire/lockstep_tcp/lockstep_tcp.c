/* lockstep_tcp.c: a client drives the world frame by frame.
 *
 * Where every client has a world of its own, each of those has a wire of its own, which is given its connection.
 */
#include "wire/lockstep_tcp/lockstep_tcp.h"

#include "base/clock.h"
#include "base/endian.h"
#include "base/log.h"
#include "wire/byte_order.h"
#include "wire/convert.h"
#include "wire/explain.h"
#include "wire/lockstep_tcp/codec.h"
#include "wire/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH_BYTES 8192 /* unread */

typedef struct lockstep_tcp {
  tt_wire_stream stream;
  int joints;
  const char *names[TT_LOCKSTEP_MAX];
  tt_signal signals[TT_LOCKSTEP_MAX];
  bool wraps[TT_LOCKSTEP_MAX]; /* hinges do */
  int commands[TT_LOCKSTEP_MAX];
  tt_lockstep_frame frame; /* the latest */
  uint64_t next_counter;
  bool ordered; /* `velocities` are valid and wait for receive */
  float velocities[TT_LOCKSTEP_MAX];
  bool warned_of_byte_order;
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

static void greet(tt_wire *wire);
static void take_answer(tt_wire *wire);
static void forget(tt_wire *wire);

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  const tt_lockstep_tcp_config *config = untyped;
  lockstep_tcp *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  tt_wire_stream_use use = {
      .whom = "client",
      .refusal = "one client at a time",
      .listen = config->listen,
      .connection = config->connection,
      .enough = ENOUGH_BYTES,
      .answers_ahead = true,
      .then = config->connection ? TT_WIRE_EXIT : tt_wire_disconnect_of(config->on_disconnect),
      .met = greet,
      .take = take_answer,
      .lost = forget};
  tt_status status = resolve_joints(wire, config, self, error);
  if (status == TT_OK) status = tt_wire_open_stream(wire, &use, &config->common, error);
  if (status != TT_OK) tt_wire_close_stream(wire);
  return status;
}

/* --- the client comes and goes --- */

static void send_frame(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  uint8_t bytes[TT_LOCKSTEP_FRAME_BYTES(TT_LOCKSTEP_MAX)];
  size_t size = tt_lockstep_encode_frame(&self->frame, self->joints, bytes);
  self->stream.owed++;
  self->stream.sent_at = tt_monotonic_ns();
  tt_wire_send_stream(wire, bytes, size);
}

static void greet(tt_wire *wire) {
  const lockstep_tcp *self = wire->self;
  if (self->stream.stands) send_frame(wire);
}

static void forget(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  self->ordered = false;
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

/* All fields finite and in range; otherwise the connection ends, and the velocities before stay. */
static bool validate(tt_wire *wire, const uint8_t *bytes, size_t size) {
  lockstep_tcp *self = wire->self;
  const char *peer = wire->stats.peer;
  float velocities[TT_LOCKSTEP_MAX];
  int field;
  if (tt_lockstep_decode_velocities(bytes, self->joints, velocities, &field) != TT_OK) {
    tt_wire_drop(wire, TT_DROP_NON_FINITE, peer, bytes, size,
                 "velocity %d (%s) is not a finite number; the connection is closed", field + 1,
                 self->names[field]);
    return false;
  }
  for (int i = 0; i < self->joints; i++) {
    const tt_command *command = &wire->model->commands[self->commands[i]];
    double value = velocities[i];
    if (value >= command->lower && value <= command->upper) continue;
    tt_wire_drop(wire, TT_DROP_RANGE, peer, bytes, size,
                 "velocity %d (%s) is %g, not within %g to %g; the connection is closed", i + 1,
                 self->names[i], value, command->lower, command->upper);
    return false;
  }
  memcpy(self->velocities, velocities, sizeof *velocities * (size_t)self->joints);
  return true;
}

/* Takes the next whole answer out of the buffer, past those to frames from before a reset. An answer to a frame that
 * the world has already left behind (policies hold and zero) is obeyed like any other, but the newest frame still wants
 * its own: else a client that was late once would lag for ever. What is said before a frame waits until that is sent,
 * or, of one that hurries, takes the place of what it said before. */
static void take_answer(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  tt_wire_stream *stream = &self->stream;
  size_t size = TT_LOCKSTEP_VELOCITY_BYTES((size_t)self->joints), used = 0;
  while (tt_wire_stream_wants(stream) && stream->size - used >= size) {
    const uint8_t *bytes = stream->bytes + used;
    used += size;
    tt_wire_received(wire, bytes, size);
    if (stream->owed) stream->owed--;
    bool valid = validate(wire, bytes, size);
    warn_of_byte_order(wire, bytes, !valid);
    if (!valid) {
      tt_wire_end_stream(wire, "its message was refused");
      return;
    }
    if (stream->stale) {
      stream->stale--;
      tt_wire_drop(wire, TT_DROP_STALE, wire->stats.peer, bytes, size,
                   "answers a frame from before a reset");
      continue;
    }
    if (self->ordered)
      tt_wire_drop(wire, TT_DROP_SUPERSEDED, wire->stats.peer, bytes, size, "late");
    self->ordered = stream->said = true;
    if (stream->owed > 0 || stream->answered) continue;
    stream->answered = true;
    tt_wire_answered(wire, stream->sent_at);
  }
  tt_wire_stream_taken(stream, used);
}

static void receive(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  if (!self->ordered) return;
  tt_submission submissions[TT_LOCKSTEP_MAX];
  for (int i = 0; i < self->joints; i++)
    submissions[i] = (tt_submission){self->commands[i], self->velocities[i]};
  self->ordered = false;
  tt_wire_obey_stream(&self->stream);
  if (tt_wire_submit(wire, submissions, self->joints, NULL) != TT_OK)
    tt_wire_end_stream(wire, "the world refused its message");
}

/* --- sending --- */

static void send_positions(tt_wire *wire, const tt_view *view) {
  lockstep_tcp *self = wire->self;
  self->frame.counter = self->next_counter++;
  for (int i = 0; i < self->joints; i++) {
    double position = tt_signal_read(&self->signals[i], view);
    self->frame.positions[i] = self->wraps[i] ? tt_wrap_angle(position) : (float)position;
  }
  tt_wire_stand_stream(&self->stream);
  if (self->stream.tcp) send_frame(wire);
  tt_wire_reread_stream(wire); /* it may have sent several sets at once */
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  lockstep_tcp *self = wire->self;
  tt_wire_reset_stream(wire);
  self->next_counter = 0;
  self->ordered = false;
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

/* The files of client/. */
extern const char tt_lockstep_tcp_client_python[], tt_lockstep_tcp_client_java[],
    tt_lockstep_tcp_client_c[], tt_lockstep_tcp_client_cpp[];
static const tt_wire_client clients[] = {{"python", tt_lockstep_tcp_client_python},
                                         {"java", tt_lockstep_tcp_client_java},
                                         {"c", tt_lockstep_tcp_client_c},
                                         {"cpp", tt_lockstep_tcp_client_cpp},
                                         {NULL, NULL}};

const tt_wire_ops tt_lockstep_tcp_ops = {
    .clients = clients,
    .protocol = "lockstep-tcp",
    .open = open_wire,
    .receive = receive,
    .must_wait = tt_wire_stream_must_wait,
    .send = send_positions,
    .reset = reset,
    .eject = tt_wire_eject_stream,
    .end_left = tt_wire_end_left_stream,
    .address = tt_wire_stream_address,
    .explain = explain,
    .close = tt_wire_close_stream,
};

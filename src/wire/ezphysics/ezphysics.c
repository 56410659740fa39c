/* ezphysics.c: the connection of the ezphysics wire: when it sends, when it waits, what a message does.
 *
 * Mode step: each state sent is answered by one message, and the world waits for it; what comes before the next
 * state stays in the buffer. Mode realtime: states leave as they come, and every message that has arrived by
 * receive applies. A message is validated whole as soon as it is read; what it orders an axis to do stands in
 * `orders` until receive submits it.
 */
#include "wire/ezphysics/ezphysics.h"

#include "base/clock.h"
#include "wire/ezphysics/codec.h"
#include "wire/ezphysics/explain.h"
#include "wire/ezphysics/objects.h"
#include "wire/stream.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGE 65536u /* bytes of an incoming message */
#define MOST_A_PERIOD 256  /* messages, in mode realtime: the others wait */

typedef enum order_kind { ORDER_NONE, ORDER_FORCE, ORDER_MOTOR } order_kind;

/** What the messages of this period want of one axis. */
typedef struct order {
  order_kind kind;
  double torque, velocity, max_torque;
} order;

typedef struct ezphysics {
  tt_wire_stream stream;
  const tt_ezphysics_config *config;
  tt_ez_objects objects;
  bool ever_connected;
  double waiting, sending; /* s of wall clock: for an answer, for it to read */

  uint8_t *state, *names; /* the latest state, sent to whoever connects */
  size_t state_capacity, state_size, names_size;

  order (*orders)[TT_EZ_AXES],
      (*draft)[TT_EZ_AXES],   /* [joint_count] of this period; of one message; */
      (*motors)[TT_EZ_AXES];  /* the latest motor of each axis, which stays until changed */
  bool reset;                 /* a message of this period asked for it */
  uint64_t heard;             /* messages accepted in this period */
  int taken;                  /* those and the refused ones */
  bool (*forced)[TT_EZ_AXES]; /* a force of the last period is to be ended */
  uint64_t carried_out;       /* step of the last receive */
  tt_submission *submissions; /* two an axis */
} ezphysics;

/* --- opening --- */

static void greet(tt_wire *wire);
static void take_messages(tt_wire *wire);
static void forget(tt_wire *wire);

static tt_status allocate(ezphysics *self, tt_error *error) {
  size_t joints = (size_t)self->objects.joint_count + 1;
  size_t names = tt_ez_names_capacity(&self->objects);
  self->state_capacity = tt_ez_state_capacity(&self->objects);
  self->state = malloc(self->state_capacity);
  self->names = malloc(names);
  self->orders = calloc(joints, sizeof *self->orders);
  self->draft = calloc(joints, sizeof *self->draft);
  self->motors = calloc(joints, sizeof *self->motors);
  self->forced = calloc(joints, sizeof *self->forced);
  self->submissions = calloc(joints, 2 * TT_EZ_AXES * sizeof *self->submissions);
  if (!self->state || !self->names || !self->orders || !self->draft || !self->motors ||
      !self->forced || !self->submissions) {
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  self->names_size = tt_ez_write_names(&self->objects, self->names, names);
  return TT_OK;
}

static void close_wire(tt_wire *wire) {
  ezphysics *self = wire->self;
  tt_ez_objects_close(&self->objects);
  free(self->state);
  free(self->names);
  free(self->orders);
  free(self->draft);
  free(self->motors);
  free(self->forced);
  free(self->submissions);
  tt_wire_close_stream(wire);
}

static tt_status prepare(tt_wire *wire, ezphysics *self, tt_error *error) {
  TT_TRY(tt_ez_objects_open(&self->objects, wire, self->config, error));
  wire->owned = self->objects.owned;
  wire->owned_count = self->objects.owned_count;
  TT_TRY(allocate(self, error));
  const tt_ezphysics_config *config = self->config;
  tt_wire_stream_use use = {.whom = "peer",
                            .refusal = "one at a time",
                            .listen = config->listen,
                            .connect = config->connect,
                            .enough = MAX_MESSAGE,
                            .max_queued = 4 * (self->state_capacity + self->names_size) +
                                          tt_tcp_options_default().max_queued,
                            .answers_ahead = true,
                            .then = tt_wire_disconnect_of(config->on_disconnect),
                            .met = greet,
                            .take = take_messages,
                            .lost = forget};
  return tt_wire_open_stream(wire, &use, &config->common, error);
}

static tt_status open_wire(tt_wire *wire, const void *config, tt_error *error) {
  ezphysics *self = calloc(1, sizeof *self);
  if (self == NULL) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->config = config;
  tt_status status = prepare(wire, self, error);
  if (status != TT_OK) close_wire(wire);
  return status;
}

/* --- timeouts --- */

/** The connect timeout counts only until somebody was there for the first time. */
static void give_up(tt_wire *wire) {
  const ezphysics *self = wire->self;
  char reason[160];
  if (self->ever_connected) {
    snprintf(reason, sizeof reason, "no message came within %g s: the simulation stops",
             self->config->receive_seconds);
  } else {
    snprintf(reason, sizeof reason, "nobody connected at %s within %g s: the simulation stops",
             tt_wire_stream_address(wire), self->config->connect_seconds);
  }
  tt_wire_request_stop(wire, TT_FAILED, reason);
}

static void poll(tt_wire *wire, double seconds) {
  ezphysics *self = wire->self;
  const tt_ezphysics_config *config = self->config;
  bool step = config->checked_mode == TT_EZ_STEP;
  bool waits = step ? tt_wire_stream_must_wait(wire) : !self->ever_connected;
  double patience = self->ever_connected ? config->receive_seconds : config->connect_seconds;
  self->waiting = waits ? self->waiting + seconds : 0;
  if (patience > 0 && self->waiting >= patience) give_up(wire);

  bool reads = self->stream.tcp == NULL || tt_tcp_queued(self->stream.tcp) == 0;
  self->sending = reads ? 0 : self->sending + seconds;
  if (config->send_seconds > 0 && self->sending >= config->send_seconds)
    tt_wire_end_stream(wire, "it has not read what it was sent in time");
}

/* --- the peer comes and goes --- */

static void send_state(tt_wire *wire) {
  ezphysics *self = wire->self;
  self->stream.owed++;
  self->stream.sent_at = tt_monotonic_ns();
  tt_wire_send_stream(wire, self->state, self->state_size);
}

/** What was ordered but the world has not carried out is void. A motor goes on. */
static void forget_orders(ezphysics *self) {
  memset(self->orders, 0, (size_t)self->objects.joint_count * sizeof *self->orders);
  self->reset = false;
  self->heard = 0;
  self->taken = 0;
}

/** In mode step the next peer's answer decides. In mode realtime all that has come is carried out, whoever is there. */
static void forget(tt_wire *wire) {
  ezphysics *self = wire->self;
  if (self->config->checked_mode == TT_EZ_STEP) forget_orders(self);
  self->waiting = self->sending = 0;
}

static void greet(tt_wire *wire) {
  ezphysics *self = wire->self;
  self->ever_connected = true;
  self->waiting = self->sending = 0;
  if (self->config->names != NULL && *self->config->names)
    tt_wire_send_stream(wire, self->names, self->names_size);
  bool waits_for_us = self->config->checked_mode == TT_EZ_STEP;
  if (self->stream.tcp != NULL && waits_for_us && self->stream.stands) send_state(wire);
}

/* --- one message --- */

/** A number that `command` takes; −1 has no command behind it and takes anything finite. */
static bool check_number(tt_wire *wire, const tt_ez_packet *packet, int command, double value,
                         const uint8_t *bytes, size_t size) {
  const char *peer = wire->stats.peer;
  const char *type = tt_ez_type_name(true, packet->type);
  if (!isfinite(value)) {
    tt_wire_drop(wire, TT_DROP_NON_FINITE, peer, bytes, size,
                 "%s for joint %u at byte %zu holds a number that is not finite", type,
                 packet->object, packet->offset);
    return false;
  }
  if (command < 0) return true;
  const tt_command *limits = &wire->model->commands[command];
  if (value >= limits->lower && value <= limits->upper) return true;
  tt_wire_drop(wire, TT_DROP_RANGE, peer, bytes, size,
               "%s for joint %u at byte %zu: %s is %g, not within %g to %g", type, packet->object,
               packet->offset, limits->name, value, limits->lower, limits->upper);
  return false;
}

/** Numbers of axes that the joint hasn't are ignored, whatever they are. */
static bool order_joint(tt_wire *wire, const tt_ez_packet *packet, const uint8_t *bytes,
                        size_t size) {
  ezphysics *self = wire->self;
  const tt_ez_joint *joint = tt_ez_receiver(&self->objects, packet->object);
  if (joint == NULL) {
    tt_wire_drop(wire, TT_DROP_UNKNOWN, wire->stats.peer, bytes, size,
                 "%s for joint %u, which is unknown or not marked to receive; it is ignored",
                 tt_ez_type_name(true, packet->type), packet->object);
    return true;
  }
  for (int i = 0; i < joint->axis_count; i++) {
    const tt_ez_axis *axis = &self->objects.axes[packet->object - 1][i];
    order *order = &self->draft[packet->object - 1][i];
    if (packet->type == TT_EZ_RECV_AXIS_FORCE) {
      *order = (struct order){.kind = ORDER_FORCE, .torque = tt_ez_float(packet, i)};
      if (!check_number(wire, packet, axis->torque, order->torque, bytes, size)) return false;
      continue;
    }
    *order = (struct order){.kind = ORDER_MOTOR,
                            .velocity = tt_ez_float(packet, 2 * i),
                            .max_torque = tt_ez_float(packet, 2 * i + 1)};
    if (!check_number(wire, packet, axis->velocity, order->velocity, bytes, size) ||
        !check_number(wire, packet, axis->max_torque, order->max_torque, bytes, size)) {
      return false;
    }
  }
  return true;
}

typedef enum verdict { ACCEPTED, REFUSED, BROKEN } verdict;

/** Puts a whole message into `draft`; BROKEN: the bytes can't be trusted any further. */
static verdict read_message(tt_wire *wire, const uint8_t *bytes, size_t size, bool *reset) {
  const char *peer = wire->stats.peer;
  tt_ez_reader reader;
  tt_ez_packet packet;
  tt_error error;
  tt_status status;
  tt_ez_read(&reader, bytes, size);
  while ((status = tt_ez_next(&reader, &packet, &error)) == TT_OK) {
    int expected = tt_ez_payload_size(true, packet.type);
    if (expected < 0) {
      tt_wire_drop(wire, TT_DROP_UNKNOWN, peer, bytes, size,
                   "packet type %u at byte %zu is unknown; it is ignored", packet.type,
                   packet.offset);
    } else if (packet.size != (size_t)expected) {
      tt_wire_drop(wire, TT_DROP_LENGTH, peer, bytes, size,
                   "%s at byte %zu has %zu bytes where %d are expected; the connection is closed",
                   tt_ez_type_name(true, packet.type), packet.offset, packet.size, expected);
      return BROKEN;
    } else if (packet.type == TT_EZ_RECV_RESET) {
      *reset = true;
    } else if (!order_joint(wire, &packet, bytes, size)) {
      return REFUSED;
    }
  }
  if (status == TT_END) return ACCEPTED;
  tt_wire_drop(wire, TT_DROP_SYNTAX, peer, bytes, size, "%s; the connection is closed", error.text);
  return BROKEN;
}

/** Takes one whole message into `orders`; false when it ended the connection. */
static bool take_message(tt_wire *wire, const uint8_t *bytes, size_t size) {
  ezphysics *self = wire->self;
  size_t orders = size > TT_EZ_HEADER /* it orders something */
                      ? (size_t)self->objects.joint_count * sizeof *self->orders
                      : 0;
  bool reset = false;
  memcpy(self->draft, self->orders, orders);
  switch (read_message(wire, bytes, size, &reset)) {
    case ACCEPTED:
      memcpy(self->orders, self->draft, orders);
      self->heard++;
      self->reset |= reset;
      return true;
    case REFUSED: return true; /* it was an answer all the same: nobody waits for another */
    default: tt_wire_end_stream(wire, "its message was malformed"); return false;
  }
}

/* --- the stream --- */

/** Size of the whole message at `offset` of the buffer; 0 while it is not there. Closes on bad framing. */
static size_t message_at(tt_wire *wire, size_t offset) {
  const tt_wire_stream *stream = wire->self;
  const uint8_t *bytes = stream->bytes + offset;
  size_t size;
  tt_error error;
  switch (tt_ez_frame(bytes, stream->size - offset, MAX_MESSAGE, &size, &error)) {
    case TT_OK: return size;
    case TT_AGAIN: return 0;
    default:
      tt_wire_drop(wire, TT_DROP_SYNTAX, wire->stats.peer, bytes, stream->size - offset,
                   "%s; the connection is closed", error.text);
      tt_wire_end_stream(wire, "its stream was malformed");
      return 0;
  }
}

/** Answers to states from before a reset are thrown away. Mode step: then those up to that to the newest state (where the world
 *  did not wait for one, policies hold and zero, there are several), or all that one who is gone said ahead. Mode realtime:
 *  whatever has arrived, as far as a period has time for it, of one who is gone all. */
static bool takes_more(const ezphysics *self) {
  const tt_wire_stream *stream = &self->stream;
  if (stream->stale > 0) return true;
  if (self->config->checked_mode == TT_EZ_STEP) return tt_wire_stream_wants(stream);
  return self->taken < MOST_A_PERIOD || stream->hurries;
}

static void drop_stale(tt_wire *wire, const uint8_t *bytes, size_t size) {
  tt_wire_stream *stream = wire->self;
  stream->stale--;
  stream->owed--;
  tt_wire_drop(wire, TT_DROP_STALE, wire->stats.peer, bytes, size,
               "it answers a state from before a reset");
}

static void note_answer(tt_wire *wire) {
  ezphysics *self = wire->self;
  tt_wire_stream *stream = &self->stream;
  bool step = self->config->checked_mode == TT_EZ_STEP; /* else any message is one */
  if (stream->owed > 0) stream->owed--;                 /* nothing is sent to who left */
  stream->said = true;
  if (stream->answered || (step && stream->owed > 0)) return;
  stream->answered = true;
  if (step) tt_wire_answered(wire, stream->sent_at);
  self->waiting = 0;
}

static void take_messages(tt_wire *wire) {
  ezphysics *self = wire->self;
  size_t used = 0, size;
  while (takes_more(self) && (size = message_at(wire, used)) > 0) {
    const uint8_t *bytes = self->stream.bytes + used;
    used += size;
    tt_wire_received(wire, bytes, size);
    if (self->stream.stale > 0) {
      drop_stale(wire, bytes, size);
      continue;
    }
    self->taken++;
    if (!take_message(wire, bytes, size)) return;
    note_answer(wire);
  }
  tt_wire_stream_taken(&self->stream, used);
}

/* --- receive --- */

/** Writes what makes up an order, and returns how much that is: two at most. */
static int put_order(const order *order, const tt_ez_axis *axis, tt_submission *to) {
  if (order->kind == ORDER_FORCE && axis->torque >= 0) {
    to[0] = (tt_submission){axis->torque, order->torque};
    return 1;
  }
  if (order->kind != ORDER_MOTOR || axis->velocity < 0 || axis->max_torque < 0) return 0;
  to[0] = (tt_submission){axis->max_torque, order->max_torque};
  to[1] = (tt_submission){axis->velocity, order->velocity};
  return 2;
}

/** Whether nobody has changed since what was ordered: a watchdog, an emergency stop, somebody else. */
static bool holds(const tt_wire *wire, const tt_submission *ordered, int count) {
  for (int i = 0; i < count; i++)
    if (tt_wire_view(wire)->commands[ordered[i].command] != ordered[i].value) return false;
  return true;
}

/** The force of the last period is over, and nothing takes its place: the motor that was before it goes on. */
static void end_force(tt_wire *wire, const order *motor, const tt_ez_axis *axis, bool replaced) {
  tt_submission before[2];
  int count = replaced ? 0 : put_order(motor, axis, before);
  if (axis->torque >= 0) tt_wire_make_safe(wire, &axis->torque, 1);
  if (count > 0 && holds(wire, before, count)) tt_wire_submit_again(wire, before, count);
}

/** Ends the forces that were for the last period, then submits what this period's messages want. */
static void carry_out(tt_wire *wire) {
  ezphysics *self = wire->self;
  /* Where another robot was reset there is a second receive before the period. */
  bool over = tt_wire_step(wire) != self->carried_out;
  int count = 0;
  self->carried_out = tt_wire_step(wire);
  for (int j = 0; j < self->objects.joint_count; j++) {
    for (int i = 0; i < self->objects.joints[j].axis_count; i++) {
      const tt_ez_axis *axis = &self->objects.axes[j][i];
      order *order = &self->orders[j][i], *motor = &self->motors[j][i];
      bool *forced = &self->forced[j][i];
      if (*forced && order->kind != ORDER_FORCE && (over || order->kind == ORDER_MOTOR)) {
        end_force(wire, motor, axis, order->kind == ORDER_MOTOR);
        *forced = false;
      }
      *forced |= order->kind == ORDER_FORCE;
      if (order->kind == ORDER_MOTOR) *motor = *order;
      count += put_order(order, axis, self->submissions + count);
      order->kind = ORDER_NONE;
    }
  }
  if (count > 0) {
    tt_wire_submit(wire, self->submissions, count, NULL); /* checked when it arrived */
  } else if (self->heard > 0) {
    tt_wire_alive(wire);
  }
  if (self->heard > 1) wire->stats.accepted += self->heard - 1; /* one is counted already */
  self->heard = 0;
  self->taken = 0;
}

static void receive(tt_wire *wire) {
  ezphysics *self = wire->self;
  carry_out(wire);
  if (self->reset) tt_wire_request_reset(wire);
  self->reset = false;
  tt_wire_obey_stream(&self->stream);
}

/** A period that stands still has time for all that comes. */
static bool wants_reset(tt_wire *wire) {
  ezphysics *self = wire->self;
  if (self->taken >= MOST_A_PERIOD && self->config->checked_mode == TT_EZ_REALTIME) {
    self->taken = 0;
    tt_wire_reread_stream(wire);
  }
  return self->reset;
}

/* --- send --- */

static void send_view(tt_wire *wire, const tt_view *view) {
  ezphysics *self = wire->self;
  self->state_size = tt_ez_write_state(&self->objects, view, self->state, self->state_capacity);
  tt_wire_stand_stream(&self->stream);
  const tt_tcp *tcp = self->stream.tcp;
  if (tcp && self->config->checked_mode == TT_EZ_REALTIME && tt_tcp_queued(tcp) > 0)
    wire->stats.send_failed++; /* best effort: it gets the next one */
  else if (tcp)
    send_state(wire);
  tt_wire_reread_stream(wire); /* it may have sent several at once, also if it left then */
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  ezphysics *self = wire->self;
  forget_orders(self);
  memset(self->motors, 0, (size_t)self->objects.joint_count * sizeof *self->motors);
  memset(self->forced, 0, (size_t)self->objects.joint_count * sizeof *self->forced);
  if (self->config->checked_mode == TT_EZ_STEP) tt_wire_reset_stream(wire);
}

static void eject(tt_wire *wire) { tt_wire_end_stream(wire, "ejected: no message in time"); }

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  const ezphysics *self = wire->self;
  tt_ez_explain(&self->objects, incoming, to);
}

const tt_wire_ops tt_ezphysics_ops = {
    .protocol = "ezphysics",
    .open = open_wire,
    .poll = poll,
    .receive = receive,
    .wants_reset = wants_reset,
    .must_wait = tt_wire_stream_must_wait,
    .send = send_view,
    .reset = reset,
    .eject = eject,
    .end_left = tt_wire_end_left_stream,
    .address = tt_wire_stream_address,
    .explain = explain,
    .close = close_wire,
    .list_ids = tt_ez_list_ids,
};

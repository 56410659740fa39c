/* ezphysics.c: the connection of the ezphysics wire: when it sends, when it waits, what a message does.
 *
 * Mode step: each state sent is answered by one message, and the world waits for it; what comes before the next
 * state stays in the buffer. Mode realtime: states leave as they come, and every message that has arrived by
 * receive applies. A message is validated whole as soon as it is read; what it orders an axis to do stands in
 * `orders` until receive submits it.
 */
#include "wire/ezphysics/ezphysics.h"

#include "wire/ezphysics/codec.h"
#include "wire/ezphysics/explain.h"
#include "wire/ezphysics/objects.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGE 65536u  /* bytes of an incoming message */
#define READ_AT_MOST 65536u /* bytes that one read brings */

typedef enum order_kind { ORDER_NONE, ORDER_FORCE, ORDER_MOTOR } order_kind;

/** What the messages of this period want of one axis. */
typedef struct order {
  order_kind kind;
  double torque, velocity, max_torque;
} order;

typedef struct ezphysics {
  const tt_ezphysics_config *config;
  tt_ez_objects objects;
  tt_tcp_server *server;
  tt_tcp_client *connector;
  tt_tcp *tcp; /* NULL: nobody */
  bool ever_connected;
  double waiting, sending; /* s of wall clock: for an answer, for it to read */

  uint8_t *in; /* [MAX_MESSAGE + READ_AT_MOST] */
  size_t in_size;
  bool paused;      /* the peer feels TCP's own backpressure */
  uint64_t owed;    /* states sent that it has not answered, mode step */
  uint64_t stale;   /* of those, sent before a reset: their answers are thrown away */
  uint64_t sent_at; /* ns, for statistics */

  uint8_t *state, *names; /* the latest state, sent to whoever connects */
  size_t state_capacity, state_size, names_size;

  order (*orders)[TT_EZ_AXES],
      (*draft)[TT_EZ_AXES];   /* [joint_count] of this period; of one message */
  bool answered;              /* mode step: the message that was waited for is there */
  bool reset;                 /* a message of this period asked for it */
  uint64_t heard;             /* messages accepted in this period */
  bool (*forced)[TT_EZ_AXES]; /* a force of the last period is to be ended */
  tt_submission *submissions; /* two an axis */
} ezphysics;

/* --- opening --- */

static void on_open(void *context, tt_tcp *tcp);
static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size);
static void on_close(void *context, tt_tcp *tcp, const char *reason);

static tt_status allocate(ezphysics *self, tt_error *error) {
  size_t joints = (size_t)self->objects.joint_count + 1;
  size_t names = tt_ez_names_capacity(&self->objects);
  self->state_capacity = tt_ez_state_capacity(&self->objects);
  self->in = malloc(MAX_MESSAGE + READ_AT_MOST);
  self->state = malloc(self->state_capacity);
  self->names = malloc(names);
  self->orders = calloc(joints, sizeof *self->orders);
  self->draft = calloc(joints, sizeof *self->draft);
  self->forced = calloc(joints, sizeof *self->forced);
  self->submissions = calloc(joints, 2 * TT_EZ_AXES * sizeof *self->submissions);
  if (!self->in || !self->state || !self->names || !self->orders || !self->draft || !self->forced ||
      !self->submissions) {
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  self->names_size = tt_ez_write_names(&self->objects, self->names, names);
  return TT_OK;
}

static tt_status open_socket(tt_wire *wire, ezphysics *self, tt_error *error) {
  const tt_ezphysics_config *config = self->config;
  tt_tcp_options options = tt_tcp_options_default();
  options.address = config->connect != NULL ? config->connect : config->listen;
  options.max_connections = 2; /* the second one is told by us why it is refused */
  options.max_queued = 4 * (self->state_capacity + self->names_size) + options.max_queued;
  options.allow =
      (tt_allow){(const char *const *)config->common.allow, (int)config->common.allow_count};
  options.handler = (tt_tcp_handler){.on_open = on_open, .on_data = on_data, .on_close = on_close};
  options.context = wire;
  tt_error reason;
  tt_status status = config->connect != NULL
                         ? tt_tcp_connect(wire->net, &options, &self->connector, &reason)
                         : tt_tcp_listen(wire->net, &options, &self->server, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

static void close_wire(tt_wire *wire) {
  ezphysics *self = wire->self;
  if (self->server != NULL) tt_tcp_server_close(self->server);
  if (self->connector != NULL) tt_tcp_client_close(self->connector);
  tt_ez_objects_close(&self->objects);
  free(self->in);
  free(self->state);
  free(self->names);
  free(self->orders);
  free(self->draft);
  free(self->forced);
  free(self->submissions);
  free(self);
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
}

static tt_status prepare(tt_wire *wire, ezphysics *self, tt_error *error) {
  TT_TRY(tt_ez_objects_open(&self->objects, wire, self->config, error));
  wire->owned = self->objects.owned;
  wire->owned_count = self->objects.owned_count;
  TT_TRY(allocate(self, error));
  return wire->check_only ? TT_OK : open_socket(wire, self, error);
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

static const char *own_address(const ezphysics *self) {
  if (self->server != NULL) return tt_tcp_server_address(self->server);
  return self->config->connect != NULL ? self->config->connect : self->config->listen;
}

/** The connect timeout counts only until somebody was there for the first time. */
static void give_up(tt_wire *wire) {
  const ezphysics *self = wire->self;
  char reason[160];
  if (self->ever_connected) {
    snprintf(reason, sizeof reason, "no message came within %g s: the simulation stops",
             self->config->receive_seconds);
  } else {
    snprintf(reason, sizeof reason, "nobody connected at %s within %g s: the simulation stops",
             own_address(self), self->config->connect_seconds);
  }
  tt_wire_request_stop(wire, TT_FAILED, reason);
}

static void close_peer(tt_wire *wire, const char *reason);

static void poll(tt_wire *wire, double seconds) {
  ezphysics *self = wire->self;
  const tt_ezphysics_config *config = self->config;
  bool step = config->checked_mode == TT_EZ_STEP;
  bool waits = step ? !self->answered : !self->ever_connected;
  double patience = self->ever_connected ? config->receive_seconds : config->connect_seconds;
  self->waiting = waits ? self->waiting + seconds : 0;
  if (patience > 0 && self->waiting >= patience) give_up(wire);

  bool reads = self->tcp == NULL || tt_tcp_queued(self->tcp) == 0;
  self->sending = reads ? 0 : self->sending + seconds;
  if (config->send_seconds > 0 && self->sending >= config->send_seconds)
    close_peer(wire, "it has not read what it was sent in time");
}

/* --- the peer comes and goes --- */

static void send_bytes(tt_wire *wire, const uint8_t *bytes, size_t size) {
  ezphysics *self = wire->self;
  tt_wire_sent(wire, bytes, size, tt_tcp_send(self->tcp, bytes, size) == TT_OK);
}

static void send_state(tt_wire *wire) {
  ezphysics *self = wire->self;
  self->owed++;
  self->sent_at = tt_net_now();
  send_bytes(wire, self->state, self->state_size);
}

/** What it ordered but the world has not carried out is void: in mode step the next peer's answer decides. */
static void forget_orders(ezphysics *self) {
  memset(self->orders, 0, (size_t)self->objects.joint_count * sizeof *self->orders);
  self->answered = self->reset = false;
  self->heard = 0;
}

static void lose_peer(tt_wire *wire, const char *reason) {
  ezphysics *self = wire->self;
  tt_wire_event(wire, "disconnected %s: %s", tt_tcp_peer(self->tcp), reason);
  self->tcp = NULL;
  self->in_size = 0;
  forget_orders(self);
  self->waiting = 0;
  wire->state = TT_WIRE_WAITING;
  wire->stats.peer[0] = '\0';
  if (self->config->checked_disconnect == TT_EZ_RESET) {
    self->state_size = 0; /* the next peer's first state is the one after the reset */
    tt_wire_request_reset(wire);
  } else if (self->config->checked_disconnect == TT_EZ_EXIT) {
    tt_wire_request_stop(wire, TT_OK, "its peer is gone");
  }
}

static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  tt_wire *wire = context;
  ezphysics *self = wire->self;
  if (tcp != NULL && tcp == self->tcp) lose_peer(wire, reason);
}

static void on_open(void *context, tt_tcp *tcp) {
  tt_wire *wire = context;
  ezphysics *self = wire->self;
  if (self->tcp != NULL && tt_tcp_closed(self->tcp)) {
    tt_tcp *gone = self->tcp;
    lose_peer(wire, "closed");
    tt_tcp_close(gone, "closed");
  }
  if (self->tcp != NULL) {
    tt_wire_drop(wire, TT_DROP_REFUSED, tt_tcp_peer(tcp), NULL, 0, "%s is connected; one at a time",
                 tt_tcp_peer(self->tcp));
    tt_tcp_close(tcp, "refused");
    return;
  }
  self->tcp = tcp;
  self->ever_connected = true;
  wire->state = TT_WIRE_WAITING; /* it gets its own time to answer */
  self->in_size = 0;
  self->paused = false;
  self->owed = self->stale = 0;
  self->answered = false;
  self->waiting = self->sending = 0;
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", tt_tcp_peer(tcp));
  tt_wire_event(wire, "connected %s", tt_tcp_peer(tcp));
  if (self->config->names != NULL && *self->config->names) {
    send_bytes(wire, self->names, self->names_size);
  }
  bool waits_for_us = self->config->checked_mode == TT_EZ_STEP;
  if (self->tcp != NULL && waits_for_us && self->state_size > 0) send_state(wire);
}

static void close_peer(tt_wire *wire, const char *reason) {
  ezphysics *self = wire->self;
  tt_tcp *tcp = self->tcp;
  if (tcp == NULL) return;
  lose_peer(wire, reason);
  tt_tcp_close(tcp, reason);
}

/* --- one message --- */

/** A number that `command` takes; −1 has no command behind it and takes anything finite. */
static bool check_number(tt_wire *wire, const tt_ez_packet *packet, int command, double value,
                         const uint8_t *bytes, size_t size) {
  const ezphysics *self = wire->self;
  const char *peer = tt_tcp_peer(self->tcp);
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
    tt_wire_drop(wire, TT_DROP_UNKNOWN, tt_tcp_peer(self->tcp), bytes, size,
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
  ezphysics *self = wire->self;
  const char *peer = tt_tcp_peer(self->tcp);
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
  size_t orders = (size_t)self->objects.joint_count * sizeof *self->orders;
  bool reset = false;
  memcpy(self->draft, self->orders, orders);
  switch (read_message(wire, bytes, size, &reset)) {
    case ACCEPTED:
      memcpy(self->orders, self->draft, orders);
      self->heard++;
      self->reset |= reset;
      return true;
    case REFUSED: return true; /* it was an answer all the same: nobody waits for another */
    default: close_peer(wire, "its message was malformed"); return false;
  }
}

/* --- the stream --- */

/** Size of the whole message at the front of the buffer; 0 while it is not there. Closes on bad framing. */
static size_t front_message(tt_wire *wire) {
  ezphysics *self = wire->self;
  size_t size;
  tt_error error;
  if (self->tcp == NULL) return 0;
  switch (tt_ez_frame(self->in, self->in_size, MAX_MESSAGE, &size, &error)) {
    case TT_OK: return size;
    case TT_AGAIN: return 0;
    default:
      tt_wire_drop(wire, TT_DROP_SYNTAX, tt_tcp_peer(self->tcp), self->in, self->in_size,
                   "%s; the connection is closed", error.text);
      close_peer(wire, "its stream was malformed");
      return 0;
  }
}

/** Forgets the front message, and reads on where the buffer was full. */
static void drop_front(ezphysics *self, size_t size) {
  if (self->tcp == NULL) return; /* the buffer went with the connection */
  self->in_size -= size;
  memmove(self->in, self->in + size, self->in_size);
  if (self->paused && self->in_size < MAX_MESSAGE) {
    self->paused = false;
    tt_tcp_pause(self->tcp, false);
  }
}

/** Throws answers to states from before a reset away. */
static void drop_stale(tt_wire *wire) {
  ezphysics *self = wire->self;
  size_t size;
  while (self->stale > 0 && (size = front_message(wire)) > 0) {
    self->stale--;
    tt_wire_received(wire, self->in, size);
    tt_wire_drop(wire, TT_DROP_STALE, tt_tcp_peer(self->tcp), self->in, size,
                 "it answers a state from before a reset");
    drop_front(self, size);
  }
}

/** Mode step: answers up to that to the newest state (where the world did not wait for one, policies hold and zero, there
 *  are several). Mode realtime: whatever has arrived. */
static void take_messages(tt_wire *wire) {
  ezphysics *self = wire->self;
  bool step = self->config->checked_mode == TT_EZ_STEP;
  size_t size;
  drop_stale(wire);
  while (!self->answered && (!step || self->owed > 0) && (size = front_message(wire)) > 0) {
    tt_wire_received(wire, self->in, size);
    if (!take_message(wire, self->in, size)) return;
    drop_front(self, size);
    if (!step || --self->owed > 0) continue;
    self->answered = true;
    tt_wire_answered(wire, self->sent_at);
    self->waiting = 0;
  }
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  tt_wire *wire = context;
  ezphysics *self = wire->self;
  if (tcp != self->tcp) return; /* refused, and not gone yet */
  if (size >
      MAX_MESSAGE + READ_AT_MOST - self->in_size) { /* only if a read brought more than it may */
    close_peer(wire, "more bytes than there is room for");
    return;
  }
  memcpy(self->in + self->in_size, bytes, size);
  self->in_size += size;
  take_messages(wire);
  if (self->tcp == NULL || self->in_size < MAX_MESSAGE || self->paused) return;
  self->paused = true;
  tt_tcp_pause(tcp, true);
}

static bool must_wait(const tt_wire *wire) {
  const ezphysics *self = wire->self;
  return !self->answered;
}

/* --- receive --- */

static int submit_order(ezphysics *self, const order *order, const tt_ez_axis *axis, int count) {
  if (order->kind == ORDER_FORCE && axis->torque >= 0) {
    self->submissions[count++] = (tt_submission){axis->torque, order->torque};
  }
  if (order->kind == ORDER_MOTOR && axis->velocity >= 0 && axis->max_torque >= 0) {
    self->submissions[count++] = (tt_submission){axis->max_torque, order->max_torque};
    self->submissions[count++] = (tt_submission){axis->velocity, order->velocity};
  }
  return count;
}

/** Ends the forces that were for the last period, then submits what this period's messages want. */
static void carry_out(tt_wire *wire) {
  ezphysics *self = wire->self;
  int count = 0;
  for (int j = 0; j < self->objects.joint_count; j++) {
    for (int i = 0; i < self->objects.joints[j].axis_count; i++) {
      const tt_ez_axis *axis = &self->objects.axes[j][i];
      order *order = &self->orders[j][i];
      if (self->forced[j][i] && order->kind != ORDER_FORCE && axis->torque >= 0) {
        tt_wire_make_safe(wire, &axis->torque, 1);
      }
      self->forced[j][i] = order->kind == ORDER_FORCE;
      count = submit_order(self, order, axis, count);
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
}

static void receive(tt_wire *wire) {
  ezphysics *self = wire->self;
  carry_out(wire);
  if (self->reset) tt_wire_request_reset(wire);
  self->reset = self->answered = false;
}

/* --- send --- */

static void send_view(tt_wire *wire, const tt_view *view) {
  ezphysics *self = wire->self;
  self->state_size = tt_ez_write_state(&self->objects, view, self->state, self->state_capacity);
  if (self->tcp == NULL) return;
  bool behind = tt_tcp_queued(self->tcp) > 0;
  if (self->config->checked_mode == TT_EZ_REALTIME && behind) {
    wire->stats.send_failed++; /* best effort: it gets the next one */
    return;
  }
  send_state(wire);
  take_messages(wire); /* it may have sent several at once */
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  ezphysics *self = wire->self;
  forget_orders(self);
  memset(self->forced, 0, (size_t)self->objects.joint_count * sizeof *self->forced);
  if (self->config->checked_mode == TT_EZ_STEP) self->stale += self->owed;
  self->owed = 0;
}

static void eject(tt_wire *wire) { close_peer(wire, "ejected: no message in time"); }

static const char *address(const tt_wire *wire) { return own_address(wire->self); }

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  const ezphysics *self = wire->self;
  tt_ez_explain(&self->objects, incoming, to);
}

const tt_wire_ops tt_ezphysics_ops = {
    .protocol = "ezphysics",
    .open = open_wire,
    .poll = poll,
    .receive = receive,
    .must_wait = must_wait,
    .send = send_view,
    .reset = reset,
    .eject = eject,
    .address = address,
    .explain = explain,
    .close = close_wire,
    .list_ids = tt_ez_list_ids,
};

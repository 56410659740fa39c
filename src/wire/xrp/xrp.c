/* xrp.c: an XRP, as seen from a WPILib program: its newest message drives, and each period it is told what the sensors say.
 *
 * Messages are numbered; the number wraps after 65535, so that of two the one that is less than half a round ahead is newer.
 * The program drops a message of ours whose number is not greater than the last it heard, and knows no restart of an XRP;
 * only after 65533 and more does it take 0 to 2 for the next round. We begin there, and so are heard by a program that has been
 * running for longer than this world.
 */
#include "wire/xrp/xrp.h"

#include "wire/convert.h"
#include "wire/order.h"
#include "wire/xrp/codec.h"
#include "wire/xrp/explain.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_NUMBER 65533
#define NONE -1
#define MOST_COMMANDS (TT_XRP_MOTORS + TT_XRP_SERVOS + TT_XRP_DIO)

/* An entry of a list. */
typedef struct slot {
  bool used; /* not `none` */
  int command;
  tt_signal signal;
  tt_conversion conversion;
} slot;

typedef struct xrp {
  tt_wire_udp link; /* first: see wire/udp.h */
  tt_wire_order order;
  slot slots[TT_XRP_LISTS][TT_XRP_ENTRIES];
  int counts[TT_XRP_LISTS];
  int owned[MOST_COMMANDS];
  tt_xrp_command newest; /* waits for receive while order.pending */
  uint16_t number;       /* of the latest message */
  uint64_t left;         /* messages that had left when that was made */
  bool said_unknown;     /* which tag means nothing here */
} xrp;
_Static_assert(offsetof(xrp, link) == 0, "the operations of wire/udp.h find the link there");

/* --- opening --- */

/* Of several equal entries nobody could say which one applies. */
static tt_status refuse_twice(const tt_wire *wire, int command, const char *where,
                              tt_error *error) {
  for (int i = 0; i < wire->owned_count; i++)
    if (wire->owned[i] == command)
      return tt_fail(error, TT_INVALID, "%s: '%s' stands in this wire's lists twice", where,
                     wire->model->commands[command].name);
  return TT_OK;
}

static tt_status resolve_entry(tt_wire *wire, tt_xrp_list_kind kind, const tt_name_entry *entry,
                               const char *where, slot *to, tt_error *error) {
  xrp *self = wire->self;
  if (strcmp(entry->name, "none") == 0) return TT_OK;
  to->used = true;
  if (kind >= TT_XRP_COMMAND_LISTS) {
    TT_TRY(tt_names_find_signal(wire->names, entry->name, wire->robot, where, &to->signal, error));
    return tt_conversion_prepare(entry, to->signal.dimension, where, &to->conversion, error);
  }
  TT_TRY(tt_names_find_command(wire->names, entry->name, wire->robot, where, &to->command, error));
  TT_TRY(refuse_twice(wire, to->command, where, error));
  self->owned[wire->owned_count++] = to->command;
  return tt_conversion_prepare(entry, wire->model->commands[to->command].dimension, where,
                               &to->conversion, error);
}

static tt_status resolve(tt_wire *wire, const tt_xrp_config *config, tt_error *error) {
  xrp *self = wire->self;
  char where[512];
  wire->owned = self->owned;
  for (int kind = 0; kind < TT_XRP_LISTS; kind++) {
    const tt_xrp_list *list = &config->lists[kind];
    self->counts[kind] = (int)list->count;
    for (unsigned i = 0; i < list->count; i++) {
      snprintf(where, sizeof where, "%s.%s[%u]", wire->where, tt_xrp_list_keys[kind], i);
      TT_TRY(resolve_entry(wire, (tt_xrp_list_kind)kind, &list->entries[i], where,
                           &self->slots[kind][i], error));
    }
  }
  return TT_OK;
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer);

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  const tt_xrp_config *config = untyped;
  xrp *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->link.bind = config->bind;
  self->number = FIRST_NUMBER;
  tt_status status = resolve(wire, config, error);
  if (status == TT_OK && !wire->check_only)
    status = tt_wire_open_udp(wire, &config->common, config->bind, "sender", TT_XRP_BYTES,
                              on_datagram, &self->link, error);
  if (status != TT_OK) tt_wire_close_udp(wire);
  return status;
}

/* --- receiving --- */

/* Fills in what the message orders. As on the real robot what is beyond full speed is full speed, and a disabled one's motors
 * stand while its servos stay. */
static int submissions_of(const xrp *self, const tt_xrp_command *said, tt_submission *to) {
  int count = 0;
  for (int i = 0; i < self->counts[TT_XRP_MOTOR_LIST]; i++) {
    const slot *motor = &self->slots[TT_XRP_MOTOR_LIST][i];
    double speed = said->enabled ? fmax(-1, fmin((double)said->motors[i], 1)) : 0;
    if (motor->used)
      to[count++] = (tt_submission){motor->command, tt_convert_in(&motor->conversion, speed)};
  }
  for (int i = 0; said->enabled && i < self->counts[TT_XRP_SERVO_LIST]; i++) {
    const slot *servo = &self->slots[TT_XRP_SERVO_LIST][i];
    double way = fmax(0, fmin((double)said->servos[i], 1));
    if (servo->used && said->has_servo >> i & 1)
      to[count++] = (tt_submission){servo->command, tt_convert_in(&servo->conversion, way)};
  }
  for (int i = 0; i < self->counts[TT_XRP_OUTPUT_LIST]; i++) {
    const slot *output = &self->slots[TT_XRP_OUTPUT_LIST][i];
    if (output->used && said->has_output >> i & 1)
      to[count++] = (tt_submission){
          output->command, tt_convert_in(&output->conversion, (double)(said->outputs >> i & 1))};
  }
  return count;
}

/* A scale of the scene may ask for more than a command takes. */
static bool in_range(const tt_wire *wire, const tt_xrp_command *said, tt_refusal *fault) {
  tt_submission submissions[MOST_COMMANDS];
  int count = submissions_of(wire->self, said, submissions);
  for (int i = 0; i < count; i++) {
    const tt_command *command = &wire->model->commands[submissions[i].command];
    double value = submissions[i].value;
    if (value >= command->lower && value <= command->upper) continue;
    fault->drop = TT_DROP_RANGE;
    snprintf(fault->text, sizeof fault->text, "%.40s is %g, not within %g to %g", command->name,
             value, command->lower, command->upper);
    return false;
  }
  return true;
}

/* The message's number, counted on through its rounds from the one before. */
static double stamp_of(const xrp *self, uint16_t number) {
  const tt_wire_order *order = &self->order;
  if (!order->pending && !order->ordered) return number;
  double before = order->pending ? order->pending_stamp : order->last_stamp;
  return before + (int16_t)(number - (uint16_t)(int64_t)before);
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer) {
  tt_wire *wire = context;
  xrp *self = wire->self;
  tt_xrp_command said;
  tt_refusal fault = {TT_DROP_LENGTH, "more bytes than any message has"};
  tt_wire_received(wire, bytes, size);
  if (truncated || tt_xrp_decode(bytes, size, &said, &fault) != TT_OK ||
      !in_range(wire, &said, &fault)) {
    tt_wire_drop(wire, fault.drop, peer, bytes, size, "%s", fault.text);
    return;
  }
  double stamp = stamp_of(self, said.number);
  if (!tt_wire_order_take(wire, &self->order, &self->link, &stamp, peer, bytes, size)) return;
  if (said.unknown && !self->said_unknown)
    tt_wire_event(wire, "tag 0x%02x of %s means nothing here", (unsigned)said.unknown, peer);
  self->said_unknown = self->said_unknown || said.unknown;
  self->newest = said;
}

static void receive(tt_wire *wire) {
  xrp *self = wire->self;
  tt_submission submissions[MOST_COMMANDS];
  tt_wire_advance_udp(wire, &self->link);
  if (!self->order.pending) return;
  int count = submissions_of(self, &self->newest, submissions);
  tt_wire_order_submitted(wire, &self->order,
                          tt_wire_submit(wire, submissions, count, NULL) == TT_OK);
}

static bool wants_reset(tt_wire *wire) {
  const xrp *self = wire->self;
  tt_submission submissions[MOST_COMMANDS];
  return self->order.pending &&
         tt_wire_has_reset(wire, submissions, submissions_of(self, &self->newest, submissions));
}

/* --- sending --- */

static float read_slot(const slot *from, const tt_view *view) {
  return from->used ? tt_convert_out(&from->conversion, tt_signal_read(&from->signal, view)) : 0;
}

static uint32_t used_slots(const xrp *self, tt_xrp_list_kind kind) {
  uint32_t used = 0;
  for (int i = 0; i < self->counts[kind]; i++) used |= (uint32_t)self->slots[kind][i].used << i;
  return used;
}

static tt_xrp_encoder encoder_of(const xrp *self, int index, const tt_view *view) {
  const slot *rate = &self->slots[TT_XRP_RATE_LIST][index];
  const slot *count = &self->slots[TT_XRP_ENCODER_LIST][index];
  double ticks = count->used ? tt_signal_read(&count->signal, view) / count->conversion.unit *
                                       count->conversion.scale +
                                   count->conversion.offset
                             : 0;
  double speed = (double)read_slot(rate, view);
  return (tt_xrp_encoder){.count = (int32_t)lrint(fmax(INT32_MIN, fmin(ticks, INT32_MAX))),
                          .timed = rate->used,
                          .period = speed != 0 ? 1 / speed : INFINITY};
}

/* Goes on only once somebody could hear the one before: whoever comes first hears the first. */
static uint16_t next_number(const tt_wire *wire, xrp *self) {
  uint64_t left = wire->stats.sent + wire->stats.send_failed;
  if (left != self->left) self->number++;
  self->left = left;
  return self->number;
}

static void send_state(tt_wire *wire, const tt_view *view) {
  xrp *self = wire->self;
  uint8_t bytes[TT_XRP_BYTES];
  tt_xrp_state state = {.number = next_number(wire, self),
                        .has_encoder = used_slots(self, TT_XRP_ENCODER_LIST),
                        .has_input = used_slots(self, TT_XRP_INPUT_LIST),
                        .has_analog = used_slots(self, TT_XRP_ANALOG_LIST),
                        .has_gyro = self->counts[TT_XRP_GYRO_LIST] > 0,
                        .has_accelerometer = self->counts[TT_XRP_ACCELEROMETER_LIST] > 0};
  for (int i = 0; i < TT_XRP_MOTORS; i++) state.encoders[i] = encoder_of(self, i, view);
  for (int i = 0; i < TT_XRP_DIO; i++)
    state.inputs |= (uint32_t)((double)read_slot(&self->slots[TT_XRP_INPUT_LIST][i], view) > 0.5)
                    << i;
  for (int i = 0; i < TT_XRP_ANALOGS; i++)
    state.analogs[i] = read_slot(&self->slots[TT_XRP_ANALOG_LIST][i], view);
  for (int i = 0; i < 6; i++) state.gyro[i] = read_slot(&self->slots[TT_XRP_GYRO_LIST][i], view);
  for (int i = 0; i < 3; i++)
    state.accelerometer[i] = read_slot(&self->slots[TT_XRP_ACCELEROMETER_LIST][i], view);
  tt_wire_send_udp(wire, &self->link, bytes, tt_xrp_encode_state(&state, bytes));
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  xrp *self = wire->self;
  self->order.ordered = false;
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  (void)wire;
  tt_xrp_explain(incoming, to);
}

static const char *const command_lists[] = {"motors", "servos", "outputs", NULL};

const tt_wire_ops tt_xrp_ops = {
    .command_lists = command_lists,
    .protocol = "xrp",
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

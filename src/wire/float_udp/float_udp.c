/* float_udp.c: which of the datagrams of a period applies (wire/order.h), and what is sent back.
 *
 * Each datagram is decoded and validated when it is read; the newest valid one of the period waits and is submitted at receive.
 */
#include "wire/float_udp/float_udp.h"

#include "base/endian.h"
#include "base/log.h"
#include "wire/byte_order.h"
#include "wire/convert.h"
#include "wire/explain.h"
#include "wire/float_udp/codec.h"
#include "wire/order.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_IN_WORDS 96

/* What a number in a message is. */
typedef enum slot_kind { SLOT_NONE, SLOT_STAMP, SLOT_TIME, SLOT_SIGNAL, SLOT_COMMAND } slot_kind;

typedef struct slot {
  slot_kind kind;
  const char *name; /* as the scene writes it */
  tt_signal signal;
  int command;      /* index into model->commands */
  const char *unit; /* of the number on the wire; "" where it has none */
  tt_conversion conversion;
  float last; /* of a time: sent last */
  bool sent;
} slot;

typedef struct float_udp {
  tt_wire_udp link; /* first: see wire/udp.h */
  slot sensors[TT_FLOAT_UDP_MAX], commands[TT_FLOAT_UDP_MAX];
  int sensor_count, command_count;
  int stamp; /* index of the timestamp among commands, −1: there is none */
  int owned[TT_FLOAT_UDP_MAX];

  tt_wire_order order;
  float newest[TT_FLOAT_UDP_MAX]; /* waits for receive while order.pending */
  float arriving[TT_FLOAT_UDP_MAX];
  bool warned_of_byte_order;
  bool time_restarts; /* at a reset; else it grows as long as the program runs */
} float_udp;
_Static_assert(offsetof(float_udp, link) == 0, "the operations of wire/udp.h find the link there");

/* --- opening --- */

/* What people call the number on the wire, "" for a mere number or one that the scene scales into something else. */
static const char *unit_of(const tt_name_entry *entry, tt_dimension dimension) {
  if (dimension == TT_DIMENSIONLESS || (entry->scale != 0 && entry->scale != 1)) return "";
  return entry->unit ? entry->unit : tt_unit_si(dimension)->name;
}

static tt_status resolve_sensor(tt_wire *wire, const tt_name_entry *entry, const char *where,
                                slot *slot, tt_error *error) {
  slot->name = entry->name;
  slot->unit = "";
  if (strcmp(entry->name, "none") == 0) return TT_OK;
  TT_TRY(tt_names_find_signal(wire->names, entry->name, wire->robot, where, &slot->signal, error));
  slot->kind = slot->signal.source == TT_SIGNAL_TIME ? SLOT_TIME : SLOT_SIGNAL;
  slot->unit = unit_of(entry, slot->signal.dimension);
  return tt_conversion_prepare(entry, slot->signal.dimension, where, &slot->conversion, error);
}

static tt_status resolve_command(tt_wire *wire, const tt_name_entry *entry, const char *where,
                                 slot *slot, tt_error *error) {
  slot->name = entry->name;
  slot->unit = "";
  if (strcmp(entry->name, "none") == 0) return TT_OK;
  if (strcmp(entry->name, "stamp") == 0) {
    slot->kind = SLOT_STAMP;
    return TT_OK;
  }
  slot->kind = SLOT_COMMAND;
  TT_TRY(
      tt_names_find_command(wire->names, entry->name, wire->robot, where, &slot->command, error));
  tt_dimension dimension = wire->model->commands[slot->command].dimension;
  slot->unit = unit_of(entry, dimension);
  return tt_conversion_prepare(entry, dimension, where, &slot->conversion, error);
}

/* Of several equal entries nobody could say which one applies. */
static tt_status refuse_twice(const float_udp *self, int index, const char *where,
                              tt_error *error) {
  const slot *new = &self->commands[index];
  if (new->kind == SLOT_NONE) return TT_OK;
  for (int i = 0; i < index; i++) {
    const slot *old = &self->commands[i];
    if (old->kind != new->kind || (new->kind == SLOT_COMMAND && old->command != new->command))
      continue;
    return tt_fail(error, TT_INVALID,
                   "%s: '%s' stands in the list twice (also commands[%d]); leave one out", where,
                   new->name, i);
  }
  return TT_OK;
}

static tt_status resolve_lists(tt_wire *wire, const tt_float_udp_config *config, float_udp *self,
                               tt_error *error) {
  char where[512];
  for (unsigned i = 0; i < config->sensor_count; i++, self->sensor_count++) {
    snprintf(where, sizeof where, "%s.sensors[%u]", wire->where, i);
    TT_TRY(resolve_sensor(wire, &config->sensors[i], where, &self->sensors[i], error));
  }
  for (unsigned i = 0; i < config->command_count; i++, self->command_count++) {
    snprintf(where, sizeof where, "%s.commands[%u]", wire->where, i);
    TT_TRY(resolve_command(wire, &config->commands[i], where, &self->commands[i], error));
    TT_TRY(refuse_twice(self, (int)i, where, error));
    if (self->commands[i].kind == SLOT_STAMP) self->stamp = (int)i;
    if (self->commands[i].kind == SLOT_COMMAND)
      self->owned[wire->owned_count++] = self->commands[i].command;
  }
  wire->owned = self->owned;
  return TT_OK;
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer);

static tt_status open_wire(tt_wire *wire, const void *untyped, tt_error *error) {
  const tt_float_udp_config *config = untyped;
  float_udp *self = calloc(1, sizeof *self);
  if (!self) return tt_fail(error, TT_NOMEM, "out of memory");
  wire->self = self;
  self->stamp = -1;
  self->link.bind = config->bind;
  self->time_restarts = config->time_restarts;
  tt_status status = resolve_lists(wire, config, self, error);
  if (status == TT_OK && !wire->check_only)
    status = tt_wire_open_udp(wire, &config->common, config->bind, config->peer, TT_FLOAT_UDP_BYTES,
                              on_datagram, &self->link, error);
  if (status != TT_OK) tt_wire_close_udp(wire);
  return status;
}

/* --- receiving --- */

/* "field 3 (arm.torque)", counted from 1 as in the byte table. */
static const char *in_words(const float_udp *self, int index, char text[NAME_IN_WORDS]) {
  snprintf(text, NAME_IN_WORDS, "field %d (%.64s)", index + 1, self->commands[index].name);
  return text;
}

static bool is_whole(tt_command_kind kind) {
  return kind == TT_COMMAND_GRIP || kind == TT_COMMAND_SHIFT;
}

static bool in_range(const tt_command *command, double value) {
  if (is_whole(command->kind) && value != rint(value)) return false;
  return value >= command->lower && value <= command->upper;
}

/* Decoded and every field acceptable; says why otherwise. */
static bool validate(tt_wire *wire, const uint8_t *bytes, size_t size, bool truncated,
                     const char *peer) {
  float_udp *self = wire->self;
  char words[NAME_IN_WORDS];
  tt_drop reason;
  int field;
  if (tt_float_udp_decode(bytes, truncated ? size + 1 : size, self->command_count, self->arriving,
                          &reason, &field) != TT_OK) {
    if (field < 0)
      tt_wire_drop(wire, reason, peer, bytes, size,
                   "%s%zu bytes where %d floats of 4 bytes are expected",
                   truncated ? "more than " : "", size, self->command_count);
    else
      tt_wire_drop(wire, reason, peer, bytes, size, "%s is not a finite number",
                   in_words(self, field, words));
    return false;
  }
  for (int i = 0; i < self->command_count; i++) {
    const slot *slot = &self->commands[i];
    if (slot->kind != SLOT_COMMAND) continue;
    const tt_command *command = &wire->model->commands[slot->command];
    if (in_range(command, tt_convert_in(&slot->conversion, self->arriving[i]))) continue;
    tt_wire_drop(wire, TT_DROP_RANGE, peer, bytes, size, "%s is %g; in SI it must be %s%g to %g",
                 in_words(self, i, words), (double)self->arriving[i],
                 is_whole(command->kind) ? "a whole number from " : "", command->lower,
                 command->upper);
    return false;
  }
  return true;
}

static void warn_of_byte_order(tt_wire *wire, const uint8_t *bytes, size_t size, const char *peer,
                               bool refused) {
  float_udp *self = wire->self;
  if (self->warned_of_byte_order || size != 4 * (size_t)self->command_count ||
      !tt_floats_look_swapped(bytes, self->command_count, false, refused))
    return;
  self->warned_of_byte_order = true;
  tt_log_warning("%s: the numbers of %s look like big-endian floats; send little-endian ones",
                 wire->name, peer);
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer) {
  tt_wire *wire = context;
  float_udp *self = wire->self;
  tt_wire_received(wire, bytes, size);
  bool valid = validate(wire, bytes, size, truncated, peer);
  if (!valid) warn_of_byte_order(wire, bytes, size, peer, true);
  if (!valid) return;
  double stamp = self->stamp < 0 ? 0 : (double)self->arriving[self->stamp];
  if (!tt_wire_order_take(wire, &self->order, &self->link, self->stamp < 0 ? NULL : &stamp, peer,
                          bytes, size))
    return;
  warn_of_byte_order(wire, bytes, size, peer, false);
  memcpy(self->newest, self->arriving, sizeof self->newest);
}

static int submissions_of(const float_udp *self, tt_submission *to) {
  int count = 0;
  for (int i = 0; i < self->command_count; i++) {
    const slot *slot = &self->commands[i];
    if (slot->kind != SLOT_COMMAND) continue;
    to[count++] = (tt_submission){slot->command, tt_convert_in(&slot->conversion, self->newest[i])};
  }
  return count;
}

static void submit_pending(tt_wire *wire) {
  float_udp *self = wire->self;
  tt_submission submissions[TT_FLOAT_UDP_MAX];
  int count = submissions_of(self, submissions);
  bool accepted = tt_wire_submit(wire, submissions, count, NULL) == TT_OK;
  tt_wire_order_submitted(wire, &self->order, accepted);
}

static void receive(tt_wire *wire) {
  float_udp *self = wire->self;
  tt_wire_advance_udp(wire, &self->link);
  if (self->order.pending) submit_pending(wire);
}

static bool wants_reset(tt_wire *wire) {
  const float_udp *self = wire->self;
  tt_submission submissions[TT_FLOAT_UDP_MAX];
  return self->order.pending &&
         tt_wire_has_reset(wire, submissions, submissions_of(self, submissions));
}

/* --- sending --- */

/* Strictly increasing, even where float32 can no longer tell one tick from the next, and, unless the scene wants it
 * otherwise, through resets: a client that takes it for a filter would be deaf after one. */
static float next_time(const tt_wire *wire, slot *slot) {
  const float_udp *self = wire->self;
  double time = self->time_restarts ? tt_wire_time(wire) : tt_wire_run_time(wire);
  float value = tt_convert_out(&slot->conversion, time);
  if (slot->sent && value <= slot->last) value = nextafterf(slot->last, INFINITY);
  slot->sent = true;
  slot->last = value;
  return value;
}

static float sensor_value(const tt_wire *wire, slot *slot, const tt_view *view) {
  switch (slot->kind) {
    case SLOT_TIME: return next_time(wire, slot);
    case SLOT_SIGNAL: return tt_convert_out(&slot->conversion, tt_signal_read(&slot->signal, view));
    default: return 0;
  }
}

static void send_sensors(tt_wire *wire, const tt_view *view) {
  float_udp *self = wire->self;
  if (self->sensor_count == 0) return;
  float values[TT_FLOAT_UDP_MAX];
  uint8_t bytes[TT_FLOAT_UDP_BYTES];
  for (int i = 0; i < self->sensor_count; i++)
    values[i] = sensor_value(wire, &self->sensors[i], view);
  size_t size = tt_float_udp_encode(values, self->sensor_count, bytes);
  tt_wire_send_udp(wire, &self->link, bytes, size);
}

/* --- the rest of the contract --- */

static void reset(tt_wire *wire) {
  float_udp *self = wire->self;
  self->order.ordered = false;
  for (int i = 0; self->time_restarts && i < self->sensor_count; i++) self->sensors[i].sent = false;
}

static bool is_acceptable(const tt_wire *wire, const slot *slot, float value) {
  if (slot->kind != SLOT_COMMAND || !isfinite(value)) return true; /* told by itself */
  return in_range(&wire->model->commands[slot->command], tt_convert_in(&slot->conversion, value));
}

static void explain(const tt_wire *wire, bool incoming, tt_explanation *to) {
  const float_udp *self = wire->self;
  const slot *slots = incoming ? self->commands : self->sensors;
  int count = incoming ? self->command_count : self->sensor_count;
  for (int i = 0; i < count; i++) {
    tt_wire_field *field = tt_explain_field(to, slots[i].name, slots[i].unit, 4 * i, 4);
    if (!field) continue;
    float value = tt_get_float_le(to->bytes + 4 * i);
    field->wrong = incoming && !is_acceptable(wire, &slots[i], value);
    tt_explain_number(field, (double)value);
  }
  tt_explain_rest(to, 4 * count);
}

static const char *const command_lists[] = {"commands", NULL};

/* The files of client/. */
extern const char tt_float_udp_client_python[], tt_float_udp_client_java[], tt_float_udp_client_c[],
    tt_float_udp_client_cpp[];
static const tt_wire_client clients[] = {{"python", tt_float_udp_client_python},
                                         {"java", tt_float_udp_client_java},
                                         {"c", tt_float_udp_client_c},
                                         {"cpp", tt_float_udp_client_cpp},
                                         {NULL, NULL}};

const tt_wire_ops tt_float_udp_ops = {
    .command_lists = command_lists,
    .clients = clients,
    .protocol = "float-udp",
    .open = open_wire,
    .poll = tt_wire_poll_udp,
    .receive = receive,
    .wants_reset = wants_reset,
    .must_wait = tt_wire_udp_must_wait,
    .send = send_sensors,
    .reset = reset,
    .eject = tt_wire_eject_udp,
    .address = tt_wire_udp_address,
    .explain = explain,
    .close = tt_wire_close_udp,
};

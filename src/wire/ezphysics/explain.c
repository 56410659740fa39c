#include "wire/ezphysics/explain.h"

#include "base/endian.h"
#include "wire/explain.h"

#include <stdio.h>
#include <string.h>

#define WORD 4 /* bytes of every number on this wire */

/* What a number of a payload measures: a unit that is always the same (WHOLE: an integer), or one of its joint's axis. */
typedef enum measure { FIXED, WHOLE, AXIS_POSITION, AXIS_VELOCITY, AXIS_EFFORT } measure;

typedef struct word {
  const char *name, *unit;
  measure measure;
} word;

#define MOST_WORDS 21

static const word collision[MOST_WORDS + 1] = {{"contact.x", "m", FIXED},
                                               {"contact.y", "m", FIXED},
                                               {"contact.z", "m", FIXED},
                                               {"depth", "m", FIXED}};
static const word limb[MOST_WORDS + 1] = {{"position.x", "m", FIXED},
                                          {"position.y", "m", FIXED},
                                          {"position.z", "m", FIXED},
                                          {"rotation.w", "", FIXED},
                                          {"rotation.x", "", FIXED},
                                          {"rotation.y", "", FIXED},
                                          {"rotation.z", "", FIXED},
                                          {"force.x", "N", FIXED},
                                          {"force.y", "N", FIXED},
                                          {"force.z", "N", FIXED},
                                          {"torque.x", "N·m", FIXED},
                                          {"torque.y", "N·m", FIXED},
                                          {"torque.z", "N·m", FIXED},
                                          {"unused", "", FIXED},
                                          {"velocity.x", "m/s", FIXED},
                                          {"velocity.y", "m/s", FIXED},
                                          {"velocity.z", "m/s", FIXED},
                                          {"rotation rate.x", "rad/s", FIXED},
                                          {"rotation rate.y", "rad/s", FIXED},
                                          {"rotation rate.z", "rad/s", FIXED},
                                          {"unused", "", FIXED}};
static const word axis[MOST_WORDS + 1] = {{"displacement", "", AXIS_POSITION},
                                          {"velocity", "", AXIS_VELOCITY}};
static const word feedback[MOST_WORDS + 1] = {
    {"force on body 1.x", "N", FIXED},    {"force on body 1.y", "N", FIXED},
    {"force on body 1.z", "N", FIXED},    {"torque on body 1.x", "N·m", FIXED},
    {"torque on body 1.y", "N·m", FIXED}, {"torque on body 1.z", "N·m", FIXED},
    {"force on body 2.x", "N", FIXED},    {"force on body 2.y", "N", FIXED},
    {"force on body 2.z", "N", FIXED},    {"torque on body 2.x", "N·m", FIXED},
    {"torque on body 2.y", "N·m", FIXED}, {"torque on body 2.z", "N·m", FIXED}};
static const word timestamp[MOST_WORDS + 1] = {{"step", "", WHOLE}, {"step size", "s", FIXED}};
static const word force[MOST_WORDS + 1] = {
    {"torque 1", "", AXIS_EFFORT}, {"torque 2", "", AXIS_EFFORT}, {"torque 3", "", AXIS_EFFORT}};
static const word motor[MOST_WORDS + 1] = {
    {"velocity 1", "", AXIS_VELOCITY}, {"max torque 1", "", AXIS_EFFORT},
    {"velocity 2", "", AXIS_VELOCITY}, {"max torque 2", "", AXIS_EFFORT},
    {"velocity 3", "", AXIS_VELOCITY}, {"max torque 3", "", AXIS_EFFORT}};

/* NULL where the payload is no row of numbers. */
static const word *words_of(bool incoming, uint32_t type) {
  if (incoming)
    return type == TT_EZ_RECV_AXIS_FORCE ? force : type == TT_EZ_RECV_AXIS_MOTOR ? motor : NULL;
  switch (type) {
    case TT_EZ_SEND_COLLISION: return collision;
    case TT_EZ_SEND_LIMB: return limb;
    case TT_EZ_SEND_JOINTAXIS: return axis;
    case TT_EZ_SEND_JOINTFEEDBACK: return feedback;
    case TT_EZ_SEND_TIMESTAMP: return timestamp;
    default: return NULL;
  }
}

/* A packet as its header says. */
typedef struct packet {
  uint32_t type, size, object, index;
} packet;

/* Everything that explaining one message needs. */
typedef struct reader {
  const tt_ez_objects *objects;
  bool incoming;
  tt_explanation *to;
  int at; /* the next byte */
} reader;

/* The whole number that comes next as a field, or NULL where there is nothing to fill in; `*value` is 0 then. */
static tt_wire_field *next_word(reader *from, const char *name, const char *unit, uint32_t *value) {
  int offset = from->at;
  bool here = from->to->size - offset >= WORD;
  tt_wire_field *field = tt_explain_field(from->to, name, unit, offset, WORD);
  *value = here ? tt_get_u32_le(from->to->bytes + offset) : 0;
  from->at += WORD;
  if (field) snprintf(field->value, sizeof field->value, "%u", *value);
  return field;
}

/* --- packets --- */

static const char *object_name(const reader *from, const packet *packet) {
  const tt_ez_objects *objects = from->objects;
  bool is_name = !from->incoming && packet->type == TT_EZ_SEND_NAME;
  bool body =
      !from->incoming && (packet->type == TT_EZ_SEND_COLLISION || packet->type == TT_EZ_SEND_LIMB ||
                          (is_name && packet->index == TT_EZ_BODY));
  if (body)
    return packet->object < (uint32_t)objects->model->body_count
               ? objects->model->bodies[packet->object].name
               : NULL;
  bool known = packet->object > 0 && packet->object <= (uint32_t)objects->joint_count;
  return known ? objects->joints[packet->object - 1].name : NULL;
}

static bool speaks_of_an_object(const reader *from, uint32_t type) {
  return from->incoming ? type != TT_EZ_RECV_RESET : type != TT_EZ_SEND_TIMESTAMP;
}

static void explain_object(const reader *from, const packet *packet, tt_wire_field *field) {
  if (!field || !speaks_of_an_object(from, packet->type)) return;
  const char *name = object_name(from, packet);
  if (name) snprintf(field->value, sizeof field->value, "%u %s", packet->object, name);
  field->wrong = from->incoming && !tt_ez_receiver(from->objects, packet->object);
}

static packet explain_header(reader *from) {
  packet packet;
  tt_wire_field *type = next_word(from, "type", "", &packet.type);
  tt_wire_field *size = next_word(from, "payload", "B", &packet.size);
  tt_wire_field *object = next_word(from, "object", "", &packet.object);
  next_word(from, "index", "", &packet.index);
  const char *name = tt_ez_type_name(from->incoming, packet.type);
  int expected = tt_ez_payload_size(from->incoming, packet.type);
  if (type) {
    snprintf(type->value, sizeof type->value, "%u %s", packet.type, name ? name : "unknown");
    type->wrong = name == NULL;
  }
  if (size && expected >= 0 && packet.size != (uint32_t)expected) {
    snprintf(size->value, sizeof size->value, "%u, %d expected", packet.size, expected);
    size->wrong = true;
  }
  explain_object(from, &packet, object);
  return packet;
}

/* The axis that word `index` speaks of, as the model numbers it; −1 where its joint has none. */
static int axis_of(const reader *from, const packet *packet, int index) {
  int number = !from->incoming                         ? (int)packet->index
               : packet->type == TT_EZ_RECV_AXIS_MOTOR ? index / 2
                                                       : index;
  if (packet->object == 0 || packet->object > (uint32_t)from->objects->joint_count) return -1;
  const tt_ez_joint *joint = &from->objects->joints[packet->object - 1];
  return number >= 0 && number < joint->axis_count ? joint->axes[number] : -1;
}

static const char *axis_unit(const tt_model *model, int axis, measure measure) {
  static const char *const turning[] = {"", "", "rad", "rad/s", "N·m"};
  static const char *const sliding[] = {"", "", "m", "m/s", "N"};
  bool slides = model->joints[model->axis_joint[axis]].kind == TT_SLIDE;
  return slides ? sliding[measure] : turning[measure];
}

/* Whether the world takes this number of a command; one for an axis that the joint hasn't is ignored. */
static bool is_acceptable(const reader *from, const packet *packet, int index, double value) {
  if (!from->incoming || axis_of(from, packet, index) < 0) return true;
  const tt_ez_axis *axes = from->objects->axes[packet->object - 1];
  bool motor_packet = packet->type == TT_EZ_RECV_AXIS_MOTOR;
  const tt_ez_axis *axis = &axes[motor_packet ? index / 2 : index];
  int command = !motor_packet ? axis->torque : index % 2 ? axis->max_torque : axis->velocity;
  if (command < 0) return true;
  const tt_command *limits = &from->objects->model->commands[command];
  return value >= limits->lower && value <= limits->upper;
}

static void explain_word(reader *from, const packet *packet, const word *word, int index) {
  const char *unit = word->unit;
  bool of_axis = word->measure > WHOLE, ignored = of_axis && axis_of(from, packet, index) < 0;
  if (of_axis) {
    int axis = axis_of(from, packet, index);
    unit = ignored ? "unused" : axis_unit(from->objects->model, axis, word->measure);
  }
  uint32_t bits;
  tt_wire_field *field = next_word(from, word->name, unit, &bits);
  if (!field || word->measure == WHOLE) return;
  double value = (double)tt_float_of_bits(bits);
  field->wrong = !is_acceptable(from, packet, index, value);
  tt_explain_number(field, value);
  if (ignored) field->wrong = false;
}

/* A payload that is a text, or that is not what its type says. */
static void explain_bytes(reader *from, const packet *packet, bool text) {
  int size = packet->size > (uint32_t)INT16_MAX ? INT16_MAX : (int)packet->size;
  tt_wire_field *field = tt_explain_field(from->to, text ? "name" : "content", "", from->at, size);
  if (field && text)
    snprintf(field->value, sizeof field->value, "%.*s", size,
             (const char *)from->to->bytes + from->at);
  from->at += size;
}

static void explain_packet(reader *from) {
  packet packet = explain_header(from);
  const word *words = words_of(from->incoming, packet.type);
  int expected = tt_ez_payload_size(from->incoming, packet.type);
  if (words && packet.size == (uint32_t)expected) {
    for (int i = 0; i < expected / WORD; i++) explain_word(from, &packet, &words[i], i);
  } else if (packet.size > 0) {
    explain_bytes(from, &packet, !from->incoming && packet.type == TT_EZ_SEND_NAME);
  }
}

/* --- the message --- */

void tt_ez_explain(const tt_ez_objects *objects, bool incoming, tt_explanation *to) {
  reader from = {objects, incoming, to, 0};
  uint32_t whole, packets;
  tt_wire_field *size = next_word(&from, "message size", "B", &whole);
  tt_wire_field *count = next_word(&from, "packets", "", &packets);
  if (size) size->wrong = whole != (uint32_t)to->whole;
  if (count) count->wrong = packets > (uint32_t)to->whole / TT_EZ_PACKET_HEADER;
  while (packets-- > 0 && from.at < to->size && to->count < to->capacity) explain_packet(&from);
  if (from.at < to->whole && to->whole == to->size) tt_explain_rest(to, from.at);
}

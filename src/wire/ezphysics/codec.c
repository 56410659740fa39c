/* codec.c: EZPhysics messages as bytes and as numbers. See codec.h. */
#include "wire/ezphysics/codec.h"

#include "base/endian.h"

#include <float.h>
#include <math.h>
#include <string.h>

/** A float32 that is always finite; a NaN, which no view holds, becomes 0. */
static void put_float(uint8_t *bytes, double value) {
  if (isnan(value)) value = 0;
  float number = value > FLT_MAX ? FLT_MAX : value < -FLT_MAX ? -FLT_MAX : (float)value;
  tt_put_float_le(bytes, number);
}

/* --- the headers: decided here, since the original's picture is lost --- */

typedef struct message_header {
  uint32_t size;    /**< of the whole message, bytes */
  uint32_t packets; /**< in it */
} message_header;

static void put_header(uint8_t *bytes, message_header header) {
  tt_put_u32_le(bytes, header.size);
  tt_put_u32_le(bytes + 4, header.packets);
}

static message_header get_header(const uint8_t *bytes) {
  return (message_header){tt_get_u32_le(bytes), tt_get_u32_le(bytes + 4)};
}

typedef struct packet_header {
  uint32_t type, size, object, index;
} packet_header;

static void put_packet_header(uint8_t *bytes, packet_header header) {
  tt_put_u32_le(bytes, header.type);
  tt_put_u32_le(bytes + 4, header.size);
  tt_put_u32_le(bytes + 8, header.object);
  tt_put_u32_le(bytes + 12, header.index);
}

static packet_header get_packet_header(const uint8_t *bytes) {
  return (packet_header){tt_get_u32_le(bytes), tt_get_u32_le(bytes + 4), tt_get_u32_le(bytes + 8),
                         tt_get_u32_le(bytes + 12)};
}

/* --- out --- */

void tt_ez_begin(tt_ez_writer *writer, uint8_t *bytes, size_t capacity) {
  *writer = (tt_ez_writer){bytes, TT_EZ_HEADER, capacity, 0};
}

void tt_ez_end(tt_ez_writer *writer) {
  put_header(writer->bytes, (message_header){(uint32_t)writer->size, writer->packets});
}

/** Adds a packet's header and gives room for its payload, or NULL when it doesn't fit. */
static uint8_t *add(tt_ez_writer *writer, uint32_t type, size_t size, uint32_t object,
                    uint32_t index) {
  if (writer->capacity - writer->size < TT_EZ_PACKET_HEADER + size) return NULL;
  uint8_t *packet = writer->bytes + writer->size;
  put_packet_header(packet, (packet_header){type, (uint32_t)size, object, index});
  writer->size += TT_EZ_PACKET_HEADER + size;
  writer->packets++;
  return packet + TT_EZ_PACKET_HEADER;
}

static uint8_t *put_floats(uint8_t *bytes, const double *values, int count) {
  for (int i = 0; i < count; i++) put_float(bytes + 4 * i, values[i]);
  return bytes + 4 * count;
}

tt_status tt_ez_put_collision(tt_ez_writer *writer, uint32_t body, uint32_t index,
                              const double position[3], double depth) {
  uint8_t *payload = add(writer, TT_EZ_SEND_COLLISION, TT_EZ_SEND_COLLISION_SIZE, body, index);
  if (payload == NULL) return TT_FULL;
  payload = put_floats(payload, position, 3);
  put_float(payload, depth);
  return TT_OK;
}

tt_status tt_ez_put_limb(tt_ez_writer *writer, uint32_t body, const tt_ez_limb *limb) {
  uint8_t *payload = add(writer, TT_EZ_SEND_LIMB, TT_EZ_SEND_LIMB_SIZE, body, 0);
  if (payload == NULL) return TT_FULL;
  static const double unused = 0;
  payload = put_floats(payload, limb->position, 3);
  payload = put_floats(payload, limb->rotation, 4);
  payload = put_floats(payload, limb->force, 3);
  payload = put_floats(payload, limb->torque, 3);
  payload = put_floats(payload, &unused, 1);
  payload = put_floats(payload, limb->velocity, 3);
  payload = put_floats(payload, limb->spin, 3);
  put_floats(payload, &unused, 1);
  return TT_OK;
}

tt_status tt_ez_put_axis(tt_ez_writer *writer, uint32_t joint, uint32_t index, double displacement,
                         double velocity) {
  uint8_t *payload = add(writer, TT_EZ_SEND_JOINTAXIS, TT_EZ_SEND_JOINTAXIS_SIZE, joint, index);
  if (payload == NULL) return TT_FULL;
  put_float(payload, displacement);
  put_float(payload + 4, velocity);
  return TT_OK;
}

tt_status tt_ez_put_feedback(tt_ez_writer *writer, uint32_t joint, const double values[12]) {
  uint8_t *payload = add(writer, TT_EZ_SEND_JOINTFEEDBACK, TT_EZ_SEND_JOINTFEEDBACK_SIZE, joint, 0);
  if (payload == NULL) return TT_FULL;
  put_floats(payload, values, 12);
  return TT_OK;
}

tt_status tt_ez_put_timestamp(tt_ez_writer *writer, uint64_t step, double step_size) {
  uint8_t *payload = add(writer, TT_EZ_SEND_TIMESTAMP, TT_EZ_SEND_TIMESTAMP_SIZE, 0, 0);
  if (payload == NULL) return TT_FULL;
  tt_put_u32_le(payload, step > INT32_MAX ? (uint32_t)INT32_MAX : (uint32_t)step);
  put_float(payload + 4, step_size);
  return TT_OK;
}

tt_status tt_ez_put_name(tt_ez_writer *writer, tt_ez_object kind, uint32_t object,
                         const char *name) {
  size_t length = strnlen(name, TT_EZ_MAX_NAME);
  uint8_t *payload = add(writer, TT_EZ_SEND_NAME, length, object, (uint32_t)kind);
  if (payload == NULL) return TT_FULL;
  memcpy(payload, name, length);
  return TT_OK;
}

tt_status tt_ez_put_reset(tt_ez_writer *writer) {
  return add(writer, TT_EZ_RECV_RESET, TT_EZ_RECV_RESET_SIZE, 0, 0) == NULL ? TT_FULL : TT_OK;
}

tt_status tt_ez_put_force(tt_ez_writer *writer, uint32_t joint, const double torque[3]) {
  uint8_t *payload = add(writer, TT_EZ_RECV_AXIS_FORCE, TT_EZ_RECV_AXIS_FORCE_SIZE, joint, 0);
  if (payload == NULL) return TT_FULL;
  put_floats(payload, torque, TT_EZ_AXES);
  return TT_OK;
}

tt_status tt_ez_put_motor(tt_ez_writer *writer, uint32_t joint, const double velocity[3],
                          const double max_torque[3]) {
  uint8_t *payload = add(writer, TT_EZ_RECV_AXIS_MOTOR, TT_EZ_RECV_AXIS_MOTOR_SIZE, joint, 0);
  if (payload == NULL) return TT_FULL;
  for (int i = 0; i < TT_EZ_AXES; i++) {
    put_float(payload + 8 * i, velocity[i]);
    put_float(payload + 8 * i + 4, max_torque[i]);
  }
  return TT_OK;
}

/* --- in --- */

tt_status tt_ez_frame(const uint8_t *bytes, size_t available, size_t limit, size_t *size,
                      tt_error *error) {
  if (available < TT_EZ_HEADER) return TT_AGAIN;
  message_header header = get_header(bytes);
  if (header.size < TT_EZ_HEADER || header.size > limit) {
    uint32_t other = __builtin_bswap32(header.size);
    bool swapped = other >= TT_EZ_HEADER && other <= limit;
    return tt_fail(error, TT_BAD_MESSAGE, "message size %u is not in %d…%zu%s", header.size,
                   TT_EZ_HEADER, limit, swapped ? "; it looks big-endian, send little-endian" : "");
  }
  if (header.packets > (header.size - TT_EZ_HEADER) / TT_EZ_PACKET_HEADER) {
    return tt_fail(error, TT_BAD_MESSAGE, "%u packets can't stand in a message of %u bytes",
                   header.packets, header.size);
  }
  *size = header.size;
  return available < header.size ? TT_AGAIN : TT_OK;
}

void tt_ez_read(tt_ez_reader *reader, const uint8_t *bytes, size_t size) {
  *reader = (tt_ez_reader){bytes, size, TT_EZ_HEADER, get_header(bytes).packets};
}

tt_status tt_ez_next(tt_ez_reader *reader, tt_ez_packet *packet, tt_error *error) {
  size_t rest = reader->size - reader->offset;
  if (reader->left == 0) {
    if (rest == 0) return TT_END;
    return tt_fail(error, TT_BAD_MESSAGE, "%zu bytes follow the last packet", rest);
  }
  if (rest < TT_EZ_PACKET_HEADER) {
    return tt_fail(error, TT_BAD_MESSAGE, "byte %zu: a packet header needs %d bytes, %zu are left",
                   reader->offset, TT_EZ_PACKET_HEADER, rest);
  }
  packet_header header = get_packet_header(reader->bytes + reader->offset);
  if (header.size > rest - TT_EZ_PACKET_HEADER) {
    return tt_fail(error, TT_BAD_MESSAGE, "byte %zu: a payload of %u bytes, %zu are left",
                   reader->offset, header.size, rest - TT_EZ_PACKET_HEADER);
  }
  *packet = (tt_ez_packet){
      .type = header.type,
      .object = header.object,
      .index = header.index,
      .payload = reader->bytes + reader->offset + TT_EZ_PACKET_HEADER,
      .size = header.size,
      .offset = reader->offset,
  };
  reader->offset += TT_EZ_PACKET_HEADER + header.size;
  reader->left--;
  return TT_OK;
}

/** What is known of a type. */
typedef struct packet_type {
  uint32_t type;
  int size; /**< −1: any */
  const char *name;
} packet_type;

static const packet_type send_types[] = {
#define SEND_TYPE(name, type, size) {type, (type) == TT_EZ_SEND_NAME ? -1 : (size), #name},
    TT_EZ_SEND_LIST(SEND_TYPE)};
static const packet_type recv_types[] = {
#define RECV_TYPE(name, type, size) {type, size, #name},
    TT_EZ_RECV_LIST(RECV_TYPE)};

static const packet_type *find_type(bool incoming, uint32_t type) {
  const packet_type *types = incoming ? recv_types : send_types;
  size_t count = incoming ? sizeof recv_types / sizeof recv_types[0]
                          : sizeof send_types / sizeof send_types[0];
  for (size_t i = 0; i < count; i++) {
    if (types[i].type == type) return &types[i];
  }
  return NULL;
}

int tt_ez_payload_size(bool incoming, uint32_t type) {
  const packet_type *found = find_type(incoming, type);
  return found == NULL ? -2 : found->size;
}

const char *tt_ez_type_name(bool incoming, uint32_t type) {
  const packet_type *found = find_type(incoming, type);
  return found == NULL ? NULL : found->name;
}

double tt_ez_float(const tt_ez_packet *packet, int index) {
  if ((size_t)index >= packet->size / 4) return 0;
  return (double)tt_get_float_le(packet->payload + 4 * index);
}

int32_t tt_ez_int(const tt_ez_packet *packet, int index) {
  if ((size_t)index >= packet->size / 4) return 0;
  return (int32_t)tt_get_u32_le(packet->payload + 4 * index);
}

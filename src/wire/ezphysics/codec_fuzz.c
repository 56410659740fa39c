/* codec_fuzz.c: any bytes as an EZPhysics stream: every message found lies within its limits, its packets fill it
 * exactly, and written again they give the same bytes. */
#include "wire/ezphysics/codec.h"
#include "wire/ezphysics/explain.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

/** Reads every number the packet's type promises. */
static void read_numbers(const tt_ez_packet *packet, bool incoming) {
  int size = tt_ez_payload_size(incoming, packet->type);
  check((size == -2) == (tt_ez_type_name(incoming, packet->type) == NULL));
  if (size < 0 || packet->size != (size_t)size) return;
  for (int i = 0; i < size / 4; i++) {
    volatile double number = tt_ez_float(packet, i);
    volatile int32_t integer = tt_ez_int(packet, i);
    (void)number;
    (void)integer;
  }
}

/** Writes a motor packet again from its numbers; a float32 that is not finite is not ours to send. */
static void motor_again(const tt_ez_packet *packet) {
  if (packet->type != TT_EZ_RECV_AXIS_MOTOR || packet->size != TT_EZ_RECV_AXIS_MOTOR_SIZE) return;
  double velocity[TT_EZ_AXES], torque[TT_EZ_AXES];
  for (int i = 0; i < TT_EZ_AXES; i++) {
    velocity[i] = tt_ez_float(packet, 2 * i);
    torque[i] = tt_ez_float(packet, 2 * i + 1);
    if (!__builtin_isfinite(velocity[i]) || !__builtin_isfinite(torque[i])) return;
  }
  uint8_t bytes[TT_EZ_HEADER + TT_EZ_PACKET_HEADER + TT_EZ_RECV_AXIS_MOTOR_SIZE];
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, sizeof bytes);
  check(tt_ez_put_motor(&writer, packet->object, velocity, torque) == TT_OK);
  tt_ez_end(&writer);
  check(memcmp(bytes + TT_EZ_HEADER + TT_EZ_PACKET_HEADER, packet->payload, packet->size) == 0);
}

static void one_message(const uint8_t *bytes, size_t size) {
  tt_ez_reader reader;
  tt_ez_packet packet;
  tt_error error;
  tt_ez_read(&reader, bytes, size);
  tt_status status;
  while ((status = tt_ez_next(&reader, &packet, &error)) == TT_OK) {
    check(packet.payload + packet.size <= bytes + size);
    read_numbers(&packet, true);
    read_numbers(&packet, false);
    motor_again(&packet);
  }
  check(status == TT_END || status == TT_BAD_MESSAGE);
}

/** What monitors show of it lies within it, whether it was kept whole or not. */
static void explain(bool incoming, const uint8_t *data, int size, int whole) {
  static const tt_model model;
  const tt_ez_objects objects = {.model = &model};
  tt_wire_field fields[64];
  tt_explanation to = {data, size, whole, fields, 64, 0};
  tt_ez_explain(&objects, incoming, &to);
  check(to.count <= 64);
  for (int i = 0; i < to.count; i++)
    check(fields[i].size == 0 || fields[i].offset + fields[i].size <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  explain(true, data, (int)size, (int)size);
  explain(false, data, (int)size, (int)size + 100);
  tt_error error;
  size_t message;
  while (tt_ez_frame(data, size, LIMIT, &message, &error) == TT_OK) {
    check(message >= TT_EZ_HEADER && message <= LIMIT && message <= size);
    one_message(data, message);
    data += message;
    size -= message;
  }
  return 0;
}

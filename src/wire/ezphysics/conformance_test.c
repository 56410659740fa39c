/* conformance_test.c: ezphysics passes what every wire has to pass: in mode step, with the world reset for each peer, and
 * with one joint sent, so that all states have one size. */
#include "wire/conformance.h"
#include "wire/ezphysics/codec.h"

/* A setting: of all bodies and joints only the tail is told of. */
#define ONE_JOINT                                                                                  \
  "wires.ezphysics.marks=[{body: '*', send: false}, {joint: '*', send: false}, {joint: tail, "     \
  "send: true}]"
#define PACKET (TT_EZ_PACKET_HEADER + TT_EZ_RECV_AXIS_MOTOR_SIZE)

/** A servo command for joints 2 (one axis) and 3 (two axes). */
static size_t message(uint64_t n, uint8_t *bytes) {
  const double velocity[3] = {0.1 * (double)(n % 5 + 1), -0.2, 0}, torque[3] = {20, 20, 20};
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, TT_CONFORMANCE_MESSAGE);
  tt_ez_put_motor(&writer, 2, velocity, torque);
  tt_ez_put_motor(&writer, 3, velocity, torque);
  tt_ez_end(&writer);
  return writer.size;
}

int main(void) {
  static const tt_conformance_field fields[] = {
      {.name = "joint 2", .offset = TT_EZ_HEADER + TT_EZ_PACKET_HEADER, .limited = true},
      {.name = "joint 2", .offset = TT_EZ_HEADER + TT_EZ_PACKET_HEADER + 4, .limited = true},
      {.name = "joint 3", .offset = TT_EZ_HEADER + PACKET + TT_EZ_PACKET_HEADER, .limited = true},
      {.name = "joint 3",
       .offset = TT_EZ_HEADER + PACKET + TT_EZ_PACKET_HEADER + 12,
       .limited = true},
  };
  static const char *const settings[] = {"wires.ezphysics.listen=127.0.0.1:0",
                                         "wires.ezphysics.on_disconnect=reset", ONE_JOINT};
  static const char *const hold[] = {"wires.ezphysics.late=hold", "wires.ezphysics.deadline=20 ms",
                                     "wires.ezphysics.receive_timeout=0 s"};
  const tt_conformance wire = {
      .scene = "ezphysics",
      .settings = settings,
      .setting_count = 3,
      .message = message,
      .fields = fields,
      .field_count = 4,
      .hold_settings = hold,
      .answer_size = TT_EZ_HEADER + 3 * TT_EZ_PACKET_HEADER + TT_EZ_SEND_TIMESTAMP_SIZE +
                     TT_EZ_SEND_JOINTAXIS_SIZE + TT_EZ_SEND_JOINTFEEDBACK_SIZE,
      .bad_numbers_answered = true,
  };
  return tt_conformance_stream(&wire);
}

/* conformance_test.c: float-udp passes what every wire has to pass. */
#include "wire/conformance.h"

#include "base/endian.h"
#include "wire/float_udp/codec.h"

static size_t message(uint64_t n, uint8_t *bytes) {
  float values[] = {(float)n, 50 + (float)(n % 7), -100, 12.5f, (float)(n % 3), 0};
  return tt_float_udp_encode(values, 6, bytes);
}

static const tt_conformance_field fields[] = {
    {.name = "field 1 (stamp)", .offset = 0},
    {.name = "field 2 (left_track.torque)", .offset = 4, .limited = true},
    {.name = "field 3 (right_track.torque)", .offset = 8, .limited = true},
    {.name = "field 4 (arm.torque)", .offset = 12, .limited = true},
    {.name = "field 5 (wrist.torque)", .offset = 16, .limited = true},
    {.name = "field 6 (grip)", .offset = 20, .limited = true},
};

static bool is_newer(const uint8_t *message, const uint8_t *than) {
  return tt_get_float_le(message) > tt_get_float_le(than);
}

int main(void) {
  static const char *const settings[] = {"wires.float-udp.bind=127.0.0.1:0",
                                         "wires.float-udp.peer=sender"};
  const tt_conformance wire = {
      .scene = "frc2011",
      .settings = settings,
      .setting_count = 2,
      .message = message,
      .fields = fields,
      .field_count = 6,
      .ordered = true,
      .fixed_size = true,
      .wire = "float-udp",
      .is_newer = is_newer,
  };
  return tt_conformance_datagrams(&wire) + tt_conformance_in_lockstep(&wire);
}

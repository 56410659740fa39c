/* conformance_test.c: xrp passes what every wire has to pass. What is beyond full speed is full speed, as on the real robot. */
#include "wire/conformance.h"

#include "wire/xrp/codec.h"

static size_t message(uint64_t n, uint8_t *bytes) {
  const tt_xrp_command command = {.number = (uint16_t)n,
                                  .enabled = true,
                                  .motors = {0.3f + 0.1f * (float)(n % 7), -0.5f},
                                  .servos = {0.25f * (float)(n % 3), 0.5f},
                                  .has_servo = 3};
  return tt_xrp_encode_command(&command, bytes);
}

static const tt_conformance_field fields[] = {
    {.name = "motor 0", .offset = 6, .big_endian = true},
    {.name = "motor 1", .offset = 13, .big_endian = true},
    {.name = "motor 2", .offset = 20, .big_endian = true},
    {.name = "motor 3", .offset = 27, .big_endian = true},
    {.name = "servo 4", .offset = 34, .big_endian = true},
    {.name = "servo 5", .offset = 41, .big_endian = true},
};

/* Numbers wrap. */
static bool is_newer(const uint8_t *message, const uint8_t *than) {
  uint16_t ahead = (uint16_t)((message[0] << 8 | message[1]) - (than[0] << 8 | than[1]));
  return ahead != 0 && ahead < 0x8000;
}

int main(void) {
  static const char *const settings[] = {"wires.xrp.bind=127.0.0.1:0"};
  const tt_conformance wire = {
      .scene = "xrp",
      .settings = settings,
      .setting_count = 1,
      .message = message,
      .fields = fields,
      .field_count = 6,
      .ordered = true,
      .wire = "xrp",
      .is_newer = is_newer,
  };
  return tt_conformance_datagrams(&wire) + tt_conformance_in_lockstep(&wire);
}

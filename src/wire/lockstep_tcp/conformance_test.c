/* conformance_test.c: lockstep-tcp passes what every wire has to pass. */
#include "wire/conformance.h"
#include "wire/lockstep_tcp/codec.h"

#define JOINTS 10

static size_t message(uint64_t n, uint8_t *bytes) {
  float velocities[JOINTS];
  for (int i = 0; i < JOINTS; i++) velocities[i] = 0.1f * (float)((n + (uint64_t)i) % 5 + 1);
  return tt_lockstep_encode_velocities(velocities, JOINTS, bytes);
}

int main(void) {
  static const char *const names[JOINTS] = {
      "velocity 1 (swivel)",         "velocity 2 (base)",           "velocity 3 (middle)",
      "velocity 4 (wrist)",          "velocity 5 (finger1_base)",   "velocity 6 (finger2_base)",
      "velocity 7 (finger3_base)",   "velocity 8 (finger1_middle)", "velocity 9 (finger2_middle)",
      "velocity 10 (finger3_middle)"};
  tt_conformance_field fields[JOINTS];
  for (int i = 0; i < JOINTS; i++)
    fields[i] = (tt_conformance_field){
        .name = names[i], .offset = 4 * i, .big_endian = true, .limited = true};
  static const char *const settings[] = {"wires.lockstep-tcp.listen=127.0.0.1:0"};
  static const char *const hold[] = {"wires.lockstep-tcp.late=hold",
                                     "wires.lockstep-tcp.deadline=20 ms",
                                     "wires.lockstep-tcp.watchdog=0.5 s"};
  const tt_conformance wire = {
      .scene = "gripper",
      .settings = settings,
      .setting_count = 1,
      .message = message,
      .fields = fields,
      .field_count = JOINTS,
      .hold_settings = hold,
      .answer_size = TT_LOCKSTEP_FRAME_BYTES(JOINTS),
  };
  return tt_conformance_stream(&wire);
}

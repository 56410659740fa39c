/* codec_test.c: lockstep-tcp byte for byte in both directions, and velocities that are none. */
#include "wire/lockstep_tcp/codec.h"

#include "wire/hex.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define JOINTS 10
static const char *golden =
    "0000000000000003 3f000000 be800000 3f800000 bfc00000 3dcccccd 3dcccccd 3dcccccd be4ccccd "
    "be4ccccd be4ccccd";
static const float angles[JOINTS] = {.5f, -.25f, 1, -1.5f, .1f, .1f, .1f, -.2f, -.2f, -.2f};

static void the_golden_frame_goes_both_ways(void **state) {
  (void)state;
  uint8_t expected[TT_LOCKSTEP_FRAME_BYTES(JOINTS)], bytes[sizeof expected];
  assert_int_equal(tt_hex_read(golden, expected, sizeof expected), 48);
  tt_lockstep_frame frame = {.counter = 3};
  memcpy(frame.positions, angles, sizeof angles);
  assert_int_equal(tt_lockstep_encode_frame(&frame, JOINTS, bytes), 48);
  assert_memory_equal(bytes, expected, sizeof expected);
  tt_lockstep_frame back = {0};
  tt_lockstep_decode_frame(bytes, JOINTS, &back);
  assert_int_equal(back.counter, 3);
  assert_memory_equal(back.positions, angles, sizeof angles);
}

static void velocities_are_the_frame_without_its_counter(void **state) {
  (void)state;
  uint8_t expected[TT_LOCKSTEP_FRAME_BYTES(JOINTS)], bytes[TT_LOCKSTEP_VELOCITY_BYTES(JOINTS)];
  tt_hex_read(golden, expected, sizeof expected);
  assert_int_equal(tt_lockstep_encode_velocities(angles, JOINTS, bytes), 40);
  assert_memory_equal(bytes, expected + TT_LOCKSTEP_COUNTER, sizeof bytes);
  float back[JOINTS];
  int field;
  assert_int_equal(tt_lockstep_decode_velocities(bytes, JOINTS, back, &field), TT_OK);
  assert_memory_equal(back, angles, sizeof angles);
}

static void the_counter_has_64_bits(void **state) {
  (void)state;
  uint8_t bytes[TT_LOCKSTEP_FRAME_BYTES(0)];
  tt_lockstep_frame frame = {.counter = 0x0102030405060708u}, back;
  assert_int_equal(tt_lockstep_encode_frame(&frame, 0, bytes), 8);
  for (int i = 0; i < 8; i++) assert_int_equal(bytes[i], i + 1);
  tt_lockstep_decode_frame(bytes, 0, &back);
  assert_true(back.counter == frame.counter);
}

static void a_velocity_that_is_not_finite_is_named(void **state) {
  (void)state;
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int at = 0; at < JOINTS; at++) {
    for (size_t b = 0; b < 3; b++) {
      float velocities[JOINTS] = {0};
      uint8_t bytes[TT_LOCKSTEP_VELOCITY_BYTES(JOINTS)];
      int field = -1;
      velocities[at] = bad[b];
      tt_lockstep_encode_velocities(velocities, JOINTS, bytes);
      assert_int_equal(tt_lockstep_decode_velocities(bytes, JOINTS, velocities, &field),
                       TT_BAD_MESSAGE);
      assert_int_equal(field, at);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_golden_frame_goes_both_ways),
      cmocka_unit_test(velocities_are_the_frame_without_its_counter),
      cmocka_unit_test(the_counter_has_64_bits),
      cmocka_unit_test(a_velocity_that_is_not_finite_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

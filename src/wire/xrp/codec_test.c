/* codec_test.c: xrp byte for byte in both directions, and every way in which a message can be wrong. */
#include "wire/hex.h"
#include "wire/xrp/codec.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The first message of a program of season 2026, and the answer of a simulator that it understood. */
#define PROGRAM                                                                                    \
  "0000 00 06120000000000 06120100000000 06120200000000 06120300000000 0613043f000000 "            \
  "0613053f000000"
#define SIMULATOR                                                                                  \
  "0001 00 06180000000007 06180100000007 19160000000000000000 3fc000000000000000000000 3cf5c28f"

static void a_programs_message_is_read_and_written_again(void **state) {
  (void)state;
  uint8_t bytes[64], again[TT_XRP_BYTES];
  size_t size = tt_hex_read(PROGRAM, bytes, sizeof bytes);
  tt_xrp_command said;
  tt_refusal fault;
  assert_int_equal(tt_xrp_decode(bytes, size, &said, &fault), TT_OK);
  assert_int_equal(said.number, 0);
  assert_false(said.enabled);
  for (int i = 0; i < TT_XRP_MOTORS; i++) assert_true(said.motors[i] == 0);
  assert_true(said.servos[0] == 0.5f && said.servos[1] == 0.5f);
  assert_int_equal(said.has_servo, 3);
  assert_int_equal(said.unknown, 0);
  assert_int_equal(tt_xrp_encode_command(&said, again), size);
  assert_memory_equal(again, bytes, size);
}

static void a_simulators_message_is_written(void **state) {
  (void)state;
  const tt_xrp_state answer = {.number = 1,
                               .has_encoder = 3,
                               .encoders = {{.count = 7}, {.count = 7}},
                               .has_gyro = true,
                               .gyro = {0, 0, 1.5f, 0, 0, 0.03f}};
  uint8_t expected[64], bytes[TT_XRP_BYTES];
  size_t size = tt_hex_read(SIMULATOR, expected, sizeof expected);
  assert_int_equal(tt_xrp_encode_state(&answer, bytes), size);
  assert_memory_equal(bytes, expected, size);
}

static void every_tag_has_its_bytes(void **state) {
  (void)state;
  const tt_xrp_state answer = {
      .number = 0xfffe,
      .has_encoder = 0xf,
      .encoders = {{.count = -2, .timed = true, .period = 0.001},
                   {.count = 3, .timed = true, .period = -0.5},
                   {.timed = true, .period = INFINITY},
                   {.timed = true, .period = -INFINITY}},
      .has_input = 1u << 9 | 1,
      .inputs = 1u << 9,
      .has_accelerometer = true,
      .accelerometer = {0, -0.5f, 1},
      .has_analog = 1u << 2,
      .analogs = {0, 0, 2.5f},
  };
  uint8_t expected[160], bytes[TT_XRP_BYTES];
  size_t size = tt_hex_read(
      "fffe 00 0e1800fffffffe 000007d1 000f4240 0e180100000003 000f4240 000f4240 "
      "0e180200000000 ffffffff 000f4240 0e180300000000 fffffffe 000f4240 "
      "03140000 03140901 0d1700000000bf0000003f800000 06150240200000",
      expected, sizeof expected);
  assert_int_equal(tt_xrp_encode_state(&answer, bytes), size);
  assert_memory_equal(bytes, expected, size);
}

static void outputs_and_strange_tags_are_read(void **state) {
  (void)state;
  uint8_t bytes[96];
  size_t size = tt_hex_read(
      "0102 01 " /* enabled */
      "0612003f000000 061201bf800000 06120200000000 06120300000000 "
      "0613043f800000 06130500000000 061307 3e800000 "
      "03140101 03140400 0219aa 06150100000000",
      bytes, sizeof bytes);
  tt_xrp_command said;
  tt_refusal fault;
  assert_int_equal(tt_xrp_decode(bytes, size, &said, &fault), TT_OK);
  assert_int_equal(said.number, 0x102);
  assert_true(said.enabled && said.motors[0] == 0.5f && said.motors[1] == -1);
  assert_true(said.servos[0] == 1 && said.servos[3] == 0.25f);
  assert_int_equal(said.has_servo, 0xb);
  assert_int_equal(said.has_output, 0x12);
  assert_int_equal(said.outputs, 0x02);
  assert_int_equal(said.unknown, 0x19);
}

static void wrong_messages_are_refused_by_name(void **state) {
  (void)state;
  static const struct {
    const char *hex;
    tt_drop drop;
    const char *named;
  } wrong[] = {
      {"", TT_DROP_LENGTH, "0 bytes"},
      {"0000", TT_DROP_LENGTH, "2 bytes"},
      {"000000", TT_DROP_LENGTH, "motor 0 is missing"},
      {"000000 00", TT_DROP_SYNTAX, "size 0 at byte 3"},
      {"000000 06", TT_DROP_LENGTH, "at byte 4 has 6 bytes, of which 0"},
      {"000000 06120000", TT_DROP_LENGTH, "of which 3"},
      {"000000 0512000000 00", TT_DROP_LENGTH, "a motor of 5 bytes"},
      {"000000 07120000000000 00", TT_DROP_LENGTH, "a motor of 7 bytes"},
      {"000000 06120400000000", TT_DROP_UNKNOWN, "motor 4: there are 0 to 3"},
      {"000000 06130300000000", TT_DROP_UNKNOWN, "servo 3: there are 4 to 7"},
      {"000000 03142001", TT_DROP_UNKNOWN, "DIO 32"},
      {"000000 0612027fc00000", TT_DROP_NON_FINITE, "motor 2 is not"},
      {"000000 061305ff800000", TT_DROP_NON_FINITE, "servo 5 is not"},
      {"000000 06120000000000 06120100000000 06120200000000 06120300000000 06130500000000",
       TT_DROP_LENGTH, "servo 4 is missing"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint8_t bytes[96];
    tt_xrp_command said;
    tt_refusal fault;
    size_t size = tt_hex_read(wrong[i].hex, bytes, sizeof bytes);
    assert_int_equal(tt_xrp_decode(bytes, size, &said, &fault), TT_BAD_MESSAGE);
    if (!strstr(fault.text, wrong[i].named))
      fail_msg("'%s' does not name '%s'", fault.text, wrong[i].named);
    assert_int_equal(fault.drop, wrong[i].drop);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_programs_message_is_read_and_written_again),
      cmocka_unit_test(a_simulators_message_is_written),
      cmocka_unit_test(every_tag_has_its_bytes),
      cmocka_unit_test(outputs_and_strange_tags_are_read),
      cmocka_unit_test(wrong_messages_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

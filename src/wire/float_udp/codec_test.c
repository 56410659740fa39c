/* codec_test.c: float-udp byte for byte in both directions, and every way in which a message can be wrong. */
#include "wire/float_udp/codec.h"
#include "wire/hex.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct golden {
  const char *hex;
  int count;
  float values[10];
} golden;

static const golden goldens[] = {
    {"0ad7233c 0000003f 000000bf 0000803e 000000be 00002041 000020c1 0000c03f 00000000 000040bf",
     10,
     {0.01f, 0.5f, -0.5f, 0.25f, -0.125f, 10, -10, 1.5f, 0, -0.75f}},
    {"0000803f 00004842 0000c8c2 00004841 00000000 00000040", 6, {1, 50, -100, 12.5f, 0, 2}},
    {"0000803f 00002040 0000a0bf da0fc93f 0000803e 000000bf 00004040",
     7,
     {1, 2.5f, -1.25f, 1.5707963f, 0.25f, -0.5f, 3}},
};
#define GOLDENS (sizeof goldens / sizeof *goldens)

static void golden_messages_are_written(void **state) {
  (void)state;
  for (size_t i = 0; i < GOLDENS; i++) {
    uint8_t expected[64], bytes[64];
    size_t size = tt_hex_read(goldens[i].hex, expected, sizeof expected);
    assert_int_equal(tt_float_udp_encode(goldens[i].values, goldens[i].count, bytes), size);
    assert_memory_equal(bytes, expected, size);
  }
}

static void golden_messages_are_read(void **state) {
  (void)state;
  for (size_t i = 0; i < GOLDENS; i++) {
    uint8_t bytes[64];
    float values[10];
    tt_drop drop;
    int field;
    size_t size = tt_hex_read(goldens[i].hex, bytes, sizeof bytes);
    assert_int_equal(tt_float_udp_decode(bytes, size, goldens[i].count, values, &drop, &field),
                     TT_OK);
    assert_memory_equal(values, goldens[i].values, size);
  }
}

static void every_wrong_length_is_refused(void **state) {
  (void)state;
  static const uint8_t bytes[TT_FLOAT_UDP_BYTES + 1];
  float values[TT_FLOAT_UDP_MAX];
  const int counts[] = {0, 1, 6, TT_FLOAT_UDP_MAX};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    for (size_t size = 0; size <= sizeof bytes; size++) {
      tt_drop drop = TT_DROP_COUNT;
      int field = 0;
      bool right = size == 4 * (size_t)counts[c];
      tt_status status = tt_float_udp_decode(bytes, size, counts[c], values, &drop, &field);
      assert_int_equal(status, right ? TT_OK : TT_BAD_MESSAGE);
      if (right) continue;
      assert_int_equal(drop, TT_DROP_LENGTH);
      assert_int_equal(field, -1);
    }
  }
}

static void a_number_that_is_not_finite_is_named(void **state) {
  (void)state;
  const float bad[] = {NAN, INFINITY, -INFINITY};
  for (int at = 0; at < 6; at++) {
    for (size_t b = 0; b < 3; b++) {
      float values[6] = {1, 2, 3, 4, 5, 6};
      uint8_t bytes[24];
      tt_drop drop;
      int field;
      values[at] = bad[b];
      tt_float_udp_encode(values, 6, bytes);
      assert_int_equal(tt_float_udp_decode(bytes, sizeof bytes, 6, values, &drop, &field),
                       TT_BAD_MESSAGE);
      assert_int_equal(drop, TT_DROP_NON_FINITE);
      assert_int_equal(field, at);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(golden_messages_are_written),
      cmocka_unit_test(golden_messages_are_read),
      cmocka_unit_test(every_wrong_length_is_refused),
      cmocka_unit_test(a_number_that_is_not_finite_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

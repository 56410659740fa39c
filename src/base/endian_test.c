/* endian_test.c: numbers as bytes in both orders, and as many of them as are asked for. */
#include "base/bytes.h"
#include "base/endian.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void numbers_of_both_orders(void **state) {
  (void)state;
  const uint8_t bytes[] = {0x01, 0x82, 0x03, 0x84, 0x05, 0x86, 0x07, 0x88};
  uint8_t made[8];
  assert_int_equal(tt_get_u32_le(bytes), 0x84038201);
  assert_int_equal(tt_get_u32_be(bytes), 0x01820384);
  assert_true(tt_get_u64_be(bytes) == 0x0182038405860788);
  tt_put_u32_le(made, 0x84038201);
  assert_memory_equal(made, bytes, 4);
  tt_put_u32_be(made, 0x01820384);
  assert_memory_equal(made, bytes, 4);
  tt_put_u64_be(made, 0x0182038405860788);
  assert_memory_equal(made, bytes, 8);
}

static void floats_of_both_orders(void **state) {
  (void)state;
  uint8_t made[4];
  tt_put_float_le(made, -1.5F);
  assert_memory_equal(made, "\x00\x00\xc0\xbf", 4);
  assert_true(tt_get_float_le(made) == -1.5F);
  tt_put_float_be(made, -1.5F);
  assert_memory_equal(made, "\xbf\xc0\x00\x00", 4);
  assert_true(tt_get_float_be(made) == -1.5F);
}

static void as_many_bytes_as_are_asked_for(void **state) {
  (void)state;
  static const char whole[] = "\x88\x77\x66\x55\x44\x33\x22\x11";
  for (size_t size = 0; size <= 8; size++) {
    uint8_t made[9];
    tt_bytes bytes = {0};
    memset(made, 0xee, sizeof made);
    tt_put_le(made, 0x1122334455667788, size);
    assert_memory_equal(made, whole, size);
    assert_int_equal(made[size], 0xee);
    tt_bytes_append(&bytes, "x", 1);
    tt_bytes_append_le(&bytes, 0x1122334455667788, size);
    assert_int_equal(bytes.size, 1 + size);
    assert_memory_equal(bytes.data + 1, whole, size);
    tt_bytes_free(&bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_of_both_orders),
      cmocka_unit_test(floats_of_both_orders),
      cmocka_unit_test(as_many_bytes_as_are_asked_for),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

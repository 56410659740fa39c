/* byte_order_test.c: floats in the wrong order are told from those that only look odd. */
#include "wire/byte_order.h"

#include "base/endian.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define MOST 8

/* Sent as `big` says, to a wire of the other order and to one of the same. */
static bool told(const float *values, int count, bool big, bool refused) {
  uint8_t bytes[4 * MOST];
  for (int i = 0; i < count; i++)
    (big ? tt_put_float_be : tt_put_float_le)(bytes + 4 * i, values[i]);
  assert_false(tt_floats_look_swapped(bytes, count, big, refused)); /* as the wire wants them */
  return tt_floats_look_swapped(bytes, count, !big, refused);
}

static void round_numbers_are_told(void **state) {
  (void)state;
  for (int big = 0; big < 2; big++) {
    assert_true(told((float[]){0, 1, -0.5f, 0, 50}, 5, big, false));
    assert_true(told((float[]){0, 1, -0.5f, 0, 50}, 5, big, true));
    assert_false(told((float[]){0, 0, 0}, 3, big, false)); /* the same either way */
  }
}

static void numbers_that_are_huge_the_other_way_are_told_when_refused(void **state) {
  (void)state;
  for (int big = 0; big < 2; big++) {
    assert_true(told((float[]){0.1f, 0, 0}, 3, big, true));
    assert_false(told((float[]){0.1f, 0, 0}, 3, big, false));
  }
}

static void odd_numbers_in_the_right_order_are_not_told(void **state) {
  (void)state;
  static const float odd[][2] = {{NAN, 0},    {INFINITY, 1}, {1e30f, 0},      {-3.4e38f, 1},
                                 {1e-40f, 1}, {2e6f, 3},     {1234567.0f, 0}, {1.7e9f, 0}};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
    uint8_t bytes[8];
    for (int k = 0; k < 2; k++) tt_put_float_be(bytes + 4 * k, odd[i][k]);
    assert_false(tt_floats_look_swapped(bytes, 2, true, false));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(round_numbers_are_told),
      cmocka_unit_test(numbers_that_are_huge_the_other_way_are_told_when_refused),
      cmocka_unit_test(odd_numbers_in_the_right_order_are_not_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* saturate_test.c: sums and differences stop at the ends of their range. */
#include "base/saturate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void sums(void **state) {
  (void)state;
  assert_true(tt_saturating_add(2, -5) == -3);
  assert_true(tt_saturating_add(INT64_MAX - 1, 1) == INT64_MAX);
  assert_true(tt_saturating_add(INT64_MAX, 1) == INT64_MAX);
  assert_true(tt_saturating_add(1, INT64_MAX) == INT64_MAX);
  assert_true(tt_saturating_add(INT64_MIN, -1) == INT64_MIN);
  assert_true(tt_saturating_add(-1, INT64_MIN) == INT64_MIN);
  assert_true(tt_saturating_add(INT64_MIN, INT64_MAX) == -1);
}

static void differences(void **state) {
  (void)state;
  assert_true(tt_saturating_sub(2, 5) == -3);
  assert_true(tt_saturating_sub(INT64_MIN + 1, 1) == INT64_MIN);
  assert_true(tt_saturating_sub(INT64_MIN, 1) == INT64_MIN);
  assert_true(tt_saturating_sub(-2, INT64_MAX) == INT64_MIN);
  assert_true(tt_saturating_sub(INT64_MAX, -1) == INT64_MAX);
  assert_true(tt_saturating_sub(0, INT64_MIN) == INT64_MAX);
  assert_true(tt_saturating_sub(INT64_MIN, INT64_MIN) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sums),
      cmocka_unit_test(differences),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

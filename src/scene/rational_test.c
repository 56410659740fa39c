/* rational_test.c: exact times. */
#include "scene/rational.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void reads(const char *text, int64_t num, int64_t den) {
  tt_rational value = {0, 0};
  if (!tt_rational_parse(text, &value)) fail_msg("'%s' is refused", text);
  assert_int_equal(value.num, num);
  assert_int_equal(value.den, den);
}

static void test_exact(void **state) {
  (void)state;
  reads("1/3000 s", 1, 3000);
  reads("1/3000", 1, 3000);
  reads("2/6000 s", 1, 3000);
  reads("10 ms", 1, 100);
  reads("10ms", 1, 100);
  reads("0.002", 1, 500);
  reads("0.002 s", 1, 500);
  reads("2e-3 s", 1, 500);
  reads("2.5E-3", 1, 400);
  reads("25e-4", 1, 400);
  reads("250 us", 1, 4000);
  reads("250 µs", 1, 4000);
  reads("1 ns", 1, 1000000000);
  reads("1/3 ms", 1, 3000);
  reads("1 min", 60, 1);
  reads("1e2 ms", 1, 10);
  reads("  5 s", 5, 1);
}

static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "s",
                                      "0",
                                      "0 s",
                                      "-1 s",
                                      "1/0 s",
                                      "0/5 s",
                                      "1//2",
                                      "1 m",
                                      "nan",
                                      "inf",
                                      "1e999",
                                      "1e-99 s",
                                      "9999999999999",
                                      "1e13 s",
                                      "1/",
                                      "1.",
                                      ".5",
                                      "1e s",
                                      "1 s s",
                                      "0.0000000000001 s",

                                      "0x10",
                                      "1,5 s",
                                      "1 ms ms",
                                      "1e20 s",
                                      "0.99999999999999 s"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tt_rational value;
    if (tt_rational_parse(texts[i], &value)) fail_msg("'%s' is taken", texts[i]);
  }
}

static uint64_t steps(const char *time, const char *step) {
  tt_rational a = {0, 0}, b = {0, 0};
  assert_true(tt_rational_parse(time, &a) && tt_rational_parse(step, &b));
  return tt_rational_steps(a, b);
}

static void test_steps(void **state) {
  (void)state;
  assert_int_equal(steps("10 ms", "1/3000 s"), 30);
  assert_int_equal(steps("1/60 s", "1/600 s"), 10);
  assert_int_equal(steps("10 ms", "1/999 s"), 0);
  assert_int_equal(steps("1/7000 s", "1/3000 s"), 0);
  assert_int_equal(steps("1 s", "1 ns"), 1000000000);
  assert_int_equal(steps("1000 s", "1/999999999999 s"), 0); /* beyond what is exact */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_exact),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

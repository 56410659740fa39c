/* number_test.c: numbers as text: the fast ways write and read what the exact ones do. */
#include "telemetry/number.h"

#include <glib.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** The shortest of 15, 16 or 17 digits that reads back as the same number. */
static void reference(char text[TT_NUMBER_SIZE], double number) {
  static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};
  for (int i = 0; i < 3; i++) {
    g_ascii_formatd(text, TT_NUMBER_SIZE, formats[i], number);
    if (g_ascii_strtod(text, NULL) == number) return;
  }
}

static void assert_same(double number) {
  char expected[TT_NUMBER_SIZE], text[TT_NUMBER_SIZE];
  reference(expected, number);
  assert_int_equal(tt_number_format(text, number), strlen(expected));
  assert_string_equal(text, expected);
  double read;
  assert_true(tt_number_parse(text, &read));
  assert_true(read == number);
}

static uint64_t next(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t mixed = (*state ^ (*state >> 30)) * 0xbf58476d1ce4e5b9u;
  return mixed ^ (mixed >> 27);
}

static void test_decimals(void **state) {
  (void)state;
  uint64_t chance = 1;
  for (int i = 0; i < 200000; i++) {
    double digits = (double)(next(&chance) >> (11 + next(&chance) % 53));
    double number = digits / pow(10, (double)(next(&chance) % 9));
    if (fabs(number) >= 1e15) continue;  // whole numbers are written in full
    assert_same(i % 2 ? number : -number == 0 ? 0 : -number);
  }
}

static void test_any_bits(void **state) {
  (void)state;
  uint64_t chance = 2;
  for (int i = 0; i < 200000; i++) {
    uint64_t bits = next(&chance);
    double number;
    memcpy(&number, &bits, sizeof number);
    if (isfinite(number)) assert_same(number);
  }
}

static void test_edges(void **state) {
  (void)state;
  static const double numbers[] = {
      0.1,    0.5,         0.0001,    0.00012,   0.000099, 1e-5,
      1.5,    123456.5,    999999.9,  0.1 + 0.2, 1.0 / 3,  99999999999999.5,
      1e14,   1e15 - 1,    0.9999995, 5e-324,    1e300,    1.7976931348623157e308,
      8.7e10, 1e-4 + 1e-19};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    assert_same(numbers[i]);
    assert_same(-numbers[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_decimals),
      cmocka_unit_test(test_any_bits),
      cmocka_unit_test(test_edges),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

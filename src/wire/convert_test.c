/* convert_test.c: units, scales, offsets and wraps at the wire. */
#include "wire/convert.h"

#include "base/endian.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

static tt_conversion conversion(const char *unit, double scale, double offset, const char *wrap,
                                tt_dimension dimension) {
  tt_name_entry entry = {.name = "x",
                         .unit = (char *)(uintptr_t)unit,
                         .scale = scale,
                         .offset = offset,
                         .wrap = (char *)(uintptr_t)wrap};
  tt_conversion result;
  assert_int_equal(tt_conversion_prepare(&entry, dimension, "here", &result, NULL), TT_OK);
  return result;
}

static void torques_convert_exactly(void **state) {
  (void)state;
  tt_conversion c = conversion("in·lbf", 1, 0, "none", TT_TORQUE);
  assert_true(tt_convert_in(&c, 50) == 5.649241451380835);
  assert_true(tt_convert_out(&c, 5.649241451380835) == 50.0f);
}

static void scale_and_offset_apply_on_the_wire(void **state) {
  (void)state;
  tt_conversion c = conversion("deg", 10, 5, "none", TT_ANGLE);
  assert_true(tt_convert_out(&c, PI) == 1805.0f);
  assert_true(fabs(tt_convert_in(&c, 1805) - PI) < 1e-12);
}

static void wrong_units_and_wraps_are_refused(void **state) {
  (void)state;
  tt_error error;
  tt_conversion result;
  char unit[] = "m", wrap[] = "pi", name[] = "arm.torque";
  tt_name_entry entry = {.name = name, .unit = unit, .scale = 1};
  assert_int_equal(tt_conversion_prepare(&entry, TT_TORQUE, "a.yaml: x", &result, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "a.yaml: x.unit: 'm' does not measure arm.torque"));
  assert_non_null(strstr(error.text, "in·lbf"));
  entry.unit = NULL;
  entry.wrap = wrap;
  assert_int_equal(tt_conversion_prepare(&entry, TT_TORQUE, "a.yaml: x", &result, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "no angle"));
}

static void wrapped_angles_never_leave_their_interval(void **state) {
  (void)state;
  assert_int_equal(tt_bits_of_float(tt_wrap_angle(PI)), 0x40490fda);
  assert_int_equal(tt_bits_of_float(tt_wrap_angle(-PI)), 0xc0490fda);
  assert_true(fabsf(tt_wrap_angle(PI + 0.5) - (float)(0.5 - PI)) < 1e-6f);
  assert_true(tt_wrap_angle(-0.25) == -0.25f);
  tt_conversion turn = conversion("rev", 1, 0, "turn", TT_ANGLE),
                half = conversion("deg", 1, 0, "pi", TT_ANGLE);
  tt_conversion ticks = conversion("rev", -1024, 7, "turn", TT_ANGLE);
  for (int i = -400000; i <= 400000; i++) {
    double angle = i * (PI / 1000) + (i % 7 - 3) * 1e-16;
    float pi = tt_wrap_angle(angle), rev = tt_convert_out(&turn, angle),
          deg = tt_convert_out(&half, angle);
    float tick = tt_convert_out(&ticks, angle);
    assert_true(fabsf(pi) <= TT_PI_FLOAT);
    assert_true(rev >= 0 && rev < 1);
    assert_true(fabsf(deg) <= 180);
    assert_true(tick <= 7 && tick > -1017);
  }
  assert_true(tt_convert_out(&turn, -1e-12) < 1); /* would round up to a whole turn */
}

static void the_back_way_wraps_too(void **state) {
  (void)state;
  tt_conversion c = conversion("deg", 1, 0, "pi", TT_ANGLE);
  assert_true(fabs(tt_convert_in(&c, 270) + PI / 2) < 1e-12);
}

static void nothing_infinite_is_sent(void **state) {
  (void)state;
  tt_conversion c = conversion(NULL, 1e30, 0, NULL, TT_LENGTH);
  assert_true(tt_convert_out(&c, 1e20) == FLT_MAX);
  assert_true(tt_convert_out(&c, -1e20) == -FLT_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(torques_convert_exactly),
      cmocka_unit_test(scale_and_offset_apply_on_the_wire),
      cmocka_unit_test(wrong_units_and_wraps_are_refused),
      cmocka_unit_test(wrapped_angles_never_leave_their_interval),
      cmocka_unit_test(the_back_way_wraps_too),
      cmocka_unit_test(nothing_infinite_is_sent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

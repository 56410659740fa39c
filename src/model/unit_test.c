/* unit_test.c: every unit converts exactly, both spellings are one, and nothing sloppy is read. */
#include "model/unit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define PI 3.14159265358979323846

static void quantities_become_si(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tt_dimension dimension;
    double si;
  } cases[] = {
      {"10 ms", TT_TIME, 0.01},
      {"3 ms", TT_TIME, 0.003},
      {"7us", TT_TIME, 7e-6},
      {"7 µs", TT_TIME, 7e-6},
      {"7 μs", TT_TIME, 7e-6},
      {"1/3000 s", TT_TIME, 1.0 / 3000},
      {"1/3 ms", TT_TIME, 1.0 / 3 / 1000},
      {"2 min", TT_TIME, 120},
      {"0.5", TT_TIME, 0.5},
      {"  .5\t", TT_TIME, 0.5},
      {"5.", TT_TIME, 5},
      {"-1.5e-3 m", TT_LENGTH, -0.0015},
      {"+3 in", TT_LENGTH, 3 * 0.0254},
      {"54 ft", TT_LENGTH, 54 * 0.3048},
      {"25 mm", TT_LENGTH, 0.025},
      {"90 deg", TT_ANGLE, PI / 2},
      {"0.25 turn", TT_ANGLE, PI / 2},
      {"-1 rev", TT_ANGLE, -2 * PI},
      {"60 rpm", TT_ANGULAR_VELOCITY, 2 * PI},
      {"1 rev/s", TT_ANGULAR_VELOCITY, 2 * PI},
      {"180 deg/s", TT_ANGULAR_VELOCITY, PI},
      {"250 in·lbf", TT_TORQUE, 250 * 0.1129848290276167},
      {"250 in-lbf", TT_TORQUE, 250 * 0.1129848290276167},
      {"250 in*lbf", TT_TORQUE, 250 * 0.1129848290276167},
      {"250 in⋅lbf", TT_TORQUE, 250 * 0.1129848290276167},
      {"1 ft-lbf", TT_TORQUE, 1.3558179483314004},
      {"16 oz·in", TT_TORQUE, 0.1129848290276167},
      {"2 N·m", TT_TORQUE, 2},
      {"2 Nm", TT_TORQUE, 2},
      {"1 lbf", TT_FORCE, 4.4482216152605},
      {"1 ft/s", TT_VELOCITY, 0.3048},
      {"1 in/s", TT_VELOCITY, 0.0254},
      {"9.8 m/s²", TT_ACCELERATION, 9.8},
      {"9.8 m/s^2", TT_ACCELERATION, 9.8},
      {"120 lb", TT_MASS, 120 * 0.45359237},
      {"12 V", TT_VOLTAGE, 12},
      {"40 A", TT_CURRENT, 40},
      {"337 W", TT_POWER, 337},
      {"15 mΩ", TT_RESISTANCE, 0.015},
      {"2 Ohm", TT_RESISTANCE, 2},
      {"2 \u2126", TT_RESISTANCE, 2},
      {"18 A·h", TT_CHARGE, 64800},
      {"18 Ah", TT_CHARGE, 64800},
      {"360 ticks", TT_DIMENSIONLESS, 360},
      {"50 %", TT_DIMENSIONLESS, 0.5},
      {"7", TT_DIMENSIONLESS, 7},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double si = NAN;
    if (!tt_quantity_parse(cases[i].text, cases[i].dimension, &si))
      fail_msg("'%s' was not read", cases[i].text);
    if (fabs(si - cases[i].si) > 1e-15 * fabs(cases[i].si))
      fail_msg("'%s' is %.17g, not %.17g", cases[i].text, si, cases[i].si);
  }
}

static void sloppy_text_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tt_dimension dimension;
  } cases[] = {
      {"", TT_TIME},
      {" ", TT_TIME},
      {"s", TT_TIME},
      {"nan", TT_TIME},
      {"inf s", TT_TIME},
      {"infinity", TT_TIME},
      {"1e999", TT_TIME},
      {"0x10", TT_TIME},
      {"1,5 s", TT_TIME},
      {"1 s s", TT_TIME},
      {"1 2", TT_TIME},
      {"--1", TT_TIME},
      {"- 1", TT_TIME},
      {"1/0 s", TT_TIME},
      {"1/", TT_TIME},
      {"1/-2", TT_TIME},
      {"1 / 2", TT_TIME},
      {"1/2/3", TT_TIME},
      {"1e", TT_TIME},
      {"1e+", TT_TIME},
      {".", TT_TIME},
      {"1.2.3", TT_TIME},
      {"5 m", TT_TIME},
      {"5 S", TT_TIME},
      {"5 furlong", TT_TIME},
      {"5 1", TT_TIME},
      {"1 Nm", TT_FORCE},
      {"1 deg", TT_LENGTH},
      {"1e308 h", TT_TIME},
      {"1/1e-320", TT_TIME},
      {"1 s\n", TT_TIME},
      {"1 in--lbf", TT_TORQUE},
      {"1 \xc2", TT_TIME},
      {"1 \xc2\xb7", TT_TIME},
      {"1 averyveryverylongunitname", TT_TIME},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double si = 42;
    if (tt_quantity_parse(cases[i].text, cases[i].dimension, &si))
      fail_msg("'%s' was read as %g", cases[i].text, si);
    assert_true(si == 42); /* untouched on failure */
  }
}

static void units_are_found_by_both_spellings(void **state) {
  (void)state;
  assert_ptr_equal(tt_unit_find("in·lbf"), tt_unit_find("in-lbf"));
  assert_ptr_equal(tt_unit_find("µs"), tt_unit_find("us"));
  assert_string_equal(tt_unit_find("in-lbf")->name, "in·lbf");
  assert_int_equal(tt_unit_find("")->dimension, TT_DIMENSIONLESS);
  assert_int_equal(tt_unit_find("1")->dimension, TT_DIMENSIONLESS);
  assert_null(tt_unit_find("parsec"));
  assert_null(tt_unit_find("in lbf"));
}

static void what_was_meant_is_suggested(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"degrees", "deg"},
      {"Degree", "deg"},
      {"degre", "deg"},
      {"radians", "rad"},
      {"rads", "rad"},
      {"°", "deg"},
      {"degrees/second", "deg/s"},
      {"radians per sec", "rad/s"},
      {"inches", "in"},
      {"feet", "ft"},
      {"meters/s", "m/s"},
      {"seconds", "s"},
      {"newtons", "N"},
      {"volts", "V"},
      {"kilograms", "kg"},
      {"rev/min", "rpm"},
      {"revolutions per minute", "rpm"},
      {"newton-meters", "Nm"},
      {"in-lb", "in·lbf"},
      {"ft-lbs", "ft·lbf"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *meant = tt_unit_nearest(cases[i][0]);
    if (!meant || strcmp(meant, cases[i][1]) != 0)
      fail_msg("'%s' suggests '%s'", cases[i][0], meant ? meant : "nothing");
  }
  assert_string_equal(tt_quantity_meant_unit("-90.5 degrees", TT_ANGLE), "deg");
  assert_null(tt_quantity_meant_unit("-90.5 degrees", TT_LENGTH)); /* would be refused, too */
  assert_null(tt_quantity_meant_unit("80 1/s", TT_TORQUE));
  assert_string_equal(tt_quantity_meant_unit("80 rad/sek", TT_ANGULAR_VELOCITY), "rad/s");
  assert_null(tt_quantity_meant_unit("ninety", TT_ANGLE));
  assert_null(tt_quantity_meant_unit("90", TT_ANGLE));
  assert_null(tt_quantity_meant_unit("90 m", TT_LENGTH)); /* is a unit */
  assert_null(tt_unit_nearest(
      "a very long text in words, which no unit comes near to, of so many / and s / / / //////"));
}

/** Nothing near is better than something of another kind. */
static void what_nothing_here_measures_suggests_nothing(void **state) {
  (void)state;
  static const char *const foreign[] = {"Hz", "kHz", "hertz", "1/s", "per second",
                                        "J",  "Pa",  "T",     "K"};
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    const char *meant = tt_unit_nearest(foreign[i]);
    if (meant) fail_msg("'%s' suggests '%s'", foreign[i], meant);
  }
  assert_null(tt_quantity_meant_unit("50 Hz", TT_TIME));
  assert_string_equal(tt_unit_nearest("Kg"), "kg");
  assert_string_equal(tt_unit_nearest("rpms"), "rpm");
}

static void every_dimension_has_its_si_unit_and_a_list(void **state) {
  (void)state;
  for (int d = 0; d < TT_DIMENSION_COUNT; d++) {
    const tt_unit *si = tt_unit_si((tt_dimension)d);
    assert_int_equal(si->dimension, d);
    assert_true(si->scale == 1);
    const char *names = tt_unit_names((tt_dimension)d);
    assert_true(strncmp(names, si->name, strlen(si->name)) == 0);
    const char *last = strrchr(names, ' ');
    assert_non_null(tt_unit_find(last ? last + 1 : names)); /* the list is not cut */
  }
  assert_string_equal(tt_unit_names(TT_VOLTAGE), "V, mV");
  assert_string_equal(tt_unit_si(TT_ANGULAR_VELOCITY)->name, "rad/s");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(quantities_become_si),
      cmocka_unit_test(sloppy_text_is_refused),
      cmocka_unit_test(units_are_found_by_both_spellings),
      cmocka_unit_test(what_was_meant_is_suggested),
      cmocka_unit_test(what_nothing_here_measures_suggests_nothing),
      cmocka_unit_test(every_dimension_has_its_si_unit_and_a_list),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

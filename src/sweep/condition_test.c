/* condition_test.c: what conditions mean, and what is refused, with the place and the remedy. */
#include "sweep/condition.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const tt_condition_column columns[] = {
    {"gain", ""},           {"mode", ""},     {"overshoot", "1"},
    {"final_angle", "rad"}, {"settled", "s"}, {"far", "m"},
};
static const tt_condition_scope row_scope = {.columns = columns, .column_count = 6};

/* gain 2, mode fast, overshoot 0.25, final_angle 1 rad, settled: never, far 3 m */
static const tt_sweep_value row[] = {
    {TT_SWEEP_NUMBER, 2, NULL}, {TT_SWEEP_TEXT, 0, "fast"}, {TT_SWEEP_NUMBER, 0.25, NULL},
    {TT_SWEEP_NUMBER, 1, NULL}, {TT_SWEEP_NULL, 0, NULL},   {TT_SWEEP_NUMBER, 3, NULL},
};

static void check(const char *text, bool expected) {
  tt_condition *condition = NULL;
  tt_error error = {""};
  if (tt_condition_new(text, "plan.yaml: success", &row_scope, &condition, &error) != TT_OK)
    fail_msg("%s", error.text);
  if (tt_condition_holds_for(condition, row) != expected)
    fail_msg("'%s' should %shold", text, expected ? "" : "not ");
  tt_condition_free(condition);
  assert_int_equal(tt_condition_new(text, "plan.yaml: success", NULL, &condition, &error), TT_OK);
  tt_condition_free(condition);
}

static void a_condition_means_what_it_says(void **state) {
  (void)state;
  check("gain == 2", true);
  check("gain != 2", false);
  check("gain>=2 and gain<=2 and not (gain < 2 or gain > 2)", true);
  check("gain > 1 or gain > 3 and gain < 0", true); /* and binds closer */
  check("(gain > 1 or gain > 3) and gain < 0", false);
  check("not gain > 3 and gain > 1", true);
  check("1 + 2 * 3 == 7 and (1 + 2) * 3 == 9", true);
  check("7 - 2 - 1 == 4 and 8 / 2 / 2 == 2", true);
  check("- gain + 5 == 3 and --gain == 2 and gain * -1 == -2", true);
  check("abs(-3) == 3 and sqrt(far * far + 16) == 5", true);
  check("min(gain, 7) == 2 and max(1, gain + 1) == 3", true);
  check("gain", true); /* a plain number: it is not 0 */
  check("gain - 2", false);
  check("mode == 'fast' and mode != 'slow' and not mode == 'faster'", true);
  check("mode != 'fast'", false);
  check("gain == 'fast'", false);
  check("mode == 2 or mode != 2", false); /* a text is no number */
  check("\"gain\" == 2 and far > 1", true);
  check("1e3 == 1000 and .5 == 1/2", true);
}

static void numbers_have_units(void **state) {
  (void)state;
  check("far * 4 m and 4 m * far == 12 and 3 m / far == 1 and far / 3 s > 0 m", true);
  check("final_angle > 57 deg and final_angle < 58deg", true);
  check("final_angle - 57 deg < 1/3 deg", true);
  check("overshoot < 30 % and overshoot > 20%", true);
  check("far == 300 cm and far / 2 == 1.5 m and far*2 == 6 m", true);
  check("far / 2 m == 1.5", true);
  check("2 m/s == 7.2 km/h and 3 N*m == 3 N·m and 1 m/s² == 1 m/s^2", true);
  check("far > 2 in and far > 0.01 min * 1 m / 1 s", true); /* units that begin like words */
  check("max(far, 1 m) == 3", true);
}

static void what_has_no_value_decides_nothing(void **state) {
  (void)state;
  check("settled < 1 s", false);
  check("not (settled < 1 s)", false);
  check("settled == settled", false);
  check("settled < 1 s or gain == 2", true);
  check("settled < 1 s and gain == 3", false);
  check("not (settled < 1 s and gain == 3)", true);
  check("min(settled, 1) == 1 or max(1, settled) == 1 or abs(settled) >= 0", false);
  check("gain / 0 > 1 or not gain / 0 > 1", false);
  check("1e308 * 10 > 1 or sqrt(-gain) < 9 or not sqrt(-gain) < 9", false);
  check("settled == 'fast' or not settled == 'fast' or settled != 'fast'", false);
}

static void refused(const tt_condition_scope *scope, const char *text, const char *expected) {
  tt_condition *condition = NULL;
  tt_error error = {""};
  assert_int_equal(tt_condition_new(text, "plan.yaml: success", scope, &condition, &error),
                   TT_INVALID);
  assert_null(condition);
  if (strncmp(error.text, "plan.yaml: success: ", 20) != 0 || !strstr(error.text, expected))
    fail_msg("'%s' gives\n%s\nwithout '%s'", text, error.text, expected);
}

static void mistakes_are_told_with_place_and_remedy(void **state) {
  (void)state;
  static const struct {
    const char *text, *expected;
  } mistakes[] = {
      {"", "'', at its end: a value is missing"},
      {"gain >", "'gain >', at its end: a value is missing"},
      {"gain > > 3", "before '> 3': a value is missing"},
      {"gain > 3 gain", "before 'gain': there is no such unit"},
      {"(gain) gain", "before 'gain': 'and', 'or' or a sign is missing"},
      {"gain = 3", "before '= 3': write == to compare"},
      {"gain > and", "before 'and': a value is missing"},
      {"(gain > 3", "at its end: a ) is missing"},
      {"gain > 3)", "before ')': 'and', 'or' or a sign is missing"},
      {"gain > 3 && far > 2", "before '&& far > 2': 'and', 'or' or a sign is missing"},
      {"1 < gain < 3", "before '< 3': 'and', 'or' or a sign is missing"},
      {"(1 < gain) < 3", "a comparison is no number (write a < b and b < c for a < b < c)"},
      {"far > 45 deg", "m and rad can't be compared or added"},
      {"far + final_angle > 3", "m and rad can't be compared or added"},
      {"max(far, final_angle) > 3", "m and rad can't be compared or added"},
      {"far and gain > 1",
       "'far and gain > 1', before ' gain > 1': what has a unit must be compared with something"},
      {"not far", "what has a unit must be compared"},
      {"far", "what has a unit must be compared"},
      {"final_angle > 45 degrees", "before 'degrees': there is no such unit; did you mean 'deg'?"},
      {"gian > 3", "no axis and no metric is called 'gian'; did you mean 'gain'?"},
      {"gain-far > 3", "'gain-far'"},
      {"gain-far > 3", "(a minus or a division needs spaces around it)"},
      {"mode > 'fast'", "a text may only be compared as in NAME == 'text'"},
      {"mode + 1 == 'fast'", "a text may only be compared as in NAME == 'text'"},
      {"'fast' == mode", "before ''fast' == mode': a value is missing"},
      {"3 == 'fast'", "only an axis may be compared with a text"},
      {"mode == 'fast", "the second ' is missing of a text"},
      {"\"gain > 3", "the second \" is missing of a name"},
      {"\"\" > 3", "a name is too short or too long"},
      {"min(gain) > 3", "a comma is missing"},
      {"abs(gain > 3) > 3", "a comparison is no number"},
      {"abs gain > 3", "no axis and no metric is called 'abs'"},
      {"-(gain > 3)", "a comparison is no number"},
      {"1e999 > gain", "a value is missing"},
      {"1/0 > gain", "there is no such number; write a division with spaces, a / b"},
      {"0x10 > gain", "a value is missing"},
      {"nan > gain", "no axis and no metric is called 'nan'"},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
    refused(&row_scope, mistakes[i].text, mistakes[i].expected);
  refused(NULL, "anything > 3 +", "a value is missing");
}

/* What is repeated until it is too much for the reader. */
static void refused_long(const char *piece, int times, const char *end, const char *expected) {
  char text[TT_CONDITION_MAX_TEXT * 4] = "";
  for (int i = 0; i < times; i++) strcat(text, piece);
  strcat(text, end);
  refused(&row_scope, text, expected);
}

static void what_is_too_long_is_refused(void **state) {
  (void)state;
  refused_long("(", 33, "1", "too many signs or brackets");
  refused_long("- ", 33, "1", "too many signs or brackets");
  refused_long("not ", 33, "1", "too many signs or brackets");
  refused_long("1+", 200, "1", "the condition is too long");
  refused_long("1+(", 31, "", "a value is missing");
  refused_long("1 + ", 300, "1", "the condition is longer than 1024 bytes");
  refused_long("x", 300, " > 1", "a name is too short or too long");
}

/* A model of one joint and one body, whose names are unusual. */
static const tt_body bodies[] = {{.name = "world"}, {.name = "big body"}, {.name = "red1/lift-2"}};
static const tt_joint joints[] = {
    {.name = "arm", .kind = TT_HINGE, .body = 1, .axis = 0, .axis_count = 1}};
static const int axis_joint[] = {0};
static const tt_model model = {.bodies = bodies,
                               .joints = joints,
                               .axis_joint = axis_joint,
                               .body_count = 3,
                               .joint_count = 1,
                               .axis_count = 1,
                               .contact_capacity = 4,
                               .timestep_num = 1,
                               .timestep_den = 1000};

static void signals_are_read_from_the_view(void **state) {
  (void)state;
  tt_names *names = tt_names_new(&model);
  tt_view *view = tt_view_new(&model);
  const tt_condition_scope scope = {.names = names};
  static const struct {
    const char *text;
    bool expected;
  } cases[] = {
      {"arm.position > 45 deg and abs(arm.velocity) < 0.1", true},
      {"arm.position > 60 deg or abs(arm.velocity) < 0.01 rad/s", false},
      {"joint:arm.velocity == -0.05", true},
      {"\"big body.x\" == 2 m and red1/lift-2.z == 0.5", true},
      {"red1/lift-2.z - \"big body.x\" == -1.5", true},
      {"time == 0", true},
  };
  view->joint_position[0] = 1;
  view->joint_velocity[0] = -0.05;
  view->body_position[1][0] = 2;
  view->body_position[2][2] = 0.5;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_condition *condition;
    tt_error error;
    if (tt_condition_new(cases[i].text, "stop_when", &scope, &condition, &error) != TT_OK)
      fail_msg("%s", error.text);
    if (tt_condition_holds_in(condition, view) != cases[i].expected) fail_msg("%s", cases[i].text);
    tt_condition_free(condition);
  }
  refused(&scope, "arm.positoin > 1", "did you mean 'arm.position'?");
  refused(&scope, "arm.position > 1 m", "rad and m can't be compared or added");
  refused(&scope, "arm.position == 'up'", "only an axis may be compared with a text");
  tt_view_free(view);
  tt_names_free(names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_condition_means_what_it_says),
      cmocka_unit_test(numbers_have_units),
      cmocka_unit_test(what_has_no_value_decides_nothing),
      cmocka_unit_test(mistakes_are_told_with_place_and_remedy),
      cmocka_unit_test(what_is_too_long_is_refused),
      cmocka_unit_test(signals_are_read_from_the_view),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

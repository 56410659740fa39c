/* measures_test.c: formulas in a model's comments, what they set, and what is refused with its line. */
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[] = "/tmp/tether-measures-XXXXXX";

static void write_model(const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int make_path(void **state) {
  (void)state;
  return close(mkstemp(path));
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

/** The model's text with `width` and `mass` as given. */
static char *measured(const char *text, double width, double mass) {
  const tt_engine_measure wanted[] = {{"width", width, "r.yaml: measures[0]", TT_DIMENSION_COUNT},
                                      {"mass", mass, "r.yaml: measures[1]", TT_DIMENSION_COUNT}};
  char *out;
  tt_error error = {""};
  write_model(text);
  if (physics_measure(path, wanted, 2, &out, &error) != TT_OK) fail_msg("%s", error.text);
  return out;
}

#define HEAD "<mujoco>\n<!--measures width=\"0.5\" mass=\"10\"-->\n"

static void formulas_set_the_element_before_or_around_them(void **state) {
  (void)state;
  char *text =
      measured(HEAD
               "<worldbody><body name=\"b\" pos=\"0 0 0\"><!--set pos=\"0 {width} 1\"-->\n"
               "<geom size=\"1\"/> <!--set size=\"{-(width - 1)/2 + 3*2}\" mass=\"{mass}\"-->\n"
               "<geom size=\"2\"/><!-- set alone is prose --><!--settled size=\"9\"-->\n"
               "</body></worldbody></mujoco>",
               2, 10);
  assert_non_null(strstr(text, "<body name=\"b\" pos=\"0 2 1\">"));
  assert_non_null(strstr(text, "<geom size=\"5.5\"/>")); /* the mass is the model's own */
  assert_non_null(strstr(text, "<geom size=\"2\"/>"));
  free(text);
}

static void an_unchanged_model_is_left_alone(void **state) {
  (void)state;
  assert_null(measured(HEAD "<option/><!--set gravity=\"{width}\"--></mujoco>", 0.5, 10));
  assert_null(measured(HEAD "<option/><!--set gravity=\"{width}\"--></mujoco>", 0.5 + 1e-12, 11));
}

static void what_is_wrong_is_told_with_its_line(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {HEAD "<option/>\n<!--set a=\"{widht}\"--></mujoco>",
       ":4: set: the model declares no measure 'widht'"},
      {HEAD "<option/>\n<!--set a=\"{width\"--></mujoco>", ":4: set: '{width' can't be worked out"},
      {HEAD "<option/>\n<!--set a=\"{width 2}\"--></mujoco>", "can't be worked out"},
      {HEAD "<option/>\n<!--set a=\"{}\"--></mujoco>", "can't be worked out"},
      {HEAD "<option/>\n<!--set a=\"{(width}\"--></mujoco>", "can't be worked out"},
      {HEAD "<option/>\n<!--set a=\"{width/0}\"--></mujoco>", "can't be worked out"},
      {HEAD "<option/>\n<!--set a=\"{((((((((((((((((((((((((((((((((((((((((1}\"--></mujoco>",
       "can't be worked out"},
      {"<mujoco>\n<!--measures width=\"wide\"--></mujoco>", ":2: measures: width=\"wide\" is none"},
      {"<mujoco>\n<!--measures width=\"0.5 meters\"--></mujoco>",
       ":2: measures: width=\"0.5 meters\" is none"},
      {"<mujoco>\n<!--measures length=\"1\" breadth=\"1\"--></mujoco>", "r.yaml: measures[0]: "},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    const tt_engine_measure wanted = {"width", 2, "r.yaml: measures[0]", TT_LENGTH};
    char *text;
    tt_error error = {""};
    write_model(bad[i].text);
    assert_int_equal(physics_measure(path, &wanted, 1, &text, &error), TT_INVALID);
    assert_null(text);
    if (!strstr(error.text, bad[i].says))
      fail_msg("'%s' does not say '%s'", error.text, bad[i].says);
  }
}

/** What comes of a model whose measure `m` is declared as `own`, for one that is wanted; the message, or "". */
static const char *wanting(const char *own, double value, tt_dimension dimension) {
  static tt_error error;
  const tt_engine_measure wanted = {"m", value, "r.yaml: measures[0]", dimension};
  char model[256], *text = NULL;
  error.text[0] = '\0';
  snprintf(model, sizeof model,
           "<mujoco>\n<!--measures m=\"%s\"--><a/><!--set m=\"{m}\"--></mujoco>", own);
  write_model(model);
  tt_status status = physics_measure(path, &wanted, 1, &text, &error);
  assert_int_equal(status == TT_OK, error.text[0] == '\0');
  free(text);
  return error.text;
}

static void a_unit_says_what_a_measure_may_become(void **state) {
  (void)state;
  assert_string_equal(wanting("10 kg", 12, TT_MASS), "");
  assert_string_equal(wanting("10 kg", 12, TT_DIMENSION_COUNT), "");
  assert_string_equal(wanting("-0.1 m", 0.2, TT_LENGTH), "");
  assert_string_equal(wanting("0 m", -0.2, TT_LENGTH), "");
  assert_non_null(strstr(wanting("10 kg", 12, TT_LENGTH), "r.yaml: measures[0].value: "));
  assert_non_null(
      strstr(wanting("22 lb", 12, TT_LENGTH), " has 'm' in kg; give one of the units kg, g, lb"));
  assert_non_null(strstr(wanting("10 kg", 0, TT_MASS),
                         "r.yaml: measures[0].value: 'm' is 0 kg; give more than 0"));
  assert_non_null(
      strstr(wanting("10 kg", -3, TT_DIMENSION_COUNT), "'m' is -3 kg; give more than 0"));
}

static void one_without_a_unit_may_become_anything(void **state) {
  (void)state;
  assert_string_equal(wanting("10", 12, TT_LENGTH), "");
  assert_string_equal(wanting("10", -12, TT_MASS), "");
  assert_string_equal(wanting("10", 0, TT_DIMENSION_COUNT), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(formulas_set_the_element_before_or_around_them),
      cmocka_unit_test(an_unchanged_model_is_left_alone),
      cmocka_unit_test(a_unit_says_what_a_measure_may_become),
      cmocka_unit_test(one_without_a_unit_may_become_anything),
      cmocka_unit_test(what_is_wrong_is_told_with_its_line),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}

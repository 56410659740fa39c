/* metric_docs_test.c: docs/sweep.md has every measure with its keys and unit, and every key of a metric, and no others. */
#include "sweep/metric_keys.h"
#include "sweep/metric_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *page;

static int read_page(void **state) {
  (void)state;
  FILE *file = fopen(TETHER_SOURCE_DIR "/docs/sweep.md", "r");
  page = calloc(1, 1 << 20);
  if (!file || !page) return -1;
  size_t size = fread(page, 1, (1 << 20) - 1, file);
  fclose(file);
  return size == 0;
}

static int free_page(void **state) {
  (void)state;
  free(page);
  return 0;
}

/* A table below a heading: its rows behind the second line. */
static const char *table_below(const char *heading) {
  char line[64];
  snprintf(line, sizeof line, "\n### %s\n", heading);
  const char *at = strstr(page, line);
  if (!at) fail_msg("docs/sweep.md has no heading '%s'", heading);
  at = strstr(at, "\n|---");
  assert_non_null(at);
  return strchr(at + 1, '\n') + 1;
}

/* A cell of a row, from 0, without the blanks around it. */
static const char *cell(const char *row, int index, char text[256]) {
  const char *begin = row + 1;
  for (; index > 0; index--) begin = strchr(begin, '|') + 1;
  const char *end = strchr(begin, '|');
  assert_true(end && end < strchr(row, '\n'));
  snprintf(text, 256, "%.*s", (int)(end - begin - 2), begin + 1);
  return text;
}

static const char *without_quotes(char *text) {
  char *to = text;
  for (const char *at = text; *at; at++)
    if (*at != '`') *to++ = *at;
  *to = 0;
  return text;
}

/* The unit of a measure of an angle. */
static const char *unit_of(const char *written) {
  if (strcmp(written, "the signal's") == 0) return "rad";
  if (strcmp(written, "the signal's × s") == 0) return "rad·s";
  return strcmp(written, "unit") == 0 ? "m" : written;
}

static void check_unit(tt_measure measure, const char *written) {
  static const char *const values[] = {
      [TT_MEASURE_TIME_ABOVE] = ", threshold: 1",
      [TT_MEASURE_TIME_BELOW] = ", threshold: 1",
      [TT_MEASURE_SETTLING_TIME] = ", target: 1",
      [TT_MEASURE_OVERSHOOT] = ", target: 1",
      [TT_MEASURE_RISE_TIME] = ", target: 1",
      [TT_MEASURE_EVENT_TIME] = ", when: time > 1",
      [TT_MEASURE_LUA] = ", lua: measure.lua, signals: [time], unit: mm",
      [TT_MEASURE_COUNT] = NULL,
  };
  char yaml[256], keys[256];
  bool has_quantity = strstr(tt_measure_keys(measure, keys, sizeof keys), "distance") != NULL;
  testing_plan plan;
  tt_error error;
  tt_names *names = tt_names_new(testing_model());
  snprintf(yaml, sizeof yaml, "[{name: m, measure: %s%s%s}]", tt_measure_names[measure],
           has_quantity ? ", signal: red1/arm.position" : "",
           values[measure] ? values[measure] : "");
  if (testing_plan_open(yaml, TETHER_SOURCE_DIR "/src/sweep/testdata", names, 0.01, &plan,
                        &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_string_equal(tt_metrics_unit(plan.metrics, 0), unit_of(written));
  testing_plan_clear(&plan);
  tt_names_free(names);
}

static void every_measure_is_described(void **state) {
  (void)state;
  const char *row = table_below("Measures");
  char text[256], keys[256];
  int measure = 0;
  for (; *row == '|'; row = strchr(row, '\n') + 1, measure++) {
    assert_true(measure < TT_MEASURE_COUNT);
    cell(row, 0, text);
    assert_string_equal(without_quotes(text), tt_measure_names[measure]);
    cell(row, 1, text);
    assert_string_equal(without_quotes(text),
                        tt_measure_keys((tt_measure)measure, keys, sizeof keys));
    cell(row, 2, text);
    check_unit((tt_measure)measure, without_quotes(text));
  }
  assert_int_equal(measure, TT_MEASURE_COUNT);
}

static void check_keys(const char *heading, const cyaml_schema_field_t *field) {
  char text[256];
  for (const char *row = table_below(heading); *row == '|'; row = strchr(row, '\n') + 1, field++) {
    if (!field->key) fail_msg("%s has more keys than there are", heading);
    cell(row, 0, text);
    assert_string_equal(without_quotes(text), field->key);
  }
  if (field->key) fail_msg("%s has no '%s'", heading, field->key);
}

static void every_key_is_described(void **state) {
  (void)state;
  const cyaml_schema_field_t *fields = tt_metric_schema.mapping.fields, *distance = fields;
  while (strcmp(distance->key, "distance") != 0) distance++;
  check_keys("Keys of a metric", fields);
  check_keys("Distances", distance->value.mapping.fields);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_measure_is_described),
      cmocka_unit_test(every_key_is_described),
  };
  return cmocka_run_group_tests(tests, read_page, free_page);
}

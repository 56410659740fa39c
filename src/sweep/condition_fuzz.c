/* condition_fuzz.c: any text as a condition, over a row and over signals: it is read, or refused with a reason; it never holds where
 * a value is wanted that there is not; and who knows the names reads no more than who takes any name. */
#include "sweep/condition.h"

#include "sweep/metric_testing.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const tt_condition_column columns[] = {
    {"gain", ""}, {"mode", ""}, {"far", "m"}, {"part", "1"}};
static const tt_sweep_value full[] = {{TT_SWEEP_NUMBER, 2, NULL},
                                      {TT_SWEEP_TEXT, 0, "fast"},
                                      {TT_SWEEP_NUMBER, -1e300, NULL},
                                      {TT_SWEEP_NUMBER, 0, NULL}};
static const tt_sweep_value empty[4] = {{TT_SWEEP_NULL, 0, NULL}};

static tt_condition *read(const char *text, const tt_condition_scope *scope) {
  tt_condition *condition = NULL;
  tt_error error = {""};
  tt_status status = tt_condition_new(text, "fuzz", scope, &condition, &error);
  if (status == TT_OK) return condition;
  if (status != TT_INVALID || condition || strncmp(error.text, "fuzz: ", 6) != 0) abort();
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_names *names;
  static tt_view *view;
  if (!names) {
    names = tt_names_new(testing_model());
    view = tt_view_new(testing_model());
  }
  char *text = strndup((const char *)data, size);
  const tt_condition_scope row = {.columns = columns, .column_count = 4},
                           signals = {.names = names};
  tt_condition *plain = read(text, NULL), *of_row = read(text, &row),
               *of_signals = read(text, &signals);
  if ((of_row || of_signals) && !plain) abort();
  if (of_row) {
    tt_condition_holds_for(of_row, full);
    tt_condition_holds_for(of_row, empty);
  }
  if (of_signals) tt_condition_holds_in(of_signals, view);
  tt_condition_free(plain);
  tt_condition_free(of_row);
  tt_condition_free(of_signals);
  free(text);
  return 0;
}

/* metric_fuzz.c: any text as a plan's metrics: they are refused with a reason, or measure finite numbers, twice the same. */
#include "sweep/metric_testing.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_names *names;
static tt_view *view;

/* A few ticks of what goes up, down, and very far away. */
static void measure(const testing_plan *plan, tt_sweep_value *values) {
  static const double positions[] = {0, 0.5, 1.25, -1e308, 1e308, 1, 1};
  tt_error error;
  tt_metrics_begin(plan->metrics);
  for (int k = 0; k < 7; k++) {
    view->joint_position[0] = positions[k];
    view->joint_velocity[1] = -positions[k];
    view->body_position[4][2] = positions[k];
    view->contact_count = k % 3;
    view->contacts[0].body2 = view->contacts[1].body1 = k % 5;
    if (tt_metrics_sample(plan->metrics, view, &error) != TT_OK) abort();
  }
  tt_metrics_end(plan->metrics, values, &error);
  for (int i = 0; i < plan->count; i++)
    if (values[i].kind == TT_SWEEP_TEXT || !isfinite(values[i].number)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_sweep_value first[TESTING_METRICS], second[TESTING_METRICS];
  testing_plan plan;
  tt_error error = {""};
  if (!names) {
    names = tt_names_new(testing_model());
    view = tt_view_new(testing_model());
  }
  char *text = strndup((const char *)data, size);
  tt_status status =
      testing_plan_open(text, TETHER_SOURCE_DIR "/src/sweep/testdata", names, 0.01, &plan, &error);
  free(text);
  if (status != TT_OK && !*error.text) abort();
  if (status == TT_OK) {
    measure(&plan, first);
    measure(&plan, second);
    for (int i = 0; i < plan.count; i++)
      if (!tt_sweep_value_equal(&first[i], &second[i]) || !*tt_metrics_unit(plan.metrics, i))
        abort();
  }
  testing_plan_clear(&plan);
  return 0;
}

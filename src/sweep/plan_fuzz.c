/* plan_fuzz.c: any bytes as a plan, with any --set before the first line feed of inputs that begin with '!'. */
#include "app/guests.h"
#include "sweep/plan.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** What is promised of every run of a plan that loads. */
static void check_run(const tt_sweep_plan *plan, uint64_t number) {
  tt_sweep_run run;
  char texts[4096];
  const char *settings[1200];
  tt_sweep_plan_run(plan, number, &run);
  if (run.number != number || strlen(run.id) != 32) abort();
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_value *value = &run.axes[i];
    if (value->kind == TT_SWEEP_NUMBER ? !isfinite(value->number) : !value->text) abort();
  }
  tt_sweep_run_settings(plan, &run, texts, sizeof texts, settings, 1200);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *text = (const char *)data, *setting;
  char *given = NULL;
  if (size > 1 && *text == '!') {
    const char *end = memchr(text, '\n', size);
    size_t used = end ? (size_t)(end - text) : size;
    given = strndup(text + 1, used - 1);
    text += end ? used + 1 : used;
    size -= end ? used + 1 : used;
  }
  tt_sweep_plan *plan;
  tt_error error = {""};
  setting = given;
  tt_status status =
      tt_sweep_plan_parse(&tt_program_guests, TETHER_SOURCE_DIR "/src/sweep/testdata/plan.yaml",
                          text, size, &setting, given ? 1 : 0, &plan, &error);
  if ((status == TT_OK) != !*error.text || (status == TT_OK) != (plan != NULL)) abort();
  if (status == TT_OK) {
    const uint64_t runs = tt_sweep_plan_runs(plan);
    if (runs == 0 || runs > TT_SWEEP_MAX_RUNS) abort();
    check_run(plan, 0);
    check_run(plan, runs / 2);
    check_run(plan, runs - 1);
  }
  tt_sweep_plan_free(plan);
  free(given);
  return 0;
}

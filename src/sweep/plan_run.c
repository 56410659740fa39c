/* plan_run.c: the runs that follow from a plan, each by its number. */
#include "sweep/plan_internal.h"

#include "sweep/sampling.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

uint64_t tt_sweep_plan_runs(const tt_sweep_plan *plan) {
  return plan->point_count * (uint64_t)plan->repeat;
}

/** Where `point` lies along a group of a grid. The last group goes fastest. */
static int grid_index(const tt_plan_store *store, int group, uint64_t point) {
  for (int i = store->group_count - 1; i > group; i--) point /= (uint64_t)store->group_counts[i];
  return (int)(point % (uint64_t)store->group_counts[group]);
}

static double sample(const tt_sweep_plan *plan, int group, uint64_t point) {
  switch (plan->sampling) {
    case TT_SWEEP_LATIN_HYPERCUBE:
      return tt_sample_latin(plan->seed, point, plan->point_count, group);
    case TT_SWEEP_SOBOL: return tt_sample_sobol(point, group);
    default: return tt_sample_random(plan->seed, point, group);
  }
}

/** What lies between two bounds; of whole numbers each has an equal share. */
static double between(const tt_sweep_axis *axis, bool whole, double share) {
  if (whole && !axis->logarithmic)
    return axis->lower + floor((axis->upper - axis->lower + 1) * share);
  const double value = fmin(tt_plan_between(axis, share), axis->upper);
  return whole ? round(value) : value;
}

/** Which of an axis' values stands at `point`; it has a list of them. */
static int value_index(const tt_plan_store *store, const tt_sweep_axis *axis, uint64_t point) {
  if (store->plan.sampling == TT_SWEEP_GRID) return grid_index(store, axis->group, point);
  return (int)(sample(&store->plan, axis->group, point) * axis->count);
}

tt_sweep_value tt_plan_value(const tt_plan_store *store, int index, uint64_t point) {
  const tt_sweep_axis *axis = &store->plan.axes[index];
  const bool whole = store->axes[index].target.kind == TT_PLAN_WHOLE;
  if (axis->values) return axis->values[value_index(store, axis, point)];
  double share = sample(&store->plan, axis->group, point);
  return (tt_sweep_value){.kind = TT_SWEEP_NUMBER, .number = between(axis, whole, share)};
}

void tt_sweep_plan_run(const tt_sweep_plan *plan, uint64_t number, tt_sweep_run *run) {
  const tt_plan_store *store = (const tt_plan_store *)plan;
  const uint64_t repeat = (uint64_t)plan->repeat;
  run->number = number;
  run->point = number / repeat;
  run->seed = plan->seed + number % repeat;
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    run->axes[i] = tt_plan_value(store, i, run->point);
    if (axis->set && strcmp(axis->set, TT_PLAN_SEED) == 0)
      run->seed = (uint64_t)run->axes[i].number + number % repeat;
  }
  tt_plan_run_id(store, run);
}

/** Appends PATH=VALUE; false: no room. A list's values stand there as they were written, so that exact times stay exact. */
static bool add_setting(const tt_plan_store *store, const tt_sweep_run *run, int index, char **at,
                        size_t *left) {
  const tt_sweep_axis *axis = &store->plan.axes[index];
  const char *const *texts = store->axes[index].texts;
  char number[64];
  const char *value = texts ? texts[value_index(store, axis, run->point)]
                            : tt_sweep_value_text(&run->axes[index], number, sizeof number);
  int length = snprintf(*at, *left, "%s=%s", axis->set, value);
  if (length < 0 || (size_t)length >= *left) return false;
  *at += length + 1;
  *left -= (size_t)length + 1;
  return true;
}

int tt_sweep_run_settings(const tt_sweep_plan *plan, const tt_sweep_run *run, char *texts,
                          size_t size, const char **settings, int capacity) {
  const tt_plan_store *store = (const tt_plan_store *)plan;
  int count = 0;
  for (; plan->settings[count]; count++) {
    if (count == capacity) return -1;
    settings[count] = plan->settings[count];
  }
  for (int i = 0; i < plan->axis_count; i++) {
    if (!store->axes[i].is_setting) continue;
    if (count == capacity) return -1;
    settings[count++] = texts;
    if (!add_setting(store, run, i, &texts, &size)) return -1;
  }
  return count;
}

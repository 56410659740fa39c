/* metric_measures.c: the measures, each from sample to sample. docs/sweep.md has the formulas; the time of sample k is k ticks, and
 * between two samples a quantity is taken to change evenly. */
#include "sweep/metric_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sweep_quantity_read(const sweep_quantity *quantity, const tt_view *view) {
  if (!quantity->is_distance) return tt_signal_read(&quantity->signal, view);
  double sum = 0;
  for (int k = 0; k < quantity->components; k++) {
    double from = quantity->from_body < 0 ? tt_signal_read(&quantity->signals[k], view)
                                          : view->body_position[quantity->from_body][k];
    double to =
        quantity->to_body < 0 ? quantity->point[k] : view->body_position[quantity->to_body][k];
    sum += (from - to) * (from - to);
  }
  return sqrt(sum);
}

static double span(const sweep_metric *metric) {
  return (double)(metric->run.count - 1) * metric->tick;
}

/* The time at which what was `before` 0 at the last sample, and is `now`, passed 0; s. */
static double crossing(const sweep_metric *metric, double before, double now) {
  if (metric->run.count == 0) return 0;
  return ((double)(metric->run.count - 1) + before / (before - now)) * metric->tick;
}

/* ---- of the values themselves ---- */

static void nothing(sweep_metric *metric, const tt_view *view) {
  (void)metric;
  (void)view;
}

static double final_end(const sweep_metric *metric) { return metric->run.now; }

static void least_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  if (metric->run.count == 0 || metric->run.now < metric->run.extreme)
    metric->run.extreme = metric->run.now;
}

static void greatest_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  if (metric->run.count == 0 || metric->run.now > metric->run.extreme)
    metric->run.extreme = metric->run.now;
}

static double extreme_end(const sweep_metric *metric) { return metric->run.extreme; }

static void integral_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  if (metric->run.count > 0)
    metric->run.sum += (metric->run.before + metric->run.now) / 2 * metric->tick;
}

static void square_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  double a = metric->run.before, b = metric->run.now;
  if (metric->run.count > 0) metric->run.sum += (a * a + b * b) / 2 * metric->tick;
}

static double sum_end(const sweep_metric *metric) { return metric->run.sum; }

static double mean_end(const sweep_metric *metric) { return metric->run.sum / span(metric); }

static double rms_end(const sweep_metric *metric) { return sqrt(metric->run.sum / span(metric)); }

/* ---- of a threshold ---- */

/* The share of the time between two samples in which what changes evenly from `a` to `b` is above 0. */
static double share_above(double a, double b) {
  if (a <= 0 && b <= 0) return 0;
  if (a > 0 && b > 0) return 1;
  return fmax(a, b) / (fabs(a) + fabs(b));
}

static void above_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  if (metric->run.count > 0)
    metric->run.sum += metric->tick * share_above(metric->run.before - metric->threshold,
                                                  metric->run.now - metric->threshold);
}

static void below_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  if (metric->run.count > 0)
    metric->run.sum += metric->tick * share_above(metric->threshold - metric->run.before,
                                                  metric->threshold - metric->run.now);
}

/* ---- of the answer to a step ---- */

static void find_start(sweep_metric *metric) {
  if (metric->run.count > 0) return;
  metric->run.start = isnan(metric->start) ? metric->run.now : metric->start;
  metric->run.band =
      isnan(metric->band) ? 0.02 * fabs(metric->target - metric->run.start) : metric->band;
  metric->run.lower_at = metric->run.upper_at = NAN;
}

static void settling_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  find_start(metric);
  double now = metric->run.now - metric->target, before = metric->run.before - metric->target;
  double band = metric->run.band;
  bool inside = fabs(now) <= band;
  /* It came in through the edge of the band that it was outside of. */
  if (inside && !metric->run.settled)
    metric->run.settled_at = before > 0 ? crossing(metric, before - band, now - band)
                                        : crossing(metric, before + band, now + band);
  metric->run.settled = inside;
}

static double settling_end(const sweep_metric *metric) {
  return metric->run.settled ? metric->run.settled_at : NAN;
}

/* How much of the way from start to target is done: 1 at the target. Not finite where there is no way. */
static double progress(const sweep_metric *metric, double value) {
  return (value - metric->run.start) / (metric->target - metric->run.start);
}

static void overshoot_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  find_start(metric);
  double beyond = progress(metric, metric->run.now) - 1;
  if (metric->run.count == 0 || beyond > metric->run.extreme) metric->run.extreme = beyond;
}

static double overshoot_end(const sweep_metric *metric) {
  return metric->run.extreme >= 0 ? metric->run.extreme : NAN;
}

static void note_crossing(const sweep_metric *metric, double share, double *at) {
  double now = progress(metric, metric->run.now);
  if (!isnan(*at) || !(now >= share)) return;
  *at = crossing(metric, progress(metric, metric->run.before) - share, now - share);
}

static void rise_sample(sweep_metric *metric, const tt_view *view) {
  (void)view;
  find_start(metric);
  note_crossing(metric, metric->keys->rise_lower, &metric->run.lower_at);
  note_crossing(metric, metric->keys->rise_upper, &metric->run.upper_at);
}

static double rise_end(const sweep_metric *metric) {
  return metric->run.upper_at - metric->run.lower_at;
}

/* ---- of more than one quantity ---- */

/* A torque is known once it has acted: that of this sample acted since the one before. */
static void energy_sample(sweep_metric *metric, const tt_view *view) {
  for (int i = 0; i < metric->axis_count; i++) {
    int axis = metric->axes[i];
    double velocity = view->joint_velocity[axis];
    if (metric->run.count > 0)
      metric->run.sum +=
          metric->tick * fabs(view->joint_torque[axis] * (metric->velocities[i] + velocity) / 2);
    metric->velocities[i] = velocity;
  }
}

static void event_sample(sweep_metric *metric, const tt_view *view) {
  if (metric->run.settled || !tt_condition_holds_in(metric->when, view)) return;
  metric->run.settled = true;
  metric->run.settled_at = (double)metric->run.count * metric->tick;
}

static bool is_on(const sweep_side *side, const tt_view *view, int body) {
  if (side->body >= 0) return side->body == body;
  return side->robot < 0 || view->model->bodies[body].robot == side->robot;
}

static int compare_pairs(const void *left, const void *right) {
  const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

/* The pairs of bodies that touch, each once, in order; gives how many. */
static int find_pairs(const sweep_metric *metric, const tt_view *view, uint64_t *pairs) {
  const sweep_side *sides = metric->sides;
  int found = 0, count = 0;
  for (int i = 0; i < view->contact_count; i++) {
    int a = view->contacts[i].body1, b = view->contacts[i].body2;
    if (!(is_on(&sides[0], view, a) && is_on(&sides[1], view, b)) &&
        !(is_on(&sides[0], view, b) && is_on(&sides[1], view, a)))
      continue;
    pairs[found++] = (uint64_t)(a < b ? a : b) << 32 | (uint64_t)(a < b ? b : a);
  }
  qsort(pairs, (size_t)found, sizeof *pairs, compare_pairs);
  for (int i = 0; i < found; i++)
    if (count == 0 || pairs[count - 1] != pairs[i]) pairs[count++] = pairs[i];
  return count;
}

static void contact_sample(sweep_metric *metric, const tt_view *view) {
  uint64_t *now = metric->pairs[metric->run.count % 2];
  const uint64_t *before = metric->pairs[(metric->run.count + 1) % 2];
  int count = find_pairs(metric, view, now), begun = 0, at = 0;
  for (int i = 0; i < count; i++) {
    while (at < metric->run.pair_count && before[at] < now[i]) at++;
    if (at == metric->run.pair_count || before[at] != now[i]) begun++;
  }
  metric->run.pair_count = count;
  metric->run.sum += metric->keys->counted == TT_CONTACT_TICKS ? count > 0 : begun;
}

static double no_end(const sweep_metric *metric) {
  (void)metric;
  return NAN;
}

const sweep_measure sweep_measures[] = {
    [TT_MEASURE_FINAL] = {true, nothing, final_end},
    [TT_MEASURE_LEAST] = {true, least_sample, extreme_end},
    [TT_MEASURE_GREATEST] = {true, greatest_sample, extreme_end},
    [TT_MEASURE_MEAN] = {true, integral_sample, mean_end},
    [TT_MEASURE_RMS] = {true, square_sample, rms_end},
    [TT_MEASURE_INTEGRAL] = {true, integral_sample, sum_end},
    [TT_MEASURE_TIME_ABOVE] = {true, above_sample, sum_end},
    [TT_MEASURE_TIME_BELOW] = {true, below_sample, sum_end},
    [TT_MEASURE_SETTLING_TIME] = {true, settling_sample, settling_end},
    [TT_MEASURE_OVERSHOOT] = {true, overshoot_sample, overshoot_end},
    [TT_MEASURE_RISE_TIME] = {true, rise_sample, rise_end},
    [TT_MEASURE_ENERGY] = {false, energy_sample, sum_end},
    [TT_MEASURE_EVENT_TIME] = {false, event_sample, settling_end},
    [TT_MEASURE_CONTACTS] = {false, contact_sample, sum_end},
    [TT_MEASURE_LUA] = {false, nothing, no_end},
};
_Static_assert(sizeof sweep_measures / sizeof *sweep_measures == TT_MEASURE_COUNT,
               "a row for each measure");

/* metric.c: the metrics of a plan: resolves their names and parameters in a scene, and asks each at every tick. */
#include "sweep/metric.h"

#include "base/nearest.h"
#include "sweep/metric_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tt_metrics {
  int count;
  sweep_metric *metrics;
};

/* ---- names ---- */

/* "plan.yaml: metrics[0]" and "signal" */
static const char *place(const sweep_metric *metric, const char *key, char text[512]) {
  snprintf(text, 512, "%s.%s", metric->where, key);
  return text;
}

/* The body called `name`; TT_NOT_FOUND without a word where there is none. */
static tt_status look_up_body(const tt_model *model, const char *name, int *body) {
  for (*body = 0; *body < model->body_count; (*body)++)
    if (strcmp(model->bodies[*body].name, name) == 0) return TT_OK;
  return TT_NOT_FOUND;
}

static tt_status look_up_robot(const tt_model *model, const char *name, int *robot) {
  for (*robot = 0; *robot < model->robot_count; (*robot)++)
    if (strcmp(model->robots[*robot].name, name) == 0) return TT_OK;
  return TT_NOT_FOUND;
}

static void offer_bodies(const tt_model *model, tt_nearest *nearest) {
  for (int i = 0; i < model->body_count; i++) tt_nearest_offer(nearest, model->bodies[i].name);
}

static void offer_robots(const tt_model *model, tt_nearest *nearest) {
  for (int i = 0; i < model->robot_count; i++) tt_nearest_offer(nearest, model->robots[i].name);
}

static tt_status find_body(const sweep_metric *metric, const tt_model *model, const char *name,
                           const char *key, int *body, tt_error *error) {
  if (look_up_body(model, name, body) == TT_OK) return TT_OK;
  tt_nearest nearest = tt_nearest_start(name);
  offer_bodies(model, &nearest);
  return tt_fail(error, TT_INVALID, "%s.%s: no body is called '%s'%s", metric->where, key, name,
                 tt_nearest_hint(&nearest));
}

static tt_status find_robot(const sweep_metric *metric, const tt_model *model, int *robot,
                            tt_error *error) {
  const char *name = metric->keys->robot;
  if (look_up_robot(model, name, robot) == TT_OK) return TT_OK;
  tt_nearest nearest = tt_nearest_start(name);
  offer_robots(model, &nearest);
  return tt_fail(error, TT_INVALID, "%s.robot: no robot is called '%s'%s", metric->where, name,
                 tt_nearest_hint(&nearest));
}

static tt_status find_distance(sweep_metric *metric, const tt_names *names, tt_error *error) {
  const tt_metric_distance_keys *keys = metric->keys->distance;
  const tt_model *model = tt_names_model(names);
  sweep_quantity *quantity = &metric->quantity;
  char where[512];
  *quantity = (sweep_quantity){
      .is_distance = true, .from_body = -1, .to_body = -1, .components = 3, .dimension = TT_LENGTH};
  if (keys->of)
    TT_TRY(find_body(metric, model, keys->of, "distance.of", &quantity->from_body, error));
  if (keys->to)
    TT_TRY(find_body(metric, model, keys->to, "distance.to", &quantity->to_body, error));
  if (keys->point) quantity->components = (int)keys->point_count;
  if (keys->signals) quantity->components = (int)keys->signals_count;
  for (unsigned i = 0; i < keys->point_count; i++)
    tt_quantity_parse(keys->point[i], TT_LENGTH, &quantity->point[i]); /* checked already */
  for (unsigned i = 0; i < keys->signals_count; i++) {
    place(metric, "distance.signals", where);
    TT_TRY(tt_names_find_signal(names, keys->signals[i], TT_NO_ROBOT, where, &quantity->signals[i],
                                error));
    if (quantity->signals[i].dimension != TT_LENGTH)
      return tt_fail(error, TT_INVALID, "%s: '%s' is in %s, and no length", where, keys->signals[i],
                     tt_unit_si(quantity->signals[i].dimension)->name);
  }
  return TT_OK;
}

static tt_status find_quantity(sweep_metric *metric, const tt_names *names, tt_error *error) {
  char where[512];
  if (metric->keys->distance) return find_distance(metric, names, error);
  TT_TRY(tt_names_find_signal(names, metric->keys->signal, TT_NO_ROBOT,
                              place(metric, "signal", where), &metric->quantity.signal, error));
  metric->quantity.dimension = metric->quantity.signal.dimension;
  return TT_OK;
}

/* ---- parameters ---- */

static tt_status read_parameter(const sweep_metric *metric, const char *text, const char *key,
                                double lower, double *value, tt_error *error) {
  return tt_quantity_check(text, key, metric->where, metric->quantity.dimension, lower,
                           TT_METRIC_LIMIT, NAN, value, error);
}

static tt_status read_parameters(sweep_metric *metric, tt_error *error) {
  const tt_metric_keys *keys = metric->keys;
  const double least = -TT_METRIC_LIMIT;
  TT_TRY(read_parameter(metric, keys->threshold, "threshold", least, &metric->threshold, error));
  TT_TRY(read_parameter(metric, keys->target, "target", least, &metric->target, error));
  TT_TRY(read_parameter(metric, keys->start, "start", least, &metric->start, error));
  TT_TRY(read_parameter(metric, keys->band, "band", 0, &metric->band, error));
  if (metric->start == metric->target)
    return tt_fail(error, TT_INVALID, "%s.start: it must differ from target", metric->where);
  return TT_OK;
}

/* "rad" integrated over time. */
static void integral_unit(const char *unit, char *text, size_t size) {
  static const char *const known[][2] = {{"1", "s"},   {"rad/s", "rad"}, {"rad/s²", "rad/s"},
                                         {"m/s", "m"}, {"m/s²", "m/s"},  {"W", "J"},
                                         {"A", "C"}};
  snprintf(text, size, "%s·s", unit);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(unit, known[i][0]) == 0) snprintf(text, size, "%s", known[i][1]);
}

static void find_unit(sweep_metric *metric) {
  const char *own = tt_unit_si(metric->quantity.dimension)->name;
  switch (metric->keys->kind) {
    case TT_MEASURE_FINAL:
    case TT_MEASURE_LEAST:
    case TT_MEASURE_GREATEST:
    case TT_MEASURE_MEAN:
    case TT_MEASURE_RMS: break;
    case TT_MEASURE_INTEGRAL: integral_unit(own, metric->unit, sizeof metric->unit); return;
    case TT_MEASURE_OVERSHOOT:
    case TT_MEASURE_CONTACTS: own = "1"; break;
    case TT_MEASURE_ENERGY: own = "J"; break;
    case TT_MEASURE_LUA: own = tt_unit_si(metric->keys->given->dimension)->name; break;
    default: own = "s";
  }
  snprintf(metric->unit, sizeof metric->unit, "%s", own);
}

/* ---- energy and contacts ---- */

static void add_axes(sweep_metric *metric, const tt_joint *joint) {
  for (int k = 0; k < joint->axis_count; k++) metric->axes[metric->axis_count++] = joint->axis + k;
}

static bool has_joint(const tt_metric_keys *keys, const tt_joint *joint) {
  for (unsigned i = 0; i < keys->joints_count; i++)
    if (strcmp(keys->joints[i], joint->name) == 0) return true;
  return false;
}

static tt_status check_joints(const sweep_metric *metric, const tt_model *model, tt_error *error) {
  for (unsigned i = 0; i < metric->keys->joints_count; i++) {
    const char *name = metric->keys->joints[i];
    tt_nearest nearest = tt_nearest_start(name);
    bool found = false;
    for (int j = 0; j < model->joint_count; j++) {
      if (!model->joints[j].axis_count) continue;
      tt_nearest_offer(&nearest, model->joints[j].name);
      found = found || strcmp(model->joints[j].name, name) == 0;
    }
    if (!found)
      return tt_fail(error, TT_INVALID,
                     "%s.joints[%u]: no joint that a torque could move is called "
                     "'%s'%s",
                     metric->where, i, name, tt_nearest_hint(&nearest));
  }
  return TT_OK;
}

static tt_status find_axes(sweep_metric *metric, const tt_model *model, tt_error *error) {
  int robot = TT_NO_ROBOT;
  if (metric->keys->robot) TT_TRY(find_robot(metric, model, &robot, error));
  TT_TRY(check_joints(metric, model, error));
  metric->axes = calloc((size_t)model->axis_count + 1, sizeof *metric->axes);
  metric->velocities = calloc((size_t)model->axis_count + 1, sizeof *metric->velocities);
  if (!metric->axes || !metric->velocities) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int j = 0; j < model->joint_count; j++) {
    const tt_joint *joint = &model->joints[j];
    if (metric->keys->joints ? has_joint(metric->keys, joint)
                             : robot == TT_NO_ROBOT || joint->robot == robot)
      add_axes(metric, joint);
  }
  return TT_OK;
}

/* A body, else a robot; "body:NAME" and "robot:NAME" say which. */
static tt_status find_side(const sweep_metric *metric, const tt_model *model, unsigned index,
                           sweep_side *side, tt_error *error) {
  *side = (sweep_side){-1, -1};
  if (index >= metric->keys->between_count) return TT_OK;
  const char *name = metric->keys->between[index];
  bool is_body = strncmp(name, "body:", 5) == 0, is_robot = strncmp(name, "robot:", 6) == 0;
  const char *plain = name + (is_body ? 5 : is_robot ? 6 : 0);
  if (!is_robot && look_up_body(model, plain, &side->body) == TT_OK) return TT_OK;
  side->body = -1;
  if (!is_body && look_up_robot(model, plain, &side->robot) == TT_OK) return TT_OK;
  tt_nearest nearest = tt_nearest_start(plain);
  if (!is_robot) offer_bodies(model, &nearest);
  if (!is_body) offer_robots(model, &nearest);
  return tt_fail(error, TT_INVALID, "%s.between[%u]: no %s is called '%s'%s", metric->where, index,
                 is_body    ? "body"
                 : is_robot ? "robot"
                            : "body and no robot",
                 plain, tt_nearest_hint(&nearest));
}

static tt_status find_sides(sweep_metric *metric, const tt_model *model, tt_error *error) {
  for (unsigned i = 0; i < 2; i++) {
    TT_TRY(find_side(metric, model, i, &metric->sides[i], error));
    metric->pairs[i] = calloc((size_t)model->contact_capacity + 1, sizeof *metric->pairs[i]);
    if (!metric->pairs[i]) return tt_fail(error, TT_NOMEM, "out of memory");
  }
  return TT_OK;
}

/* ---- all of it ---- */

static tt_status resolve(sweep_metric *metric, const tt_names *names, tt_error *error) {
  const tt_metric_keys *keys = metric->keys;
  const tt_condition_scope scope = {.names = names};
  char where[512];
  metric->measure = &sweep_measures[keys->kind];
  if (metric->measure->has_quantity) {
    TT_TRY(find_quantity(metric, names, error));
    TT_TRY(read_parameters(metric, error));
  }
  if (keys->when)
    TT_TRY(
        tt_condition_new(keys->when, place(metric, "when", where), &scope, &metric->when, error));
  if (keys->kind == TT_MEASURE_ENERGY) TT_TRY(find_axes(metric, tt_names_model(names), error));
  if (keys->kind == TT_MEASURE_CONTACTS) TT_TRY(find_sides(metric, tt_names_model(names), error));
  if (keys->kind == TT_MEASURE_LUA)
    TT_TRY(sweep_lua_new(keys, metric->where, names, metric->tick, &metric->lua, error));
  find_unit(metric);
  return TT_OK;
}

tt_status tt_metrics_new(const tt_metric_keys *const *keys, const char *const *where, int count,
                         const tt_names *names, double tick, tt_metrics **metrics,
                         tt_error *error) {
  tt_metrics *made = calloc(1, sizeof *made);
  if (made) made->metrics = calloc((size_t)count + 1, sizeof *made->metrics);
  if (!made || !made->metrics) {
    tt_metrics_free(made);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  for (; made->count < count; made->count++) {
    sweep_metric *metric = &made->metrics[made->count];
    *metric = (sweep_metric){.keys = keys[made->count], .where = where[made->count], .tick = tick};
    tt_status status = resolve(metric, names, error);
    if (status == TT_OK) continue;
    made->count++; /* what it has is freed, too */
    tt_metrics_free(made);
    return status;
  }
  *metrics = made;
  return TT_OK;
}

void tt_metrics_free(tt_metrics *metrics) {
  if (!metrics) return;
  for (int i = 0; i < metrics->count; i++) {
    sweep_metric *metric = &metrics->metrics[i];
    tt_condition_free(metric->when);
    free(metric->axes);
    free(metric->velocities);
    free(metric->pairs[0]);
    free(metric->pairs[1]);
    sweep_lua_free(metric->lua);
  }
  free(metrics->metrics);
  free(metrics);
}

const char *tt_metrics_unit(const tt_metrics *metrics, int index) {
  return metrics->metrics[index].unit;
}

void tt_metrics_begin(tt_metrics *metrics) {
  for (int i = 0; i < metrics->count; i++) {
    sweep_metric *metric = &metrics->metrics[i];
    memset(&metric->run, 0, sizeof metric->run);
    if (metric->lua) sweep_lua_begin(metric->lua);
  }
}

tt_status tt_metrics_sample(tt_metrics *metrics, const tt_view *view, tt_error *error) {
  for (int i = 0; i < metrics->count; i++) {
    sweep_metric *metric = &metrics->metrics[i];
    if (metric->measure->has_quantity)
      metric->run.now = sweep_quantity_read(&metric->quantity, view);
    metric->measure->sample(metric, view);
    if (metric->lua) TT_TRY(sweep_lua_sample(metric->lua, view, error));
    metric->run.before = metric->run.now;
    metric->run.count++;
  }
  return TT_OK;
}

tt_status tt_metrics_end(tt_metrics *metrics, tt_sweep_value *values, tt_error *error) {
  tt_status status = TT_OK;
  for (int i = 0; i < metrics->count; i++) {
    sweep_metric *metric = &metrics->metrics[i];
    double value = metric->run.count > 0 ? metric->measure->end(metric) : NAN;
    if (metric->lua && metric->run.count > 0 && status == TT_OK)
      status = sweep_lua_end(metric->lua, &value, error);
    else if (metric->lua && metric->run.count > 0)
      sweep_lua_end(metric->lua, &value, NULL);
    values[i] = isfinite(value) ? (tt_sweep_value){.kind = TT_SWEEP_NUMBER, .number = value}
                                : (tt_sweep_value){.kind = TT_SWEEP_NULL};
  }
  return status;
}

/* plan_keys.h: the keys of a plan as libcyaml fills them; the plan*.c check them and make a tt_sweep_plan of them. */
#ifndef TT_SWEEP_PLAN_KEYS_H
#define TT_SWEEP_PLAN_KEYS_H

#include "model/schema.h"
#include "scene/pool.h"
#include "sweep/metric.h"

/** `controller`: one of the first three. */
typedef struct tt_plan_controller_keys {
  char *lua, *command, *policy;
  char **files;
  unsigned files_count;
  double *memory, *output;
  bool fixed_ports;
} tt_plan_controller_keys;

/** One of `axes`. */
typedef struct tt_plan_axis_keys {
  char *name, *set, *group, *scale;
  char **value, **range;
  unsigned value_count, range_count;
  uint64_t *count;
} tt_plan_axis_keys;

/** `keep`. */
typedef struct tt_plan_keep_keys {
  bool all, failures;
  uint64_t best, worst;
  char *metric, *order, *folder;
} tt_plan_keep_keys;

/** A plan. `set` has no schema: its keys are paths of a scene. */
typedef struct tt_plan_keys {
  char *description, *scene, *duration, *timeout, *sampling, *success, *stop_when, *output;
  tt_plan_controller_keys *controller;
  tt_plan_axis_keys *axes;
  char *metrics; /**< [metrics_count], tt_metric_schema.data_size bytes each */
  tt_plan_keep_keys *keep;
  uint64_t *seed, *repeat, *samples, *retries;
  unsigned axes_count, metrics_count;
} tt_plan_keys;

/** The schema of a plan, in the pool; NULL when out of memory. */
const cyaml_schema_value_t *tt_plan_schema(tt_pool *pool);

#endif

/* metric_testing.h: metrics as a plan has them, for tests: their keys from YAML. */
#ifndef TT_SWEEP_METRIC_TESTING_H
#define TT_SWEEP_METRIC_TESTING_H

#include "sweep/metric.h"

#define TESTING_METRICS 300

/** Two robots, red1 with a hinge red1/arm and a slide red1/claw, blue1 with a ball joint blue1/arm, and a "big ball": nothing moves
 *  but what a test puts into a view. Static. */
const tt_model *testing_model(void);

/** A plan that has metrics only. */
typedef struct testing_plan {
  void *data;
  const cyaml_schema_value_t *schema;
  const tt_metric_keys *keys[TESTING_METRICS];
  const char *where[TESTING_METRICS]; /**< "plan.yaml: metrics[0]" */
  int count;
  tt_metrics *metrics;
} testing_plan;

/** Reads the elements of `metrics` from a flow or block list, and checks them; Lua files lie in `folder`. What begins with tt_fail()'s
 *  statuses, as a plan would give them. */
tt_status testing_plan_read(const char *yaml, const char *folder, testing_plan *plan,
                            tt_error *error);
/** The same, and makes its metrics. */
tt_status testing_plan_open(const char *yaml, const char *folder, const tt_names *names,
                            double tick, testing_plan *plan, tt_error *error);
/** Frees all that is in it; also after a failure. */
void testing_plan_clear(testing_plan *plan);

#endif

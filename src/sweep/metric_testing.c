#include "sweep/metric_testing.h"

#include "scene/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tt_body bodies[] = {
    {.name = "world", .robot = TT_NO_ROBOT},    {.name = "red1/arm", .robot = 0},
    {.name = "red1/claw", .robot = 0},          {.name = "blue1/arm", .robot = 1},
    {.name = "big ball", .robot = TT_NO_ROBOT},
};
static const tt_joint joints[] = {
    {.name = "red1/arm", .kind = TT_HINGE, .body = 1, .robot = 0, .axis = 0, .axis_count = 1},
    {.name = "red1/claw", .kind = TT_SLIDE, .body = 2, .robot = 0, .axis = 1, .axis_count = 1},
    {.name = "blue1/arm", .kind = TT_BALL, .body = 3, .robot = 1, .axis = 2, .axis_count = 3},
    {.name = "free", .kind = TT_FREE, .body = 4, .robot = TT_NO_ROBOT, .axis = -1},
};
static const int axis_joint[] = {0, 1, 2, 2, 2};
static const tt_robot robots[] = {{.name = "red1", .root_body = 1},
                                  {.name = "blue1", .root_body = 3}};
static const tt_model model = {
    .bodies = bodies,
    .joints = joints,
    .axis_joint = axis_joint,
    .robots = robots,
    .body_count = 5,
    .joint_count = 4,
    .axis_count = 5,
    .robot_count = 2,
    .contact_capacity = 4,
    .timestep_num = 1,
    .timestep_den = 1000,
};

const tt_model *testing_model(void) { return &model; }

typedef struct testing_keys {
  char *metrics; /* [metrics_count], tt_metric_schema.data_size bytes each */
  unsigned metrics_count;
} testing_keys;

static const cyaml_schema_value_t *plan_schema(void) {
  static cyaml_schema_field_t fields[2];
  static cyaml_schema_value_t schema;
  fields[0] = (cyaml_schema_field_t){
      .key = "metrics",
      .data_offset = offsetof(testing_keys, metrics),
      .count_offset = offsetof(testing_keys, metrics_count),
      .count_size = sizeof(unsigned),
      .value = {.type = CYAML_SEQUENCE,
                .flags = CYAML_FLAG_POINTER,
                .data_size = tt_metric_schema.data_size,
                .sequence = {.entry = &tt_metric_schema, .min = 0, .max = TESTING_METRICS}}};
  schema = (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                  .flags = CYAML_FLAG_POINTER,
                                  .data_size = sizeof(testing_keys),
                                  .mapping = {.fields = fields}};
  return &schema;
}

static tt_status check(testing_plan *plan, const char *folder, tt_error *error) {
  static char places[TESTING_METRICS][32];
  const testing_keys *keys = plan->data;
  for (unsigned i = 0; i < keys->metrics_count; i++) {
    tt_metric_keys *metric =
        (tt_metric_keys *)(keys->metrics + (size_t)i * tt_metric_schema.data_size);
    snprintf(places[i], sizeof places[i], "plan.yaml: metrics[%u]", i);
    TT_TRY(tt_metric_check(metric, places[i], folder, error));
    plan->keys[plan->count] = metric;
    plan->where[plan->count++] = places[i];
  }
  return TT_OK;
}

tt_status testing_plan_read(const char *yaml, const char *folder, testing_plan *plan,
                            tt_error *error) {
  size_t size = strlen(yaml) + 16;
  char *text = malloc(size);
  tt_document *document;
  *plan = (testing_plan){.schema = plan_schema()};
  if (!text) return tt_fail(error, TT_NOMEM, "out of memory");
  snprintf(text, size, "metrics: %s\n", yaml);
  tt_status status = tt_document_parse("plan.yaml", text, strlen(text), &document, error);
  free(text);
  TT_TRY(status);
  status = tt_document_read(document, plan->schema, &plan->data, error);
  if (status == TT_OK) {
    status = check(plan, folder, error);
    if (status != TT_OK) tt_document_explain(document, error);
  }
  tt_document_free(document);
  return status;
}

tt_status testing_plan_open(const char *yaml, const char *folder, const tt_names *names,
                            double tick, testing_plan *plan, tt_error *error) {
  TT_TRY(testing_plan_read(yaml, folder, plan, error));
  return tt_metrics_new(plan->keys, plan->where, plan->count, names, tick, &plan->metrics, error);
}

void testing_plan_clear(testing_plan *plan) {
  tt_metrics_free(plan->metrics);
  if (plan->data) tt_document_release(plan->schema, plan->data);
  *plan = (testing_plan){0};
}

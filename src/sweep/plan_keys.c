#include "sweep/plan_keys.h"

#include "sweep/plan.h"

#include <string.h>

#define OPTIONAL_POINTER (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, type, member, max)                                                               \
  CYAML_FIELD_STRING_PTR(key, OPTIONAL_POINTER, type, member, 0, max)
#define LIST(key, type, member, max)                                                               \
  CYAML_FIELD_SEQUENCE_COUNT(key, OPTIONAL_POINTER, type, member, member##_count,                  \
                             &tt_string_schema, 0, max)
#define COUNT(key, type, member) CYAML_FIELD_UINT_PTR(key, OPTIONAL_POINTER, type, member)

#define MAX_VALUES 10000 /* of a list */

static const cyaml_schema_field_t controller_fields[] = {
    TEXT("lua", tt_plan_controller_keys, lua, 1024),
    TEXT("command", tt_plan_controller_keys, command, 4096),
    TEXT("policy", tt_plan_controller_keys, policy, 1024),
    LIST("files", tt_plan_controller_keys, files, 1000),
    CYAML_FIELD_FLOAT_PTR("memory", OPTIONAL_POINTER, tt_plan_controller_keys, memory),
    CYAML_FIELD_FLOAT_PTR("output", OPTIONAL_POINTER, tt_plan_controller_keys, output),
    CYAML_FIELD_BOOL("fixed_ports", CYAML_FLAG_OPTIONAL, tt_plan_controller_keys, fixed_ports),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t axis_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_plan_axis_keys, name, 0, 64),
    TEXT("set", tt_plan_axis_keys, set, 256),
    LIST("value", tt_plan_axis_keys, value, MAX_VALUES),
    LIST("range", tt_plan_axis_keys, range, 64),
    COUNT("count", tt_plan_axis_keys, count),
    TEXT("scale", tt_plan_axis_keys, scale, 64),
    TEXT("group", tt_plan_axis_keys, group, 64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t axis_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_plan_axis_keys, axis_fields)};

static const cyaml_schema_field_t keep_fields[] = {
    CYAML_FIELD_BOOL("all", CYAML_FLAG_OPTIONAL, tt_plan_keep_keys, all),
    CYAML_FIELD_BOOL("failures", CYAML_FLAG_OPTIONAL, tt_plan_keep_keys, failures),
    CYAML_FIELD_UINT("best", CYAML_FLAG_OPTIONAL, tt_plan_keep_keys, best),
    CYAML_FIELD_UINT("worst", CYAML_FLAG_OPTIONAL, tt_plan_keep_keys, worst),
    TEXT("metric", tt_plan_keep_keys, metric, 64),
    TEXT("order", tt_plan_keep_keys, order, 64),
    TEXT("folder", tt_plan_keep_keys, folder, 1024),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t plan_fields[] = {
    TEXT("description", tt_plan_keys, description, 256),
    CYAML_FIELD_STRING_PTR("scene", CYAML_FLAG_POINTER, tt_plan_keys, scene, 0, 1024),
    {.key = "set", .value = {.type = CYAML_IGNORE, .flags = CYAML_FLAG_OPTIONAL}},
    CYAML_FIELD_STRING_PTR("duration", CYAML_FLAG_POINTER, tt_plan_keys, duration, 0, 64),
    CYAML_FIELD_MAPPING_PTR("controller", OPTIONAL_POINTER, tt_plan_keys, controller,
                            controller_fields),
    CYAML_FIELD_SEQUENCE_COUNT("axes", OPTIONAL_POINTER, tt_plan_keys, axes, axes_count,
                               &axis_schema, 0, TT_SWEEP_MAX_AXES),
    TEXT("sampling", tt_plan_keys, sampling, 64),
    COUNT("samples", tt_plan_keys, samples),
    COUNT("seed", tt_plan_keys, seed),
    COUNT("repeat", tt_plan_keys, repeat),
    TEXT("success", tt_plan_keys, success, 1024),
    TEXT("stop_when", tt_plan_keys, stop_when, 1024),
    TEXT("timeout", tt_plan_keys, timeout, 64),
    COUNT("retries", tt_plan_keys, retries),
    CYAML_FIELD_MAPPING_PTR("keep", OPTIONAL_POINTER, tt_plan_keys, keep, keep_fields),
    TEXT("output", tt_plan_keys, output, 1024),
};

/* How large a metric's keys are is metric.h's secret: the list of them can't be a constant here. */
static cyaml_schema_field_t metrics_field(void) {
  return (cyaml_schema_field_t){
      .key = "metrics",
      .data_offset = offsetof(tt_plan_keys, metrics),
      .count_offset = offsetof(tt_plan_keys, metrics_count),
      .count_size = sizeof(unsigned),
      .value = {.type = CYAML_SEQUENCE,
                .flags = (enum cyaml_flag)OPTIONAL_POINTER,
                .data_size = tt_metric_schema.data_size,
                .sequence = {.entry = &tt_metric_schema, .min = 0, .max = TT_SWEEP_MAX_METRICS}}};
}

const cyaml_schema_value_t *tt_plan_schema(tt_pool *pool) {
  const size_t count = CYAML_ARRAY_LEN(plan_fields);
  cyaml_schema_field_t *fields = tt_pool_new(pool, count + 2, sizeof *fields);
  cyaml_schema_value_t *schema = tt_pool_new(pool, 1, sizeof *schema);
  if (!fields || !schema) return NULL;
  memcpy(fields, plan_fields, sizeof plan_fields);
  fields[count] = metrics_field();
  *schema = (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                   .flags = CYAML_FLAG_POINTER,
                                   .data_size = sizeof(tt_plan_keys),
                                   .mapping = {.fields = fields}};
  return schema;
}

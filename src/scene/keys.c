/* keys.c: the schemas, assembled from the simulation's own fields and those of parts and guests. */
#include "scene/keys.h"

#include "game/driver_station.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(key, type, member, max)                                                               \
  CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, max)
#define WORD(key, type, member, words)                                                             \
  CYAML_FIELD_ENUM(key, CYAML_FLAG_OPTIONAL | CYAML_FLAG_STRICT, type, member, words,              \
                   CYAML_ARRAY_LEN(words))

/* The first word of each is the default. */
static const cyaml_strval_t pace_words[] = {{"realtime", 0}, {"lockstep", 1}, {"fast", 2}};
static const cyaml_strval_t late_tick_words[] = {{"catch_up", 0}, {"slip", 1}};
static const cyaml_strval_t divergence_words[] = {{"stop", 0}, {"reset", 1}};

static const cyaml_schema_field_t robot_entry_fields[] = {
    CYAML_FIELD_STRING_PTR("robot", CYAML_FLAG_POINTER, tt_robot_entry_keys, robot, 1, 1024),
    TEXT("name", tt_robot_entry_keys, name, 64),
    TEXT("alliance", tt_robot_entry_keys, alliance, 8),
    TEXT("x", tt_robot_entry_keys, x, 64),
    TEXT("y", tt_robot_entry_keys, y, 64),
    TEXT("z", tt_robot_entry_keys, z, 64),
    TEXT("heading", tt_robot_entry_keys, heading, 64),
    CYAML_FIELD_BOOL_PTR("floating", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_robot_entry_keys,
                         floating),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t robot_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_robot_entry_keys, robot_entry_fields),
};

static const cyaml_schema_field_t scene_fields[] = {
    TEXT("description", tt_scene_keys, description, 256),
    TEXT("arena", tt_scene_keys, arena, 1024),
    TEXT("timestep", tt_scene_keys, timestep, 64),
    TEXT("io_period", tt_scene_keys, io_period, 64),
    WORD("pace", tt_scene_keys, pace, pace_words),
    CYAML_FIELD_FLOAT_PTR("speed", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_scene_keys, speed),
    WORD("late_ticks", tt_scene_keys, late_ticks, late_tick_words),
    WORD("on_divergence", tt_scene_keys, on_divergence, divergence_words),
    CYAML_FIELD_BOOL_PTR("physics", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_scene_keys,
                         physics),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, tt_scene_keys, seed),
    TEXT("duration", tt_scene_keys, duration, 64),
    CYAML_FIELD_SEQUENCE_COUNT("search_path", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_scene_keys, search_path, search_path_count, &tt_string_schema, 0,
                               64),
    CYAML_FIELD_SEQUENCE_COUNT("robots", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_scene_keys,
                               robots, robots_count, &robot_entry, 0, TT_MAX_ROBOTS),
};

static const cyaml_schema_field_t joint_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_joint_keys, name, 1, 256),
    TEXT("max_torque", tt_joint_keys, max_torque, 64),
    TEXT("max_velocity", tt_joint_keys, max_velocity, 64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t joint_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_joint_keys, joint_fields)};

static const cyaml_schema_field_t body_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_body_keys, name, 1, 256),
    CYAML_FIELD_FLOAT("friction", CYAML_FLAG_DEFAULT, tt_body_keys, friction),
    TEXT("torsional_friction", tt_body_keys, torsional_friction, 64),
    TEXT("rolling_friction", tt_body_keys, rolling_friction, 64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t body_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_body_keys, body_fields)};

static const cyaml_schema_field_t measure_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_measure_keys, name, 1, 63),
    CYAML_FIELD_STRING_PTR("value", CYAML_FLAG_POINTER, tt_measure_keys, value, 1, 64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t measure_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_measure_keys, measure_fields)};

static const cyaml_schema_field_t robot_fields[] = {
    TEXT("description", tt_robot_keys, description, 256),
    CYAML_FIELD_STRING_PTR("model", CYAML_FLAG_POINTER, tt_robot_keys, model, 1, 1024),
    CYAML_FIELD_BOOL_PTR("floating", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_robot_keys,
                         floating),
    CYAML_FIELD_SEQUENCE_COUNT("joints", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_robot_keys,
                               joints, joints_count, &joint_entry, 0, 256),
    CYAML_FIELD_SEQUENCE_COUNT("bodies", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_robot_keys,
                               bodies, bodies_count, &body_entry, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("measures", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_robot_keys,
                               measures, measures_count, &measure_entry, 0, 64),
};

static const cyaml_schema_field_t piece_fields[] = {
    CYAML_FIELD_STRING_PTR("body", CYAML_FLAG_POINTER, tt_piece_keys, body, 1, 256),
    CYAML_FIELD_INT("kind", CYAML_FLAG_DEFAULT, tt_piece_keys, kind),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t piece_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_piece_keys, piece_fields)};

static const cyaml_schema_field_t line_fields[] = {
    CYAML_FIELD_STRING_PTR("x1", CYAML_FLAG_POINTER, tt_line_keys, x1, 1, 64),
    CYAML_FIELD_STRING_PTR("y1", CYAML_FLAG_POINTER, tt_line_keys, y1, 1, 64),
    CYAML_FIELD_STRING_PTR("x2", CYAML_FLAG_POINTER, tt_line_keys, x2, 1, 64),
    CYAML_FIELD_STRING_PTR("y2", CYAML_FLAG_POINTER, tt_line_keys, y2, 1, 64),
    TEXT("width", tt_line_keys, width, 64),
    TEXT("color", tt_line_keys, color, 16),
    CYAML_FIELD_FLOAT("darkness", CYAML_FLAG_DEFAULT, tt_line_keys, darkness),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t line_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_line_keys, line_fields)};

static const cyaml_schema_field_t field_fields[] = {
    CYAML_FIELD_STRING_PTR("x", CYAML_FLAG_POINTER, tt_field_keys, x, 1, 64),
    CYAML_FIELD_STRING_PTR("y", CYAML_FLAG_POINTER, tt_field_keys, y, 1, 64),
    TEXT("heading", tt_field_keys, heading, 64),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t station_fields[] = {
    CYAML_FIELD_STRING_PTR("place", CYAML_FLAG_POINTER, tt_station_keys, place, 1, 16),
    CYAML_FIELD_STRING_PTR("x", CYAML_FLAG_POINTER, tt_station_keys, x, 1, 64),
    CYAML_FIELD_STRING_PTR("y", CYAML_FLAG_POINTER, tt_station_keys, y, 1, 64),
    CYAML_FIELD_STRING_PTR("heading", CYAML_FLAG_POINTER, tt_station_keys, heading, 1, 64),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t station_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_station_keys, station_fields)};

static const cyaml_schema_field_t arena_fields[] = {
    TEXT("description", tt_arena_keys, description, 256),
    CYAML_FIELD_STRING_PTR("model", CYAML_FLAG_POINTER, tt_arena_keys, model, 1, 1024),
    CYAML_FIELD_MAPPING_PTR("field", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_arena_keys, field,
                            field_fields),
    CYAML_FIELD_SEQUENCE_COUNT("pieces", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_arena_keys,
                               pieces, pieces_count, &piece_entry, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("lines", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_arena_keys,
                               lines, lines_count, &line_entry, 0, 1000),
    CYAML_FIELD_SEQUENCE_COUNT("stations", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_arena_keys,
                               stations, stations_count, &station_entry, 0, TT_STATION_COUNT),
    CYAML_FIELD_SEQUENCE_COUNT("bodies", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_arena_keys,
                               bodies, bodies_count, &body_entry, 0, 1000),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t arena_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tt_arena_keys, arena_fields),
};

/** Room for `fixed` fields, one for each of `more`, and the end. */
static cyaml_schema_field_t *new_fields(tt_pool *pool, const cyaml_schema_field_t *fixed,
                                        size_t fixed_count, size_t more) {
  cyaml_schema_field_t *fields = tt_pool_new(pool, fixed_count + more + 1, sizeof *fields);
  if (fields && fixed_count) memcpy(fields, fixed, fixed_count * sizeof *fields);
  return fields;
}

/** A key with a mapping of its own, loaded behind a pointer at `offset`. */
static cyaml_schema_field_t mapping_field(const tt_schema *schema, size_t offset) {
  return (cyaml_schema_field_t){
      .key = schema->key,
      .data_offset = (uint32_t)offset,
      .value = {.type = CYAML_MAPPING,
                .flags = (enum cyaml_flag)(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL),
                .data_size = (uint32_t)schema->size,
                .mapping = {.fields = schema->fields}},
  };
}

static cyaml_schema_value_t mapping_value(const cyaml_schema_field_t *fields, size_t size,
                                          unsigned flags) {
  return (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                .flags = (enum cyaml_flag)flags,
                                .data_size = (uint32_t)size,
                                .mapping = {.fields = fields}};
}

static cyaml_schema_value_t *new_mapping(tt_pool *pool, const cyaml_schema_field_t *fields,
                                         size_t size, unsigned flags) {
  cyaml_schema_value_t *value = tt_pool_new(pool, 1, sizeof *value);
  if (value) *value = mapping_value(fields, size, flags);
  return value;
}

/** A wire: a mapping with one key of all protocols. */
static const cyaml_schema_value_t *wire_schema(const tt_scene_guests *guests, tt_pool *pool) {
  int count = tt_schema_count(guests->wires);
  cyaml_schema_field_t *fields = new_fields(pool, NULL, 0, (size_t)count);
  if (!fields) return NULL;
  for (int i = 0; i < count; i++)
    fields[i] = mapping_field(guests->wires[i], (size_t)i * sizeof(void *));
  return new_mapping(pool, fields, (size_t)(count ? count : 1) * sizeof(void *),
                     CYAML_FLAG_DEFAULT);
}

/** What stands in a scene when nobody here knows more of it. */
const char *const tt_guest_keys[] = {"foxglove",  "game", "nt4",   "record",
                                     "telemetry", "web",  "wires", NULL};

/** Its keys are the models' (load_values.c). */
static const cyaml_schema_field_t models_field = {
    .key = "models", .value = {.type = CYAML_IGNORE, .flags = CYAML_FLAG_OPTIONAL}};

static const cyaml_schema_value_t *scene_without_guests(tt_pool *pool) {
  size_t fixed = CYAML_ARRAY_LEN(scene_fields), count = CYAML_ARRAY_LEN(tt_guest_keys) - 1;
  cyaml_schema_field_t *fields = new_fields(pool, scene_fields, fixed, count + 1);
  if (!fields) return NULL;
  for (size_t i = 0; i < count; i++)
    fields[fixed + i] = (cyaml_schema_field_t){
        .key = tt_guest_keys[i], .value = {.type = CYAML_IGNORE, .flags = CYAML_FLAG_OPTIONAL}};
  fields[fixed + count] = models_field;
  return new_mapping(pool, fields, sizeof(tt_scene_keys), CYAML_FLAG_POINTER);
}

static const cyaml_schema_value_t *scene_schema(const tt_scene_guests *guests, tt_pool *pool) {
  if (!guests) return scene_without_guests(pool);
  size_t fixed = CYAML_ARRAY_LEN(scene_fields), count = (size_t)tt_schema_count(guests->sections);
  cyaml_schema_field_t *fields = new_fields(pool, scene_fields, fixed, count + 2);
  const cyaml_schema_value_t *wire = wire_schema(guests, pool);
  if (!fields || !wire) return NULL;
  for (size_t i = 0; i < count; i++)
    fields[fixed + i] =
        mapping_field(guests->sections[i], offsetof(tt_scene_keys, sections) + i * sizeof(void *));
  fields[fixed + count] = (cyaml_schema_field_t){
      .key = "wires",
      .data_offset = offsetof(tt_scene_keys, wires),
      .count_offset = offsetof(tt_scene_keys, wires_count),
      .count_size = sizeof(unsigned),
      .value = {.type = CYAML_SEQUENCE,
                .flags = (enum cyaml_flag)(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL),
                .data_size = wire->data_size,
                .sequence = {.entry = wire, .min = 0, .max = 64}},
  };
  fields[fixed + count + 1] = models_field;
  return new_mapping(pool, fields, sizeof(tt_scene_keys) + count * sizeof(void *),
                     CYAML_FLAG_POINTER);
}

static const cyaml_schema_value_t *robot_schema(tt_pool *pool) {
  size_t fixed = CYAML_ARRAY_LEN(robot_fields), count = (size_t)tt_schema_count(tt_part_schemas);
  cyaml_schema_field_t *fields = new_fields(pool, robot_fields, fixed, count);
  cyaml_schema_value_t *entries = tt_pool_new(pool, count, sizeof *entries);
  if (!fields || !entries) return NULL;
  for (size_t i = 0; i < count; i++) {
    const tt_schema *part = tt_part_schemas[i];
    size_t offset = offsetof(tt_robot_keys, parts) + i * sizeof(tt_part_list);
    entries[i] = mapping_value(part->fields, part->size, CYAML_FLAG_DEFAULT);
    fields[fixed + i] = (cyaml_schema_field_t){
        .key = part->key,
        .data_offset = (uint32_t)(offset + offsetof(tt_part_list, items)),
        .count_offset = (uint32_t)(offset + offsetof(tt_part_list, count)),
        .count_size = sizeof(unsigned),
        .value = {.type = CYAML_SEQUENCE,
                  .flags = (enum cyaml_flag)(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL),
                  .data_size = (uint32_t)part->size,
                  .sequence = {.entry = &entries[i], .min = 0, .max = 256}},
    };
  }
  return new_mapping(pool, fields, sizeof(tt_robot_keys) + count * sizeof(tt_part_list),
                     CYAML_FLAG_POINTER);
}

tt_status tt_schemas_new(const tt_scene_guests *guests, tt_pool *pool, tt_schemas *schemas) {
  *schemas = (tt_schemas){
      .scene = scene_schema(guests, pool), .robot = robot_schema(pool), .arena = &arena_schema};
  return schemas->scene && schemas->robot ? TT_OK : TT_NOMEM;
}

/* --- visiting --- */

typedef struct tt_visit {
  void (*visit)(void *context, const char *file, const char *path,
                const cyaml_schema_value_t *value);
  void *context;
  const char *file;
} tt_visit;

static void visit_value(const tt_visit *visit, const char *path,
                        const cyaml_schema_value_t *value) {
  if (*path) visit->visit(visit->context, visit->file, path, value);
  if (value->type == CYAML_SEQUENCE || value->type == CYAML_SEQUENCE_FIXED)
    value = value->sequence.entry;
  if (value->type != CYAML_MAPPING) return;
  for (const cyaml_schema_field_t *field = value->mapping.fields; field->key; field++) {
    char deeper[512];
    snprintf(deeper, sizeof deeper, "%s%s%s", path, *path ? "." : "", field->key);
    visit_value(visit, deeper, &field->value);
  }
}

void tt_keys_visit_schema(const char *file, const cyaml_schema_value_t *schema,
                          void (*visit)(void *context, const char *file, const char *path,
                                        const cyaml_schema_value_t *value),
                          void *context) {
  visit_value(&(tt_visit){visit, context, file}, "", schema);
}

void tt_keys_visit(const tt_schemas *schemas,
                   void (*visit)(void *context, const char *file, const char *path,
                                 const cyaml_schema_value_t *value),
                   void *context) {
  tt_keys_visit_schema("scene", schemas->scene, visit, context);
  tt_keys_visit_schema("robot", schemas->robot, visit, context);
  tt_keys_visit_schema("arena", schemas->arena, visit, context);
}

/* metric_keys.c: the keys of a metric, which measure takes which, and what can be checked without a scene. */
#include "sweep/metric_keys.h"

#include "base/file.h"
#include "base/nearest.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONAL_POINTER (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(key, max) CYAML_FIELD_STRING_PTR(#key, OPTIONAL_POINTER, tt_metric_keys, key, 1, max)
#define NUMBER(key) CYAML_FIELD_FLOAT_PTR(#key, OPTIONAL_POINTER, tt_metric_keys, key)
#define LIST(key, type, least, most)                                                               \
  CYAML_FIELD_SEQUENCE_COUNT(#key, OPTIONAL_POINTER, type, key, key##_count, &tt_string_schema,    \
                             least, most)

static const cyaml_schema_field_t distance_fields[] = {
    CYAML_FIELD_STRING_PTR("of", OPTIONAL_POINTER, tt_metric_distance_keys, of, 1, 256),
    LIST(signals, tt_metric_distance_keys, 2, 3),
    CYAML_FIELD_STRING_PTR("to", OPTIONAL_POINTER, tt_metric_distance_keys, to, 1, 256),
    LIST(point, tt_metric_distance_keys, 2, 3),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t metric_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_metric_keys, name, 0, 64),
    TEXT(measure, 32),
    TEXT(signal, 256),
    CYAML_FIELD_MAPPING_PTR("distance", OPTIONAL_POINTER, tt_metric_keys, distance,
                            distance_fields),
    TEXT(threshold, 64),
    TEXT(target, 64),
    TEXT(start, 64),
    TEXT(band, 64),
    NUMBER(lower),
    NUMBER(upper),
    TEXT(when, 1024),
    LIST(joints, tt_metric_keys, 1, 64),
    TEXT(robot, 256),
    LIST(between, tt_metric_keys, 1, 2),
    TEXT(count, 32),
    TEXT(lua, 1024),
    TEXT(function, 64),
    LIST(signals, tt_metric_keys, 1, TT_METRIC_LUA_SIGNALS),
    TEXT(unit, 32),
    CYAML_FIELD_UINT("instructions", CYAML_FLAG_OPTIONAL, tt_metric_keys, instructions),
    CYAML_FIELD_UINT("memory", CYAML_FLAG_OPTIONAL, tt_metric_keys, memory),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t tt_metric_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_metric_keys, metric_fields)};

/* ---- which measure takes which key ---- */

/* A set of keys; `name` and `measure` are every metric's. */
enum {
  QUANTITY = 1 << 0, /* signal or distance */
  THRESHOLD = 1 << 1,
  TARGET = 1 << 2,
  START = 1 << 3,
  BAND = 1 << 4,
  SHARES = 1 << 5,
  WHEN = 1 << 6,
  JOINTS = 1 << 7,
  BETWEEN = 1 << 8,
  COUNT = 1 << 9,
  LUA = 1 << 10
};

#define STEP_RESPONSE (QUANTITY | TARGET | START)
static const struct {
  unsigned takes, needs; /* needs is part of takes */
} measures[] = {
    [TT_MEASURE_FINAL] = {QUANTITY, QUANTITY},
    [TT_MEASURE_LEAST] = {QUANTITY, QUANTITY},
    [TT_MEASURE_GREATEST] = {QUANTITY, QUANTITY},
    [TT_MEASURE_MEAN] = {QUANTITY, QUANTITY},
    [TT_MEASURE_RMS] = {QUANTITY, QUANTITY},
    [TT_MEASURE_INTEGRAL] = {QUANTITY, QUANTITY},
    [TT_MEASURE_TIME_ABOVE] = {QUANTITY | THRESHOLD, QUANTITY | THRESHOLD},
    [TT_MEASURE_TIME_BELOW] = {QUANTITY | THRESHOLD, QUANTITY | THRESHOLD},
    [TT_MEASURE_SETTLING_TIME] = {STEP_RESPONSE | BAND, QUANTITY | TARGET},
    [TT_MEASURE_OVERSHOOT] = {STEP_RESPONSE, QUANTITY | TARGET},
    [TT_MEASURE_RISE_TIME] = {STEP_RESPONSE | SHARES, QUANTITY | TARGET},
    [TT_MEASURE_ENERGY] = {JOINTS, 0},
    [TT_MEASURE_EVENT_TIME] = {WHEN, WHEN},
    [TT_MEASURE_CONTACTS] = {BETWEEN | COUNT, 0},
    [TT_MEASURE_LUA] = {LUA, LUA},
};
_Static_assert(sizeof measures / sizeof *measures == TT_MEASURE_COUNT, "a row for each measure");

const char *const tt_measure_names[] = {
    [TT_MEASURE_FINAL] = "final",
    [TT_MEASURE_LEAST] = "least",
    [TT_MEASURE_GREATEST] = "greatest",
    [TT_MEASURE_MEAN] = "mean",
    [TT_MEASURE_RMS] = "rms",
    [TT_MEASURE_INTEGRAL] = "integral",
    [TT_MEASURE_TIME_ABOVE] = "time_above",
    [TT_MEASURE_TIME_BELOW] = "time_below",
    [TT_MEASURE_SETTLING_TIME] = "settling_time",
    [TT_MEASURE_OVERSHOOT] = "overshoot",
    [TT_MEASURE_RISE_TIME] = "rise_time",
    [TT_MEASURE_ENERGY] = "energy",
    [TT_MEASURE_EVENT_TIME] = "event_time",
    [TT_MEASURE_CONTACTS] = "contacts",
    [TT_MEASURE_LUA] = "lua",
    [TT_MEASURE_COUNT] = NULL,
};

/* Each key, where it stands in the struct, and the set it belongs to. A mapping, a list and a text are pointers alike. */
/* clang-format off */
#define KEY(key, set)                                                                              \
  { #key, offsetof(tt_metric_keys, key), set }
/* clang-format on */
static const struct {
  const char *name;
  size_t offset;
  unsigned set;
} keys_of[] = {
    KEY(signal, QUANTITY), KEY(distance, QUANTITY), KEY(threshold, THRESHOLD),
    KEY(target, TARGET),   KEY(start, START),       KEY(band, BAND),
    KEY(lower, SHARES),    KEY(upper, SHARES),      KEY(when, WHEN),
    KEY(joints, JOINTS),   KEY(robot, JOINTS),      KEY(between, BETWEEN),
    KEY(count, COUNT),     KEY(lua, LUA),           KEY(function, LUA),
    KEY(signals, LUA),     KEY(unit, LUA),          KEY(instructions, LUA),
    KEY(memory, LUA),
};
#define KEY_COUNT (sizeof keys_of / sizeof *keys_of)

static bool is_given(const tt_metric_keys *keys, size_t key) {
  const char *at = (const char *)keys + keys_of[key].offset;
  static const char none[sizeof(uint64_t)];
  bool is_count = keys_of[key].offset >= offsetof(tt_metric_keys, instructions);
  return memcmp(at, none, is_count ? sizeof(uint64_t) : sizeof(void *)) != 0;
}

/* "signal, distance, threshold" */
static void list_keys(unsigned sets, char *list, size_t size) {
  size_t used = 0;
  *list = 0;
  for (size_t i = 0; i < KEY_COUNT && used < size; i++)
    if (keys_of[i].set & sets)
      used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ", " : "", keys_of[i].name);
}

const char *tt_measure_keys(tt_measure measure, char *list, size_t size) {
  list_keys(measures[measure].takes, list, size);
  return list;
}

static tt_status check_taken(const tt_metric_keys *keys, const char *where, tt_error *error) {
  const char *measure = tt_measure_names[keys->kind];
  unsigned given = 0;
  for (size_t i = 0; i < KEY_COUNT; i++) {
    if (!is_given(keys, i)) continue;
    given |= keys_of[i].set;
    if (keys_of[i].set & measures[keys->kind].takes) continue;
    char list[256];
    return tt_fail(error, TT_INVALID, "%s.%s: the measure '%s' does not take it; it takes: %s",
                   where, keys_of[i].name, measure, tt_measure_keys(keys->kind, list, sizeof list));
  }
  unsigned missing = measures[keys->kind].needs & ~given;
  if (missing & QUANTITY)
    return tt_fail(
        error, TT_INVALID,
        "%s: the measure '%s' needs a signal, or a distance; for example signal: chassis.x", where,
        measure);
  for (size_t i = 0; i < KEY_COUNT; i++)
    if (keys_of[i].set & missing)
      return tt_fail(error, TT_INVALID, "%s: the measure '%s' needs the key '%s'", where, measure,
                     keys_of[i].name);
  return TT_OK;
}

/* ---- the checks of single keys ---- */

static tt_status check_measure(tt_metric_keys *keys, const char *where, tt_error *error) {
  if (!keys->measure && !keys->lua)
    return tt_fail(error, TT_INVALID,
                   "%s: the key 'measure' is missing; for example measure: final", where);
  int kind;
  tt_status status =
      tt_word_check(keys->measure, "measure", where, tt_measure_names, TT_MEASURE_LUA, &kind, NULL);
  if (status != TT_OK) {
    tt_nearest nearest = tt_nearest_start(keys->measure);
    for (int i = 0; tt_measure_names[i]; i++) tt_nearest_offer(&nearest, tt_measure_names[i]);
    return tt_fail(error, TT_INVALID, "%s.measure: there is no measure '%s'%s", where,
                   keys->measure, tt_nearest_hint(&nearest));
  }
  keys->kind = (tt_measure)kind;
  return TT_OK;
}

static tt_status check_distance(const tt_metric_distance_keys *keys, const char *where,
                                tt_error *error) {
  if (!keys->of == !keys->signals)
    return tt_fail(error, TT_INVALID,
                   "%s.distance: give either of: BODY, or two or three signals: [NAME, NAME]",
                   where);
  if (!keys->to == !keys->point)
    return tt_fail(error, TT_INVALID,
                   "%s.distance: give either to: BODY, or a point: [1 m, 0.5 m, 0 m]", where);
  if (keys->signals && keys->point && keys->signals_count != keys->point_count)
    return tt_fail(error, TT_INVALID,
                   "%s.distance.point: as many numbers as there are signals, %u, are needed", where,
                   keys->signals_count);
  for (unsigned i = 0; i < keys->point_count; i++) {
    char key[32];
    double si;
    snprintf(key, sizeof key, "distance.point[%u]", i);
    TT_TRY(tt_quantity_check(keys->point[i], key, where, TT_LENGTH, -TT_METRIC_LIMIT,
                             TT_METRIC_LIMIT, 0, &si, error));
  }
  return TT_OK;
}

static tt_status check_shares(tt_metric_keys *keys, const char *where, tt_error *error) {
  TT_TRY(tt_number_check(keys->lower, "lower", where, 0, 1, 0.1, &keys->rise_lower, error));
  TT_TRY(tt_number_check(keys->upper, "upper", where, 0, 1, 0.9, &keys->rise_upper, error));
  if (keys->rise_lower < keys->rise_upper) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: lower (%g) must be less than upper (%g)", where,
                 keys->rise_lower, keys->rise_upper);
}

/* The file by its absolute path: a worker may stand in another folder. */
static tt_status find_file(tt_metric_keys *keys, const char *where, const char *folder,
                           tt_error *error) {
  char *path = NULL;
  bool absolute = keys->lua[0] == '/';
  if (asprintf(&path, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", keys->lua) < 0)
    return tt_fail(error, TT_NOMEM, "out of memory");
  FILE *file;
  tt_error why;
  if (tt_file_open(path, &file, &why) != TT_OK) {
    free(path);
    return tt_fail(error, TT_INVALID, "%s.lua: can't read this file: %s", where, why.text);
  }
  fclose(file);
  free(keys->lua);
  keys->lua = path;
  return TT_OK;
}

static tt_status check_lua(tt_metric_keys *keys, const char *where, const char *folder,
                           tt_error *error) {
  uint64_t memory;
  TT_TRY(find_file(keys, where, folder, error));
  if (!keys->signals)
    return tt_fail(error, TT_INVALID,
                   "%s: the key 'signals' is missing: those that the function may read", where);
  TT_TRY(tt_default_string(&keys->function, "measure", error));
  keys->given = tt_unit_find(keys->unit ? keys->unit : "");
  if (!keys->given) return tt_unit_refuse(keys->unit, where, error);
  TT_TRY(tt_count_check(keys->instructions, "instructions", where, 1000, 10000000000, 100000000,
                        &keys->limits.instructions, error));
  TT_TRY(tt_count_check(keys->memory, "memory", where, 16384, 1 << 30, 16 << 20, &memory, error));
  keys->limits.memory = memory;
  return TT_OK;
}

tt_status tt_metric_check(tt_metric_keys *keys, const char *where, const char *folder,
                          tt_error *error) {
  static const char *const counts[] = {"starts", "ticks", NULL};
  int counted;
  TT_TRY(check_measure(keys, where, error));
  TT_TRY(check_taken(keys, where, error));
  if (keys->signal && keys->distance)
    return tt_fail(error, TT_INVALID, "%s: give either a signal or a distance, not both", where);
  if (keys->joints && keys->robot)
    return tt_fail(error, TT_INVALID, "%s: give either joints or a robot, not both", where);
  if (keys->distance) TT_TRY(check_distance(keys->distance, where, error));
  TT_TRY(check_shares(keys, where, error));
  TT_TRY(tt_word_check(keys->count, "count", where, counts, TT_CONTACT_STARTS, &counted, error));
  keys->counted = (tt_contact_count)counted;
  return keys->kind == TT_MEASURE_LUA ? check_lua(keys, where, folder, error) : TT_OK;
}

const char *tt_metric_name(const tt_metric_keys *keys) { return keys->name; }

const char *tt_metric_file(const tt_metric_keys *keys) { return keys->lua; }

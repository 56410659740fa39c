/* fields.c: the keys that several adapters share, and the checks that go with them. */
#include "scene/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const cyaml_schema_value_t tt_string_schema = {
    CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 0, 256),
};

const cyaml_schema_field_t tt_name_entry_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, tt_name_entry, name, 1, 256),
    CYAML_FIELD_STRING_PTR("unit", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_name_entry, unit, 0,
                           32),
    CYAML_FIELD_FLOAT_PTR("scale", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_name_entry,
                          given_scale),
    CYAML_FIELD_FLOAT("offset", CYAML_FLAG_OPTIONAL, tt_name_entry, offset),
    CYAML_FIELD_STRING_PTR("wrap", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_name_entry, wrap, 0,
                           8),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t tt_name_entry_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_name_entry, tt_name_entry_fields),
};

const cyaml_schema_field_t tt_fault_fields[] = {
    CYAML_FIELD_FLOAT("loss", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, loss),
    CYAML_FIELD_FLOAT("duplicate", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, duplicate),
    CYAML_FIELD_FLOAT("reorder", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, reorder),
    CYAML_FIELD_STRING_PTR("delay", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_wire_fault_keys,
                           delay, 0, 64),
    CYAML_FIELD_STRING_PTR("jitter", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_wire_fault_keys,
                           jitter, 0, 64),
    CYAML_FIELD_UINT("seed", CYAML_FLAG_OPTIONAL, tt_wire_fault_keys, seed),
    CYAML_FIELD_END,
};

tt_status tt_default_string(char **target, const char *value, tt_error *error) {
  if (*target) return TT_OK;
  *target = strdup(value);
  return *target ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

tt_status tt_default_address(const tt_wire_common *common, int port, char **address,
                             const char *where, tt_error *error) {
  char text[32];
  int player = common->player ? *common->player : 1;
  if (player < 1 || player > TT_MOST_PLAYERS) {
    return tt_fail(error, TT_INVALID, "%s.player: %d is no player; give 1 to %d", where, player,
                   TT_MOST_PLAYERS);
  }
  snprintf(text, sizeof text, "127.0.0.1:%d", port + TT_PORTS_A_PLAYER * (player - 1));
  return tt_default_string(address, text, error);
}

tt_status tt_quantity_check(const char *text, const char *key, const char *where,
                            tt_dimension dimension, double lower, double upper, double fallback,
                            double *si, tt_error *error) {
  *si = fallback;
  if (!text) return TT_OK;
  const char *dot = *key ? "." : "";
  const char *unit = tt_unit_si(dimension)->name;
  if (!tt_quantity_parse(text, dimension, si)) {
    return tt_fail(error, TT_INVALID,
                   "%s%s%s: '%s' is not understood; give a number and one of the units %s", where,
                   dot, key, text, tt_unit_names(dimension));
  }
  if (!isfinite(*si) || *si < lower || *si > upper) {
    if (isinf(upper)) {
      return tt_fail(error, TT_INVALID, "%s%s%s: '%s' is out of range; give at least %g %s", where,
                     dot, key, text, lower, unit);
    }
    return tt_fail(error, TT_INVALID, "%s%s%s: '%s' is out of range; give %g to %g %s", where, dot,
                   key, text, lower, upper, unit);
  }
  return TT_OK;
}

tt_status tt_name_entry_check(tt_name_entry *entry, const char *where, tt_error *error) {
  if (entry->unit && !tt_unit_find(entry->unit)) {
    const char *nearest = tt_unit_nearest(entry->unit);
    return tt_fail(error, TT_INVALID, "%s.unit: there is no unit '%s'; %s%s%s", where, entry->unit,
                   nearest ? "did you mean '" : "docs/scene.md lists them", nearest ? nearest : "",
                   nearest ? "'?" : "");
  }
  entry->scale = entry->given_scale ? *entry->given_scale : 1;
  if (entry->scale == 0)
    return tt_fail(error, TT_INVALID,
                   "%s.scale: 0 tells nothing and can't be undone; give another factor, or 'none' "
                   "as the name for a number that means nothing",
                   where);
  if (!isfinite(entry->scale) || !isfinite(entry->offset)) {
    return tt_fail(error, TT_INVALID, "%s: scale and offset must be finite numbers", where);
  }
  TT_TRY(tt_default_string(&entry->wrap, "none", error));
  if (strcmp(entry->wrap, "none") && strcmp(entry->wrap, "pi") && strcmp(entry->wrap, "turn")) {
    return tt_fail(error, TT_INVALID, "%s.wrap: '%s' is not one of none, pi, turn", where,
                   entry->wrap);
  }
  return TT_OK;
}

static tt_status check_probability(double value, const char *key, const char *where,
                                   tt_error *error) {
  if (value >= 0 && value <= 1) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.faults.%s: %g is no probability; give 0 to 1", where, key,
                 value);
}

tt_status tt_wire_faults_check(const tt_wire_common *common, const char *where, tt_faults *faults,
                               tt_error *error) {
  *faults = (tt_faults){0};
  const tt_wire_fault_keys *keys = common->faults;
  if (!keys) return TT_OK;
  TT_TRY(check_probability(keys->loss, "loss", where, error));
  TT_TRY(check_probability(keys->duplicate, "duplicate", where, error));
  TT_TRY(check_probability(keys->reorder, "reorder", where, error));
  faults->loss = keys->loss;
  faults->duplicate = keys->duplicate;
  faults->reorder = keys->reorder;
  faults->seed = keys->seed;
  TT_TRY(tt_quantity_check(keys->delay, "faults.delay", where, TT_TIME, 0, 10, 0, &faults->delay,
                           error));
  return tt_quantity_check(keys->jitter, "faults.jitter", where, TT_TIME, 0, 10, 0, &faults->jitter,
                           error);
}

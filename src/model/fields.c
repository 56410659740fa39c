/* fields.c: the keys that several schemas share, and the checks that go with them. */
#include "model/schema.h"

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

int tt_schema_count(const tt_schema *const *schemas) {
  int count = 0;
  while (schemas[count]) count++;
  return count;
}

tt_status tt_default_string(char **target, const char *value, tt_error *error) {
  if (*target) return TT_OK;
  *target = strdup(value);
  return *target ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

tt_status tt_quantity_check(const char *text, const char *key, const char *where,
                            tt_dimension dimension, double lower, double upper, double fallback,
                            double *si, tt_error *error) {
  *si = fallback;
  if (!text) return TT_OK;
  const char *dot = *key ? "." : "";
  const char *unit = tt_unit_si(dimension)->name;
  if (!tt_quantity_parse(text, dimension, si)) {
    const char *meant = tt_quantity_meant_unit(text);
    return tt_fail(error, TT_INVALID,
                   "%s%s%s: '%s' is not understood; give a number and one of the units %s%s%s%s",
                   where, dot, key, text, tt_unit_names(dimension), meant ? "; did you mean '" : "",
                   meant ? meant : "", meant ? "'?" : "");
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

tt_status tt_unit_refuse(const char *unit, const char *where, tt_error *error) {
  const char *nearest = tt_unit_nearest(unit);
  return tt_fail(error, TT_INVALID, "%s.unit: there is no unit '%s'; %s%s%s", where, unit,
                 nearest ? "did you mean '" : "docs/scene.md lists them", nearest ? nearest : "",
                 nearest ? "'?" : "");
}

tt_status tt_name_entry_check(tt_name_entry *entry, const char *where, tt_error *error) {
  if (entry->unit && !tt_unit_find(entry->unit)) {
    return tt_unit_refuse(entry->unit, where, error);
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

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
  tt_key_tell(&(tt_key_note){.target = target, .word = value, .fallback = NAN});
  if (*target) return TT_OK;
  *target = strdup(value);
  return *target ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

static _Thread_local tt_key_listener *listening;

tt_key_listener *tt_key_listen(tt_key_listener *listener) {
  tt_key_listener *before = listening;
  listening = listener;
  return before;
}

void tt_key_tell(const tt_key_note *note) {
  if (listening) listening->hear(listening, note);
}

void tt_key_tell_quantity(const char *where, const char *key, double lower) {
  tt_key_tell(&(tt_key_note){.where = where,
                             .key = key,
                             .is_quantity = true,
                             .dimension = TT_DIMENSION_COUNT,
                             .lower = lower,
                             .upper = INFINITY,
                             .fallback = NAN});
}

tt_status tt_number_check(const double *value, const char *key, const char *where, double lower,
                          double upper, double fallback, double *result, tt_error *error) {
  tt_key_tell(&(tt_key_note){
      .where = where, .key = key, .lower = lower, .upper = upper, .fallback = fallback});
  *result = value ? *value : fallback;
  if (!value || (*result >= lower && *result <= upper)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.%s: %g is out of range; give %g to %g", where, key, *result,
                 lower, upper);
}

tt_status tt_count_check(uint64_t value, const char *key, const char *where, uint64_t lower,
                         uint64_t upper, uint64_t fallback, uint64_t *result, tt_error *error) {
  tt_key_tell(&(tt_key_note){.where = where,
                             .key = key,
                             .lower = (double)lower,
                             .upper = (double)upper,
                             .fallback = (double)fallback});
  *result = value ? value : fallback;
  if (!value || (value >= lower && value <= upper)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.%s: give %llu to %llu", where, key,
                 (unsigned long long)lower, (unsigned long long)upper);
}

tt_status tt_word_check(const char *text, const char *key, const char *where,
                        const char *const *words, int fallback, int *index, tt_error *error) {
  char list[256] = "";
  tt_key_tell(&(tt_key_note){
      .where = where, .key = key, .words = words, .word = words[fallback], .fallback = NAN});
  *index = fallback;
  if (!text) return TT_OK;
  for (int i = 0; words[i]; i++) {
    *index = i;
    if (strcmp(text, words[i]) == 0) return TT_OK;
    size_t size = strlen(list);
    snprintf(list + size, sizeof list - size, "%s%s", i ? ", " : "", words[i]);
  }
  *index = fallback;
  return tt_fail(error, TT_INVALID, "%s.%s: '%s' is not one of %s", where, key, text, list);
}

tt_status tt_quantity_check(const char *text, const char *key, const char *where,
                            tt_dimension dimension, double lower, double upper, double fallback,
                            double *si, tt_error *error) {
  tt_key_tell(&(tt_key_note){.where = where,
                             .key = key,
                             .is_quantity = true,
                             .dimension = dimension,
                             .lower = lower,
                             .upper = upper,
                             .fallback = fallback});
  *si = fallback;
  if (!text) return TT_OK;
  const char *dot = *key ? "." : "";
  char unit[TT_UNIT_BEHIND];
  if (!tt_quantity_parse(text, dimension, si)) {
    const char *meant = tt_quantity_meant_unit(text, dimension);
    return tt_fail(error, TT_INVALID,
                   "%s%s%s: '%s' is not understood; give a number and one of the units %s%s%s%s",
                   where, dot, key, text, tt_unit_names(dimension), meant ? "; did you mean '" : "",
                   meant ? meant : "", meant ? "'?" : "");
  }
  if (!isfinite(*si) || *si < lower || *si > upper) {
    tt_unit_behind(dimension, unit);
    if (isinf(upper)) {
      return tt_fail(error, TT_INVALID, "%s%s%s: '%s' is out of range; give at least %g%s", where,
                     dot, key, text, lower, unit);
    }
    return tt_fail(error, TT_INVALID, "%s%s%s: '%s' is out of range; give %g to %g%s", where, dot,
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
  tt_key_tell(&(tt_key_note){
      .where = where, .key = "scale", .lower = -INFINITY, .upper = INFINITY, .fallback = 1});
  tt_key_tell(&(tt_key_note){
      .where = where, .key = "offset", .lower = -INFINITY, .upper = INFINITY, .fallback = 0});
  entry->scale = entry->given_scale ? *entry->given_scale : 1;
  if (entry->scale == 0)
    return tt_fail(error, TT_INVALID,
                   "%s.scale: 0 tells nothing and can't be undone; give another factor, or 'none' "
                   "as the name for a number that means nothing",
                   where);
  if (!isfinite(entry->scale) || !isfinite(entry->offset)) {
    return tt_fail(error, TT_INVALID, "%s: scale and offset must be finite numbers", where);
  }
  static const char *const wraps[] = {"none", "pi", "turn", NULL};
  int ignored;
  TT_TRY(tt_word_check(entry->wrap, "wrap", where, wraps, 0, &ignored, error));
  return tt_default_string(&entry->wrap, wraps[0], error);
}

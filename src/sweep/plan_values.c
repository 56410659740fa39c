/* plan_values.c: the values of axes: texts and ranges to SI, within what may be set. */
#include "sweep/plan_internal.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GREATEST 1e300       /* so that what lies between two bounds is finite */
#define LARGEST_WHOLE 0x1p53 /* of those a double tells apart */

static const tt_dimension unknown = TT_DIMENSION_COUNT;

static tt_sweep_value number(double value) {
  return (tt_sweep_value){.kind = TT_SWEEP_NUMBER, .number = value == 0 ? 0 : value};
}

static tt_sweep_value word(const char *text) {
  return (tt_sweep_value){.kind = TT_SWEEP_TEXT, .text = text};
}

/* --- one text --- */

/** A number with any unit; TT_NOT_FOUND: it is no number. */
static tt_status read_free(const tt_plan_store *store, const char *text, const char *where,
                           tt_sweep_value *value, tt_dimension *dimension) {
  double si;
  *dimension = unknown;
  if (tt_quantity_parse(text, TT_DIMENSIONLESS, &si)) {
    *value = number(si);
    return TT_OK;
  }
  for (int i = 0; i < TT_DIMENSION_COUNT; i++)
    if (tt_quantity_parse(text, (tt_dimension)i, &si)) {
      *value = number(si);
      *dimension = (tt_dimension)i;
      return TT_OK;
    }
  char *end;
  strtod(text, &end);
  const char *meant = tt_quantity_meant_unit(text, TT_DIMENSION_COUNT);
  if (end > text && (meant || *end == ' '))
    return tt_fail(store->error, TT_INVALID,
                   "%s: there is no unit '%s'%s%s%s; docs/scene.md lists them", where,
                   end + strspn(end, " "), meant ? "; did you mean '" : "", meant ? meant : "",
                   meant ? "'?" : "");
  *value = word(text);
  return TT_OK;
}

static tt_status out_of_range(const tt_plan_store *store, const tt_plan_target *target,
                              const char *text, const char *where) {
  char unit[TT_UNIT_BEHIND] = "";
  if (target->kind == TT_PLAN_QUANTITY) tt_unit_behind(target->dimension, unit);
  if (isinf(target->upper))
    return tt_fail(store->error, TT_INVALID, "%s: '%s' is out of range; give at least %g%s", where,
                   text, target->lower, unit);
  return tt_fail(store->error, TT_INVALID, "%s: '%s' is out of range; give %g to %g%s", where, text,
                 target->lower, target->upper, unit);
}

static tt_status read_number(const tt_plan_store *store, const tt_plan_target *target,
                             const char *text, const char *where, tt_sweep_value *value) {
  char *end;
  double read = strtod(text, &end);
  if (end == text || *end || !isfinite(read))
    return tt_fail(store->error, TT_INVALID, "%s: '%s' is not a number%s", where, text,
                   end > text ? "; it has no unit" : "");
  if (target->kind == TT_PLAN_WHOLE && (read != floor(read) || fabs(read) > LARGEST_WHOLE))
    return tt_fail(store->error, TT_INVALID, "%s: '%s' is not a whole number (of at most 2^53)",
                   where, text);
  if (read < target->lower || read > target->upper) return out_of_range(store, target, text, where);
  *value = number(read);
  return TT_OK;
}

static tt_status read_quantity(const tt_plan_store *store, const tt_plan_target *target,
                               const char *text, const char *where, tt_sweep_value *value) {
  double si;
  TT_TRY(tt_quantity_check(text, "", where, target->dimension, -INFINITY, INFINITY, 0, &si,
                           store->error));
  if (si < target->lower || si > target->upper) return out_of_range(store, target, text, where);
  *value = number(si);
  return TT_OK;
}

/** One of "red, blue". */
static bool is_among(const char *words, const char *text) {
  size_t size = strlen(text);
  for (const char *at = words; *at;) {
    size_t length = strcspn(at, ",");
    if (length == size && strncmp(at, text, size) == 0) return true;
    at += length;
    at += strspn(at, ", ");
  }
  return false;
}

tt_status tt_plan_read_value(tt_plan_store *store, const tt_plan_target *target, const char *text,
                             const char *where, tt_sweep_value *value, tt_dimension *dimension) {
  *dimension = unknown;
  if (!*text)
    return tt_fail(store->error, TT_INVALID, "%s: an empty value; give a number or a word", where);
  switch (target->kind) {
    case TT_PLAN_WHOLE:
    case TT_PLAN_NUMBER: return read_number(store, target, text, where, value);
    case TT_PLAN_QUANTITY:
      *dimension = target->dimension;
      return read_quantity(store, target, text, where, value);
    case TT_PLAN_FLAG:
    case TT_PLAN_WORD:
      *value = word(text);
      if (is_among(target->words, text)) return TT_OK;
      return tt_fail(store->error, TT_INVALID, "%s: '%s' is not one of %s", where, text,
                     target->words);
    case TT_PLAN_TEXT: *value = word(text); return TT_OK;
    case TT_PLAN_FREE: break;
  }
  return read_free(store, text, where, value, dimension);
}

/* --- lists and ranges --- */

/** What the first value is, the others are. */
typedef struct tt_sort {
  tt_sweep_kind kind;
  tt_dimension dimension;
} tt_sort;

static tt_status check_sort(const tt_plan_store *store, const tt_sort *first,
                            const tt_sweep_value *value, tt_dimension dimension, const char *text,
                            const char *where) {
  if (value->kind != first->kind)
    return tt_fail(store->error, TT_INVALID,
                   "%s: '%s' is %s, and the first value is %s; give all of one kind", where, text,
                   value->kind == TT_SWEEP_TEXT ? "text" : "a number",
                   value->kind == TT_SWEEP_TEXT ? "a number" : "text");
  if (dimension == first->dimension) return TT_OK;
  return tt_fail(store->error, TT_INVALID,
                 "%s: '%s' has another unit than the first value; give all of them in units of one "
                 "kind",
                 where, text);
}

static void set_unit(tt_sweep_axis *axis, tt_dimension dimension) {
  if (dimension < TT_DIMENSION_COUNT && dimension != TT_DIMENSIONLESS)
    axis->unit = tt_unit_si(dimension)->name;
}

static tt_status load_list(tt_plan_store *store, const tt_plan_axis_keys *keys, int index,
                           tt_sweep_axis *axis) {
  tt_sweep_value *values;
  tt_sort first = {0};
  NEW(store, values, keys->value_count);
  for (unsigned i = 0; i < keys->value_count; i++) {
    const char *where;
    tt_dimension dimension;
    PRINT(store, where, "%s.value[%u]", axis->where, i);
    TT_TRY(tt_plan_read_value(store, &store->axes[index].target, keys->value[i], where, &values[i],
                              &dimension));
    if (i == 0) first = (tt_sort){values[0].kind, dimension};
    TT_TRY(check_sort(store, &first, &values[i], dimension, keys->value[i], where));
  }
  if (values[0].kind == TT_SWEEP_NUMBER) set_unit(axis, first.dimension);
  axis->values = values;
  if (store->axes[index].target.kind != TT_PLAN_WHOLE) /* 1e3 is a whole number here alone */
    store->axes[index].texts = (const char *const *)keys->value;
  return TT_OK;
}

double tt_plan_between(const tt_sweep_axis *axis, double share) {
  if (share <= 0) return axis->lower;
  if (share >= 1) return axis->upper;
  const double factor = axis->upper / axis->lower;
  if (axis->logarithmic && isfinite(factor)) return axis->lower * pow(factor, share);
  if (axis->logarithmic) return pow(axis->lower, 1 - share) * pow(axis->upper, share);
  return axis->lower + (axis->upper - axis->lower) * share;
}

static tt_status space_evenly(tt_plan_store *store, int index, tt_sweep_axis *axis) {
  tt_sweep_value *values;
  const bool whole = store->axes[index].target.kind == TT_PLAN_WHOLE;
  NEW(store, values, axis->count);
  for (int i = 0; i < axis->count; i++) {
    values[i] = number(tt_plan_between(axis, (double)i / (axis->count - 1)));
    if (whole && values[i].number != floor(values[i].number))
      return tt_fail(store->error, TT_INVALID,
                     "%s.count: %d values of this range are not all whole numbers (%g), which %s "
                     "takes; take another count, or list them by value: […]",
                     axis->where, axis->count, values[i].number, axis->set);
    if (i > 0 && values[i].number == values[i - 1].number)
      return tt_fail(store->error, TT_INVALID,
                     "%s.count: its ends are too near to each other for %d values", axis->where,
                     axis->count);
  }
  axis->values = values;
  return TT_OK;
}

static tt_status read_end(tt_plan_store *store, const tt_plan_axis_keys *keys, int index, int end,
                          const tt_sweep_axis *axis, double *si, tt_dimension *dimension) {
  const tt_plan_target *target = &store->axes[index].target;
  tt_sweep_value value;
  const char *where;
  PRINT(store, where, "%s.range[%d]", axis->where, end);
  if (target->kind == TT_PLAN_TEXT || target->kind == TT_PLAN_WORD || target->kind == TT_PLAN_FLAG)
    return tt_fail(store->error, TT_INVALID,
                   "%s.range: %s takes %s%s, no number; list values by value: […]", axis->where,
                   axis->set, target->words ? "one of " : "text",
                   target->words ? target->words : "");
  TT_TRY(tt_plan_read_value(store, target, keys->range[end], where, &value, dimension));
  if (value.kind != TT_SWEEP_NUMBER || fabs(value.number) > GREATEST)
    return tt_fail(store->error, TT_INVALID, "%s: '%s' is no number to count from", where,
                   keys->range[end]);
  *si = value.number;
  return TT_OK;
}

static tt_status load_range(tt_plan_store *store, const tt_plan_axis_keys *keys, int index,
                            tt_sweep_axis *axis) {
  tt_dimension lower, upper;
  TT_TRY(read_end(store, keys, index, 0, axis, &axis->lower, &lower));
  TT_TRY(read_end(store, keys, index, 1, axis, &axis->upper, &upper));
  /* 0 is the same in every unit. */
  if (lower != upper && axis->lower != 0 && axis->upper != 0)
    return tt_fail(store->error, TT_INVALID, "%s.range: '%s' and '%s' are of different units",
                   axis->where, keys->range[0], keys->range[1]);
  set_unit(axis, lower == unknown ? upper : lower);
  if (axis->lower == axis->upper)
    return tt_fail(store->error, TT_INVALID,
                   "%s.range: both ends are the same; give a single value by value: [%s]",
                   axis->where, keys->range[0]);
  if (axis->lower > axis->upper)
    return tt_fail(store->error, TT_INVALID, "%s.range: it runs backwards; write [%s, %s]",
                   axis->where, keys->range[1], keys->range[0]);
  if (axis->logarithmic && axis->lower <= 0)
    return tt_fail(store->error, TT_INVALID,
                   "%s.range: a logarithmic one has both ends above 0; give another, or scale: "
                   "linear",
                   axis->where);
  return axis->count > 0 ? space_evenly(store, index, axis) : TT_OK;
}

/* --- nothing twice --- */

/** The axes of one group side by side, sorted to find what is there twice. */
typedef struct tt_tuples {
  const tt_plan_store *store;
  int group;
} tt_tuples;

static int compare_values(const tt_sweep_value *a, const tt_sweep_value *b) {
  if (a->kind == TT_SWEEP_TEXT) return strcmp(a->text, b->text);
  return a->number < b->number ? -1 : a->number > b->number;
}

static int compare_tuples(const void *left, const void *right, void *context) {
  const tt_tuples *tuples = context;
  const tt_sweep_plan *plan = &tuples->store->plan;
  const int a = *(const int *)left, b = *(const int *)right;
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    if (axis->group != tuples->group || !axis->values) continue;
    int order = compare_values(&axis->values[a], &axis->values[b]);
    if (order != 0) return order;
  }
  return 0;
}

static const tt_sweep_axis *last_list(const tt_plan_store *store, int group) {
  const tt_sweep_axis *found = NULL;
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_sweep_axis *axis = &store->plan.axes[i];
    if (axis->group != group) continue;
    if (!store->keys->axes[i].value) return NULL; /* a range has nothing twice */
    found = axis;
  }
  return found;
}

/** Two equal points would be one run with one id. */
static tt_status refuse_twice(tt_plan_store *store, int group) {
  const tt_sweep_axis *axis = last_list(store, group);
  tt_tuples tuples = {store, group};
  if (!axis) return TT_OK;
  int *order;
  NEW(store, order, axis->count);
  for (int i = 0; i < axis->count; i++) order[i] = i;
  qsort_r(order, (size_t)axis->count, sizeof *order, compare_tuples, &tuples);
  for (int i = 1; i < axis->count; i++) {
    if (compare_tuples(&order[i - 1], &order[i], &tuples) != 0) continue;
    int first = order[i - 1] < order[i] ? order[i - 1] : order[i];
    int second = first == order[i] ? order[i - 1] : order[i];
    return tt_fail(store->error, TT_INVALID,
                   "%s.value[%d]: the same as value[%d]; remove one (repeat makes runs with other "
                   "seeds)",
                   axis->where, second, first);
  }
  return TT_OK;
}

tt_status tt_plan_load_values(tt_plan_store *store) {
  tt_sweep_axis *axes = (tt_sweep_axis *)store->plan.axes;
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_plan_axis_keys *keys = &store->keys->axes[i];
    TT_TRY(keys->value ? load_list(store, keys, i, &axes[i])
                       : load_range(store, keys, i, &axes[i]));
  }
  for (int group = 0; group < store->group_count; group++) TT_TRY(refuse_twice(store, group));
  return TT_OK;
}

/* plan_axes.c: what a plan varies, as far as it can be told without the scene: names, groups, and whether a key is missing. */
#include "sweep/plan_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MAX_COUNT 1000000 /* values of a range */

/* rowid: how SQLite calls the key of every table, unless a column takes the name away. */
static const char *const reserved_names[] = {"id",    "run",     "seed",           "status",
                                             "error", "hash",    "simulated_time", "wall_time",
                                             "host",  "success", "rowid",          NULL};

/* --- names of columns --- */

tt_status tt_plan_check_name(const tt_plan_store *store, const char *name, const char *where) {
  bool good = isalpha((unsigned char)*name);
  for (const char *at = name; *at; at++) good = good && (isalnum((unsigned char)*at) || *at == '_');
  if (!good)
    return tt_fail(store->error, TT_INVALID,
                   "%s.name: '%s' can't be a column's name; begin with a letter, and use letters, "
                   "digits and _ only",
                   where, name);
  for (const char *const *reserved = reserved_names; *reserved; reserved++)
    if (strcasecmp(name, *reserved) == 0)
      return tt_fail(store->error, TT_INVALID,
                     "%s.name: every table has a column '%s' of its own; take another name", where,
                     *reserved);
  return TT_OK;
}

static tt_status refuse_double(const tt_plan_store *store, const char *name, const char *where,
                               const char *other) {
  return tt_fail(store->error, TT_INVALID,
                 "%s.name: '%s' names a column already (%s); names must differ by more than upper "
                 "and lower case",
                 where, name, other + strlen(store->document->path) + 2);
}

tt_status tt_plan_check_double(const tt_plan_store *store, const char *name, const char *where,
                               int axis_count, int metric_count) {
  const tt_sweep_plan *plan = &store->plan;
  for (int i = 0; i < axis_count; i++)
    if (strcasecmp(name, plan->axes[i].name) == 0)
      return refuse_double(store, name, where, plan->axes[i].where);
  for (int i = 0; i < metric_count; i++)
    if (strcasecmp(name, plan->metrics[i].name) == 0)
      return refuse_double(store, name, where, plan->metrics[i].where);
  return TT_OK;
}

/* --- one axis --- */

static tt_status check_range(const tt_plan_store *store, const tt_plan_axis_keys *keys,
                             const char *where) {
  const bool grid = store->plan.sampling == TT_SWEEP_GRID;
  if (keys->range_count != 2)
    return tt_fail(store->error, TT_INVALID, "%s.range: give both ends, as [0 deg, 90 deg]%s",
                   where, keys->range_count > 2 ? "; a list of values is given by value: […]" : "");
  if (grid && !keys->count)
    return tt_fail(store->error, TT_INVALID,
                   "%s: how many values? give count, both ends of the range included", where);
  if (!grid && keys->count)
    return tt_fail(store->error, TT_INVALID,
                   "%s.count: where points are sampled, a range gives any value between its ends; "
                   "remove count (samples says how many points), or list values by value: […]",
                   where);
  if (keys->count && (*keys->count < 2 || *keys->count > MAX_COUNT))
    return tt_fail(store->error, TT_INVALID,
                   "%s.count: %llu is out of range; give 2 (both ends) to %d%s", where,
                   (unsigned long long)*keys->count, MAX_COUNT,
                   *keys->count == 1 ? "; a single value is given by value: [x]" : "");
  return TT_OK;
}

static tt_status check_shape(const tt_plan_store *store, const tt_plan_axis_keys *keys,
                             const char *where) {
  if (keys->value && keys->range)
    return tt_fail(store->error, TT_INVALID, "%s: give value or range, not both", where);
  if (keys->range) return check_range(store, keys, where);
  if (!keys->value)
    return tt_fail(store->error, TT_INVALID,
                   "%s: give its values, as value: [1, 2, 5], or range: [0, 1] with count", where);
  if (!keys->count && !keys->scale) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.%s: that belongs to a range; remove it", where,
                 keys->count ? "count" : "scale");
}

static tt_status load_scale(const tt_plan_store *store, const tt_plan_axis_keys *keys,
                            tt_sweep_axis *axis) {
  static const char *const words[] = {"linear", "log", NULL};
  int index;
  TT_TRY(tt_word_check(keys->scale, "scale", axis->where, words, 0, &index, store->error));
  axis->logarithmic = index == 1;
  return TT_OK;
}

/** Another axis that sets the same. */
static tt_status check_set(const tt_plan_store *store, const tt_sweep_axis *axis) {
  for (const tt_sweep_axis *other = store->plan.axes; other < axis; other++)
    if (axis->set && other->set && strcmp(axis->set, other->set) == 0)
      return tt_fail(store->error, TT_INVALID,
                     "%s.set: the axis '%s' sets %s already; remove one of the two", axis->where,
                     other->name, axis->set);
  return TT_OK;
}

/** The number of the group called `name`, or of one of its own. */
static int group_of(const tt_plan_store *store, int index, int *groups) {
  const tt_plan_axis_keys *keys = store->keys->axes;
  for (int i = 0; keys[index].group && i < index; i++)
    if (keys[i].group && strcmp(keys[i].group, keys[index].group) == 0)
      return store->plan.axes[i].group;
  return (*groups)++;
}

/** How many values it has in a grid; 0: it is sampled between its bounds. */
static int count_of(const tt_plan_axis_keys *keys) {
  return keys->value ? (int)keys->value_count : keys->count ? (int)*keys->count : 0;
}

/** Axes that go together have equally many values. */
static tt_status count_groups(tt_plan_store *store) {
  int *counts;
  const tt_sweep_axis **first;
  NEW(store, counts, store->group_count);
  NEW(store, first, store->group_count);
  store->group_counts = counts;
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_sweep_axis *axis = &store->plan.axes[i], *other = first[axis->group];
    if (other && axis->count != other->count && axis->count > 0 && other->count > 0)
      return tt_fail(store->error, TT_INVALID,
                     "%s: it has %d values and '%s' of the same group %d; axes that go together "
                     "have equally many",
                     axis->where, axis->count, other->name, other->count);
    if (other && axis->count == 0) continue;
    first[axis->group] = axis;
    counts[axis->group] = axis->count;
  }
  return TT_OK;
}

tt_status tt_plan_load_axes(tt_plan_store *store) {
  tt_sweep_axis *axes;
  const int count = (int)store->keys->axes_count;
  NEW(store, axes, count);
  NEW(store, store->axes, count);
  store->plan.axes = axes;
  for (int i = 0; i < count; i++) {
    const tt_plan_axis_keys *keys = &store->keys->axes[i];
    tt_sweep_axis *axis = &axes[i];
    PRINT(store, axis->where, "%s: axes[%d]", store->document->path, i);
    axis->name = keys->name;
    axis->set = keys->set;
    axis->unit = "";
    TT_TRY(tt_plan_check_name(store, axis->name, axis->where));
    TT_TRY(tt_plan_check_double(store, axis->name, axis->where, i, 0));
    TT_TRY(check_shape(store, keys, axis->where));
    TT_TRY(load_scale(store, keys, axis));
    TT_TRY(check_set(store, axis));
    axis->count = count_of(keys);
    axis->group = group_of(store, i, &store->group_count);
  }
  store->plan.axis_count = count;
  return count_groups(store);
}

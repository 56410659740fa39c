/* plan_metrics.c: what a plan measures, and which logs it keeps. */
#include "sweep/plan_internal.h"

#include "base/nearest.h"

#include <limits.h>
#include <string.h>

static tt_status load_metric(tt_plan_store *store, int index, tt_sweep_metric *metric) {
  tt_metric_keys *keys =
      (tt_metric_keys *)(store->keys->metrics + (size_t)index * tt_metric_schema.data_size);
  PRINT(store, metric->where, "%s: metrics[%d]", store->document->path, index);
  metric->keys = keys;
  metric->unit = "";
  TT_TRY(tt_metric_check(keys, metric->where, store->plan.folder, store->error));
  metric->name = tt_metric_name(keys);
  TT_TRY(tt_plan_check_name(store, metric->name, metric->where));
  return tt_plan_check_double(store, metric->name, metric->where, store->plan.axis_count, index);
}

/* --- keep --- */

static tt_status find_metric(const tt_plan_store *store, const char *name, int *index) {
  const tt_sweep_plan *plan = &store->plan;
  const char *path = store->document->path;
  if (!name && plan->metric_count == 0)
    return tt_fail(store->error, TT_INVALID,
                   "%s: keep: without metrics no run is better than another; give metrics, or "
                   "keep all or failures",
                   path);
  if (!name)
    return tt_fail(store->error, TT_INVALID,
                   "%s: keep: best and worst by what? give metric: %s, and order: greatest or "
                   "least",
                   path, plan->metrics[0].name);
  tt_nearest nearest = tt_nearest_start(name);
  for (*index = 0; *index < plan->metric_count; ++*index) {
    if (strcmp(plan->metrics[*index].name, name) == 0) return TT_OK;
    tt_nearest_offer(&nearest, plan->metrics[*index].name);
  }
  return tt_fail(store->error, TT_INVALID, "%s: keep.metric: there is no metric '%s'%s", path, name,
                 tt_nearest_hint(&nearest));
}

static tt_status load_order(tt_plan_store *store, const tt_plan_keep_keys *keys) {
  static const char *const orders[] = {"greatest", "least", NULL};
  tt_sweep_keep *keep = &store->plan.keep;
  const char *where;
  int order;
  PRINT(store, where, "%s: keep", store->document->path);
  if (keys->best > INT_MAX || keys->worst > INT_MAX)
    return tt_fail(store->error, TT_INVALID, "%s.%s: that is more than any plan has", where,
                   keys->best > INT_MAX ? "best" : "worst");
  keep->best = (int)keys->best;
  keep->worst = (int)keys->worst;
  TT_TRY(tt_word_check(keys->order, "order", where, orders, 0, &order, store->error));
  keep->greatest_is_best = order == 0;
  if (keep->best > 0 || keep->worst > 0) {
    TT_TRY(find_metric(store, keys->metric, &keep->metric));
    if (keys->order) return TT_OK;
    return tt_fail(store->error, TT_INVALID,
                   "%s: is the greatest '%s' the best, or the least? give order: greatest or least",
                   where, keys->metric);
  }
  if (!keys->metric && !keys->order) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.%s: how many of them? give best or worst as well",
                 where, keys->metric ? "metric" : "order");
}

/** Beside the table, by default; where that is no file, beside the plan. */
static tt_status load_folder(tt_plan_store *store, const char *given) {
  tt_sweep_keep *keep = &store->plan.keep;
  const char *output = store->plan.output, *beside = *output == '/' ? output : store->plan.path;
  const char *dot = strrchr(beside, '.');
  if (given && !*given)
    return tt_fail(store->error, TT_INVALID, "%s: keep.folder: an empty name; give a folder",
                   store->document->path);
  if (given) return tt_plan_path(store, given, &keep->folder);
  const bool ends = dot && dot > strrchr(beside, '/') + 1;
  PRINT(store, keep->folder, "%.*s-logs", ends ? (int)(dot - beside) : (int)strlen(beside), beside);
  return TT_OK;
}

static tt_status load_keep(tt_plan_store *store) {
  const tt_plan_keep_keys *keys = store->keys->keep;
  TT_TRY(load_folder(store, keys ? keys->folder : NULL));
  if (!keys) return TT_OK;
  store->plan.keep.all = keys->all;
  store->plan.keep.failures = keys->failures;
  return load_order(store, keys);
}

/* --- all --- */

tt_status tt_plan_load_metrics(tt_plan_store *store) {
  tt_sweep_plan *plan = &store->plan;
  tt_sweep_metric *metrics;
  const int count = (int)store->keys->metrics_count;
  NEW(store, metrics, count);
  plan->metrics = metrics;
  for (int i = 0; i < count; i++) {
    TT_TRY(load_metric(store, i, &metrics[i]));
    plan->metric_count = i + 1;
  }
  plan->success = store->keys->success;
  plan->stop_when = store->keys->stop_when;
  return load_keep(store);
}

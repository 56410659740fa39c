/* plan_names.c: the names that a plan uses, against those of its scene: signals of metrics and conditions, axes of a command. */
#include "sweep/plan_internal.h"

#include "base/nearest.h"
#include "base/shell.h"
#include "sweep/condition.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static tt_status check_signals(const tt_plan_store *store, const tt_sim *sim) {
  const tt_names *names = tt_sim_names(sim);
  tt_signal signal;
  for (int i = 0; i < store->plan.axis_count; i++) {
    const tt_sweep_axis *axis = &store->plan.axes[i];
    if (tt_names_find_signal(names, axis->name, TT_NO_ROBOT, "", &signal, NULL) != TT_OK) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s.name: the scene has a signal '%s', which read(\"%s\") would give; take "
                   "another name",
                   axis->where, axis->name, axis->name);
  }
  return TT_OK;
}

static tt_status check_metrics(tt_plan_store *store, const tt_scene *scene, const tt_sim *sim) {
  tt_sweep_plan *plan = &store->plan;
  const tt_metric_keys *keys[TT_SWEEP_MAX_METRICS];
  const char *where[TT_SWEEP_MAX_METRICS];
  const double tick =
      (double)scene->timestep_num * (double)scene->io_steps / (double)scene->timestep_den;
  tt_metrics *metrics;
  for (int i = 0; i < plan->metric_count; i++) {
    keys[i] = plan->metrics[i].keys;
    where[i] = plan->metrics[i].where;
  }
  TT_TRY(tt_metrics_new(keys, where, plan->metric_count, tt_sim_names(sim), tick, &metrics,
                        store->error));
  tt_status status = TT_OK;
  for (int i = 0; status == TT_OK && i < plan->metric_count; i++) {
    const char *unit = tt_pool_print(&store->pool, "%s", tt_metrics_unit(metrics, i));
    ((tt_sweep_metric *)plan->metrics)[i].unit = unit ? unit : "";
    if (!unit) status = tt_plan_no_memory(store);
  }
  tt_metrics_free(metrics);
  return status;
}

/* --- conditions --- */

static tt_status check_condition(const tt_plan_store *store, const char *key, const char *text,
                                 const tt_condition_scope *scope) {
  char where[PATH_MAX + 64];
  tt_condition *condition;
  if (!text) return TT_OK;
  snprintf(where, sizeof where, "%s: %s", store->document->path, key);
  TT_TRY(tt_condition_new(text, where, scope, &condition, store->error));
  tt_condition_free(condition);
  return TT_OK;
}

/** `success` sees the columns of a row, `stop_when` the signals of a tick. */
static tt_status check_conditions(const tt_plan_store *store, const tt_sim *sim) {
  const tt_sweep_plan *plan = &store->plan;
  tt_condition_column columns[TT_SWEEP_MAX_AXES + TT_SWEEP_MAX_METRICS];
  int count = 0;
  for (int i = 0; i < plan->axis_count; i++)
    columns[count++] = (tt_condition_column){plan->axes[i].name, plan->axes[i].unit};
  for (int i = 0; i < plan->metric_count; i++)
    columns[count++] = (tt_condition_column){plan->metrics[i].name, plan->metrics[i].unit};
  const tt_condition_scope row = {.columns = columns, .column_count = count};
  const tt_condition_scope tick = {.names = tt_sim_names(sim)};
  TT_TRY(check_condition(store, "success", plan->success, &row));
  return check_condition(store, "stop_when", plan->stop_when, &tick);
}

/* --- a program's command --- */

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_'; }

/** Within a person's own quotes, those that a value needs would end them. */
static tt_status check_quotes(const tt_plan_store *store, const tt_sweep_axis *axis,
                              const char *at) {
  const char *command = store->plan.controller.text;
  const char quote = tt_shell_quote_at(command, at);
  char variable[128];
  for (int i = 0; quote && axis->values && i < axis->count; i++) {
    const tt_sweep_value *value = &axis->values[i];
    if (value->kind != TT_SWEEP_TEXT || tt_shell_is_plain(value->text)) continue;
    snprintf(variable, sizeof variable, "%s", axis->name);
    for (char *c = variable; *c; c++) *c = (char)toupper((unsigned char)*c);
    return tt_fail(
        store->error, TT_INVALID,
        "%s.command: {%s} stands within %c, where its value '%s' could not be put; write "
        "it without these quotes, or \"$TETHER_%s\" for it",
        store->plan.controller.where, axis->name, quote, value->text, variable);
  }
  return TT_OK;
}

/** Each {gain} of a command is an axis, or the seed. ${HOME} and { are the shell's. */
static tt_status check_command(const tt_plan_store *store) {
  const tt_sweep_plan *plan = &store->plan;
  const char *command = plan->controller.text;
  for (const char *at = command; (at = strchr(at, '{')); at++) {
    size_t size = 0;
    char name[128];
    while (is_name_character(at[1 + size])) size++;
    if (size == 0 || size >= sizeof name || at[1 + size] != '}') continue;
    if (at > command && at[-1] == '$') continue;
    snprintf(name, sizeof name, "%.*s", (int)size, at + 1);
    bool known = strcmp(name, "seed") == 0;
    tt_nearest nearest = tt_nearest_start(name);
    tt_nearest_offer(&nearest, "seed");
    for (int i = 0; i < plan->axis_count; i++) {
      if (strcmp(name, plan->axes[i].name) == 0) {
        known = true;
        TT_TRY(check_quotes(store, &plan->axes[i], at));
      }
      tt_nearest_offer(&nearest, plan->axes[i].name);
    }
    if (!known)
      return tt_fail(store->error, TT_INVALID, "%s.command: {%s} is no axis of this plan%s",
                     plan->controller.where, name, tt_nearest_hint(&nearest));
  }
  return TT_OK;
}

static tt_status check_program(const tt_plan_store *store, const tt_scene *scene) {
  if (store->plan.controller.kind != TT_SWEEP_PROGRAM) return TT_OK;
  if (scene->wire_count == 0 && store->guests)
    return tt_fail(store->error, TT_INVALID,
                   "%s.command: the scene has no wire that a program could drive it over; add one "
                   "to the scene, or take lua",
                   store->plan.controller.where);
  return check_command(store);
}

tt_status tt_plan_check_names(tt_plan_store *store, const tt_scene *scene, const tt_sim *sim) {
  TT_TRY(check_signals(store, sim));
  TT_TRY(check_program(store, scene));
  TT_TRY(check_metrics(store, scene, sim));
  return check_conditions(store, sim);
}

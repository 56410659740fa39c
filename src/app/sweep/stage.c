#include "app/sweep/stage.h"

#include "app/assemble.h"
#include "app/guests.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one of them ---- */

static tt_status no_memory(tt_error *error) { return tt_fail(error, TT_NOMEM, "out of memory"); }

/* Two runs whose settings are the same texts share a scene. */
static char *make_key(const tt_sweep_settings *settings, size_t *size) {
  *size = 0;
  for (int i = 0; i < settings->count; i++) *size += strlen(settings->list[i]) + 1;
  char *key = malloc(*size + 1), *at = key;
  for (int i = 0; key && i < settings->count; i++) {
    const size_t length = strlen(settings->list[i]) + 1;
    memcpy(at, settings->list[i], length);
    at += length;
  }
  return key;
}

static tt_status keep_values(const tt_sweep_plan *plan, tt_sweep_stage *stage, tt_error *error) {
  tt_sim *sim = tt_world_sim(stage->world);
  tt_sim_values(sim, &stage->value_count);
  const double *present = tt_sim_present_values(sim);
  stage->values = calloc((size_t)stage->value_count + 1, sizeof *stage->values);
  stage->wanted = calloc((size_t)stage->value_count + 1, sizeof *stage->wanted);
  if (!stage->values || !stage->wanted) return no_memory(error);
  for (int i = 0; i < stage->value_count; i++) stage->values[i] = (tt_submission){i, present[i]};
  for (int i = 0; i < plan->axis_count; i++) {
    const tt_sweep_axis *axis = &plan->axes[i];
    stage->value_of_axis[i] = -1;
    if (tt_sweep_sets_model(axis))
      TT_TRY(tt_sim_find_value(sim, axis->set, axis->where, &stage->value_of_axis[i], error));
  }
  return TT_OK;
}

static tt_status open_metrics(const tt_sweep_plan *plan, tt_sweep_stage *stage, tt_error *error) {
  const tt_metric_keys *keys[TT_SWEEP_MAX_METRICS];
  const char *where[TT_SWEEP_MAX_METRICS];
  const tt_scene *scene = stage->scene;
  double timestep = (double)scene->timestep_num / (double)scene->timestep_den;
  for (int i = 0; i < plan->metric_count; i++) {
    keys[i] = plan->metrics[i].keys;
    where[i] = plan->metrics[i].where;
  }
  return tt_metrics_new(keys, where, plan->metric_count, tt_world_names(stage->world),
                        (double)scene->io_steps * timestep, &stage->metrics, error);
}

static tt_status open_stop(const tt_sweep_plan *plan, tt_sweep_stage *stage, tt_error *error) {
  const tt_condition_scope scope = {.names = tt_world_names(stage->world)};
  char where[PATH_MAX + 16];
  if (!plan->stop_when) return TT_OK;
  snprintf(where, sizeof where, "%s: stop_when", plan->path);
  return tt_condition_new(plan->stop_when, where, &scope, &stage->stop, error);
}

static tt_status build(const tt_sweep_plan *plan, const tt_sweep_settings *settings, bool hashes,
                       tt_sweep_stage *stage, tt_error *error) {
  const tt_assembly assembly = {.no_wires = true, .hash_every_tick = hashes};
  stage->key = make_key(settings, &stage->key_size);
  if (!stage->key) return no_memory(error);
  TT_TRY(tt_scene_load(&tt_program_guests, plan->scene, settings->list, settings->count,
                       &stage->scene, error));
  TT_TRY(tt_assemble(stage->scene, &assembly, &stage->world, error));
  TT_TRY(keep_values(plan, stage, error));
  TT_TRY(open_metrics(plan, stage, error));
  return open_stop(plan, stage, error);
}

tt_status tt_sweep_stage_new(const tt_sweep_plan *plan, const tt_sweep_settings *settings,
                             bool hashes, tt_sweep_stage **stage, tt_error *error) {
  tt_sweep_stage *made = calloc(1, sizeof *made);
  if (!made) return no_memory(error);
  tt_status status = build(plan, settings, hashes, made, error);
  if (status == TT_OK)
    *stage = made;
  else
    tt_sweep_stage_free(made);
  return status;
}

void tt_sweep_stage_free(tt_sweep_stage *stage) {
  if (!stage) return;
  tt_condition_free(stage->stop);
  tt_metrics_free(stage->metrics);
  tt_world_free(stage->world);
  tt_scene_free(stage->scene);
  free(stage->values);
  free(stage->wanted);
  free(stage->key);
  free(stage);
}

/* ---- the last few ---- */

static bool is_of(const tt_sweep_stage *stage, const char *key, size_t size) {
  return stage && stage->key_size == size && memcmp(stage->key, key, size) == 0;
}

/* The place of these settings; or of the one not used for longest. */
static tt_sweep_stage **find(tt_sweep_stages *stages, const char *key, size_t size) {
  tt_sweep_stage **oldest = &stages->stages[0];
  for (int i = 0; i < TT_SWEEP_STAGES; i++) {
    tt_sweep_stage **at = &stages->stages[i];
    if (is_of(*at, key, size)) return at;
    if (*oldest && (!*at || (*at)->used < (*oldest)->used)) oldest = at;
  }
  return oldest;
}

tt_status tt_sweep_stages_take(tt_sweep_stages *stages, const tt_sweep_plan *plan,
                               const tt_sweep_settings *settings, tt_sweep_stage **stage,
                               tt_error *error) {
  size_t size;
  char *key = make_key(settings, &size);
  if (!key) return no_memory(error);
  tt_sweep_stage **at = find(stages, key, size);
  const bool found = is_of(*at, key, size);
  free(key);
  if (!found) {
    tt_sweep_stage_free(*at);
    *at = NULL;
    TT_TRY(tt_sweep_stage_new(plan, settings, false, at, error));
  }
  (*at)->used = ++stages->clock;
  *stage = *at;
  return TT_OK;
}

void tt_sweep_stages_drop(tt_sweep_stages *stages, const tt_sweep_stage *stage) {
  for (int i = 0; i < TT_SWEEP_STAGES; i++) {
    if (stages->stages[i] != stage) continue;
    tt_sweep_stage_free(stages->stages[i]);
    stages->stages[i] = NULL;
  }
}

void tt_sweep_stages_clear(tt_sweep_stages *stages) {
  for (int i = 0; i < TT_SWEEP_STAGES; i++) tt_sweep_stage_free(stages->stages[i]);
  *stages = (tt_sweep_stages){0};
}

/* stage.h: scenes that stand for runs to be made in, the last few of them: what runs with equal settings share. */
#ifndef TT_APP_SWEEP_STAGE_H
#define TT_APP_SWEEP_STAGE_H

#include "app/sweep/settings.h"
#include "host/world.h"
#include "scene/scene.h"
#include "sweep/condition.h"
#include "sweep/metric.h"

/** A scene, its world without wires, and what is looked at in it. */
typedef struct tt_sweep_stage {
  tt_scene *scene;
  tt_world *world; /**< for one run after another, or to be cloned */
  tt_metrics *metrics;
  tt_condition *stop; /**< of the plan's stop_when; NULL: none */
  uint64_t used;      /**< when it was taken last */
  char *key;          /**< its settings */
  size_t key_size;
  tt_submission *values; /**< [value_count] of the models, as the scene has them */
  tt_submission *wanted; /**< [value_count], for use within one call */
  int value_count;
  int value_of_axis[TT_SWEEP_MAX_AXES]; /**< index of the value that an axis sets, or −1 */
} tt_sweep_stage;

/** Loads and compiles. `hashes`: each tick's state is journaled. TT_INVALID: the plan or its scene is wrong. */
tt_status tt_sweep_stage_new(const tt_sweep_plan *plan, const tt_sweep_settings *settings,
                             bool hashes, tt_sweep_stage **stage, tt_error *error);
/** NULL-safe. */
void tt_sweep_stage_free(tt_sweep_stage *stage);

#define TT_SWEEP_STAGES 4

/** Zero at first. */
typedef struct tt_sweep_stages {
  tt_sweep_stage *stages[TT_SWEEP_STAGES];
  uint64_t clock;
} tt_sweep_stages;

/** The stage of these settings, which stays the cache's; the one not used for longest makes room for a new one. */
tt_status tt_sweep_stages_take(tt_sweep_stages *stages, const tt_sweep_plan *plan,
                               const tt_sweep_settings *settings, tt_sweep_stage **stage,
                               tt_error *error);
/** Of `stage` nothing is kept. */
void tt_sweep_stages_drop(tt_sweep_stages *stages, const tt_sweep_stage *stage);
void tt_sweep_stages_clear(tt_sweep_stages *stages);

#endif

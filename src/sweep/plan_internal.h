/* plan_internal.h: what the parts of loading a plan share: the plan under construction, its memory, its file.
 *
 * plan.c names the stages. Each function says what is wrong in store->error, with file and key; what it allocates belongs to the plan.
 */
#ifndef TT_SWEEP_PLAN_INTERNAL_H
#define TT_SWEEP_PLAN_INTERNAL_H

#include "scene/pool.h"
#include "scene/scene.h"
#include "scene/settings.h"
#include "scene/tree.h"
#include "sim/sim.h"
#include "sweep/plan.h"
#include "sweep/plan_keys.h"

#define TT_PLAN_SEED "seed"                    /**< what an axis sets that is the run's own seed */
#define TT_PLAN_GREATEST_SEED 1000000000000000 /**< so that doubles and databases hold it exactly */
#define TT_PLAN_VALUES "models." /**< begins what a simulation may change after a reset */

/** What may stand on an axis, by what it sets. */
typedef struct tt_plan_target {
  enum {
    TT_PLAN_FREE, /**< nobody knows: the controller reads it, or the key is not listed */
    TT_PLAN_WHOLE,
    TT_PLAN_NUMBER,
    TT_PLAN_QUANTITY,
    TT_PLAN_WORD,
    TT_PLAN_FLAG,
    TT_PLAN_TEXT
  } kind;
  tt_dimension dimension; /**< of a quantity */
  double lower, upper;    /**< SI */
  const char *words;      /**< "red, blue" */
} tt_plan_target;

/** What an axis is besides what all may know. */
typedef struct tt_plan_axis {
  tt_plan_target target;
  const char *const *texts; /**< values of a list as they were written; NULL: of a range */
  bool is_setting;          /**< a key of the scene, which is loaded with it */
} tt_plan_axis;

/** A file that runs depend on: plan_hash.c. */
typedef struct tt_plan_file tt_plan_file;

/** What stands behind a tt_sweep_plan, which is its first member. */
typedef struct tt_plan_store {
  tt_sweep_plan plan;
  tt_pool pool;
  tt_document *document;
  const cyaml_schema_value_t *schema;
  tt_plan_keys *keys;
  const tt_scene_guests *guests;
  tt_plan_axis *axes;      /**< [plan.axis_count] */
  const int *group_counts; /**< [group_count]: points of a grid along each; 0: between bounds */
  int group_count, setting_count;
  unsigned char identity[16]; /**< hash of what all its runs have in common */
  tt_plan_file *files;        /**< [file_count] */
  int file_count;
  tt_error *error;
} tt_plan_store;

/** Zeroed memory for `count` things in `target`, or a return with TT_NOMEM. */
#define NEW(store, target, count)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_new(&(store)->pool, (size_t)(count) + 1, sizeof *(target));                 \
    if (!(target)) return tt_plan_no_memory(store);                                                \
  } while (0)

/** Text as printf makes it in `target`, or a return with TT_NOMEM. */
#define PRINT(store, target, ...)                                                                  \
  do {                                                                                             \
    (target) = tt_pool_print(&(store)->pool, __VA_ARGS__);                                         \
    if (!(target)) return tt_plan_no_memory(store);                                                \
  } while (0)

/** TT_NOMEM, and said so. */
tt_status tt_plan_no_memory(const tt_plan_store *store);
/** The file `name` as the plan gives it, absolute; relative to the plan's folder. It need not be there. */
tt_status tt_plan_path(tt_plan_store *store, const char *name, const char **path);
/** A regular file that can be read. `where` begins the error. */
tt_status tt_plan_check_file(const tt_plan_store *store, const char *path, const char *where);

/** A column's name: no other kind of text, none that every table has. `where` is the axis' or metric's. */
tt_status tt_plan_check_name(const tt_plan_store *store, const char *name, const char *where);
/** None of the first so many axes and metrics is called the same. */
tt_status tt_plan_check_double(const tt_plan_store *store, const char *name, const char *where,
                               int axis_count, int metric_count);

/* Stages, in this order */

/** `controller`: before the scene is known. */
tt_status tt_plan_load_controller(tt_plan_store *store);
/** Names, groups and shape of `axes`: before the scene is known. */
tt_status tt_plan_load_axes(tt_plan_store *store);
/** `metrics`, `success`, `stop_when`, `keep`: after `output`. */
tt_status tt_plan_load_metrics(tt_plan_store *store);
/** `set`, and all that the scene decides: what axes may be set to, signals, ticks; makes the hash of what all runs share. May block
 *  (files, compiling models). */
tt_status tt_plan_load_scene(tt_plan_store *store);
/** Values of all axes, once their targets are known. */
tt_status tt_plan_load_values(tt_plan_store *store);

/** The names that a plan uses, in the simulation of its scene; units of metrics follow from it. */
tt_status tt_plan_check_names(tt_plan_store *store, const tt_scene *scene, const tt_sim *sim);

/** One text of an axis as a value. TT_INVALID with the range; `where` begins the error. */
tt_status tt_plan_read_value(tt_plan_store *store, const tt_plan_target *target, const char *text,
                             const char *where, tt_sweep_value *value, tt_dimension *dimension);

/** What lies at a share of the way from an axis' lower bound to its upper one, both exact. */
double tt_plan_between(const tt_sweep_axis *axis, double share);
/** The value of axis `index` at `point`. */
tt_sweep_value tt_plan_value(const tt_plan_store *store, int index, uint64_t point);

/* Identity */

/** A hash under way: plan_hash.h. */
typedef struct tt_plan_hash tt_plan_hash;
/** Adds all else that a plan's runs have in common: store->identity, and what the plan shows of it. */
tt_status tt_plan_identify(tt_plan_store *store, tt_plan_hash *hash);
/** The id of a run whose seed and axes are known. */
void tt_plan_run_id(const tt_plan_store *store, tt_sweep_run *run);

#endif

/* metric.h: what a plan measures of a run, computed at every tick from the view.
 *
 * Formulas, parameters and units of each measure are documented in docs/sweep.md; what is never reached is no value.
 */
#ifndef TT_SWEEP_METRIC_H
#define TT_SWEEP_METRIC_H

#include "base/status.h"
#include "model/schema.h"
#include "model/signal.h"
#include "model/view.h"
#include "sweep/value.h"

/** libcyaml fields of one of a plan's `metrics`, and the struct behind it, tt_metric_keys; its check is tt_metric_check(). */
typedef struct tt_metric_keys tt_metric_keys;
extern const cyaml_schema_value_t tt_metric_schema;
#define TT_METRIC_LUA_SIGNALS 16 /**< that a Lua function may read */
#define TT_METRIC_LUA_VALUES                                                                       \
  (1 << 21) /**< samples that are kept for a Lua function, of all its signals together */
#define TT_METRIC_LIMIT 1e12 /**< thresholds, targets and points lie within ± this, SI */

/** Sets defaults and checks what needs no scene, all but the name: `where` begins the error, "plan.yaml: metrics[0]". Files (Lua)
 *  are looked up in `folder`, which is absolute, and must be there. Once for each keys. */
tt_status tt_metric_check(tt_metric_keys *keys, const char *where, const char *folder,
                          tt_error *error);
/** The column's name. The keys'. */
const char *tt_metric_name(const tt_metric_keys *keys);
/** The Lua file that decides what it measures, by its absolute path; NULL: none. The keys'. */
const char *tt_metric_file(const tt_metric_keys *keys);

/** The metrics of a plan in one simulation, or in all of one scene. One thread. */
typedef struct tt_metrics tt_metrics;

/** Resolves every signal. `tick`: s between samples. `keys` [count] and `names` outlive it. TT_INVALID: a name is not one of the
 *  scene's, with the nearest one. */
tt_status tt_metrics_new(const tt_metric_keys *const *keys, const char *const *where, int count,
                         const tt_names *names, double tick, tt_metrics **metrics, tt_error *error);
void tt_metrics_free(tt_metrics *metrics);
/** The unit (SI) of column `index`. Static or the metrics'. */
const char *tt_metrics_unit(const tt_metrics *metrics, int index);
/** A run begins: nothing of an earlier one is left. */
void tt_metrics_begin(tt_metrics *metrics);
/** A tick, the initial state first. TT_NOMEM. */
tt_status tt_metrics_sample(tt_metrics *metrics, const tt_view *view, tt_error *error);
/** Writes what was measured, [count]: numbers, or nothing. TT_FAILED: a Lua function failed, with file and line; TT_FULL: it came to a
 *  limit, or had more samples than TT_METRIC_LUA_VALUES. Its value is nothing; the others are there all the same. */
tt_status tt_metrics_end(tt_metrics *metrics, tt_sweep_value *values, tt_error *error);

#endif

/* results.h: the table of a sweep: one row a run, in a file or a database.
 *
 * One process writes. A row is there whole or not at all, and once, whatever is killed; it is durable once tt_sweep_results_commit() is back.
 *
 * What readers find (a file is in WAL mode, so that they read while it is written):
 *   run         a row a run: id, run (its number), seed, status, error, hash, simulated_time, wall_time, host, then axes and
 *               metrics in the plan's order, then success where the plan has a condition; rowids only grow. Declared TEXT for texts
 *   run_column  name, role ("run", "axis", "metric"), unit: a row each column of `run`, in that order
 *   sweep       key, value: plan (absolute path), scene, runs (how many the plan has), repeat; others are the writer's own
 */
#ifndef TT_SWEEP_RESULTS_H
#define TT_SWEEP_RESULTS_H

#include "sweep/plan.h"

typedef struct tt_sweep_results tt_sweep_results;

typedef struct tt_sweep_results_options {
  const char *output; /**< FILE.sqlite or postgresql://…; NULL: the plan's own */
  bool extend;        /**< the plan may have changed since: rows that it has no longer stay */
} tt_sweep_results_options;

/** Opens or makes the table of a plan. TT_FAILED: another sweep writes there (its process is named), or the machine refused; TT_INVALID: what is there
 *  is of another plan or version, or no table of ours. */
tt_status tt_sweep_results_open(const tt_sweep_plan *plan, const tt_sweep_results_options *options,
                                tt_sweep_results **results, tt_error *error);
/** Commits, and lets others write. NULL-safe. */
void tt_sweep_results_close(tt_sweep_results *results);
/** Whether the row of run `number` is there. In constant time. */
bool tt_sweep_results_has(const tt_sweep_results *results, uint64_t number);
/** How many of the plan's rows are there. */
uint64_t tt_sweep_results_count(const tt_sweep_results *results);
/** Adds a row; one that is there already is left as it is. Not durable before tt_sweep_results_commit(). */
tt_status tt_sweep_results_add(tt_sweep_results *results, const tt_sweep_row *row, tt_error *error);
tt_status tt_sweep_results_commit(tt_sweep_results *results, tt_error *error);
/** Writes the whole table as CSV, rows in the plan's order. */
tt_status tt_sweep_results_csv(const char *output, const char *path, tt_error *error);

#endif

/* results.h: the table of a sweep: one row a run, in a file of SQLite, in PostgreSQL, or as files of a shard (shard.h).
 *
 * One process writes a table, in one thread. A row is there whole or not at all, and once, whatever is killed; it is durable
 * once tt_sweep_results_commit() is back.
 *
 * What readers find (a file is in WAL mode while it is written, so that they may read):
 *   run         a row a run: id, run (its number; NULL: the plan, which was changed, has it no longer), seed, status, error, hash,
 *               simulated_time, wall_time, host, then axes and metrics in the plan's order, then success where the plan has a
 *               condition; rowids only grow. Declared TEXT for texts
 *   run_column  name, role ("run", "axis", "metric"), unit: a row each column of `run`, in that order; success is a "metric"
 *   sweep       key, value: plan (absolute path), scene, runs (how many the plan has), repeat, text (the plan's), version; others
 *               are the writer's own
 * In PostgreSQL they stand in the schema `sweep_NAME` of a plan NAME.yaml.
 */
#ifndef TT_SWEEP_RESULTS_H
#define TT_SWEEP_RESULTS_H

#include "sweep/plan.h"

typedef struct tt_sweep_results tt_sweep_results;

typedef struct tt_sweep_results_options {
  /** FILE.sqlite or postgresql://…; NULL: the plan's own. With `shards`: a folder */
  const char *output;
  /** the plan may have changed since: rows that it has no longer stay, without a number */
  bool extend;
  /** rows become files of the folder `output`, which many processes share (shard.h) */
  bool shards;
  unsigned shard, shard_count; /**< with `shards`: named by its files; 0: of none */
} tt_sweep_results_options;

/** Opens or makes the table of a plan, which must outlive it. Fork before, not after: what is open would be shared, and the
 *  table be held for as long as the other process lives. TT_FAILED: another sweep writes there (its process is named), or the
 *  machine refused; TT_INVALID: what is there is of another plan or version, or no table of ours. May block for seconds. */
tt_status tt_sweep_results_open(const tt_sweep_plan *plan, const tt_sweep_results_options *options,
                                tt_sweep_results **results, tt_error *error);
/** Gives up what was not committed, and lets others write. NULL-safe. */
void tt_sweep_results_close(tt_sweep_results *results);
/** For people: the file, the folder, or the schema, without the address and its password. The results'. */
const char *tt_sweep_results_name(const tt_sweep_results *results);
/** Whether the row of run `number` is there. In constant time. */
bool tt_sweep_results_has(const tt_sweep_results *results, uint64_t number);
/** How many of the plan's rows are there. */
uint64_t tt_sweep_results_count(const tt_sweep_results *results);
/** How many of these were there when it was opened, or are committed. Not of shards, whose files are written less often. */
uint64_t tt_sweep_results_durable(const tt_sweep_results *results);
/** Adds a row; one that is there already is left as it is. Not durable before tt_sweep_results_commit(). After an error
 *  what was not committed is lost, and every later call gives the same error. */
tt_status tt_sweep_results_add(tt_sweep_results *results, const tt_sweep_row *row, tt_error *error);
/** Makes what was added durable; waits for the disk or the server where something was. A shard's files are written less
 *  often (shard.h): tt_sweep_results_finish() writes the last. */
tt_status tt_sweep_results_commit(tt_sweep_results *results, tt_error *error);
/** Commits all; to be called before closing. A file can then be read without those beside it. */
tt_status tt_sweep_results_finish(tt_sweep_results *results, tt_error *error);

/** Gives the plan's rows in its order, those not committed yet, too; `row` is valid within the call. Stops at another status
 *  than TT_OK, which is handed on. Not of shards: TT_INVALID. */
tt_status tt_sweep_results_each(tt_sweep_results *results,
                                tt_status (*row)(void *context, const tt_sweep_row *row,
                                                 tt_error *error),
                                void *context, tt_error *error);
/** Before any run is made. TT_USAGE: tt_sweep_results_csv() would write over the table, the plan, or a file that its runs are made of;
 *  TT_FAILED: it could not write there. */
tt_status tt_sweep_results_check_csv(const tt_sweep_results *results, const char *path,
                                     tt_error *error);
/** Writes the plan's rows as CSV (RFC 4180) into a new file, in its order; "-" is standard output. */
tt_status tt_sweep_results_csv(tt_sweep_results *results, const char *path, tt_error *error);
/** Which runs have no row, for people: "runs 200 to 256, 300 and 12 more". "" where none is missing. Returns `text`. */
const char *tt_sweep_results_missing(const tt_sweep_results *results, char *text, size_t size);

#endif

/* kept.h: which logs of a sweep stay: of all runs, of failures, of the best and worst. */
#ifndef TT_APP_SWEEP_KEPT_H
#define TT_APP_SWEEP_KEPT_H

#include "sweep/results.h"

typedef struct tt_sweep_kept tt_sweep_kept;

/** Logs that the plan keeps, and that are not there: `keep` said less when their runs were made, or a process crashed, or somebody removed them. */
typedef struct tt_sweep_missing_logs {
  uint64_t count;
  char first[33]; /**< the id of the first of these runs; "" for none */
} tt_sweep_missing_logs;

/** Makes the plan's folder, and in it one in which logs are recorded; what an earlier sweep of these runs left there goes. Rows that are there
 *  already (`results`), and their logs with them, count among the best and worst; of a part of the plan (`results` NULL), which begins with run `first`, only those to come do, until
 *  tt_sweep_kept_settle(). `*kept` is NULL where the plan keeps nothing. TT_FAILED: the machine refuses. */
tt_status tt_sweep_kept_open(const tt_sweep_plan *plan, tt_sweep_results *results, uint64_t first,
                             tt_sweep_kept **kept, tt_error *error);
/** Parts of a plan have become one table: removes logs of those that are the best and worst of their part only. */
tt_status tt_sweep_kept_settle(const tt_sweep_plan *plan, tt_sweep_results *results,
                               tt_error *error);
/** A table is whole: which logs are not there that should be, as all of its rows are. */
tt_status tt_sweep_kept_missing(const tt_sweep_plan *plan, tt_sweep_results *results,
                                tt_sweep_missing_logs *missing, tt_error *error);
/** Removes the folder in which logs are recorded. NULL-safe. */
void tt_sweep_kept_close(tt_sweep_kept *kept);
/** Where logs are recorded; NULL for NULL. */
const char *tt_sweep_kept_folder(const tt_sweep_kept *kept);
/** Whether the log of a run with this row is to stay, as things are. */
bool tt_sweep_kept_wants(const tt_sweep_kept *kept, const tt_sweep_row *row);
/** A run was made, and recorded into `log`, or not (NULL): keeps the log as ID.wpilog in the plan's folder, or removes it; and removes
 *  what is among the best and worst no longer. NULL-safe. */
tt_status tt_sweep_kept_take(tt_sweep_kept *kept, const tt_sweep_row *row, const char *log,
                             tt_error *error);

#endif

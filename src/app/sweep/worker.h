/* worker.h: a process that makes runs for a sweep.
 *
 * It is forked, not started anew: the sweep has one thread, and what it has read and compiled already is there, too. What else is
 * open in the sweep (its table above all) the worker closes at once. It ends when the sweep does, however that ends.
 */
#ifndef TT_APP_SWEEP_WORKER_H
#define TT_APP_SWEEP_WORKER_H

#include "sweep/plan.h"

#include <sys/types.h>

/** A run to be made. */
typedef struct tt_sweep_order {
  uint64_t number;
  uint64_t records; /**< 1: it is to be recorded */
} tt_sweep_order;

typedef struct tt_sweep_worker {
  pid_t process;
  int orders;  /**< a pipe to it, of tt_sweep_order; it ends where the pipe does */
  int answers; /**< a pipe from it: frames (frame.h); does not block */
} tt_sweep_worker;

/** Starts one, which records in `log_folder`, or nowhere where that is NULL. TT_FAILED: the machine refuses. */
tt_status tt_sweep_worker_start(const tt_sweep_plan *plan, const char *log_folder,
                                tt_sweep_worker *worker, tt_error *error);

/** Where the log of a run is recorded. Returns `path`. */
const char *tt_sweep_log_path(const char *folder, const tt_sweep_run *run, char *path, size_t size);

#endif

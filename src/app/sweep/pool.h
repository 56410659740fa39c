/* pool.h: worker processes of a sweep, each with a maker of its own. A run that takes its process along costs itself only. */
#ifndef TT_APP_SWEEP_POOL_H
#define TT_APP_SWEEP_POOL_H

#include "sweep/plan.h"

/** Where runs come from and rows go; all calls in the thread of tt_sweep_pool_run(). */
typedef struct tt_sweep_work {
  /** The next run's number; false: there are no more. */
  bool (*next)(void *context, uint64_t *number);
  /** Whether the log of such a run is to stay, of which there is none yet: then it is made again, and recorded. NULL: no. */
  bool (*wants_log)(void *context, const tt_sweep_row *row);
  /** A row, once; where `log` is not NULL its log stands there, and is the callee's. TT_OK, or the sweep ends with this. */
  tt_status (*done)(void *context, const tt_sweep_row *row, const char *log, tt_error *error);
  /** About every 100 ms: to commit, draw, look at signals. False ends the sweep. */
  bool (*turn)(void *context);
  void *context;
} tt_sweep_work;

typedef struct tt_sweep_pool_options {
  int jobs;               /**< processes, > 0 */
  const char *log_folder; /**< where runs are recorded; NULL: nowhere */
  bool records_all;       /**< each as it is made, not those alone whose log is wanted then */
} tt_sweep_pool_options;

/** Makes all runs that `work` gives. Workers, and the programs they started, end with this process, `kill -9` included. TT_OK;
 *  TT_FAILED: it could not finish. */
tt_status tt_sweep_pool_run(const tt_sweep_plan *plan, const tt_sweep_pool_options *options,
                            const tt_sweep_work *work, tt_error *error);

#endif

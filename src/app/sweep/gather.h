/* gather.h: the table of a sweep whose runs other processes make, on whatever machine: it is gathered from the folder of their shards. */
#ifndef TT_APP_SWEEP_GATHER_H
#define TT_APP_SWEEP_GATHER_H

#include "app/sweep/report.h"
#include "app/sweep/slurm.h"

typedef struct tt_sweep_gathering {
  const tt_sweep_plan *plan;
  tt_sweep_results *results;
  tt_sweep_report *report;
  const char *folder; /**< of the shards, absolute */
} tt_sweep_gathering;

/** Where shards of a plan put their rows: `folder`, or where that is NULL beside the table, "PLAN.shards"; absolute. free() it; NULL: out of memory. */
char *tt_sweep_shards_folder(const tt_sweep_plan *plan, const char *output, const char *folder);

/** Adds the rows that are there. TT_FAILED: some are missing (which ones is said), or the machine refused; TT_INVALID: there is no such folder.
 *  What was read is committed in any case. */
tt_status tt_sweep_gather(const tt_sweep_gathering *gathering, tt_error *error);
/** Has Slurm make the rows that are missing, and adds them as they come. Blocks until all are there, unless the options say to detach.
 *  TT_INTERRUPTED: a signal came (tt_catch_signals()), and the array is cancelled; else as tt_sweep_slurm(). */
tt_status tt_sweep_gather_from_slurm(const tt_sweep_gathering *gathering,
                                     const tt_sweep_slurm_options *options, tt_error *error);

#endif

/* local.h: makes runs of a plan on this machine, and puts their rows into its table. */
#ifndef TT_APP_SWEEP_LOCAL_H
#define TT_APP_SWEEP_LOCAL_H

#include "app/sweep/report.h"
#include "sweep/results.h"

typedef struct tt_sweep_local {
  const tt_sweep_plan *plan;
  tt_sweep_results *results;
  uint64_t first, end; /**< which runs, without `end`; those that have a row are left out */
  int jobs;            /**< processes, > 0 */
  tt_sweep_report *report;
} tt_sweep_local;

/** Blocks until all have a row, and commits it within a second. TT_INTERRUPTED: a signal came (tt_catch_signals()), and what was made is
 *  committed; so it is with any other error. */
tt_status tt_sweep_run_local(const tt_sweep_local *local, tt_error *error);

/** How many processes use this machine well. */
int tt_sweep_cores(void);

#endif

/* report.h: how far a sweep is, for people (a bar on a terminal) or for programs (a line of JSON a second). */
#ifndef TT_APP_SWEEP_REPORT_H
#define TT_APP_SWEEP_REPORT_H

#include "app/progress.h"
#include "sweep/plan.h"

typedef enum tt_sweep_report_kind {
  TT_SWEEP_REPORT_BAR,  /**< on standard error, where that is a terminal; a summary at the end */
  TT_SWEEP_REPORT_JSON, /**< on standard output: `runs`, `done`, `failed`, `rate` 1/s, `left` s, `best`; the last has `finished` */
  TT_SWEEP_REPORT_NONE
} tt_sweep_report_kind;

/** One thread. */
typedef struct tt_sweep_report {
  const tt_sweep_plan *plan;
  tt_sweep_report_kind kind;
  const char *output;
  uint64_t runs;         /**< of the plan, or of the part that is made here */
  uint64_t before;       /**< that were there at the start */
  uint64_t done;         /**< with those before */
  uint64_t failed;       /**< of those since then: not ok */
  uint64_t logs_missing; /**< that the plan keeps; of a whole table */
  bool any_best;
  double best; /**< of the plan's keep.metric */
  char best_id[33];
  uint64_t started, said; /**< ns */
  tt_progress progress;
} tt_sweep_report;

/** Begins now; plan and `output` outlive it. */
tt_sweep_report tt_sweep_report_start(const tt_sweep_plan *plan, tt_sweep_report_kind kind,
                                      const char *output, uint64_t runs, uint64_t before);
/** Of a row that was there at the start: whether it is the best so far. */
void tt_sweep_report_earlier(tt_sweep_report *report, const tt_sweep_row *row);
/** A row came. */
void tt_sweep_report_row(tt_sweep_report *report, const tt_sweep_row *row);
/** Ten times a second or so: shows what is new. */
void tt_sweep_report_show(tt_sweep_report *report);
/** The last word; `finished`: all rows are there. */
void tt_sweep_report_end(tt_sweep_report *report, bool finished);

#endif

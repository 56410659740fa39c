/* compare.h: two kept runs, signal by signal, at the same simulated times. */
#ifndef TT_RECORD_COMPARE_H
#define TT_RECORD_COMPARE_H

#include "base/status.h"
#include "record/run_log.h"

#include <stdbool.h>

/** What may differ, in SI. The last that fits a signal holds. */
typedef struct tt_tolerance {
  const char *name; /**< of a signal; "" for all */
  double value;     /**< ≥ 0 */
} tt_tolerance;

/** How one signal fared. */
typedef struct tt_deviation {
  const char *name; /**< owned by the log that has it */
  double tolerance;
  double largest, at; /**< the largest difference, and when (s) */
  double first;       /**< when it first left its tolerance (s); negative: never */
  bool missing;       /**< the other run has no such signal */
  bool added;         /**< only the other run has it */
} tt_deviation;

/** Compares at every time at which `kept` was sampled and both runs last; the real-time factor is nobody's doing and left
 *  out. Where one began later, as a run that went on from the other, signals without a tolerance have that of the log's rounding.
 *  `*deviations` is the caller's to free(). TT_NOT_FOUND: a tolerance is of a signal that is not kept. */
tt_status tt_compare_runs(const tt_run_log *kept, const tt_run_log *other,
                          const tt_tolerance *tolerances, int tolerance_count,
                          tt_deviation **deviations, int *count, tt_error *error);

#endif

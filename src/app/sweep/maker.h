/* maker.h: makes runs of a plan, one after the other, in this process: loads and compiles what several runs share once.
 *
 * A world without wires (or with those of a program's, in lock-step) at pace `fast`: neither the scene's pace nor its pages, telemetry
 * or recording, and no watchdog but with a program.
 */
#ifndef TT_APP_SWEEP_MAKER_H
#define TT_APP_SWEEP_MAKER_H

#include "sweep/plan.h"

typedef struct tt_sweep_maker tt_sweep_maker;

/** What is wrong with a plan that loading it could not tell, where `jobs` processes make its runs. TT_INVALID. */
tt_status tt_sweep_maker_check(const tt_sweep_plan *plan, int jobs, tt_error *error);
/** Whether its controller can be had on this machine, as a run would: a policy's module is imported, which may take seconds. TT_INVALID,
 *  TT_FAILED. */
tt_status tt_sweep_maker_try(const tt_sweep_plan *plan, tt_error *error);
/** Makes nothing yet; the plan outlives it. */
tt_status tt_sweep_maker_new(const tt_sweep_plan *plan, tt_sweep_maker **maker, tt_error *error);
void tt_sweep_maker_free(tt_sweep_maker *maker);
/** From here on a run is given up after so many s by the clock, not after the plan's `timeout`. */
void tt_sweep_maker_set_timeout(tt_sweep_maker *maker, double timeout);
/** Makes `run` and fills `row`; `log` is where it is recorded, or NULL. What goes wrong in the run itself is in the row's status and
 *  error. Otherwise: TT_FAILED, TT_NOMEM: the machine failed, and there is no row; TT_INVALID: the plan or scene is wrong. */
tt_status tt_sweep_make(tt_sweep_maker *maker, const tt_sweep_run *run, const char *log,
                        tt_sweep_row *row, tt_error *error);

#endif

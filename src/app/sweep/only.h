/* only.h: what `tether sweep` does beside making a table: one run again, alone; and telling what would be made. */
#ifndef TT_APP_SWEEP_ONLY_H
#define TT_APP_SWEEP_ONLY_H

#include "sweep/plan.h"

/** Makes the run of this id, or of which this is the beginning of the id, in this process, and prints its row. `record`: a file to keep it in, or NULL.
 *  TT_NOT_FOUND: the plan has no such run. */
tt_status tt_sweep_make_only(const tt_sweep_plan *plan, const char *id, const char *record,
                             bool json, tt_error *error);

/** Prints what the plan would make; makes one run, of which nothing stays, to tell how long that would take with so many processes. */
tt_status tt_sweep_show(const tt_sweep_plan *plan, int jobs, tt_error *error);

#endif

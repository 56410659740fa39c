/* comparison.h: two runs compared for people: tolerances of a command line, and what is said of the differences. */
#ifndef TT_APP_COMPARISON_H
#define TT_APP_COMPARISON_H

#include "record/compare.h"

/** Takes --tolerance: "VALUE" for all signals, "SIGNAL=VALUE" for one. `text` is cut at its "=", and the tolerance refers to it.
 *  TT_USAGE. */
tt_status tt_tolerance_take(char *text, tt_tolerance *tolerance, tt_error *error);

/** Compares the runs and says on standard output which signals leave their tolerance, the earliest first, or that none does.
 *  TT_DIFFERS: some do. */
tt_status tt_comparison_say(const tt_run_log *kept, const tt_run_log *other,
                            const tt_tolerance *tolerances, int tolerance_count, tt_error *error);

#endif

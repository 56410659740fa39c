/* plan_show.h: what a plan would do, for people, before anything runs. */
#ifndef TT_SWEEP_PLAN_SHOW_H
#define TT_SWEEP_PLAN_SHOW_H

#include "sweep/plan.h"

#include <stdio.h>

/** Prints how many runs there are, of what, where their table goes and how large it gets, and the first rows and the last. Time
 *  is told by who has measured a run. */
void tt_sweep_plan_show(const tt_sweep_plan *plan, FILE *to);

/** About how many bytes the table of all runs takes. */
double tt_sweep_plan_table_bytes(const tt_sweep_plan *plan);
/** "2.5 h"; "310 kB". Return `text`. */
const char *tt_sweep_time_text(double seconds, char *text, size_t size);
const char *tt_sweep_size_text(double bytes, char *text, size_t size);

#endif

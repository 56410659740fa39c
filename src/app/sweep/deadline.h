/* deadline.h: a world that waits for somebody's answer is left at a time of the clock. One in a process, by SIGALRM. */
#ifndef TT_APP_SWEEP_DEADLINE_H
#define TT_APP_SWEEP_DEADLINE_H

#include "host/world.h"

/** In `seconds` from now the world is interrupted (tt_world_interrupt()). */
void tt_sweep_deadline_set(tt_world *world, double seconds);
/** No longer; from here on nobody touches the world. */
void tt_sweep_deadline_clear(void);

#endif

/* network.h: a network of its own for a process, so that programs with fixed ports run side by side. */
#ifndef TT_APP_SWEEP_NETWORK_H
#define TT_APP_SWEEP_NETWORK_H

#include "base/status.h"
#include "sweep/plan.h"

/** Has this process, and those that it starts, see a network of its own, in which there is a loopback alone. TT_FAILED with the reason where
 *  that is not allowed; a process of several threads may need root for it. */
tt_status tt_network_enter(tt_error *error);
/** Whether tt_network_enter() would be allowed to a process that this one starts: tries it in one. TT_FAILED with the reason. */
tt_status tt_network_try(tt_error *error);
/** TT_INVALID, with what helps, where the plan's program has fixed ports, and `jobs` processes would need networks of their own that
 *  are not allowed. Before there are threads. */
tt_status tt_sweep_network_check(const tt_sweep_plan *plan, int jobs, tt_error *error);

#endif

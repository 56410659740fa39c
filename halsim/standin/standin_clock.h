/* standin_clock.h: what the clock and the notifiers of a season share. All but standin_clock_lock itself is called with it held. */
#ifndef TT_HALSIM_STANDIN_CLOCK_H
#define TT_HALSIM_STANDIN_CLOCK_H

#include "standin.h"

#include <pthread.h>
#include <stdbool.h>

#define MOST_NOTIFIERS 32

extern pthread_mutex_t standin_clock_lock;
/** µs of the program's clock. */
uint64_t standin_present(void);
bool standin_is_paused(void);
/** At most `microseconds` of wall clock. */
void standin_wait_for(pthread_cond_t *condition, uint64_t microseconds);

/* By the season's file. */

/** Until every notifier's program is where a step may begin. */
void standin_wait_notifiers(void);
/** Wakes who has an alarm that is due; `waits`: until each of them waits again. */
void standin_wake_notifiers(bool waits);
/** µs; UINT64_MAX: none is set. */
uint64_t standin_next_alarm(void);

#endif

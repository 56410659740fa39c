/* period.h: the loop of programs that do something every period: absolute deadlines on the wall clock, sockets served
 * in between, ended by SIGINT, SIGTERM or SIGHUP.
 */
#ifndef TT_APP_PERIOD_H
#define TT_APP_PERIOD_H

#include "net/net.h"

/** Catches SIGINT, SIGTERM and SIGHUP (end_signals.h) from now on: the waits below then end at once. `net` must stay until the process ends its
 *  loop. */
void tt_period_catch_signals(tt_net *net);

/** Serves the sockets until `*due` (ns, tt_monotonic_ns()'s clock) and moves it on by `period` s, as often as it takes to lie
 *  ahead. Returns how many periods that were: 1, or more where the process was held up, at most
 *  TT_PERIODS_AT_ONCE; what was missed is so told, and never made up for by a burst. 0 after a signal. */
int tt_period_wait(tt_net *net, uint64_t *due, double period);
#define TT_PERIODS_AT_ONCE 10

/** Serves the sockets until `until` (ns), or until something has come. False after a signal. */
bool tt_period_serve(tt_net *net, uint64_t until);

#endif

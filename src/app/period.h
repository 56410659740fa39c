/* period.h: the loop of programs that do something every period: absolute deadlines on the wall clock, sockets served
 * in between, ended by SIGINT or SIGTERM.
 */
#ifndef TT_APP_PERIOD_H
#define TT_APP_PERIOD_H

#include "net/net.h"

/** Catches SIGINT and SIGTERM from now on: tt_period_wait() then returns false, at once. `net` must stay
 *  until the process ends its loop. */
void tt_period_catch_signals(tt_net *net);

/** Serves the sockets until `*due` (ns, tt_net_now()'s clock) and moves it on by `period` s; where that lies in the
 *  past by more than ten periods (the process was stopped), it starts anew from now. False after a signal. */
bool tt_period_wait(tt_net *net, uint64_t *due, double period);

#endif

/* end_signals.h: the signals by which somebody, or a terminal, asks a program to end. */
#ifndef TT_APP_END_SIGNALS_H
#define TT_APP_END_SIGNALS_H

#include <signal.h>

/** SIGINT, SIGTERM, and SIGHUP, by which a terminal that is closed ends what runs in it; but not where who started the program has
 *  it ignored, as nohup does. */
void tt_end_signals_get(sigset_t *signals);

/** From now on `handler` is called for each of them. `flags`: of sigaction(); SA_RESETHAND is not for SIGHUP, which may come twice. */
void tt_end_signals_catch(void (*handler)(int number), int flags);

#endif

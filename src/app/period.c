/* period.c: the loop of programs that do something every period. See period.h. */
#include "app/period.h"

#include "app/end_signals.h"
#include "base/clock.h"

#include <signal.h>

static tt_net *woken;
static volatile sig_atomic_t stopped;

static void on_signal(int number) {
  (void)number;
  stopped = 1;
  tt_net_wake(woken);
}

void tt_period_catch_signals(tt_net *net) {
  woken = net;
  stopped = 0;
  tt_end_signals_catch(on_signal, 0);
}

bool tt_period_serve(tt_net *net, uint64_t until) {
  uint64_t now = tt_monotonic_ns();
  tt_net_poll(net, now < until && !stopped ? until - now : 0);
  return !stopped;
}

int tt_period_wait(tt_net *net, uint64_t *due, double period) {
  uint64_t step = (uint64_t)(period * 1e9), now;
  while ((now = tt_monotonic_ns()) < *due && !stopped) tt_net_poll(net, *due - now);
  tt_net_poll(net, 0); /* what arrived at the last moment counts */
  if (stopped) return 0;
  uint64_t periods = 1 + (now - *due) / step;
  *due += periods * step;
  return periods < TT_PERIODS_AT_ONCE ? (int)periods : TT_PERIODS_AT_ONCE;
}

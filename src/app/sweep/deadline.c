#include "app/sweep/deadline.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>

/* The handler may run in any thread: the recorder's, too. */
static _Atomic(tt_world *) waiting;
static atomic_int handlers;

static void on_alarm(int number) {
  (void)number;
  atomic_fetch_add(&handlers, 1);
  tt_world *world = atomic_load(&waiting);
  if (world) tt_world_interrupt(world);
  atomic_fetch_sub(&handlers, 1);
}

void tt_sweep_deadline_set(tt_world *world, double seconds) {
  const struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  const double whole = floor(seconds);
  const struct itimerval in = {
      .it_value = {.tv_sec = (time_t)whole,
                   .tv_usec = 1 + (suseconds_t)(999998 * (seconds - whole))}};
  atomic_store(&waiting, world);
  sigaction(SIGALRM, &action, NULL);
  setitimer(ITIMER_REAL, &in, NULL);
}

void tt_sweep_deadline_clear(void) {
  setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 0}}, NULL);
  atomic_store(&waiting, NULL);
  while (atomic_load(&handlers) > 0) sched_yield();
}

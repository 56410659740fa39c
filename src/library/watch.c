/* watch.c: who may end a call that makes many steps. */
#include "library/library.h"

#include <time.h>

#define PERIOD 50000000 /* ns: soon enough for a person, and too seldom to cost anything */

/* Which decides only how many steps a call makes; a coarse clock costs a few nanoseconds. */
static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

void library_watch_begin(library_watch *watch) {
  if (watch->callback) watch->due = now() + PERIOD;
}

bool library_watch_ends(library_watch *watch) {
  if (watch->stop && atomic_load_explicit(watch->stop, memory_order_relaxed)) return true;
  if (!watch->callback || now() < watch->due) return false;
  bool ends = watch->callback(watch->context) != 0;
  library_watch_begin(watch);
  if (ends && watch->stop) atomic_store(watch->stop, true);
  return ends;
}

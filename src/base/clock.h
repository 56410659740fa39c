/* clock.h: the two clocks: deadlines, waits and statistics go by the monotonic one, partitions by the one on the wall. Neither may
 * reach the physics. */
#ifndef TT_BASE_CLOCK_H
#define TT_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/** µs. Any thread. */
static inline int64_t tt_clock_us(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static inline int64_t tt_monotonic_us(void) { return tt_clock_us(CLOCK_MONOTONIC); }
/** ns. */
static inline uint64_t tt_monotonic_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
/** s. */
static inline double tt_monotonic_s(void) { return (double)tt_monotonic_ns() / 1e9; }
/** UTC. */
static inline int64_t tt_wall_us(void) { return tt_clock_us(CLOCK_REALTIME); }

/** Waits with `lock` held until `told` is signalled, or until a moment of the monotonic clock (µs), which no jump of the wall clock
 * moves. May return before: look again at what is waited for. */
static inline void tt_wait_until(pthread_cond_t *told, pthread_mutex_t *lock, int64_t moment) {
  const struct timespec until = {moment / 1000000, moment % 1000000 * 1000};
  pthread_cond_clockwait(told, lock, CLOCK_MONOTONIC, &until);
}

#endif

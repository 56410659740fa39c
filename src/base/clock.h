/* clock.h: the two clocks, in µs: deadlines go by the monotonic one, partitions by the one on the wall. */
#ifndef TT_BASE_CLOCK_H
#define TT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/** µs. Any thread. */
static inline int64_t tt_clock_us(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}
static inline int64_t tt_monotonic_us(void) { return tt_clock_us(CLOCK_MONOTONIC); }
/** UTC. */
static inline int64_t tt_wall_us(void) { return tt_clock_us(CLOCK_REALTIME); }

#endif

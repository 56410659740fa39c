/* device_testing.h: what the tests of devices' clocks share: a device with a bad clock behind a bad network, on a clock of the
 * test's own. Times are in µs.
 */
#ifndef TT_TELEMETRY_DEVICE_TESTING_H
#define TT_TELEMETRY_DEVICE_TESTING_H

#include "telemetry/device_time.h"

#include <stdbool.h>
#include <stdint.h>

#define SECOND 1000000LL
#define LATE SECOND
#define YEAR (365 * 86400 * SECOND)
#define START (56 * YEAR)

/** Uniform in [0, 1), the same on every run. */
double next_random(uint64_t *state);

/** A device whose clock is `offset` off and runs `drift` too fast. */
typedef struct world {
  tt_device_time time;
  int64_t offset; /**< device = true + offset + drift × true */
  double drift;
  uint64_t random;
  int64_t smallest_delay, worst; /**< µs */
  int jumps;
  bool unsure; /**< of the last message */
  /** key of the epoch in which the store has what is asked for; 0: it has not */
  int64_t stored_in;
  const tt_store_boot *stored; /**< …and those that it tells of, then */
  uint32_t stored_count;
  int asked;
  bool connected; /**< messages come on a connection, the next one behind this: */
  bool has_previous;
  int64_t previous, previous_key;
} world;

/** Made with calloc(): the caller frees it. */
world *new_world(int64_t offset, double drift);
int64_t device_clock_at(const world *world, int64_t now);
/** A message's `find`, whose context is a world: tells of `stored`. */
bool find_stored(void *context, int64_t *key);
/** A message of `now` that arrives `delay` later; the epoch it was put into. */
tt_boot *send_at(world *world, int64_t now, int64_t delay, bool *again);
/** `seconds` of messages at `rate`, delayed at random; errors are looked at once `settle` s have passed. */
void send_many(world *world, int64_t start, double seconds, double rate, double max_delay,
               double settle);

#endif

/* wall.h: the collector's own clock, which may be set while it runs: a small computer without one is right once it has a network.
 */
#ifndef TT_TELEMETRY_WALL_H
#define TT_TELEMETRY_WALL_H

#include <stdbool.h>
#include <stdint.h>

/** Zero at first. All times µs; those that passed count from anywhere. */
typedef struct tt_wall {
  bool begun;
  int64_t begin; /**< UTC at which what passed began, by the clock as it is now */
  int64_t step;  /**< by which it was set last… */
  int64_t since; /**< …and when: passed */
} tt_wall;

/** Looks at the clocks: `wall` UTC, `passed` one that nobody sets and that counts on while the machine sleeps. By how much the first was
 *  set since the last look, 0: by `late` at most. */
int64_t tt_wall_look(tt_wall *wall, int64_t now, int64_t passed, int64_t late);
/** The receipt of what was received before the clock was set, and is looked at behind that, by the clock as it is now. */
int64_t tt_wall_receipt(const tt_wall *wall, int64_t now, int64_t passed, int64_t received);
/** The second clock; with `*now` the first, as of the same moment. */
int64_t tt_wall_read(int64_t *now);

#endif

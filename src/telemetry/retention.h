/* retention.h: the clock by which values grow old. What was removed does not come back, so it doesn't follow the wall's
 * clock where that jumps ahead: of the time that passed, or, at the beginning, of the newest sample that is stored. Then
 * it goes on with the time that passes, until the wall's clock has stayed ahead by as much for a day.
 */
#ifndef TT_TELEMETRY_RETENTION_H
#define TT_TELEMETRY_RETENTION_H

#include <stdbool.h>
#include <stdint.h>

/** Nothing is stored. */
#define TT_RETENTION_NOTHING INT64_MIN

/** Zero at first. All times µs; those that passed count from anywhere. */
typedef struct tt_retention {
  int64_t now;         /**< UTC: what is older than this less its retention is old */
  int64_t ahead;       /**< how far the wall's clock is; 0: it is right, and followed */
  int64_t since;       /**< passed: ahead since then */
  int64_t first, last; /**< passed: when it was asked */
  bool begun;          /**< it was asked before */
  bool compared;       /**< with what is stored */
} tt_retention;

/** Looks at the clocks, about every half minute: `wall` UTC, `passed` a clock that nobody sets and that counts on while the
 *  machine sleeps, `newest` the time of the newest sample stored before this began, as soon as it is known. Says a jump, and
 *  its end. */
void tt_retention_look(tt_retention *retention, int64_t wall, int64_t passed, int64_t newest);

#endif

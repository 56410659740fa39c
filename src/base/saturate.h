/* saturate.h: sums and differences that stop at the ends of their range: of times, whose ends mean "all there is". */
#ifndef TT_BASE_SATURATE_H
#define TT_BASE_SATURATE_H

#include <stdint.h>

/** a + b. */
static inline int64_t tt_saturating_add(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_add_overflow(a, b, &result)) return a < 0 ? INT64_MIN : INT64_MAX;
  return result;
}

/** a − b. */
static inline int64_t tt_saturating_sub(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) return a < 0 ? INT64_MIN : INT64_MAX;
  return result;
}

#endif

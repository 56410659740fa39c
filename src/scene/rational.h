/* rational.h: times that must be exact, as num/den seconds. */
#ifndef TT_SCENE_RATIONAL_H
#define TT_SCENE_RATIONAL_H

#include <stdbool.h>
#include <stdint.h>

/** num/den seconds in lowest terms, both > 0, both at most 10^12. */
typedef struct tt_rational {
  int64_t num, den;
} tt_rational;

/** Reads "1/3000 s", "10 ms", "0.002", "2.5e-3 s" exactly; no unit means seconds. False when malformed, not
 *  positive, or not exact within the limit. */
bool tt_rational_parse(const char *text, tt_rational *value);

/** How many `step`s make up `time`; 0 when that is no whole number. */
uint64_t tt_rational_steps(tt_rational time, tt_rational step);

/** Of two numbers that are not negative; 0 takes no part. */
int64_t tt_greatest_common_divisor(int64_t a, int64_t b);

#endif

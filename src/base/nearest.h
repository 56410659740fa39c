/* nearest.h: "did you mean …?" for every list of names. */
#ifndef TT_BASE_NEAREST_H
#define TT_BASE_NEAREST_H

#include <stddef.h>

/** A search for the name nearest to `wanted`: start it, offer every candidate, take `best`. */
typedef struct tt_nearest {
  const char *wanted;
  const char *best; /**< nearest so far, or NULL when nothing is near enough to suggest */
  size_t distance;
} tt_nearest;

tt_nearest tt_nearest_start(const char *wanted);
/** `candidate` must outlive the search. */
void tt_nearest_offer(tt_nearest *nearest, const char *candidate);

#endif

/* nearest.h: "did you mean …?" for every list of names. */
#ifndef TT_BASE_NEAREST_H
#define TT_BASE_NEAREST_H

#include <stddef.h>

/** A search for the name nearest to `wanted`: start it, offer every candidate, take `best` or the hint. */
typedef struct tt_nearest {
  const char *wanted;
  const char *best; /**< nearest so far, or NULL when nothing is near enough to suggest */
  size_t distance;
  int left_off;   /**< candidates that `all` has no room for */
  char all[160];  /**< the first candidates: "arm, hand" */
  char hint[224]; /**< of tt_nearest_hint() */
} tt_nearest;

/** Begins a search for what `wanted`, which must outlive it, may have meant. One thread. */
tt_nearest tt_nearest_start(const char *wanted);
/** `candidate` must outlive the search. */
void tt_nearest_offer(tt_nearest *nearest, const char *candidate);
/** The end of a message: "; did you mean 'arm'?" or, where nothing is near, what there is: "; there are: arm, hand and 7
 *  more". "" where nothing was offered. Valid as long as `nearest`. */
const char *tt_nearest_hint(tt_nearest *nearest);

#endif

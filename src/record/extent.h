/* extent.h: how far something moved: the box around its places. */
#ifndef TT_RECORD_EXTENT_H
#define TT_RECORD_EXTENT_H

#include <stdbool.h>

#define TT_STAYED 0.02 /**< m: what moved no farther stayed in its place */

/** Zero-initialise. */
typedef struct tt_extent {
  double least[3], most[3]; /**< m */
  bool known;               /**< a place was taken in */
} tt_extent;

/** Widens it so that it holds this place, m. */
void tt_extent_take_in(tt_extent *extent, const double at[3]);
/** Its diagonal, m; 0 before the first place. */
double tt_extent_size(const tt_extent *extent);

#endif

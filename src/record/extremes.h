/* extremes.h: what a signal did in a stretch of time, as far as a plot can show it. */
#ifndef TT_RECORD_EXTREMES_H
#define TT_RECORD_EXTREMES_H

/** The least and the greatest value, in the order in which they came first; NAN both: there was none. */
typedef struct tt_extremes {
  double one, other;
} tt_extremes;

/** Of two stretches, `b` behind `a`. */
tt_extremes tt_extremes_join(tt_extremes a, tt_extremes b);

#endif

/* signals_testing.h: what a robot measures, made up: the same on every machine, for tests and benches of size and speed.
 * Plain functions of no state. Any thread.
 */
#ifndef TT_STORE_COLUMN_SIGNALS_TESTING_H
#define TT_STORE_COLUMN_SIGNALS_TESTING_H

#include "store/column/column.h"

/** What kind of numbers. */
typedef enum tt_testing_signals {
  TT_TESTING_DECIMALS, /**< at most four significant digits, with the noise of sensors */
  TT_TESTING_SCALED,   /**< the same as integers that were scaled by 0.01 */
  TT_TESTING_COUNTERS, /**< of encoders and messages; some begin again */
  TT_TESTING_DOUBLES,  /**< as decimals, with all bits of a double */
  TT_TESTING_KINDS
} tt_testing_signals;

/** Signals of each kind. */
#define TT_TESTING_SIGNALS 12

/** The moment of a message at 10 Hz, whose device's clock is not ours. */
tt_column_moment tt_testing_moment(uint32_t row);
/** What a signal is in it. */
double tt_testing_signal(tt_testing_signals kind, unsigned signal, uint32_t row);
/** Moments or values of the rows from `first` on into an empty list or column. False: out of memory. */
bool tt_testing_fill_moments(tt_list *moments, uint32_t first, uint32_t rows);
bool tt_testing_fill(tt_column *column, tt_testing_signals kind, unsigned signal, uint32_t first,
                     uint32_t rows);

#endif

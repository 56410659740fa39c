/* slice.h: some rows of a segment at a time, for who reads many epochs side by side: of each so many as all of them together
 * have room for. The rest is unpacked again when it is its turn.
 */
#ifndef TT_STORE_SQLITE_SLICE_H
#define TT_STORE_SQLITE_SLICE_H

#include "store/sqlite/piece.h"

/** Which rows of a segment are wanted, and how much of them fits. */
struct tt_sqlite_slice {
  const int *attributes; /**< only these… */
  int count;             /**< …all if 0 */
  bool from_end;         /**< the last rows come first */
  uint32_t most;         /**< values, about; a row at least is held */
  tt_sqlite_rows rows;   /**< those that are wanted; when it is loaded, those that are held */
  uint32_t size;         /**< values that are held; a moment is as large as two */
};

/** Cuts the column at a place of the piece, which was added last, to the slice, and the slice to what fits. False: out of
 *  memory. */
bool tt_sqlite_slice_fit(tt_sqlite_slice *slice, tt_sqlite_piece *piece, uint32_t place);
/** Cuts the moments to the slice: the first one is that of its first row. False: out of memory. */
bool tt_sqlite_slice_cut_moments(const tt_sqlite_slice *slice, tt_list *moments);

/* Who reads slices share about 16 MiB, in all threads of the program. */

/** One more reads slices: how many values its first one may hold. */
uint32_t tt_sqlite_slice_begin(void);
/** How many values each other slice may hold. */
uint32_t tt_sqlite_slice_share(void);
/** One less. */
void tt_sqlite_slice_end(void);

#endif

/* cut.h: takes values out of rows and out of packed columns, for those who choose which: retention, and people.
 *
 * Within a transaction of the caller's, in the thread of the connection.
 */
#ifndef TT_STORE_SQLITE_CUT_H
#define TT_STORE_SQLITE_CUT_H

#include "store/sqlite/piece.h"

/** Looking at an epoch costs as much as at so many samples. */
#define TT_SQLITE_EPOCH_COST 4

typedef struct tt_sqlite_cutter tt_sqlite_cutter;

/** `db` and `path` must outlive it. TT_FAILED, TT_NOMEM. */
tt_status tt_sqlite_cutter_open(sqlite3 *db, const char *path, tt_sqlite_cutter **cutter,
                                tt_error *error);
/** NULL-safe. */
void tt_sqlite_cutter_close(tt_sqlite_cutter *cutter);

/** Removes a row's values, of one attribute or (−1) of all, and adds how many there were to `*removed`. The row goes with its
 *  last value. */
tt_status tt_sqlite_cut_row(tt_sqlite_cutter *cutter, int64_t id, int attribute, int *removed,
                            tt_error *error);

/** Does what stands in this row of the piece go? */
typedef bool tt_sqlite_goes(const void *context, const tt_sqlite_piece *piece, uint32_t row);
/** Removes values from the columns that were loaded of a piece, and adds how many to `*removed`. A column goes with its last
 *  value, the segment with its last column. The piece stays as it was read. */
tt_status tt_sqlite_cut_columns(tt_sqlite_cutter *cutter, const tt_sqlite_piece *piece,
                                tt_sqlite_goes *goes, const void *context, int *removed,
                                tt_error *error);

#endif

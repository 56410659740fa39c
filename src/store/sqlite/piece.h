/* piece.h: what is sealed, read back: segments of an epoch, each with the moments of its records, and the columns of its
 * attributes that are asked for. Segments of an epoch don't overlap in device time, and have each moment whole.
 *
 * Used by one thread at a time, with the connection that it was opened for.
 */
#ifndef TT_STORE_SQLITE_PIECE_H
#define TT_STORE_SQLITE_PIECE_H

#include "store/column/column.h"

#include <sqlite3.h>

/** Where a segment lies. What stands in one of this id stays, but for columns that are removed or replaced. */
typedef struct tt_sqlite_segment {
  int64_t id;
  int64_t first, last;           /**< µs of the device's clock, inclusive */
  int64_t time_first, time_last; /**< µs UTC: the least and the greatest */
  uint32_t rows;
} tt_sqlite_segment;

/** A column of a segment. */
typedef struct tt_sqlite_column {
  int attribute; /**< index */
  int64_t id;    /**< of its row in `packed`; another one where it was replaced */
  uint32_t at;   /**< the caller's: where he is in it */
  tt_column column;
} tt_sqlite_column;

/** A segment with what was asked for of it. Zero at first. */
typedef struct tt_sqlite_piece {
  tt_sqlite_segment segment;
  tt_list moments; /**< tt_column_moment */
  tt_list columns; /**< tt_sqlite_column, by attribute */
  uint64_t used;   /**< when, for those who keep several */
} tt_sqlite_piece;

/** Rows of a piece: from `from` to before `to`. */
typedef struct tt_sqlite_rows {
  uint32_t from, to;
} tt_sqlite_rows;

/** Some rows of a segment: slice.h. */
typedef struct tt_sqlite_slice tt_sqlite_slice;

typedef struct tt_sqlite_pieces tt_sqlite_pieces;

/** `path` must outlive it. */
tt_status tt_sqlite_pieces_open(sqlite3 *db, const char *path, tt_sqlite_pieces **pieces,
                                tt_error *error);
/** NULL-safe. */
void tt_sqlite_pieces_close(tt_sqlite_pieces *pieces);

/* --- segments --- */

/** Whether anything is sealed at all. */
tt_status tt_sqlite_segment_any(tt_sqlite_pieces *pieces, bool *any, tt_error *error);
/** The last segment of an epoch that begins at a device time or before it. TT_NOT_FOUND. */
tt_status tt_sqlite_segment_before(tt_sqlite_pieces *pieces, int device, int epoch,
                                   int64_t device_time, tt_sqlite_segment *segment,
                                   tt_error *error);
/** The first segment of an epoch that ends at a device time or behind it. TT_NOT_FOUND. */
tt_status tt_sqlite_segment_after(tt_sqlite_pieces *pieces, int device, int epoch,
                                  int64_t device_time, tt_sqlite_segment *segment, tt_error *error);

/* --- pieces --- */

/** Makes `piece` that of a segment, with the columns of these attributes (0: of all) that it has, and, where it has any, its
 *  moments. TT_INVALID: damaged; the message says where. */
tt_status tt_sqlite_piece_load(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                               const int *attributes, int count, tt_sqlite_piece *piece,
                               tt_error *error);
/** The same of some rows: `slice->rows`, of which it holds as many as fit, and says which. Its first moment is that of the
 *  first one it holds; rows of values are counted from the beginning of the segment. */
tt_status tt_sqlite_piece_load_slice(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                                     tt_sqlite_slice *slice, tt_sqlite_piece *piece,
                                     tt_error *error);
/** Rows of a segment whose device time lies within, both ends included. */
tt_status tt_sqlite_segment_rows(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                                 int64_t from, int64_t to, tt_sqlite_rows *rows, tt_error *error);
/** Gives the memory back; empty afterwards. */
void tt_sqlite_piece_free(tt_sqlite_piece *piece);
/** Of a whole piece, rows whose device time lies within, both ends included. */
tt_sqlite_rows tt_sqlite_piece_rows(const tt_sqlite_piece *piece, int64_t from, int64_t to);
/** The value of a row; NULL: there is none. */
const tt_column_value *tt_sqlite_column_value(const tt_sqlite_column *column, uint32_t row);

/** The piece in which a moment stands, with its rows; NULL: none has it. It stays valid until the next one is looked for;
 *  some of those looked at last are kept. */
tt_status tt_sqlite_piece_of(tt_sqlite_pieces *pieces, int device, int epoch, int64_t device_time,
                             tt_sqlite_piece **piece, tt_sqlite_rows *rows, tt_error *error);
/** The column of an attribute in a piece of tt_sqlite_piece_of(), NULL: it has none. Valid until the next call. */
tt_status tt_sqlite_piece_column(tt_sqlite_pieces *pieces, tt_sqlite_piece *piece, int attribute,
                                 const tt_sqlite_column **column, tt_error *error);

#endif

/* rows_file.h: rows of a shard as the bytes of a file: a head with the plan's identities, rows, and a sum of all before it.
 * Numbers are little-endian. What follows from a run's number and the plan (axes, seed) is not in it; a row's id is, so that
 * no row is taken for another's.
 */
#ifndef TT_SWEEP_ROWS_FILE_H
#define TT_SWEEP_ROWS_FILE_H

#include "base/bytes.h"
#include "sweep/plan.h"

/** Bytes of a file at most; a writer begins another before. */
#define TT_ROWS_MOST (64u << 20)

/** Begins a file; empty `bytes` at first. Out of memory: `bytes->failed`, here and below. */
void tt_rows_begin(tt_bytes *bytes, const tt_sweep_plan *plan);
void tt_rows_add(tt_bytes *bytes, const tt_sweep_plan *plan, const tt_sweep_row *row);
/** Ends it. */
void tt_rows_end(tt_bytes *bytes);

/** Gives each row of a file, with all that follows from the plan, once all of them are known to be whole and the plan's. Stops at
 *  another status than TT_OK, which is handed on. TT_BAD_MESSAGE: torn, or no file of rows; TT_VERSION: of another plan or
 *  version. Nothing was given then. */
tt_status tt_rows_decode(const tt_sweep_plan *plan, const void *bytes, size_t size,
                         tt_status (*visit)(void *context, const tt_sweep_row *row,
                                            tt_error *error),
                         void *context, tt_error *error);

#endif

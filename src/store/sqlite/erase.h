/* erase.h: removes what was measured in a span, of rows and of segments. One thread, on the connection that writes. */
#ifndef TT_STORE_SQLITE_ERASE_H
#define TT_STORE_SQLITE_ERASE_H

#include "store/sqlite/marks.h"
#include "store/sqlite/piece.h"
#include "store/store.h"

typedef struct tt_sqlite_eraser tt_sqlite_eraser;

/** `path` must outlive it, and so must `pieces` and `marks`. */
tt_status tt_sqlite_eraser_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_marks *marks, tt_sqlite_eraser **eraser, tt_error *error);
/** NULL-safe. */
void tt_sqlite_eraser_close(tt_sqlite_eraser *eraser);
/** See tt_store.purge where `exact`: one transaction. */
tt_status tt_sqlite_erase(tt_sqlite_eraser *eraser, const tt_store_purge *purge, int *removed,
                          tt_error *error);

#endif

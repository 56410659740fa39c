/* purge.h: removes values, of rows and of segments. One thread, on the connection that writes.
 */
#ifndef TT_STORE_SQLITE_PURGE_H
#define TT_STORE_SQLITE_PURGE_H

#include "store/sqlite/marks.h"
#include "store/sqlite/piece.h"
#include "store/store.h"

typedef struct tt_sqlite_purger tt_sqlite_purger;

/** `path` must outlive it, and so must `pieces` and `marks`. */
tt_status tt_sqlite_purger_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                                tt_sqlite_marks *marks, tt_sqlite_purger **purger, tt_error *error);
/** NULL-safe. */
void tt_sqlite_purger_close(tt_sqlite_purger *purger);
/** Samples were put, also where that is undone: some may be older than what has been looked through. */
void tt_sqlite_purger_came(tt_sqlite_purger *purger, const tt_store_batch *batch);
/** All may stand elsewhere: it is looked through once more. */
void tt_sqlite_purger_forget(tt_sqlite_purger *purger);
/** See tt_store.purge: one transaction. */
tt_status tt_sqlite_purge(tt_sqlite_purger *purger, const tt_store_purge *purge, int *removed,
                          tt_error *error);

#endif

/* scan.h: records of a range, in order, out of rows and sealed pieces alike. A record of a sealed moment whose row is there
 * as well has the values of both: what came late stands in the row until it is packed, too.
 *
 * One thread at a time, on the connection of the pieces.
 */
#ifndef TT_STORE_SQLITE_SCAN_H
#define TT_STORE_SQLITE_SCAN_H

#include "store/sqlite/piece.h"
#include "store/store.h"

typedef struct tt_sqlite_scan tt_sqlite_scan;

/** A record. Valid until the next one is asked for. */
typedef struct tt_sqlite_scanned {
  tt_column_moment moment;
  int64_t row;                /**< id in `sample`; 0: all of it is sealed */
  const tt_store_cell *cells; /**< by attribute, each once */
  uint32_t count;
} tt_sqlite_scanned;

/** Makes a connection one that can be scanned. What SQLite says. */
int tt_sqlite_register_scan(sqlite3 *db);
/** `range` and `path` must outlive it, its attributes too. To be closed before `pieces`. */
tt_status tt_sqlite_scan_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                              const tt_store_range *range, tt_sqlite_scan **scan, tt_error *error);
/** TT_END: there are no more. */
tt_status tt_sqlite_scan_next(tt_sqlite_scan *scan, tt_sqlite_scanned *record, tt_error *error);
/** NULL-safe. */
void tt_sqlite_scan_close(tt_sqlite_scan *scan);

#endif

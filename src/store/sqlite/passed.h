/* passed.h: how far in a log messages of a device were stored that its device may have sent again. What was put there before them, and
 * comes behind them, was overtaken. It is noted by the transaction that stores them.
 *
 * One thread, on the connection that writes.
 */
#ifndef TT_STORE_SQLITE_PASSED_H
#define TT_STORE_SQLITE_PASSED_H

#include "base/status.h"
#include "store/batch.h"

#include <sqlite3.h>

/** Zero at first. */
typedef struct tt_sqlite_passed {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *find, *note;
} tt_sqlite_passed;

/** `path` must outlive it. To be closed on failure, too. */
tt_status tt_sqlite_passed_open(sqlite3 *db, const char *path, tt_sqlite_passed *passed,
                                tt_error *error);
void tt_sqlite_passed_close(tt_sqlite_passed *passed);
/** Whether a message, by its first sample, may be one sent again. Notes where it stands, if it says so itself. Within a transaction. */
tt_status tt_sqlite_is_unsure(tt_sqlite_passed *passed, int64_t log, const tt_store_sample *sample,
                              bool *unsure, tt_error *error);

#endif

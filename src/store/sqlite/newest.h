/* newest.h: in which minute (UTC) each attribute of a device was said last, so that what is said rarely is found without reading all that
 * the device has said since. It is noted by the transaction that stores the value, and set back by nobody: what was removed since
 * may have been in that minute, but nothing that is there is of a later one.
 *
 * One thread, on the connection that writes.
 */
#ifndef TT_STORE_SQLITE_NEWEST_H
#define TT_STORE_SQLITE_NEWEST_H

#include "base/status.h"
#include "store/batch.h"
#include "store/map.h"

#include <sqlite3.h>

/** Zero at first. */
typedef struct tt_sqlite_newest {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *note;
  tt_map said; /**< device, attribute → minute that is noted */
  tt_map sets; /**< device, hash of attributes → the least minute that is noted of one of them */
} tt_sqlite_newest;

/** `path` must outlive it. To be closed on failure, too. */
tt_status tt_sqlite_newest_open(sqlite3 *db, const char *path, tt_sqlite_newest *newest,
                                tt_error *error);
void tt_sqlite_newest_close(tt_sqlite_newest *newest);
/** Notes the minute of a time, µs UTC, for a device and the attributes of `count` values. Within a transaction. */
tt_status tt_sqlite_say_newest(tt_sqlite_newest *newest, int device, const tt_store_value *values,
                               uint32_t count, int64_t time, tt_error *error);
/** What was noted may be undone. */
void tt_sqlite_newest_forget(tt_sqlite_newest *newest);

/** The number of the minute in which a time lies; its first and last µs, UTC. */
int64_t tt_sqlite_minute_of(int64_t time);
int64_t tt_sqlite_minute_first(int64_t minute);
int64_t tt_sqlite_minute_last(int64_t minute);

#endif

/* marks.h: hours of a device in which something was stored or removed since their buckets were made, or whose buckets were
 * never made. They are marked by the transaction that changes their samples, so that a kill leaves both or neither.
 *
 * One thread, on the connection that writes.
 */
#ifndef TT_STORE_SQLITE_MARKS_H
#define TT_STORE_SQLITE_MARKS_H

#include "base/status.h"
#include "store/map.h"

#include <sqlite3.h>
#include <stdbool.h>

/** Hours since 1970, UTC. */
int64_t tt_sqlite_hour_of(int64_t time);
/** When an hour begins, µs UTC. */
int64_t tt_sqlite_hour_start(int64_t hour);

/** Zero at first. */
typedef struct tt_sqlite_marks {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *put;
  tt_map touched; /**< device, hour → µs monotonic when it was touched last; 0: its mark is gone */
  int64_t now;    /**< µs monotonic */
  int device;     /**< of the hour that was touched last… */
  int64_t from, to;         /**< …and when it begins and ends, µs UTC; both 0: none was */
  bool watching, disturbed; /**< an hour is watched; it was touched */
  int watched_device;
  int64_t watched_hour;
} tt_sqlite_marks;

/** `path` must outlive it. To be closed on failure, too. */
tt_status tt_sqlite_marks_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                               tt_error *error);
void tt_sqlite_marks_close(tt_sqlite_marks *marks);
/** Before a transaction's first mark. */
void tt_sqlite_marks_begin(tt_sqlite_marks *marks);
/** Marks the hours between two times, both included, µs UTC. Within a transaction. */
tt_status tt_sqlite_mark_span(tt_sqlite_marks *marks, int device, int64_t first, int64_t last,
                              tt_error *error);
/** Marks the hour of a time. */
static inline tt_status tt_sqlite_mark(tt_sqlite_marks *marks, int device, int64_t time,
                                       tt_error *error) {
  if (device == marks->device && time >= marks->from && time < marks->to) return TT_OK;
  return tt_sqlite_mark_span(marks, device, time, time, error);
}
/** What was marked may be undone. */
void tt_sqlite_marks_forget(tt_sqlite_marks *marks);
/** When an hour was touched, as far as that is remembered, µs monotonic; 0: it is not. */
int64_t tt_sqlite_mark_touched(const tt_sqlite_marks *marks, int device, int64_t hour);
/** Notes from now on whether that hour is touched (`disturbed`). */
void tt_sqlite_marks_watch(tt_sqlite_marks *marks, int device, int64_t hour);
/** Takes the mark of an hour away. Within a transaction. */
tt_status tt_sqlite_unmark(tt_sqlite_marks *marks, int device, int64_t hour, tt_error *error);

#endif

/* marks.c: see its header. Ranges of hours stand in `stale`; they may overlap. */
#include "store/sqlite/marks.h"

#include "base/clock.h"
#include "database/sqlite_link.h"
#include "store/bucket.h"

/** Hours that are remembered at once; more of them are only marked again. */
#define MOST_TOUCHED 100000

int64_t tt_sqlite_hour_start(int64_t hour) {
  int64_t start;
  if (__builtin_mul_overflow(hour, tt_bucket_length(TT_BUCKET_HOUR), &start))
    return hour < 0 ? INT64_MIN : INT64_MAX;
  return start;
}

int64_t tt_sqlite_hour_of(int64_t time) {
  const int64_t length = tt_bucket_length(TT_BUCKET_HOUR);
  return time / length - (time % length < 0);
}

tt_status tt_sqlite_marks_open(sqlite3 *db, const char *path, tt_sqlite_marks *marks,
                               tt_error *error) {
  *marks = (tt_sqlite_marks){.db = db, .path = path};
  if (sqlite3_prepare_v3(db,
                         "INSERT INTO stale VALUES (?1, ?2, ?3)"
                         " ON CONFLICT DO UPDATE SET last = max(last, excluded.last)",
                         -1, SQLITE_PREPARE_PERSISTENT, &marks->put, NULL) != SQLITE_OK)
    return tt_sqlite_fail(db, path, "can't prepare", error);
  return TT_OK;
}

void tt_sqlite_marks_close(tt_sqlite_marks *marks) {
  sqlite3_finalize(marks->put);
  tt_map_clear(&marks->touched);
  *marks = (tt_sqlite_marks){0};
}

void tt_sqlite_marks_begin(tt_sqlite_marks *marks) {
  marks->now = tt_monotonic_us();
  marks->from = marks->to = 0;
  if (marks->touched.count > MOST_TOUCHED) tt_map_clear(&marks->touched);
}

static tt_status put(const tt_sqlite_marks *marks, int device, int64_t first, int64_t last,
                     tt_error *error) {
  sqlite3_bind_int(marks->put, 1, device + 1);
  sqlite3_bind_int64(marks->put, 2, first);
  sqlite3_bind_int64(marks->put, 3, last);
  int result = sqlite3_step(marks->put);
  sqlite3_reset(marks->put);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(marks->db, marks->path, "can't write", error);
}

/** Whether it has a mark that is remembered; it is touched now. */
static bool touch(tt_sqlite_marks *marks, int device, int64_t hour) {
  int64_t *known = tt_map_get(&marks->touched, (tt_map_key){device, hour});
  const bool marked = known && *known;
  if (known)
    *known = marks->now;
  else
    tt_map_put(&marks->touched, (tt_map_key){device, hour}, marks->now);  // else it is marked again
  return marked;
}

tt_status tt_sqlite_mark_span(tt_sqlite_marks *marks, int device, int64_t first, int64_t last,
                              tt_error *error) {
  const int64_t begin = tt_sqlite_hour_of(first), end = tt_sqlite_hour_of(last);
  if (marks->watching && device == marks->watched_device && begin <= marks->watched_hour &&
      marks->watched_hour <= end)
    marks->disturbed = true;
  if (begin != end || !touch(marks, device, begin)) TT_TRY(put(marks, device, begin, end, error));
  marks->device = device;
  marks->from = tt_sqlite_hour_start(end);
  marks->to = tt_sqlite_hour_start(end + 1);
  return TT_OK;
}

void tt_sqlite_marks_forget(tt_sqlite_marks *marks) {
  tt_map_clear(&marks->touched);
  marks->from = marks->to = 0;
}

int64_t tt_sqlite_mark_touched(const tt_sqlite_marks *marks, int device, int64_t hour) {
  const int64_t *known = tt_map_get(&marks->touched, (tt_map_key){device, hour});
  return known ? *known : 0;
}

void tt_sqlite_marks_watch(tt_sqlite_marks *marks, int device, int64_t hour) {
  marks->from = marks->to = 0;
  marks->watching = true;
  marks->disturbed = false;
  marks->watched_device = device;
  marks->watched_hour = hour;
}

tt_status tt_sqlite_unmark(tt_sqlite_marks *marks, int device, int64_t hour, tt_error *error) {
  sqlite3_stmt *around, *drop = NULL;
  tt_status status = TT_OK;
  if (sqlite3_prepare_v2(marks->db,
                         "SELECT first, last FROM stale WHERE device = ?1 AND first <= ?2"
                         " AND last >= ?2 LIMIT 1",
                         -1, &around, NULL) != SQLITE_OK ||
      sqlite3_prepare_v2(marks->db, "DELETE FROM stale WHERE device = ?1 AND first = ?2", -1, &drop,
                         NULL) != SQLITE_OK)
    status = tt_sqlite_fail(marks->db, marks->path, "can't prepare", error);
  while (status == TT_OK) {
    sqlite3_bind_int(around, 1, device + 1);
    sqlite3_bind_int64(around, 2, hour);
    int result = sqlite3_step(around);
    const int64_t first = sqlite3_column_int64(around, 0), last = sqlite3_column_int64(around, 1);
    sqlite3_reset(around);
    if (result == SQLITE_DONE) break;
    sqlite3_bind_int(drop, 1, device + 1);
    sqlite3_bind_int64(drop, 2, first);
    if (result != SQLITE_ROW || sqlite3_step(drop) != SQLITE_DONE)
      status = tt_sqlite_fail(marks->db, marks->path, "can't write", error);
    sqlite3_reset(drop);
    if (status == TT_OK && first < hour) status = put(marks, device, first, hour - 1, error);
    if (status == TT_OK && last > hour) status = put(marks, device, hour + 1, last, error);
  }
  sqlite3_finalize(around);
  sqlite3_finalize(drop);
  int64_t *known = tt_map_get(&marks->touched, (tt_map_key){device, hour});
  if (known) *known = 0;
  marks->from = marks->to = 0;
  return status;
}

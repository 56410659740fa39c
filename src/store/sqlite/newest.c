/* newest.c: samples of a device mostly have the same attributes again and again. So a set of them is remembered by its hash, and once
 * it was said in a minute costs one look a sample. */
#include "store/sqlite/newest.h"

#include "store/bucket.h"
#include "store/sqlite/internal.h"

/** Sets, and attributes, that are remembered at once; more of them are only noted again. */
#define MOST_REMEMBERED 100000

int64_t tt_sqlite_minute_of(int64_t time) {
  const int64_t length = tt_bucket_length(TT_BUCKET_MINUTE);
  return time / length - (time % length < 0);
}

int64_t tt_sqlite_minute_first(int64_t minute) {
  int64_t first;
  if (__builtin_mul_overflow(minute, tt_bucket_length(TT_BUCKET_MINUTE), &first))
    return minute < 0 ? INT64_MIN : INT64_MAX;
  return first;
}

int64_t tt_sqlite_minute_last(int64_t minute) {
  const int64_t next = tt_sqlite_minute_first(minute + 1);
  return next == INT64_MAX || next == INT64_MIN ? next : next - 1;
}

tt_status tt_sqlite_newest_open(sqlite3 *db, const char *path, tt_sqlite_newest *newest,
                                tt_error *error) {
  *newest = (tt_sqlite_newest){.db = db, .path = path};
  if (sqlite3_prepare_v3(db,
                         "INSERT INTO newest VALUES (?1, ?2, ?3)"
                         " ON CONFLICT DO UPDATE SET minute = max(minute, excluded.minute)",
                         -1, SQLITE_PREPARE_PERSISTENT, &newest->note, NULL) != SQLITE_OK)
    return tt_sqlite_fail(db, path, "can't prepare", error);
  return TT_OK;
}

void tt_sqlite_newest_close(tt_sqlite_newest *newest) {
  sqlite3_finalize(newest->note);
  tt_sqlite_newest_forget(newest);
  *newest = (tt_sqlite_newest){0};
}

void tt_sqlite_newest_forget(tt_sqlite_newest *newest) {
  tt_map_clear(&newest->said);
  tt_map_clear(&newest->sets);
}

/** Of attributes in their order. */
static int64_t hash_of(const tt_store_value *values, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ (uint32_t)values[i].attribute) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32;
  }
  return (int64_t)hash;
}

/** Whether a map says so much already. Else it does from now on, if there is memory: it is only noted again. */
static bool was_said(tt_map *map, tt_map_key key, int64_t minute) {
  int64_t *said = tt_map_get(map, key);
  if (said && *said >= minute) return true;
  if (said)
    *said = minute;
  else
    tt_map_put(map, key, minute);
  return false;
}

tt_status tt_sqlite_say_newest(tt_sqlite_newest *newest, int device, const tt_store_value *values,
                               uint32_t count, int64_t time, tt_error *error) {
  const int64_t minute = tt_sqlite_minute_of(time);
  if (was_said(&newest->sets, (tt_map_key){device, hash_of(values, count)}, minute)) return TT_OK;
  if (newest->sets.count > MOST_REMEMBERED) tt_map_clear(&newest->sets);
  if (newest->said.count > MOST_REMEMBERED) tt_map_clear(&newest->said);
  for (uint32_t i = 0; i < count; i++) {
    if (was_said(&newest->said, (tt_map_key){device, values[i].attribute}, minute)) continue;
    sqlite3_bind_int(newest->note, 1, device + 1);
    sqlite3_bind_int(newest->note, 2, values[i].attribute + 1);
    sqlite3_bind_int64(newest->note, 3, minute);
    const int result = sqlite3_step(newest->note);
    sqlite3_reset(newest->note);
    if (result != SQLITE_DONE)
      return tt_sqlite_fail(newest->db, newest->path, "can't write", error);
  }
  return TT_OK;
}

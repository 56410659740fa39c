/* passed.c: two statements, for the few messages that come from a log. */
#include "store/sqlite/passed.h"

#include "store/sqlite/internal.h"

static const char find_text[] = "SELECT place FROM passed WHERE device = ?1 AND log = ?2";
static const char note_text[] =
    "INSERT INTO passed VALUES (?1, ?2, ?3)"
    " ON CONFLICT DO UPDATE SET place = max(place, excluded.place)";

tt_status tt_sqlite_passed_open(sqlite3 *db, const char *path, tt_sqlite_passed *passed,
                                tt_error *error) {
  *passed = (tt_sqlite_passed){.db = db, .path = path};
  bool prepared = sqlite3_prepare_v3(db, find_text, -1, SQLITE_PREPARE_PERSISTENT, &passed->find,
                                     NULL) == SQLITE_OK &&
                  sqlite3_prepare_v3(db, note_text, -1, SQLITE_PREPARE_PERSISTENT, &passed->note,
                                     NULL) == SQLITE_OK;
  return prepared ? TT_OK : tt_sqlite_fail(db, path, "can't prepare", error);
}

void tt_sqlite_passed_close(tt_sqlite_passed *passed) {
  sqlite3_finalize(passed->find);
  sqlite3_finalize(passed->note);
  *passed = (tt_sqlite_passed){0};
}

static void bind(sqlite3_stmt *prepared, int64_t log, const tt_store_sample *sample) {
  sqlite3_bind_int(prepared, 1, sample->device + 1);
  sqlite3_bind_int64(prepared, 2, log);
}

static tt_status note(tt_sqlite_passed *passed, int64_t log, const tt_store_sample *sample,
                      tt_error *error) {
  bind(passed->note, log, sample);
  sqlite3_bind_int64(passed->note, 3, sample->place);
  const int result = sqlite3_step(passed->note);
  sqlite3_reset(passed->note);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(passed->db, passed->path, "can't write", error);
}

tt_status tt_sqlite_is_unsure(tt_sqlite_passed *passed, int64_t log, const tt_store_sample *sample,
                              bool *unsure, tt_error *error) {
  *unsure = sample->flags & TT_SAMPLE_UNSURE;
  if (!sample->place) return TT_OK;
  if (*unsure) return note(passed, log, sample, error);
  bind(passed->find, log, sample);
  const int result = sqlite3_step(passed->find);
  *unsure = result == SQLITE_ROW && sqlite3_column_int64(passed->find, 0) > sample->after;
  sqlite3_reset(passed->find);
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : tt_sqlite_fail(passed->db, passed->path, "can't read", error);
}

/* unseal.c: segments back into rows. */
#include "base/clock.h"
#include "database/sqlite_link.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/seal.h"

typedef enum statement { NEXT, ROW, PUT_SAMPLE, PUT_VALUE, STATEMENT_COUNT } statement;

static const char *const statement_texts[STATEMENT_COUNT] = {
    [NEXT] = ("SELECT g.id, g.device, g.epoch, g.first, g.last, g.rows, b.anchor FROM segment g"
              " JOIN boot b ON b.device = g.device AND b.epoch = g.epoch"
              " WHERE g.id > ?1 ORDER BY g.id LIMIT 1"),
    [ROW] =
        "SELECT id FROM sample WHERE device = ?1 AND epoch = ?2 AND device_time = ?3 AND nth = ?4",
    [PUT_SAMPLE] = ("INSERT INTO sample (device, epoch, device_time, nth, seq, time)"
                    " VALUES (?1, ?2, ?3, ?4, ?5, ?6)"),
    [PUT_VALUE] = "INSERT INTO value VALUES (?1, ?2, ?3)",
};

typedef struct unsealing {
  sqlite3 *db;
  const char *path;
  tt_sqlite_pieces *pieces;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_piece piece;
  int device, epoch;
  int64_t anchor;
} unsealing;

static tt_status fail(const unsealing *work, const char *what, tt_error *error) {
  return tt_sqlite_fail(work->db, work->path, what, error);
}

static tt_status run(unsealing *work, statement which, tt_error *error) {
  int result = sqlite3_step(work->statements[which]);
  sqlite3_reset(work->statements[which]);
  return result == SQLITE_DONE ? TT_OK : fail(work, "can't write", error);
}

/** The next segment behind one, of a day that was over. TT_END: there is none. */
static tt_status next_segment(unsealing *work, int64_t before, tt_sqlite_segment *segment,
                              tt_error *error) {
  for (;;) {
    sqlite3_stmt *next = work->statements[NEXT];
    sqlite3_bind_int64(next, 1, segment->id);
    int result = sqlite3_step(next);
    if (result == SQLITE_ROW) {
      *segment = (tt_sqlite_segment){.id = sqlite3_column_int64(next, 0),
                                     .first = sqlite3_column_int64(next, 3),
                                     .last = sqlite3_column_int64(next, 4),
                                     .rows = (uint32_t)sqlite3_column_int(next, 5)};
      work->device = sqlite3_column_int(next, 1) - 1;
      work->epoch = sqlite3_column_int(next, 2);
      work->anchor = sqlite3_column_int64(next, 6);
    }
    sqlite3_reset(next);
    if (result == SQLITE_DONE) return TT_END;
    if (result != SQLITE_ROW) return fail(work, "can't read", error);
    if (tt_sqlite_day_is_over(segment->last, work->anchor, before)) return TT_OK;
  }
}

/** The row of a record: one that came late is there already. */
static tt_status need_row(unsealing *work, const tt_column_moment *moment, int64_t *id,
                          tt_error *error) {
  for (statement which = ROW; which <= PUT_SAMPLE; which++) {
    sqlite3_stmt *prepared = work->statements[which];
    sqlite3_bind_int(prepared, 1, work->device + 1);
    sqlite3_bind_int(prepared, 2, work->epoch);
    sqlite3_bind_int64(prepared, 3, moment->device_time);
    sqlite3_bind_int64(prepared, 4, moment->nth);
  }
  int result = sqlite3_step(work->statements[ROW]);
  *id = result == SQLITE_ROW ? sqlite3_column_int64(work->statements[ROW], 0) : 0;
  sqlite3_reset(work->statements[ROW]);
  if (result == SQLITE_ROW) return TT_OK;
  if (result != SQLITE_DONE) return fail(work, "can't read", error);
  tt_sqlite_bind_seq(work->statements[PUT_SAMPLE], 5, moment->seq);
  sqlite3_bind_int64(work->statements[PUT_SAMPLE], 6, moment->time);
  TT_TRY(run(work, PUT_SAMPLE, error));
  *id = sqlite3_last_insert_rowid(work->db);
  return TT_OK;
}

static tt_status put_value(unsealing *work, int64_t sample, const tt_sqlite_column *column,
                           const tt_column_value *value, tt_error *error) {
  sqlite3_stmt *put = work->statements[PUT_VALUE];
  sqlite3_bind_int64(put, 1, sample);
  sqlite3_bind_int(put, 2, column->attribute + 1);
  if (value->text == TT_COLUMN_NUMBER)
    sqlite3_bind_double(put, 3, value->number);
  else
    sqlite3_bind_text(put, 3, (const char *)column->column.text.data + value->text, -1,
                      SQLITE_STATIC);
  return run(work, PUT_VALUE, error);
}

static tt_status put_record(unsealing *work, uint32_t row, uint64_t *values, tt_error *error) {
  int64_t id = 0;
  for (uint32_t i = 0; i < work->piece.columns.len; i++) {
    const tt_sqlite_column *column = &tt_list_at(&work->piece.columns, tt_sqlite_column, i);
    const tt_column_value *value = tt_sqlite_column_value(column, row);
    if (!value) continue;
    if (!id)
      TT_TRY(need_row(work, &tt_list_at(&work->piece.moments, tt_column_moment, row), &id, error));
    TT_TRY(put_value(work, id, column, value, error));
    ++*values;
  }
  return TT_OK;
}

static tt_status unseal_one(unsealing *work, const tt_sqlite_segment *segment, uint64_t *values,
                            tt_error *error) {
  TT_TRY(tt_sqlite_piece_load(work->pieces, segment, NULL, 0, &work->piece, error));
  for (uint32_t row = 0; row < work->piece.moments.len; row++)
    TT_TRY(put_record(work, row, values, error));
  return tt_sqlite_drop_segment(work->db, work->path, segment->id, error);
}

/** TT_END: nothing is left. */
static tt_status unseal_some(unsealing *work, const tt_store_sealing *sealing,
                             tt_store_sealed *sealed, tt_error *error) {
  const int64_t start = tt_monotonic_us();
  tt_sqlite_segment segment = {.id = 0};
  for (int i = 0; i < STATEMENT_COUNT; i++) {
    if (sqlite3_prepare_v2(work->db, statement_texts[i], -1, &work->statements[i], NULL) !=
        SQLITE_OK)
      return fail(work, "can't prepare", error);
  }
  tt_status status = next_segment(work, sealing->before, &segment, error);
  while (status == TT_OK) {
    TT_TRY(unseal_one(work, &segment, &sealed->values, error));
    sealed->until = segment.last + work->anchor;
    status = next_segment(work, sealing->before, &segment, error);
    if (tt_monotonic_us() - start >= sealing->budget) break;
  }
  if (status != TT_OK && status != TT_END) return status;
  bool any;
  TT_TRY(tt_sqlite_segment_any(work->pieces, &any, error));
  if (!any) TT_TRY(tt_sqlite_show_packed(work->db, work->path, false, error));
  return status;
}

tt_status tt_sqlite_unseal(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                           const tt_store_sealing *sealing, tt_store_sealed *sealed,
                           tt_error *error) {
  unsealing work = {.db = db, .path = path, .pieces = pieces};
  *sealed = (tt_store_sealed){0};
  TT_TRY(tt_sqlite_execute(db, path, "BEGIN IMMEDIATE", error));
  tt_status status = unseal_some(&work, sealing, sealed, error);
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(work.statements[i]);
  tt_sqlite_piece_free(&work.piece);
  if (status == TT_OK || status == TT_END) {
    tt_status done = tt_sqlite_execute(db, path, "COMMIT", error);
    if (done == TT_OK) return status == TT_END ? TT_OK : TT_AGAIN;
    status = done;
  }
  if (!sqlite3_get_autocommit(db)) sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
  return status;
}

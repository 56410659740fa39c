/* find.c: whether a message is stored, in whichever epoch of its device. */
#include "store/sqlite/internal.h"

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

/** A value of it, in a sample `s`. */
#define HAS_VALUE                                                                                  \
  " s.device_time = ?4 AND s.nth < " TEXT_OF(TT_STORE_RECORDS) " AND s.seq IS ?5"                  \
  " AND v.sample = s.id AND v.attribute = ?6 AND v.value = ?7"

/** Epochs, and whether a value is in a row of theirs. */
static const char candidates_text[] =
    "SELECT e.epoch, EXISTS (SELECT 1 FROM sample s CROSS JOIN value v"
    "  ON s.device = ?1 AND s.epoch = e.epoch AND" HAS_VALUE
    ") FROM (SELECT epoch FROM boot"
    "  WHERE device = ?1 AND boot = ?2 AND epoch <> ?3"
    "  ORDER BY epoch DESC LIMIT " TEXT_OF(TT_STORE_EPOCHS) ") e ORDER BY e.epoch DESC";
static const char value_text[] =
    "SELECT 1 FROM sample s CROSS JOIN value v ON s.device = ?1 AND s.epoch = ?2 AND" HAS_VALUE;

tt_status tt_sqlite_finder_open(tt_sqlite_finder *finder, sqlite3 *db, const char *path,
                                tt_error *error) {
  *finder = (tt_sqlite_finder){.db = db, .path = path};
  if (sqlite3_prepare_v3(db, candidates_text, -1, SQLITE_PREPARE_PERSISTENT, &finder->candidates,
                         NULL) != SQLITE_OK ||
      sqlite3_prepare_v3(db, value_text, -1, SQLITE_PREPARE_PERSISTENT, &finder->value, NULL) !=
          SQLITE_OK)
    return tt_sqlite_fail(db, path, "can't prepare", error);
  return tt_sqlite_pieces_open(db, path, &finder->pieces, error);
}

void tt_sqlite_finder_close(tt_sqlite_finder *finder) {
  tt_sqlite_pieces_close(finder->pieces);
  sqlite3_finalize(finder->candidates);
  sqlite3_finalize(finder->value);
  *finder = (tt_sqlite_finder){0};
}

static void bind_value(sqlite3_stmt *prepared, const tt_store_batch *batch,
                       const tt_store_firm *firm) {
  sqlite3_bind_int64(prepared, 4, firm->sample->device_time);
  tt_sqlite_bind_seq(prepared, 5, firm->sample->seq);
  sqlite3_bind_int(prepared, 6, firm->value->attribute + 1);
  tt_sqlite_bind_value(prepared, 7, batch, firm->value);
}

/** Whether a value stands in a segment of an epoch. */
static tt_status is_sealed(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int epoch,
                           const tt_store_firm *firm, bool *sealed, tt_error *error) {
  tt_sqlite_piece *piece;
  tt_sqlite_rows rows;
  *sealed = false;
  TT_TRY(tt_sqlite_piece_of(finder->pieces, sought->device, epoch, firm->sample->device_time,
                            &piece, &rows, error));
  if (!piece) return TT_OK;
  const tt_sqlite_column *column;
  TT_TRY(tt_sqlite_piece_column(finder->pieces, piece, firm->value->attribute, &column, error));
  for (uint32_t row = rows.from; column && row < rows.to && !*sealed; row++) {
    const tt_column_moment *moment = &tt_list_at(&piece->moments, tt_column_moment, row);
    *sealed = moment->nth < TT_STORE_RECORDS && moment->seq == firm->sample->seq &&
              tt_sqlite_column_has(column, row, sought->batch, firm->value);
  }
  return TT_OK;
}

/** Whether a value stands in a row of an epoch. */
static tt_status is_in_row(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int epoch,
                           const tt_store_firm *firm, bool *there, tt_error *error) {
  sqlite3_stmt *query = finder->value;
  sqlite3_bind_int(query, 1, sought->device + 1);
  sqlite3_bind_int(query, 2, epoch);
  bind_value(query, sought->batch, firm);
  int result = sqlite3_step(query);
  sqlite3_reset(query);
  *there = result == SQLITE_ROW;
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : tt_sqlite_fail(finder->db, finder->path, "can't read", error);
}

/** Whether the values behind the first one are in an epoch, too. */
static tt_status has_the_rest(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int epoch,
                              tt_store_firm firm, bool sealed, bool *has, tt_error *error) {
  *has = true;
  for (uint32_t i = 1; i < sought->values && *has; i++) {
    if (!tt_store_next_firm(sought->batch, sought->first, sought->count, &firm)) break;
    TT_TRY(is_in_row(finder, sought, epoch, &firm, has, error));
    if (!*has && sealed) TT_TRY(is_sealed(finder, sought, epoch, &firm, has, error));
  }
  return TT_OK;
}

/** Whether all values are in an epoch; `there`: the first one is in a row. */
static tt_status has_all(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int epoch,
                         const tt_store_firm *first, bool there, bool sealed, bool *has,
                         tt_error *error) {
  *has = there;
  if (!there && sealed) TT_TRY(is_sealed(finder, sought, epoch, first, has, error));
  return *has ? has_the_rest(finder, sought, epoch, *first, sealed, has, error) : TT_OK;
}

tt_status tt_sqlite_find(tt_sqlite_finder *finder, const tt_sqlite_sought *sought, int *epoch,
                         tt_error *error) {
  tt_store_firm firm = {0};
  if (!tt_store_next_firm(sought->batch, sought->first, sought->count, &firm)) return TT_NOT_FOUND;
  sqlite3_stmt *candidates = finder->candidates;
  sqlite3_bind_int(candidates, 1, sought->device + 1);
  sqlite3_bind_text(candidates, 2, sought->boot, -1, SQLITE_STATIC);
  sqlite3_bind_int(candidates, 3, sought->except);
  bind_value(candidates, sought->batch, &firm);
  bool found = false, sealed = false;
  int result = sqlite3_step(candidates);
  // While the query stands on a row, all that is asked is of the same moment.
  tt_status status =
      result == SQLITE_ROW ? tt_sqlite_segment_any(finder->pieces, &sealed, error) : TT_OK;
  for (; status == TT_OK && result == SQLITE_ROW; result = sqlite3_step(candidates)) {
    *epoch = sqlite3_column_int(candidates, 0);
    status = has_all(finder, sought, *epoch, &firm, sqlite3_column_int(candidates, 1), sealed,
                     &found, error);
    if (found) break;
  }
  sqlite3_reset(candidates);
  TT_TRY(status);
  if (found) return TT_OK;
  return result == SQLITE_DONE ? TT_NOT_FOUND
                               : tt_sqlite_fail(finder->db, finder->path, "can't read", error);
}

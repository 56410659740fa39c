/* piece.c: see its header. */
#include "store/sqlite/piece.h"

#include "database/sqlite_link.h"
#include "store/sqlite/slice.h"

#include <stdlib.h>
#include <string.h>

typedef enum statement {
  ANY,
  BEFORE,
  AFTER,
  MOMENTS,
  COLUMN_ID,
  COLUMN,
  COLUMNS,
  STATEMENT_COUNT
} statement;

#define SEGMENT "SELECT id, first, last, time_first, time_last, rows FROM segment"

static const char *const statement_texts[STATEMENT_COUNT] = {
    [ANY] = "SELECT 1 FROM segment LIMIT 1",
    [BEFORE] =
        SEGMENT " WHERE device = ?1 AND epoch = ?2 AND first <= ?3 ORDER BY first DESC LIMIT 1",
    [AFTER] = SEGMENT " WHERE device = ?1 AND epoch = ?2 AND first >= ?3 ORDER BY first LIMIT 1",
    [MOMENTS] = "SELECT moments FROM segment WHERE id = ?1",
    [COLUMN_ID] = "SELECT id FROM packed WHERE segment = ?1 AND attribute = ?2",
    [COLUMN] = "SELECT id, attribute, data FROM packed WHERE segment = ?1 AND attribute = ?2",
    [COLUMNS] = "SELECT id, attribute, data FROM packed WHERE segment = ?1 ORDER BY attribute",
};

/** Pieces that are kept, and values in all of them together but for the one looked at last. */
#define KEPT 8
#define KEPT_VALUES (1u << 20)

struct tt_sqlite_pieces {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *statements[STATEMENT_COUNT];
  tt_sqlite_piece kept[KEPT];
  uint64_t looks;
};

static tt_status fail(const tt_sqlite_pieces *pieces, tt_error *error) {
  return tt_sqlite_fail(pieces->db, pieces->path, "can't read", error);
}

/** A statement, prepared when it is first needed: a reader has to look at the file's version before. */
static tt_status need(tt_sqlite_pieces *pieces, statement which, sqlite3_stmt **query,
                      tt_error *error) {
  sqlite3_stmt **known = &pieces->statements[which];
  if (!*known && sqlite3_prepare_v3(pieces->db, statement_texts[which], -1,
                                    SQLITE_PREPARE_PERSISTENT, known, NULL) != SQLITE_OK)
    return fail(pieces, error);
  *query = *known;
  return TT_OK;
}

static tt_status run_out(const tt_sqlite_pieces *pieces, tt_error *error) {
  return tt_fail(error, TT_NOMEM, "%s: out of memory", pieces->path);
}

tt_status tt_sqlite_pieces_open(sqlite3 *db, const char *path, tt_sqlite_pieces **out,
                                tt_error *error) {
  tt_sqlite_pieces *pieces = calloc(1, sizeof *pieces);
  if (!pieces) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  pieces->db = db;
  pieces->path = path;
  *out = pieces;
  return TT_OK;
}

void tt_sqlite_pieces_close(tt_sqlite_pieces *pieces) {
  if (!pieces) return;
  for (int i = 0; i < STATEMENT_COUNT; i++) sqlite3_finalize(pieces->statements[i]);
  for (int i = 0; i < KEPT; i++) tt_sqlite_piece_free(&pieces->kept[i]);
  free(pieces);
}

/* --- segments --- */

tt_status tt_sqlite_segment_any(tt_sqlite_pieces *pieces, bool *any, tt_error *error) {
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, ANY, &query, error));
  int result = sqlite3_step(query);
  sqlite3_reset(query);
  *any = result == SQLITE_ROW;
  return result == SQLITE_ROW || result == SQLITE_DONE ? TT_OK : fail(pieces, error);
}

static tt_status find_segment(tt_sqlite_pieces *pieces, statement which, int device, int epoch,
                              int64_t device_time, tt_sqlite_segment *segment, tt_error *error) {
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, which, &query, error));
  sqlite3_bind_int(query, 1, device + 1);
  sqlite3_bind_int(query, 2, epoch);
  sqlite3_bind_int64(query, 3, device_time);
  int result = sqlite3_step(query);
  if (result == SQLITE_ROW)
    *segment = (tt_sqlite_segment){.id = sqlite3_column_int64(query, 0),
                                   .first = sqlite3_column_int64(query, 1),
                                   .last = sqlite3_column_int64(query, 2),
                                   .time_first = sqlite3_column_int64(query, 3),
                                   .time_last = sqlite3_column_int64(query, 4),
                                   .rows = (uint32_t)sqlite3_column_int(query, 5)};
  sqlite3_reset(query);
  if (result == SQLITE_ROW) return TT_OK;
  return result == SQLITE_DONE ? TT_NOT_FOUND : fail(pieces, error);
}

tt_status tt_sqlite_segment_before(tt_sqlite_pieces *pieces, int device, int epoch,
                                   int64_t device_time, tt_sqlite_segment *segment,
                                   tt_error *error) {
  return find_segment(pieces, BEFORE, device, epoch, device_time, segment, error);
}

tt_status tt_sqlite_segment_after(tt_sqlite_pieces *pieces, int device, int epoch,
                                  int64_t device_time, tt_sqlite_segment *segment,
                                  tt_error *error) {
  tt_status status = find_segment(pieces, BEFORE, device, epoch, device_time, segment, error);
  if (status == TT_OK && segment->last >= device_time) return TT_OK;
  if (status != TT_OK && status != TT_NOT_FOUND) return status;
  return find_segment(pieces, AFTER, device, epoch, device_time, segment, error);
}

/* --- what is in one --- */

static void free_column(void *item) { tt_column_free(&((tt_sqlite_column *)item)->column); }

void tt_sqlite_piece_free(tt_sqlite_piece *piece) {
  tt_list_free(&piece->columns);
  tt_list_free(&piece->moments);
  *piece = (tt_sqlite_piece){.segment = {.id = 0}};
}

static void make_lists(tt_sqlite_piece *piece) {
  if (piece->moments.item_size) return;
  piece->moments = TT_LIST(tt_column_moment, NULL);
  piece->columns = TT_LIST(tt_sqlite_column, free_column);
}

static tt_status load_moments(tt_sqlite_pieces *pieces, tt_sqlite_piece *piece, tt_error *error) {
  const tt_sqlite_segment *segment = &piece->segment;
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, MOMENTS, &query, error));
  sqlite3_bind_int64(query, 1, segment->id);
  tt_error reason = {""};
  tt_status status = TT_NOT_FOUND;
  int result = sqlite3_step(query);
  if (result == SQLITE_ROW) {
    const void *bytes = sqlite3_column_blob(query, 0);
    size_t size = (size_t)sqlite3_column_bytes(query, 0);
    status = tt_column_unpack_moments(bytes, size, &piece->moments, &reason);
    if (status == TT_OK && piece->moments.len != segment->rows)
      status = tt_fail(&reason, TT_INVALID, "it has another number of moments");
  }
  sqlite3_reset(query);
  if (status == TT_OK) return TT_OK;
  if (status == TT_NOT_FOUND) return fail(pieces, error);
  return tt_fail(error, status, "%s: the moments of segment %lld: %s", pieces->path,
                 (long long)segment->id, reason.text);
}

/** The place of an attribute in a list of columns, or where it would be. */
static uint32_t place_of(const tt_list *columns, int attribute) {
  uint32_t low = 0, high = columns->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tt_list_at(columns, tt_sqlite_column, middle).attribute < attribute)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/** Puts a column where it belongs; on failure it is still the caller's. */
static bool insert_column(tt_list *columns, const tt_sqlite_column *column, uint32_t place) {
  if (!tt_list_add(columns, column, 1)) return false;
  tt_sqlite_column *at = &tt_list_at(columns, tt_sqlite_column, place);
  memmove(at + 1, at, (columns->len - 1 - place) * sizeof *at);
  *at = *column;
  return true;
}

/** The column that a query stands on; `slice` NULL: of all rows. */
static tt_status take_column(tt_sqlite_pieces *pieces, sqlite3_stmt *query, tt_sqlite_slice *slice,
                             tt_sqlite_piece *piece, tt_error *error) {
  tt_sqlite_column column = {.attribute = sqlite3_column_int(query, 1) - 1,
                             .id = sqlite3_column_int64(query, 0),
                             .column = tt_column_new()};
  tt_error reason = {""};
  const void *bytes = sqlite3_column_blob(query, 2);
  tt_status status = tt_column_unpack(bytes, (size_t)sqlite3_column_bytes(query, 2),
                                      piece->segment.rows, &column.column, &reason);
  if (status != TT_OK)
    status = tt_fail(error, status, "%s: attribute %d of segment %lld: %s", pieces->path,
                     column.attribute + 1, (long long)piece->segment.id, reason.text);
  const uint32_t place = place_of(&piece->columns, column.attribute);
  if (status == TT_OK && !insert_column(&piece->columns, &column, place))
    status = run_out(pieces, error);
  if (status != TT_OK) {
    tt_column_free(&column.column);
    return status;
  }
  return !slice || tt_sqlite_slice_fit(slice, piece, place) ? TT_OK : run_out(pieces, error);
}

static tt_status load_columns(tt_sqlite_pieces *pieces, sqlite3_stmt *query, tt_sqlite_slice *slice,
                              tt_sqlite_piece *piece, tt_error *error) {
  tt_status status = TT_OK;
  int result = SQLITE_DONE;
  sqlite3_bind_int64(query, 1, piece->segment.id);
  while (status == TT_OK && (result = sqlite3_step(query)) == SQLITE_ROW)
    status = take_column(pieces, query, slice, piece, error);
  sqlite3_reset(query);
  if (status != TT_OK) return status;
  return result == SQLITE_DONE ? TT_OK : fail(pieces, error);
}

/** Makes `piece` that of a segment without moments: with the columns of these attributes. */
static tt_status load_attributes(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                                 const int *attributes, int count, tt_sqlite_slice *slice,
                                 tt_sqlite_piece *piece, tt_error *error) {
  make_lists(piece);
  tt_list_cut(&piece->moments, 0);
  tt_list_cut(&piece->columns, 0);
  piece->segment = *segment;
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, count ? COLUMN : COLUMNS, &query, error));
  if (!count) return load_columns(pieces, query, slice, piece, error);
  for (int i = 0; i < count; i++) {
    sqlite3_bind_int(query, 2, attributes[i] + 1);
    TT_TRY(load_columns(pieces, query, slice, piece, error));
  }
  return TT_OK;
}

tt_status tt_sqlite_piece_load(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                               const int *attributes, int count, tt_sqlite_piece *piece,
                               tt_error *error) {
  TT_TRY(load_attributes(pieces, segment, attributes, count, NULL, piece, error));
  return piece->columns.len ? load_moments(pieces, piece, error) : TT_OK;
}

tt_status tt_sqlite_piece_load_slice(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                                     tt_sqlite_slice *slice, tt_sqlite_piece *piece,
                                     tt_error *error) {
  slice->size = 2 * (slice->rows.to - slice->rows.from);
  TT_TRY(load_attributes(pieces, segment, slice->attributes, slice->count, slice, piece, error));
  if (!piece->columns.len) return TT_OK;
  TT_TRY(load_moments(pieces, piece, error));
  return tt_sqlite_slice_cut_moments(slice, &piece->moments) ? TT_OK : run_out(pieces, error);
}

tt_status tt_sqlite_segment_rows(tt_sqlite_pieces *pieces, const tt_sqlite_segment *segment,
                                 int64_t from, int64_t to, tt_sqlite_rows *rows, tt_error *error) {
  *rows = (tt_sqlite_rows){0, segment->rows};
  if (segment->first >= from && segment->last <= to) return TT_OK;
  tt_sqlite_piece piece = {.segment = *segment};
  make_lists(&piece);
  tt_status status = load_moments(pieces, &piece, error);
  if (status == TT_OK) *rows = tt_sqlite_piece_rows(&piece, from, to);
  tt_sqlite_piece_free(&piece);
  return status;
}

/** The first row whose device time is not before. */
static uint32_t row_at(const tt_sqlite_piece *piece, int64_t device_time) {
  uint32_t low = 0, high = piece->moments.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tt_list_at(&piece->moments, tt_column_moment, middle).device_time < device_time)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

tt_sqlite_rows tt_sqlite_piece_rows(const tt_sqlite_piece *piece, int64_t from, int64_t to) {
  if (from > to) return (tt_sqlite_rows){0, 0};
  return (tt_sqlite_rows){row_at(piece, from),
                          to == INT64_MAX ? piece->moments.len : row_at(piece, to + 1)};
}

const tt_column_value *tt_sqlite_column_value(const tt_sqlite_column *column, uint32_t row) {
  const tt_list *values = &column->column.values;
  uint32_t low = 0, high = values->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (tt_list_at(values, tt_column_value, middle).row < row)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == values->len) return NULL;
  const tt_column_value *value = &tt_list_at(values, tt_column_value, low);
  return value->row == row ? value : NULL;
}

/* --- those that are kept --- */

static size_t values_in(const tt_sqlite_piece *piece) {
  size_t values = 2 * (size_t)piece->moments.len;  // a moment takes twice as much
  for (uint32_t i = 0; i < piece->columns.len; i++) {
    const tt_column *column = &tt_list_at(&piece->columns, tt_sqlite_column, i).column;
    values += column->values.len + column->text.len / sizeof(tt_column_value);
  }
  return values;
}

/** Gives up what was not looked at for longest, until the rest is small. */
static void give_up_some(tt_sqlite_pieces *pieces, const tt_sqlite_piece *needed) {
  for (;;) {
    size_t values = 0;
    tt_sqlite_piece *oldest = NULL;
    for (int i = 0; i < KEPT; i++) {
      tt_sqlite_piece *piece = &pieces->kept[i];
      if (!piece->segment.id || piece == needed) continue;
      values += values_in(piece);
      if (!oldest || piece->used < oldest->used) oldest = piece;
    }
    if (values <= KEPT_VALUES) return;
    tt_sqlite_piece_free(oldest);
  }
}

/** The kept piece of a segment, or the place for it. */
static tt_sqlite_piece *place_for(tt_sqlite_pieces *pieces, int64_t id) {
  tt_sqlite_piece *place = &pieces->kept[0];
  for (int i = 0; i < KEPT; i++) {
    tt_sqlite_piece *piece = &pieces->kept[i];
    if (piece->segment.id == id) return piece;
    if (piece->used < place->used) place = piece;
  }
  tt_sqlite_piece_free(place);
  return place;
}

tt_status tt_sqlite_piece_of(tt_sqlite_pieces *pieces, int device, int epoch, int64_t device_time,
                             tt_sqlite_piece **out, tt_sqlite_rows *rows, tt_error *error) {
  tt_sqlite_segment segment;
  *out = NULL;
  tt_status status = tt_sqlite_segment_before(pieces, device, epoch, device_time, &segment, error);
  if (status == TT_NOT_FOUND || (status == TT_OK && segment.last < device_time)) return TT_OK;
  TT_TRY(status);
  tt_sqlite_piece *piece = place_for(pieces, segment.id);
  if (!piece->segment.id) {
    make_lists(piece);
    piece->segment = segment;
    status = load_moments(pieces, piece, error);
    if (status != TT_OK) {
      tt_sqlite_piece_free(piece);
      return status;
    }
  }
  piece->used = ++pieces->looks;
  give_up_some(pieces, piece);
  *rows = tt_sqlite_piece_rows(piece, device_time, device_time);
  if (rows->from < rows->to) *out = piece;
  return TT_OK;
}

/** The id of a column, 0: it is not there. */
static tt_status id_of_column(tt_sqlite_pieces *pieces, int64_t segment, int attribute, int64_t *id,
                              tt_error *error) {
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, COLUMN_ID, &query, error));
  sqlite3_bind_int64(query, 1, segment);
  sqlite3_bind_int(query, 2, attribute + 1);
  int result = sqlite3_step(query);
  *id = result == SQLITE_ROW ? sqlite3_column_int64(query, 0) : 0;
  sqlite3_reset(query);
  return result == SQLITE_ROW || result == SQLITE_DONE ? TT_OK : fail(pieces, error);
}

tt_status tt_sqlite_piece_column(tt_sqlite_pieces *pieces, tt_sqlite_piece *piece, int attribute,
                                 const tt_sqlite_column **out, tt_error *error) {
  int64_t id;
  *out = NULL;
  TT_TRY(id_of_column(pieces, piece->segment.id, attribute, &id, error));
  if (!id) return TT_OK;
  uint32_t place = place_of(&piece->columns, attribute);
  const tt_sqlite_column *known =
      place < piece->columns.len ? &tt_list_at(&piece->columns, tt_sqlite_column, place) : NULL;
  if (known && known->attribute == attribute && known->id == id) {
    *out = known;
    return TT_OK;
  }
  if (known && known->attribute == attribute) tt_list_cut(&piece->columns, 0);  // it was replaced
  sqlite3_stmt *query = NULL;
  TT_TRY(need(pieces, COLUMN, &query, error));
  sqlite3_bind_int(query, 2, attribute + 1);
  TT_TRY(load_columns(pieces, query, NULL, piece, error));
  *out = &tt_list_at(&piece->columns, tt_sqlite_column, place_of(&piece->columns, attribute));
  return TT_OK;
}

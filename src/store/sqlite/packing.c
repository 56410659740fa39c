/* packing.c: see its header. */
#include "store/sqlite/packing.h"

#include "database/sqlite_link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A segment of so many values or bytes of text is large enough, if it has so many rows: what a column costs beside its
 *  values should be little of it. */
#define VALUES_WANTED 65536
#define ROWS_WANTED 64
#define TEXT_WANTED (1u << 20)
/** No more text in a column, since SQLite is told to take no longer blobs than 1 MiB. */
#define TEXT_OF_COLUMN ((1u << 20) - (1u << 18))
/** Neither values nor text, however they are spread. */
#define VALUES_MOST (1u << 20)
#define TEXT_MOST (1u << 24)

/** How much is in all columns. */
typedef struct extent {
  uint32_t rows, ids;
  size_t values, text;
} extent;

struct tt_sqlite_packing {
  sqlite3 *db;
  const char *path;
  sqlite3_stmt *put_segment, *put_packed;
  tt_list moments; /**< tt_column_moment */
  tt_list columns; /**< tt_sqlite_column; some may be empty */
  tt_list places;  /**< uint32_t: by attribute, its column + 1 */
  tt_list ids;     /**< int64_t */
  tt_list bytes;   /**< scratch */
  extent now, marked;
  uint32_t longest_text; /**< at least that of any column */
};

static void free_column(void *item) { tt_column_free(&((tt_sqlite_column *)item)->column); }

static tt_status run_out(const tt_sqlite_packing *packing, tt_error *error) {
  return tt_fail(error, TT_NOMEM, "%s: out of memory", packing->path);
}

tt_status tt_sqlite_packing_open(sqlite3 *db, const char *path, tt_sqlite_packing **out,
                                 tt_error *error) {
  tt_sqlite_packing *packing = calloc(1, sizeof *packing);
  if (!packing) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *packing = (tt_sqlite_packing){.db = db,
                                 .path = path,
                                 .moments = TT_LIST(tt_column_moment, NULL),
                                 .columns = TT_LIST(tt_sqlite_column, free_column),
                                 .places = TT_LIST(uint32_t, NULL),
                                 .ids = TT_LIST(int64_t, NULL),
                                 .bytes = TT_LIST(char, NULL)};
  if (sqlite3_prepare_v3(
          db,
          "INSERT INTO segment (device, epoch, first, last, time_first, time_last, rows, moments)"
          " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
          -1, SQLITE_PREPARE_PERSISTENT, &packing->put_segment, NULL) != SQLITE_OK ||
      sqlite3_prepare_v3(
          db, "INSERT INTO packed (segment, attribute, count, data) VALUES (?1, ?2, ?3, ?4)", -1,
          SQLITE_PREPARE_PERSISTENT, &packing->put_packed, NULL) != SQLITE_OK) {
    tt_status status = tt_sqlite_fail(db, path, "can't prepare", error);
    tt_sqlite_packing_close(packing);
    return status;
  }
  *out = packing;
  return TT_OK;
}

void tt_sqlite_packing_close(tt_sqlite_packing *packing) {
  if (!packing) return;
  sqlite3_finalize(packing->put_segment);
  sqlite3_finalize(packing->put_packed);
  tt_list_free(&packing->moments);
  tt_list_free(&packing->columns);
  tt_list_free(&packing->places);
  tt_list_free(&packing->ids);
  tt_list_free(&packing->bytes);
  free(packing);
}

/* --- gathering --- */

/** Of the next segment the columns are hardly others; beyond so many their memory is given back. */
#define COLUMNS_KEPT 256

void tt_sqlite_packing_clear(tt_sqlite_packing *packing) {
  tt_list_cut(&packing->moments, 0);
  tt_list_cut(&packing->ids, 0);
  if (packing->columns.len > COLUMNS_KEPT) {
    tt_list_cut(&packing->columns, 0);
    tt_list_cut(&packing->places, 0);
  }
  for (uint32_t i = 0; i < packing->columns.len; i++)
    tt_column_clear(&tt_list_at(&packing->columns, tt_sqlite_column, i).column);
  packing->now = packing->marked = (extent){0};
  packing->longest_text = 0;
}

void tt_sqlite_packing_mark(tt_sqlite_packing *packing) { packing->marked = packing->now; }

/** Removes values of rows from `rows` on. */
static void cut_column(tt_column *column, uint32_t rows) {
  uint32_t len = column->values.len;
  while (len && tt_list_at(&column->values, tt_column_value, len - 1).row >= rows) {
    uint32_t text = tt_list_at(&column->values, tt_column_value, --len).text;
    if (text != TT_COLUMN_NUMBER) tt_list_cut(&column->text, text);
  }
  tt_list_cut(&column->values, len);
}

void tt_sqlite_packing_take_back(tt_sqlite_packing *packing) {
  const extent *to = &packing->marked;
  packing->longest_text = 0;
  for (uint32_t i = 0; i < packing->columns.len; i++) {
    tt_column *column = &tt_list_at(&packing->columns, tt_sqlite_column, i).column;
    cut_column(column, to->rows);
    if (column->text.len > packing->longest_text) packing->longest_text = column->text.len;
  }
  tt_list_cut(&packing->moments, to->rows);
  tt_list_cut(&packing->ids, to->ids);
  packing->now = *to;
}

/** The column of an attribute, made where there is none. NULL: out of memory. */
static tt_column *column_of(tt_sqlite_packing *packing, int attribute) {
  if (!tt_list_fill(&packing->places, (uint32_t)attribute + 1)) return NULL;
  uint32_t *place = &tt_list_at(&packing->places, uint32_t, attribute);
  if (!*place) {
    tt_sqlite_column made = {.attribute = attribute, .column = tt_column_new()};
    if (!tt_list_add(&packing->columns, &made, 1)) return NULL;
    *place = packing->columns.len;
  }
  return &tt_list_at(&packing->columns, tt_sqlite_column, *place - 1).column;
}

/** Adds a value to the last row; `text` NULL: a number. False: out of memory. */
static bool add_value(tt_sqlite_packing *packing, int attribute, const char *text, double number) {
  tt_column *column = column_of(packing, attribute);
  tt_column_value value = {
      .row = packing->moments.len - 1, .text = TT_COLUMN_NUMBER, .number = number};
  if (!column) return false;
  if (text) {
    size_t size = strlen(text) + 1;
    value.text = column->text.len;
    if (!tt_list_add(&column->text, text, size)) return false;
    packing->now.text += size;
    if (column->text.len > packing->longest_text) packing->longest_text = column->text.len;
  }
  packing->now.values++;
  return tt_list_add(&column->values, &value, 1);
}

tt_status tt_sqlite_packing_add(tt_sqlite_packing *packing, const tt_sqlite_scanned *record,
                                tt_error *error) {
  if (!tt_list_add(&packing->moments, &record->moment, 1)) return run_out(packing, error);
  for (uint32_t i = 0; i < record->count; i++) {
    const tt_store_cell *cell = &record->cells[i];
    if (!add_value(packing, cell->attribute, cell->text, cell->number))
      return run_out(packing, error);
  }
  if (record->row && !tt_list_add(&packing->ids, &record->row, 1)) return run_out(packing, error);
  packing->now.rows = packing->moments.len;
  packing->now.ids = packing->ids.len;
  return TT_OK;
}

tt_status tt_sqlite_packing_add_rows(tt_sqlite_packing *packing, const tt_sqlite_piece *piece,
                                     tt_sqlite_rows rows, tt_error *error) {
  for (uint32_t row = rows.from; row < rows.to; row++) {
    const tt_column_moment *moment = &tt_list_at(&piece->moments, tt_column_moment, row);
    if (!tt_list_add(&packing->moments, moment, 1)) return run_out(packing, error);
    for (uint32_t i = 0; i < piece->columns.len; i++) {
      const tt_sqlite_column *column = &tt_list_at(&piece->columns, tt_sqlite_column, i);
      const tt_column_value *value = tt_sqlite_column_value(column, row);
      if (!value) continue;
      const char *text = value->text == TT_COLUMN_NUMBER
                             ? NULL
                             : (const char *)column->column.text.data + value->text;
      if (!add_value(packing, column->attribute, text, value->number))
        return run_out(packing, error);
    }
  }
  packing->now.rows = packing->moments.len;
  return TT_OK;
}

tt_sqlite_fullness tt_sqlite_packing_fullness(const tt_sqlite_packing *packing) {
  const extent *now = &packing->now;
  if (now->rows > TT_COLUMN_ROWS || packing->longest_text > TEXT_OF_COLUMN ||
      now->values > VALUES_MOST || now->text > TEXT_MOST)
    return TT_SQLITE_TOO_FULL;
  bool wide = now->values >= VALUES_WANTED && now->rows >= ROWS_WANTED;
  return now->rows == TT_COLUMN_ROWS || wide || now->text >= TEXT_WANTED ? TT_SQLITE_FULL
                                                                         : TT_SQLITE_HAS_ROOM;
}

uint32_t tt_sqlite_packing_rows(const tt_sqlite_packing *packing) { return packing->now.rows; }

const tt_list *tt_sqlite_packing_ids(const tt_sqlite_packing *packing) { return &packing->ids; }

/* --- writing --- */

static tt_status put(tt_sqlite_packing *packing, sqlite3_stmt *prepared, tt_error *error) {
  int result = sqlite3_step(prepared);
  sqlite3_reset(prepared);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(packing->db, packing->path, "can't write", error);
}

static tt_status put_segment(tt_sqlite_packing *packing, int device, int epoch, tt_error *error) {
  const uint32_t rows = packing->moments.len;
  const tt_column_moment *moments = packing->moments.data;
  int64_t least = moments[0].time, greatest = moments[0].time;
  for (uint32_t i = 1; i < rows; i++) {
    if (moments[i].time < least) least = moments[i].time;
    if (moments[i].time > greatest) greatest = moments[i].time;
  }
  tt_list_cut(&packing->bytes, 0);
  TT_TRY(tt_column_pack_moments(&packing->moments, &packing->bytes, error));
  sqlite3_stmt *prepared = packing->put_segment;
  sqlite3_bind_int(prepared, 1, device + 1);
  sqlite3_bind_int(prepared, 2, epoch);
  sqlite3_bind_int64(prepared, 3, moments[0].device_time);
  sqlite3_bind_int64(prepared, 4, moments[rows - 1].device_time);
  sqlite3_bind_int64(prepared, 5, least);
  sqlite3_bind_int64(prepared, 6, greatest);
  sqlite3_bind_int(prepared, 7, (int)rows);
  sqlite3_bind_blob(prepared, 8, packing->bytes.data, (int)packing->bytes.len, SQLITE_STATIC);
  return put(packing, prepared, error);
}

tt_status tt_sqlite_packing_write(tt_sqlite_packing *packing, int device, int epoch,
                                  uint64_t *values, uint64_t *bytes, tt_error *error) {
  if (!packing->now.values) return TT_OK;
  TT_TRY(put_segment(packing, device, epoch, error));
  *bytes += packing->bytes.len;
  *values += packing->now.values;
  sqlite3_bind_int64(packing->put_packed, 1, sqlite3_last_insert_rowid(packing->db));
  for (uint32_t i = 0; i < packing->columns.len; i++) {
    const tt_sqlite_column *column = &tt_list_at(&packing->columns, tt_sqlite_column, i);
    if (!column->column.values.len) continue;
    tt_list_cut(&packing->bytes, 0);
    TT_TRY(tt_column_pack(&column->column, packing->moments.len, &packing->bytes, error));
    sqlite3_bind_int(packing->put_packed, 2, column->attribute + 1);
    sqlite3_bind_int(packing->put_packed, 3, (int)column->column.values.len);
    sqlite3_bind_blob(packing->put_packed, 4, packing->bytes.data, (int)packing->bytes.len,
                      SQLITE_STATIC);
    TT_TRY(put(packing, packing->put_packed, error));
    *bytes += packing->bytes.len;
  }
  return TT_OK;
}

tt_status tt_sqlite_drop_segment(sqlite3 *db, const char *path, int64_t id, tt_error *error) {
  char sql[128];
  snprintf(sql, sizeof sql,
           "DELETE FROM packed WHERE segment = %" PRId64
           "; DELETE FROM segment WHERE id = %" PRId64,
           id, id);
  return tt_sqlite_execute(db, path, sql, error);
}

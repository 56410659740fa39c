/* sqlite_read.c: records through a read-only connection of the reader's own, which never checkpoints. */
#include "store/sqlite_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct sqlite_reader {
  tt_store_reader base;
  sqlite3 *db;
  char *path;
} sqlite_reader;

struct tt_store_cursor {
  sqlite_reader *reader;
  sqlite3_stmt *query;
  tt_list cells; /**< tt_store_cell; texts are offsets until the record is whole */
  tt_list text;
  bool row; /**< the query stands on a row that has not been taken */
};

static tt_status reader_epochs(tt_store_reader *base, int device, tt_list *epochs,
                               tt_error *error) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db,
                         "SELECT epoch, anchor, offset_low, offset_high FROM boot WHERE device = ?1"
                         " ORDER BY epoch",
                         -1, &query, NULL) != SQLITE_OK) {
    return tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  }
  sqlite3_bind_int(query, 1, device + 1);
  int result;
  while ((result = sqlite3_step(query)) == SQLITE_ROW) {
    tt_store_epoch epoch = {.device = device,
                            .number = sqlite3_column_int(query, 0),
                            .anchor = sqlite3_column_int64(query, 1),
                            .offset_low = sqlite3_column_int64(query, 2),
                            .offset_high = sqlite3_column_int64(query, 3)};
    tt_list_add(epochs, &epoch, 1);
  }
  sqlite3_finalize(query);
  if (epochs->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

static tt_status reader_holds(tt_store_reader *base, int device, int attribute, bool *holds,
                              tt_error *error) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db,
                         "SELECT 1 FROM sample s CROSS JOIN value v ON v.sample = s.id"
                         " AND v.attribute = ?2 WHERE s.device = ?1 LIMIT 1",
                         -1, &query, NULL) != SQLITE_OK) {
    return tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  }
  sqlite3_bind_int(query, 1, device + 1);
  sqlite3_bind_int(query, 2, attribute + 1);
  int result = sqlite3_step(query);
  *holds = result == SQLITE_ROW;
  sqlite3_finalize(query);
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

static void cursor_close(tt_store_cursor *cursor) {
  sqlite3_finalize(cursor->query);
  tt_list_free(&cursor->cells);
  tt_list_free(&cursor->text);
  free(cursor);
}

static tt_status cursor_step(tt_store_cursor *cursor, tt_error *error) {
  int result = sqlite3_step(cursor->query);
  cursor->row = result == SQLITE_ROW;
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : tt_sqlite_fail(cursor->reader->db, cursor->reader->path, "can't read", error);
}

/** The query for a range, prepared. */
static tt_status prepare(tt_store_cursor *cursor, const tt_store_range *range, tt_error *error) {
  sqlite3 *db = cursor->reader->db;
  tt_list sql = TT_LIST(char, NULL);
  // CROSS JOIN keeps the order of the loops: samples by their index, then the values of each.
  tt_list_print(&sql,
                "SELECT s.id, s.device_time, s.time, v.attribute, v.value FROM sample s"
                " CROSS JOIN value v ON v.sample = s.id WHERE s.device = ?1 AND s.epoch = ?2"
                " AND s.device_time BETWEEN ?3 AND ?4 AND s.time BETWEEN ?5 AND ?6");
  for (int i = 0; i < range->attribute_count; i++) {
    tt_list_print(&sql, "%s%d", i ? "," : " AND v.attribute IN (", range->attributes[i] + 1);
  }
  tt_list_print(&sql, "%s ORDER BY s.device_time, s.nth", range->attribute_count ? ")" : "");
  tt_status status = TT_OK;
  if (sql.failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (sqlite3_prepare_v2(db, sql.data, -1, &cursor->query, NULL) != SQLITE_OK)
    status = tt_sqlite_fail(db, cursor->reader->path, "can't read", error);
  tt_list_free(&sql);
  return status;
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  tt_store_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return tt_fail(error, TT_NOMEM, "out of memory");
  cursor->reader = (sqlite_reader *)base;
  cursor->cells = TT_LIST(tt_store_cell, NULL);
  cursor->text = TT_LIST(char, NULL);
  tt_status status = prepare(cursor, range, error);
  if (status == TT_OK) {
    sqlite3_bind_int(cursor->query, 1, range->device + 1);
    sqlite3_bind_int(cursor->query, 2, range->epoch);
    sqlite3_bind_int64(cursor->query, 3, range->device_from);
    sqlite3_bind_int64(cursor->query, 4, range->device_to);
    sqlite3_bind_int64(cursor->query, 5, range->from);
    sqlite3_bind_int64(cursor->query, 6, range->to);
    status = cursor_step(cursor, error);
  }
  if (status != TT_OK) {
    cursor_close(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

/** False: out of memory. */
static bool take_cell(tt_store_cursor *cursor) {
  tt_store_cell cell = {.attribute = sqlite3_column_int(cursor->query, 3) - 1};
  if (sqlite3_column_type(cursor->query, 4) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_column_text(cursor->query, 4);
    cell.text = (const char *)(uintptr_t)(cursor->text.len + 1);
    if (!text || !tt_list_add(&cursor->text, text, strlen(text) + 1)) return false;
  } else {
    cell.number = sqlite3_column_double(cursor->query, 4);
  }
  return tt_list_add(&cursor->cells, &cell, 1);
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  if (!cursor->row) return TT_END;
  tt_list_cut(&cursor->cells, 0);
  tt_list_cut(&cursor->text, 0);
  sqlite3_int64 id = sqlite3_column_int64(cursor->query, 0);
  record->device_time = sqlite3_column_int64(cursor->query, 1);
  record->time = sqlite3_column_int64(cursor->query, 2);
  while (cursor->row && sqlite3_column_int64(cursor->query, 0) == id) {
    if (!take_cell(cursor)) return tt_fail(error, TT_NOMEM, "out of memory");
    TT_TRY(cursor_step(cursor, error));
  }
  tt_store_settle_texts(&cursor->cells, &cursor->text);
  record->cells = cursor->cells.data;
  record->count = (int)cursor->cells.len;
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_close(reader->db);
  free(reader->path);
  free(reader);
}

tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **out, tt_error *error) {
  sqlite_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return tt_fail(error, TT_NOMEM, "out of memory");
  reader->base = (tt_store_reader){reader_epochs, reader_open,  reader_holds,
                                   cursor_next,   cursor_close, reader_close};
  reader->path = strdup(path);
  tt_status status = reader->path ? tt_sqlite_connect_reading(path, &reader->db, error)
                                  : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) {
    sqlite3_busy_timeout(reader->db, 2000);
    // One transaction: all cursors of a query see the same moment.
    status = tt_sqlite_execute(reader->db, reader->path, "BEGIN", error);
  }
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = &reader->base;
  return TT_OK;
}

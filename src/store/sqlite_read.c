/* sqlite_read.c: records through a read-only connection of the reader's own, which never checkpoints. */
#include "store/sqlite_internal.h"

typedef struct sqlite_reader {
  tt_store_reader base;
  sqlite3 *db;
  char *path;
} sqlite_reader;

struct tt_store_cursor {
  sqlite_reader *reader;
  sqlite3_stmt *query;
  GArray *cells; /**< tt_store_cell; texts are offsets until the record is whole */
  GString *text;
  bool row; /**< the query stands on a row that has not been taken */
};

static tt_status reader_epochs(tt_store_reader *base, int device, GArray *epochs, tt_error *error) {
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
    g_array_append_val(epochs, epoch);
  }
  sqlite3_finalize(query);
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

static void cursor_close(tt_store_cursor *cursor) {
  sqlite3_finalize(cursor->query);
  g_array_unref(cursor->cells);
  g_string_free(cursor->text, TRUE);
  g_free(cursor);
}

static tt_status cursor_step(tt_store_cursor *cursor, tt_error *error) {
  int result = sqlite3_step(cursor->query);
  cursor->row = result == SQLITE_ROW;
  return result == SQLITE_ROW || result == SQLITE_DONE
             ? TT_OK
             : tt_sqlite_fail(cursor->reader->db, cursor->reader->path, "can't read", error);
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  sqlite_reader *reader = (sqlite_reader *)base;
  // CROSS JOIN keeps the order of the loops: samples by their index, then the values of each.
  GString *sql = g_string_new(
      "SELECT s.id, s.device_time, s.time, v.attribute, v.value FROM sample s CROSS JOIN value v "
      "ON v.sample = s.id"
      " WHERE s.device = ?1 AND s.epoch = ?2 AND s.device_time BETWEEN ?3 AND ?4 AND s.time "
      "BETWEEN ?5 AND ?6");
  for (int i = 0; i < range->attribute_count; i++) {
    g_string_append_printf(sql, "%s%d", i ? "," : " AND v.attribute IN (",
                           range->attributes[i] + 1);
  }
  if (range->attribute_count) g_string_append_c(sql, ')');
  g_string_append(sql, " ORDER BY s.device_time");
  tt_store_cursor *cursor = g_new0(tt_store_cursor, 1);
  cursor->reader = reader;
  cursor->cells = g_array_new(FALSE, FALSE, sizeof(tt_store_cell));
  cursor->text = g_string_new(NULL);
  int prepared = sqlite3_prepare_v2(reader->db, sql->str, -1, &cursor->query, NULL);
  g_string_free(sql, TRUE);
  tt_status status = TT_OK;
  if (prepared != SQLITE_OK) {
    status = tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  } else {
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

static void take_cell(tt_store_cursor *cursor) {
  tt_store_cell cell = {.attribute = sqlite3_column_int(cursor->query, 3) - 1};
  if (sqlite3_column_type(cursor->query, 4) == SQLITE_TEXT) {
    const char *text = (const char *)sqlite3_column_text(cursor->query, 4);
    cell.text = GSIZE_TO_POINTER(cursor->text->len + 1);
    g_string_append_len(cursor->text, text ? text : "",
                        sqlite3_column_bytes(cursor->query, 4) + (text ? 1 : 0));
  } else {
    cell.number = sqlite3_column_double(cursor->query, 4);
  }
  g_array_append_val(cursor->cells, cell);
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  if (!cursor->row) return TT_NOT_FOUND;
  g_array_set_size(cursor->cells, 0);
  g_string_truncate(cursor->text, 0);
  sqlite3_int64 id = sqlite3_column_int64(cursor->query, 0);
  record->device_time = sqlite3_column_int64(cursor->query, 1);
  record->time = sqlite3_column_int64(cursor->query, 2);
  while (cursor->row && sqlite3_column_int64(cursor->query, 0) == id) {
    take_cell(cursor);
    TT_TRY(cursor_step(cursor, error));
  }
  for (guint i = 0; i < cursor->cells->len; i++) {
    tt_store_cell *cell = &g_array_index(cursor->cells, tt_store_cell, i);
    if (cell->text) cell->text = cursor->text->str + (GPOINTER_TO_SIZE(cell->text) - 1);
  }
  record->cells = (const tt_store_cell *)(void *)cursor->cells->data;
  record->count = (int)cursor->cells->len;
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  sqlite_reader *reader = (sqlite_reader *)base;
  sqlite3_close(reader->db);
  g_free(reader->path);
  g_free(reader);
}

tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **out, tt_error *error) {
  sqlite_reader *reader = g_new0(sqlite_reader, 1);
  reader->base =
      (tt_store_reader){reader_epochs, reader_open, cursor_next, cursor_close, reader_close};
  reader->path = g_strdup(path);
  if (sqlite3_open_v2(reader->path, &reader->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK) {
    tt_status status = tt_sqlite_fail(reader->db, reader->path, "can't open", error);
    reader_close(&reader->base);
    return status;
  }
  tt_sqlite_harden(reader->db);
  sqlite3_db_config(reader->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  sqlite3_busy_timeout(reader->db, 2000);
  // One transaction: all cursors of a query see the same moment.
  tt_status status = tt_sqlite_execute(
      reader->db, reader->path, "PRAGMA query_only = ON; PRAGMA cache_size = -4096; BEGIN", error);
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = &reader->base;
  return TT_OK;
}

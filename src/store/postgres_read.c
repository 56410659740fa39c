/* postgres_read.c: records through a cursor of PostgreSQL's, in binary, on a connection of the reader's own. */
#include "store/postgres_internal.h"

#include <string.h>

#define FETCH_ROWS 2000

typedef struct postgres_reader {
  tt_store_reader base;
  tt_postgres_link *link;
  GArray *devices;        /**< index -> id */
  GHashTable *attributes; /**< id -> index + 1 */
  GArray *attribute_ids;  /**< index -> id */
  int cursors;            /**< opened so far, for their names */
} postgres_reader;

struct tt_store_cursor {
  postgres_reader *reader;
  char *name;
  PGresult *rows;
  int row;
  bool last; /**< no rows behind these */
  GArray *cells;
  GPtrArray *texts; /**< of the record in hand */
};

static int64_t reader_deadline(void) { return g_get_monotonic_time() + 3 * STATEMENT_DEADLINE; }

static tt_status reader_epochs(tt_store_reader *base, int device, GArray *epochs, tt_error *error) {
  postgres_reader *reader = (postgres_reader *)base;
  char *sql = g_strdup_printf(
      "SELECT epoch, anchor, offset_low, offset_high FROM boot WHERE device = %d ORDER BY epoch",
      tt_postgres_get_id(reader->devices, device));
  PGresult *result;
  tt_status status = tt_postgres_run(reader->link, sql, 0, NULL, reader_deadline(), &result, error);
  g_free(sql);
  TT_TRY(status);
  for (int row = 0; row < PQntuples(result); row++) {
    tt_store_epoch epoch = {.device = device,
                            .number = (int)tt_postgres_integer(result, row, 0),
                            .anchor = tt_postgres_integer(result, row, 1),
                            .offset_low = tt_postgres_integer(result, row, 2),
                            .offset_high = tt_postgres_integer(result, row, 3)};
    g_array_append_val(epochs, epoch);
  }
  PQclear(result);
  return TT_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return MIN(MAX(value, low), high);
}

static void append_attributes(GString *sql, const postgres_reader *reader,
                              const tt_store_range *range) {
  for (int i = 0; i < range->attribute_count; i++) {
    g_string_append_printf(sql, "%s%d", i ? "," : " AND attribute IN (",
                           tt_postgres_get_id(reader->attribute_ids, range->attributes[i]));
  }
  if (range->attribute_count) g_string_append_c(sql, ')');
}

static tt_status fetch(tt_store_cursor *cursor, tt_error *error) {
  if (cursor->rows) PQclear(cursor->rows);
  cursor->rows = NULL;
  cursor->row = 0;
  char *sql = g_strdup_printf("FETCH %d FROM %s", FETCH_ROWS, cursor->name);
  tt_status status =
      tt_postgres_run(cursor->reader->link, sql, 0, NULL, reader_deadline(), &cursor->rows, error);
  g_free(sql);
  if (status == TT_OK) cursor->last = PQntuples(cursor->rows) < FETCH_ROWS;
  return status;
}

static void cursor_close(tt_store_cursor *cursor) {
  char *sql = g_strdup_printf("CLOSE %s", cursor->name);
  tt_error ignored;
  tt_postgres_run(cursor->reader->link, sql, 0, NULL, reader_deadline(), NULL, &ignored);
  g_free(sql);
  if (cursor->rows) PQclear(cursor->rows);
  g_array_unref(cursor->cells);
  g_ptr_array_unref(cursor->texts);
  g_free(cursor->name);
  g_free(cursor);
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  postgres_reader *reader = (postgres_reader *)base;
  // Times that PostgreSQL can't say (before 4713 BC, after 294276 AD) are cut to what it can.
  const int64_t far = 9000000000000000LL;
  int64_t from = clamp(range->from, -far, far), to = clamp(range->to, -far, far);
  tt_store_cursor *cursor = g_new0(tt_store_cursor, 1);
  cursor->reader = reader;
  cursor->name = g_strdup_printf("c%d", reader->cursors++);
  cursor->cells = g_array_new(FALSE, FALSE, sizeof(tt_store_cell));
  cursor->texts = g_ptr_array_new_with_free_func(g_free);
  GString *sql = g_string_new(NULL);
  g_string_append_printf(
      sql,
      "DECLARE %s BINARY NO SCROLL CURSOR FOR SELECT device_time, time, attribute, number, text "
      "FROM value"
      " WHERE device = %d AND epoch = %d AND device_time BETWEEN %" G_GINT64_FORMAT
      " AND %" G_GINT64_FORMAT
      " AND time BETWEEN timestamptz '1970-01-01 00:00:00Z' + %" G_GINT64_FORMAT
      " * interval '1 microsecond'"
      " AND timestamptz '1970-01-01 00:00:00Z' + %" G_GINT64_FORMAT
      " * interval '1 microsecond'"
      " AND day BETWEEN date '1970-01-01' + %" G_GINT64_FORMAT
      " AND date '1970-01-01' + %" G_GINT64_FORMAT,
      cursor->name, tt_postgres_get_id(reader->devices, range->device), range->epoch,
      range->device_from, range->device_to, from, to, tt_postgres_floor_day(from) - 1,
      tt_postgres_floor_day(to) + 1);
  append_attributes(sql, reader, range);
  g_string_append(sql, " ORDER BY device_time, attribute");
  tt_status status =
      tt_postgres_run(reader->link, sql->str, 0, NULL, reader_deadline(), NULL, error);
  g_string_free(sql, TRUE);
  if (status == TT_OK) status = fetch(cursor, error);
  if (status != TT_OK) {
    cursor_close(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

static int64_t binary_64(const PGresult *result, int row, int column) {
  uint64_t number;
  memcpy(&number, PQgetvalue(result, row, column), sizeof number);
  return (int64_t)GUINT64_FROM_BE(number);
}

static int32_t binary_32(const PGresult *result, int row, int column) {
  uint32_t number;
  memcpy(&number, PQgetvalue(result, row, column), sizeof number);
  return (int32_t)GUINT32_FROM_BE(number);
}

static void take_cell(tt_store_cursor *cursor) {
  const PGresult *rows = cursor->rows;
  int row = cursor->row;
  int index = GPOINTER_TO_INT(g_hash_table_lookup(cursor->reader->attributes,
                                                  GINT_TO_POINTER(binary_32(rows, row, 2)))) -
              1;
  if (index < 0) return;  // another collector's, which this process has not heard of
  tt_store_cell cell = {.attribute = index};
  if (PQgetisnull(rows, row, 3)) {
    char *text = g_strndup(PQgetvalue(rows, row, 4), (gsize)PQgetlength(rows, row, 4));
    g_ptr_array_add(cursor->texts, text);
    cell.text = text;
  } else {
    int64_t bits = binary_64(rows, row, 3);
    memcpy(&cell.number, &bits, sizeof bits);
  }
  g_array_append_val(cursor->cells, cell);
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  g_array_set_size(cursor->cells, 0);
  g_ptr_array_set_size(cursor->texts, 0);
  if (cursor->row >= PQntuples(cursor->rows)) {
    if (cursor->last) return TT_NOT_FOUND;
    TT_TRY(fetch(cursor, error));
    if (!PQntuples(cursor->rows)) return TT_NOT_FOUND;
  }
  record->device_time = binary_64(cursor->rows, cursor->row, 0);
  record->time = binary_64(cursor->rows, cursor->row, 1) + POSTGRES_EPOCH;
  while (cursor->row < PQntuples(cursor->rows) &&
         binary_64(cursor->rows, cursor->row, 0) == record->device_time) {
    take_cell(cursor);
    cursor->row++;
    if (cursor->row >= PQntuples(cursor->rows) && !cursor->last) TT_TRY(fetch(cursor, error));
  }
  record->cells = (const tt_store_cell *)(void *)cursor->cells->data;
  record->count = (int)cursor->cells->len;
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  postgres_reader *reader = (postgres_reader *)base;
  tt_postgres_close(reader->link);
  g_array_unref(reader->devices);
  g_array_unref(reader->attribute_ids);
  g_hash_table_unref(reader->attributes);
  g_free(reader);
}

static GArray *copy_ids(const GArray *ids) {
  GArray *copy = g_array_new(FALSE, TRUE, sizeof(int));
  g_array_append_vals(copy, ids->data, ids->len);
  return copy;
}

tt_status tt_postgres_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  tt_postgres_link *link;
  TT_TRY(tt_postgres_connect(store->url, g_get_monotonic_time() + 5 * SECOND, &link, error));
  tt_status status = tt_postgres_run(link,
                                     "SET search_path = tether; SET statement_timeout = '30s';"
                                     " BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                     0, NULL, reader_deadline(), NULL, error);
  if (status != TT_OK) {
    tt_postgres_close(link);
    return status;
  }
  postgres_reader *reader = g_new0(postgres_reader, 1);
  reader->base =
      (tt_store_reader){reader_epochs, reader_open, cursor_next, cursor_close, reader_close};
  reader->link = link;
  reader->attributes = g_hash_table_new(g_direct_hash, g_direct_equal);
  pthread_mutex_lock(&store->mutex);
  reader->devices = copy_ids(store->known.devices);
  reader->attribute_ids = copy_ids(store->known.attributes);
  pthread_mutex_unlock(&store->mutex);
  for (guint i = 0; i < reader->attribute_ids->len; i++) {
    g_hash_table_insert(reader->attributes,
                        GINT_TO_POINTER(g_array_index(reader->attribute_ids, int, i)),
                        GINT_TO_POINTER((int)i + 1));
  }
  *out = &reader->base;
  return TT_OK;
}

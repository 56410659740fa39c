/* postgres_read.c: records through a cursor of PostgreSQL's, in binary, on a connection of the reader's own. */
#include "store/postgres_internal.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FETCH_ROWS 2000

typedef struct postgres_reader {
  tt_store_reader base;
  tt_postgres_link *link;
  tt_list devices;       /**< int: id by index */
  tt_list attribute_ids; /**< the same */
  tt_map attributes;     /**< id → index */
  int cursors;           /**< opened so far, for their names */
} postgres_reader;

/** Rows of one table. */
typedef struct stream {
  char name[16]; /**< of its cursor; "": it was not opened */
  PGresult *rows;
  int row;
  bool last; /**< no rows behind these */
} stream;

struct tt_store_cursor {
  postgres_reader *reader;
  stream streams[2]; /**< of `value` and `numbered_value` */
  /** Of the record in hand; texts are offsets until it is whole. */
  tt_list cells; /**< tt_store_cell */
  tt_list text;
};

static int64_t reader_deadline(void) { return tt_monotonic_us() + 3 * STATEMENT_DEADLINE; }

static tt_status reader_epochs(tt_store_reader *base, int device, tt_list *epochs,
                               tt_error *error) {
  postgres_reader *reader = (postgres_reader *)base;
  PGresult *result;
  TT_TRY(tt_postgres_runf(
      reader->link, reader_deadline(), &result, error,
      "SELECT epoch, anchor, offset_low, offset_high FROM boot WHERE device = %d ORDER BY epoch",
      tt_postgres_get_id(&reader->devices, device)));
  for (int row = 0; row < PQntuples(result); row++) {
    tt_store_epoch epoch = {.device = device,
                            .number = (int)tt_postgres_integer(result, row, 0),
                            .anchor = tt_postgres_integer(result, row, 1),
                            .offset_low = tt_postgres_integer(result, row, 2),
                            .offset_high = tt_postgres_integer(result, row, 3)};
    tt_list_add(epochs, &epoch, 1);
  }
  PQclear(result);
  return epochs->failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

static tt_status reader_holds(tt_store_reader *base, int device, int attribute, bool *holds,
                              tt_error *error) {
  postgres_reader *reader = (postgres_reader *)base;
  PGresult *result;
  TT_TRY(tt_postgres_runf(reader->link, reader_deadline(), &result, error,
                          "SELECT 1 FROM any_value WHERE device = %d AND attribute = %d LIMIT 1",
                          tt_postgres_get_id(&reader->devices, device),
                          tt_postgres_get_id(&reader->attribute_ids, attribute)));
  *holds = PQntuples(result);
  PQclear(result);
  return TT_OK;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high) {
  return value < low ? low : value > high ? high : value;
}

static tt_status fetch(const postgres_reader *reader, stream *from, tt_error *error) {
  if (from->rows) PQclear(from->rows);
  from->rows = NULL;
  from->row = 0;
  tt_status status = tt_postgres_runf(reader->link, reader_deadline(), &from->rows, error,
                                      "FETCH %d FROM %s", FETCH_ROWS, from->name);
  if (status == TT_OK) from->last = PQntuples(from->rows) < FETCH_ROWS;
  return status;
}

static void cursor_close(tt_store_cursor *cursor) {
  tt_error ignored;
  for (int i = 0; i < 2; i++) {
    stream *closed = &cursor->streams[i];
    if (*closed->name)
      tt_postgres_runf(cursor->reader->link, reader_deadline(), NULL, &ignored, "CLOSE %s",
                       closed->name);
    if (closed->rows) PQclear(closed->rows);
  }
  tt_list_free(&cursor->cells);
  tt_list_free(&cursor->text);
  free(cursor);
}

static tt_status open_stream(postgres_reader *reader, stream *opened, const char *columns,
                             const tt_store_range *range, tt_error *error) {
  // Times that PostgreSQL can't say (before 4713 BC, after 294276 AD) are cut to what it can.
  const int64_t far = 9000000000000000LL;
  int64_t from = clamp(range->from, -far, far), to = clamp(range->to, -far, far);
  snprintf(opened->name, sizeof opened->name, "c%d", reader->cursors++);
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(
      &sql,
      "DECLARE %s BINARY NO SCROLL CURSOR FOR SELECT device_time, time, attribute, number, text, %s"
      " WHERE device = %d AND epoch = %d AND device_time BETWEEN %" PRId64 " AND %" PRId64
      " AND time BETWEEN timestamptz '1970-01-01 00:00:00Z' + %" PRId64
      " * interval '1 microsecond'"
      " AND timestamptz '1970-01-01 00:00:00Z' + %" PRId64
      " * interval '1 microsecond'"
      " AND day BETWEEN date '1970-01-01' + %" PRId64 " AND date '1970-01-01' + %" PRId64,
      opened->name, columns, tt_postgres_get_id(&reader->devices, range->device), range->epoch,
      range->device_from, range->device_to, from, to, tt_postgres_floor_day(from) - 1,
      tt_postgres_floor_day(to) + 1);
  for (int i = 0; i < range->attribute_count; i++) {
    tt_list_print(&sql, "%s%d", i ? "," : " AND attribute IN (",
                  tt_postgres_get_id(&reader->attribute_ids, range->attributes[i]));
  }
  tt_list_print(&sql, "%s ORDER BY device_time, 6, attribute", range->attribute_count ? ")" : "");
  tt_status status =
      sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                 : tt_postgres_run(reader->link, sql.data, 0, NULL, reader_deadline(), NULL, error);
  tt_list_free(&sql);
  return status == TT_OK ? fetch(reader, opened, error) : status;
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  postgres_reader *reader = (postgres_reader *)base;
  tt_store_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return tt_fail(error, TT_NOMEM, "out of memory");
  cursor->reader = reader;
  cursor->cells = TT_LIST(tt_store_cell, NULL);
  cursor->text = TT_LIST(char, NULL);
  tt_status status = open_stream(reader, &cursor->streams[0], "0 FROM value", range, error);
  if (status == TT_OK)
    status = open_stream(reader, &cursor->streams[1], "nth FROM numbered_value", range, error);
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
  return (int64_t)be64toh(number);
}

static int32_t binary_32(const PGresult *result, int row, int column) {
  uint32_t number;
  memcpy(&number, PQgetvalue(result, row, column), sizeof number);
  return (int32_t)be32toh(number);
}

/** False: out of memory. */
static bool take_cell(tt_store_cursor *cursor, const stream *from) {
  const PGresult *rows = from->rows;
  int row = from->row;
  const int64_t *index =
      tt_map_get(&cursor->reader->attributes, (tt_map_key){binary_32(rows, row, 2), 0});
  if (!index) return true;  // another collector's, which this process has not heard of
  tt_store_cell cell = {.attribute = (int)*index};
  if (PQgetisnull(rows, row, 3)) {
    const char *text = PQgetvalue(rows, row, 4);
    cell.text = (const char *)(uintptr_t)(cursor->text.len + 1);
    if (!tt_list_add(&cursor->text, text, strlen(text) + 1)) return false;
  } else {
    int64_t bits = binary_64(rows, row, 3);
    memcpy(&cell.number, &bits, sizeof bits);
  }
  return tt_list_add(&cursor->cells, &cell, 1);
}

static bool has_row(const stream *from) { return from->row < PQntuples(from->rows); }

static int64_t device_time(const stream *from) { return binary_64(from->rows, from->row, 0); }

static int32_t nth(const stream *from) { return binary_32(from->rows, from->row, 5); }

/** The stream whose next record comes first; NULL: there are no more. */
static stream *first_of(tt_store_cursor *cursor) {
  stream *plain = &cursor->streams[0], *numbered = &cursor->streams[1];
  if (!has_row(numbered)) return has_row(plain) ? plain : NULL;
  return has_row(plain) && device_time(plain) <= device_time(numbered) ? plain : numbered;
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  tt_list_cut(&cursor->cells, 0);
  tt_list_cut(&cursor->text, 0);
  stream *from = first_of(cursor);
  if (!from) return TT_END;
  record->device_time = device_time(from);
  record->time = binary_64(from->rows, from->row, 1) + POSTGRES_EPOCH;
  const int32_t number = nth(from);
  while (has_row(from) && device_time(from) == record->device_time && nth(from) == number) {
    if (!take_cell(cursor, from)) return tt_fail(error, TT_NOMEM, "out of memory");
    from->row++;
    if (!has_row(from) && !from->last) TT_TRY(fetch(cursor->reader, from, error));
  }
  tt_store_settle_texts(&cursor->cells, &cursor->text);
  record->cells = cursor->cells.data;
  record->count = (int)cursor->cells.len;
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  postgres_reader *reader = (postgres_reader *)base;
  tt_postgres_close(reader->link);
  tt_list_free(&reader->devices);
  tt_list_free(&reader->attribute_ids);
  tt_map_clear(&reader->attributes);
  free(reader);
}

/** Copies what indices mean at this moment. False: out of memory. */
static bool copy_ids(postgres_reader *reader, tt_postgres *store) {
  pthread_mutex_lock(&store->mutex);
  const tt_postgres_ids *known = &store->known;
  bool copied = tt_list_add(&reader->devices, known->devices.data, known->devices.len);
  copied &= tt_list_add(&reader->attribute_ids, known->attributes.data, known->attributes.len);
  pthread_mutex_unlock(&store->mutex);
  for (uint32_t i = 0; i < reader->attribute_ids.len; i++) {
    tt_map_key id = {tt_list_at(&reader->attribute_ids, int, i), 0};
    copied &= tt_map_put(&reader->attributes, id, i);
  }
  return copied;
}

tt_status tt_postgres_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  postgres_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return tt_fail(error, TT_NOMEM, "out of memory");
  reader->base = (tt_store_reader){reader_epochs, reader_open,  reader_holds,
                                   cursor_next,   cursor_close, reader_close};
  reader->devices = TT_LIST(int, NULL);
  reader->attribute_ids = TT_LIST(int, NULL);
  tt_status status =
      tt_postgres_connect(store->url, tt_monotonic_us() + 5 * SECOND, &reader->link, error);
  if (status == TT_OK) {
    status = tt_postgres_run(reader->link,
                             "SET search_path = tether; SET statement_timeout = '30s';"
                             " BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                             0, NULL, reader_deadline(), NULL, error);
  }
  if (status == TT_OK && !copy_ids(reader, store))
    status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = &reader->base;
  return TT_OK;
}

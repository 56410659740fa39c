/* read.c: records through a cursor of PostgreSQL's, in binary, on a connection of the reader's own. */
#include "store/postgres/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** What all values of a record share besides their moment. */
typedef struct record_head {
  int64_t time, seq;
} record_head;

struct tt_store_cursor {
  tt_postgres_reader *reader;
  tt_postgres_stream streams[2]; /**< of `value` and `numbered_value` */
  /** Of the moment in hand, `given` of them already; texts are offsets until it is whole. */
  tt_list cells; /**< tt_store_cell */
  tt_list heads; /**< record_head: theirs */
  tt_list text;
  uint32_t given;
  int64_t device_time; /**< of all of them */
  bool newest_first;
};

static tt_status reader_epochs(tt_store_reader *base, int device, tt_list *epochs,
                               tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  PGresult *result;
  TT_TRY(tt_postgres_runf(
      reader->link, tt_postgres_reader_deadline(), &result, error,
      "SELECT epoch, anchor, offset_low, offset_high, key, boot FROM boot WHERE device = %d"
      " ORDER BY epoch",
      tt_postgres_get_id(&reader->known.devices, device)));
  for (int row = 0; row < PQntuples(result); row++) {
    tt_store_epoch epoch = {.device = device,
                            .number = (int)tt_postgres_integer(result, row, 0),
                            .anchor = tt_postgres_integer(result, row, 1),
                            .offset_low = tt_postgres_integer(result, row, 2),
                            .offset_high = tt_postgres_integer(result, row, 3),
                            .key = tt_postgres_integer(result, row, 4)};
    snprintf(epoch.boot, sizeof epoch.boot, "%s", PQgetvalue(result, row, 5));
    tt_list_add(epochs, &epoch, 1);
  }
  PQclear(result);
  return epochs->failed ? tt_fail(error, TT_NOMEM, "out of memory") : TT_OK;
}

static tt_status reader_holds(tt_store_reader *base, int device, int attribute, bool *holds,
                              tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  PGresult *result;
  TT_TRY(tt_postgres_runf(reader->link, tt_postgres_reader_deadline(), &result, error,
                          "SELECT 1 FROM any_value WHERE device = %d AND attribute = %d LIMIT 1",
                          tt_postgres_get_id(&reader->known.devices, device),
                          tt_postgres_get_id(&reader->known.attributes, attribute)));
  *holds = PQntuples(result);
  PQclear(result);
  return TT_OK;
}

static void cursor_close(tt_store_cursor *cursor) {
  for (int i = 0; i < 2; i++) tt_postgres_close_stream(cursor->reader, &cursor->streams[i]);
  tt_list_free(&cursor->cells);
  tt_list_free(&cursor->heads);
  tt_list_free(&cursor->text);
  free(cursor);
}

#define OF_EPOCH " FROM boot WHERE device = %d AND epoch = %d)"

/** Which rows of a table are asked for. False: out of memory. */
static bool print_range(const tt_postgres_reader *reader, const tt_store_range *range,
                        tt_list *sql) {
  const int64_t from = tt_postgres_clamp_time(range->from), to = tt_postgres_clamp_time(range->to);
  const int device = tt_postgres_get_id(&reader->known.devices, range->device);
  tt_list_print(
      sql,
      " WHERE device = %d AND epoch = %d AND device_time BETWEEN %" PRId64 " AND %" PRId64
      " AND time BETWEEN " TT_POSTGRES_TIME " AND " TT_POSTGRES_TIME
      " AND day >= (SELECT " TT_POSTGRES_DAY_OF("%" PRId64 "::numeric - offset_high + anchor")
          OF_EPOCH
      " AND day <= (SELECT " TT_POSTGRES_DAY_OF("%" PRId64 "::numeric - offset_low + anchor")
          OF_EPOCH,
      device, range->epoch, range->device_from, range->device_to, from, to, from, device,
      range->epoch, to, device, range->epoch);
  return tt_postgres_print_attributes(reader, range->attributes, range->attribute_count, sql);
}

static tt_status open_table(tt_postgres_reader *reader, tt_postgres_stream *opened,
                            const char *columns, const tt_store_range *range, tt_error *error) {
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql, "SELECT device_time, time, attribute, number, text, %s", columns);
  print_range(reader, range, &sql);
  tt_list_print(&sql, range->newest_first ? " ORDER BY device_time DESC, 6 DESC, attribute"
                                          : " ORDER BY device_time, 6, attribute");
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_open_stream(reader, opened, sql.data, error);
  tt_list_free(&sql);
  return status;
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *range,
                             tt_store_cursor **out, tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  tt_store_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return tt_fail(error, TT_NOMEM, "out of memory");
  cursor->reader = reader;
  cursor->cells = TT_LIST(tt_store_cell, NULL);
  cursor->heads = TT_LIST(record_head, NULL);
  cursor->text = TT_LIST(char, NULL);
  cursor->newest_first = range->newest_first;
  tt_status status =
      open_table(reader, &cursor->streams[0], "0, NULL::bigint FROM value", range, error);
  if (status == TT_OK)
    status = open_table(reader, &cursor->streams[1], "nth, seq FROM numbered_value", range, error);
  if (status != TT_OK) {
    cursor_close(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

static tt_status reader_count(tt_store_reader *base, const tt_store_range *range, uint64_t *records,
                              tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(
      &sql, "SELECT count(*) FROM (SELECT DISTINCT device_time, 0, time, NULL::bigint FROM value");
  print_range(reader, range, &sql);
  tt_list_print(&sql, " UNION ALL SELECT DISTINCT device_time, nth, time, seq FROM numbered_value");
  print_range(reader, range, &sql);
  tt_list_print(&sql, ") r");
  PGresult *result;
  tt_status status = sql.failed ? tt_fail(error, TT_NOMEM, "out of memory")
                                : tt_postgres_run(reader->link, sql.data, 0, NULL,
                                                  tt_postgres_reader_deadline(), &result, error);
  tt_list_free(&sql);
  TT_TRY(status);
  *records = (uint64_t)tt_postgres_integer(result, 0, 0);
  PQclear(result);
  return TT_OK;
}

/** False: out of memory. */
static bool take_cell(tt_store_cursor *cursor, const tt_postgres_stream *from) {
  tt_store_cell cell = {.attribute = tt_postgres_attribute_at(cursor->reader, from, 2)};
  if (cell.attribute < 0) return true;
  if (PQgetisnull(from->rows, from->row, 3)) {
    const char *text = PQgetvalue(from->rows, from->row, 4);
    cell.text = (const char *)(uintptr_t)(cursor->text.len + 1);
    if (!tt_list_add(&cursor->text, text, strlen(text) + 1)) return false;
  } else {
    cell.number = tt_postgres_double_at(from, 3);
  }
  return tt_list_add(&cursor->cells, &cell, 1);
}

static int64_t device_time(const tt_postgres_stream *from) {
  return tt_postgres_bigint_at(from, 0);
}

/** The stream whose next record comes first; NULL: there are no more. */
static tt_postgres_stream *first_of(tt_store_cursor *cursor) {
  tt_postgres_stream *plain = &cursor->streams[0], *numbered = &cursor->streams[1];
  if (!tt_postgres_has_row(numbered)) return tt_postgres_has_row(plain) ? plain : NULL;
  if (!tt_postgres_has_row(plain)) return numbered;
  if (cursor->newest_first) return device_time(plain) <= device_time(numbered) ? numbered : plain;
  return device_time(plain) <= device_time(numbered) ? plain : numbered;
}

/** A cell with its record, and where it stood. */
typedef struct headed_cell {
  tt_store_cell cell;
  record_head head;
  uint32_t place;
} headed_cell;

static int compare(int64_t left, int64_t right) { return (left > right) - (left < right); }

static int compare_heads(const record_head *left, const record_head *right) {
  const int times = compare(left->time, right->time);
  return times ? times : compare(left->seq, right->seq);
}

static int by_head(const void *a, const void *b) {
  const headed_cell *left = a, *right = b;
  const int heads = compare_heads(&left->head, &right->head);
  return heads ? heads : compare(left->place, right->place);
}

static int by_head_newest_first(const void *a, const void *b) {
  const headed_cell *left = a, *right = b;
  return compare_heads(&left->head, &right->head) ? by_head(b, a) : by_head(a, b);
}

/** Cells of one record side by side. False: out of memory. */
static bool order_by_head(tt_store_cursor *cursor) {
  const uint32_t count = cursor->cells.len;
  const record_head *heads = cursor->heads.data;
  bool mixed = false;
  for (uint32_t i = 1; i < count; i++) mixed |= compare_heads(&heads[i], &heads[0]) != 0;
  headed_cell *all = mixed ? malloc(count * sizeof *all) : NULL;
  if (!all) return !mixed;
  for (uint32_t i = 0; i < count; i++)
    all[i] = (headed_cell){tt_list_at(&cursor->cells, tt_store_cell, i), heads[i], i};
  qsort(all, count, sizeof *all, cursor->newest_first ? by_head_newest_first : by_head);
  for (uint32_t i = 0; i < count; i++) {
    tt_list_at(&cursor->cells, tt_store_cell, i) = all[i].cell;
    tt_list_at(&cursor->heads, record_head, i) = all[i].head;
  }
  free(all);
  return true;
}

static record_head head_at(const tt_postgres_stream *from) {
  const bool numbered = !PQgetisnull(from->rows, from->row, 6);
  return (record_head){tt_postgres_time_at(from, 1), numbered ? tt_postgres_bigint_at(from, 6) : 0};
}

/** All values of the next moment, record by record. */
static tt_status next_moment(tt_store_cursor *cursor, tt_error *error) {
  tt_list_cut(&cursor->cells, 0);
  tt_list_cut(&cursor->heads, 0);
  tt_list_cut(&cursor->text, 0);
  cursor->given = 0;
  tt_postgres_stream *from = first_of(cursor);
  if (!from) return TT_END;
  cursor->device_time = device_time(from);
  const int32_t nth = tt_postgres_int_at(from, 5);
  while (tt_postgres_has_row(from) && device_time(from) == cursor->device_time &&
         tt_postgres_int_at(from, 5) == nth) {
    const record_head head = head_at(from);
    if (!take_cell(cursor, from)) return tt_fail(error, TT_NOMEM, "out of memory");
    if (cursor->cells.len > cursor->heads.len) tt_list_add(&cursor->heads, &head, 1);
    TT_TRY(tt_postgres_next_row(cursor->reader, from, error));
  }
  if (cursor->heads.failed || !order_by_head(cursor))
    return tt_fail(error, TT_NOMEM, "out of memory");
  tt_store_settle_texts(&cursor->cells, &cursor->text);
  return TT_OK;
}

/** What joined a moment when its device's clock was estimated anew has another time: it is a record of its own, found by its time. So is
 *  another message of it, by its number. */
static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  while (cursor->given == cursor->cells.len) TT_TRY(next_moment(cursor, error));
  const record_head *heads = cursor->heads.data;
  const uint32_t first = cursor->given;
  record->device_time = cursor->device_time;
  record->seq = heads[first].seq;
  record->time = heads[first].time;
  while (cursor->given < cursor->cells.len && !compare_heads(&heads[cursor->given], &heads[first]))
    cursor->given++;
  record->cells = &tt_list_at(&cursor->cells, tt_store_cell, first);
  record->count = (int)(cursor->given - first);
  return TT_OK;
}

static void reader_close(tt_store_reader *base) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  tt_postgres_close(reader->link);
  tt_postgres_ids_clear(&reader->known);
  tt_map_clear(&reader->attributes);
  free(reader);
}

/** Attributes by their ids. False: out of memory. */
static bool note_attributes(tt_postgres_reader *reader) {
  const tt_list *ids = &reader->known.attributes;
  bool noted = true;
  for (uint32_t i = 0; i < ids->len; i++)
    noted &= tt_map_put(&reader->attributes, (tt_map_key){tt_list_at(ids, int, i), 0}, i);
  return noted;
}

/** Copies what indices mean at this moment. False: out of memory. */
static bool copy_ids(tt_postgres_reader *reader, tt_postgres *store) {
  pthread_mutex_lock(&store->mutex);
  const tt_postgres_ids *known = &store->known;
  bool copied = tt_list_add(&reader->known.devices, known->devices.data, known->devices.len);
  copied &= tt_list_add(&reader->known.attributes, known->attributes.data, known->attributes.len);
  pthread_mutex_unlock(&store->mutex);
  return copied && note_attributes(reader);
}

static tt_status reader_load(tt_store_reader *base, const tt_store_loader *loader,
                             tt_error *error) {
  tt_postgres_reader *reader = (tt_postgres_reader *)base;
  tt_postgres_teller teller = {.link = reader->link,
                               .loader = loader,
                               .known = &reader->known,
                               .patience = 3 * STATEMENT_DEADLINE};
  bool taken;
  TT_TRY(tt_postgres_tell(&teller, &taken, error));
  return note_attributes(reader) ? TT_OK : tt_fail(error, TT_NOMEM, "out of memory");
}

/** A reader that knows no names. */
static tt_status new_reader(const char *url, tt_postgres_reader **out, tt_error *error) {
  tt_postgres_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return tt_fail(error, TT_NOMEM, "out of memory");
  reader->base = (tt_store_reader){.load = reader_load,
                                   .epochs = reader_epochs,
                                   .open = reader_open,
                                   .next = cursor_next,
                                   .close_cursor = cursor_close,
                                   .count = reader_count,
                                   .buckets = tt_postgres_read_buckets,
                                   .latest = tt_postgres_read_latest,
                                   .holds = reader_holds,
                                   .close = reader_close};
  reader->known = tt_postgres_ids_new();
  tt_status status = tt_postgres_connect(url, tt_monotonic_us() + 5 * SECOND, &reader->link, error);
  if (status == TT_OK) {
    status = tt_postgres_run(reader->link,
                             "SET search_path = tether; SET statement_timeout = '30s';"
                             " BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                             0, NULL, tt_postgres_reader_deadline(), NULL, error);
  }
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = reader;
  return TT_OK;
}

tt_status tt_postgres_open_reader(tt_store *base, tt_store_reader **out, tt_error *error) {
  tt_postgres *store = (tt_postgres *)base;
  tt_postgres_reader *reader;
  TT_TRY(new_reader(store->url, &reader, error));
  if (!copy_ids(reader, store)) {
    reader_close(&reader->base);
    return tt_fail(error, TT_NOMEM, "out of memory");
  }
  *out = &reader->base;
  return TT_OK;
}

tt_status tt_postgres_open_alone(const tt_store_options *options, tt_store_reader **out,
                                 tt_error *error) {
  tt_postgres_reader *reader;
  TT_TRY(new_reader(options->url, &reader, error));
  tt_status status = tt_postgres_check_version(reader->link, tt_postgres_reader_deadline(), error);
  if (status != TT_OK) {
    reader_close(&reader->base);
    return status;
  }
  *out = &reader->base;
  return TT_OK;
}

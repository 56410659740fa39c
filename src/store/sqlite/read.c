/* read.c: records through a read-only connection of the reader's own, which never checkpoints. */
#include "store/sqlite/buckets.h"
#include "store/sqlite/internal.h"
#include "store/sqlite/packed_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tt_store_cursor {
  tt_sqlite_scan *scan;
  tt_list attributes; /**< int: of the range, which the scan looks at */
};

static tt_status reader_epochs(tt_store_reader *base, int device, tt_list *epochs,
                               tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db,
                         "SELECT epoch, anchor, offset_low, offset_high, key, boot FROM boot"
                         " WHERE device = ?1 ORDER BY epoch",
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
                            .offset_high = sqlite3_column_int64(query, 3),
                            .key = sqlite3_column_int64(query, 4)};
    const char *boot = (const char *)sqlite3_column_text(query, 5);
    snprintf(epoch.boot, sizeof epoch.boot, "%s", boot ? boot : "");
    tt_list_add(epochs, &epoch, 1);
  }
  sqlite3_finalize(query);
  if (epochs->failed) return tt_fail(error, TT_NOMEM, "out of memory");
  return result == SQLITE_DONE ? TT_OK
                               : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

static tt_status reader_holds(tt_store_reader *base, int device, int attribute, bool *holds,
                              tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  sqlite3_stmt *query;
  if (sqlite3_prepare_v2(reader->db,
                         "SELECT 1 FROM (SELECT 1 FROM segment g CROSS JOIN packed p"
                         "  ON p.segment = g.id AND p.attribute = ?2 WHERE g.device = ?1 LIMIT 1)"
                         " UNION ALL SELECT 1 FROM sample s CROSS JOIN value v ON v.sample = s.id"
                         "  AND v.attribute = ?2 WHERE s.device = ?1 LIMIT 1",
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

#define SAMPLES_IN_RANGE                                                                           \
  " s.device = ?1 AND s.epoch = ?2 AND s.device_time BETWEEN ?3 AND ?4 AND s.time BETWEEN ?5 AND " \
  "?6"

static void print_attributes(tt_list *sql, const tt_store_range *range) {
  for (int i = 0; i < range->attribute_count; i++)
    tt_list_print(sql, "%s%d", i ? "," : " AND v.attribute IN (", range->attributes[i] + 1);
  if (range->attribute_count) tt_list_print(sql, ")");
}

/** The query for a range whose text ends there, prepared and bound. The text is freed. */
static tt_status prepare(tt_sqlite_reader *reader, tt_list *sql, const tt_store_range *range,
                         sqlite3_stmt **query, tt_error *error) {
  tt_status status = TT_OK;
  if (sql->failed)
    status = tt_fail(error, TT_NOMEM, "out of memory");
  else if (sqlite3_prepare_v2(reader->db, sql->data, -1, query, NULL) != SQLITE_OK)
    status = tt_sqlite_fail(reader->db, reader->path, "can't read", error);
  tt_list_free(sql);
  TT_TRY(status);
  sqlite3_bind_int(*query, 1, range->device + 1);
  sqlite3_bind_int(*query, 2, range->epoch);
  sqlite3_bind_int64(*query, 3, range->device_from);
  sqlite3_bind_int64(*query, 4, range->device_to);
  sqlite3_bind_int64(*query, 5, range->from);
  sqlite3_bind_int64(*query, 6, range->to);
  return TT_OK;
}

static void cursor_close(tt_store_cursor *cursor) {
  tt_sqlite_scan_close(cursor->scan);
  tt_list_free(&cursor->attributes);
  free(cursor);
}

static tt_status reader_open(tt_store_reader *base, const tt_store_range *asked,
                             tt_store_cursor **out, tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  tt_store_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return tt_fail(error, TT_NOMEM, "out of memory");
  cursor->attributes = TT_LIST(int, NULL);
  tt_store_range range = *asked;
  tt_status status = TT_OK;
  if (!tt_list_add(&cursor->attributes, asked->attributes, (size_t)asked->attribute_count))
    status = tt_fail(error, TT_NOMEM, "out of memory");
  range.attributes = cursor->attributes.data;
  if (status == TT_OK)
    status =
        tt_sqlite_scan_open(reader->db, reader->path, reader->pieces, &range, &cursor->scan, error);
  if (status != TT_OK) {
    cursor_close(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

static tt_status cursor_next(tt_store_cursor *cursor, tt_store_record *record, tt_error *error) {
  tt_sqlite_scanned scanned;
  TT_TRY(tt_sqlite_scan_next(cursor->scan, &scanned, error));
  record->device_time = scanned.moment.device_time;
  record->time = scanned.moment.time;
  record->seq = scanned.moment.seq;
  record->cells = scanned.cells;
  record->count = (int)scanned.count;
  return TT_OK;
}

static tt_status reader_load(tt_store_reader *base, const tt_store_loader *loader,
                             tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  return tt_sqlite_load(reader->db, reader->path, loader, error);
}

/** Records of a range in which nothing is sealed. */
static tt_status count_rows(tt_sqlite_reader *reader, const tt_store_range *range,
                            uint64_t *records, tt_error *error) {
  sqlite3_stmt *query = NULL;
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql, "SELECT count(*) FROM sample s WHERE" SAMPLES_IN_RANGE
                      " AND EXISTS (SELECT 1 FROM value v WHERE v.sample = s.id");
  print_attributes(&sql, range);
  tt_list_print(&sql, ")");
  TT_TRY(prepare(reader, &sql, range, &query, error));
  int result = sqlite3_step(query);
  *records = (uint64_t)sqlite3_column_int64(query, 0);
  sqlite3_finalize(query);
  return result == SQLITE_ROW ? TT_OK
                              : tt_sqlite_fail(reader->db, reader->path, "can't read", error);
}

/** Records of a range, by looking at each. */
static tt_status count_records(tt_store_reader *base, const tt_store_range *range,
                               uint64_t *records, tt_error *error) {
  tt_store_cursor *cursor;
  tt_store_record record;
  tt_status status;
  TT_TRY(reader_open(base, range, &cursor, error));
  for (*records = 0; (status = cursor_next(cursor, &record, error)) == TT_OK;) ++*records;
  cursor_close(cursor);
  return status == TT_END ? TT_OK : status;
}

static tt_status reader_count(tt_store_reader *base, const tt_store_range *range, uint64_t *records,
                              tt_error *error) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  tt_sqlite_segment segment;
  tt_status status = tt_sqlite_segment_after(reader->pieces, range->device, range->epoch,
                                             range->device_from, &segment, error);
  if (status == TT_NOT_FOUND || (status == TT_OK && segment.first > range->device_to))
    return count_rows(reader, range, records, error);
  return status == TT_OK ? count_records(base, range, records, error) : status;
}

static void reader_close(tt_store_reader *base) {
  tt_sqlite_reader *reader = (tt_sqlite_reader *)base;
  tt_sqlite_pieces_close(reader->pieces);
  sqlite3_close(reader->db);
  free(reader->path);
  free(reader);
}

tt_status tt_sqlite_open_reader(const char *path, tt_store_reader **out, tt_error *error) {
  tt_sqlite_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return tt_fail(error, TT_NOMEM, "out of memory");
  reader->base = (tt_store_reader){.load = reader_load,
                                   .epochs = reader_epochs,
                                   .open = reader_open,
                                   .next = cursor_next,
                                   .close_cursor = cursor_close,
                                   .count = reader_count,
                                   .buckets = tt_sqlite_buckets,
                                   .latest = tt_sqlite_latest,
                                   .holds = reader_holds,
                                   .close = reader_close};
  reader->path = strdup(path);
  tt_status status = reader->path ? tt_sqlite_connect_reading(path, &reader->db, error)
                                  : tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK && (tt_sqlite_register_packed(reader->db) != SQLITE_OK ||
                          tt_sqlite_register_scan(reader->db) != SQLITE_OK))
    status = tt_sqlite_fail(reader->db, reader->path, "can't open", error);
  if (status == TT_OK)
    status = tt_sqlite_pieces_open(reader->db, reader->path, &reader->pieces, error);
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

tt_status tt_sqlite_open_alone(const char *path, tt_store_reader **out, tt_error *error) {
  if (access(path, F_OK)) return tt_fail(error, TT_NOT_FOUND, "%s: there is no such file", path);
  TT_TRY(tt_sqlite_open_reader(path, out, error));
  tt_status status = tt_sqlite_check_version(((tt_sqlite_reader *)*out)->db, path, error);
  if (status != TT_OK) reader_close(*out);
  return status;
}

/* scan.c: see its header.
 *
 * A table of many devices has a scan for each, so one that has come to its end holds nothing any more, and of a piece it holds
 * a slice.
 */
#include "store/sqlite/scan.h"

#include "database/sqlite_link.h"
#include "store/sqlite/slice.h"

#include <stdlib.h>
#include <string.h>

/** Values of a record. */
typedef struct gathered {
  tt_list cells; /**< tt_store_cell; texts are offsets until the record is whole */
  tt_list text;
} gathered;

struct tt_sqlite_scan {
  sqlite3 *db;
  const char *path;
  tt_sqlite_pieces *pieces;
  tt_store_range range;
  gathered record; /**< the one that was given last */

  sqlite3_stmt *query;
  bool has_row;         /**< the query stands on a row that has not been taken */
  int64_t row_id;       /**< its id */
  tt_column_moment row; /**< its moment */
  gathered row_values;

  bool shares;           /**< it is counted among those who read slices */
  tt_sqlite_piece piece; /**< of which it holds `slice.rows` */
  tt_sqlite_slice slice;
  tt_sqlite_rows rows; /**< of the segment, those that have not been looked at */
  bool has_piece_row;  /**< the next of them has a value, and is in the range */
  int64_t beyond;      /**< device time at which the next segment is looked for */
  bool no_segments;    /**< behind */
};

static tt_status run_out(const tt_sqlite_scan *scan, tt_error *error) {
  return tt_fail(error, TT_NOMEM, "%s: out of memory", scan->path);
}

/* --- values --- */

static gathered gathered_new(void) {
  return (gathered){TT_LIST(tt_store_cell, NULL), TT_LIST(char, NULL)};
}

static void gathered_free(gathered *values) {
  tt_list_free(&values->cells);
  tt_list_free(&values->text);
}

static void gathered_clear(gathered *values) {
  tt_list_cut(&values->cells, 0);
  tt_list_cut(&values->text, 0);
}

/** Adds a cell; `text` NULL: a number. False: out of memory. */
static bool add_cell(gathered *values, int attribute, const char *text, double number) {
  tt_store_cell cell = {.attribute = attribute, .number = number};
  if (text) {
    cell.text = (const char *)(uintptr_t)(values->text.len + 1);
    if (!tt_list_add(&values->text, text, strlen(text) + 1)) return false;
  }
  return tt_list_add(&values->cells, &cell, 1);
}

/* --- rows --- */

/* The values of a row go into the scan by a function of SQL's: a row of the query for each of them would cost as much again. */
#define TAKE "tether_take"
#define SCAN_POINTER "tt_sqlite_scan"

/** tether_take(scan, attribute, value). */
static void take_value(sqlite3_context *context, int count, sqlite3_value **arguments) {
  (void)count;
  tt_sqlite_scan *scan = sqlite3_value_pointer(arguments[0], SCAN_POINTER);
  if (!scan) {
    sqlite3_result_error(context, TAKE " is the program's own", -1);
    return;
  }
  const bool is_text = sqlite3_value_type(arguments[2]) == SQLITE_TEXT;
  const char *text = is_text ? (const char *)sqlite3_value_text(arguments[2]) : NULL;
  const double number = is_text ? 0 : sqlite3_value_double(arguments[2]);
  if ((is_text && !text) ||
      !add_cell(&scan->row_values, sqlite3_value_int(arguments[1]) - 1, text, number))
    sqlite3_result_error_nomem(context);
}

static void end_values(sqlite3_context *context) { (void)context; }

int tt_sqlite_register_scan(sqlite3 *db) {
  return sqlite3_create_function_v2(db, TAKE, 3, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL, NULL,
                                    take_value, end_values, NULL);
}

/** Goes to the next row that has values. */
static tt_status step_rows(tt_sqlite_scan *scan, tt_error *error) {
  int result = SQLITE_ROW;
  gathered_clear(&scan->row_values);
  while (!scan->row_values.cells.len && result == SQLITE_ROW) result = sqlite3_step(scan->query);
  scan->has_row = result == SQLITE_ROW;
  if (scan->has_row) {
    scan->row_id = sqlite3_column_int64(scan->query, 0);
    scan->row = (tt_column_moment){.device_time = sqlite3_column_int64(scan->query, 1),
                                   .time = sqlite3_column_int64(scan->query, 2),
                                   .seq = sqlite3_column_int64(scan->query, 3),
                                   .nth = sqlite3_column_int64(scan->query, 4)};
    return TT_OK;
  }
  if (result != SQLITE_DONE) return tt_sqlite_fail(scan->db, scan->path, "can't read", error);
  sqlite3_finalize(scan->query);
  scan->query = NULL;
  return TT_OK;
}

/** The query for a range, prepared. */
static tt_status prepare(tt_sqlite_scan *scan, tt_error *error) {
  const tt_store_range *range = &scan->range;
  tt_list sql = TT_LIST(char, NULL);
  tt_list_print(&sql, "SELECT s.id, s.device_time, s.time, s.seq, s.nth, (SELECT " TAKE
                      "(?7, v.attribute, v.value) FROM value v WHERE v.sample = s.id");
  for (int i = 0; i < range->attribute_count; i++) {
    tt_list_print(&sql, "%s%d", i ? "," : " AND v.attribute IN (", range->attributes[i] + 1);
  }
  const char *order = range->newest_first ? " DESC" : "";
  tt_list_print(&sql,
                "%s) FROM sample s WHERE s.device = ?1 AND s.epoch = ?2"
                " AND s.device_time BETWEEN ?3 AND ?4 AND s.time BETWEEN ?5 AND ?6"
                " ORDER BY s.device_time%s, s.nth%s",
                range->attribute_count ? ")" : "", order, order);
  tt_status status = TT_OK;
  if (sql.failed)
    status = run_out(scan, error);
  else if (sqlite3_prepare_v2(scan->db, sql.data, -1, &scan->query, NULL) != SQLITE_OK)
    status = tt_sqlite_fail(scan->db, scan->path, "can't read", error);
  tt_list_free(&sql);
  return status;
}

static void bind(tt_sqlite_scan *scan) {
  const tt_store_range *range = &scan->range;
  sqlite3_bind_int(scan->query, 1, range->device + 1);
  sqlite3_bind_int(scan->query, 2, range->epoch);
  sqlite3_bind_int64(scan->query, 3, range->device_from);
  sqlite3_bind_int64(scan->query, 4, range->device_to);
  sqlite3_bind_int64(scan->query, 5, range->from);
  sqlite3_bind_int64(scan->query, 6, range->to);
  sqlite3_bind_pointer(scan->query, 7, scan, SCAN_POINTER, NULL);
}

/** Moves the values of the row that the query stands on into the record, and goes on. */
static tt_status take_row(tt_sqlite_scan *scan, int64_t *id, tt_error *error) {
  gathered *record = &scan->record, *row = &scan->row_values;
  const uint32_t cells = record->cells.len, text = record->text.len;
  *id = scan->row_id;
  if (!cells) {
    const gathered kept = *record;
    *record = *row;
    *row = kept;
    return step_rows(scan, error);
  }
  if (!tt_list_add(&record->cells, row->cells.data, row->cells.len) ||
      !tt_list_add(&record->text, row->text.data, row->text.len))
    return run_out(scan, error);
  for (uint32_t i = cells; i < record->cells.len; i++) {
    tt_store_cell *cell = &tt_list_at(&record->cells, tt_store_cell, i);
    if (cell->text) cell->text = (const char *)((uintptr_t)cell->text + text);
  }
  return step_rows(scan, error);
}

/* --- pieces --- */

/** The next row of the piece. */
static uint32_t piece_row(const tt_sqlite_scan *scan) {
  return scan->range.newest_first ? scan->rows.to - 1 : scan->rows.from;
}

static const tt_column_moment *piece_moment(const tt_sqlite_scan *scan) {
  return &tt_list_at(&scan->piece.moments, tt_column_moment,
                     piece_row(scan) - scan->slice.rows.from);
}

static void leave_piece_row(tt_sqlite_scan *scan) {
  if (scan->range.newest_first)
    scan->rows.to--;
  else
    scan->rows.from++;
}

/** The value of a row that is asked for in order; NULL: there is none. */
static const tt_column_value *value_at(tt_sqlite_column *column, uint32_t row, bool backwards) {
  const tt_list *values = &column->column.values;
  // `at` counts what is done, from the end where it goes backwards.
  while (column->at < values->len) {
    uint32_t place = backwards ? values->len - 1 - column->at : column->at;
    const tt_column_value *value = &tt_list_at(values, tt_column_value, place);
    if (value->row == row) return value;
    if (backwards ? value->row < row : value->row > row) return NULL;
    column->at++;
  }
  return NULL;
}

static bool has_values(tt_sqlite_scan *scan, uint32_t row) {
  for (uint32_t i = 0; i < scan->piece.columns.len; i++) {
    tt_sqlite_column *column = &tt_list_at(&scan->piece.columns, tt_sqlite_column, i);
    if (value_at(column, row, scan->range.newest_first)) return true;
  }
  return false;
}

/** Makes sure that the next row of the segment is held, where any column has it. */
static tt_status hold(tt_sqlite_scan *scan, tt_error *error) {
  const tt_store_range *range = &scan->range;
  const uint32_t row = piece_row(scan);
  if (row >= scan->slice.rows.from && row < scan->slice.rows.to) return TT_OK;
  const uint32_t most = scan->shares ? tt_sqlite_slice_share() : tt_sqlite_slice_begin();
  scan->shares = true;
  scan->slice = (tt_sqlite_slice){.attributes = range->attributes,
                                  .count = range->attribute_count,
                                  .from_end = range->newest_first,
                                  .most = most,
                                  .rows = scan->rows};
  return tt_sqlite_piece_load_slice(scan->pieces, &scan->piece.segment, &scan->slice, &scan->piece,
                                    error);
}

/** Goes to the next row of the piece that is asked for; there may be none. */
static tt_status seek_in_piece(tt_sqlite_scan *scan, tt_error *error) {
  const tt_store_range *range = &scan->range;
  scan->has_piece_row = false;
  for (; scan->rows.from < scan->rows.to; leave_piece_row(scan)) {
    TT_TRY(hold(scan, error));
    if (!scan->piece.columns.len) break;  // the segment has none of them
    const int64_t time = piece_moment(scan)->time;
    scan->has_piece_row =
        time >= range->from && time <= range->to && has_values(scan, piece_row(scan));
    if (scan->has_piece_row) return TT_OK;
  }
  return TT_OK;
}

/** There are no more pieces: what it held of them is given back. */
static void leave_pieces(tt_sqlite_scan *scan) {
  tt_sqlite_piece_free(&scan->piece);
  if (scan->shares) tt_sqlite_slice_end();
  scan->shares = false;
}

/** The next segment of the range, in its order. TT_END: there is none. */
static tt_status next_segment(tt_sqlite_scan *scan, tt_sqlite_segment *segment, tt_error *error) {
  const tt_store_range *range = &scan->range;
  if (scan->no_segments) return TT_END;
  tt_status status = (range->newest_first ? tt_sqlite_segment_before : tt_sqlite_segment_after)(
      scan->pieces, range->device, range->epoch, scan->beyond, segment, error);
  if (status != TT_OK && status != TT_NOT_FOUND) return status;
  scan->no_segments =
      status == TT_NOT_FOUND || (range->newest_first ? segment->last < range->device_from
                                                     : segment->first > range->device_to);
  if (scan->no_segments) return TT_END;
  int64_t edge = range->newest_first ? segment->first : segment->last;
  scan->no_segments = edge == (range->newest_first ? INT64_MIN : INT64_MAX);
  if (!scan->no_segments) scan->beyond = range->newest_first ? edge - 1 : edge + 1;
  return TT_OK;
}

/** Goes to the next row of this piece or those behind it; there may be none. */
static tt_status seek_in_pieces(tt_sqlite_scan *scan, tt_error *error) {
  const tt_store_range *range = &scan->range;
  TT_TRY(seek_in_piece(scan, error));
  while (!scan->has_piece_row) {
    tt_sqlite_segment segment;
    tt_status status = next_segment(scan, &segment, error);
    if (status == TT_END) leave_pieces(scan);
    if (status != TT_OK) return status == TT_END ? TT_OK : status;
    if (segment.time_last < range->from || segment.time_first > range->to) continue;
    TT_TRY(tt_sqlite_segment_rows(scan->pieces, &segment, range->device_from, range->device_to,
                                  &scan->rows, error));
    scan->piece.segment = segment;
    scan->slice.rows = (tt_sqlite_rows){0, 0};
    TT_TRY(seek_in_piece(scan, error));
  }
  return TT_OK;
}

static tt_status take_piece_row(tt_sqlite_scan *scan, tt_error *error) {
  const bool backwards = scan->range.newest_first;
  const uint32_t row = piece_row(scan);
  for (uint32_t i = 0; i < scan->piece.columns.len; i++) {
    tt_sqlite_column *column = &tt_list_at(&scan->piece.columns, tt_sqlite_column, i);
    const tt_column_value *value = value_at(column, row, backwards);
    if (!value) continue;
    const char *text = value->text == TT_COLUMN_NUMBER
                           ? NULL
                           : (const char *)column->column.text.data + value->text;
    if (!add_cell(&scan->record, column->attribute, text, value->number))
      return run_out(scan, error);
  }
  leave_piece_row(scan);
  return seek_in_pieces(scan, error);
}

/* --- both --- */

static int compare_moments(const tt_column_moment *a, const tt_column_moment *b) {
  if (a->device_time != b->device_time) return a->device_time < b->device_time ? -1 : 1;
  return (a->nth > b->nth) - (a->nth < b->nth);
}

static int compare_cells(const void *a, const void *b) {
  int32_t one = ((const tt_store_cell *)a)->attribute,
          other = ((const tt_store_cell *)b)->attribute;
  return (one > other) - (one < other);
}

/** Less than 0: the row comes first; 0: row and piece have the same record. One of them is there. */
static int compare_sides(const tt_sqlite_scan *scan) {
  if (!scan->has_piece_row) return -1;
  if (!scan->has_row) return 1;
  int order = compare_moments(&scan->row, piece_moment(scan));
  return scan->range.newest_first ? -order : order;
}

tt_status tt_sqlite_scan_next(tt_sqlite_scan *scan, tt_sqlite_scanned *record, tt_error *error) {
  if (!scan->has_row && !scan->has_piece_row) return TT_END;
  gathered *values = &scan->record;
  gathered_clear(values);
  const int order = compare_sides(scan);
  record->moment = order < 0 ? scan->row : *piece_moment(scan);
  record->row = 0;
  if (order >= 0) TT_TRY(take_piece_row(scan, error));
  if (order <= 0) TT_TRY(take_row(scan, &record->row, error));
  if (order == 0)
    qsort(values->cells.data, values->cells.len, sizeof(tt_store_cell), compare_cells);
  tt_store_settle_texts(&values->cells, &values->text);
  record->cells = values->cells.data;
  record->count = values->cells.len;
  return TT_OK;
}

tt_status tt_sqlite_scan_open(sqlite3 *db, const char *path, tt_sqlite_pieces *pieces,
                              const tt_store_range *range, tt_sqlite_scan **out, tt_error *error) {
  tt_sqlite_scan *scan = calloc(1, sizeof *scan);
  if (!scan) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  *scan = (tt_sqlite_scan){.db = db,
                           .path = path,
                           .pieces = pieces,
                           .range = *range,
                           .record = gathered_new(),
                           .row_values = gathered_new(),
                           .beyond = range->newest_first ? range->device_to : range->device_from};
  tt_status status = prepare(scan, error);
  if (status == TT_OK) {
    bind(scan);
    status = step_rows(scan, error);
  }
  if (status == TT_OK) status = seek_in_pieces(scan, error);
  if (status != TT_OK) {
    tt_sqlite_scan_close(scan);
    return status;
  }
  *out = scan;
  return TT_OK;
}

void tt_sqlite_scan_close(tt_sqlite_scan *scan) {
  if (!scan) return;
  sqlite3_finalize(scan->query);
  leave_pieces(scan);
  gathered_free(&scan->record);
  gathered_free(&scan->row_values);
  free(scan);
}

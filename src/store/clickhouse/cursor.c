/* cursor.c: records of a range, stretch by stretch of device time, each about as many rows as one answer should have.
 *
 * The database knows values; records are put together here: what a sample says goes, of its moment and with its number, into
 * the first record that has none of its attributes, or into one of its own. So rows of a moment must all be there where
 * they came with several samples, even where only some attributes or times are asked for.
 */
#include "store/clickhouse/internal.h"

#include <stdlib.h>

/** Rows of a stretch, about. */
#define STRETCH_ROWS 30000

/** A value, and its place in its record. */
typedef struct row {
  int64_t device_time, seq, time;
  uint64_t attribute, rank;
  double number;
  uint32_t text; /**< in `texts`, or TT_STORE_NUMBER */
  int32_t next;  /**< of the same record; −1: it is the last */
} row;

/** Of the moment in hand. */
typedef struct record {
  int64_t seq, time;
  int32_t first; /**< row; −1: none yet */
} record;

struct tt_store_cursor {
  tt_clickhouse_reader *reader;
  tt_store_range range; /**< whose attributes are in `attributes` */
  tt_list attributes;   /**< int */
  uint64_t device;
  int64_t key;
  bool shared_only;  /**< only moments with several samples */
  tt_map wanted;     /**< attribute's id → 1; empty: all */
  bool ended;        /**< all stretches were read */
  int64_t low, high; /**< device times that are still to be read, inclusive */
  uint64_t stretch;  /**< µs, less one */
  tt_list sql, answer, texts;
  tt_list rows; /**< row: of the stretch in hand */
  uint32_t at;
  tt_list records; /**< record: of the moment in hand */
  uint32_t given;  /**< of them */
  tt_list cells;   /**< tt_store_cell: of the record in hand */
};

/* --- statements --- */

static void print_base(const tt_store_cursor *cursor, int64_t low, int64_t high, tt_list *sql) {
  tt_clickhouse_print_values(&cursor->reader->source, sql);
  tt_list_print(sql,
                " WHERE device = %" PRIu64 " AND epoch = %" PRId64 " AND device_time >= %" PRId64
                " AND device_time <= %" PRId64,
                cursor->device, cursor->key, low, high);
}

static void print_filter(const tt_store_cursor *cursor, tt_list *sql) {
  const tt_store_range *range = &cursor->range;
  if (range->from > INT64_MIN)
    tt_list_print(sql, " AND device_time + time_offset >= %" PRId64, range->from);
  if (range->to < INT64_MAX)
    tt_list_print(sql, " AND device_time + time_offset <= %" PRId64, range->to);
  tt_clickhouse_print_attributes(cursor->reader, range->attributes, range->attribute_count, sql);
}

static bool is_filtered(const tt_store_cursor *cursor) {
  const tt_store_range *range = &cursor->range;
  return range->from > INT64_MIN || range->to < INT64_MAX || range->attribute_count;
}

/** Moments to which several samples belong, of those that are asked for. */
static void print_shared(const tt_store_cursor *cursor, int64_t low, int64_t high, tt_list *sql) {
  const bool several = cursor->reader->address.shard_count > 1;
  tt_list_print(sql, "device_time %s IN (SELECT device_time FROM ", several ? "GLOBAL" : "");
  print_base(cursor, low, high, sql);
  print_filter(cursor, sql);
  tt_list_print(sql, " GROUP BY device_time HAVING min(rank) != max(rank))");
}

static void print_stretch(tt_store_cursor *cursor, int64_t low, int64_t high) {
  tt_list *sql = &cursor->sql;
  tt_list_print(sql,
                "SELECT device_time, attribute, seq, is_text, number, text,"
                " argMax(time_offset, rank) + device_time AS time, max(rank) AS first FROM ");
  print_base(cursor, low, high, sql);
  if (cursor->shared_only) {
    tt_list_print(sql, " AND ");
    print_shared(cursor, low, high, sql);
  } else if (is_filtered(cursor)) {
    tt_list_print(sql, " AND ((1");
    print_filter(cursor, sql);
    tt_list_print(sql, ") OR ");
    print_shared(cursor, low, high, sql);
    tt_list_print(sql, ")");
  }
  tt_list_print(sql,
                " GROUP BY device_time, attribute, seq, is_text, number, text"
                " ORDER BY device_time %s, first DESC, seq, attribute",
                cursor->range.newest_first ? "DESC" : "");
}

/* --- stretches --- */

static tt_status no_memory_of(const tt_store_cursor *cursor, tt_error *error) {
  const tt_list *lists[] = {&cursor->texts, &cursor->rows, &cursor->records, &cursor->cells};
  for (int i = 0; i < 4; i++)
    if (lists[i]->failed) return tt_clickhouse_no_memory(error);
  return TT_OK;
}

static tt_status take_rows(tt_store_cursor *cursor, tt_error *error) {
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&cursor->answer);
  tt_list_cut(&cursor->rows, 0);
  tt_list_cut(&cursor->texts, 0);
  cursor->at = 0;
  while (tt_clickhouse_has_row(&rows)) {
    row one = {.device_time = tt_clickhouse_get_long(&rows)};
    one.attribute = tt_clickhouse_get_unsigned(&rows);
    one.seq = tt_clickhouse_get_long(&rows);
    const bool is_text = tt_clickhouse_get_byte(&rows);
    one.number = tt_clickhouse_get_double(&rows);
    const uint32_t before = cursor->texts.len;
    one.text = tt_clickhouse_get_text(&rows, &cursor->texts);
    one.time = tt_clickhouse_get_long(&rows);
    one.rank = tt_clickhouse_get_unsigned(&rows);
    if (!is_text) {
      tt_list_cut(&cursor->texts, before);
      one.text = TT_STORE_NUMBER;
    }
    if (!tt_list_add(&cursor->rows, &one, 1)) break;
  }
  TT_TRY(no_memory_of(cursor, error));
  return tt_clickhouse_check(&rows, error);
}

/** How long the next one should be. */
static void adapt(tt_store_cursor *cursor) {
  const uint32_t rows = cursor->rows.len;
  if (rows > STRETCH_ROWS * 2) cursor->stretch /= 2;
  if (rows < STRETCH_ROWS / 2)
    cursor->stretch = cursor->stretch > UINT64_MAX / 8 ? UINT64_MAX : cursor->stretch * 4 + 1;
}

/** The next stretch, which may have no rows. */
static tt_status read_stretch(tt_store_cursor *cursor, tt_error *error) {
  int64_t low = cursor->low, high = cursor->high;
  const bool last = (uint64_t)high - (uint64_t)low <= cursor->stretch;
  if (!last && cursor->range.newest_first)
    low = (int64_t)((uint64_t)high - cursor->stretch);
  else if (!last)
    high = (int64_t)((uint64_t)low + cursor->stretch);
  print_stretch(cursor, low, high);
  tt_status status =
      tt_clickhouse_ask_list(&cursor->reader->source, &cursor->sql, &cursor->answer, error);
  if (status == TT_FULL && cursor->stretch) {
    cursor->stretch = ((uint64_t)high - (uint64_t)low) / 8;
    tt_list_cut(&cursor->rows, 0);
    cursor->at = 0;
    return TT_OK;
  }
  TT_TRY(status);
  TT_TRY(take_rows(cursor, error));
  cursor->ended = last;
  if (!last && cursor->range.newest_first)
    cursor->high = low - 1;
  else if (!last)
    cursor->low = high + 1;
  adapt(cursor);
  return TT_OK;
}

/** Where it begins and ends, and how long a stretch should be. */
static tt_status measure(tt_store_cursor *cursor, tt_error *error) {
  tt_list_print(&cursor->sql, "SELECT min(device_time), max(device_time), toInt64(count()) FROM ");
  print_base(cursor, cursor->range.device_from, cursor->range.device_to, &cursor->sql);
  print_filter(cursor, &cursor->sql);
  TT_TRY(tt_clickhouse_ask_list(&cursor->reader->source, &cursor->sql, &cursor->answer, error));
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&cursor->answer);
  cursor->low = tt_clickhouse_get_long(&rows);
  cursor->high = tt_clickhouse_get_long(&rows);
  const int64_t count = tt_clickhouse_get_long(&rows);
  TT_TRY(tt_clickhouse_check(&rows, error));
  cursor->ended = count <= 0;
  const uint64_t span = (uint64_t)cursor->high - (uint64_t)cursor->low;
  cursor->stretch = count <= STRETCH_ROWS ? span : span / ((uint64_t)count / STRETCH_ROWS + 1);
  return TT_OK;
}

/* --- records --- */

static bool has_any(const tt_store_cursor *cursor, const record *one, uint32_t first,
                    uint32_t end) {
  for (int32_t i = one->first; i >= 0; i = tt_list_at(&cursor->rows, row, i).next)
    for (uint32_t k = first; k < end; k++)
      if (tt_list_at(&cursor->rows, row, i).attribute ==
          tt_list_at(&cursor->rows, row, k).attribute)
        return true;
  return false;
}

/** The record of a sample whose rows these are; a new one, where there is none. NULL: out of memory. */
static record *choose_record(tt_store_cursor *cursor, uint32_t first, uint32_t end) {
  const row *one = &tt_list_at(&cursor->rows, row, first);
  const uint32_t count = cursor->records.len;
  for (uint32_t i = count > TT_STORE_RECORDS ? count - TT_STORE_RECORDS : 0; i < count; i++) {
    record *there = &tt_list_at(&cursor->records, record, i);
    if (there->seq == one->seq && !has_any(cursor, there, first, end)) return there;
  }
  const record new = {one->seq, one->time, -1};
  if (!tt_list_add(&cursor->records, &new, 1)) return NULL;
  return &tt_list_at(&cursor->records, record, count);
}

/** Rows from `first` on that came with one sample. */
static uint32_t end_of_sample(const tt_store_cursor *cursor, uint32_t first) {
  const row *rows = cursor->rows.data;
  uint32_t end = first + 1;
  while (end < cursor->rows.len && rows[end].device_time == rows[first].device_time &&
         rows[end].rank == rows[first].rank && rows[end].seq == rows[first].seq &&
         rows[end].attribute != rows[end - 1].attribute)
    end++;
  return end;
}

/** Puts the records of the next moment together. False: out of memory. */
static bool gather_moment(tt_store_cursor *cursor) {
  const int64_t device_time = tt_list_at(&cursor->rows, row, cursor->at).device_time;
  tt_list_cut(&cursor->records, 0);
  cursor->given = 0;
  while (cursor->at < cursor->rows.len &&
         tt_list_at(&cursor->rows, row, cursor->at).device_time == device_time) {
    const uint32_t end = end_of_sample(cursor, cursor->at);
    record *into = choose_record(cursor, cursor->at, end);
    if (!into) return false;
    for (; cursor->at < end; cursor->at++) {
      tt_list_at(&cursor->rows, row, cursor->at).next = into->first;
      into->first = (int32_t)cursor->at;
    }
  }
  return true;
}

static int by_attribute(const void *a, const void *b) {
  const tt_store_cell *left = a, *right = b;
  return (left->attribute > right->attribute) - (left->attribute < right->attribute);
}

/** What is asked for of a record. */
static void take_cells(tt_store_cursor *cursor, const record *from) {
  tt_list_cut(&cursor->cells, 0);
  for (int32_t i = from->first; i >= 0; i = tt_list_at(&cursor->rows, row, i).next) {
    const row *one = &tt_list_at(&cursor->rows, row, i);
    const int attribute = tt_clickhouse_attribute_of(cursor->reader, one->attribute);
    const tt_map_key key = {(int64_t)one->attribute, 0};
    if (attribute < 0 || (cursor->wanted.count && !tt_map_get(&cursor->wanted, key))) continue;
    const char *texts = cursor->texts.data;
    const tt_store_cell cell = {attribute, one->text == TT_STORE_NUMBER ? NULL : texts + one->text,
                                one->number};
    tt_list_add(&cursor->cells, &cell, 1);
  }
  if (cursor->cells.len)
    qsort(cursor->cells.data, cursor->cells.len, sizeof(tt_store_cell), by_attribute);
}

/** The next record of the moment in hand. False: there is none that is asked for. */
static bool give_record(tt_store_cursor *cursor, tt_store_record *out) {
  while (cursor->given < cursor->records.len) {
    const uint32_t place =
        cursor->range.newest_first ? cursor->records.len - 1 - cursor->given : cursor->given;
    const record *one = &tt_list_at(&cursor->records, record, place);
    cursor->given++;
    if (one->time < cursor->range.from || one->time > cursor->range.to) continue;
    take_cells(cursor, one);
    if (!cursor->cells.len) continue;
    *out = (tt_store_record){.device_time = tt_list_at(&cursor->rows, row, one->first).device_time,
                             .time = one->time,
                             .seq = one->seq,
                             .cells = cursor->cells.data,
                             .count = (int)cursor->cells.len};
    return true;
  }
  return false;
}

tt_status tt_clickhouse_next(tt_store_cursor *cursor, tt_store_record *out, tt_error *error) {
  while (!give_record(cursor, out)) {
    TT_TRY(no_memory_of(cursor, error));
    while (cursor->at == cursor->rows.len) {
      if (cursor->ended) return TT_END;
      TT_TRY(read_stretch(cursor, error));
    }
    if (!gather_moment(cursor)) return tt_clickhouse_no_memory(error);
  }
  return no_memory_of(cursor, error);
}

/* --- beginning and end --- */

void tt_clickhouse_close_cursor(tt_store_cursor *cursor) {
  tt_list *lists[] = {&cursor->sql,     &cursor->answer, &cursor->texts,     &cursor->rows,
                      &cursor->records, &cursor->cells,  &cursor->attributes};
  for (int i = 0; i < 7; i++) tt_list_free(lists[i]);
  tt_map_clear(&cursor->wanted);
  free(cursor);
}

/** Looks up the epoch, and what is asked for of it. */
static tt_status prepare(tt_store_cursor *cursor, tt_error *error) {
  tt_clickhouse_reader *reader = cursor->reader;
  const tt_store_range *range = &cursor->range;
  cursor->device = tt_clickhouse_get_id(&reader->known.devices, range->device);
  cursor->ended = true;
  for (int i = 0; i < range->attribute_count; i++) {
    const uint64_t id = tt_clickhouse_get_id(&reader->known.attributes, range->attributes[i]);
    if (!tt_map_put(&cursor->wanted, (tt_map_key){(int64_t)id, 0}, 1))
      return tt_clickhouse_no_memory(error);
  }
  TT_TRY(tt_clickhouse_need_boots(reader, cursor->device, error));
  for (uint32_t i = 0; i < reader->boots.len; i++) {
    const tt_store_epoch *epoch = &tt_list_at(&reader->boots, tt_clickhouse_boot, i).epoch;
    if (epoch->number != range->epoch) continue;
    cursor->key = epoch->key;
    return measure(cursor, error);
  }
  return TT_OK;
}

tt_status tt_clickhouse_open_cursor(tt_store_reader *base, const tt_store_range *range,
                                    tt_store_cursor **out, tt_error *error) {
  tt_store_cursor *cursor = calloc(1, sizeof *cursor);
  if (!cursor) return tt_clickhouse_no_memory(error);
  cursor->reader = (tt_clickhouse_reader *)base;
  cursor->range = *range;
  cursor->sql = cursor->answer = cursor->texts = TT_LIST(char, NULL);
  cursor->rows = TT_LIST(row, NULL);
  cursor->records = TT_LIST(record, NULL);
  cursor->cells = TT_LIST(tt_store_cell, NULL);
  cursor->attributes = TT_LIST(int, NULL);
  if (range->attribute_count)
    tt_list_add(&cursor->attributes, range->attributes, (size_t)range->attribute_count);
  cursor->range.attributes = cursor->attributes.data;
  tt_status status =
      cursor->attributes.failed ? tt_clickhouse_no_memory(error) : prepare(cursor, error);
  if (status != TT_OK) {
    tt_clickhouse_close_cursor(cursor);
    return status;
  }
  *out = cursor;
  return TT_OK;
}

/* --- how many --- */

/** Moments with one sample have one record; `*shared`: the others. */
static tt_status count_moments(tt_store_cursor *cursor, uint64_t *records, uint64_t *shared,
                               tt_error *error) {
  tt_list_print(&cursor->sql,
                "SELECT countIf(low = high), countIf(low != high) FROM"
                " (SELECT min(rank) AS low, max(rank) AS high FROM ");
  print_base(cursor, cursor->low, cursor->high, &cursor->sql);
  print_filter(cursor, &cursor->sql);
  tt_list_print(&cursor->sql, " GROUP BY device_time)");
  TT_TRY(tt_clickhouse_ask_list(&cursor->reader->source, &cursor->sql, &cursor->answer, error));
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&cursor->answer);
  *records = tt_clickhouse_get_unsigned(&rows);
  *shared = tt_clickhouse_get_unsigned(&rows);
  return tt_clickhouse_check(&rows, error);
}

static tt_status count_all(tt_store_cursor *cursor, uint64_t *records, tt_error *error) {
  uint64_t shared;
  tt_store_record one;
  tt_status status;
  *records = 0;
  if (cursor->ended) return TT_OK;
  TT_TRY(count_moments(cursor, records, &shared, error));
  if (!shared) return TT_OK;
  cursor->shared_only = true;
  while ((status = tt_clickhouse_next(cursor, &one, error)) == TT_OK) ++*records;
  return status == TT_END ? TT_OK : status;
}

tt_status tt_clickhouse_count(tt_store_reader *base, const tt_store_range *range, uint64_t *records,
                              tt_error *error) {
  tt_store_cursor *cursor;
  TT_TRY(tt_clickhouse_open_cursor(base, range, &cursor, error));
  tt_status status = count_all(cursor, records, error);
  tt_clickhouse_close_cursor(cursor);
  return status;
}

/* table.c: records: one stream of them a device, merged by time, written row by row. */
#include "base/saturate.h"
#include "telemetry/table_internal.h"
#include "telemetry/turns.h"

#include <string.h>

/** One boot epoch of a device, and its first record in the table's order. */
typedef struct epoch_start {
  tt_store_epoch epoch;
  int64_t time; /**< µs UTC */
} epoch_start;

/** An epoch that is being read. */
typedef struct part {
  int epoch;
  tt_store_cursor *cursor;
  tt_store_record record; /**< in hand */
} part;

/** The records of one device, over all its boot epochs, whose times may overlap. */
typedef struct stream {
  int device;
  char *label;        /**< human name or identifier */
  GArray *waiting;    /**< epoch_start: those that are not read yet; the next one is the last */
  GPtrArray *reading; /**< part: those whose records come now, hardly ever more than one */
  part *first;        /**< of these, the one whose record is next */
  char **last; /**< fill: the last value of each field, or NULL; JSON numbers keep their form */
  bool *last_is_text;
} stream;

typedef struct table {
  tt_collector *collector;
  const tt_table_query *query;
  tt_store_reader *reader;
  tt_table_names names;
  tt_table_writer writer;
  int64_t from, to;   /**< µs UTC, inclusive: of the page */
  unsigned turn;      /**< what it weighs whose turn it is; 0: it has none */
  GPtrArray *streams; /**< a heap by the time of the record in hand */
  tt_table_cell *cells;
} table;

/* --- streams of records --- */

/** What is asked for of one of a device's epochs. */
static tt_store_range range_of(const table *table, int device, const tt_store_epoch *epoch) {
  return (tt_store_range){
      .device = device,
      .epoch = epoch->number,
      .device_from = tt_saturating_sub(table->from, epoch->offset_high),
      .device_to = tt_saturating_sub(table->to, epoch->offset_low),
      .from = table->from,
      .to = table->to,
      .attributes = (const int *)(void *)table->names.fields->data,
      .attribute_count = table->names.all_fields ? 0 : (int)table->names.fields->len,
      .newest_first = table->query->newest_first};
}

/** Whether what is of one moment stands before another; of one time, the smaller number. */
static bool is_before(const table *table, int64_t a, int a_number, int64_t b, int b_number) {
  bool turned = table->query->newest_first;
  if (a != b) return (a < b) != turned;
  return (a_number < b_number) != turned;
}

static gint compare_starts(gconstpointer a, gconstpointer b, gpointer context) {
  const epoch_start *one = a, *other = b;
  bool first = is_before(context, one->time, one->epoch.number, other->time, other->epoch.number);
  return first ? 1 : -1;  // the next one is the last
}

/** The first record of a range, in its order: its times. TT_END: it is empty. */
static tt_status find_first(table *table, const tt_store_range *range, int64_t *time,
                            int64_t *device_time, tt_error *error) {
  tt_store_cursor *cursor;
  tt_store_record record;
  TT_TRY(table->reader->open(table->reader, range, &cursor, error));
  tt_status status = table->reader->next(cursor, &record, error);
  if (status == TT_OK) {
    *time = record.time;
    *device_time = record.device_time;
  }
  table->reader->close_cursor(cursor);
  return status;
}

/** Finds where each epoch of the stream begins, in the table's order. */
static tt_status find_starts(table *table, stream *stream, tt_error *error) {
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  tt_status status = table->reader->epochs(table->reader, stream->device, &epochs, error);
  for (guint i = 0; i < epochs.len && status == TT_OK; i++) {
    epoch_start start = {.epoch = tt_list_at(&epochs, tt_store_epoch, i)};
    tt_store_range range = range_of(table, stream->device, &start.epoch);
    int64_t device_time;
    if (epochs.len > 1)  // one alone comes first anyway
      status = find_first(table, &range, &start.time, &device_time, error);
    if (status == TT_OK) g_array_append_val(stream->waiting, start);
    if (status == TT_END) status = TT_OK;
  }
  tt_list_free(&epochs);
  g_array_sort_with_data(stream->waiting, compare_starts, table);
  return status;
}

static void free_part(const table *table, part *freed) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a reader opened the cursor
  if (freed->cursor) table->reader->close_cursor(freed->cursor);
  g_free(freed);
}

/** Moves a part to its next record; one that has ended is taken away. */
static tt_status advance_part(table *table, stream *stream, part *moved, tt_error *error) {
  tt_status status = table->reader->next(moved->cursor, &moved->record, error);
  if (status != TT_END) return status;
  g_ptr_array_remove_fast(stream->reading, moved);
  free_part(table, moved);
  return TT_OK;
}

static part *find_next(const table *table, const stream *stream) {
  part *first = NULL;
  for (guint i = 0; i < stream->reading->len; i++) {
    part *other = stream->reading->pdata[i];
    if (!first ||
        is_before(table, other->record.time, other->epoch, first->record.time, first->epoch))
      first = other;
  }
  return first;
}

/** Begins to read epochs whose turn has come. */
static tt_status open_parts(table *table, stream *stream, tt_error *error) {
  while (stream->waiting->len) {
    const epoch_start *next =
        &g_array_index(stream->waiting, epoch_start, stream->waiting->len - 1);
    const part *first = find_next(table, stream);
    if (first && is_before(table, first->record.time, first->epoch, next->time, next->epoch.number))
      break;
    tt_store_range range = range_of(table, stream->device, &next->epoch);
    part *opened = g_new0(part, 1);
    opened->epoch = next->epoch.number;
    g_ptr_array_add(stream->reading, opened);
    g_array_set_size(stream->waiting, stream->waiting->len - 1);
    TT_TRY(table->reader->open(table->reader, &range, &opened->cursor, error));
    TT_TRY(advance_part(table, stream, opened, error));
  }
  return TT_OK;
}

/** Moves a stream to its next record: TT_END: it has none. */
static tt_status advance(table *table, stream *stream, tt_error *error) {
  if (stream->first) TT_TRY(advance_part(table, stream, stream->first, error));
  TT_TRY(open_parts(table, stream, error));
  stream->first = find_next(table, stream);
  return stream->first ? TT_OK : TT_END;
}

static bool comes_before(const table *table, const stream *a, const stream *b) {
  return is_before(table, a->first->record.time, a->device, b->first->record.time, b->device);
}

/** Restores the heap below an element whose key grew. */
static void sift_down(const table *table, guint index) {
  GPtrArray *heap = table->streams;
  for (;;) {
    guint first = index;
    for (guint child = 2 * index + 1; child <= 2 * index + 2 && child < heap->len; child++) {
      if (comes_before(table, heap->pdata[child], heap->pdata[first])) first = child;
    }
    if (first == index) return;
    gpointer moved = heap->pdata[index];
    heap->pdata[index] = heap->pdata[first];
    heap->pdata[first] = moved;
    index = first;
  }
}

static void free_stream(table *table, stream *freed) {
  for (guint i = 0; i < freed->reading->len; i++) free_part(table, freed->reading->pdata[i]);
  g_ptr_array_unref(freed->reading);
  g_array_unref(freed->waiting);
  for (guint i = 0; freed->last && i < table->names.fields->len; i++) g_free(freed->last[i]);
  g_free(freed->last);
  g_free(freed->last_is_text);
  g_free(freed->label);
  g_free(freed);
}

static tt_status open_stream(table *table, int device, tt_error *error) {
  stream *opened = g_new0(stream, 1);
  opened->device = device;
  opened->label = tt_table_label(table->collector, true, device);
  opened->waiting = g_array_new(FALSE, FALSE, sizeof(epoch_start));
  opened->reading = g_ptr_array_new();
  if (table->query->fill_previous) {
    opened->last = g_new0(char *, table->names.fields->len);
    opened->last_is_text = g_new0(bool, table->names.fields->len);
  }
  tt_status status = find_starts(table, opened, error);
  if (status == TT_OK) status = advance(table, opened, error);
  if (status == TT_OK) {
    g_ptr_array_add(table->streams, opened);
    return TT_OK;
  }
  free_stream(table, opened);
  return status == TT_END ? TT_OK : status;
}

static void close_streams(table *table) {
  for (guint i = 0; i < table->streams->len; i++) free_stream(table, table->streams->pdata[i]);
  g_ptr_array_set_size(table->streams, 0);
}

/** Opens a stream a device, between `from` and `to`. */
static tt_status open_streams(table *table, tt_error *error) {
  close_streams(table);
  for (guint i = 0; i < table->names.devices->len; i++)
    TT_TRY(open_stream(table, g_array_index(table->names.devices, int, i), error));
  for (guint i = table->streams->len; i-- > 0;) sift_down(table, i);
  return TT_OK;
}

/** The stream whose record is the next one, or NULL. */
static stream *first_stream(const table *table) {
  return table->streams->len ? table->streams->pdata[0] : NULL;
}

/** Moves the first stream on; one that has ended is taken away. */
static tt_status advance_first(table *table, tt_error *error) {
  GPtrArray *heap = table->streams;
  stream *first = heap->pdata[0];
  tt_status status = advance(table, first, error);
  if (status == TT_END) {
    free_stream(table, first);
    heap->pdata[0] = heap->pdata[heap->len - 1];
    g_ptr_array_set_size(heap, (gint)heap->len - 1);
  } else if (status != TT_OK) {
    return status;
  }
  if (heap->len) sift_down(table, 0);
  return TT_OK;
}

/* --- pages --- */

/** Ends the page at a moment: with all records of that moment and before it (behind it, newest first), so that what comes
 *  in meanwhile moves none from one page to another. `*next`: where to go on, or NULL. */
static tt_status end_page(table *table, char **next, tt_error *error) {
  const bool turned = table->query->newest_first;
  const int64_t none = turned ? INT64_MAX : INT64_MIN;
  int64_t end = none;
  TT_TRY(open_streams(table, error));
  stream *first;
  for (uint64_t records = 0; (first = first_stream(table)); records++) {
    const int64_t time = first->first->record.time;
    const bool beyond = turned ? time < end : time > end;
    if (records >= table->query->limit && beyond) break;
    if (beyond) end = time;
    TT_TRY(advance_first(table, error));
  }
  if (!first) return TT_OK;
  *next = tt_table_cursor(table->query, end);
  if (turned)
    table->from = end;
  else
    table->to = end;
  return TT_OK;
}

/** Above so many µs counting ends, and says so. */
#define COUNT_TIME 300000
/** Of device time, µs: counted at once, at first; twice as much again where that took less than a tenth of COUNT_TIME. */
#define COUNT_STEP (INT64_C(3600) * 1000000)

/** Counts the records of a range step by step until `end` (µs, monotonic); `*exact` is cleared where there was no time. */
static tt_status count_range(table *table, tt_store_range range, int64_t end, uint64_t *records,
                             bool *exact, tt_error *error) {
  int64_t time;
  range.newest_first = true;
  tt_status status = find_first(table, &range, &time, &range.device_to, error);
  range.newest_first = false;
  if (status == TT_OK) status = find_first(table, &range, &time, &range.device_from, error);
  const int64_t last = range.device_to;
  for (int64_t step = COUNT_STEP; status == TT_OK && range.device_from <= last;) {
    const int64_t begun = g_get_monotonic_time();
    uint64_t more = 0;
    *exact = *exact && begun < end;
    if (!*exact) break;
    range.device_to =
        tt_saturating_sub(last, range.device_from) < step ? last : range.device_from + step - 1;
    status = table->reader->count(table->reader, &range, &more, error);
    *records += more;
    if (range.device_to == last) break;
    range.device_from = range.device_to + 1;
    if (g_get_monotonic_time() - begun < COUNT_TIME / 10 && step < INT64_MAX / 2) step *= 2;
  }
  return status == TT_END ? TT_OK : status;
}

/** How many records there are of what is asked for, from the cursor on, whatever the limit. */
static tt_status count_records(table *table, uint64_t *records, bool *exact, tt_error *error) {
  const int64_t end = g_get_monotonic_time() + COUNT_TIME;
  tt_list epochs = TT_LIST(tt_store_epoch, NULL);
  tt_status status = TT_OK;
  *records = 0;
  *exact = true;
  if (table->query->format != TT_TABLE_JSON)
    return tt_fail(error, TT_INVALID, "count: only JSON has a place for it; ask for .json");
  if (!table->reader->count)
    return tt_fail(error, TT_INVALID, "this store doesn't count its records; leave out count=yes");
  for (guint d = 0; d < table->names.devices->len && status == TT_OK; d++) {
    int device = g_array_index(table->names.devices, int, d);
    tt_list_cut(&epochs, 0);
    status = table->reader->epochs(table->reader, device, &epochs, error);
    for (guint i = 0; i < epochs.len && status == TT_OK && *exact; i++) {
      tt_store_range range = range_of(table, device, &tt_list_at(&epochs, tt_store_epoch, i));
      status = count_range(table, range, end, records, exact, error);
    }
  }
  tt_list_free(&epochs);
  return status;
}

/* --- writing --- */

static void fill_previous(table *table, stream *stream) {
  for (guint i = 0; i < table->names.fields->len; i++) {
    tt_table_cell *shown = &table->cells[i];
    if (!shown->text) {
      shown->text = stream->last[i];
      shown->is_text = stream->last_is_text[i];
    } else {
      g_free(stream->last[i]);
      stream->last[i] = g_strdup(shown->text);
      stream->last_is_text[i] = shown->is_text;
    }
  }
}

/** Puts the record's values into their columns. */
static void take_record(table *table, stream *stream) {
  for (guint i = 0; i < table->names.fields->len; i++) table->cells[i].text = NULL;
  const tt_store_record *record = &stream->first->record;
  for (int i = 0; i < record->count; i++) {
    const tt_store_cell *stored = &record->cells[i];
    int column = tt_table_column(&table->names, stored->attribute);
    if (column < 0) continue;
    if (stored->text)
      tt_table_show_text(&table->cells[column], stored->text);
    else
      tt_table_show_number(&table->cells[column], stored->number);
  }
  if (table->query->fill_previous) fill_previous(table, stream);
}

static tt_status write_record(table *table, const stream *stream) {
  const tt_store_record *record = &stream->first->record;
  const GPtrArray *labels = table->names.labels;
  tt_table_begin_record(&table->writer, stream->label, record->time, record->device_time);
  for (guint i = 0; i < labels->len; i++)
    TT_TRY(tt_table_write_field(&table->writer, labels->pdata[i], 1, &table->cells[i]));
  tt_table_end_record(&table->writer);
  return TT_OK;
}

static tt_status write_rows(table *table, tt_error *error) {
  const uint64_t limit = table->query->pages ? 0 : table->query->limit;
  stream *first = first_stream(table);
  if (first && table->query->origin_kind == TT_ORIGIN_FIRST)
    table->writer.origin = first->first->record.time;
  while ((first = first_stream(table)) && (!limit || table->writer.rows < limit)) {
    take_record(table, first);
    TT_TRY(write_record(table, first));
    TT_TRY(advance_first(table, error));
  }
  return TT_OK;
}

static tt_status write_records(table *table, tt_error *error) {
  static const char *const values[] = {"", NULL};
  uint64_t records = 0;
  bool exact = true;
  char *next = NULL;
  table->cells = g_new0(tt_table_cell, table->names.fields->len + 1);
  TT_TRY(tt_collector_open_reader(table->collector, &table->reader, error));
  if (table->query->count) TT_TRY(count_records(table, &records, &exact, error));
  if (table->query->pages && table->query->limit) TT_TRY(end_page(table, &next, error));
  tt_status status = open_streams(table, error);
  if (status == TT_OK) status = tt_table_write_header(&table->writer, &table->names, values);
  if (status == TT_OK) {
    if (table->query->count) tt_table_write_count(&table->writer, records, exact);
    status = write_rows(table, error);
  }
  if (status == TT_OK) status = tt_table_write_end(&table->writer, next);
  g_free(next);
  return status;
}

static tt_status take_turn(table *table, bool stretches, tt_error *error) {
  // Stretches are read of one device after the other.
  const guint devices = stretches ? 0 : table->names.devices->len;
  const unsigned weight = tt_turns_weight(devices, table->names.fields->len);
  TT_TRY(tt_turn_take(weight, TT_TURNS_PATIENCE, table->writer.sink, error));
  table->turn = weight;
  return TT_OK;
}

tt_status tt_table_write(tt_collector *collector, const tt_table_query *query,
                         const tt_table_sink *sink, tt_error *error) {
  table table = {.collector = collector,
                 .query = query,
                 .writer = tt_table_writer_init(query, sink),
                 .from = query->from,
                 .to = query->to,
                 .streams = g_ptr_array_new()};
  const bool stretches = query->points || query->bucket != TT_BUCKET_SIZES;
  tt_status status = tt_table_names_resolve(collector, query, &table.names, error);
  if (status == TT_OK) status = take_turn(&table, stretches, error);
  if (status == TT_OK && stretches)
    status = tt_table_write_stretches(collector, query, &table.names, &table.writer, error);
  else if (status == TT_OK)
    status = write_records(&table, error);
  close_streams(&table);
  g_ptr_array_unref(table.streams);
  if (table.reader) table.reader->close(table.reader);
  tt_turn_give(table.turn);
  tt_table_names_clear(&table.names);
  tt_table_writer_clear(&table.writer);
  g_free(table.cells);
  return status;
}

/* table.c: one stream of records a device, merged by time, written row by row. */
#include "telemetry/table.h"

#include "telemetry/number.h"
#include "telemetry/text.h"

#include <string.h>

#define PIECE 32768

/** The records of one device, over all its boot epochs. */
typedef struct stream {
  int device;
  char *label; /**< human name or identifier */
  tt_list epochs;
  guint next_epoch;
  tt_store_cursor *cursor;
  tt_store_record record;
  char **last; /**< fill: the last value of each field, or NULL; JSON numbers keep their form */
  bool *last_is_text;
} stream;

/** A cell ready to be written. */
typedef struct cell {
  const char *text; /**< NULL: empty */
  bool is_text;
  char number[TT_NUMBER_SIZE];
} cell;

typedef struct table {
  tt_collector *collector;
  const tt_table_query *query;
  const tt_table_sink *sink;
  tt_store_reader *reader;
  GArray *fields;    /**< attribute indices, in order of columns */
  GPtrArray *labels; /**< of the columns */
  int *column;       /**< attribute index -> column + 1 */
  int column_size;
  GPtrArray *streams; /**< a heap by the time of the record in hand */
  cell *cells;
  GString *out;
  uint64_t rows;
  int64_t origin;
} table;

const char *tt_table_content_type(tt_table_format format) {
  static const char *const types[] = {
      [TT_TABLE_XML] = "application/xml; charset=utf-8",
      [TT_TABLE_CSV] = "text/csv; charset=utf-8",
      [TT_TABLE_JSON] = "application/json",
  };
  return types[format];
}

/* --- names --- */

static tt_status unknown(tt_collector *collector, bool device, const char *name, tt_error *error) {
  char *nearest = tt_collector_nearest(collector, device, name);
  tt_status status =
      tt_fail(error, TT_NOT_FOUND, "there is no %s '%.64s'%s%s%s", device ? "device" : "attribute",
              name, nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  g_free(nearest);
  return status;
}

/** Indices of names. */
static tt_status resolve(tt_collector *collector, bool device, char **names, GArray *indices,
                         tt_error *error) {
  for (; *names; names++) {
    int index = device ? tt_collector_find_device(collector, *names)
                       : tt_collector_find_attribute(collector, *names);
    if (index < 0) return unknown(collector, device, *names, error);
    bool known = false;
    for (guint i = 0; i < indices->len; i++)
      known = known || g_array_index(indices, int, i) == index;
    if (!known) g_array_append_val(indices, index);
  }
  return TT_OK;
}

/** The devices that are asked for; all of them when none is. */
static tt_status resolve_devices(tt_collector *collector, const tt_table_query *query,
                                 GArray *indices, tt_error *error) {
  int count = *query->devices ? 0 : tt_collector_device_count(collector);
  for (int i = 0; i < count; i++) g_array_append_val(indices, i);
  return resolve(collector, true, query->devices, indices, error);
}

/** The attributes that are asked for; when none is, those of which there are values of these devices. */
static tt_status resolve_fields(tt_collector *collector, const tt_table_query *query,
                                const GArray *devices, GArray *indices, tt_error *error) {
  int count = *query->fields ? 0 : tt_collector_attribute_count(collector);
  for (int i = 0; i < count; i++) {
    bool has = false;
    for (guint d = 0; d < devices->len && !has; d++)
      has = tt_collector_has_values(collector, g_array_index(devices, int, d), i);
    if (has) g_array_append_val(indices, i);
  }
  return resolve(collector, false, query->fields, indices, error);
}

static char *label_of(tt_collector *collector, bool device, int index) {
  char *label = NULL;
  if (device) {
    tt_device_info info = {0};
    if (tt_collector_get_device(collector, index, &info))
      label = g_strdup(info.name ? info.name : info.identifier);
    tt_device_info_clear(&info);
  } else {
    tt_attribute_info info = {0};
    if (tt_collector_get_attribute(collector, index, &info)) {
      label = g_strdup(info.name ? info.name : info.identifier);
    }
    tt_attribute_info_clear(&info);
  }
  return label ? label : g_strdup("?");
}

tt_status tt_table_check(tt_collector *collector, const tt_table_query *query, tt_error *error) {
  GArray *indices = g_array_new(FALSE, FALSE, sizeof(int));
  tt_status status = resolve(collector, true, query->devices, indices, error);
  if (status == TT_OK) status = resolve(collector, false, query->fields, indices, error);
  g_array_unref(indices);
  return status;
}

/* --- streams of records --- */

static int64_t clamped_difference(int64_t a, int64_t b) {
  int64_t result;
  if (__builtin_sub_overflow(a, b, &result)) return a < 0 ? INT64_MIN : INT64_MAX;
  return result;
}

/** Moves a stream to its next record: TT_END: it has none. */
static tt_status advance(table *table, stream *stream, tt_error *error) {
  for (;;) {
    if (stream->cursor) {
      tt_status status = table->reader->next(stream->cursor, &stream->record, error);
      if (status != TT_END) return status;
      table->reader->close_cursor(stream->cursor);
      stream->cursor = NULL;
    }
    if (stream->next_epoch >= stream->epochs.len) return TT_END;
    const tt_store_epoch *epoch =
        &tt_list_at(&stream->epochs, tt_store_epoch, stream->next_epoch++);
    tt_store_range range = {
        .device = stream->device,
        .epoch = epoch->number,
        .device_from = clamped_difference(table->query->from, epoch->offset_high),
        .device_to = clamped_difference(table->query->to, epoch->offset_low),
        .from = table->query->from,
        .to = table->query->to,
        .attributes = (const int *)(void *)table->fields->data,
        .attribute_count = *table->query->fields ? (int)table->fields->len : 0};
    TT_TRY(table->reader->open(table->reader, &range, &stream->cursor, error));
  }
}

static bool is_before(const stream *a, const stream *b) {
  return a->record.time != b->record.time ? a->record.time < b->record.time : a->device < b->device;
}

/** Restores the heap below an element whose key grew. */
static void sift_down(GPtrArray *heap, guint index) {
  for (;;) {
    guint first = index;
    for (guint child = 2 * index + 1; child <= 2 * index + 2 && child < heap->len; child++) {
      if (is_before(heap->pdata[child], heap->pdata[first])) first = child;
    }
    if (first == index) return;
    gpointer moved = heap->pdata[index];
    heap->pdata[index] = heap->pdata[first];
    heap->pdata[first] = moved;
    index = first;
  }
}

static void free_stream(table *table, stream *freed) {
  // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a reader opened the cursor
  if (freed->cursor) table->reader->close_cursor(freed->cursor);
  tt_list_free(&freed->epochs);
  for (guint i = 0; freed->last && i < table->fields->len; i++) g_free(freed->last[i]);
  g_free(freed->last);
  g_free(freed->last_is_text);
  g_free(freed->label);
  g_free(freed);
}

static tt_status open_stream(table *table, int device, tt_error *error) {
  stream *opened = g_new0(stream, 1);
  opened->device = device;
  opened->label = label_of(table->collector, true, device);
  opened->epochs = TT_LIST(tt_store_epoch, NULL);
  if (table->query->fill_previous) {
    opened->last = g_new0(char *, table->fields->len);
    opened->last_is_text = g_new0(bool, table->fields->len);
  }
  tt_status status = table->reader->epochs(table->reader, device, &opened->epochs, error);
  if (status == TT_OK) status = advance(table, opened, error);
  if (status == TT_OK) {
    g_ptr_array_add(table->streams, opened);
    return TT_OK;
  }
  free_stream(table, opened);
  return status == TT_END ? TT_OK : status;
}

/* --- writing --- */

static tt_status flush(table *table, size_t at_least) {
  if (table->out->len < at_least) return TT_OK;
  tt_status status = table->sink->write(table->sink->context, table->out->str, table->out->len);
  g_string_truncate(table->out, 0);
  return status;
}

static void append_header(table *table) {
  GString *out = table->out;
  guint count = table->labels->len;
  switch (table->query->format) {
    case TT_TABLE_XML:
      g_string_append(out,
                      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TELEMETRY>\n  <HEADER>"
                      "<FIELD>Device</FIELD><FIELD>Time</FIELD>");
      for (guint i = 0; i < count; i++) {
        g_string_append(out, "<FIELD>");
        tt_append_xml(out, table->labels->pdata[i]);
        g_string_append(out, "</FIELD>");
      }
      g_string_append(out, "</HEADER>\n");
      break;
    case TT_TABLE_CSV:
      g_string_append(out, "Device,Time");
      for (guint i = 0; i < count; i++) {
        g_string_append_c(out, ',');
        tt_append_csv(out, table->labels->pdata[i]);
      }
      g_string_append(out, "\r\n");
      break;
    case TT_TABLE_JSON:
      g_string_append(out, "{\"header\":[\"Device\",\"Time\"");
      for (guint i = 0; i < count; i++) {
        g_string_append_c(out, ',');
        tt_append_json(out, table->labels->pdata[i]);
      }
      g_string_append(out, "],\"records\":[");
      break;
  }
}

static void append_xml_row(table *table, const char *device, const char *time) {
  GString *out = table->out;
  g_string_append(out, "  <RECORD><VALUE>");
  tt_append_xml(out, device);
  g_string_append(out, "</VALUE><VALUE>");
  g_string_append(out, time);
  g_string_append(out, "</VALUE>");
  for (guint i = 0; i < table->fields->len; i++) {
    g_string_append(out, "<VALUE>");
    if (table->cells[i].text) tt_append_xml(out, table->cells[i].text);
    g_string_append(out, "</VALUE>");
  }
  g_string_append(out, "</RECORD>\n");
}

static void append_csv_row(table *table, const char *device, const char *time) {
  GString *out = table->out;
  tt_append_csv(out, device);
  g_string_append_c(out, ',');
  g_string_append(out, time);
  for (guint i = 0; i < table->fields->len; i++) {
    g_string_append_c(out, ',');
    const cell *shown = &table->cells[i];
    if (shown->text && shown->is_text)
      tt_append_csv(out, shown->text);
    else if (shown->text)
      g_string_append(out, shown->text);
  }
  g_string_append(out, "\r\n");
}

static void append_json_row(table *table, const char *device, const char *time) {
  GString *out = table->out;
  g_string_append(out, table->rows ? ",\n[" : "\n[");
  tt_append_json(out, device);
  g_string_append_c(out, ',');
  tt_append_json(out, time);
  for (guint i = 0; i < table->fields->len; i++) {
    const cell *shown = &table->cells[i];
    g_string_append_c(out, ',');
    if (!shown->text) {
      g_string_append(out, "null");
    } else if (shown->is_text) {
      tt_append_json(out, shown->text);
    } else {
      g_string_append(out, shown->text);
    }
  }
  g_string_append_c(out, ']');
}

static void append_footer(table *table) {
  static const char *const footers[] = {
      [TT_TABLE_XML] = "</TELEMETRY>\n", [TT_TABLE_CSV] = "", [TT_TABLE_JSON] = "\n]}\n"};
  g_string_append(table->out, footers[table->query->format]);
}

static void fill_previous(table *table, stream *stream) {
  for (guint i = 0; i < table->fields->len; i++) {
    cell *shown = &table->cells[i];
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
  for (guint i = 0; i < table->fields->len; i++) table->cells[i].text = NULL;
  for (int i = 0; i < stream->record.count; i++) {
    const tt_store_cell *stored = &stream->record.cells[i];
    int column = stored->attribute < table->column_size ? table->column[stored->attribute] - 1 : -1;
    if (column < 0) continue;
    cell *shown = &table->cells[column];
    shown->is_text = stored->text;
    shown->text = stored->text;
    if (!stored->text) {
      tt_number_format(shown->number, stored->number);
      shown->text = shown->number;
    }
  }
  if (table->query->fill_previous) fill_previous(table, stream);
}

static void append_row(table *table, stream *stream) {
  char time[TT_ISO_SIZE > TT_MS_SIZE ? TT_ISO_SIZE : TT_MS_SIZE];
  const tt_store_record *record = &stream->record;
  if (table->query->iso) {
    tt_iso_format(time, record->time);
  } else if (table->query->origin_kind == TT_ORIGIN_DEVICE) {
    tt_clock_format(time, record->device_time);
  } else {
    tt_clock_format(time, record->time - table->origin);
  }
  take_record(table, stream);
  switch (table->query->format) {
    case TT_TABLE_XML: append_xml_row(table, stream->label, time); break;
    case TT_TABLE_CSV: append_csv_row(table, stream->label, time); break;
    case TT_TABLE_JSON: append_json_row(table, stream->label, time); break;
  }
  table->rows++;
}

static tt_status write_rows(table *table, tt_error *error) {
  GPtrArray *heap = table->streams;
  for (guint i = heap->len; i-- > 0;) sift_down(heap, i);
  if (heap->len && table->query->origin_kind == TT_ORIGIN_FIRST) {
    table->origin = ((stream *)heap->pdata[0])->record.time;
  }
  while (heap->len && (!table->query->limit || table->rows < table->query->limit)) {
    stream *first = heap->pdata[0];
    append_row(table, first);
    TT_TRY(flush(table, PIECE));
    tt_status status = advance(table, first, error);
    if (status == TT_END) {
      free_stream(table, first);
      heap->pdata[0] = heap->pdata[heap->len - 1];
      g_ptr_array_set_size(heap, (gint)heap->len - 1);
    } else if (status != TT_OK) {
      return status;
    }
    if (heap->len) sift_down(heap, 0);
  }
  return TT_OK;
}

static tt_status prepare_columns(table *table, const GArray *devices, tt_error *error) {
  TT_TRY(resolve_fields(table->collector, table->query, devices, table->fields, error));
  table->column_size = tt_collector_attribute_count(table->collector);
  table->column = g_new0(int, table->column_size + 1);
  table->cells = g_new0(cell, table->fields->len + 1);
  for (guint i = 0; i < table->fields->len; i++) {
    int attribute = g_array_index(table->fields, int, i);
    table->column[attribute] = (int)i + 1;
    g_ptr_array_add(table->labels, label_of(table->collector, false, attribute));
  }
  return TT_OK;
}

static tt_status write_table(table *table, tt_error *error) {
  GArray *devices = g_array_new(FALSE, FALSE, sizeof(int));
  tt_status status = resolve_devices(table->collector, table->query, devices, error);
  if (status == TT_OK) status = prepare_columns(table, devices, error);
  if (status == TT_OK) status = tt_collector_open_reader(table->collector, &table->reader, error);
  for (guint i = 0; i < devices->len && status == TT_OK; i++) {
    status = open_stream(table, g_array_index(devices, int, i), error);
  }
  g_array_unref(devices);
  TT_TRY(status);
  append_header(table);
  TT_TRY(write_rows(table, error));
  append_footer(table);
  return flush(table, 1);
}

tt_status tt_table_write(tt_collector *collector, const tt_table_query *query,
                         const tt_table_sink *sink, tt_error *error) {
  table table = {.collector = collector,
                 .query = query,
                 .sink = sink,
                 .fields = g_array_new(FALSE, FALSE, sizeof(int)),
                 .labels = g_ptr_array_new_with_free_func(g_free),
                 .streams = g_ptr_array_new(),
                 .out = g_string_sized_new(PIECE + 4096),
                 .origin = query->origin};
  tt_status status = write_table(&table, error);
  for (guint i = 0; i < table.streams->len; i++) free_stream(&table, table.streams->pdata[i]);
  g_ptr_array_unref(table.streams);
  if (table.reader) table.reader->close(table.reader);
  g_array_unref(table.fields);
  g_ptr_array_unref(table.labels);
  g_string_free(table.out, TRUE);
  g_free(table.column);
  g_free(table.cells);
  return status;
}

/* table_writer.c: the head, rows and end of a table as XML, CSV or JSON. */
#include "telemetry/table_internal.h"

#include <math.h>

#define PIECE 32768

const char *tt_table_content_type(tt_table_format format) {
  static const char *const types[] = {
      [TT_TABLE_XML] = "application/xml; charset=utf-8",
      [TT_TABLE_CSV] = "text/csv; charset=utf-8",
      [TT_TABLE_JSON] = "application/json",
  };
  return types[format];
}

tt_table_writer tt_table_writer_init(const tt_table_query *query, const tt_table_sink *sink) {
  return (tt_table_writer){.query = query,
                           .sink = sink,
                           .out = g_string_sized_new(PIECE + 4096),
                           .origin = query->origin};
}

void tt_table_writer_clear(tt_table_writer *writer) { g_string_free(writer->out, TRUE); }

static tt_status flush(tt_table_writer *writer, size_t at_least) {
  if (writer->out->len < at_least) return TT_OK;
  tt_status status = writer->sink->write(writer->sink->context, writer->out->str, writer->out->len);
  g_string_truncate(writer->out, 0);
  return status;
}

/* --- cells --- */

void tt_table_show_number(tt_table_cell *cell, double number) {
  cell->is_text = false;
  cell->text = NULL;
  if (!isfinite(number)) return;
  tt_number_format(cell->number, number);
  cell->text = cell->number;
}

void tt_table_show_count(tt_table_cell *cell, uint64_t count) {
  cell->is_text = false;
  g_snprintf(cell->number, sizeof cell->number, "%" G_GUINT64_FORMAT, count);
  cell->text = cell->number;
}

void tt_table_show_text(tt_table_cell *cell, const char *text) {
  cell->is_text = true;
  cell->text = text;
}

/* --- the head --- */

static void append_name(tt_table_writer *writer, const char *name) {
  GString *out = writer->out;
  switch (writer->query->format) {
    case TT_TABLE_XML:
      g_string_append(out, "<FIELD>");
      tt_append_xml(out, name);
      g_string_append(out, "</FIELD>");
      break;
    case TT_TABLE_CSV:
      g_string_append_c(out, ',');
      tt_append_csv(out, name);
      break;
    case TT_TABLE_JSON:
      g_string_append_c(out, ',');
      tt_append_json(out, name);
      break;
  }
}

static tt_status write_name(tt_table_writer *writer, const char *label, const char *value) {
  char *name = *value ? g_strdup_printf("%s %s", label, value) : g_strdup(label);
  append_name(writer, name);
  g_free(name);
  return flush(writer, PIECE);
}

tt_status tt_table_write_header(tt_table_writer *writer, const tt_table_names *names,
                                const char *const *values) {
  static const char *const begins[] = {
      [TT_TABLE_XML] = ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TELEMETRY>\n  <HEADER>"
                        "<FIELD>Device</FIELD><FIELD>Time</FIELD>"),
      [TT_TABLE_CSV] = "Device,Time",
      [TT_TABLE_JSON] = "{\"header\":[\"Device\",\"Time\""};
  static const char *const ends[] = {
      [TT_TABLE_XML] = "</HEADER>\n", [TT_TABLE_CSV] = "\r\n", [TT_TABLE_JSON] = "]"};
  g_string_append(writer->out, begins[writer->query->format]);
  if (writer->query->tall) append_name(writer, "Field");
  for (int v = 0; writer->query->tall && values[v]; v++)
    append_name(writer, *values[v] ? values[v] : "Value");
  for (guint i = 0; !writer->query->tall && i < names->labels->len; i++) {
    for (int v = 0; values[v]; v++) TT_TRY(write_name(writer, names->labels->pdata[i], values[v]));
  }
  g_string_append(writer->out, ends[writer->query->format]);
  return TT_OK;
}

void tt_table_write_count(tt_table_writer *writer, uint64_t records, bool exact) {
  g_string_append_printf(writer->out, ",\"count\":%" G_GUINT64_FORMAT ",\"count_is\":\"%s\"",
                         records, exact ? "exact" : "at least");
}

/* --- rows --- */

/** What stands between the head and the first row. */
static void begin_rows(tt_table_writer *writer) {
  if (writer->query->format == TT_TABLE_JSON && !writer->rows)
    g_string_append(writer->out, ",\"records\":[");
}

static void append_cell(tt_table_writer *writer, const tt_table_cell *cell) {
  GString *out = writer->out;
  switch (writer->query->format) {
    case TT_TABLE_XML:
      g_string_append(out, "<VALUE>");
      if (cell->text) tt_append_xml(out, cell->text);
      g_string_append(out, "</VALUE>");
      break;
    case TT_TABLE_CSV:
      g_string_append_c(out, ',');
      if (cell->text && cell->is_text)
        tt_append_csv(out, cell->text);
      else if (cell->text)
        g_string_append(out, cell->text);
      break;
    case TT_TABLE_JSON:
      g_string_append_c(out, ',');
      if (cell->text && cell->is_text)
        tt_append_json(out, cell->text);
      else
        g_string_append(out, cell->text ? cell->text : "null");
      break;
  }
}

/** Device and time. */
static void begin_row(tt_table_writer *writer, const char *device, const char *time) {
  GString *out = writer->out;
  switch (writer->query->format) {
    case TT_TABLE_XML:
      g_string_append(out, "  <RECORD><VALUE>");
      tt_append_xml(out, device);
      g_string_append(out, "</VALUE><VALUE>");
      g_string_append(out, time);
      g_string_append(out, "</VALUE>");
      break;
    case TT_TABLE_CSV:
      tt_append_csv(out, device);
      g_string_append_c(out, ',');
      g_string_append(out, time);
      break;
    case TT_TABLE_JSON:
      begin_rows(writer);
      g_string_append(out, writer->rows ? ",\n[" : "\n[");
      tt_append_json(out, device);
      g_string_append_c(out, ',');
      tt_append_json(out, time);
      break;
  }
}

static void end_row(tt_table_writer *writer) {
  static const char *const ends[] = {
      [TT_TABLE_XML] = "</RECORD>\n", [TT_TABLE_CSV] = "\r\n", [TT_TABLE_JSON] = "]"};
  g_string_append(writer->out, ends[writer->query->format]);
  writer->rows++;
}

static void format_time(tt_table_writer *writer, int64_t time, int64_t device_time) {
  if (writer->query->time == TT_TIME_ISO) {
    tt_iso_format_zone(writer->time, time, writer->query->zone);
  } else if (writer->query->origin_kind == TT_ORIGIN_DEVICE) {
    tt_clock_format(writer->time, device_time);
  } else {
    tt_clock_format(writer->time, time - writer->origin);
  }
}

void tt_table_begin_record(tt_table_writer *writer, const char *device, int64_t time,
                           int64_t device_time) {
  format_time(writer, time, device_time);
  writer->device = device;
  if (!writer->query->tall) begin_row(writer, device, writer->time);
}

tt_status tt_table_write_field(tt_table_writer *writer, const char *label, int values,
                               const tt_table_cell *cells) {
  const bool tall = writer->query->tall;
  bool empty = true;
  for (int v = 0; v < values; v++) empty = empty && !cells[v].text;
  if (tall && empty) return TT_OK;
  if (tall) {
    tt_table_cell name;
    tt_table_show_text(&name, label);
    begin_row(writer, writer->device, writer->time);
    append_cell(writer, &name);
  }
  for (int v = 0; v < values; v++) append_cell(writer, &cells[v]);
  if (tall) end_row(writer);
  return flush(writer, PIECE);
}

void tt_table_end_record(tt_table_writer *writer) {
  if (!writer->query->tall) end_row(writer);
}

tt_status tt_table_write_end(tt_table_writer *writer, const char *next) {
  GString *out = writer->out;
  switch (writer->query->format) {
    case TT_TABLE_XML:
      if (next) g_string_append_printf(out, "  <NEXT cursor=\"%s\"/>\n", next);
      g_string_append(out, "</TELEMETRY>\n");
      break;
    case TT_TABLE_CSV: break;
    case TT_TABLE_JSON:
      begin_rows(writer);
      g_string_append(out, "\n]");
      if (next)
        g_string_append_printf(out, ",\"next\":\"%s\"", next);
      else if (writer->query->pages)
        g_string_append(out, ",\"next\":null");
      g_string_append(out, "}\n");
      break;
  }
  return flush(writer, 1);
}

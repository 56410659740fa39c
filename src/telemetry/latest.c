/* latest.c: the newest value of each attribute of each device, as a JSON array. */
#include "telemetry/table_internal.h"
#include "telemetry/text.h"

typedef struct latest {
  tt_collector *collector;
  const tt_table_names *names;
  GHashTable *devices; /**< device + 1 -> its part of the JSON; NULL: not known yet */
  GPtrArray *fields;   /**< char *: of each column, its part of the JSON */
  const tt_table_query *query;
  const tt_table_sink *sink;
  GString *out;
  bool any;
  tt_status status; /**< of writing */
} latest;

#define PIECE 32768

static void append_key(GString *out, const char *key, const char *text) {
  g_string_append_printf(out, "\"%s\":", key);
  if (text)
    tt_append_json(out, text);
  else
    g_string_append(out, "null");
}

/** "device":…,"device_name":… of one that people may see; "" where it was removed. */
static char *device_part(tt_collector *collector, int index) {
  tt_device_info info = {0};
  GString *part = g_string_new(NULL);
  if (tt_collector_get_device(collector, index, &info)) {
    append_key(part, "device", info.identifier);
    g_string_append_c(part, ',');
    append_key(part, "device_name", info.name);
  }
  tt_device_info_clear(&info);
  return g_string_free(part, FALSE);
}

/** "attribute":…,"name":…,"unit":…; the same. */
static char *field_part(tt_collector *collector, int index) {
  tt_attribute_info info = {0};
  GString *part = g_string_new(NULL);
  if (tt_collector_get_attribute(collector, index, &info)) {
    append_key(part, "attribute", info.identifier);
    g_string_append_c(part, ',');
    append_key(part, "name", info.name);
    g_string_append_c(part, ',');
    append_key(part, "unit", info.handling.unit);
  }
  tt_attribute_info_clear(&info);
  return g_string_free(part, FALSE);
}

static void append_value(GString *out, const tt_store_cell *cell) {
  char number[TT_NUMBER_SIZE];
  if (cell->text) {
    tt_append_json(out, cell->text);
  } else {
    tt_number_format(number, cell->number);
    g_string_append(out, number);
  }
}

static bool take(void *context, const tt_store_latest *value) {
  latest *of = context;
  const int column = tt_table_column(of->names, value->cell.attribute);
  const char *device = g_hash_table_lookup(of->devices, GINT_TO_POINTER(value->device + 1));
  if (column < 0 || !device || !*device || !*(char *)of->fields->pdata[column]) return true;
  char time[TT_ISO_SIZE];
  tt_iso_format_zone(time, value->time, of->query->zone);
  g_string_append_printf(of->out, "%s{%s,%s,\"time\":\"%s\",\"value\":", of->any ? ",\n" : "\n",
                         device, (char *)of->fields->pdata[column], time);
  append_value(of->out, &value->cell);
  g_string_append_c(of->out, '}');
  of->any = true;
  if (of->out->len < PIECE) return true;
  of->status = of->sink->write(of->sink->context, of->out->str, of->out->len);
  g_string_truncate(of->out, 0);
  return of->status == TT_OK;
}

static tt_status write_all(latest *of, tt_store_reader *reader, tt_error *error) {
  const GArray *devices = of->names->devices;
  if (!reader->latest)
    return tt_fail(error, TT_INVALID, "this kind of store doesn't say what is latest");
  if (!*of->query->devices) return reader->latest(reader, -1, take, of, error);
  for (guint d = 0; d < devices->len && of->status == TT_OK; d++)
    TT_TRY(reader->latest(reader, g_array_index(devices, int, d), take, of, error));
  return TT_OK;
}

static tt_status write_latest(latest *of, tt_error *error) {
  tt_store_reader *reader;
  for (guint d = 0; d < of->names->devices->len; d++) {
    int device = g_array_index(of->names->devices, int, d);
    g_hash_table_insert(of->devices, GINT_TO_POINTER(device + 1),
                        device_part(of->collector, device));
  }
  for (guint i = 0; i < of->names->fields->len; i++)
    g_ptr_array_add(of->fields,
                    field_part(of->collector, g_array_index(of->names->fields, int, i)));
  TT_TRY(tt_collector_open_reader(of->collector, &reader, error));
  g_string_append_c(of->out, '[');
  tt_status status = write_all(of, reader, error);
  reader->close(reader);
  if (status == TT_OK) status = of->status;
  if (status != TT_OK) return status;
  g_string_append(of->out, "\n]\n");
  return of->sink->write(of->sink->context, of->out->str, of->out->len);
}

/** The other keys would mean nothing. */
static tt_status check(const tt_table_query *query, tt_error *error) {
  bool spans = query->from != INT64_MIN || query->to != INT64_MAX || query->limit || query->pages;
  bool shapes = query->points || query->bucket != TT_BUCKET_SIZES || query->tall || query->count ||
                query->fill_previous || query->origin_kind != TT_ORIGIN_FIRST;
  if (!spans && !shapes) return TT_OK;
  return tt_fail(
      error, TT_INVALID,
      "the latest values are asked for by device, fields and zone; leave out other keys");
}

tt_status tt_table_write_latest(tt_collector *collector, const tt_table_query *query,
                                const tt_table_sink *sink, tt_error *error) {
  tt_table_names names;
  TT_TRY(check(query, error));
  tt_status status = tt_table_names_resolve(collector, query, &names, error);
  latest of = {.collector = collector,
               .names = &names,
               .devices = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free),
               .fields = g_ptr_array_new_with_free_func(g_free),
               .query = query,
               .sink = sink,
               .out = g_string_sized_new(PIECE + 4096)};
  if (status == TT_OK) status = write_latest(&of, error);
  g_string_free(of.out, TRUE);
  g_ptr_array_unref(of.fields);
  g_hash_table_unref(of.devices);
  tt_table_names_clear(&names);
  return status;
}

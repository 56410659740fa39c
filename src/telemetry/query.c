/* query.c: the query string of a table. */
#include "base/nearest.h"
#include "model/unit.h"
#include "telemetry/table.h"
#include "telemetry/text.h"

#include <math.h>
#include <string.h>

/** More names than this are no query but an attack. */
#define MAX_NAMES 1000

/** ISO 8601, µs UTC, or seconds from now: "-60 s", "-5 min". */
static tt_status parse_time(const char *key, const char *text, int64_t now, int64_t *us,
                            tt_error *error) {
  double seconds;
  if (tt_iso_parse(text, us)) return TT_OK;
  if (strchr(text, ' ') && tt_quantity_parse(text, TT_TIME, &seconds) && fabs(seconds) < 1e10) {
    *us = now + llround(seconds * 1e6);
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID,
                 "%s: '%.64s' is no time; give ISO 8601 (2026-11-20T19:30:00Z), microseconds UTC, "
                 "or '-60 s' from now",
                 key, text);
}

static tt_status add_names(GPtrArray *names, const char *key, const char *text, tt_error *error) {
  char **parts = g_strsplit(text, ",", MAX_NAMES + 1);
  tt_status status = TT_OK;
  for (char **part = parts; *part; part++) {
    if (!**part) continue;
    if (names->len >= MAX_NAMES) {
      status = tt_fail(error, TT_INVALID, "%s: more than %d names", key, MAX_NAMES);
      break;
    }
    g_ptr_array_add(names, g_strdup(*part));
  }
  g_strfreev(parts);
  return status;
}

static tt_status take_origin(tt_table_query *query, const char *value, int64_t now,
                             tt_error *error) {
  if (!strcmp(value, "device") || !strcmp(value, "first")) {
    query->origin_kind = *value == 'd' ? TT_ORIGIN_DEVICE : TT_ORIGIN_FIRST;
    return TT_OK;
  }
  query->origin_kind = TT_ORIGIN_GIVEN;
  return parse_time("origin", value, now, &query->origin, error);
}

static tt_status take_limit(tt_table_query *query, const char *value, tt_error *error) {
  char *end;
  query->limit = g_ascii_strtoull(value, &end, 10);
  if (!g_ascii_isdigit(*value) || *end)
    return tt_fail(error, TT_INVALID, "limit: '%.32s' is no number", value);
  return TT_OK;
}

static tt_status take_choice(const char *key, const char *value, const char *no, const char *yes,
                             bool *chosen, tt_error *error) {
  *chosen = !strcmp(value, yes);
  if (*chosen || !strcmp(value, no)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: '%.32s' is neither %s nor %s", key, value, no, yes);
}

static tt_status take_format(tt_table_query *query, const char *value, tt_error *error) {
  static const char *const names[] = {
      [TT_TABLE_XML] = "xml", [TT_TABLE_CSV] = "csv", [TT_TABLE_JSON] = "json"};
  for (int i = 0; i < 3; i++) {
    if (strcmp(value, names[i])) continue;
    query->format = (tt_table_format)i;
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID, "format: '%.32s' is not one of xml, csv, json", value);
}

static tt_status take_key(tt_table_query *query, GPtrArray *devices, GPtrArray *fields,
                          const char *key, const char *value, int64_t now, tt_error *error) {
  static const char *const keys[] = {"device", "fields", "from",  "to",     "origin",
                                     "time",   "fill",   "limit", "format", NULL};
  if (!strcmp(key, "device")) return add_names(devices, key, value, error);
  if (!strcmp(key, "fields")) return add_names(fields, key, value, error);
  if (!strcmp(key, "from")) return parse_time(key, value, now, &query->from, error);
  if (!strcmp(key, "to")) return parse_time(key, value, now, &query->to, error);
  if (!strcmp(key, "origin")) return take_origin(query, value, now, error);
  if (!strcmp(key, "time")) return take_choice(key, value, "clock", "iso", &query->iso, error);
  if (!strcmp(key, "fill"))
    return take_choice(key, value, "none", "previous", &query->fill_previous, error);
  if (!strcmp(key, "limit")) return take_limit(query, value, error);
  if (!strcmp(key, "format")) return take_format(query, value, error);
  tt_nearest nearest = tt_nearest_start(key);
  for (int i = 0; keys[i]; i++) tt_nearest_offer(&nearest, keys[i]);
  return tt_fail(error, TT_INVALID,
                 "'%.32s' is no key of a query%s%s; the keys are device, fields, from, to, "
                 "origin, time, fill, limit, format",
                 key, nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "");
}

/** Percent-encoding and '+'; NULL where it is malformed or no UTF-8. */
static char *decode(const char *text) {
  char *spaced = g_strdup(text);
  g_strdelimit(spaced, "+", ' ');
  char *decoded = g_uri_unescape_string(spaced, NULL);
  g_free(spaced);
  if (decoded && !g_utf8_validate(decoded, -1, NULL)) g_clear_pointer(&decoded, g_free);
  return decoded;
}

static tt_status parse_pair(const char *pair, tt_table_query *query, GPtrArray *devices,
                            GPtrArray *fields, int64_t now, tt_error *error) {
  char **sides = g_strsplit(pair, "=", 2);
  char *key = decode(sides[0]), *value = decode(sides[1] ? sides[1] : "");
  tt_status status =
      key && value ? take_key(query, devices, fields, key, value, now, error)
                   : tt_fail(error, TT_INVALID, "'%.64s' is not properly percent-encoded", pair);
  g_free(key);
  g_free(value);
  g_strfreev(sides);
  return status;
}

tt_status tt_table_query_parse(const char *text, int64_t now, tt_table_query *query,
                               tt_error *error) {
  *query = (tt_table_query){.from = INT64_MIN, .to = INT64_MAX, .format = TT_TABLE_JSON};
  GPtrArray *devices = g_ptr_array_new_with_free_func(g_free),
            *fields = g_ptr_array_new_with_free_func(g_free);
  char **pairs = g_strsplit(text ? text : "", "&", -1);
  tt_status status = TT_OK;
  for (char **pair = pairs; *pair && status == TT_OK; pair++) {
    if (**pair) status = parse_pair(*pair, query, devices, fields, now, error);
  }
  g_strfreev(pairs);
  g_ptr_array_add(devices, NULL);
  g_ptr_array_add(fields, NULL);
  query->devices = (char **)g_ptr_array_free(devices, FALSE);
  query->fields = (char **)g_ptr_array_free(fields, FALSE);
  if (status == TT_OK && query->from > query->to) {
    status = tt_fail(error, TT_INVALID, "from is later than to");
  }
  if (status != TT_OK) tt_table_query_clear(query);
  return status;
}

void tt_table_query_clear(tt_table_query *query) {
  g_strfreev(query->devices);
  g_strfreev(query->fields);
  query->devices = query->fields = NULL;
}

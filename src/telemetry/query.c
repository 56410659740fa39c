/* query.c: the query string of a table. */
#include "base/nearest.h"
#include "model/unit.h"
#include "telemetry/table.h"
#include "telemetry/text.h"

#include <math.h>
#include <string.h>

/** More names than this are no query but an attack. */
#define MAX_NAMES 1000

/** ISO 8601, also where the + of an offset became a space, as it does in a query that is not escaped. */
static bool parse_iso(const char *text, int64_t *us) {
  char escaped[40];
  const size_t size = strlen(text);
  if (tt_iso_parse(text, us)) return true;
  if (size < 6 || size >= sizeof escaped || text[size - 6] != ' ' || text[size - 3] != ':')
    return false;
  memcpy(escaped, text, size + 1);
  escaped[size - 6] = '+';
  return tt_iso_parse(escaped, us);
}

/** As microseconds it would be in the first moment of 1970, so that all there is would be shown, or removed. */
static bool is_year(const char *text) {
  return strspn(text, "0123456789") == 4 && !text[4] &&
         (strncmp(text, "19", 2) == 0 || strncmp(text, "20", 2) == 0);
}

tt_status tt_table_time_parse(const char *key, const char *text, int64_t now, int64_t *us,
                              tt_error *error) {
  double seconds;
  if (!is_year(text) && parse_iso(text, us)) return TT_OK;
  if (strchr(text, ' ') && tt_quantity_parse(text, TT_TIME, &seconds) && fabs(seconds) < 1e10) {
    *us = now + llround(seconds * 1e6);
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID,
                 "%s: '%.64s' is no time; give ISO 8601 (2026-11-20T19:30:00Z), microseconds UTC, "
                 "or '-60 s' from now",
                 key, text);
}

/** The next name of a list; `*at` goes behind it. A comma ends it, but for one behind a backslash, which is a character of the name, as is
 *  a second backslash. */
static char *next_name(const char **at) {
  GString *name = g_string_new(NULL);
  const char *c = *at;
  for (; *c && *c != ','; c++) {
    if (c[0] == '\\' && (c[1] == ',' || c[1] == '\\')) c++;
    g_string_append_c(name, *c);
  }
  *at = *c ? c + 1 : c;
  return g_string_free(name, FALSE);
}

static tt_status add_names(GPtrArray *names, const char *key, const char *text, tt_error *error) {
  for (const char *at = text; *at;) {
    char *name = next_name(&at);
    if (*name && names->len >= MAX_NAMES) {
      g_free(name);
      return tt_fail(error, TT_INVALID, "%s: more than %d names", key, MAX_NAMES);
    }
    *name ? g_ptr_array_add(names, name) : g_free(name);
  }
  return TT_OK;
}

static tt_status take_origin(tt_table_query *query, const char *value, int64_t now,
                             tt_error *error) {
  if (!strcmp(value, "device") || !strcmp(value, "first")) {
    query->origin_kind = *value == 'd' ? TT_ORIGIN_DEVICE : TT_ORIGIN_FIRST;
    return TT_OK;
  }
  query->origin_kind = TT_ORIGIN_GIVEN;
  return tt_table_time_parse("origin", value, now, &query->origin, error);
}

static tt_status take_number(const char *key, const char *value, uint64_t *number,
                             tt_error *error) {
  char *end;
  *number = g_ascii_strtoull(value, &end, 10);
  if (!g_ascii_isdigit(*value) || *end)
    return tt_fail(error, TT_INVALID, "%s: '%.32s' is no number", key, value);
  return TT_OK;
}

static tt_status take_choice(const char *key, const char *value, const char *no, const char *yes,
                             bool *chosen, tt_error *error) {
  *chosen = !strcmp(value, yes);
  if (*chosen || !strcmp(value, no)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: '%.32s' is neither %s nor %s", key, value, no, yes);
}

/** The index of a word in a list ended by NULL. */
static tt_status take_word(const char *key, const char *value, const char *const *words, int *index,
                           tt_error *error) {
  for (*index = 0; words[*index]; (*index)++) {
    if (!strcmp(value, words[*index])) return TT_OK;
  }
  char *all = g_strjoinv(", ", (char **)words);
  tt_status status = tt_fail(error, TT_INVALID, "%s: '%.32s' is not one of %s", key, value, all);
  g_free(all);
  return status;
}

static tt_status take_format(tt_table_query *query, const char *value, tt_error *error) {
  static const char *const names[] = {
      [TT_TABLE_XML] = "xml", [TT_TABLE_CSV] = "csv", [TT_TABLE_JSON] = "json", NULL};
  int index;
  TT_TRY(take_word("format", value, names, &index, error));
  query->format = (tt_table_format)index;
  return TT_OK;
}

static tt_status take_time(tt_table_query *query, const char *value, tt_error *error) {
  bool iso;
  TT_TRY(take_choice("time", value, "clock", "iso", &iso, error));
  query->time = iso ? TT_TIME_ISO : TT_TIME_CLOCK;
  return TT_OK;
}

/** A + that was not percent-encoded has become a space. */
static tt_status take_zone(tt_table_query *query, const char *value, tt_error *error) {
  char *name = g_strdup(value);
  if (*name == ' ') *name = '+';
  g_clear_pointer(&query->zone, g_time_zone_unref);
  bool known = tt_zone_parse(name, &query->zone);
  g_free(name);
  if (known) {
    if (query->time == TT_TIME_UNSET) query->time = TT_TIME_ISO;
    return TT_OK;
  }
  return tt_fail(
      error, TT_INVALID,
      "zone: '%.64s' is no time zone; give Z, an offset (+02:00), or a name this machine knows "
      "(Europe/Berlin)",
      value);
}

static tt_status take_order(tt_table_query *query, const char *value, tt_error *error) {
  query->pages = true;
  return take_choice("order", value, "oldest", "newest", &query->newest_first, error);
}

static tt_status take_bucket(tt_table_query *query, const char *value, tt_error *error) {
  int size;
  TT_TRY(take_word("bucket", value, tt_bucket_size_names, &size, error));
  query->bucket = (tt_bucket_size)size;
  return TT_OK;
}

static tt_status take_points(tt_table_query *query, const char *value, tt_error *error) {
  uint64_t points;
  TT_TRY(take_number("points", value, &points, error));
  if (points < 2 || points > TT_TABLE_POINTS)
    return tt_fail(error, TT_INVALID, "points: %.32s is not 2 to %d", value, TT_TABLE_POINTS);
  query->points = (uint32_t)points;
  return TT_OK;
}

/** What is gathered while a query is read. */
typedef struct reading {
  tt_table_query *query;
  GPtrArray *devices, *fields;
  int64_t now;
  char *cursor;
  uint32_t given; /**< a bit for each of `keys` */
} reading;

static const char *const keys[] = {"device", "fields", "from",   "to",     "origin", "time",
                                   "zone",   "fill",   "limit",  "format", "order",  "cursor",
                                   "count",  "points", "bucket", "shape",  NULL};
/** So many of them are lists, which may come in parts. */
#define LISTS 2

/** Of two values of one key, none is the one that was meant. */
static tt_status note_given(reading *reading, const char *key, tt_error *error) {
  int index = LISTS;
  while (keys[index] && strcmp(keys[index], key)) index++;
  if (!keys[index]) return TT_OK;
  const uint32_t bit = UINT32_C(1) << index;
  if (reading->given & bit)
    return tt_fail(error, TT_INVALID, "%s stands there twice; give it once", key);
  reading->given |= bit;
  return TT_OK;
}

static tt_status take_key(reading *reading, const char *key, const char *value, tt_error *error) {
  tt_table_query *query = reading->query;
  TT_TRY(note_given(reading, key, error));
  if (!strcmp(key, "device")) return add_names(reading->devices, key, value, error);
  if (!strcmp(key, "fields")) return add_names(reading->fields, key, value, error);
  if (!strcmp(key, "from"))
    return tt_table_time_parse(key, value, reading->now, &query->from, error);
  if (!strcmp(key, "to")) return tt_table_time_parse(key, value, reading->now, &query->to, error);
  if (!strcmp(key, "origin")) return take_origin(query, value, reading->now, error);
  if (!strcmp(key, "time")) return take_time(query, value, error);
  if (!strcmp(key, "zone")) return take_zone(query, value, error);
  if (!strcmp(key, "fill"))
    return take_choice(key, value, "none", "previous", &query->fill_previous, error);
  if (!strcmp(key, "limit")) return take_number(key, value, &query->limit, error);
  if (!strcmp(key, "format")) return take_format(query, value, error);
  if (!strcmp(key, "order")) return take_order(query, value, error);
  if (!strcmp(key, "count")) return take_choice(key, value, "no", "yes", &query->count, error);
  if (!strcmp(key, "points")) return take_points(query, value, error);
  if (!strcmp(key, "bucket")) return take_bucket(query, value, error);
  if (!strcmp(key, "shape")) return take_choice(key, value, "wide", "tall", &query->tall, error);
  if (!strcmp(key, "cursor")) {
    reading->cursor = g_strdup(value);
    return TT_OK;
  }
  tt_nearest nearest = tt_nearest_start(key);
  for (int i = 0; keys[i]; i++) tt_nearest_offer(&nearest, keys[i]);
  char *all = g_strjoinv(", ", (char **)keys);
  tt_status status =
      tt_fail(error, TT_INVALID, "'%.32s' is no key of a query%s%s; the keys are %s", key,
              nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "", all);
  g_free(all);
  return status;
}

/* --- cursors: the moment at which a page ended, and which way it went --- */

#define OLDEST_FIRST "after-"
#define NEWEST_FIRST "before-"

char *tt_table_cursor(const tt_table_query *query, int64_t time) {
  return g_strdup_printf("%s%" G_GINT64_FORMAT, query->newest_first ? NEWEST_FIRST : OLDEST_FIRST,
                         time);
}

/** The rest of what is asked for begins behind the cursor. */
static tt_status apply_cursor(const char *cursor, tt_table_query *query, tt_error *error) {
  const char *way = query->newest_first ? NEWEST_FIRST : OLDEST_FIRST;
  const char *number = g_str_has_prefix(cursor, way) ? cursor + strlen(way) : "";
  char *end;
  int64_t time = g_ascii_strtoll(number, &end, 10);
  if (!*number || *end || time == INT64_MIN || time == INT64_MAX) {
    return tt_fail(error, TT_INVALID,
                   "cursor: '%.64s' is not where a table with order=%s ended; give the other keys "
                   "as they were",
                   cursor, query->newest_first ? "newest" : "oldest");
  }
  query->pages = true;
  if (query->newest_first)
    query->to = MIN(query->to, time - 1);
  else
    query->from = MAX(query->from, time + 1);
  return TT_OK;  // from behind to now says that nothing is left
}

/* --- what belongs together --- */

/** What stretches of time have no place for. */
static tt_status check_stretches(const tt_table_query *query, tt_error *error) {
  const char *key = query->points ? "points" : "bucket";
  if (query->points && query->bucket != TT_BUCKET_SIZES)
    return tt_fail(error, TT_INVALID, "points and bucket exclude each other");
  if (query->pages || query->count)
    return tt_fail(error, TT_INVALID, "%s: order, cursor and count are of records; leave them out",
                   key);
  if (query->fill_previous)
    return tt_fail(error, TT_INVALID, "%s: fill=previous is of records; leave it out", key);
  if (query->origin_kind == TT_ORIGIN_DEVICE)
    return tt_fail(error, TT_INVALID,
                   "%s: stretches of time have no device time; give another origin", key);
  return TT_OK;
}

/** A table of a new kind has ISO times, unless an origin is named: there is no first record to count from. */
static tt_status settle_time(tt_table_query *query, tt_error *error) {
  bool counts_from_first = query->origin_kind == TT_ORIGIN_FIRST;
  bool no_first = query->pages || query->points || query->bucket != TT_BUCKET_SIZES;
  if (query->time == TT_TIME_UNSET)
    query->time = no_first && counts_from_first ? TT_TIME_ISO : TT_TIME_CLOCK;
  if (query->time == TT_TIME_CLOCK && no_first && counts_from_first)
    return tt_fail(error, TT_INVALID, "time=clock: name the origin from which the clock counts");
  if (query->time == TT_TIME_CLOCK && query->zone)
    return tt_fail(error, TT_INVALID, "zone is of ISO times; leave out time=clock");
  return TT_OK;
}

static tt_status check_whole(const reading *reading, tt_error *error) {
  tt_table_query *query = reading->query;
  if (query->from > query->to) return tt_fail(error, TT_INVALID, "from is later than to");
  if (reading->cursor) TT_TRY(apply_cursor(reading->cursor, query, error));
  if (query->newest_first && query->fill_previous)
    return tt_fail(error, TT_INVALID, "fill=previous goes forward in time; leave out order=newest");
  if (query->points || query->bucket != TT_BUCKET_SIZES) TT_TRY(check_stretches(query, error));
  if (query->tall && query->count)
    return tt_fail(
        error, TT_INVALID,
        "count is of moments, of which shape=tall has a record per field; leave out one");
  return settle_time(query, error);
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

static tt_status parse_pair(const char *pair, reading *reading, tt_error *error) {
  char **sides = g_strsplit(pair, "=", 2);
  char *key = decode(sides[0]), *value = decode(sides[1] ? sides[1] : "");
  tt_status status =
      key && value ? take_key(reading, key, value, error)
                   : tt_fail(error, TT_INVALID, "'%.64s' is not properly percent-encoded", pair);
  g_free(key);
  g_free(value);
  g_strfreev(sides);
  return status;
}

tt_status tt_table_query_parse(const char *text, int64_t now, tt_table_query *query,
                               tt_error *error) {
  *query = (tt_table_query){
      .from = INT64_MIN, .to = INT64_MAX, .format = TT_TABLE_JSON, .bucket = TT_BUCKET_SIZES};
  reading reading = {.query = query,
                     .devices = g_ptr_array_new_with_free_func(g_free),
                     .fields = g_ptr_array_new_with_free_func(g_free),
                     .now = now};
  char **pairs = g_strsplit(text ? text : "", "&", -1);
  tt_status status = TT_OK;
  for (char **pair = pairs; *pair && status == TT_OK; pair++) {
    if (**pair) status = parse_pair(*pair, &reading, error);
  }
  g_strfreev(pairs);
  g_ptr_array_add(reading.devices, NULL);
  g_ptr_array_add(reading.fields, NULL);
  query->devices = (char **)g_ptr_array_free(reading.devices, FALSE);
  query->fields = (char **)g_ptr_array_free(reading.fields, FALSE);
  if (status == TT_OK) status = check_whole(&reading, error);
  g_free(reading.cursor);
  if (status != TT_OK) tt_table_query_clear(query);
  return status;
}

void tt_table_query_clear(tt_table_query *query) {
  g_strfreev(query->devices);
  g_strfreev(query->fields);
  query->devices = query->fields = NULL;
  g_clear_pointer(&query->zone, g_time_zone_unref);
}

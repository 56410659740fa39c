/* query_fuzz.c: any query string: read or refused with a reason; its times can be written in its zone, and where a page of it
 * ended is where the next one goes on.
 */
#include "telemetry/table_internal.h"
#include "telemetry/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/** What must hold of a query that was read. */
static void check(const tt_table_query *query) {
  bool stretches = query->points || query->bucket != TT_BUCKET_SIZES;
  assert(query->devices && query->fields && (query->pages || query->from <= query->to));
  assert(query->time == TT_TIME_CLOCK || query->time == TT_TIME_ISO);
  assert(query->points <= TT_TABLE_POINTS && query->bucket <= TT_BUCKET_SIZES);
  assert(!stretches || !(query->pages || query->count || query->fill_previous));
  assert(!query->zone || query->time == TT_TIME_ISO);
}

/** The next page of the same query begins behind `time`, whatever else is asked. */
static void check_cursor(const char *text, const tt_table_query *query, int64_t time) {
  char *cursor = tt_table_cursor(query, time);
  char *next = g_strdup_printf("%s&cursor=%s", text, cursor);
  tt_table_query read;
  tt_error error;
  if (tt_table_query_parse(next, 0, &read, &error) == TT_OK) {
    assert(query->newest_first ? read.to < time : read.from > time);
    tt_table_query_clear(&read);
  } else {
    assert(!strcmp(error.text, "cursor stands there twice; give it once"));
  }
  g_free(next);
  g_free(cursor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = g_strndup((const char *)data, size);
  tt_table_query query;
  tt_error error = {""};
  if (tt_table_query_parse(text, 0, &query, &error) == TT_OK) {
    check(&query);
    char time[TT_ISO_SIZE];
    int64_t from = query.from > INT64_MIN ? query.from : 0;
    tt_iso_format_zone(time, from, query.zone);
    if (query.pages) check_cursor(text, &query, from);
    tt_table_query_clear(&query);
  } else {
    assert(*error.text);
  }
  g_free(text);
  return 0;
}

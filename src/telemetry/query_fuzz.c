/* query_fuzz.c: any query string: read or refused with a reason, and its times can be written. */
#include "telemetry/table.h"
#include "telemetry/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = g_strndup((const char *)data, size);
  tt_table_query query;
  tt_error error = {""};
  if (tt_table_query_parse(text, 0, &query, &error) == TT_OK) {
    assert(query.devices && query.fields && query.from <= query.to);
    char time[TT_ISO_SIZE];
    if (query.from > INT64_MIN) tt_iso_format(time, query.from);
    tt_table_query_clear(&query);
  } else {
    assert(*error.text);
  }
  g_free(text);
  return 0;
}

/* sweep_query_fuzz.c: any query string: a query whose every number is in range, and that SQLite takes, or a reason. */
#include "sweep/query.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const tt_sweep_column columns[] = {
    {"id", "", TT_SWEEP_ROLE_RUN, true},           {"status", "", TT_SWEEP_ROLE_RUN, true},
    {"heading", "rad", TT_SWEEP_ROLE_AXIS, false}, {"a \"b\" c", "", TT_SWEEP_ROLE_AXIS, true},
    {"final_y", "m", TT_SWEEP_ROLE_METRIC, false},
};
#define COUNT ((int)(sizeof columns / sizeof *columns))

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  tt_sweep_query query;
  tt_error error = {""};
  memcpy(text, data, size);
  text[size] = 0;
  if (tt_sweep_query_read(text, columns, COUNT, &query, &error) != TT_OK) {
    assert(*error.text);
  } else {
    assert(query.limit >= 1 && query.limit <= TT_SWEEP_MAX_ROWS);
    assert(query.sort >= -1 && query.sort < COUNT);
    assert(query.column_count <= COUNT && query.condition_count <= TT_SWEEP_MAX_CONDITIONS);
    for (int i = 0; i < query.condition_count; i++) {
      assert(query.conditions[i].column >= 0 && query.conditions[i].column < COUNT);
      assert(!isnan(query.conditions[i].least) && !isnan(query.conditions[i].greatest));
      assert(memchr(query.conditions[i].text, 0, sizeof query.conditions[i].text));
    }
  }
  free(text);
  return 0;
}

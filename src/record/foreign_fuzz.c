/* Any bytes as a log of another program: refused, or a log that reads, in order of time. */
#include "record/foreign.h"
#include "record/wpilog.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_status append(void *context, const void *bytes, size_t size) {
  tt_bytes *out = context;
  tt_bytes_append(out, bytes, size);
  return out->failed ? TT_NOMEM : TT_OK;
}

static void look(const tt_bytes *made) {
  tt_wpilog_record record;
  size_t offset;
  uint64_t time = 0;
  if (tt_wpilog_check(made->data, made->size, &offset, NULL) != TT_OK) abort();
  while (tt_wpilog_next(made->data, made->size, &offset, &record) == TT_OK) {
    if (record.timestamp < time) abort();
    time = record.timestamp;
  }
  if (offset != made->size || tt_foreign_is(made->data, made->size)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_bytes made = {0};
  tt_error error;
  const tt_export_sink sink = {.write = append, .context = &made};
  if (tt_foreign_convert(data, size, "log", 0, &sink, &error) == TT_OK) look(&made);
  tt_bytes_free(&made);
  return 0;
}

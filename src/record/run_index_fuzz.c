/* Any words as the index of a log: refused, or a log whose cursors stay inside its bytes. */
#include <stdlib.h>
#include <string.h>

#include "record/derive.h"
#include "record/run_log_internal.h"

#define HEAD 3 /* words that only a forger would get right: magic, size, time */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static tt_bytes make_log(void) {
  tt_bytes made = {0};
  tt_wpilog_write_header(&made, "");
  tt_wpilog_write_start(&made, 1, "/signals/a", "double", "", 0);
  tt_wpilog_write_start(&made, 2, "/events", "string", "", 0);
  for (uint64_t i = 0; i < 4; i++) tt_wpilog_write_double(&made, 1, i * 1000, (double)i);
  tt_wpilog_write_string(&made, 2, 3000, "web: paused");
  return made;
}

static void look(const tt_run_log *log) {
  static const uint64_t times[] = {0, 1500, UINT64_MAX};
  tt_run_cursor cursor;
  tt_wpilog_record record;
  if (!tt_run_cursor_open(&cursor, log)) abort();
  for (size_t t = 0; t < sizeof times / sizeof *times; t++) {
    tt_run_cursor_seek(&cursor, times[t]);
    for (uint32_t i = 0; i < log->entry_count; i++)
      if (tt_run_cursor_value(&cursor, i, &record) &&
          (record.payload < log->data || record.payload + record.size > log->data + log->size))
        abort();
  }
  tt_run_cursor_close(&cursor);
  if (tt_run_log_epoch(log, UINT64_MAX) > log->break_count) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static tt_bytes bytes;
  if (!bytes.data) bytes = make_log();
  tt_run_log log = {.data = bytes.data, .size = bytes.size};
  tt_error error;
  if (tt_wpilog_check(log.data, log.size, &log.first, &error) != TT_OK) abort();
  size_t count = HEAD + size / 8 + 1;
  uint64_t *words = calloc(count, sizeof *words);
  if (!words) abort();
  words[0] = 0x3230584449545454u;
  words[1] = log.size;
  words[2] = log.modified;
  memcpy(words + HEAD, data, size / 8 * 8);
  words[count - 1] = tt_run_index_checksum(words, count);
  if (tt_run_index_take(&log, words, count)) {
    if (tt_run_log_derive(&log) != TT_OK) abort();
    look(&log);
  }
  tt_derivation_free(log.derivation);
  tt_run_log_forget(&log);
  free(words);
  return 0;
}

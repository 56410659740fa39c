/* Fuzz target: any bytes as a run log: its index, its values at any time, its journal, its exports. */
#include "record/export.h"
#include "record/journal_codec.h"
#include "record/run_log.h"
#include "record/summary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static tt_status count_bytes(void *context, const void *bytes, size_t size) {
  (void)bytes;
  *(size_t *)context += size;
  return TT_OK;
}

static void walk(const tt_run_log *log) {
  static const char *const names[] = {TT_JOURNAL, TT_JOURNAL_PREFIX "wire"};
  tt_run_cursor cursor;
  tt_wpilog_record record;
  tt_submission room[64];
  tt_journal_scratch scratch = {.submissions = room, .capacity = 64};
  tt_entry entry;
  void *state;
  size_t size;
  if (!tt_run_cursor_open(&cursor, log)) return;
  while (tt_run_cursor_next(&cursor, &record) == TT_OK)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (tt_journal_decode(names[i], record.payload, record.size, &scratch, &entry) == TT_OK) {
        assert(entry.count <= 64);
        if (entry.kind != TT_ENTRY_STATE) continue;
        tt_journal_unpack_state(&entry, &state, &size);
        free(state);
      }
  tt_run_cursor_seek(&cursor, tt_run_log_duration(log) / 2);
  uint32_t count;
  tt_run_log_entries(log, &count);
  for (uint32_t i = 0; i <= count; i++) tt_run_cursor_value(&cursor, i, &record);
  tt_run_cursor_close(&cursor);
}

static void export_all(const tt_run_log *log) {
  size_t size = 0;
  const tt_export_sink sink = {.write = count_bytes, .context = &size};
#define EXPORT(name, function) function(log, &sink);
  TT_EXPORT_FORMATS(EXPORT)
#undef EXPORT
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64];
  tt_run_log *log;
  int file = memfd_create("log", 0);
  if (file < 0) return 0;
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  if (write(file, data, size) == (ssize_t)size && tt_run_log_open(path, &log, NULL) == TT_OK) {
    walk(log);
    export_all(log);
    tt_run_log_close(log);
  }
  close(file);
  return 0;
}

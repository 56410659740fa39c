/* export_wpilog.c: a run as a log in which everything stands: for viewers, which know nothing of what follows from what. */
#include "record/checksum.h"
#include "record/export.h"

#include <string.h>

static bool is_checksum(const tt_run_entry *entry) {
  return strcmp(entry->name, TT_CHECKSUM_ENTRY) == 0; /* of another file's bytes */
}

static void flush(tt_export_buffer *out, tt_bytes *record) {
  if (record->failed) out->status = TT_NOMEM;
  tt_export_put(out, record->data, record->size);
  tt_bytes_cut(record, 0);
}

static void put_starts(tt_export_buffer *out, tt_bytes *record, const tt_run_log *log) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  tt_wpilog_write_header(record, "tether " TETHER_VERSION);
  for (uint32_t i = 1; i < count; i++)
    if (entries[i].name && !is_checksum(&entries[i]))
      tt_wpilog_write_start(record, i, entries[i].name, entries[i].type, entries[i].metadata, 0);
  flush(out, record);
}

static void put_records(tt_export_buffer *out, tt_bytes *buffer, tt_run_cursor *cursor) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(cursor->log, &count);
  tt_wpilog_record record;
  while (out->status == TT_OK && tt_run_cursor_next(cursor, &record) == TT_OK) {
    if (!entries[record.entry].name || is_checksum(&entries[record.entry])) continue;
    tt_wpilog_write(buffer, record.entry, record.timestamp, record.payload, record.size);
    flush(out, buffer);
    tt_export_progress(out->sink, cursor);
  }
}

tt_status tt_export_wpilog(const tt_run_log *log, const tt_export_sink *sink) {
  tt_run_cursor cursor;
  tt_export_buffer out;
  tt_bytes buffer = {0};
  if (!tt_run_cursor_open(&cursor, log)) return TT_NOMEM;
  tt_export_begin(&out, sink);
  put_starts(&out, &buffer, log);
  put_records(&out, &buffer, &cursor);
  tt_bytes_free(&buffer);
  tt_run_cursor_close(&cursor);
  return tt_export_end(&out);
}

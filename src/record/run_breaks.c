/* run_breaks.c: where a run does not go on from what was before: its world was reset, or another state was put in its place. */
#include "record/journal_codec.h"
#include "record/run_log_internal.h"

#include <stdlib.h>

/* One robot that is put back is no break: the others go on. */
static bool breaks(const tt_run_log *log, const tt_wpilog_record *record) {
  tt_journal_scratch scratch = {0};
  tt_entry entry;
  bool may = record->size > 0 &&
             (record->payload[0] == TT_ENTRY_RESET || record->payload[0] == TT_ENTRY_STATE);
  return may &&
         tt_journal_decode(log->entries[record->entry].name, record->payload, record->size,
                           &scratch, &entry) == TT_OK &&
         (entry.kind == TT_ENTRY_STATE || entry.robot == TT_NO_ROBOT);
}

tt_status tt_run_log_add_break(tt_run_log *log, uint64_t time) {
  size_t count = log->break_count;
  if ((count & (count - 1)) == 0) { /* full: 0, 1, 2, 4, … */
    uint64_t *grown = realloc(log->breaks, (count ? 2 * count : 1) * sizeof *grown);
    if (!grown) return TT_NOMEM;
    log->breaks = grown;
  }
  log->breaks[log->break_count++] = time;
  return TT_OK;
}

tt_status tt_run_log_note_break(tt_run_log *log, const tt_wpilog_record *record) {
  if (!log->entries[record->entry].journal || !breaks(log, record)) return TT_OK;
  return tt_run_log_add_break(log, record->timestamp);
}

uint32_t tt_run_log_epoch(const tt_run_log *log, uint64_t time) {
  size_t low = 0, high = log->break_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (log->breaks[middle] < time)
      low = middle + 1;
    else
      high = middle;
  }
  return (uint32_t)low;
}

/* run_entries.c: the entries of a log: announced, found, forgotten. */
#include "record/derive.h"
#include "record/journal_codec.h"
#include "record/run_log_internal.h"

#include <stdlib.h>
#include <string.h>

static char *copy_text(const char *text, uint32_t size) { return strndup(text, size); }

static tt_status grow_entries(tt_run_log *log, uint32_t id) {
  if (id < log->entry_count) return TT_OK;
  if (id >= TT_RUN_MOST_ENTRIES) return TT_FULL;
  size_t *starts = realloc(log->starts, ((size_t)id + 1) * sizeof *starts);
  if (!starts) return TT_NOMEM;
  log->starts = starts;
  tt_run_entry *grown = realloc(log->entries, ((size_t)id + 1) * sizeof *grown);
  if (!grown) return TT_NOMEM;
  memset(grown + log->entry_count, 0, ((size_t)id + 1 - log->entry_count) * sizeof *grown);
  memset(starts + log->entry_count, 0, ((size_t)id + 1 - log->entry_count) * sizeof *starts);
  log->entries = grown;
  log->entry_count = id + 1;
  return TT_OK;
}

tt_status tt_run_log_reserve(tt_run_log *log, uint32_t count) {
  return grow_entries(log, log->entry_count + count - 1);
}

/* What was announced while the log grew. */
static void note_journal(tt_run_log *log, uint32_t entry) {
  if (log->derivation && log->entries[entry].journal)
    log->derivation->tracks[entry].kind = TT_TRACK_JOURNAL;
}

tt_status tt_run_log_note_start(tt_run_log *log, const tt_wpilog_record *record, size_t offset) {
  tt_wpilog_start start;
  tt_status status = tt_wpilog_decode_start(record, &start);
  if (status == TT_AGAIN) return TT_OK; /* finish and metadata records say nothing we need */
  TT_TRY(status);
  if (log->kept_count && start.entry >= log->kept_count) return TT_OK;
  TT_TRY(grow_entries(log, start.entry));
  tt_run_entry *entry = &log->entries[start.entry];
  if (entry->name) return TT_OK; /* announced again: the first name holds */
  log->starts[start.entry] = offset;
  entry->name = copy_text(start.name, start.name_size);
  entry->type = copy_text(start.type, start.type_size);
  entry->metadata = copy_text(start.metadata, start.metadata_size);
  entry->journal = entry->name && tt_journal_is_entry(entry->name);
  entry->aside = entry->name && entry->type &&
                 (strncmp(entry->name, "/tether/", 8) == 0 || strcmp(entry->name, "/events") == 0 ||
                  strcmp(entry->type, "boolean") == 0);
  note_journal(log, start.entry);
  return entry->name && entry->type && entry->metadata ? TT_OK : TT_NOMEM;
}

void tt_run_log_forget(tt_run_log *log) {
  for (uint32_t i = 0; i < log->entry_count; i++) {
    free((char *)log->entries[i].name);
    free((char *)log->entries[i].type);
    free((char *)log->entries[i].metadata);
  }
  for (size_t i = 0; i < log->keyframe_count; i++) free(log->keyframes[i].latest);
  free(log->keyframes);
  free(log->breaks);
  free(log->entries);
  free(log->starts);
  log->keyframes = NULL;
  log->breaks = NULL;
  log->break_count = 0;
  log->entries = NULL;
  log->starts = NULL;
  log->keyframe_count = 0;
  log->entry_count = 0;
  log->kept_count = 0;
  log->duration = 0;
}

/* ---- looking ---- */

const tt_run_entry *tt_run_log_entries(const tt_run_log *log, uint32_t *count) {
  *count = log->entry_count;
  return log->entries;
}

uint32_t tt_run_log_find(const tt_run_log *log, const char *name) {
  for (uint32_t i = 1; i < log->entry_count; i++)
    if (log->entries[i].name && strcmp(log->entries[i].name, name) == 0) return i;
  return 0;
}

bool tt_run_log_is_made(const tt_run_log *log, uint32_t entry) { return entry >= log->kept_count; }

uint64_t tt_run_log_duration(const tt_run_log *log) { return log->duration; }

bool tt_run_log_ended(const tt_run_log *log) {
  uint32_t end = tt_run_log_find(log, "/tether/end");
  return end && log->entries[end].records > 0;
}

size_t tt_run_log_size(const tt_run_log *log) { return log->mapped; }

const uint8_t *tt_run_log_data(const tt_run_log *log) { return log->data; }

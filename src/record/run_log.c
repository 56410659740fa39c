#include "base/file.h"
#include "record/run_log_internal.h"

#include "record/derive.h"

#include <json-c/json.h>

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_ENTRIES 1000000u
#define LEAST_INDEXED (32u << 20) /* bytes: a smaller log is read from end to end in no time */
#define KEY_EVERY 10000000u       /* µs of the run between two places of the index */

/* ---- the scan ---- */

static char *copy_text(const char *text, uint32_t size) { return strndup(text, size); }

static tt_status grow_entries(tt_run_log *log, uint32_t id) {
  if (id < log->entry_count) return TT_OK;
  if (id >= MOST_ENTRIES) return TT_FULL;
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

tt_status tt_run_log_note_start(tt_run_log *log, const tt_wpilog_record *record, size_t offset) {
  tt_wpilog_start start;
  tt_status status = tt_wpilog_decode_start(record, &start);
  if (status == TT_AGAIN) return TT_OK; /* finish and metadata records say nothing we need */
  TT_TRY(status);
  TT_TRY(grow_entries(log, start.entry));
  tt_run_entry *entry = &log->entries[start.entry];
  if (entry->name) return TT_OK; /* announced again: the first name holds */
  log->starts[start.entry] = offset;
  entry->name = copy_text(start.name, start.name_size);
  entry->type = copy_text(start.type, start.type_size);
  entry->metadata = copy_text(start.metadata, start.metadata_size);
  entry->journal = entry->name && tt_journal_is_entry(entry->name);
  entry->aside = entry->name &&
                 (strncmp(entry->name, "/tether/", 8) == 0 || strcmp(entry->name, "/events") == 0);
  return entry->name && entry->type && entry->metadata ? TT_OK : TT_NOMEM;
}

static tt_status add_keyframe(tt_run_log *log, const size_t *latest, uint64_t time, size_t offset) {
  tt_run_keyframe *grown = realloc(log->keyframes, (log->keyframe_count + 1) * sizeof *grown);
  if (!grown) return TT_NOMEM;
  log->keyframes = grown;
  tt_run_keyframe *made = &grown[log->keyframe_count];
  *made = (tt_run_keyframe){.time = time, .offset = offset, .latest_count = log->entry_count};
  made->latest = malloc(((size_t)log->entry_count + 1) * sizeof *made->latest);
  if (!made->latest) return TT_NOMEM;
  memcpy(made->latest, latest, (size_t)log->entry_count * sizeof *latest);
  log->keyframe_count++;
  return TT_OK;
}

static tt_status scan_records(tt_run_log *log, size_t *latest) {
  size_t offset = log->first;
  uint64_t next_key = KEY_EVERY;
  tt_wpilog_record record;
  for (size_t at = offset; tt_wpilog_next(log->data, log->size, &offset, &record) == TT_OK;
       at = offset) {
    if (record.entry == 0) {
      tt_status status = tt_run_log_note_start(log, &record, at);
      if (status != TT_OK && status != TT_NOMEM && log->entry_count) {
        log->size =
            at; /* where the power failed, a disk may have kept room for what it never got */
        return TT_OK;
      }
      TT_TRY(status);
      continue;
    }
    if (record.entry >= log->entry_count) continue; /* never announced: nobody can ask for it */
    if (record.timestamp >= next_key && !log->entries[record.entry].aside) {
      TT_TRY(add_keyframe(log, latest, record.timestamp, at));
      next_key = record.timestamp + KEY_EVERY;
    }
    latest[record.entry] = at;
    log->entries[record.entry].records++;
    if (record.timestamp > log->duration) log->duration = record.timestamp;
  }
  return TT_OK;
}

static tt_status scan(tt_run_log *log) {
  size_t *latest =
      calloc(MOST_ENTRIES, sizeof *latest); /* pages that nobody touches cost nothing */
  if (!latest) return TT_NOMEM;
  tt_status status = scan_records(log, latest);
  free(latest);
  return status;
}

/* ---- opening and closing ---- */

static tt_status map(tt_run_log *log, const char *path, tt_error *error) {
  FILE *file;
  struct stat about;
  TT_TRY(tt_file_open(path, &file, error));
  if (fstat(fileno(file), &about) != 0) {
    fclose(file);
    return tt_fail(error, TT_INVALID, "%s: %s", path, strerror(errno));
  }
  log->mapped = log->size = (size_t)about.st_size;
  log->modified = (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec;
  void *data =
      log->size ? mmap(NULL, log->size, PROT_READ, MAP_PRIVATE, fileno(file), 0) : MAP_FAILED;
  fclose(file);
  if (data == MAP_FAILED)
    return tt_fail(error, TT_INVALID, "%s: %s", path, log->size ? strerror(errno) : "is empty");
  log->data = data;
  madvise(data, log->size, MADV_WILLNEED);
  return TT_OK;
}

static tt_status read_all(tt_run_log *log, const char *path) {
  bool indexed = log->size >= LEAST_INDEXED;
  if (indexed && tt_run_index_read(log, path)) return TT_OK;
  TT_TRY(scan(log));
  if (indexed && log->size == log->mapped && !tt_run_log_is_growing(path))
    tt_run_index_write(log, path);
  return TT_OK;
}

static tt_status open_log(tt_run_log *log, const char *path, tt_error *error) {
  tt_error reason;
  TT_TRY(map(log, path, error));
  tt_status status = tt_wpilog_check(log->data, log->size, &log->first, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s: %s", path, reason.text);
  status = read_all(log, path);
  if (status == TT_OK) status = tt_run_log_derive(log);
  if (status != TT_OK)
    return tt_fail(error, status == TT_NOMEM ? TT_NOMEM : TT_INVALID, "%s: can't be read: %s", path,
                   tt_status_text(status));
  return TT_OK;
}

tt_status tt_run_log_open(const char *path, tt_run_log **made, tt_error *error) {
  *made = NULL;
  tt_run_log *log = calloc(1, sizeof *log);
  if (!log) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  tt_status status = open_log(log, path, error);
  if (status != TT_OK) {
    tt_run_log_close(log);
    return status;
  }
  *made = log;
  return TT_OK;
}

tt_status tt_run_log_derive(tt_run_log *log) {
  log->kept_count = log->entry_count;
  return tt_derivation_read(log, &log->entries, &log->entry_count, &log->derivation);
}

void tt_run_log_forget(tt_run_log *log) {
  tt_derivation_free(log->derivation);
  for (uint32_t i = 0; i < log->entry_count; i++) {
    free((char *)log->entries[i].name);
    free((char *)log->entries[i].type);
    free((char *)log->entries[i].metadata);
  }
  for (size_t i = 0; i < log->keyframe_count; i++) free(log->keyframes[i].latest);
  free(log->keyframes);
  free(log->entries);
  free(log->starts);
  log->keyframes = NULL;
  log->entries = NULL;
  log->starts = NULL;
  log->keyframe_count = 0;
  log->derivation = NULL;
  log->entry_count = 0;
  log->kept_count = 0;
  log->duration = 0;
}

void tt_run_log_close(tt_run_log *log) {
  if (!log) return;
  if (log->data) munmap((void *)log->data, log->mapped);
  tt_run_log_forget(log);
  free(log);
}

bool tt_run_log_is_growing(const char *path) {
  FILE *file;
  if (tt_file_open(path, &file, NULL) != TT_OK) return false;
  bool held = flock(fileno(file), LOCK_SH | LOCK_NB) != 0; /* the recorder holds it alone */
  fclose(file);
  return held;
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

/* ---- cursors ---- */

void tt_run_cursor_rewind(tt_run_cursor *cursor) {
  cursor->offset = cursor->log->first;
  cursor->time = 0;
  memset(cursor->latest, 0, ((size_t)cursor->log->kept_count + 1) * sizeof *cursor->latest);
  if (cursor->derived) tt_derived_rewind(cursor->derived);
}

bool tt_run_cursor_open(tt_run_cursor *cursor, const tt_run_log *log) {
  *cursor = (tt_run_cursor){.log = log};
  cursor->latest = malloc(((size_t)log->kept_count + 1) * sizeof *cursor->latest);
  if (log->derivation) cursor->derived = tt_derived_new(log->derivation, log->entries);
  if (!cursor->latest || (log->derivation && !cursor->derived)) {
    tt_run_cursor_close(cursor);
    return false;
  }
  tt_run_cursor_rewind(cursor);
  return true;
}

void tt_run_cursor_close(tt_run_cursor *cursor) {
  tt_derived_free(cursor->derived);
  free(cursor->latest);
  *cursor = (tt_run_cursor){0};
}

/* The next record of the file whose entry is known; the cursor stays before it. `*past` is the offset behind it. */
static bool peek(const tt_run_cursor *cursor, tt_wpilog_record *record, size_t *at, size_t *past) {
  const tt_run_log *log = cursor->log;
  *past = cursor->offset;
  for (;;) {
    *at = *past;
    if (tt_wpilog_next(log->data, log->size, past, record) != TT_OK) return false;
    if (record->entry > 0 && record->entry < log->kept_count) return true;
  }
}

static void take(tt_run_cursor *cursor, const tt_wpilog_record *record, size_t at, size_t past) {
  cursor->latest[record->entry] = at;
  cursor->offset = past;
  if (cursor->derived) tt_derived_feed(cursor->derived, record);
}

static tt_status next(tt_run_cursor *cursor, tt_wpilog_record *record, bool made) {
  tt_wpilog_record kept;
  size_t at, past;
  bool more = peek(cursor, &kept, &at, &past);
  if (made && (!more || tt_derived_begins(cursor->derived, &kept)) &&
      tt_derived_next(cursor->derived, record))
    return TT_OK;
  if (!more) return TT_END;
  take(cursor, &kept, at, past);
  if (kept.timestamp > cursor->time) cursor->time = kept.timestamp;
  *record = kept;
  return TT_OK;
}

tt_status tt_run_cursor_next(tt_run_cursor *cursor, tt_wpilog_record *record) {
  return next(cursor, record, cursor->derived != NULL);
}

tt_status tt_run_cursor_next_kept(tt_run_cursor *cursor, tt_wpilog_record *record) {
  return next(cursor, record, false);
}

void tt_run_cursor_advance(tt_run_cursor *cursor, uint64_t time) {
  tt_wpilog_record record;
  for (size_t at, past; peek(cursor, &record, &at, &past);) {
    if (record.timestamp <= time)
      take(cursor, &record, at, past);
    else if (cursor->log->entries[record.entry].aside && !cursor->derived)
      cursor->offset = past; /* older logs have the journal a little ahead of the samples */
    else
      break; /* samples are in order of time */
  }
  cursor->time = time;
}

/* Feeds again what decides the made entries at a keyframe: the newest of each signal, and the journal since all commands
 * were said. */
static void restore_derived(tt_run_cursor *cursor, size_t until) {
  const tt_run_log *log = cursor->log;
  const tt_derivation *of = log->derivation;
  tt_wpilog_record record;
  size_t offset = log->first;
  for (uint32_t i = 1; i < log->kept_count; i++) {
    size_t at = cursor->latest[i];
    if (at == 0 || of->tracks[i].kind == TT_TRACK_NONE) continue;
    if (of->tracks[i].kind == TT_TRACK_COMMANDS) offset = at;
    if (of->tracks[i].kind == TT_TRACK_SIGNAL &&
        tt_wpilog_next(log->data, log->size, &at, &record) == TT_OK)
      tt_derived_feed(cursor->derived, &record);
  }
  while (offset < until && tt_wpilog_next(log->data, log->size, &offset, &record) == TT_OK)
    if (record.entry > 0 && record.entry < log->kept_count)
      tt_derived_feed(cursor->derived, &record);
}

void tt_run_cursor_seek(tt_run_cursor *cursor, uint64_t time) {
  const tt_run_log *log = cursor->log;
  const tt_run_keyframe *nearest = NULL;
  for (size_t i = 0; i < log->keyframe_count && log->keyframes[i].time <= time; i++)
    nearest = &log->keyframes[i];
  tt_run_cursor_rewind(cursor);
  if (nearest) {
    memcpy(cursor->latest, nearest->latest, nearest->latest_count * sizeof *cursor->latest);
    cursor->offset = nearest->offset;
    if (cursor->derived) restore_derived(cursor, nearest->offset);
  }
  tt_run_cursor_advance(cursor, time);
}

bool tt_run_cursor_value(const tt_run_cursor *cursor, uint32_t entry, tt_wpilog_record *record) {
  const tt_run_log *log = cursor->log;
  if (entry >= log->kept_count)
    return entry < log->entry_count && tt_derived_value(cursor->derived, entry, record);
  if (entry == 0 || cursor->latest[entry] == 0) return false;
  size_t offset = cursor->latest[entry];
  return tt_wpilog_next(log->data, log->size, &offset, record) == TT_OK;
}

struct json_object *tt_run_cursor_json(const tt_run_cursor *cursor, const char *name) {
  tt_wpilog_record record;
  if (!tt_run_cursor_value(cursor, tt_run_log_find(cursor->log, name), &record)) return NULL;
  char *text = strndup((const char *)record.payload, record.size);
  struct json_object *object = text ? json_tokener_parse(text) : NULL;
  free(text);
  return object;
}

/* 0 where it is missing or no number that can be used. */
static double number_of(struct json_object *from, const char *key) {
  struct json_object *value;
  double number = json_object_object_get_ex(from, key, &value) ? json_object_get_double(value) : 0;
  return isfinite(number) ? number : 0;
}

tt_field tt_run_cursor_field(const tt_run_cursor *cursor) {
  struct json_object *run = tt_run_cursor_json(cursor, "/tether/run"), *field;
  tt_field found = {0};
  if (json_object_object_get_ex(run, "field", &field))
    found = (tt_field){number_of(field, "x"), number_of(field, "y"), number_of(field, "heading")};
  json_object_put(run);
  return found;
}

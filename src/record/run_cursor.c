/* run_cursor.c: a place in a log, and how it moves. */
#include "record/derive.h"
#include "record/run_log_internal.h"

#include <json-c/json.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Does the record begin another sample than that of `time`, if one is `open`? Records that were written apart never do. */
static bool begins(const tt_run_cursor *cursor, const tt_wpilog_record *record, bool open,
                   uint64_t time) {
  if (cursor->derived) return tt_derived_begins(cursor->derived, record);
  if (cursor->log->entries[record->entry].aside) return false;
  return !open || record->timestamp != time;
}

tt_status tt_run_cursor_next_sample(tt_run_cursor *cursor) {
  tt_wpilog_record record;
  bool open = false;
  uint64_t time = 0;
  for (size_t at, past; peek(cursor, &record, &at, &past);) {
    if (begins(cursor, &record, open, time)) {
      if (open) break;
      open = true;
      time = record.timestamp;
    }
    take(cursor, &record, at, past);
  }
  if (open) cursor->time = time;
  return open ? TT_OK : TT_END;
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

bool tt_run_cursor_number(const tt_run_cursor *cursor, uint32_t entry, double *value) {
  tt_wpilog_record record;
  if (entry >= cursor->log->kept_count) {
    if (entry >= cursor->log->entry_count) return false;
    *value = tt_derived_number(cursor->derived, entry);
    return isfinite(*value);
  }
  if (!tt_run_cursor_value(cursor, entry, &record) || record.size != sizeof *value) return false;
  *value = tt_wpilog_double(record.payload);
  return isfinite(*value);
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

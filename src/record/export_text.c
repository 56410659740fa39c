/* export_text.c: a run as a table and as lines of JSON. */
#include "base/text.h"
#include "record/checksum.h"
#include "record/export.h"
#include "record/journal_codec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SUBMISSIONS 65536

/* µs as seconds, exactly. */
static void put_time(tt_export_buffer *out, uint64_t time) {
  tt_export_text(out, "%llu.%06llu", (unsigned long long)(time / 1000000u),
                 (unsigned long long)(time % 1000000u));
}

static void put_double(tt_export_buffer *out, double value) {
  char text[TT_DOUBLE_SIZE] = "null"; /* JSON knows no other number that is none */
  if (isfinite(value)) tt_double_text(value, text);
  tt_export_put(out, text, strlen(text));
}

static const char *unit_in(const char *metadata, int *size) {
  static const char key[] = "{\"unit\":\"";
  *size = 0;
  if (strncmp(metadata, key, strlen(key)) != 0) return "";
  const char *unit = metadata + strlen(key);
  const char *end = strchr(unit, '"');
  if (end) *size = (int)(end - unit);
  return unit;
}

/* ---- the table ---- */

typedef struct table {
  tt_export_buffer out;
  const tt_run_entry *entries;
  uint32_t *columns; /* entry of each */
  uint32_t *column;  /* of each entry; UINT32_MAX: none */
  double *values;
  bool *known;
  uint32_t column_count;
} table;

static bool list_columns(table *to, const tt_run_log *log) {
  uint32_t count;
  to->entries = tt_run_log_entries(log, &count);
  to->columns = calloc(count + 1, sizeof *to->columns);
  to->column = calloc(count + 1, sizeof *to->column);
  to->values = calloc(count + 1, sizeof *to->values);
  to->known = calloc(count + 1, sizeof *to->known);
  if (!to->columns || !to->column || !to->values || !to->known) return false;
  for (uint32_t i = 0; i < count; i++) {
    to->column[i] = UINT32_MAX;
    if (tt_entry_role_of(&to->entries[i]) != TT_ROLE_SIGNAL) continue;
    to->columns[to->column_count] = i;
    to->column[i] = to->column_count++;
  }
  return true;
}

/* A field of text: in quotes where it needs them, and no formula. */
static void put_field(tt_export_buffer *out, const char *text) {
  bool quoted = strpbrk(text, ",\"\r\n") != NULL;
  if (quoted) tt_export_put(out, "\"", 1);
  if (tt_text_is_formula(text)) tt_export_put(out, "'", 1);
  for (; *text; text++) tt_export_put(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
  if (quoted) tt_export_put(out, "\"", 1);
}

static void put_header(table *from) {
  tt_export_text(&from->out, "log time [s]");
  for (uint32_t i = 0; i < from->column_count; i++) {
    const tt_run_entry *entry = &from->entries[from->columns[i]];
    char name[TT_WPILOG_MOST_NAME + 100]; /* and its unit */
    int size;
    const char *unit = unit_in(entry->metadata, &size);
    bool command = strncmp(entry->name, "/commands/", 10) == 0;
    const char *tail = strchr(entry->name + 1, '/') + 1;
    snprintf(name, sizeof name, size ? "%s%s [%.*s]" : "%s%s", command ? "command:" : "", tail,
             size, unit);
    tt_export_put(&from->out, ",", 1);
    put_field(&from->out, name);
  }
  tt_export_put(&from->out, "\n", 1);
}

static void put_row(table *from, uint64_t time) {
  put_time(&from->out, time);
  for (uint32_t i = 0; i < from->column_count; i++) {
    tt_export_put(&from->out, ",", 1);
    if (from->known[i]) put_double(&from->out, from->values[i]);
  }
  tt_export_put(&from->out, "\n", 1);
}

/* A sample in which nothing changed stands in the journal alone. Older logs, which have every signal of it, have the journal ahead. */
static bool begins_row(const table *from, const tt_run_cursor *cursor,
                       const tt_wpilog_record *record) {
  if (from->column[record->entry] != UINT32_MAX) return tt_record_has_form(TT_ROLE_SIGNAL, record);
  const tt_run_entry *entry = &from->entries[record->entry];
  return cursor->derived && entry->journal && tt_journal_marks_sample(entry->name, record);
}

static void put_rows(table *from, tt_run_cursor *cursor) {
  tt_wpilog_record record;
  uint64_t time = 0;
  bool pending = false;
  while (from->out.status == TT_OK && tt_run_cursor_next(cursor, &record) == TT_OK) {
    const uint32_t column = from->column[record.entry];
    if (!begins_row(from, cursor, &record)) continue;
    if (pending && record.timestamp != time) {
      put_row(from, time);
      tt_export_progress(from->out.sink, cursor);
    }
    pending = true;
    time = record.timestamp;
    if (column == UINT32_MAX) continue;
    from->values[column] = tt_wpilog_double(record.payload);
    from->known[column] = isfinite(from->values[column]);
  }
  if (pending) put_row(from, time);
}

tt_status tt_export_csv(const tt_run_log *log, const tt_export_sink *sink) {
  table made = {0};
  tt_run_cursor cursor;
  if (!tt_run_cursor_open(&cursor, log)) return TT_NOMEM;
  tt_export_begin(&made.out, sink);
  bool listed = list_columns(&made, log);
  if (listed) {
    put_header(&made);
    put_rows(&made, &cursor);
  }
  tt_status status = tt_export_end(&made.out);
  free(made.columns);
  free(made.column);
  free(made.values);
  free(made.known);
  tt_run_cursor_close(&cursor);
  return listed ? status : TT_NOMEM;
}

/* ---- lines of JSON ---- */

typedef struct lines {
  tt_export_buffer out;
  const tt_run_entry *entries;
  const char **commands; /* name of each of the model's commands, in their order */
  int command_count;
  tt_journal_scratch scratch;
} lines;

static void put_json(tt_export_buffer *out, const char *text, size_t size) {
  tt_bytes_append_json(&out->bytes, text, size);
}

static bool list_commands(lines *to, const tt_run_log *log) {
  uint32_t count;
  to->entries = tt_run_log_entries(log, &count);
  to->commands = calloc(count + 1, sizeof *to->commands);
  to->scratch.submissions = calloc(MOST_SUBMISSIONS, sizeof *to->scratch.submissions);
  to->scratch.capacity = MOST_SUBMISSIONS;
  if (!to->commands || !to->scratch.submissions) return false;
  for (uint32_t i = 0; i < count; i++)
    if (to->entries[i].name && strncmp(to->entries[i].name, "/commands/", 10) == 0)
      to->commands[to->command_count++] = to->entries[i].name + 10;
  return true;
}

/* By their numbers: a log has no list of their names. */
static void put_values(lines *to, const tt_entry *entry) {
  tt_export_text(&to->out, "\"values\":{");
  for (int i = 0; i < entry->count; i++) {
    tt_export_text(&to->out, "%s\"%d\":", i ? "," : "", entry->submissions[i].command);
    put_double(&to->out, entry->submissions[i].value);
  }
  tt_export_put(&to->out, "}", 1);
}

static void put_submissions(lines *to, const tt_entry *entry) {
  tt_export_text(&to->out, "\"commands\":{");
  for (int i = 0; i < entry->count; i++) {
    int command = entry->submissions[i].command;
    const char *name = command >= 0 && command < to->command_count ? to->commands[command] : "?";
    if (i) tt_export_put(&to->out, ",", 1);
    put_json(&to->out, name, strlen(name));
    tt_export_put(&to->out, ":", 1);
    put_double(&to->out, entry->submissions[i].value);
  }
  tt_export_put(&to->out, "}", 1);
}

static void put_journal(lines *to, const tt_wpilog_record *record) {
  static const char *const kinds[] = {"commands", "safe", "reset", "event",
                                      "hash",     "seed", "state", "values"};
  tt_entry entry;
  const char *name = to->entries[record->entry].name;
  if (tt_journal_decode(name, record->payload, record->size, &to->scratch, &entry) != TT_OK) {
    tt_export_text(&to->out, "\"damaged\":true");
    return;
  }
  tt_export_text(&to->out, "\"kind\":\"%s\",\"step\":%llu,\"source\":", kinds[entry.kind],
                 (unsigned long long)entry.step);
  put_json(&to->out, entry.source, strlen(entry.source));
  tt_export_put(&to->out, ",", 1);
  if (entry.kind == TT_ENTRY_RESET)
    tt_export_text(&to->out, "\"robot\":%d", entry.robot);
  else if (entry.kind == TT_ENTRY_HASH)
    tt_export_text(&to->out, "\"hash\":\"%016llx\"", (unsigned long long)entry.hash);
  else if (entry.kind == TT_ENTRY_SEED)
    tt_export_text(&to->out, "\"seed\":%llu", (unsigned long long)entry.seed);
  else if (entry.kind == TT_ENTRY_STATE)
    tt_export_text(&to->out, "\"bytes\":%zu", entry.state_size);
  else if (entry.kind == TT_ENTRY_VALUES)
    put_values(to, &entry);
  else
    put_submissions(to, &entry);
}

static void put_pose(lines *to, const tt_wpilog_record *record) {
  tt_export_text(&to->out, "\"value\":[");
  for (size_t i = 0; i < 7; i++) {
    if (i) tt_export_put(&to->out, ",", 1);
    put_double(&to->out, tt_wpilog_double(record->payload + 8 * i));
  }
  tt_export_put(&to->out, "]", 1);
}

static void put_value(lines *to, tt_entry_role role, const tt_wpilog_record *record) {
  if (!tt_record_has_form(role, record)) role = TT_ROLE_OTHER;
  switch (role) {
    case TT_ROLE_SIGNAL:
    case TT_ROLE_NUMBER:
      tt_export_text(&to->out, "\"value\":");
      put_double(&to->out, tt_wpilog_double(record->payload));
      break;
    case TT_ROLE_POSE: put_pose(to, record); break;
    case TT_ROLE_JOURNAL: put_journal(to, record); break;
    case TT_ROLE_EVENT:
    case TT_ROLE_TEXT:
      tt_export_text(&to->out, "\"value\":");
      put_json(&to->out, (const char *)record->payload, record->size);
      break;
    case TT_ROLE_FLAG:
      tt_export_text(&to->out, "\"value\":%s", record->payload[0] ? "true" : "false");
      break;
    case TT_ROLE_OTHER: tt_export_text(&to->out, "\"bytes\":%zu", record->size); break;
  }
}

static void put_line(lines *to, const tt_wpilog_record *record) {
  const tt_run_entry *entry = &to->entries[record->entry];
  if (!entry->name || strcmp(entry->name, TT_CHECKSUM_ENTRY) == 0) return;
  tt_export_text(&to->out, "{\"time\":");
  put_time(&to->out, record->timestamp);
  tt_export_text(&to->out, ",\"name\":");
  const char *name = entry->journal ? TT_JOURNAL : entry->name; /* which says its source itself */
  put_json(&to->out, name, strlen(name));
  tt_export_put(&to->out, ",", 1);
  put_value(to, tt_entry_role_of(entry), record);
  tt_export_put(&to->out, "}\n", 2);
}

tt_status tt_export_jsonl(const tt_run_log *log, const tt_export_sink *sink) {
  lines made = {0};
  tt_run_cursor cursor;
  tt_wpilog_record record;
  if (!tt_run_cursor_open(&cursor, log)) return TT_NOMEM;
  tt_export_begin(&made.out, sink);
  bool listed = list_commands(&made, log);
  while (listed && made.out.status == TT_OK && tt_run_cursor_next(&cursor, &record) == TT_OK) {
    put_line(&made, &record);
    tt_export_progress(sink, &cursor);
  }
  tt_status status = tt_export_end(&made.out);
  free(made.commands);
  free(made.scratch.submissions);
  tt_run_cursor_close(&cursor);
  return listed ? status : TT_NOMEM;
}

/* export.c: what the formats share. */
#include "record/export.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 65536u
#define POSE_SIZE (7 * sizeof(double))

void tt_export_begin(tt_export_buffer *buffer, const tt_export_sink *sink) {
  *buffer = (tt_export_buffer){.sink = sink};
}

static void flush(tt_export_buffer *buffer) {
  if (buffer->bytes.failed) buffer->status = TT_NOMEM;
  if (buffer->status == TT_OK && buffer->bytes.size)
    buffer->status =
        buffer->sink->write(buffer->sink->context, buffer->bytes.data, buffer->bytes.size);
  buffer->bytes.size = 0;
}

void tt_export_put(tt_export_buffer *buffer, const void *bytes, size_t size) {
  tt_bytes_append(&buffer->bytes, bytes, size);
  if (buffer->bytes.size >= PIECE || buffer->bytes.failed) flush(buffer);
}

void tt_export_text(tt_export_buffer *buffer, const char *format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size > 0) tt_export_put(buffer, text, strlen(text));
}

tt_status tt_export_end(tt_export_buffer *buffer) {
  flush(buffer);
  tt_bytes_free(&buffer->bytes);
  return buffer->status;
}

const char *tt_double_text(double value, char text[TT_DOUBLE_SIZE]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, TT_DOUBLE_SIZE, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value) break;
  }
  return text;
}

/* Bytes of the UTF-8 sequence at `at`, or 0 when it is none. */
static size_t sequence_length(const unsigned char *at, size_t left) {
  size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
  if (at[0] > 0xf4 || length == 0 || length > left) return 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xc0) != 0x80) return 0;
  if (at[0] == 0xe0 && at[1] < 0xa0) return 0; /* longer than needed */
  if (at[0] == 0xed && at[1] > 0x9f) return 0; /* half of a surrogate pair */
  if (at[0] == 0xf0 && at[1] < 0x90) return 0;
  if (at[0] == 0xf4 && at[1] > 0x8f) return 0; /* beyond Unicode */
  return length;
}

void tt_bytes_append_json(tt_bytes *out, const char *text, size_t size) {
  const unsigned char *at = (const unsigned char *)text;
  tt_bytes_append(out, "\"", 1);
  for (size_t i = 0; i < size;) {
    size_t length = sequence_length(at + i, size - i);
    char escape[8];
    if (length == 0) {
      tt_bytes_append(out, "\xef\xbf\xbd", 3);
      length = 1;
    } else if (at[i] < 0x20 || at[i] == '"' || at[i] == '\\') {
      snprintf(escape, sizeof escape, at[i] < 0x20 ? "\\u%04x" : "\\%c", at[i]);
      tt_bytes_append(out, escape, strlen(escape));
    } else {
      tt_bytes_append(out, at + i, length);
    }
    i += length;
  }
  tt_bytes_append(out, "\"", 1);
}

static bool begins(const char *text, const char *with) {
  return strncmp(text, with, strlen(with)) == 0;
}

tt_entry_role tt_entry_role_of(const tt_run_entry *entry) {
  if (!entry->name) return TT_ROLE_OTHER;
  bool is_double = strcmp(entry->type, "double") == 0;
  if (is_double && (begins(entry->name, "/signals/") || begins(entry->name, "/commands/")))
    return TT_ROLE_SIGNAL;
  if (is_double) return TT_ROLE_NUMBER;
  if (strcmp(entry->type, "struct:Pose3d") == 0) return TT_ROLE_POSE;
  if (strcmp(entry->name, "/events") == 0) return TT_ROLE_EVENT;
  if (entry->journal) return TT_ROLE_JOURNAL;
  if (strcmp(entry->type, "boolean") == 0) return TT_ROLE_FLAG;
  if (strcmp(entry->type, "string") == 0 || strcmp(entry->type, "json") == 0) return TT_ROLE_TEXT;
  return TT_ROLE_OTHER;
}

static bool is_of_doubles(tt_entry_role role) {
  return role == TT_ROLE_SIGNAL || role == TT_ROLE_NUMBER || role == TT_ROLE_POSE;
}

bool tt_record_has_form(tt_entry_role role, const tt_wpilog_record *record) {
  if (is_of_doubles(role)) return record->size == (role == TT_ROLE_POSE ? POSE_SIZE : 8);
  return role != TT_ROLE_FLAG || record->size == 1;
}

bool tt_record_fits(tt_entry_role role, const tt_wpilog_record *record) {
  if (!tt_record_has_form(role, record)) return false;
  for (size_t i = 0; is_of_doubles(role) && i < record->size; i += 8)
    if (!isfinite(tt_wpilog_double(record->payload + i))) return false;
  return true;
}

void tt_export_progress(const tt_export_sink *sink, const tt_run_cursor *cursor) {
  if (sink->progress)
    sink->progress(sink->context, (double)cursor->offset / (double)tt_run_log_size(cursor->log));
}

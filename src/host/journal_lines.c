#include "host/journal_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows. */
typedef struct text {
  char *bytes;
  size_t size, capacity;
} text;

static tt_status append(text *to, const char *bytes, size_t size) {
  if (to->size + size + 1 > to->capacity) {
    size_t capacity = to->capacity ? to->capacity : 4096;
    while (capacity < to->size + size + 1) capacity *= 2;
    char *grown = realloc(to->bytes, capacity);
    if (!grown) return TT_NOMEM;
    to->bytes = grown;
    to->capacity = capacity;
  }
  memcpy(to->bytes + to->size, bytes, size);
  to->size += size;
  to->bytes[to->size] = 0;
  return TT_OK;
}

static tt_status append_submissions(text *to, const tt_entry *entry) {
  char field[64];
  for (int i = 0; i < entry->count; i++) {
    /* Hexadecimal: the very bits that were applied. */
    int size = snprintf(field, sizeof field, " %d=%a", entry->submissions[i].command,
                        entry->submissions[i].value);
    TT_TRY(append(to, field, (size_t)size));
  }
  return append(to, "\n", 1);
}

/* One line: step, kind, source, and what the kind has to say. */
static tt_status append_entry(text *to, const tt_entry *entry) {
  char line[512];
  int size = 0;
  switch (entry->kind) {
    case TT_ENTRY_COMMANDS:
    case TT_ENTRY_SAFE:
    case TT_ENTRY_VALUES:
      size = snprintf(line, sizeof line, "%" PRIu64 " %s %s", entry->step,
                      entry->kind == TT_ENTRY_SAFE       ? "safe"
                      : entry->kind == TT_ENTRY_COMMANDS ? "commands"
                                                         : "values",
                      entry->source);
      TT_TRY(append(to, line, (size_t)size));
      return append_submissions(to, entry);
    case TT_ENTRY_RESET:
      size = snprintf(line, sizeof line, "%" PRIu64 " reset %s %d\n", entry->step, entry->source,
                      entry->robot);
      break;
    case TT_ENTRY_EVENT:
      size = snprintf(line, sizeof line, "%" PRIu64 " event %s %.300s\n", entry->step,
                      entry->source, entry->text);
      break;
    case TT_ENTRY_FLAG:
      size = snprintf(line, sizeof line, "%" PRIu64 " flag %s %.300s %d\n", entry->step,
                      entry->source, entry->text, entry->holds);
      break;
    case TT_ENTRY_HASH:
      size = snprintf(line, sizeof line, "%" PRIu64 " hash %016" PRIx64 "\n", entry->step,
                      entry->hash);
      break;
    case TT_ENTRY_SEED:
      size =
          snprintf(line, sizeof line, "%" PRIu64 " seed %" PRIu64 "\n", entry->step, entry->seed);
      break;
    case TT_ENTRY_STATE:
      size = snprintf(line, sizeof line, "%" PRIu64 " state %zu\n", entry->step, entry->state_size);
      break;
  }
  return append(to, line, (size_t)size);
}

typedef struct lines_sink {
  tt_journal_sink sink;
  text lines;
} lines_sink;

static tt_status write_lines(tt_journal_sink *sink, const tt_entry *entry) {
  return append_entry(&((lines_sink *)sink)->lines, entry);
}

void journal_lines_close(tt_journal_sink *sink) {
  free(((lines_sink *)sink)->lines.bytes);
  free(sink);
}

tt_journal_sink *journal_lines_open(void) {
  lines_sink *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->sink.write = write_lines;
  return &made->sink;
}

const char *journal_lines_text(const tt_journal_sink *sink) {
  const char *lines = ((const lines_sink *)sink)->lines.bytes;
  return lines ? lines : "";
}

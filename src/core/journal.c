/* journal.c: journal sinks that write lines: to a plain file through a thread of its own, or to memory. */
#include "core/journal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_BACKLOG                                                                            \
  (64u << 20) /* bytes not yet on disk at which the run is declared unverifiable */

/* Text that grows; both sinks append to one. */
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
      size = snprintf(line, sizeof line, "%" PRIu64 " %s %s", entry->step,
                      entry->kind == TT_ENTRY_SAFE ? "safe" : "commands", entry->source);
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
    case TT_ENTRY_HASH:
      size = snprintf(line, sizeof line, "%" PRIu64 " hash %016" PRIx64 "\n", entry->step,
                      entry->hash);
      break;
  }
  return append(to, line, (size_t)size);
}

/* ---- memory ---- */

typedef struct memory_sink {
  tt_journal_sink sink;
  text lines;
} memory_sink;

static tt_status write_memory(tt_journal_sink *sink, const tt_entry *entry) {
  return append_entry(&((memory_sink *)sink)->lines, entry);
}

static void close_memory(tt_journal_sink *sink) {
  free(((memory_sink *)sink)->lines.bytes);
  free(sink);
}

tt_journal_sink *tt_journal_open_memory(void) {
  memory_sink *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->sink = (tt_journal_sink){.write = write_memory, .close = close_memory};
  return &made->sink;
}

const char *tt_journal_memory_text(const tt_journal_sink *sink) {
  const char *lines = ((const memory_sink *)sink)->lines.bytes;
  return lines ? lines : "";
}

/* ---- file ---- */

typedef struct file_sink {
  tt_journal_sink sink;
  FILE *file;
  pthread_t thread;
  pthread_mutex_t lock; /* held for a few copies only, by both sides */
  pthread_cond_t filled;
  text waiting;
  bool closing, broken;
} file_sink;

static tt_status write_file(tt_journal_sink *sink, const tt_entry *entry) {
  file_sink *to = (file_sink *)sink;
  pthread_mutex_lock(&to->lock);
  bool full = to->broken || to->waiting.size > LARGEST_BACKLOG;
  tt_status status = full ? TT_FULL : append_entry(&to->waiting, entry);
  pthread_cond_signal(&to->filled);
  pthread_mutex_unlock(&to->lock);
  return status;
}

static void *write_lines(void *context) {
  file_sink *to = context;
  text taken = {0};
  bool closing = false;
  while (!closing) {
    pthread_mutex_lock(&to->lock);
    while (to->waiting.size == 0 && !to->closing) pthread_cond_wait(&to->filled, &to->lock);
    text swapped = to->waiting;
    taken.size = 0;
    to->waiting = taken;
    taken = swapped;
    closing = to->closing;
    pthread_mutex_unlock(&to->lock);
    bool written =
        fwrite(taken.bytes, 1, taken.size, to->file) == taken.size && fflush(to->file) == 0;
    if (written) continue;
    pthread_mutex_lock(&to->lock);
    to->broken = true;
    pthread_mutex_unlock(&to->lock);
  }
  free(taken.bytes);
  return NULL;
}

static void flush_file(tt_journal_sink *sink) {
  file_sink *to = (file_sink *)sink;
  pthread_mutex_lock(&to->lock);
  fwrite(to->waiting.bytes, 1, to->waiting.size, to->file);
  fflush(to->file);
  to->waiting.size = 0;
  pthread_mutex_unlock(&to->lock);
}

static void close_file(tt_journal_sink *sink) {
  file_sink *to = (file_sink *)sink;
  pthread_mutex_lock(&to->lock);
  to->closing = true;
  pthread_cond_signal(&to->filled);
  pthread_mutex_unlock(&to->lock);
  pthread_join(to->thread, NULL);
  fclose(to->file);
  pthread_cond_destroy(&to->filled);
  pthread_mutex_destroy(&to->lock);
  free(to->waiting.bytes);
  free(to);
}

tt_status tt_journal_open_file(const char *path, tt_journal_sink **sink, tt_error *error) {
  *sink = NULL;
  file_sink *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  made->file = fopen(path, "we");
  if (!made->file) {
    free(made);
    return tt_fail(error, TT_FAILED, "%s: can't write the journal: %s", path, strerror(errno));
  }
  made->sink = (tt_journal_sink){.write = write_file, .flush = flush_file, .close = close_file};
  pthread_mutex_init(&made->lock, NULL);
  pthread_cond_init(&made->filled, NULL);
  if (pthread_create(&made->thread, NULL, write_lines, made) != 0) {
    fclose(made->file);
    free(made);
    return tt_fail(error, TT_FAILED, "%s: can't start the journal's thread", path);
  }
  *sink = &made->sink;
  return TT_OK;
}

/* run_index.c: the index beside a large log: where each entry is announced, how many records it has, and the keyframes.
 *
 * 64-bit words of this machine: magic with version, size and time of the log's file, duration, number of entries and of
 * keyframes; two words an entry; for each keyframe time, offset, number of entries, and the newest record of each; the number of breaks
 * and their times; at last a checksum. A file that is not exactly that is no index: the log is scanned, and a new one written.
 */
#include "base/file.h"
#include "base/hash.h"
#include "record/run_log_internal.h"
#include "record/words.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x3230584449545454u /* "TTTIDX02" */
#define HEAD 6
#define LARGEST (256u << 20) /* bytes */

uint64_t tt_run_index_checksum(const uint64_t *words, size_t count) {
  return tt_hash_bytes(TT_HASH_START, words, (count - 1) * sizeof *words);
}

/* ---- reading ---- */

static bool take_entry(tt_run_log *log, uint32_t id, const uint64_t *words) {
  tt_wpilog_record record;
  size_t offset = (size_t)words[0];
  if (words[0] == 0) return true; /* an id that is not used */
  if (words[0] < log->first || words[0] >= log->size) return false;
  if (tt_wpilog_next(log->data, log->size, &offset, &record) != TT_OK || record.entry != 0)
    return false;
  if (tt_run_log_note_start(log, &record, (size_t)words[0]) != TT_OK) return false;
  if (id >= log->entry_count || !log->entries[id].name) return false;
  log->entries[id].records = words[1];
  return true;
}

static bool take_keyframe(tt_run_log *log, tt_run_keyframe *into, tt_words_left *from) {
  const uint64_t *head = tt_take_words(from, 3);
  if (!head || head[1] >= log->size || head[2] > log->entry_count) return false;
  const uint64_t *latest = tt_take_words(from, head[2]);
  into->latest = malloc(((size_t)head[2] + 1) * sizeof *into->latest);
  if (!latest || !into->latest) return false;
  into->time = head[0];
  into->offset = (size_t)head[1];
  into->latest_count = (uint32_t)head[2];
  for (uint32_t i = 0; i < into->latest_count; i++) {
    if (latest[i] >= log->size) return false;
    into->latest[i] = (size_t)latest[i];
  }
  return true;
}

static bool take_breaks(tt_run_log *log, tt_words_left *from) {
  const uint64_t *count = tt_take_words(from, 1);
  const uint64_t *times = count ? tt_take_words(from, *count) : NULL;
  for (uint64_t i = 0; times && i < *count; i++) {
    bool ascends = i == 0 || times[i] >= times[i - 1];
    if (!ascends || tt_run_log_add_break(log, times[i]) != TT_OK) return false;
  }
  return times;
}

static bool take_all(tt_run_log *log, const uint64_t *head, tt_words_left from) {
  uint64_t entries = head[4], keyframes = head[5];
  for (uint64_t i = 0; i < entries; i++) {
    const uint64_t *words = tt_take_words(&from, 2);
    if (!words || !take_entry(log, (uint32_t)i, words)) return false;
  }
  if (log->entry_count != entries || keyframes > from.count / 3) return false;
  log->keyframes = calloc((size_t)keyframes + 1, sizeof *log->keyframes);
  if (!log->keyframes) return false;
  for (; log->keyframe_count < keyframes;)
    if (!take_keyframe(log, &log->keyframes[log->keyframe_count++], &from)) return false;
  log->duration = head[3];
  return take_breaks(log, &from) && from.count == 0;
}

bool tt_run_index_take(tt_run_log *log, const uint64_t *words, size_t count) {
  if (count <= HEAD || tt_run_index_checksum(words, count) != words[count - 1]) return false;
  if (words[0] != MAGIC || words[1] != log->size || words[2] != log->modified) return false;
  if (take_all(log, words, (tt_words_left){words + HEAD, count - 1 - HEAD})) return true;
  tt_run_log_forget(log);
  return false;
}

static bool name_index(const char *path, char name[PATH_MAX]) {
  return snprintf(name, PATH_MAX, "%s.index", path) < PATH_MAX;
}

bool tt_run_index_read(tt_run_log *log, const char *path) {
  char name[PATH_MAX];
  struct stat about;
  int file =
      name_index(path, name) ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (file < 0) return false;
  bool good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST &&
              about.st_size % 8 == 0;
  size_t size = good ? (size_t)about.st_size : 0;
  uint64_t *words = malloc(size + 8);
  good = good && words && read(file, words, size) == (ssize_t)size &&
         tt_run_index_take(log, words, size / 8);
  free(words);
  close(file);
  return good;
}

/* ---- writing ---- */

static void put_word(tt_bytes *out, uint64_t word) { tt_bytes_append(out, &word, sizeof word); }

static void put_all(tt_bytes *out, const tt_run_log *log) {
  const uint64_t head[HEAD] = {MAGIC,         log->size,        log->modified,
                               log->duration, log->entry_count, log->keyframe_count};
  for (int i = 0; i < HEAD; i++) put_word(out, head[i]);
  for (uint32_t i = 0; i < log->entry_count; i++) {
    put_word(out, log->starts[i]);
    put_word(out, log->entries[i].records);
  }
  for (size_t k = 0; k < log->keyframe_count; k++) {
    const tt_run_keyframe *from = &log->keyframes[k];
    put_word(out, from->time);
    put_word(out, from->offset);
    put_word(out, from->latest_count);
    for (uint32_t i = 0; i < from->latest_count; i++) put_word(out, from->latest[i]);
  }
  put_word(out, log->break_count);
  for (size_t i = 0; i < log->break_count; i++) put_word(out, log->breaks[i]);
  put_word(out, 0);
  if (out->failed) return;
  uint64_t *words = (uint64_t *)(void *)out->data;
  words[out->size / 8 - 1] = tt_run_index_checksum(words, out->size / 8);
}

void tt_run_index_write(const tt_run_log *log, const char *path) {
  char name[PATH_MAX];
  tt_bytes bytes = {0};
  put_all(&bytes, log);
  if (!bytes.failed && bytes.size <= LARGEST && name_index(path, name))
    tt_file_replace(name, bytes.data, bytes.size, false, NULL);
  tt_bytes_free(&bytes);
}

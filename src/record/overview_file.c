/* overview_file.c: an overview beside its log. 64-bit words of this machine, packed by zstd: magic with version; hashes of the
 * log's beginning and of the names of its signals; bytes of the log and its time up to which it says something; length
 * of a part, number of parts and of signals; first and last time of each part; for each signal its value, since which
 * part, and whether it ever changed; if so, two values a part. At last a checksum. A file that is not exactly that is none.
 */
#include "base/file.h"
#include "base/hash.h"
#include "record/overview_internal.h"
#include "record/words.h"

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#define MAGIC 0x313057564f545454u /* "TTTOVW01" */
#define HEAD 8
#define BEGINNING 4096u      /* bytes of the log that tell which it is */
#define LARGEST (256u << 20) /* bytes of the file */
#define MOST_WORDS (64u << 20)
#define LEVEL 1

static uint64_t hash_of(const void *bytes, size_t size) {
  return tt_hash_bytes(TT_HASH_START, bytes, size);
}

/* Its beginning has the run's id. */
static uint64_t hash_beginning(const tt_run_log *log) {
  size_t size = tt_run_log_size(log);
  return hash_of(tt_run_log_data(log), size < BEGINNING ? size : BEGINNING);
}

static uint64_t hash_names(const tt_overview *overview) {
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(overview->log, &count);
  uint64_t hash = TT_HASH_START;
  for (size_t t = 0; t < overview->track_count; t++) {
    const char *name = entries[overview->tracks[t].entry].name;
    hash = tt_hash_bytes(hash, name, strlen(name) + 1);
  }
  return hash;
}

void tt_overview_identify(const tt_overview *overview, uint64_t words[TT_OVERVIEW_IDENTITY]) {
  words[0] = MAGIC;
  words[1] = hash_beginning(overview->log);
  words[2] = hash_names(overview);
}

uint64_t tt_overview_checksum(const uint64_t *words, size_t count) {
  return hash_of(words, (count - 1) * sizeof *words);
}

/* ---- writing ---- */

static void put_word(tt_bytes *out, uint64_t word) { tt_bytes_append(out, &word, sizeof word); }

static void put_number(tt_bytes *out, double number) {
  tt_bytes_append(out, &number, sizeof number);
}

static void put_all(const tt_overview *overview, tt_bytes *out) {
  uint64_t head[HEAD] = {0,
                         0,
                         0,
                         overview->cursor.offset,
                         overview->taken,
                         overview->every,
                         overview->parts,
                         overview->track_count};
  tt_overview_identify(overview, head);
  for (int i = 0; i < HEAD; i++) put_word(out, head[i]);
  tt_bytes_append(out, overview->spans, overview->parts * sizeof *overview->spans);
  for (size_t t = 0; t < overview->track_count; t++) {
    const tt_overview_track *track = &overview->tracks[t];
    put_number(out, track->value);
    put_word(out, track->begin);
    put_word(out, track->parts != NULL);
    if (track->parts) tt_bytes_append(out, track->parts, overview->parts * sizeof *track->parts);
  }
  put_word(out, hash_of(out->data, out->size)); /* tt_overview_checksum() of what it becomes */
}

void tt_overview_pack(const tt_overview *overview, tt_bytes *out) {
  tt_bytes words = {0};
  put_all(overview, &words);
  size_t room = ZSTD_compressBound(words.size);
  void *packed = words.failed ? NULL : malloc(room);
  size_t size = packed ? ZSTD_compress(packed, room, words.data, words.size, LEVEL) : 0;
  if (packed && !ZSTD_isError(size))
    tt_bytes_append(out, packed, size);
  else
    out->failed = true;
  free(packed);
  tt_bytes_free(&words);
}

static bool name_file(const char *path, const char *ending, char name[PATH_MAX]) {
  return snprintf(name, PATH_MAX, "%s" TT_RUN_OVERVIEW "%s", path, ending) < PATH_MAX;
}

void tt_overview_write(const tt_overview *overview, const char *path) {
  char name[PATH_MAX];
  tt_bytes bytes = {0};
  tt_overview_pack(overview, &bytes);
  if (!bytes.failed && bytes.size <= LARGEST && name_file(path, "", name))
    tt_file_replace(name, bytes.data, bytes.size, false, NULL);
  tt_bytes_free(&bytes);
}

/* ---- reading ---- */

static double number_of(uint64_t word) {
  double number;
  memcpy(&number, &word, sizeof number);
  return number;
}

static bool take_track(tt_overview *overview, tt_overview_track *track, tt_words_left *from) {
  const uint64_t *head = tt_take_words(from, 3);
  if (!head || head[1] > overview->parts || head[2] > 1) return false;
  track->value = number_of(head[0]);
  track->begin = (size_t)head[1];
  if (isinf(track->value)) return false;
  if (head[2] == 0) return true;
  const uint64_t *values = tt_take_words(from, 2 * overview->parts);
  if (!values || !tt_overview_track_grow(track)) return false;
  for (size_t i = 0; i < overview->parts; i++)
    track->parts[i] = (tt_extremes){number_of(values[2 * i]), number_of(values[2 * i + 1])};
  return true;
}

static bool is_of(const tt_overview *overview, const uint64_t *head) {
  uint64_t own[TT_OVERVIEW_IDENTITY];
  tt_overview_identify(overview, own);
  return memcmp(own, head, sizeof own) == 0 && head[3] <= tt_run_log_size(overview->log) &&
         head[4] <= tt_run_log_duration(overview->log) && head[5] > 0 &&
         head[6] <= TT_OVERVIEW_PARTS && head[7] == overview->track_count;
}

static bool take_all(tt_overview *overview, tt_words_left from) {
  const uint64_t *head = tt_take_words(&from, HEAD);
  if (!head || !is_of(overview, head)) return false;
  overview->taken = head[4];
  overview->every = head[5];
  overview->parts = (size_t)head[6];
  const uint64_t *spans = tt_take_words(&from, 2 * head[6]);
  if (!spans || overview->taken / overview->every >= TT_OVERVIEW_PARTS) return false;
  for (size_t i = 0; i < overview->parts; i++) {
    tt_overview_span span = {spans[2 * i], spans[2 * i + 1]};
    bool inside = span.first / overview->every == i && span.last / overview->every == i;
    if (span.first <= span.last && !inside) return false;
    overview->spans[i] = span;
  }
  for (size_t t = 0; t < overview->track_count; t++)
    if (!take_track(overview, &overview->tracks[t], &from)) return false;
  return from.count == 0;
}

/* As if nothing had been read. */
static void forget(tt_overview *overview) {
  for (size_t t = 0; t < overview->track_count; t++) {
    tt_overview_track *track = &overview->tracks[t];
    free(track->parts);
    *track = (tt_overview_track){.entry = track->entry, .value = NAN};
  }
  overview->taken = overview->parts = 0;
  overview->every = TT_OVERVIEW_FIRST_EVERY;
}

bool tt_overview_take_words(tt_overview *overview, const uint64_t *words, size_t count) {
  if (count <= HEAD || tt_overview_checksum(words, count) != words[count - 1]) return false;
  if (take_all(overview, (tt_words_left){words, count - 1})) {
    tt_run_cursor_seek(&overview->cursor, overview->taken);
    return true;
  }
  forget(overview);
  return false;
}

bool tt_overview_unpack(tt_overview *overview, const void *bytes, size_t size) {
  unsigned long long room = ZSTD_getFrameContentSize(bytes, size);
  if (room == ZSTD_CONTENTSIZE_UNKNOWN || room == ZSTD_CONTENTSIZE_ERROR || room % 8 != 0 ||
      room / 8 > MOST_WORDS)
    return false;
  uint64_t *words = malloc((size_t)room + 8);
  bool good = words && ZSTD_decompress(words, (size_t)room, bytes, size) == (size_t)room &&
              tt_overview_take_words(overview, words, (size_t)room / 8);
  free(words);
  return good;
}

bool tt_overview_read(tt_overview *overview, const char *path) {
  char name[PATH_MAX];
  struct stat about;
  int file =
      name_file(path, "", name) ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
  if (file < 0) return false;
  bool good = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size <= LARGEST;
  size_t size = good ? (size_t)about.st_size : 0;
  uint8_t *bytes = malloc(size + 1);
  good = good && bytes && read(file, bytes, size) == (ssize_t)size &&
         tt_overview_unpack(overview, bytes, size);
  free(bytes);
  close(file);
  return good;
}

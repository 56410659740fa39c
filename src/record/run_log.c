/* run_log.c: a log is opened: its index is taken, or its records are scanned; what is made of them is found. */
#include "base/file.h"
#include "record/checksum.h"
#include "record/derive.h"
#include "record/log_map.h"
#include "record/run_log_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_INDEXED (32u << 20) /* bytes: a smaller log is read from end to end in no time */
#define KEY_EVERY 10000000u       /* µs of the run between two places of the index */
#define LATER_ENTRIES 1024u       /* that a recorder may announce while it writes */

/* ---- the scan ---- */

/* Entries that are made have no records. */
static uint32_t count_kept(const tt_run_log *log) {
  return log->kept_count ? log->kept_count : log->entry_count;
}

static tt_status add_keyframe(tt_run_log *log, uint64_t time, size_t offset) {
  uint32_t count = count_kept(log);
  while (count > 0 && !log->entries[count - 1].name) count--; /* reserved ones */
  tt_run_keyframe *grown = realloc(log->keyframes, (log->keyframe_count + 1) * sizeof *grown);
  if (!grown) return TT_NOMEM;
  log->keyframes = grown;
  tt_run_keyframe *made = &grown[log->keyframe_count];
  *made = (tt_run_keyframe){.time = time, .offset = offset, .latest_count = count};
  made->latest = malloc(((size_t)count + 1) * sizeof *made->latest);
  if (!made->latest) return TT_NOMEM;
  memcpy(made->latest, log->latest, (size_t)count * sizeof *made->latest);
  log->keyframe_count++;
  return TT_OK;
}

static tt_status take_record(tt_run_log *log, const tt_wpilog_record *record, size_t at) {
  if (record->entry >= count_kept(log)) return TT_OK; /* never announced: nobody can ask for it */
  if (record->timestamp >= log->next_key && !log->entries[record->entry].aside) {
    TT_TRY(add_keyframe(log, record->timestamp, at));
    log->next_key = record->timestamp + KEY_EVERY;
  }
  TT_TRY(tt_run_log_note_break(log, record));
  log->latest[record->entry] = at;
  log->entries[record->entry].records++;
  if (record->timestamp > log->duration) log->duration = record->timestamp;
  return TT_OK;
}

/* From where it stands up to `until`. */
static tt_status scan_records(tt_run_log *log, size_t until) {
  tt_wpilog_record record;
  for (size_t past = log->scanned; !log->damaged; log->scanned = past) {
    size_t at = past;
    if (tt_wpilog_next(log->data, until, &past, &record) != TT_OK) return TT_OK;
    tt_status status =
        record.entry == 0 ? tt_run_log_note_start(log, &record, at) : take_record(log, &record, at);
    if (status != TT_OK && status != TT_NOMEM && log->entry_count) {
      log->size = at; /* where the power failed, a disk may have kept room for what it never got */
      log->damaged = true;
      return TT_OK;
    }
    TT_TRY(status);
  }
  return TT_OK;
}

static tt_status scan(tt_run_log *log, size_t until) {
  if (!log->latest) {
    log->latest = calloc(TT_RUN_MOST_ENTRIES,
                         sizeof *log->latest); /* pages that nobody touches cost nothing */
    log->scanned = log->first;
    log->next_key = KEY_EVERY;
  }
  return log->latest ? scan_records(log, until) : TT_NOMEM;
}

static void end_scan(tt_run_log *log) {
  free(log->latest);
  log->latest = NULL;
}

/* ---- opening and closing ---- */

static tt_status map(tt_run_log *log, int file, const char *path, tt_error *error) {
  struct stat about;
  if (fstat(file, &about) != 0) return tt_fail(error, TT_INVALID, "%s: %s", path, strerror(errno));
  log->mapped = log->size = (size_t)about.st_size;
  log->modified = (uint64_t)about.st_mtim.tv_sec * 1000000000u + (uint64_t)about.st_mtim.tv_nsec;
  const uint8_t *data = log->size ? tt_log_map(file, log->size) : NULL;
  if (!data)
    return tt_fail(error, TT_INVALID, "%s: %s", path, log->size ? strerror(errno) : "is empty");
  log->data = data;
  madvise((void *)(uintptr_t)data, log->size, MADV_WILLNEED);
  return TT_OK;
}

static tt_status read_all(tt_run_log *log, const char *path) {
  bool indexed = log->size >= LEAST_INDEXED;
  if (indexed && tt_run_index_read(log, path)) return TT_OK;
  TT_TRY(scan(log, log->size));
  end_scan(log);
  if (indexed && log->size == log->mapped && !tt_run_log_is_growing(path))
    tt_run_index_write(log, path);
  return TT_OK;
}

/* The recorder holds it alone. */
static bool is_held(int file) {
  bool held = flock(file, LOCK_SH | LOCK_NB) != 0;
  if (!held) flock(file, LOCK_UN);
  return held;
}

/* Behind the last piece that is hashed, and so whole; where nothing is hashed, as far as there is anything. */
static size_t find_whole(const tt_run_log *log, size_t from) {
  tt_wpilog_record record;
  size_t whole = 0;
  while (tt_wpilog_next(log->data, log->mapped, &from, &record) == TT_OK)
    if (tt_checksum_is(record.payload, record.size)) whole = from;
  return whole ? whole : log->latest ? log->size : log->mapped;
}

static tt_status read_growing(tt_run_log *log) {
  log->size = find_whole(log, log->first);
  TT_TRY(scan(log, log->size));
  return tt_run_log_reserve(log, LATER_ENTRIES);
}

static tt_status read_log(tt_run_log *log, const char *path, int file, tt_error *error) {
  tt_error reason;
  TT_TRY(map(log, file, path, error));
  tt_status status = tt_wpilog_check(log->data, log->size, &log->first, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s: %s", path, reason.text);
  status = log->file >= 0 ? read_growing(log) : read_all(log, path);
  if (status != TT_OK && status != TT_NOMEM)
    return tt_fail(error, TT_INVALID, "%s: can't be read: damaged at byte %zu", path, log->scanned);
  if (status == TT_OK) status = tt_run_log_derive(log);
  if (status != TT_OK)
    return tt_fail(error, status == TT_NOMEM ? TT_NOMEM : TT_INVALID, "%s: can't be read: %s", path,
                   tt_status_text(status));
  return TT_OK;
}

static tt_status open_log(const char *path, bool growing, tt_run_log **made, tt_error *error) {
  FILE *file;
  *made = NULL;
  tt_run_log *log = calloc(1, sizeof *log);
  if (!log) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  log->file = -1;
  tt_status status = tt_file_open(path, &file, error);
  if (status == TT_OK) {
    if (growing && is_held(fileno(file))) log->file = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
    status = read_log(log, path, fileno(file), error);
    fclose(file);
  }
  if (status != TT_OK) {
    tt_run_log_close(log);
    return status;
  }
  *made = log;
  return TT_OK;
}

tt_status tt_run_log_open(const char *path, tt_run_log **log, tt_error *error) {
  return open_log(path, false, log, error);
}

tt_status tt_run_log_open_growing(const char *path, tt_run_log **log, tt_error *error) {
  return open_log(path, true, log, error);
}

tt_status tt_run_log_derive(tt_run_log *log) {
  log->kept_count = log->entry_count;
  return tt_derivation_read(log, &log->entries, &log->entry_count, &log->derivation);
}

void tt_run_log_close(tt_run_log *log) {
  if (!log) return;
  tt_log_unmap(log->data, log->mapped);
  if (log->file >= 0) close(log->file);
  tt_derivation_free(log->derivation);
  tt_run_log_forget(log);
  end_scan(log);
  free(log);
}

/* ---- following ---- */

static bool map_more(tt_run_log *log) {
  struct stat about;
  if (fstat(log->file, &about) != 0 || (size_t)about.st_size <= log->mapped) return true;
  const uint8_t *data = tt_log_map_more(log->data, log->mapped, (size_t)about.st_size);
  if (!data) return false;
  log->data = data;
  log->mapped = (size_t)about.st_size;
  return true;
}

tt_status tt_run_log_follow(tt_run_log *log) {
  if (log->file < 0 || log->damaged) return TT_OK;
  bool held = is_held(log->file);
  if (!map_more(log)) return TT_NOMEM;
  size_t whole = held ? find_whole(log, log->scanned) : log->mapped; /* what a crash left, too */
  log->size = whole;
  tt_status status = scan(log, whole);
  if (held || status != TT_OK) return status;
  close(log->file); /* nobody writes to it any more */
  log->file = -1;
  end_scan(log);
  return TT_OK;
}

bool tt_run_log_grows(const tt_run_log *log) { return log->file >= 0; }

bool tt_run_log_is_growing(const char *path) {
  FILE *file;
  if (tt_file_open(path, &file, NULL) != TT_OK) return false;
  bool held = is_held(fileno(file));
  fclose(file);
  return held;
}

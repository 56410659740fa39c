/* run_log.c: a log is opened: its index is taken, or its records are scanned; what is made of them is found. */
#include "base/file.h"
#include "record/derive.h"
#include "record/run_log_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_INDEXED (32u << 20) /* bytes: a smaller log is read from end to end in no time */
#define KEY_EVERY 10000000u       /* µs of the run between two places of the index */

/* ---- the scan ---- */

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
      calloc(TT_RUN_MOST_ENTRIES, sizeof *latest); /* pages that nobody touches cost nothing */
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

void tt_run_log_close(tt_run_log *log) {
  if (!log) return;
  if (log->data) munmap((void *)log->data, log->mapped);
  tt_derivation_free(log->derivation);
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

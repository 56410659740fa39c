/* backup.c: a copy of a file while others write to it: all of one moment, read page by page. */
#include "base/file.h"
#include "store/sqlite/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Pages between two looks at the progress: 4 MiB. */
#define STEP 1024

typedef struct backup {
  const char *path;
  char *target, *part; /**< where it goes, and where it grows */
  sqlite3 *from, *to;
  bool (*progress)(void *context, double done);
  void *context;
} backup;

/** One's own and empty, so that nobody else reads it, and nothing that is there is lost. */
static tt_status make_file(const backup *job, tt_error *error) {
  int descriptor = open(job->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (descriptor < 0) return tt_fail(error, TT_FAILED, "%s: %s", job->part, strerror(errno));
  close(descriptor);
  return TT_OK;
}

/** A transaction holds the moment: without one the copy would begin anew whenever somebody writes. */
static tt_status open_both(backup *job, tt_error *error) {
  TT_TRY(tt_sqlite_connect_reading(job->path, &job->from, error));
  TT_TRY(tt_sqlite_check_version(job->from, job->path, error));
  TT_TRY(
      tt_sqlite_execute(job->from, job->path, "BEGIN; SELECT count(*) FROM sqlite_schema", error));
  TT_TRY(make_file(job, error));
  return tt_sqlite_connect(job->part, SQLITE_OPEN_READWRITE, &job->to, error);
}

static tt_status copy_pages(backup *job, tt_error *error) {
  sqlite3_backup *pages = sqlite3_backup_init(job->to, "main", job->from, "main");
  if (!pages) return tt_sqlite_fail(job->to, job->part, "can't copy", error);
  int result;
  tt_status status = TT_OK;
  while (status == TT_OK && (result = sqlite3_backup_step(pages, STEP)) == SQLITE_OK) {
    const int all = sqlite3_backup_pagecount(pages), left = sqlite3_backup_remaining(pages);
    if (job->progress && !job->progress(job->context, all ? 1 - (double)left / all : 1))
      status = tt_fail(error, TT_INTERRUPTED, "ended; no copy is left");
  }
  int finished = sqlite3_backup_finish(pages);
  if (status != TT_OK) return status;
  return result == SQLITE_DONE && finished == SQLITE_OK
             ? TT_OK
             : tt_sqlite_fail(job->to, job->part, "can't copy", error);
}

/** The copy gets its name once it is whole and on the disk. */
static tt_status place(backup *job, tt_error *error) {
  if (sqlite3_close(job->to) != SQLITE_OK)
    return tt_fail(error, TT_FAILED, "%s: can't be closed", job->part);
  job->to = NULL;
  int descriptor = open(job->part, O_RDONLY | O_CLOEXEC);
  bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  if (descriptor >= 0) close(descriptor);
  if (!synced || link(job->part, job->target) < 0)
    return tt_fail(error, TT_FAILED, "%s: %s", job->target, strerror(errno));
  tt_file_sync_name(job->target);
  return TT_OK;
}

static tt_status back_up(backup *job, tt_error *error) {
  if (access(job->target, F_OK) == 0)
    return tt_fail(error, TT_INVALID, "%s: it is there already; give another file", job->target);
  tt_status status = open_both(job, error);
  if (status == TT_OK) status = copy_pages(job, error);
  if (status == TT_OK) status = place(job, error);
  sqlite3_close(job->to);
  sqlite3_close(job->from);
  unlink(job->part);
  return status;
}

tt_status tt_sqlite_back_up(const char *path, const char *target,
                            bool (*progress)(void *context, double done), void *context,
                            tt_error *error) {
  backup job = {.path = path,
                .target = strdup(target),
                .part = malloc(strlen(target) + sizeof ".part"),
                .progress = progress,
                .context = context};
  tt_status status = TT_OK;
  if (job.target && job.part)
    sprintf(job.part, "%s.part", target);
  else
    status = tt_fail(error, TT_NOMEM, "out of memory");
  if (status == TT_OK) status = back_up(&job, error);
  free(job.target);
  free(job.part);
  return status;
}

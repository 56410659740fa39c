#include "record/log_file.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "record/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_WAIT 1000000 /* µs for a lock */
#define LOCK_STEP 1000    /* µs */

struct tt_log_file {
  char *path;
  int file;
  uint8_t checksum;
  atomic_bool begun; /* its beginning is written */
  atomic_bool broken;
  atomic_int trouble;  /* errno of what broke it */
  atomic_bool removed; /* or it has no name any more */
  atomic_ullong bytes;
};

static bool is_full(int number) { return number == ENOSPC || number == EDQUOT; }

static bool is_empty(int file) {
  struct stat about;
  return fstat(file, &about) == 0 && about.st_size == 0 && about.st_nlink > 0;
}

/* Readers that ask whether it grows hold it for a moment, another recorder for its whole run. */
static bool lock(int file) {
  const int64_t end = tt_monotonic_us() + MOST_WAIT;
  while (flock(file, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true; /* there are no locks here */
    if (tt_monotonic_us() >= end) return false;
    usleep(LOCK_STEP);
  }
  return true;
}

static tt_status open_file(tt_log_file *to, tt_error *error) {
  struct stat about;
  if (stat(to->path, &about) == 0 && !S_ISREG(about.st_mode))
    return tt_fail(error, TT_FAILED, "%s: is no file that a run log can be; name another",
                   to->path);
  to->file = open(to->path, O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_CLOEXEC, 0600);
  if (to->file < 0)
    return tt_fail(error, is_full(errno) ? TT_FULL : TT_FAILED,
                   "%s: can't write the run log: %s; its folder must exist and be yours", to->path,
                   strerror(errno));
  if (!is_empty(to->file) || !lock(to->file) || !is_empty(to->file)) /* nor begun meanwhile */
    return tt_fail(error, TT_FAILED, "%s: exists already; name another file or remove it",
                   to->path);
  tt_file_sync_name(to->path);
  return TT_OK;
}

tt_status tt_log_file_open(const char *path, uint8_t checksum, tt_log_file **made,
                           tt_error *error) {
  *made = NULL;
  tt_log_file *file = calloc(1, sizeof *file);
  if (!file) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  file->file = -1;
  file->checksum = checksum;
  file->path = strdup(path);
  tt_status status =
      file->path ? open_file(file, error) : tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  if (status != TT_OK) {
    tt_log_file_close(file);
    return status;
  }
  *made = file;
  return TT_OK;
}

void tt_log_file_close(tt_log_file *file) {
  if (!file) return;
  if (file->file >= 0) close(file->file);
  free(file->path);
  free(file);
}

static void break_off(tt_log_file *file) {
  const char *reason = strerror(errno);
  int none = 0;
  atomic_compare_exchange_strong(&file->trouble, &none, errno);
  if (!atomic_exchange(&file->broken, true) && atomic_load(&file->begun))
    tt_log_error("%s: can't write: %s; nothing more of this run is kept", file->path, reason);
}

/* What is written on is gone with the program. A file that was only renamed is whole under its new name. */
static void look_for_name(tt_log_file *file) {
  struct stat about;
  if (fstat(file->file, &about) != 0 || about.st_nlink > 0) return;
  atomic_store(&file->removed, true);
  if (!atomic_exchange(&file->broken, true))
    tt_log_error("%s: was removed or replaced; nothing of this run is kept", file->path);
}

static void write_all(tt_log_file *file, const uint8_t *bytes, size_t size) {
  size_t done = 0;
  while (done < size && !atomic_load(&file->broken)) {
    ssize_t wrote = write(file->file, bytes + done, size - done);
    if (wrote >= 0) {
      done += (size_t)wrote;
    } else if (errno != EINTR) {
      break_off(file);
    }
  }
  atomic_fetch_add(&file->bytes, done);
}

bool tt_log_file_write(tt_log_file *file, const void *bytes, size_t size, uint64_t timestamp) {
  uint8_t checksum[TT_CHECKSUM_SIZE];
  if (size > 0) {
    tt_checksum_make(checksum, file->checksum, timestamp, atomic_load(&file->bytes), bytes, size);
    write_all(file, bytes, size);
    write_all(file, checksum, sizeof checksum);
  }
  if (!atomic_load(&file->broken)) atomic_store(&file->begun, true);
  return !atomic_load(&file->broken);
}

bool tt_log_file_sync(tt_log_file *file) {
  if (fdatasync(file->file) != 0) break_off(file);
  look_for_name(file);
  return !atomic_load(&file->broken);
}

bool tt_log_file_broken(const tt_log_file *file) {
  return atomic_load(&((tt_log_file *)file)->broken);
}

bool tt_log_file_removed(const tt_log_file *file) {
  return atomic_load(&((tt_log_file *)file)->removed);
}

tt_status tt_log_file_check(const tt_log_file *file, tt_error *error) {
  const int refused = atomic_load(&((tt_log_file *)file)->trouble);
  if (tt_log_file_removed(file))
    return tt_fail(error, TT_FAILED, "%s: was removed or replaced; nothing of this run is kept",
                   file->path);
  if (!refused) return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "%s: can't write: %s; what is in it can be read and proved, the rest is not kept",
                 file->path, strerror(refused));
}

uint64_t tt_log_file_bytes(const tt_log_file *file) {
  return atomic_load(&((tt_log_file *)file)->bytes);
}

void tt_log_file_remove(tt_log_file *file) { unlink(file->path); }

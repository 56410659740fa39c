#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_PARTS 100   /* of those that were killed, and of those that write at the moment */
#define PIECE (1u << 30) /* bytes */

static tt_status refuse(const char *path, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: can't write: %s", path, strerror(errno));
}

/* By a name that is free: what stands beside the file is somebody's. */
static int make_part(tt_output_file *to) {
  for (int number = 1; number <= MOST_PARTS; number++) {
    char end[16] = "";
    if (number > 1) snprintf(end, sizeof end, "%d", number);
    if (snprintf(to->part, sizeof to->part, "%s.part%s", to->path, end) >= (int)sizeof to->part) {
      errno = ENAMETOOLONG;
      return -1;
    }
    int file = open(to->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

static FILE *open_part(tt_output_file *to, const struct stat *before) {
  int file = make_part(to);
  if (file < 0) return NULL;
  if (before) (void)fchmod(file, before->st_mode & 0777);
  FILE *stream = fdopen(file, "wb");
  if (stream) return stream;
  close(file);
  unlink(to->part);
  return NULL;
}

tt_status tt_output_file_open(const char *path, tt_output_file *to, tt_error *error) {
  struct stat before;
  *to = (tt_output_file){.path = path};
  bool exists = lstat(path, &before) == 0;
  to->in_place = exists && !S_ISREG(before.st_mode);
  /* Its owner has protected it: that its folder may be written to doesn't matter. */
  if (exists && !to->in_place && access(path, W_OK) != 0) return refuse(path, error);
  if (!to->in_place) to->stream = open_part(to, exists ? &before : NULL);
  if (!to->stream && (errno == EACCES || errno == EROFS || errno == ENAMETOOLONG))
    to->in_place = true;
  if (to->in_place) to->stream = fopen(path, "wbe");
  return to->stream ? TT_OK : refuse(path, error);
}

/* Of the folder that the file is to stand in. */
static bool can_make(const char *path) {
  char folder[PATH_MAX];
  const char *slash = strrchr(path, '/');
  const int size = slash == path ? 1 : slash ? (int)(slash - path) : 1;
  if (size >= (int)sizeof folder) {
    errno = ENAMETOOLONG;
    return false;
  }
  snprintf(folder, sizeof folder, "%.*s", size, slash ? path : ".");
  return access(folder, W_OK | X_OK) == 0;
}

tt_status tt_output_file_check(const char *path, tt_error *error) {
  struct stat at;
  if (stat(path, &at) != 0) return can_make(path) ? TT_OK : refuse(path, error);
  if (S_ISDIR(at.st_mode)) errno = EISDIR;
  return !S_ISDIR(at.st_mode) && access(path, W_OK) == 0 ? TT_OK : refuse(path, error);
}

static bool copy(const char *part, const char *path) {
  const int from = open(part, O_RDONLY | O_CLOEXEC);
  const int into = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  ssize_t sent = from >= 0 && into >= 0 ? 1 : -1;
  while (sent > 0) sent = sendfile(into, from, NULL, PIECE);
  const int trouble = errno;
  if (from >= 0) close(from);
  if (into >= 0 && close(into) != 0) return false;
  errno = trouble;
  return sent == 0;
}

static bool give_name(const tt_output_file *to) {
  if (rename(to->part, to->path) == 0) return true;
  /* It can be written, but not replaced: it is a mount of its own, or another's in a folder like /tmp. */
  if (errno != EBUSY && errno != EPERM && errno != EACCES) return false;
  return copy(to->part, to->path) && unlink(to->part) == 0;
}

tt_status tt_output_file_close(tt_output_file *to, tt_status status, tt_error *error) {
  bool whole = !ferror(to->stream);
  if (fclose(to->stream) != 0) whole = false;
  if (whole && status == TT_OK && !to->in_place) whole = give_name(to);
  if (status == TT_OK && !whole) status = refuse(to->path, error);
  if (status != TT_OK && !to->in_place) unlink(to->part);
  return status;
}

#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static tt_status refuse(const char *path, tt_error *error) {
  return tt_fail(error, TT_FAILED, "%s: can't write: %s", path, strerror(errno));
}

static FILE *make_part(tt_output_file *to, const struct stat *before) {
  if (snprintf(to->part, sizeof to->part, "%s.part", to->path) >= (int)sizeof to->part) {
    errno = ENAMETOOLONG;
    return NULL;
  }
  unlink(to->part); /* of a program that was killed */
  int file = open(to->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
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
  if (!to->in_place) to->stream = make_part(to, exists ? &before : NULL);
  if (!to->stream && exists && (errno == EACCES || errno == EROFS)) to->in_place = true;
  if (to->in_place) to->stream = fopen(path, "wbe");
  return to->stream ? TT_OK : refuse(path, error);
}

tt_status tt_output_file_close(tt_output_file *to, tt_status status, tt_error *error) {
  bool whole = !ferror(to->stream);
  if (fclose(to->stream) != 0) whole = false;
  if (whole && status == TT_OK && !to->in_place) whole = rename(to->part, to->path) == 0;
  if (status == TT_OK && !whole) status = refuse(to->path, error);
  if (status != TT_OK && !to->in_place) unlink(to->part);
  return status;
}

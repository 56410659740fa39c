#include "record/run_picture.h"

#include "base/file.h"
#include "record/export.h"
#include "record/run_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES 4000000 /* of a picture: some dozen robots take 100 kB */

static bool is_older(const struct stat *a, const struct stat *b) {
  if (a->st_mtim.tv_sec != b->st_mtim.tv_sec) return a->st_mtim.tv_sec < b->st_mtim.tv_sec;
  return a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* The picture that is there already; false: it has to be made. */
static bool take_kept(const char *path, const tt_kept_run *run, tt_bytes *svg) {
  struct stat log, about;
  int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return false;
  bool fits = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && stat(run->path, &log) == 0 &&
              !is_older(&about, &log) && about.st_size > 0 && about.st_size <= MOST_BYTES;
  char *text = fits ? malloc((size_t)about.st_size) : NULL;
  fits = text && read(file, text, (size_t)about.st_size) == about.st_size;
  if (fits) tt_bytes_append(svg, text, (size_t)about.st_size);
  free(text);
  close(file);
  return fits;
}

static tt_status append(void *context, const void *bytes, size_t size) {
  tt_bytes *to = context;
  tt_bytes_append(to, bytes, size);
  return to->failed ? TT_NOMEM : TT_OK;
}

tt_status tt_kept_run_picture(const tt_kept_run *run, tt_bytes *svg, tt_error *error) {
  char *path;
  tt_run_log *log;
  size_t before = svg->size;
  if (asprintf(&path, "%s" TT_RUN_PICTURE, run->beside) < 0)
    return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = TT_OK;
  bool growing = tt_run_log_is_growing(run->path);
  if (growing || !take_kept(path, run, svg)) {
    status = tt_run_log_open(run->path, &log, error);
    if (status == TT_OK) {
      status = tt_export_svg(log, &(tt_export_sink){append, NULL, svg});
      if (status != TT_OK) tt_fail(error, status, "out of memory");
      tt_run_log_close(log);
    }
    /* In a folder in which nothing can be written it is made each time. */
    if (status == TT_OK && !growing)
      (void)tt_file_replace(path, svg->data + before, svg->size - before, false, NULL);
  }
  free(path);
  return status;
}

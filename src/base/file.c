#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands where a file should. */
static const char *kind_of(const struct stat *about) {
  return S_ISDIR(about->st_mode) ? "a folder" : "a pipe or a device";
}

tt_status tt_file_open(const char *path, FILE **file, tt_error *error) {
  struct stat about;
  int opened = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  *file = NULL;
  if (opened < 0 || fstat(opened, &about) != 0)
    tt_fail(error, TT_INVALID, "%s: %s", path, strerror(errno));
  else if (!S_ISREG(about.st_mode))
    tt_fail(error, TT_INVALID, "%s: is %s, not a file", path, kind_of(&about));
  else if (!(*file = fdopen(opened, "rb")))
    tt_fail(error, TT_INVALID, "%s: %s", path, strerror(errno));
  if (!*file && opened >= 0) close(opened);
  return *file ? TT_OK : TT_INVALID;
}

tt_status tt_file_read_rest(FILE *file, const char *path, size_t most, tt_bytes *bytes,
                            tt_error *error) {
  char piece[16384];
  int number = 0;
  *bytes = (tt_bytes){0};
  for (size_t wanted = most + 1, got = 1; wanted > 0 && got > 0; wanted -= got) {
    got = fread(piece, 1, wanted < sizeof piece ? wanted : sizeof piece, file);
    if (ferror(file)) number = errno;
    tt_bytes_append(bytes, piece, got);
  }
  tt_bytes_append(bytes, "", 1);
  const bool failed = bytes->failed;
  if (!failed && number == 0) return bytes->size--, TT_OK;
  tt_bytes_free(bytes);
  return failed ? tt_fail(error, TT_NOMEM, "%s: out of memory", path)
                : tt_fail(error, TT_INVALID, "%s: can't be read: %s", path, strerror(number));
}

tt_status tt_file_read(const char *path, size_t most, tt_bytes *bytes, tt_error *error) {
  FILE *file;
  *bytes = (tt_bytes){0};
  TT_TRY(tt_file_open(path, &file, error));
  tt_status status = tt_file_read_rest(file, path, most, bytes, error);
  fclose(file);
  return status;
}

tt_status tt_file_check_place(const char *path, const char *remedy, tt_error *error) {
  struct stat about;
  if (stat(path, &about) != 0 || S_ISREG(about.st_mode)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: is %s; %s", path, kind_of(&about), remedy);
}

/* At `position`, or where the file stands if that is negative. */
static bool write_from(int file, const char *bytes, size_t size, off_t position) {
  for (size_t done = 0; done < size;) {
    const ssize_t wrote = position < 0
                              ? write(file, bytes + done, size - done)
                              : pwrite(file, bytes + done, size - done, position + (off_t)done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote == 0) errno = EIO;
    if (wrote <= 0) return false;
    done += (size_t)wrote;
  }
  return true;
}

bool tt_file_write_all(int file, const void *bytes, size_t size) {
  return write_from(file, bytes, size, -1);
}

bool tt_file_write_all_at(int file, const void *bytes, size_t size, uint64_t position) {
  return write_from(file, bytes, size, (off_t)position);
}

/* Its other name is hidden: what a program that was killed left there shows up in no list. It is cut, so that it is never too long
 * where `path` is not. */
tt_status tt_file_replace(const char *path, const void *bytes, size_t size, bool synced,
                          tt_error *error) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  char *part;
  if (asprintf(&part, "%.*s.%.200s.XXXXXX", (int)(name - path), path, name) < 0)
    return tt_fail(error, TT_NOMEM, "out of memory");
  const int file = mkostemp(part, O_CLOEXEC);
  int number = file >= 0 && tt_file_write_all(file, bytes, size) && (!synced || fsync(file) == 0)
                   ? 0
                   : errno;
  if (file >= 0 && close(file) != 0 && !number) number = errno;
  if (!number && rename(part, path) != 0) number = errno;
  if (!number && synced) tt_file_sync_name(path);
  if (number && file >= 0) unlink(part);
  free(part);
  if (!number) return TT_OK;
  tt_fail(error, TT_FAILED, "%s: can't be written: %s", path, strerror(number));
  errno = number;
  return TT_FAILED;
}

void tt_file_sync_name(const char *path) {
  char folder[4096];
  const char *end = strrchr(path, '/');
  int size = end == path ? 1 : end ? (int)(end - path) : 0;
  snprintf(folder, sizeof folder, "%.*s", size, path);
  int opened = open(size ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  fsync(opened);
  close(opened);
}

/* The kernel calls a program whose file an upgrade replaced "NAME (deleted)"; what has the name now goes on in its place. */
static bool read_program(char *path) {
  static const char gone[] = " (deleted)";
  const ssize_t size = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (size <= 0) return false;
  path[size] = 0;
  char *end = size >= (ssize_t)strlen(gone) ? path + size - strlen(gone) : path;
  if (strcmp(end, gone) == 0 && access(path, F_OK) != 0) *end = 0;
  return true;
}

/* The program's name may be one of $PATH, so it is asked elsewhere. */
bool tt_file_own(char *path) {
  Dl_info self;
  bool in_library =
      dladdr((const void *)tt_file_own, &self) && self.dli_fname && strstr(self.dli_fname, ".so");
  return in_library ? realpath(self.dli_fname, path) != NULL : read_program(path);
}

bool tt_file_helper(const char *name, char *path) {
  char folder[PATH_MAX];
  bool known = tt_file_own(folder);
  for (int i = 0; i < 3 && known; i++) {
    char *slash = strrchr(folder, '/');
    if (!slash) break;
    *slash = 0;
    int size = snprintf(path, PATH_MAX, "%s/libexec/tether/%s", folder, name);
    if (size < PATH_MAX && access(path, X_OK) == 0) return true;
  }
  snprintf(path, PATH_MAX, "%s", name);
  return false;
}

tt_file_mark tt_file_note(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 ? (tt_file_mark){about.st_dev, about.st_ino} : (tt_file_mark){0};
}

bool tt_file_has_moved(const char *path, const tt_file_mark *mark) {
  if (!mark->inode) return false;
  tt_file_mark now = tt_file_note(path);
  return now.inode != mark->inode || now.device != mark->device;
}

bool tt_file_is_same(const char *one, const char *other) {
  const tt_file_mark a = tt_file_note(one), b = tt_file_note(other);
  return a.inode != 0 && a.inode == b.inode && a.device == b.device;
}

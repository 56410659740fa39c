#include "draft/files.h"

#include "base/file.h"
#include "base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NAME 100 /* bytes */

/* --- names --- */

/* Bytes of the character that `text` begins with; 0: it is no UTF-8, or one that nobody sees. */
static size_t character(const char *text) {
  const unsigned char *c = (const unsigned char *)text;
  size_t size = c[0] < 0x80                   ? 1
                : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                              : 0;
  if (size == 1) return c[0] < ' ' || c[0] == 0x7f || c[0] == '\\' ? 0 : 1;
  for (size_t i = 1; i < size; i++)
    if ((c[i] & 0xc0) != 0x80) return 0;
  const bool longer = (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90),
             none = (c[0] == 0xed && c[1] >= 0xa0) || (c[0] == 0xf4 && c[1] >= 0x90),
             control = c[0] == 0xc2 && c[1] < 0xa0;
  return longer || none || control ? 0 : size;
}

bool tt_draft_path_is_good(const char *path) {
  if (strlen(path) >= TT_DRAFT_MOST_PATH) return false;
  for (int names = 1;; names++) {
    size_t size = 0, one;
    if (names > TT_DRAFT_MOST_NAMES || *path == '.' || *path == ' ') return false;
    for (; *path && *path != '/'; path += one, size += one)
      if (!(one = character(path))) return false;
    if (!size || size > MOST_NAME) return false;
    if (!*path) return true;
    path++;
  }
}

bool tt_draft_path_is_yaml(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0);
}

static tt_status check_path(const char *path, tt_error *error) {
  if (tt_draft_path_is_good(path)) return TT_OK;
  return tt_fail(
      error, TT_INVALID,
      "this can't be a file's path: it has at most 8 names of at most 100 bytes, none of "
      "which begins with a dot or a blank, or has a backslash");
}

static void join(char whole[PATH_MAX], const char *folder, const char *path) {
  int size = snprintf(whole, PATH_MAX, "%s/%s", folder, path);
  if (size >= PATH_MAX) *whole = 0; /* there is no such file */
}

/* --- listing --- */

static int by_path(const void *one, const void *other) {
  return strcmp(((const tt_draft_file *)one)->path, ((const tt_draft_file *)other)->path);
}

static tt_status add_file(tt_draft_files *files, const char *path, const struct stat *about) {
  if (files->count == TT_DRAFT_MOST_FILES) return files->more = true, TT_OK; /* not by way of us */
  if (files->count % 32 == 0) {
    tt_draft_file *grown =
        reallocarray(files->items, (size_t)files->count + 32, sizeof *files->items);
    if (!grown) return TT_NOMEM;
    files->items = grown;
  }
  tt_draft_file *file = &files->items[files->count++];
  *file = (tt_draft_file){
      .size = (size_t)about->st_size,
      .changed = (int64_t)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec};
  memcpy(file->path, path, strlen(path) + 1); /* a good one fits */
  files->bytes += file->size;
  if (file->changed > files->changed) files->changed = file->changed;
  return TT_OK;
}

/* Files of `folder`/`below`; "" is the folder itself. */
static tt_status list_below(tt_draft_files *files, const char *folder, const char *below) {
  char whole[PATH_MAX], path[PATH_MAX];
  join(whole, folder, below);
  DIR *open = opendir(whole);
  tt_status status = open || *below ? TT_OK : TT_NOT_FOUND;
  for (const struct dirent *entry; status == TT_OK && open && (entry = readdir(open));) {
    struct stat about;
    int size = snprintf(path, sizeof path, "%s%s%s", below, *below ? "/" : "", entry->d_name);
    if (size >= (int)sizeof path || !tt_draft_path_is_good(path)) continue;
    if (fstatat(dirfd(open), entry->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(about.st_mode)) status = list_below(files, folder, path);
    if (S_ISREG(about.st_mode)) status = add_file(files, path, &about);
  }
  if (open) closedir(open);
  return status;
}

tt_status tt_draft_files_list(const char *folder, tt_draft_files *files, tt_error *error) {
  *files = (tt_draft_files){0};
  tt_status status = list_below(files, folder, "");
  if (status != TT_OK) {
    tt_draft_files_free(files);
    return tt_fail(error, status, status == TT_NOMEM ? "out of memory" : "there is no such draft");
  }
  if (files->count) qsort(files->items, (size_t)files->count, sizeof *files->items, by_path);
  uint64_t hash = TT_HASH_START;
  for (int i = 0; i < files->count; i++) {
    const tt_draft_file *file = &files->items[i];
    hash = tt_hash_bytes(hash, file->path, strlen(file->path) + 1);
    hash = tt_hash_bytes(hash, &file->size, sizeof file->size);
    hash = tt_hash_bytes(hash, &file->changed, sizeof file->changed);
  }
  files->revision = hash >> 11;
  return TT_OK;
}

void tt_draft_files_free(tt_draft_files *files) {
  free(files->items);
  *files = (tt_draft_files){0};
}

/* --- reading and writing --- */

/* How many there were of `size`, since others may cut the file meanwhile; −1: errno says why. */
static ssize_t read_all(int file, char *bytes, size_t size) {
  size_t done = 0;
  while (done < size) {
    const ssize_t got = read(file, bytes + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += (size_t)got;
  }
  return (ssize_t)done;
}

tt_status tt_draft_file_read(const char *folder, const char *path, char **bytes, size_t *size,
                             tt_error *error) {
  char whole[PATH_MAX];
  struct stat about;
  TT_TRY(check_path(path, error));
  join(whole, folder, path);
  int file = open(whole, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0 && errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != ENXIO)
    return tt_fail(error, TT_FAILED, "%s: can't read: %s", path, strerror(errno));
  if (file < 0 || fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    if (file >= 0) close(file);
    return tt_fail(error, TT_NOT_FOUND, "there is no file '%s'", path);
  }
  const bool large = (uintmax_t)about.st_size > TT_DRAFT_MOST_FILE;
  char *read_bytes = large ? NULL : malloc((size_t)about.st_size + 1);
  ssize_t done = read_bytes ? read_all(file, read_bytes, (size_t)about.st_size) : 0;
  const int reason = errno;
  close(file);
  if (large) return tt_fail(error, TT_FULL, "%s: the file is larger than 32 MiB", path);
  if (!read_bytes) return tt_fail(error, TT_NOMEM, "out of memory");
  if (done < 0) {
    free(read_bytes);
    return tt_fail(error, TT_FAILED, "%s: can't read: %s", path, strerror(reason));
  }
  read_bytes[done] = 0;
  *bytes = read_bytes;
  *size = (size_t)done;
  return TT_OK;
}

static tt_status check_room(const char *folder, const char *path, size_t size, tt_error *error) {
  tt_draft_files files;
  TT_TRY(tt_draft_files_list(folder, &files, error));
  size_t others = files.bytes;
  bool is_there = false;
  for (int i = 0; i < files.count; i++) {
    if (strcmp(files.items[i].path, path) != 0) continue;
    is_there = true;
    others -= files.items[i].size;
  }
  const bool many = !is_there && files.count >= TT_DRAFT_MOST_FILES,
             large = others + size > TT_DRAFT_MOST_BYTES;
  tt_draft_files_free(&files);
  if (size > TT_DRAFT_MOST_FILE)
    return tt_fail(error, TT_FULL, "%s: a file has at most 32 MiB", path);
  if (many) return tt_fail(error, TT_FULL, "a draft has at most %d files", TT_DRAFT_MOST_FILES);
  if (large) return tt_fail(error, TT_FULL, "a draft's files have at most 128 MiB together");
  return TT_OK;
}

static tt_status make_folders(char *whole, size_t skip, tt_error *error) {
  for (char *slash = strchr(whole + skip + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    bool made = mkdir(whole, 0700) == 0 || errno == EEXIST;
    int reason = errno;
    *slash = '/';
    if (!made)
      return tt_fail(error, TT_FAILED, "%s: can't make its folder: %s", whole + skip + 1,
                     strerror(reason));
  }
  return TT_OK;
}

tt_status tt_draft_file_write(const char *folder, const char *path, const void *bytes, size_t size,
                              tt_error *error) {
  char whole[PATH_MAX];
  TT_TRY(check_path(path, error));
  TT_TRY(check_room(folder, path, size, error));
  join(whole, folder, path);
  TT_TRY(make_folders(whole, strlen(folder), error));
  tt_status status = tt_file_replace(whole, bytes, size, false, error);
  const int reason = errno;
  if (status != TT_FAILED) return status;
  if (reason == EISDIR || reason == ENOTDIR || reason == EEXIST)
    return tt_fail(error, TT_INVALID, "%s: a file and a folder can't have one name; take another",
                   path);
  return tt_fail(error, reason == ENOSPC || reason == EDQUOT ? TT_FULL : TT_FAILED,
                 "%s: can't write: %s", path, strerror(reason));
}

tt_status tt_draft_file_remove(const char *folder, const char *path, tt_error *error) {
  char whole[PATH_MAX];
  TT_TRY(check_path(path, error));
  join(whole, folder, path);
  if (unlink(whole) != 0)
    return tt_fail(
        error, errno == ENOENT || errno == EISDIR || errno == ENOTDIR ? TT_NOT_FOUND : TT_FAILED,
        "there is no file '%s'", path);
  for (char *slash; (slash = strrchr(whole, '/')) - whole > (ptrdiff_t)strlen(folder);) {
    *slash = 0;
    if (rmdir(whole) != 0) break;
  }
  return TT_OK;
}

/* Whatever is in it; `folder` is open, and is closed here. */
static bool empty(int folder, int depth) {
  DIR *open = fdopendir(folder);
  if (!open) return close(folder), false;
  bool good = depth < 64;
  for (const struct dirent *entry; good && (entry = readdir(open));) {
    const char *name = entry->d_name;
    if (!strcmp(name, ".") || !strcmp(name, "..")) continue;
    int below = openat(dirfd(open), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    good = below < 0 || empty(below, depth + 1);
    good = good && unlinkat(dirfd(open), name, below < 0 ? 0 : AT_REMOVEDIR) == 0;
  }
  closedir(open);
  return good;
}

tt_status tt_draft_folder_remove(const char *folder, tt_error *error) {
  int open_folder = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (open_folder < 0) return tt_fail(error, TT_NOT_FOUND, "there is no such draft");
  if (empty(open_folder, 0) && rmdir(folder) == 0) return TT_OK;
  return tt_fail(error, TT_FAILED, "%s: can't remove: %s", folder, strerror(errno));
}

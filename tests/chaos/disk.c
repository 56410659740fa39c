/* disk.c: the calls, what is remembered of them, and what is left of that. The test's program defines the C library's own
 * functions, so that everything linked to it calls these. */
#undef _FORTIFY_SOURCE
#include "disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_FILES 64
#define SECTOR 512

typedef enum kind { NAMED, UNNAMED, WRITTEN, SIZED, SYNCED, FOLDER_SYNCED, PROMISED } kind;

typedef struct call {
  kind kind;
  int file;
  char name[64];
  uint8_t *bytes;
  size_t offset, size; /* of what was written; or the new size; or what was promised */
} call;

/* Held through a call: what is remembered is in the order in which it happened. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char watched[PATH_MAX];
static call *calls;
static size_t call_count;
static char names[MOST_FILES][64]; /* present name of each file, "": it has none */
static int file_count;
static long seen, fails_at = -1;
static int fails_with;
static bool fails_forever, refused;

/* ---- what is remembered ---- */

static void remember(call made) {
  calls = realloc(calls, (call_count + 1) * sizeof *calls);
  calls[call_count++] = made;
}

static int file_called(const char *name) {
  for (int i = 0; i < file_count; i++)
    if (strcmp(names[i], name) == 0) return i;
  return -1;
}

static void give_name(int file, const char *name) {
  call made = {.kind = NAMED, .file = file};
  snprintf(names[file], sizeof names[file], "%s", name);
  snprintf(made.name, sizeof made.name, "%s", name);
  remember(made);
}

static void take_name(const char *name) {
  int file = file_called(name);
  call made = {.kind = UNNAMED, .file = file};
  if (file < 0) return;
  snprintf(made.name, sizeof made.name, "%s", name);
  names[file][0] = '\0';
  remember(made);
}

/* The name in the watched folder of a path; NULL: it is elsewhere. "" is the folder itself. */
static const char *name_of(const char *path) {
  size_t size = strlen(watched);
  if (!size || strncmp(path, watched, size) != 0) return NULL;
  if (!path[size]) return path + size;
  return path[size] == '/' && !strchr(path + size + 1, '/') ? path + size + 1 : NULL;
}

static const char *name_of_open(int descriptor, char path[PATH_MAX]) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = readlink(link, path, PATH_MAX - 1);
  path[size < 0 ? 0 : size] = '\0';
  return name_of(path);
}

/* ---- calls that fail ---- */

/* Is it this call's turn? `writes`: it may be cut short or interrupted. */
static bool must_fail(bool writes) {
  long number = seen++;
  if (fails_at < 0 || number < fails_at || (number > fails_at && !fails_forever)) return false;
  if (!writes && (fails_with == DISK_SHORT || fails_with == EINTR)) return false;
  if (fails_with != DISK_SHORT) errno = fails_with;
  refused |= fails_with != DISK_SHORT && fails_with != EINTR;
  return true;
}

static ssize_t change(int descriptor, const void *bytes, size_t size, off_t offset, bool placed) {
  char path[PATH_MAX];
  pthread_mutex_lock(&lock);
  const char *name = watched[0] ? name_of_open(descriptor, path) : NULL;
  bool failing = name && must_fail(true);
  if (failing && fails_with != DISK_SHORT) {
    pthread_mutex_unlock(&lock);
    return -1;
  }
  if (failing && size > 1) size /= 2;
  long done = placed ? syscall(SYS_pwrite64, descriptor, bytes, size, offset)
                     : syscall(SYS_write, descriptor, bytes, size);
  int file = name && done > 0 ? file_called(name) : -1;
  if (file >= 0) {
    call made = {.kind = WRITTEN, .file = file, .size = (size_t)done};
    made.offset = (size_t)(placed ? offset : lseek(descriptor, 0, SEEK_CUR) - done);
    made.bytes = malloc(made.size);
    memcpy(made.bytes, bytes, made.size);
    remember(made);
  }
  pthread_mutex_unlock(&lock);
  return done;
}

static int sync_number(int descriptor, long number) {
  char path[PATH_MAX];
  pthread_mutex_lock(&lock);
  const char *name = watched[0] ? name_of_open(descriptor, path) : NULL;
  int result = name && must_fail(false) ? -1 : (int)syscall(number, descriptor);
  int file = name && *name ? file_called(name) : -1;
  if (result == 0 && file >= 0) remember((call){.kind = SYNCED, .file = file});
  if (result == 0 && name && !*name) remember((call){.kind = FOLDER_SYNCED, .file = -1});
  pthread_mutex_unlock(&lock);
  return result;
}

static int open_file(const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&lock);
  const char *name = flags & O_CREAT ? name_of(path) : NULL;
  int opened =
      name && must_fail(false) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  if (name && opened >= 0 && file_called(name) < 0 && file_count < MOST_FILES)
    give_name(file_count++, name);
  pthread_mutex_unlock(&lock);
  return opened;
}

/* ---- the C library's functions ---- */

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_file(path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t write(int descriptor, const void *bytes, size_t size) {
  return change(descriptor, bytes, size, 0, false);
}
ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  return change(descriptor, bytes, size, offset, true);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset)
    __attribute__((alias("pwrite")));

int fsync(int descriptor) { return sync_number(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_number(descriptor, SYS_fdatasync); }

int ftruncate(int descriptor, off_t size) {
  char path[PATH_MAX];
  pthread_mutex_lock(&lock);
  const char *name = watched[0] ? name_of_open(descriptor, path) : NULL;
  int result = name && must_fail(false) ? -1 : (int)syscall(SYS_ftruncate, descriptor, size);
  int file = name && result == 0 ? file_called(name) : -1;
  if (file >= 0) remember((call){.kind = SIZED, .file = file, .size = (size_t)size});
  pthread_mutex_unlock(&lock);
  return result;
}
int ftruncate64(int descriptor, off64_t size) __attribute__((alias("ftruncate")));

int unlink(const char *path) {
  pthread_mutex_lock(&lock);
  const char *name = name_of(path);
  int result = name && must_fail(false) ? -1 : (int)syscall(SYS_unlink, path);
  if (name && result == 0) take_name(name);
  pthread_mutex_unlock(&lock);
  return result;
}

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&lock);
  const char *old = name_of(from), *new = name_of(to);
  int result = old && must_fail(false) ? -1 : (int)syscall(SYS_rename, from, to);
  int file = old && result == 0 ? file_called(old) : -1;
  if (file >= 0 && new) {
    take_name(new);
    names[file][0] = '\0';
    give_name(file, new);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

/* ---- the test's side ---- */

void disk_watch(const char *folder) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < call_count; i++) free(calls[i].bytes);
  free(calls);
  calls = NULL;
  call_count = 0;
  file_count = 0;
  seen = 0;
  fails_at = -1;
  snprintf(watched, sizeof watched, "%s", folder ? folder : "");
  pthread_mutex_unlock(&lock);
}

long disk_calls(void) {
  pthread_mutex_lock(&lock);
  long number = seen;
  pthread_mutex_unlock(&lock);
  return number;
}

long disk_moments(void) {
  pthread_mutex_lock(&lock);
  long number = (long)call_count;
  pthread_mutex_unlock(&lock);
  return number;
}

void disk_fail(long after, int error, bool forever) {
  pthread_mutex_lock(&lock);
  fails_at = after < 0 ? -1 : seen + after;
  fails_with = error;
  fails_forever = forever;
  refused = false;
  pthread_mutex_unlock(&lock);
}

bool disk_refused(void) {
  pthread_mutex_lock(&lock);
  bool did = refused;
  pthread_mutex_unlock(&lock);
  return did;
}

void disk_acknowledge(int promised) {
  pthread_mutex_lock(&lock);
  remember((call){.kind = PROMISED, .file = -1, .size = (size_t)promised});
  pthread_mutex_unlock(&lock);
}

/* ---- what the power leaves ---- */

typedef struct content {
  uint8_t *bytes;
  size_t size;
} content;

static void resize(content *of, size_t size) {
  of->bytes = realloc(of->bytes, size + 1);
  if (size > of->size) memset(of->bytes + of->size, 0, size - of->size);
  of->size = size;
}

/* `keep`: bytes of it that arrive; sector by sector by the dice where that is NULL. */
static void put(content *to, const call *made, const size_t *keep, unsigned *dice) {
  if (made->kind == SIZED) {
    resize(to, made->size);
    return;
  }
  size_t size = keep ? *keep : made->size;
  if (size && made->offset + size > to->size) resize(to, made->offset + size);
  for (size_t at = 0; at < size; at += SECTOR) {
    size_t part = size - at < SECTOR ? size - at : SECTOR;
    if (keep || rand_r(dice) & 1) memcpy(to->bytes + made->offset + at, made->bytes + at, part);
  }
}

static content content_after(int file, size_t count, disk_loss loss, unsigned *dice) {
  size_t synced = 0, loose = 0;
  content made = {0};
  for (size_t i = 0; i < count; i++) {
    if (calls[i].file == file && calls[i].kind == SYNCED) synced = i;
    if (calls[i].file == file && calls[i].kind == WRITTEN) loose++;
  }
  bool ended = false;
  for (size_t i = 0; i < count; i++) {
    if (calls[i].file != file || (calls[i].kind != WRITTEN && calls[i].kind != SIZED)) continue;
    size_t whole = calls[i].size;
    if (i < synced || loss == DISK_LOSES_NOTHING) {
      put(&made, &calls[i], &whole, dice);
    } else if (loss == DISK_LOSES_END && !ended) {
      ended = (size_t)rand_r(dice) % (loose + 1) == 0;
      if (ended) whole = (size_t)rand_r(dice) % (whole + 1);
      if (!ended || calls[i].kind == WRITTEN) put(&made, &calls[i], &whole, dice);
    } else if (loss == DISK_LOSES_ANY && rand_r(dice) & 1) {
      put(&made, &calls[i], NULL, dice);
    }
  }
  return made;
}

/* Folders keep the order of their changes, but lose the last ones. */
static size_t names_after(size_t count, disk_loss loss, unsigned *dice) {
  size_t synced = 0;
  for (size_t i = 0; i < count; i++)
    if (calls[i].kind == FOLDER_SYNCED) synced = i;
  if (loss == DISK_LOSES_NOTHING) return count;
  if (loss == DISK_LOSES_ALL) return synced;
  return synced + (size_t)rand_r(dice) % (count - synced + 1);
}

static void empty(const char *folder) {
  DIR *listing = opendir(folder);
  if (!listing) return;
  for (struct dirent *entry; (entry = readdir(listing));)
    if (entry->d_name[0] != '.') unlinkat(dirfd(listing), entry->d_name, 0);
  closedir(listing);
}

static void lay_out(const char *folder, const char *name, content *of) {
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  if (!file || (of->size && fwrite(of->bytes, of->size, 1, file) != 1)) abort();
  fclose(file);
  free(of->bytes);
}

int disk_after_power(long moment, disk_loss loss, unsigned seed, const char *folder) {
  unsigned dice = seed * 2654435761u + (unsigned)moment;
  size_t count = (size_t)moment < call_count ? (size_t)moment : call_count;
  char left[MOST_FILES][64] = {{0}};
  int promised = 0;
  empty(folder);
  size_t named = names_after(count, loss, &dice);
  for (size_t i = 0; i < count; i++) {
    const call *made = &calls[i];
    if (made->kind == PROMISED) promised = (int)made->size;
    if (i < named && made->kind == NAMED) memcpy(left[made->file], made->name, sizeof made->name);
    if (i < named && made->kind == UNNAMED) left[made->file][0] = '\0';
  }
  for (int file = 0; file < file_count; file++) {
    const char *ending = strrchr(left[file], '-');
    if (!left[file][0] || (ending && strcmp(ending, "-shm") == 0)) continue; /* shared memory */
    content of = content_after(file, count, loss, &dice);
    lay_out(folder, left[file], &of);
  }
  return promised;
}

#include "sweep/list.h"

#include "base/hash.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENDING ".sweep"
#define MOST_ID 80

/* Letters, digits, '-', '_' and '.' not in front: nothing that leaves the folder. */
static bool is_id(const char *id) {
  size_t length = strlen(id);
  for (const char *c = id; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("-_.", *c)) return false;
  return length && length <= MOST_ID && *id != '.';
}

/* The table's name, and a hash of its path. */
static void name_sweep(const char *path, char id[MOST_ID + 1]) {
  const char *slash = strrchr(path, '/');
  char name[64];
  snprintf(name, sizeof name, "%.60s", slash ? slash + 1 : path);
  char *dot = strrchr(name, '.');
  if (dot && dot != name) *dot = 0;
  for (char *c = name; *c; c++)
    if (!isalnum((unsigned char)*c) && *c != '_') *c = '-';
  snprintf(id, MOST_ID + 1, "%s-%08x", name,
           (unsigned)tt_hash_bytes(TT_HASH_START, path, strlen(path)));
}

/* What a note says: the path of a plain file. Only its owner's word counts: others may write into a shared folder. */
static char *read_note(int folder, const char *name, int64_t *noted) {
  char path[PATH_MAX + 1];
  struct stat about, table;
  int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return NULL;
  bool ours = fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == geteuid();
  ssize_t size = ours ? read(file, path, sizeof path - 1) : -1;
  close(file);
  if (size < 2 || path[0] != '/' || path[size - 1] != '\n') return NULL;
  path[size - 1] = 0;
  *noted = (int64_t)about.st_mtime;
  return strlen(path) == (size_t)size - 1 && stat(path, &table) == 0 && S_ISREG(table.st_mode)
             ? strdup(path)
             : NULL;
}

tt_status tt_sweeps_note(const char *folder, const char *path, tt_error *error) {
  char real[PATH_MAX], id[MOST_ID + 1], note[PATH_MAX + MOST_ID + 16];
  if (strncmp(path, "postgres", 8) == 0) return TT_OK;
  if (!realpath(path, real)) return tt_fail(error, TT_FAILED, "%s: %s", path, strerror(errno));
  name_sweep(real, id);
  snprintf(note, sizeof note, "%s/%s" ENDING, folder, id);
  int file = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  bool written = file >= 0 && dprintf(file, "%s\n", real) > 0;
  int number = errno;
  if (file >= 0) close(file);
  return written ? TT_OK
                 : tt_fail(error, TT_FAILED, "%s: can't be written: %s", note, strerror(number));
}

/* "gains-1f0c3a52" of "gains-1f0c3a52.sweep"; NULL where it is none, or there is no memory. */
static char *id_of(const char *name) {
  size_t length = strlen(name), ending = strlen(ENDING);
  if (length <= ending || strcmp(name + length - ending, ENDING) != 0) return NULL;
  char *id = strndup(name, length - ending);
  if (id && is_id(id)) return id;
  free(id);
  return NULL;
}

static tt_status take_in(tt_noted_sweeps *sweeps, int folder, const char *name) {
  tt_noted_sweep one = {.id = id_of(name)};
  if (one.id) one.path = read_note(folder, name, &one.noted);
  tt_noted_sweep *grown =
      one.path ? realloc(sweeps->sweeps, (sweeps->count + 1) * sizeof *grown) : NULL;
  if (grown) {
    sweeps->sweeps = grown;
    grown[sweeps->count++] = one;
    return TT_OK;
  }
  tt_status status = one.path ? TT_NOMEM : TT_OK;
  free(one.id);
  free(one.path);
  return status;
}

static int newest_first(const void *a, const void *b) {
  const tt_noted_sweep *one = a, *other = b;
  if (one->noted != other->noted) return one->noted < other->noted ? 1 : -1;
  return strcmp(one->id, other->id);
}

tt_status tt_sweeps_list(const char *folder, tt_noted_sweeps *sweeps) {
  *sweeps = (tt_noted_sweeps){0};
  DIR *directory = opendir(folder);
  if (!directory) return TT_OK;
  tt_status status = TT_OK;
  const struct dirent *entry;
  while (status == TT_OK && (entry = readdir(directory)))
    status = take_in(sweeps, dirfd(directory), entry->d_name);
  closedir(directory);
  if (sweeps->count) qsort(sweeps->sweeps, sweeps->count, sizeof *sweeps->sweeps, newest_first);
  while (sweeps->count > TT_SWEEP_MOST_NOTED) {
    const tt_noted_sweep *last = &sweeps->sweeps[--sweeps->count];
    free(last->id);
    free(last->path);
  }
  return status;
}

void tt_sweeps_free(tt_noted_sweeps *sweeps) {
  for (size_t i = 0; i < sweeps->count; i++) {
    free(sweeps->sweeps[i].id);
    free(sweeps->sweeps[i].path);
  }
  free(sweeps->sweeps);
  *sweeps = (tt_noted_sweeps){0};
}

char *tt_sweep_find(const char *folder, const char *id) {
  char name[MOST_ID + 16];
  int64_t noted;
  if (!is_id(id)) return NULL;
  int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return NULL;
  snprintf(name, sizeof name, "%s" ENDING, id);
  char *path = read_note(directory, name, &noted);
  close(directory);
  return path;
}

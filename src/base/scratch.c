/* scratch.c */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define ROOT "/tmp/"
#define MEMORY "/dev/shm/"
#define LEAST_ROOM (32u << 20) /* bytes: what a model and its meshes may need */
#define PREFIX "tether-scratch-"
#define MOST_TRIES 10

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)kind, (void)where;
  return remove(path);
}

static void remove_all(const char *folder) {
  nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

/* The lock of a folder of ours that nobody uses, or −1. */
static int try_lock(const char *folder) {
  struct stat about;
  int lock = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) return -1;
  bool ours = fstat(lock, &about) == 0 && about.st_uid == geteuid();
  if (ours && flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &about) == 0 && about.st_nlink > 0)
    return lock;
  close(lock);
  return -1;
}

/* What those left behind who were killed. */
static void sweep(const char *root) {
  char path[sizeof MEMORY + 256];
  DIR *all = opendir(root);
  for (const struct dirent *entry; all && (entry = readdir(all));) {
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
    snprintf(path, sizeof path, "%s%s", root, entry->d_name);
    int lock = try_lock(path);
    if (lock < 0) continue;
    remove_all(path);
    close(lock);
  }
  if (all) closedir(all);
}

static bool has_room(const char *root) {
  struct statvfs about;
  return statvfs(root, &about) == 0 && (uint64_t)about.f_bavail * about.f_frsize >= LEAST_ROOM;
}

static bool make_in(const char *root, tt_scratch *scratch) {
  sweep(root);
  for (int i = 0; i < MOST_TRIES; i++) {
    snprintf(scratch->folder, sizeof scratch->folder, "%s%sXXXXXX", root, PREFIX);
    if (!mkdtemp(scratch->folder)) break;
    scratch->lock = try_lock(scratch->folder);
    if (scratch->lock >= 0) return true; /* else another's sweep came between */
    rmdir(scratch->folder);
  }
  scratch->folder[0] = '\0';
  return false;
}

/* Memory takes the place of a disk that is full. */
tt_status tt_scratch_open(tt_scratch *scratch, tt_error *error) {
  scratch->folder[0] = '\0';
  if (!has_room(ROOT) && has_room(MEMORY) && make_in(MEMORY, scratch)) return TT_OK;
  if (make_in(ROOT, scratch)) return TT_OK;
  return tt_fail(error, TT_FAILED, "%s: no temporary folder can be made there: %s", ROOT,
                 strerror(errno));
}

void tt_scratch_close(tt_scratch *scratch) {
  if (!scratch->folder[0]) return;
  remove_all(scratch->folder);
  close(scratch->lock);
  scratch->folder[0] = '\0';
}

/* scratch.c */
#include "base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT "/tmp/"
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
static void sweep(void) {
  char path[sizeof ROOT + 256];
  DIR *all = opendir(ROOT);
  for (const struct dirent *entry; all && (entry = readdir(all));) {
    if (strncmp(entry->d_name, PREFIX, strlen(PREFIX)) != 0) continue;
    snprintf(path, sizeof path, "%s%s", ROOT, entry->d_name);
    int lock = try_lock(path);
    if (lock < 0) continue;
    remove_all(path);
    close(lock);
  }
  if (all) closedir(all);
}

tt_status tt_scratch_open(tt_scratch *scratch, tt_error *error) {
  sweep();
  for (int i = 0; i < MOST_TRIES; i++) {
    snprintf(scratch->folder, sizeof scratch->folder, "%s%sXXXXXX", ROOT, PREFIX);
    if (!mkdtemp(scratch->folder)) break;
    scratch->lock = try_lock(scratch->folder);
    if (scratch->lock >= 0) return TT_OK; /* else another's sweep came between */
    rmdir(scratch->folder);
  }
  scratch->folder[0] = '\0';
  return tt_fail(error, TT_FAILED, "%s: no temporary folder can be made there: %s", ROOT,
                 strerror(errno));
}

void tt_scratch_close(tt_scratch *scratch) {
  if (!scratch->folder[0]) return;
  remove_all(scratch->folder);
  close(scratch->lock);
  scratch->folder[0] = '\0';
}

/* lock.c: the kernel holds the lock; the number of the process stands in the file only to be told. */
#include "database/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/** What a process was called with, "" if nobody may know. */
static void read_command(long process, char *text, size_t size) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%ld/cmdline", process);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t got = file < 0 ? 0 : read(file, text, size - 1);
  if (file >= 0) close(file);
  text[got > 0 ? got : 0] = '\0';
  for (ssize_t i = 0; i + 1 < got; i++)
    if ((unsigned char)text[i] < ' ' || text[i] == 0x7f) text[i] = ' ';
}

static tt_status refuse(int file, const char *path, tt_error *error) {
  char text[24] = "", command[100];
  // It is written just after it was locked.
  for (int i = 0; i < 20 && pread(file, text, sizeof text - 1, 0) <= 0; i++) usleep(10000);
  long process = strtol(text, NULL, 10);
  if (process <= 0) {
    return tt_fail(error, TT_FAILED,
                   "%s: another process writes into it; give this one a file of its own", path);
  }
  read_command(process, command, sizeof command);
  return tt_fail(error, TT_FAILED,
                 "%s: process %ld%s%s%s writes into it; end that, or give this one a file of its "
                 "own (programs that only read it don't mind)",
                 path, process, *command ? " (" : "", command, *command ? ")" : "");
}

/** Whether the file that was locked is still the one of that name: who releases it removes it. */
static bool is_current(const tt_lock *lock) {
  struct stat locked, named;
  return !fstat(lock->file, &locked) && !stat(lock->path, &named) &&
         locked.st_dev == named.st_dev && locked.st_ino == named.st_ino;
}

static tt_status take(tt_lock *lock, const char *path, tt_error *error) {
  do {
    if (lock->file >= 0) close(lock->file);
    lock->file = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock->file < 0)
      return tt_fail(error, errno == ENOSPC || errno == EDQUOT ? TT_FULL : TT_FAILED,
                     "%s: can't open: %s", lock->path, strerror(errno));
    if (flock(lock->file, LOCK_EX | LOCK_NB)) {
      tt_status status = errno == EWOULDBLOCK ? refuse(lock->file, path, error)
                                              : tt_fail(error, TT_FAILED, "%s: can't lock: %s",
                                                        lock->path, strerror(errno));
      close(lock->file);
      lock->file = -1;
      return status;
    }
  } while (!is_current(lock));
  return TT_OK;
}

/** By another name of the same file a process would find another lock, and another write-ahead log. */
static tt_status check_names(const char *path, tt_error *error) {
  struct stat info;
  if (stat(path, &info) || !S_ISREG(info.st_mode) || info.st_nlink <= 1) return TT_OK;
  return tt_fail(error, TT_FAILED,
                 "%s: this file has %lu names (hard links), and whoever writes it by another one "
                 "would not be noticed; remove the others (`find FOLDER -samefile FILE` shows "
                 "them), or give a copy",
                 path, (unsigned long)info.st_nlink);
}

tt_status tt_lock_take(tt_lock *lock, const char *path, tt_error *error) {
  *lock = TT_LOCK_NONE;
  TT_TRY(check_names(path, error));
  size_t size = strlen(path) + sizeof "-lock";
  *lock = (tt_lock){.file = -1, .path = malloc(size)};
  if (!lock->path) return tt_fail(error, TT_NOMEM, "%s: out of memory", path);
  snprintf(lock->path, size, "%s-lock", path);
  tt_status status = take(lock, path, error);
  if (status != TT_OK) {
    free(lock->path);
    *lock = TT_LOCK_NONE;
    return status;
  }
  char text[24];
  int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
  // Without it only the number of the process is not told.
  if (!ftruncate(lock->file, 0) && pwrite(lock->file, text, (size_t)length, 0) < 0) errno = 0;
  return TT_OK;
}

void tt_lock_release(tt_lock *lock) {
  if (lock->file < 0) return;
  unlink(lock->path);
  close(lock->file);
  free(lock->path);
  *lock = TT_LOCK_NONE;
}

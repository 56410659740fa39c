/* lock.h: one process at a time writes a file: another file beside it is locked for as long as the process lives. That it
 * is there says nothing; that it is held does.
 */
#ifndef TT_DATABASE_LOCK_H
#define TT_DATABASE_LOCK_H

#include "base/status.h"

typedef struct tt_lock {
  int file; /**< −1: not held */
  char *path;
} tt_lock;

/** Nothing is held. */
#define TT_LOCK_NONE ((tt_lock){.file = -1})

/** Takes `path`-lock. TT_FAILED: another process holds it, which is named, it can't be made, or the file has several
 *  names (hard links), each of which would have a lock of its own; TT_FULL: the disk has no room for it. Any thread. */
tt_status tt_lock_take(tt_lock *lock, const char *path, tt_error *error);
/** Removes the file. Does nothing where none is held. */
void tt_lock_release(tt_lock *lock);

#endif

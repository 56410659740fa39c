/* disk.h: a disk that fails, and one whose power fails. Linked into a test it stands between everything in the process,
 * libraries included, and the files of one folder (no folders within): each call that changes one can be made to fail, and is remembered,
 * so that what the disk would hold after a failure of the power can be laid out at any of them.
 *
 * Not seen: reading, mapped memory, and what stdio writes (its fsync and rename are). */
#ifndef TETHER_DISK_H
#define TETHER_DISK_H

#include <stdbool.h>

/** An "errno" of disk_fail(): only half of what was to be written is. */
#define DISK_SHORT (-1)

/** Watches a folder, which is empty, from now on, and forgets what was before. NULL: none. */
void disk_watch(const char *folder);
/** Calls made so far that could have failed. */
long disk_calls(void);
/** Moments remembered so far at which the power may fail. */
long disk_moments(void);
/** Lets the call fail that comes after `calls` more; `forever`: and all that come then. Only writing is ever short or
 *  interrupted. Negative: none fails. */
void disk_fail(long calls, int error, bool forever);
/** Did a call fail since disk_fail()? Short and interrupted ones don't count. */
bool disk_refused(void);
/** Notes that this much has been promised to be durable. */
void disk_acknowledge(int promised);

typedef enum disk_loss {
  DISK_LOSES_ALL,     /**< whatever was not synced is gone */
  DISK_LOSES_NOTHING, /**< it is killed, not powered off */
  DISK_LOSES_END,     /**< of each file a last part, torn anywhere, is gone */
  DISK_LOSES_ANY, /**< any sectors of what was not synced are gone, and names that are newer than others stay */
  DISK_LOSSES
} disk_loss;

/** Lays out in another folder, which is emptied, what the power leaves when it fails at that moment; `seed`: the dice.
 *  Returns what was promised by then. */
int disk_after_power(long moment, disk_loss loss, unsigned seed, const char *folder);

#endif

/* scratch.h: a temporary folder that outlives nobody: who ends in order removes it, and one whose program was killed is
 * removed by the next who makes one.
 */
#ifndef TT_BASE_SCRATCH_H
#define TT_BASE_SCRATCH_H

#include "base/status.h"

typedef struct tt_scratch {
  char folder[40]; /**< its path; "" while there is none */
  int lock; /**< held as long as the folder is used, by the kernel's rule not longer than the process lives */
} tt_scratch;

/** Makes an empty folder below /tmp, or in memory where that is full, that only this user may enter. TT_FAILED: it can't be
 *  made. */
tt_status tt_scratch_open(tt_scratch *scratch, tt_error *error);
/** Removes it with all that is in it. Does nothing where `folder` is "". */
void tt_scratch_close(tt_scratch *scratch);

#endif

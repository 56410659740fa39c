/* internal.h: a spooled store from the inside, shared by spooled.c (batches in, through, and out again) and waiting.c (what
 * is told of what waits). */
#ifndef TT_STORE_SPOOL_INTERNAL_H
#define TT_STORE_SPOOL_INTERNAL_H

#include "store/catalogue.h"
#include "store/spool/spool.h"
#include "store/store.h"

/** Tells a loader what a spool knows, for as long as the database is away: names, the boot epochs of samples that wait, and
 *  their times, so that one that is sent again falls upon itself. The catalogue learns the names. */
tt_status tt_spool_tell(tt_spool *spool, const tt_store_loader *loader, tt_catalogue *catalogue,
                        tt_error *error);

#endif

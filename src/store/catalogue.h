/* catalogue.h: every name and boot epoch that a store was told, for a database that must be told again and for
 * batches that are to be understood by themselves. One thread.
 */
#ifndef TT_STORE_CATALOGUE_H
#define TT_STORE_CATALOGUE_H

#include "store/batch.h"

typedef struct tt_catalogue tt_catalogue;

/** NULL: out of memory. */
tt_catalogue *tt_catalogue_new(void);
/** NULL-safe. */
void tt_catalogue_free(tt_catalogue *catalogue);

/* These return false when memory runs out; what they were told is then to be told again. */

/** A device's (or an attribute's) identifier; the first one said for an index stays, unless it is removed (NULL). What was said before that, and
 *  batches in which it stands already, are still told with it. */
bool tt_catalogue_add_name(tt_catalogue *catalogue, bool device, int index, const char *identifier);
/** A boot epoch; the newest range said for it stays. */
bool tt_catalogue_add_epoch(tt_catalogue *catalogue, const tt_store_epoch *epoch);
/** The identifier of a device, the catalogue's; NULL: none was said, or it was removed. */
const char *tt_catalogue_device(const tt_catalogue *catalogue, int index);
/** All names and epochs that a batch defines. */
bool tt_catalogue_add_batch(tt_catalogue *catalogue, const tt_store_batch *batch);
/** A batch with samples is stored, all of whose definitions were added, and the next one is another: epochs may go that
 *  tt_catalogue_all() doesn't say, which are looked for now and then. False: none did. */
bool tt_catalogue_settle(tt_catalogue *catalogue);
/** By what the writer calls them. */
bool tt_catalogue_has_epoch(const tt_catalogue *catalogue, int device, int number);

/** All names that are not removed, or have epochs here, and of each device the TT_STORE_EPOCHS epochs that were said last, and all since tt_catalogue_settle(). They are in
 *  the order in which they were said, so that another catalogue that is told them forgets the same ones. Who goes on with an older one says it
 *  again. Without human names, which are the database's to keep. The caller's to free, as is the next; NULL: out of memory. */
tt_store_batch *tt_catalogue_all(const tt_catalogue *catalogue);
/** A copy of the batch with every definition that it needs. */
tt_store_batch *tt_catalogue_complete(const tt_catalogue *catalogue, const tt_store_batch *batch);

#endif

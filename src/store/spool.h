/* spool.h: batches on disk while a database is away, each one whole in itself and checked by a digest. */
#ifndef TT_STORE_SPOOL_H
#define TT_STORE_SPOOL_H

#include "store/store.h"

typedef struct tt_spool tt_spool;

/** Opens or creates the file, for one process at a time; what an earlier one left in it is kept. */
tt_status tt_spool_open(const char *path, uint64_t limit, tt_spool **spool, tt_error *error);
void tt_spool_close(tt_spool *spool);

/** Appends a batch and makes it durable. TT_FULL: the limit is reached. */
tt_status tt_spool_append(tt_spool *spool, const tt_store_batch *batch, tt_error *error);
/** Reads the oldest batches that were not dropped, as one. TT_NOT_FOUND: there is none. A damaged end is said and removed. */
tt_status tt_spool_front(tt_spool *spool, tt_store_batch *batch, tt_error *error);
/** Reads a batch that waits, and drops nothing: begin with `*position` 0, which moves on. `*writer`: whose indices it has;
 *  batches of one process have the same. TT_NOT_FOUND: there are no more, or a damaged end. */
tt_status tt_spool_look(tt_spool *spool, uint64_t *position, uint64_t *writer,
                        tt_store_batch *batch, tt_error *error);
/** Drops what tt_spool_front() read; it comes back after a crash, until all are dropped. */
void tt_spool_pop(tt_spool *spool);
/** Appends what the bytes of a frame, without its header, say to a batch. False: they are no frame; a part may be there. */
bool tt_spool_decode(const uint8_t *bytes, size_t size, tt_store_batch *batch);
/** Bytes waiting. */
uint64_t tt_spool_bytes(const tt_spool *spool);

#endif

/* spool.h: batches on disk while a database is away, each one whole in itself and checked by a sum. What a crash tore and
 * what the disk changed is found, left out and counted; everything else is kept. One thread.
 */
#ifndef TT_STORE_SPOOL_H
#define TT_STORE_SPOOL_H

#include "base/status.h"
#include "store/batch.h"

typedef struct tt_spool tt_spool;

/** Opens or creates the file, for one process at a time. What an earlier one left in it is kept, also in the format of
 *  older versions; its end is cut where the last whole batch ends, and damage is said. */
tt_status tt_spool_open(const char *path, uint64_t limit, tt_spool **spool, tt_error *error);
/** Says which store the spool is for (tt_store_place()), which stands in the file before what waits. TT_INVALID: what waits there is for
 *  another one, which is not `was` either (NULL: none). What older versions left doesn't say, and is for any. */
tt_status tt_spool_own(tt_spool *spool, const char *place, const char *was, tt_error *error);
/** Bytes that an earlier process left in a spool; 0 where another one has it open, or there is no such file. */
uint64_t tt_spool_left(const char *path);
/** NULL-safe. */
void tt_spool_close(tt_spool *spool);

/** Appends a batch and makes it durable. TT_FULL: the limit is reached. */
tt_status tt_spool_append(tt_spool *spool, const tt_store_batch *batch, tt_error *error);
/** Reads the oldest batches that were not dropped, as one, which is empty where nothing but damage is left. TT_NOT_FOUND: there is
 *  none. TT_FAILED: they can't be read now; a place that can't be read for tt_spool_patience is damage, if the disk takes what is
 *  written then. */
tt_status tt_spool_front(tt_spool *spool, tt_store_batch *batch, tt_error *error);
/** Reads a batch that waits and can be read now, and drops nothing: begin with `*position` 0, which moves on. `*writer`: whose indices it has;
 *  batches of one process have the same. TT_END: there are no more. */
tt_status tt_spool_look(tt_spool *spool, uint64_t *position, uint64_t *writer,
                        tt_store_batch *batch, tt_error *error);
/** µs, a minute. For tests to be changed. */
extern int64_t tt_spool_patience;
/** Drops what tt_spool_front() read; it comes back after a crash, until all are dropped. */
void tt_spool_pop(tt_spool *spool);
/** Bytes waiting. */
uint64_t tt_spool_bytes(const tt_spool *spool);

/** What could not be read since the file was opened. What a crash tore at the end was never acknowledged, and is not in it. */
typedef struct tt_spool_loss {
  uint64_t places, bytes;
  uint64_t samples; /**< at least: where even the head of a batch is damaged nobody knows */
} tt_spool_loss;
tt_spool_loss tt_spool_lost(const tt_spool *spool);

#endif

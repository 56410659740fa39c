/* internal.h: a spooled store from the inside, shared by spooled.c (batches in, through, and out again), waiting.c (what
 * is told of what waits) and settings.c (what people set of it). */
#ifndef TT_STORE_SPOOL_INTERNAL_H
#define TT_STORE_SPOOL_INTERNAL_H

#include "store/catalogue.h"
#include "store/spool/spool.h"
#include "store/store.h"

/** Tells a loader what a spool knows, for as long as the database is away: names, the boot epochs of samples that wait, and
 *  their times, so that one that is sent again falls upon itself. The catalogue learns the names, `settings` what people set. */
tt_status tt_spool_tell(tt_spool *spool, const tt_store_loader *loader, tt_catalogue *catalogue,
                        tt_store_batch *settings, tt_error *error);

/** Whether a batch has something that people set: handlings, names for people, removals. */
bool tt_spool_has_settings(const tt_store_batch *batch);
/** Adds what people set in a batch, each over what was set before. False: out of memory. */
bool tt_spool_note_settings(tt_store_batch *settings, const tt_store_batch *batch);
/** The name for people that a device (or an attribute) has, of which a database says `name` and `*removed`: what was set holds. */
const char *tt_spool_set_name(const tt_list *names, const char *identifier, const char *name,
                              bool *removed);
/** The handlings that a database told, and over them what was set. The caller's to free; `failed`: out of memory. */
tt_list tt_spool_set_handlings(const tt_list *set, const tt_list *told);

#endif

/* sampler.h: what of a view a log gets: the signals that nothing else says, where they changed.
 *
 * One thread. It also listens to the journal, as a reader will, so as to know which commands a reader will take for those in
 * force, and says where they are others.
 */
#ifndef TT_RECORD_SAMPLER_H
#define TT_RECORD_SAMPLER_H

#include "game/field.h"
#include "sim/journal.h"
#include "model/signal.h"
#include "record/wpilog.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_sampler tt_sampler;

/** @param placed physics is off: commands place robots
 *  @param field in whose frame poses are kept; model and names outlive the sampler
 *  @return NULL when out of memory */
tt_sampler *tt_sampler_new(const tt_model *model, const tt_names *names, bool placed,
                           const tt_field *field);
void tt_sampler_free(tt_sampler *sampler);

/** Appends what announces its entries, with ids from `*next` on, and the linkage. */
void tt_sampler_announce(tt_sampler *sampler, tt_bytes *out, uint32_t *next);
/** Appends a sample; errors show as out->failed, then tt_sampler_forget(). */
void tt_sampler_write(tt_sampler *sampler, tt_bytes *out, const tt_view *view, uint64_t timestamp);
/** The next sample is written as if it were the first. */
void tt_sampler_forget(tt_sampler *sampler);
/** An entry of the journal that stands before the next sample. */
void tt_sampler_hear(tt_sampler *sampler, const tt_entry *entry);

/** Bytes of a sample in which everything changed. */
uint64_t tt_sampler_most_bytes(const tt_sampler *sampler);

#endif

/* message.h: what a message of the log says, as MessagePack: a map of names, boot epochs, handling and samples that is whole in itself,
 * so that whoever takes it needs nothing else. docs/fleet.md describes it.
 */
#ifndef TT_STORE_JETSTREAM_MESSAGE_H
#define TT_STORE_JETSTREAM_MESSAGE_H

#include "base/status.h"
#include "store/batch.h"
#include "store/map.h"

/** NATS refuses more, unless its server is told otherwise. */
#define TT_NATS_MESSAGE_MOST (1 << 20)
/** Names and handling in one message: each has two texts of at most a thousand bytes. */
#define TT_NATS_SETTINGS_MOST 200

/** A batch on its way into messages: each has what is of one device, those behind another's of as many samples as fit. Zero at
 *  first; one thread. */
typedef struct tt_nats_split {
  const tt_store_batch *batch;
  tt_list order;        /**< uint32_t: samples, those of one device together, in their order */
  uint32_t at;          /**< of the order, the next one */
  uint32_t settings_at; /**< of names and handling, all behind each other, the next one */
  bool settings_done;   /**< all of them were said */
  tt_map devices, attributes, epochs; /**< index, or device and number → place in the batch */
  /** Whether a device's samples are as sure as the batch says; else all are TT_SAMPLE_UNSURE. NULL: they are. */
  bool (*is_sure)(void *context, const char *device);
  void *context;
} tt_nats_split;

/** Begins with a batch that is whole in itself and outlives the split. False: out of memory. */
bool tt_nats_split_begin(tt_nats_split *split, const tt_store_batch *whole);
void tt_nats_split_end(tt_nats_split *split);
/** Appends the next message to `bytes`, which are empty. `*device` is the identifier of whom it is, the batch's; NULL: it says names
 *  and handling. TT_END: there are no more. TT_INVALID: the batch isn't whole, or a sample is too large. TT_NOMEM. */
tt_status tt_nats_split_next(tt_nats_split *split, tt_list *bytes, const char **device,
                             tt_error *error);

/** Messages on their way into a batch that is whole in itself. */
typedef struct tt_nats_gather {
  tt_store_batch *batch;
  tt_map devices,
      attributes; /**< hash of an identifier → place in the batch, which is its index there */
  tt_map epochs;  /**< device, key → place in the batch */
  tt_map numbers; /**< device, number of an epoch → 1; device, −1 → the greatest of its numbers */
  tt_map pairs; /**< hashes of both identifiers → the latest batch that said it */
  /** Hash of an identifier, whether of a device → the latest batch that said that it is used or removed. A store that hears of a removal
   *  forgets the name's pairs of batches before. */
  tt_map renewed;
  int64_t number; /**< of the batch */
} tt_nats_gather;

/** False: out of memory. */
bool tt_nats_gather_begin(tt_nats_gather *gather);
void tt_nats_gather_end(tt_nats_gather *gather);
/** Empties the batch for the next messages. */
void tt_nats_gather_clear(tt_nats_gather *gather);
/** A batch was made that nobody stores: whatever was said of pairs is said again. */
void tt_nats_gather_forget(tt_nats_gather *gather);
/** Adds what a message says. TT_BAD_MESSAGE: it is none; some of its names may be there then, which does no harm. TT_NOMEM. Any
 *  bytes may be given. */
tt_status tt_nats_gather_add(tt_nats_gather *gather, const void *bytes, size_t size,
                             tt_error *error);

#endif

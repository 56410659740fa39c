/* copy.h: records of one store into another one, of any kind; what is there already is not doubled. */
#ifndef TT_STORE_COPY_H
#define TT_STORE_COPY_H

#include "store/store.h"

/** What is copied, and who is told. */
typedef struct tt_copy_options {
  int64_t from, to; /**< µs UTC, inclusive */
  /** identifiers or human names, with * and ? in them; NULL-terminated; NULL: all */
  const char *const *devices;
  /** Now and then: 0…1. False ends it: TT_INTERRUPTED; what was copied stays. */
  bool (*progress)(void *context, double done);
  void *context;
} tt_copy_options;

/** What was copied, counting also what was there. */
typedef struct tt_copied {
  uint64_t devices, records, values;
  /** handlings that stay behind since they leave out or remove values: the target has some of its own */
  uint64_t withheld;
} tt_copied;

/** Copies names, handling, boot epochs and records, in batches of which each is durable before the next. Names for people and handling
 *  that `to` has stay as they are there. Into a store that has something already, of handling only type, unit, scale and offset
 *  of attributes that are new there are copied. May be ended at any moment and begun again. TT_NOT_FOUND: none of the devices is
 *  there. `to` is loaded by this. */
tt_status tt_store_copy(tt_store_reader *from, tt_store *to, const tt_copy_options *options,
                        tt_copied *copied, tt_error *error);

#endif

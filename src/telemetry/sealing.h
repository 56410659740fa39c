/* sealing.h: days that are over are packed while a collector runs, in short steps between its batches.
 *
 * Used by the thread that writes to the store.
 */
#ifndef TT_TELEMETRY_SEALING_H
#define TT_TELEMETRY_SEALING_H

#include "store/store.h"

/** Bytes of a store from which on people are told that it could be a tenth of that. */
#define TT_SEALING_LARGE (INT64_C(4) << 30)

/** Zero at first. */
typedef struct tt_sealing {
  int64_t next;                 /**< µs monotonic: no step before */
  bool under_way;               /**< a pass over what is stored has begun… */
  int64_t before;               /**< …which packs days that ended by then, µs UTC */
  uint64_t values, bytes;       /**< packed by it, and what they take */
  bool has_failed, has_advised; /**< it was said */
} tt_sealing;

/** About every 100 ms, or more often: packs a little, at most every 100 ms, where `after` (µs behind the end of a day; 0: never)
 *  says so. A pass begins every ten minutes, with what has come late. `now` is µs UTC. */
void tt_sealing_tend(tt_sealing *sealing, tt_store *store, int64_t after, int64_t now);
/** What people are told of a store that is large and is not packed; NULL: nothing. Any thread. Static. */
const char *tt_sealing_advice(const tt_store *store, const tt_store_state *state, int64_t after);

#endif

/* take.h: what a device has published, on its way to the collector. */
#ifndef TT_TELEMETRY_NATS_TAKE_H
#define TT_TELEMETRY_NATS_TAKE_H

#include "telemetry/answer.h"

#include <stdatomic.h>

typedef struct tt_nats_taking tt_nats_taking;

/** What takes messages of one subscription, in its thread. `stopping`: nothing is waited for any more. NULL: out of memory. */
tt_nats_taking *tt_nats_taking_new(tt_collector *collector, const atomic_bool *stopping,
                                   bool may_wait);
/** NULL-safe. */
void tt_nats_taking_free(tt_nats_taking *taking);

/** One message of NATS. */
typedef struct tt_nats_published {
  const char *token; /**< the last of its subject: the device's identifier, with %XX */
  /** XML, or JSON where { or [ comes first; any number of messages of that device */
  const char *bytes;
  size_t size;
  int64_t received; /**< µs UTC */
} tt_nats_published;

/** Takes it. `ticket` is durable when tt_collector_durable() reaches it; 0: nothing was taken. What became of it stays until the next
 *  call. False: it was not taken to its end, since the collector ends. */
bool tt_nats_take(tt_nats_taking *taking, const tt_nats_published *published, uint64_t *ticket);
const tt_answer *tt_nats_taking_answer(const tt_nats_taking *taking);

#endif

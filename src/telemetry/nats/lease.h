/* lease.h: of many that would, one does: a key that lasts some seconds, and is held by putting it again. */
#ifndef TT_TELEMETRY_NATS_LEASE_H
#define TT_TELEMETRY_NATS_LEASE_H

#include "broker/broker.h"

/** µs after which a lease that was not held on to is free. */
#define TT_NATS_LEASE (5 * INT64_C(1000000))
/** Bytes of what a holder is called. */
#define TT_NATS_HOLDER 96

/** Zero at first. */
typedef struct tt_nats_lease {
  kvStore *keys;
  uint64_t revision; /**< of our key; 0: it is not ours */
  /** what it is called while it is ours: "HOST PROCESS NUMBER", drawn at random */
  char holder[TT_NATS_HOLDER];
  char known[TT_NATS_HOLDER]; /**< who had it when we looked last; "": nobody is known */
} tt_nats_lease;

/** Makes the bucket where there is none. */
tt_status tt_nats_lease_open(tt_nats_lease *lease, jsCtx *js, const char *bucket, int replicas,
                             tt_error *error);
/** Takes it where it is free, holds on to it where it is ours. TT_AGAIN: it is another's; TT_FAILED: somebody removed its bucket, which
 *  tt_nats_lease_open() makes again. */
tt_status tt_nats_lease_hold(tt_nats_lease *lease);
/** Gives it back at once. */
void tt_nats_lease_close(tt_nats_lease *lease);

#endif

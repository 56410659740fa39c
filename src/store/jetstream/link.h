/* link.h: a connection to NATS, its stream and its bucket of keys, on which nothing waits beyond a deadline.
 *
 * A link that failed is closed, and another one opened: then nothing is on its way of which nobody knows any more. One thread at a
 * time, but where it says otherwise.
 */
#ifndef TT_STORE_JETSTREAM_LINK_H
#define TT_STORE_JETSTREAM_LINK_H

#include "broker/broker.h"

#include <stdatomic.h>

typedef struct tt_nats_link tt_nats_link;

/** Connects, and makes stream and bucket where there are none. TT_INVALID: the URL is none, or the server lets us never in; TT_FAILED:
 *  nobody is there. To be closed. */
tt_status tt_nats_link_open(const char *url, tt_nats_link **link, tt_error *error);
/** NULL-safe. */
void tt_nats_link_close(tt_nats_link *link);
/** From then on what waits looks whether all is to end soon; `hurried` lives as long as the link. */
void tt_nats_link_hear_of_hurry(tt_nats_link *link, const atomic_bool *hurried);
/** Any thread. */
bool tt_nats_link_is_up(const tt_nats_link *link);
/** The stream's and the bucket's name. */
const char *tt_nats_link_name(const tt_nats_link *link);
natsConnection *tt_nats_link_connection(tt_nats_link *link);
jsCtx *tt_nats_link_js(tt_nats_link *link);
kvStore *tt_nats_link_keys(tt_nats_link *link);
/** When the bucket was made: another one was made at another time. ns since 1970. TT_NOT_FOUND: there is none any more; TT_FAILED: nobody
 *  says within `patience` (ms). */
tt_status tt_nats_link_bucket_made(tt_nats_link *link, int64_t patience, int64_t *made,
                                   tt_error *error);

/** The place in the stream of what this link published last on a subject and others may have followed since; 0: nothing that is
 *  answered. `*since`: ms, monotonic: from then on to that place all that came there was this link's. */
uint64_t tt_nats_link_latest(tt_nats_link *link, const char *subject, int64_t *since);
/** Publishes, and waits only where too much is under way. `id`: what the server knows a repeat by, or NULL. `after`: the place of the subject's latest message,
 *  else it is not taken; 0: it is taken whatever is there. TT_FAILED: nothing is on its way. */
tt_status tt_nats_link_publish(tt_nats_link *link, const char *subject, const char *id,
                               uint64_t after, const void *bytes, size_t size, tt_error *error);
/** Waits until all that was published is in the stream. TT_AGAIN: but for what others came before. TT_FAILED: some of it may not be.
 *  Takes as long as somebody is there who stores; once all is to end soon, a second. */
tt_status tt_nats_link_flush(tt_nats_link *link, tt_error *error);

#endif

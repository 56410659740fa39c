/* names.h: names, handling and boot epochs of devices in the bucket of keys, where every collector finds them.
 *
 * Keys are d.DEVICE, a.ATTRIBUTE, h.PATTERN and e.DEVICE.KEY, with every byte but letters, digits, - and _ as =XX. Values are
 * MessagePack: what a message has of it. The latest one counts; of an epoch the offsets only widen.
 */
#ifndef TT_STORE_JETSTREAM_NAMES_H
#define TT_STORE_JETSTREAM_NAMES_H

#include "store/jetstream/link.h"
#include "store/jetstream/message.h"
#include "store/store.h"

typedef struct tt_nats_names tt_nats_names;

/** NULL: out of memory. */
tt_nats_names *tt_nats_names_new(void);
/** NULL-safe. */
void tt_nats_names_free(tt_nats_names *names);

/** Who is told from the next load on; nobody at first. */
void tt_nats_names_tell(tt_nats_names *names, const tt_store_loader *loader);
/** Tells all there is, and watches the bucket from then on, over this link until another is given. Devices' epochs come with the
 *  newest sample of theirs that is in the stream. Where the bucket is another one than at the last load, names and handling of that one
 *  are put into it first. Takes as long as there is much. */
tt_status tt_nats_names_load(tt_nats_names *names, tt_nats_link *link, tt_error *error);
/** Tells what others have changed since, a tenth of a second after the last time at the earliest. Waits for a millisecond, and once a
 *  second for an answer, a fifth of one at most. TT_FAILED: the link is lost; TT_NOT_FOUND: the bucket is, so that another link is needed. */
tt_status tt_nats_names_look(tt_nats_names *names, tt_nats_link *link, tt_error *error);
/** Before the link is closed. */
void tt_nats_names_leave(tt_nats_names *names);

/** Publishes what a whole batch defines and the bucket has not, or otherwise, without waiting. */
tt_status tt_nats_names_put(tt_nats_names *names, tt_nats_link *link, const tt_store_batch *whole,
                            tt_error *error);
/** What was put may not be there: all is put again. */
void tt_nats_names_forget(tt_nats_names *names);
/** All names for people and all handling in the bucket, into a batch: the stream has what was set in the last day alone. Takes as long as
 *  there is much. */
tt_status tt_nats_names_gather(tt_nats_link *link, tt_nats_gather *gather, tt_error *error);
/** The epochs of a device in the bucket, oldest first, appended to `boots`, with the newest sample in the stream. Takes a second at
 *  most. */
tt_status tt_nats_names_find(tt_nats_link *link, int device, const char *identifier, tt_list *boots,
                             tt_error *error);

#endif

/* feed_hub.h: the collector's side of live readers. */
#ifndef TT_TELEMETRY_FEED_HUB_H
#define TT_TELEMETRY_FEED_HUB_H

#include "telemetry/feed.h"

typedef struct tt_feed_hub tt_feed_hub;

/** The human name of a device or an attribute, or NULL. Called by tt_feed_publish() only. */
typedef const char *tt_feed_human_name(void *context, bool device, int index);

/** Readers come and go in any thread; the hub has a lock of its own. Freed when the last reader has gone; NULL-safe. */
tt_feed_hub *tt_feed_hub_new(int max_readers, tt_feed_human_name *human_name, void *context);
void tt_feed_hub_free(tt_feed_hub *hub);
tt_feed_reader *tt_feed_subscribe(tt_feed_hub *hub, const tt_feed_filter *filter, int capacity,
                                  void (*wake)(void *context), void *context);
void tt_feed_unsubscribe(tt_feed_hub *hub, tt_feed_reader *reader);
int tt_feed_reader_count(tt_feed_hub *hub);
/** Samples that wait for readers now, and that readers have lost since the start. */
void tt_feed_get_queues(tt_feed_hub *hub, uint64_t *waiting, uint64_t *lost);
/** Human names changed: filters are looked up anew. */
void tt_feed_renamed(tt_feed_hub *hub);
/** Gives every reader that wants it the sample of device `device`, whose values are those of `attributes`. Takes
 *  the caller's reference. */
void tt_feed_publish(tt_feed_hub *hub, int device, const int *attributes, tt_feed_sample *sample);

/** With room for `count` values; texts belong to the sample. */
tt_feed_sample *tt_feed_sample_new(int count);

#endif

/* live_hub.h: the collector's side of live readers. */
#ifndef TT_TELEMETRY_LIVE_HUB_H
#define TT_TELEMETRY_LIVE_HUB_H

#include "telemetry/live.h"

typedef struct tt_live_hub tt_live_hub;

/** The human name of a device or an attribute, or NULL. Called by tt_live_publish() only. */
typedef const char *tt_live_human_name(void *context, bool device, int index);

/** Readers come and go in any thread; the hub has a lock of its own. Freed when the last reader has gone; NULL-safe. */
tt_live_hub *tt_live_hub_new(int max_readers, tt_live_human_name *human_name, void *context);
void tt_live_hub_free(tt_live_hub *hub);
tt_live_reader *tt_live_subscribe(tt_live_hub *hub, const tt_live_filter *filter, int capacity,
                                  void (*wake)(void *context), void *context);
void tt_live_unsubscribe(tt_live_hub *hub, tt_live_reader *reader);
int tt_live_reader_count(tt_live_hub *hub);
/** Human names changed: filters are looked up anew. */
void tt_live_renamed(tt_live_hub *hub);
/** Gives every reader that wants it the sample of device `device`, whose values are those of `attributes`. Takes
 *  the caller's reference. */
void tt_live_publish(tt_live_hub *hub, int device, const int *attributes, tt_live_sample *sample);

/** With room for `count` values; texts belong to the sample. */
tt_live_sample *tt_live_sample_new(int count);

#endif

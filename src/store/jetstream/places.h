/* places.h: which epochs of its devices a collector knows to be in the bucket, so that it puts none twice and removes the oldest.
 *
 * One thread at a time. A place is valid until another one of its device is added or forgotten.
 */
#ifndef TT_STORE_JETSTREAM_PLACES_H
#define TT_STORE_JETSTREAM_PLACES_H

#include "store/batch.h"
#include "store/map.h"

/** An epoch in the bucket. */
typedef struct tt_nats_place {
  int number;
  int64_t key;
  int64_t used;    /**< when it was put or used last: the higher the later */
  int64_t content; /**< hash of what is there; 0: that is not known */
} tt_nats_place;

typedef struct tt_nats_places {
  tt_list devices; /**< tt_list of tt_nats_place: those of a device */
  tt_map at;       /**< hashes of the keys' beginning, "e.DEVICE" → index in `devices` */
  int64_t uses;
} tt_nats_places;

/** The caller clears it. */
tt_nats_places tt_nats_places_of_none(void);
/** Forgets all, and gives the memory back. */
void tt_nats_places_clear(tt_nats_places *places);
/** What is there of any of them is not known any more. */
void tt_nats_places_doubt(tt_nats_places *places);

/** Those of the device of a key, "e.DEVICE.EPOCH"; valid until others are asked for. NULL: out of memory. */
tt_list *tt_nats_places_need(tt_nats_places *places, const char *key);
/** NULL: it is none of them. */
tt_nats_place *tt_nats_place_find(const tt_list *of_device, int64_t key);
/** Of some the one that was used longest ago. */
tt_nats_place *tt_nats_place_oldest(const tt_list *of_device);
void tt_nats_place_forget(tt_list *of_device, const tt_nats_place *place);
/** False: out of memory. */
bool tt_nats_place_add(tt_nats_places *places, tt_list *of_device, const tt_store_epoch *epoch,
                       int64_t content);
/** It is the one that was used last. */
void tt_nats_place_use(tt_nats_places *places, tt_nats_place *place);

#endif

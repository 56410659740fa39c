/* names_internal.h: shared by names.c (what the bucket has is told, and watched) and names_put.c (what a batch defines is put into it). */
#ifndef TT_STORE_JETSTREAM_NAMES_INTERNAL_H
#define TT_STORE_JETSTREAM_NAMES_INTERNAL_H

#include "store/jetstream/names.h"
#include "store/jetstream/places.h"

/** Of a key: its kind, and tokens of two identifiers. */
#define TT_NATS_LONGEST_KEY 1024
/** Epochs of a device in the bucket: as many are compared (docs/telemetry.md, "Once"). */
#define TT_NATS_MOST_EPOCHS 64

/** Of a key that somebody deleted. */
#define TT_NATS_GONE (-1)

/** What is set of a name or of handling, as the bucket has it: of a bucket that somebody removed it is all there is. */
typedef struct tt_nats_kept {
  char *key;
  tt_list bytes; /**< char; empty: somebody deleted the key */
  unsigned load; /**< the latest one that found it */
} tt_nats_kept;

struct tt_nats_names {
  tt_store_loader loader;
  kvWatcher *watcher;
  tt_list devices;   /**< char *: identifiers by index */
  tt_map indices;    /**< hashes of an identifier → index */
  tt_map values;     /**< hashes of a key, but for epochs → hash of what the bucket has there */
  tt_map states;     /**< hashes of a name's key → tt_name_state there, or TT_NATS_GONE */
  tt_list handlings; /**< tt_handling: all that is set */
  tt_list epochs;    /**< known_epoch of names.c: that wait until all is loaded */
  tt_nats_places places; /**< epochs that the bucket has */
  tt_list kept;          /**< tt_nats_kept */
  tt_map kept_at;        /**< hashes of a key → index in `kept` */
  bool loading, changed; /**< handling was */
  unsigned loads;
  int64_t made;              /**< when the bucket was; ns, 0: none was loaded */
  int64_t next_look;         /**< µs */
  int64_t next_bucket_check; /**< µs */
};

/** By which maps find an identifier, or a key of the bucket. */
tt_map_key tt_nats_names_key(const char *identifier);
/** By which it is known whether a value is there already. */
int64_t tt_nats_names_hash(const void *bytes, size_t size);
/** Notes what is set at a key: it comes from nowhere else. */
tt_status tt_nats_names_keep(tt_nats_names *names, const char *key, const void *bytes, size_t size,
                             tt_error *error);
/** Puts a value into the bucket, without waiting. */
tt_status tt_nats_names_publish(tt_nats_link *link, const char *key, const tt_list *value,
                                tt_error *error);

#endif

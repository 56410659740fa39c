/* known_keys.h: what the checks of a scene that is being loaded told of its keys. */
#ifndef TT_SCENE_KNOWN_KEYS_H
#define TT_SCENE_KNOWN_KEYS_H

#include "model/schema.h"
#include "scene/pool.h"

/** One of them; texts are the pool's. */
typedef struct tt_known_key {
  const char *place;  /**< "FILE: wires.float-udp.watchdog"; "" where only `target` is known */
  const void *target; /**< the text's place in its struct, where only its default was told */
  const char *words;  /**< "red, blue"; NULL: no list of words */
  const char *word;   /**< the default as text; NULL: `fallback` is it */
  bool is_quantity;
  tt_dimension dimension;
  double lower, upper, fallback;
  int file; /**< of the store, that was read last */
} tt_known_key;

/** Zero at first, but for `pool` and `file`, which are somebody else's. */
typedef struct tt_known_keys {
  tt_key_listener listener; /**< first, since it is what is told */
  tt_pool *pool;
  const int *file; /**< how many files were read by now */
  tt_known_key *items;
  int count, capacity;
  bool failed; /**< memory ran out: some are missing */
} tt_known_keys;

/** Hears what this thread's checks tell until tt_known_keys_end(). */
void tt_known_keys_begin(tt_known_keys *keys);
void tt_known_keys_end(tt_known_keys *keys);
/** What was told of the key at `path` of the document `document`, read as the `file`-th (−1: any); NULL: nothing. */
const tt_known_key *tt_known_keys_find(const tt_known_keys *keys, const char *document,
                                       const char *path, int file);
/** The default of the text that `target` points to; NULL: nothing was told. */
const char *tt_known_keys_default(const tt_known_keys *keys, const void *target);
void tt_known_keys_free(tt_known_keys *keys);

#endif

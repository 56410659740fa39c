/* map.h: numbers by numbers, for ids, indices and days. Memory that runs out ends nothing. One thread at a time.
 */
#ifndef TT_STORE_MAP_H
#define TT_STORE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What an entry is found by; parts that are not needed are 0. */
typedef struct tt_map_key {
  int64_t a, b;
} tt_map_key;

/** A key that stands for bytes: two hashes of them, so that two that differ hardly ever have the same. */
tt_map_key tt_map_key_of(const void *bytes, size_t size);

/** Zero at first. */
typedef struct tt_map {
  struct tt_map_entry *entries;
  uint32_t count, room;
} tt_map;

/** Forgets all, and gives the memory back. */
void tt_map_clear(tt_map *map);
/** Sets a value, new or not. False: out of memory, and it is as before. */
bool tt_map_put(tt_map *map, tt_map_key key, int64_t value);
/** The value, to be changed in place until the next one is put; NULL: there is none. */
int64_t *tt_map_get(const tt_map *map, tt_map_key key);

#endif

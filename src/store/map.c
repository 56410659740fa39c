/* map.c: open addressing; nothing is ever taken out singly. */
#include "store/map.h"

#include "base/hash.h"

#include <stdlib.h>

struct tt_map_entry {
  tt_map_key key;
  int64_t value;
  bool used;
};

tt_map_key tt_map_key_of(const void *bytes, size_t size) {
  return (tt_map_key){(int64_t)tt_hash_bytes(TT_HASH_START, bytes, size),
                      (int64_t)tt_hash_bytes(~TT_HASH_START, bytes, size)};
}

void tt_map_clear(tt_map *map) {
  free(map->entries);
  *map = (tt_map){0};
}

/** The entry of a key, or the free one where it belongs. There is always a free one. */
static struct tt_map_entry *find(struct tt_map_entry *entries, uint32_t room, tt_map_key key) {
  uint64_t hash = ((uint64_t)key.a ^ (uint64_t)key.b * 0xff51afd7ed558ccdu) * 0x9e3779b97f4a7c15u;
  uint32_t at = (uint32_t)(hash >> 32) & (room - 1);
  while (entries[at].used && (entries[at].key.a != key.a || entries[at].key.b != key.b))
    at = (at + 1) & (room - 1);
  return &entries[at];
}

static bool grow(tt_map *map) {
  uint32_t room = map->room ? map->room * 2 : 32;
  struct tt_map_entry *entries = calloc(room, sizeof *entries);
  if (!entries) return false;
  for (uint32_t i = 0; i < map->room; i++) {
    if (map->entries[i].used) *find(entries, room, map->entries[i].key) = map->entries[i];
  }
  free(map->entries);
  map->entries = entries;
  map->room = room;
  return true;
}

bool tt_map_put(tt_map *map, tt_map_key key, int64_t value) {
  int64_t *known = tt_map_get(map, key);
  if (known) {
    *known = value;
    return true;
  }
  if (2 * (map->count + 1) > map->room && !grow(map)) return false;
  *find(map->entries, map->room, key) = (struct tt_map_entry){key, value, true};
  map->count++;
  return true;
}

int64_t *tt_map_get(const tt_map *map, tt_map_key key) {
  if (!map->room) return NULL;
  struct tt_map_entry *entry = find(map->entries, map->room, key);
  return entry->used ? &entry->value : NULL;
}

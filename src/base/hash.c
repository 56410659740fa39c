#include "base/hash.h"

#include <string.h>

#define PRIME 0x100000001b3u

static uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * PRIME;
  return hash ^ (hash >> 29);
}

uint64_t tt_hash_bytes(uint64_t hash, const void *bytes, size_t size) {
  const unsigned char *at = bytes;
  for (; size >= sizeof(uint64_t); size -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    hash = mix(hash, word);
  }
  for (; size > 0; size--) hash = mix(hash, *at++);
  return mix(hash, hash >> 32);
}

/* hash.h: one 64-bit hash for states, models and files. Not for secrets. */
#ifndef TT_BASE_HASH_H
#define TT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define TT_HASH_START 0xcbf29ce484222325u

/** Goes on from `hash` (TT_HASH_START at first) over `size` bytes: FNV-1a over 64-bit words, then bytes, with a
 *  final mix by xor-shift, since words taken eight at a time need it. Same bytes, same hash on every machine of
 *  one byte order. */
uint64_t tt_hash_bytes(uint64_t hash, const void *bytes, size_t size);

#endif

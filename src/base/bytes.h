/* bytes.h: bytes that grow, for who writes a file, a frame or a text piece by piece. */
#ifndef TT_BASE_BYTES_H
#define TT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Zero-initialise; free with tt_bytes_free(). `failed` sticks once memory ran out: nothing is appended behind a gap. */
typedef struct tt_bytes {
  uint8_t *data;
  size_t size, capacity;
  bool failed;
} tt_bytes;

/** Appends a copy. Out of memory: `failed`. */
void tt_bytes_append(tt_bytes *bytes, const void *data, size_t size);
/** Appends the lowest `size` bytes of a number, at most 8, the least significant first. */
void tt_bytes_append_le(tt_bytes *bytes, uint64_t value, size_t size);
/** Empty again, and may be used on. */
void tt_bytes_free(tt_bytes *bytes);
/** Takes back what was appended beyond `size`, whole or cut by a failure; appending may succeed again. */
void tt_bytes_cut(tt_bytes *bytes, size_t size);

#endif

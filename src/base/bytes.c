#include "base/bytes.h"

#include "base/endian.h"

#include <stdlib.h>
#include <string.h>

void tt_bytes_append(tt_bytes *bytes, const void *data, size_t size) {
  if (bytes->failed || size == 0) return;
  if (bytes->size + size > bytes->capacity) {
    size_t capacity = bytes->capacity ? bytes->capacity : 4096;
    while (capacity < bytes->size + size) capacity *= 2;
    uint8_t *grown = realloc(bytes->data, capacity);
    if (!grown) {
      bytes->failed = true;
      return;
    }
    bytes->data = grown;
    bytes->capacity = capacity;
  }
  memcpy(bytes->data + bytes->size, data, size);
  bytes->size += size;
}

void tt_bytes_append_le(tt_bytes *bytes, uint64_t value, size_t size) {
  uint8_t number[sizeof value];
  tt_put_le(number, value, size);
  tt_bytes_append(bytes, number, size);
}

void tt_bytes_free(tt_bytes *bytes) {
  free(bytes->data);
  *bytes = (tt_bytes){0};
}

void tt_bytes_cut(tt_bytes *bytes, size_t size) {
  bytes->size = size;
  bytes->failed = false;
}

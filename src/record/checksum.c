#include "record/checksum.h"

#include "base/endian.h"
#include "base/hash.h"
#include "record/wpilog.h"

#include <string.h>

#define HEAD 11u
#define MAGIC "TTHASHED"
#define MAGIC_SIZE 8u
#define HASHED (HEAD + MAGIC_SIZE + 8u) /* bytes of the record that the hash covers */

static uint64_t hash_segment(const void *bytes, size_t size, const uint8_t *record) {
  return tt_hash_bytes(tt_hash_bytes(TT_HASH_START, bytes, size), record, HASHED);
}

void tt_checksum_make(uint8_t record[TT_CHECKSUM_SIZE], uint8_t entry, uint64_t timestamp,
                      uint64_t offset, const void *bytes, size_t size) {
  record[0] = 7u << 4; /* lengths of id and size 1, of the time 8 */
  record[1] = entry;
  record[2] = TT_CHECKSUM_SIZE - HEAD;
  tt_put_le(record + 3, timestamp, 8);
  memcpy(record + HEAD, MAGIC, MAGIC_SIZE);
  tt_put_le(record + HEAD + MAGIC_SIZE, offset + size + HEAD, 8);
  tt_put_le(record + HASHED, hash_segment(bytes, size, record), 8);
}

bool tt_checksum_is(const void *payload, size_t size) {
  return size == TT_CHECKSUM_SIZE - HEAD && memcmp(payload, MAGIC, MAGIC_SIZE) == 0;
}

/* The first record at or behind `at`, or `size`. */
static size_t find_next(const uint8_t *data, size_t size, size_t at) {
  const size_t payload = TT_CHECKSUM_SIZE - HEAD;
  for (at += HEAD; at + payload <= size; at++) {
    const uint8_t *found = memmem(data + at, size - at, MAGIC, MAGIC_SIZE);
    if (!found) break;
    at = (size_t)(found - data);
    if (at + payload <= size && tt_wpilog_uint(found + MAGIC_SIZE, 8) == at) return at - HEAD;
  }
  return size;
}

tt_checksum_result tt_checksum_verify(const uint8_t *data, size_t size) {
  tt_checksum_result result = {0};
  for (size_t at; (at = find_next(data, size, (size_t)result.covered)) < size;) {
    const uint8_t *segment = data + result.covered;
    uint64_t hash = hash_segment(segment, (size_t)(data + at - segment), data + at);
    uint64_t end = at + TT_CHECKSUM_SIZE;
    result.any = true;
    result.damaged = hash != tt_wpilog_uint(data + at + HASHED, 8);
    result.from = result.covered;
    result.to = end;
    if (result.damaged) break;
    result.covered = end;
  }
  return result;
}

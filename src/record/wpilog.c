#include "record/wpilog.h"

#include "base/endian.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "WPILOG"
#define MAGIC_SIZE 6
#define VERSION 0x0100
#define CONTROL_START 0
#define CONTROL_FINISH 1

/* ---- writing ---- */

static size_t bytes_needed(uint64_t value) {
  size_t needed = 1;
  while (needed < 8 && value >> (8 * needed)) needed++;
  return needed;
}

static void append_text(tt_bytes *out, const char *text) {
  tt_bytes_append_le(out, strlen(text), 4);
  tt_bytes_append(out, text, strlen(text));
}

void tt_wpilog_write_head(tt_bytes *out, uint32_t entry, uint64_t timestamp, size_t size) {
  uint8_t head[17];
  size_t id_size = bytes_needed(entry);
  size_t size_size = bytes_needed(size);
  size_t time_size = bytes_needed(timestamp);
  head[0] = (uint8_t)((id_size - 1) | (size_size - 1) << 2 | (time_size - 1) << 4);
  tt_put_le(head + 1, entry, id_size);
  tt_put_le(head + 1 + id_size, size, size_size);
  tt_put_le(head + 1 + id_size + size_size, timestamp, time_size);
  tt_bytes_append(out, head, 1 + id_size + size_size + time_size);
}

void tt_wpilog_write_header(tt_bytes *out, const char *extra) {
  tt_bytes_append(out, MAGIC, MAGIC_SIZE);
  tt_bytes_append_le(out, VERSION, 2);
  append_text(out, extra);
}

void tt_wpilog_write_start(tt_bytes *out, uint32_t entry, const char *name, const char *type,
                           const char *metadata, uint64_t timestamp) {
  uint8_t fixed[5] = {CONTROL_START};
  tt_put_le(fixed + 1, entry, 4);
  tt_wpilog_write_head(out, 0, timestamp,
                       sizeof fixed + 12 + strlen(name) + strlen(type) + strlen(metadata));
  tt_bytes_append(out, fixed, sizeof fixed);
  append_text(out, name);
  append_text(out, type);
  append_text(out, metadata);
}

void tt_wpilog_write(tt_bytes *out, uint32_t entry, uint64_t timestamp, const void *payload,
                     size_t size) {
  tt_wpilog_write_head(out, entry, timestamp, size);
  tt_bytes_append(out, payload, size);
}

void tt_wpilog_write_double(tt_bytes *out, uint32_t entry, uint64_t timestamp, double value) {
  uint8_t payload[8];
  tt_wpilog_put_double(payload, value);
  tt_wpilog_write(out, entry, timestamp, payload, sizeof payload);
}

void tt_wpilog_write_boolean(tt_bytes *out, uint32_t entry, uint64_t timestamp, bool value) {
  uint8_t byte = value;
  tt_wpilog_write(out, entry, timestamp, &byte, sizeof byte);
}

void tt_wpilog_write_string(tt_bytes *out, uint32_t entry, uint64_t timestamp, const char *text) {
  tt_wpilog_write(out, entry, timestamp, text, strlen(text));
}

/* ---- reading ---- */

uint64_t tt_wpilog_uint(const uint8_t *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

double tt_wpilog_double(const uint8_t bytes[8]) {
  uint64_t bits = tt_wpilog_uint(bytes, 8);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void tt_wpilog_put_double(uint8_t bytes[8], double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  tt_put_le(bytes, bits, 8);
}

tt_status tt_wpilog_check(const uint8_t *data, size_t size, size_t *offset, tt_error *error) {
  const size_t fixed = MAGIC_SIZE + 2 + 4;
  if (size < fixed || memcmp(data, MAGIC, MAGIC_SIZE) != 0)
    return tt_fail(error, TT_INVALID, "this is no WPILOG file");
  uint64_t version = tt_wpilog_uint(data + MAGIC_SIZE, 2);
  if (version >> 8 != VERSION >> 8)
    return tt_fail(error, TT_VERSION, "WPILOG version %u.%u can't be read, only 1.x",
                   (unsigned)(version >> 8), (unsigned)(version & 0xff));
  uint64_t extra = tt_wpilog_uint(data + MAGIC_SIZE + 2, 4);
  if (extra > size - fixed) return tt_fail(error, TT_INVALID, "the file ends within its header");
  *offset = fixed + extra;
  return TT_OK;
}

#define ROOMY 24u /* bytes in which any head's numbers can be read eight bytes at a time */

/* The same as tt_wpilog_uint() where eight bytes may be read: a log of an hour has millions of these. */
static uint64_t load(const uint8_t *at, size_t size) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return le64toh(value) & (UINT64_MAX >> (64 - 8 * size));
}

tt_status tt_wpilog_next(const uint8_t *data, size_t size, size_t *offset,
                         tt_wpilog_record *record) {
  if (*offset >= size) return TT_END;
  const uint8_t *at = data + *offset;
  size_t left = size - *offset;
  size_t id_size = (at[0] & 3u) + 1u;
  size_t size_size = (at[0] >> 2 & 3u) + 1u;
  size_t time_size = (at[0] >> 4 & 7u) + 1u;
  size_t head = 1 + id_size + size_size + time_size;
  if (left < head) return TT_END;
  if (left >= ROOMY) {
    record->entry = (uint32_t)load(at + 1, id_size);
    record->size = load(at + 1 + id_size, size_size);
    record->timestamp = load(at + 1 + id_size + size_size, time_size);
  } else {
    record->entry = (uint32_t)tt_wpilog_uint(at + 1, id_size);
    record->size = tt_wpilog_uint(at + 1 + id_size, size_size);
    record->timestamp = tt_wpilog_uint(at + 1 + id_size + size_size, time_size);
  }
  if (record->size > left - head) return TT_END;
  record->payload = at + head;
  *offset += head + record->size;
  return TT_OK;
}

/* Takes a u32 length and that many bytes from a payload. */
static int take_text(const uint8_t **at, size_t *left, const char **text, uint32_t *size) {
  if (*left < 4) return 0;
  *size = (uint32_t)tt_wpilog_uint(*at, 4);
  *at += 4;
  *left -= 4;
  if (*left < *size) return 0;
  *text = (const char *)*at;
  *at += *size;
  *left -= *size;
  return 1;
}

tt_status tt_wpilog_decode_start(const tt_wpilog_record *record, tt_wpilog_start *start) {
  if (record->entry != 0 || record->size < 1) return TT_BAD_MESSAGE;
  if (record->payload[0] != CONTROL_START) return TT_AGAIN;
  if (record->size < 5) return TT_BAD_MESSAGE;
  const uint8_t *at = record->payload + 5;
  size_t left = record->size - 5;
  start->entry = (uint32_t)tt_wpilog_uint(record->payload + 1, 4);
  if (!take_text(&at, &left, &start->name, &start->name_size) ||
      !take_text(&at, &left, &start->type, &start->type_size) ||
      !take_text(&at, &left, &start->metadata, &start->metadata_size))
    return TT_BAD_MESSAGE;
  return TT_OK;
}

uint32_t tt_wpilog_decode_finish(const tt_wpilog_record *record) {
  bool is = record->entry == 0 && record->size == 5 && record->payload[0] == CONTROL_FINISH;
  return is ? (uint32_t)tt_wpilog_uint(record->payload + 1, 4) : 0;
}

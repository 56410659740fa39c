#include "record/journal_codec.h"

#include "base/endian.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define FLOAT_CODE 9u
#define STATE_LEVEL 1 /* of zstd: most of a state is zeros, and the simulation waits */
#define LARGEST_STATE (1u << 30)

/* ---- writing: the same walk counts the bytes, then appends them ---- */

typedef struct packer {
  tt_bytes *out; /* NULL: only count */
  size_t size;
} packer;

static void put(packer *to, const void *bytes, size_t size) {
  if (to->out) tt_bytes_append(to->out, bytes, size);
  to->size += size;
}

static void put_le(packer *to, uint64_t value, size_t size) {
  uint8_t number[sizeof value];
  tt_put_le(number, value, size);
  put(to, number, size);
}

static void put_byte(packer *to, uint64_t value) {
  uint8_t byte = (uint8_t)value;
  put(to, &byte, 1);
}

static void put_varint(packer *to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) put_byte(to, value | 0x80);
  put_byte(to, value);
}

static void put_zigzag(packer *to, int64_t value) {
  put_varint(to, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* The float that is the same number, bit for bit. */
static bool as_float(double value, uint32_t *bits) {
  float number = (float)value; /* beyond its range: infinity, which is not the same */
  double again = (double)number;
  memcpy(bits, &number, sizeof *bits);
  return bits_of(again) == bits_of(value);
}

static unsigned code_of(double value) {
  uint64_t bits = bits_of(value);
  uint32_t number;
  unsigned bytes = 8;
  while (bytes > 0 && !(bits >> (64 - 8 * bytes) & 0xff)) bytes--;
  return bytes > 4 && as_float(value, &number) ? FLOAT_CODE : bytes;
}

static void put_value(packer *to, double value) {
  unsigned code = code_of(value);
  uint64_t bits = bits_of(value);
  uint32_t number;
  if (code == FLOAT_CODE) {
    as_float(value, &number);
    put_le(to, number, 4);
  } else {
    for (unsigned i = 0; i < code; i++) put_byte(to, bits >> (56 - 8 * i));
  }
}

/* Commands that follow each other by one stride, from `first` on. */
static int run_length(const tt_entry *entry, int first) {
  const tt_submission *from = entry->submissions;
  int end = first + 1;
  while (end < entry->count &&
         from[end].command - from[end - 1].command == from[first + 1].command - from[first].command)
    end++;
  return end - first;
}

static void put_commands(packer *to, const tt_entry *entry) {
  const tt_submission *from = entry->submissions;
  put_varint(to, (uint64_t)entry->count);
  for (int i = 0, length; i < entry->count; i += length) {
    length = run_length(entry, i);
    put_varint(to, (uint64_t)from[i].command);
    put_zigzag(to, length > 1 ? from[i + 1].command - from[i].command : 0);
    put_varint(to, (uint64_t)length);
  }
  for (int i = 0; i < entry->count; i += 2)
    put_byte(
        to, code_of(from[i].value) | (i + 1 < entry->count ? code_of(from[i + 1].value) << 4 : 0u));
  for (int i = 0; i < entry->count; i++) put_value(to, from[i].value);
}

static void put_payload(packer *to, const tt_entry *entry) {
  put_byte(to, (uint64_t)entry->kind);
  put_varint(to, entry->step);
  if (entry->kind == TT_ENTRY_RESET) put_zigzag(to, entry->robot);
  if (entry->kind == TT_ENTRY_HASH) put_le(to, entry->hash, 8);
  if (entry->kind == TT_ENTRY_SEED) put_le(to, entry->seed, 8);
  if (entry->kind == TT_ENTRY_STATE) put(to, entry->state, entry->state_size);
  if (entry->kind == TT_ENTRY_COMMANDS || entry->kind == TT_ENTRY_SAFE ||
      entry->kind == TT_ENTRY_VALUES)
    put_commands(to, entry);
}

static void encode(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry) {
  packer counted = {.out = NULL}, written = {.out = out};
  put_payload(&counted, entry);
  tt_wpilog_write_head(out, id, timestamp, counted.size);
  put_payload(&written, entry);
}

static void encode_state(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry) {
  size_t room = ZSTD_compressBound(entry->state_size);
  void *frame = malloc(room);
  size_t size =
      frame ? ZSTD_compress(frame, room, entry->state, entry->state_size, STATE_LEVEL) : 0;
  tt_entry packed = *entry;
  packed.state = frame;
  packed.state_size = size;
  if (frame && !ZSTD_isError(size))
    encode(out, id, timestamp, &packed);
  else
    out->failed = 1;
  free(frame);
}

void tt_journal_encode(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry) {
  if (entry->kind == TT_ENTRY_STATE)
    encode_state(out, id, timestamp, entry);
  else
    encode(out, id, timestamp, entry);
}

/* ---- reading ---- */

/* What is left of a payload; `bad` sticks. */
typedef struct reader {
  const uint8_t *at;
  size_t left;
  bool bad;
} reader;

static uint64_t take_byte(reader *from) {
  if (from->left == 0) {
    from->bad = true;
    return 0;
  }
  from->left--;
  return *from->at++;
}

static uint64_t take_uint(reader *from, size_t size) {
  uint64_t value = 0;
  for (size_t i = 0; i < size; i++) value |= take_byte(from) << (8 * i);
  return value;
}

static uint64_t take_varint(reader *from) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    uint64_t byte = take_byte(from);
    value |= (byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  from->bad = true;
  return 0;
}

static int64_t take_zigzag(reader *from) {
  uint64_t value = take_varint(from);
  return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static double take_value(reader *from, unsigned code) {
  uint64_t bits = 0;
  double value;
  if (code == FLOAT_CODE) {
    uint32_t word = (uint32_t)take_uint(from, 4);
    float number;
    memcpy(&number, &word, sizeof number);
    return (double)number;
  }
  from->bad |= code > 8;
  for (unsigned i = 0; i < code && !from->bad; i++) bits |= take_byte(from) << (56 - 8 * i);
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void take_runs(reader *from, tt_submission *into, uint64_t count) {
  for (uint64_t i = 0; i < count && !from->bad;) {
    uint64_t first = take_varint(from);
    int64_t stride = take_zigzag(from);
    uint64_t length = take_varint(from);
    from->bad |= length == 0 || length > count - i || first > INT32_MAX || stride > INT32_MAX ||
                 stride < INT32_MIN;
    for (uint64_t k = 0; k < length && !from->bad; k++) {
      int64_t command = (int64_t)first + (int64_t)k * stride;
      from->bad |= command < 0 || command > INT32_MAX;
      if (!from->bad) into[i + k].command = (int)command;
    }
    i += length;
  }
}

static tt_status take_commands(reader *from, tt_journal_scratch *scratch, tt_entry *entry) {
  uint64_t count = take_varint(from);
  if (count > 2 * from->left) return TT_BAD_MESSAGE; /* half a byte each is the least */
  if (count > (uint64_t)scratch->capacity) return TT_FULL;
  take_runs(from, scratch->submissions, count);
  reader codes = *from;
  for (uint64_t i = 0; i < (count + 1) / 2; i++) take_byte(from);
  for (uint64_t i = 0, both = 0; i < count && !from->bad; i++, both >>= 4) {
    if (i % 2 == 0) both = take_byte(&codes);
    scratch->submissions[i].value = take_value(from, both & 15);
  }
  entry->submissions = scratch->submissions;
  entry->count = (int)count;
  return TT_OK;
}

static void take_state(reader *from, tt_entry *entry) {
  entry->state = from->at;
  entry->state_size = from->left;
  from->left = 0;
}

tt_status tt_journal_unpack_state(const tt_entry *entry, void **state, size_t *size) {
  unsigned long long most = ZSTD_getFrameContentSize(entry->state, entry->state_size);
  *state = NULL;
  *size = 0;
  if (most > LARGEST_STATE) return TT_BAD_MESSAGE; /* so are zstd's errors */
  void *made = malloc((size_t)most + 1);
  if (!made) return TT_NOMEM;
  *size = ZSTD_decompress(made, (size_t)most, entry->state, entry->state_size);
  if (*size != (size_t)most) {
    free(made);
    return TT_BAD_MESSAGE;
  }
  *state = made;
  return TT_OK;
}

static tt_status decode_packed(reader from, tt_journal_scratch *scratch, tt_entry *entry) {
  uint64_t kind = take_byte(&from);
  if (kind == (TT_ENTRY_HASH | TT_JOURNAL_SAMPLED)) kind = TT_ENTRY_HASH;
  *entry = (tt_entry){.kind = (tt_entry_kind)kind, .source = scratch->source};
  entry->step = take_varint(&from);
  switch (kind) {
    case TT_ENTRY_COMMANDS:
    case TT_ENTRY_SAFE:
    case TT_ENTRY_VALUES: TT_TRY(take_commands(&from, scratch, entry)); break;
    case TT_ENTRY_RESET: entry->robot = (int)take_zigzag(&from); break;
    case TT_ENTRY_HASH: entry->hash = take_uint(&from, 8); break;
    case TT_ENTRY_SEED: entry->seed = take_uint(&from, 8); break;
    case TT_ENTRY_STATE: take_state(&from, entry); break;
    default: return TT_BAD_MESSAGE;
  }
  return from.bad || from.left ? TT_BAD_MESSAGE : TT_OK;
}

/* ---- reading what older programs wrote ---- */

#define SUBMISSION_SIZE 12u

static tt_status decode_old_commands(reader *from, tt_journal_scratch *scratch, tt_entry *entry) {
  uint64_t count = take_uint(from, 4);
  if (from->bad || from->left != count * SUBMISSION_SIZE) return TT_BAD_MESSAGE;
  if (count > (uint64_t)scratch->capacity) return TT_FULL;
  for (uint64_t i = 0; i < count; i++) {
    int command = (int)(int32_t)take_uint(from, 4);
    scratch->submissions[i] = (tt_submission){command, tt_wpilog_double(from->at)};
    take_uint(from, 8);
  }
  entry->submissions = scratch->submissions;
  entry->count = (int)count;
  return TT_OK;
}

static tt_status decode_old(reader from, tt_journal_scratch *scratch, tt_entry *entry) {
  *entry = (tt_entry){.kind = (tt_entry_kind)take_byte(&from), .source = scratch->source};
  entry->step = take_uint(&from, 8);
  size_t source = (size_t)take_byte(&from);
  for (size_t i = 0; i < source; i++) scratch->source[i] = (char)take_byte(&from);
  scratch->source[source] = 0;
  switch (entry->kind) {
    case TT_ENTRY_COMMANDS:
    case TT_ENTRY_SAFE: TT_TRY(decode_old_commands(&from, scratch, entry)); break;
    case TT_ENTRY_RESET: entry->robot = (int)(int32_t)take_uint(&from, 4); break;
    case TT_ENTRY_HASH: entry->hash = take_uint(&from, 8); break;
    default: return TT_BAD_MESSAGE;
  }
  return from.bad || from.left ? TT_BAD_MESSAGE : TT_OK;
}

/* ---- either ---- */

static bool is_packed(const char *name) {
  return strncmp(name, TT_JOURNAL_PREFIX, strlen(TT_JOURNAL_PREFIX)) == 0;
}

bool tt_journal_is_entry(const char *name) {
  return strcmp(name, TT_JOURNAL) == 0 || is_packed(name);
}

bool tt_journal_marks_sample(const char *name, const tt_wpilog_record *record) {
  return is_packed(name) && record->size > 0 &&
         record->payload[0] == (TT_ENTRY_HASH | TT_JOURNAL_SAMPLED);
}

tt_status tt_journal_decode(const char *name, const uint8_t *payload, size_t size,
                            tt_journal_scratch *scratch, tt_entry *entry) {
  reader from = {.at = payload, .left = size};
  if (!is_packed(name)) return decode_old(from, scratch, entry);
  snprintf(scratch->source, sizeof scratch->source, "%s", name + strlen(TT_JOURNAL_PREFIX));
  return decode_packed(from, scratch, entry);
}

#include "record/journal_codec.h"

#include <string.h>

#define SUBMISSION_SIZE 12u

static void append_uint(tt_bytes *out, uint64_t value, size_t size) {
  uint8_t bytes[8];
  for (size_t i = 0; i < size; i++) bytes[i] = (uint8_t)(value >> (8 * i));
  tt_bytes_append(out, bytes, size);
}

static uint64_t bits_of(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static bool has_submissions(tt_entry_kind kind) {
  return kind == TT_ENTRY_COMMANDS || kind == TT_ENTRY_SAFE;
}

static void append_payload(tt_bytes *out, const tt_entry *entry, size_t source_size) {
  append_uint(out, (uint64_t)entry->kind, 1);
  append_uint(out, entry->step, 8);
  append_uint(out, source_size, 1);
  tt_bytes_append(out, entry->source, source_size);
  if (entry->kind == TT_ENTRY_RESET) append_uint(out, (uint64_t)(int64_t)entry->robot, 4);
  if (entry->kind == TT_ENTRY_HASH) append_uint(out, entry->hash, 8);
  if (!has_submissions(entry->kind)) return;
  append_uint(out, (uint64_t)entry->count, 4);
  for (int i = 0; i < entry->count; i++) {
    append_uint(out, (uint64_t)entry->submissions[i].command, 4);
    append_uint(out, bits_of(entry->submissions[i].value), 8);
  }
}

void tt_journal_encode(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry) {
  size_t source_size = strnlen(entry->source, 255);
  size_t size = 10 + source_size;
  if (entry->kind == TT_ENTRY_RESET) size += 4;
  if (entry->kind == TT_ENTRY_HASH) size += 8;
  if (has_submissions(entry->kind)) size += 4 + SUBMISSION_SIZE * (size_t)entry->count;
  tt_wpilog_write_head(out, id, timestamp, size);
  append_payload(out, entry, source_size);
}

static tt_status decode_submissions(const uint8_t *at, size_t left, tt_journal_scratch *scratch,
                                    tt_entry *entry) {
  if (left < 4) return TT_BAD_MESSAGE;
  uint64_t count = tt_wpilog_uint(at, 4);
  if (left - 4 != count * SUBMISSION_SIZE) return TT_BAD_MESSAGE;
  if (count > (uint64_t)scratch->capacity) return TT_FULL;
  at += 4;
  for (uint64_t i = 0; i < count; i++, at += SUBMISSION_SIZE)
    scratch->submissions[i] =
        (tt_submission){(int)(int32_t)tt_wpilog_uint(at, 4), tt_wpilog_double(at + 4)};
  entry->submissions = scratch->submissions;
  entry->count = (int)count;
  return TT_OK;
}

tt_status tt_journal_decode(const uint8_t *payload, size_t size, tt_journal_scratch *scratch,
                            tt_entry *entry) {
  if (size < 10 || payload[0] > TT_ENTRY_HASH || size - 10 < payload[9]) return TT_BAD_MESSAGE;
  *entry = (tt_entry){.kind = payload[0], .step = tt_wpilog_uint(payload + 1, 8)};
  memcpy(scratch->source, payload + 10, payload[9]);
  scratch->source[payload[9]] = 0;
  entry->source = scratch->source;
  const uint8_t *at = payload + 10 + payload[9];
  size_t left = size - 10 - payload[9];
  if (has_submissions(entry->kind)) return decode_submissions(at, left, scratch, entry);
  size_t wanted = entry->kind == TT_ENTRY_RESET ? 4 : 8;
  if (entry->kind == TT_ENTRY_EVENT || left != wanted) return TT_BAD_MESSAGE;
  if (entry->kind == TT_ENTRY_RESET) entry->robot = (int)(int32_t)tt_wpilog_uint(at, 4);
  if (entry->kind == TT_ENTRY_HASH) entry->hash = tt_wpilog_uint(at, 8);
  return TT_OK;
}

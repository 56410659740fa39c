/* journal_codec.h: journal entries as payloads of one WPILOG entry, both directions.
 *
 * Payload, little-endian: u8 kind, u64 step, u8 length of the source, source, then by kind: commands and safe: u32
 * count, count × (u32 command, f64 value); reset: i32 robot; hash: u64. Events are strings of their own entry.
 */
#ifndef TT_RECORD_JOURNAL_CODEC_H
#define TT_RECORD_JOURNAL_CODEC_H

#include "sim/journal.h"
#include "record/wpilog.h"

/** Appends `entry` as a record of `id` to `out`. TT_ENTRY_EVENT is not for this. */
void tt_journal_encode(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry);

/** What a decoded entry points into. */
typedef struct tt_journal_scratch {
  tt_submission *submissions; /**< [capacity], the caller's */
  int capacity;
  char source[256];
} tt_journal_scratch;

/** Decodes a payload. TT_BAD_MESSAGE when it is malformed, TT_FULL when it has more commands than fit. */
tt_status tt_journal_decode(const uint8_t *payload, size_t size, tt_journal_scratch *scratch,
                            tt_entry *entry);

#endif

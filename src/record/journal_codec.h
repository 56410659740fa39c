/* journal_codec.h: journal entries as payloads of WPILOG records, both directions. Events are strings of their own entry, flags booleans of theirs.
 *
 * Each source has an entry of its own, TT_JOURNAL_PREFIX with its name. Payload: u8 kind, varint step, then by kind
 *   commands, safe  varint count; the commands as runs of varint first, zigzag stride, varint length; a nibble for each value,
 *                   the lower first: of so many bytes of the double it consists, beginning with the highest, the others are 0;
 *                   9: it is a float of 4 bytes, little-endian; then these bytes
 *   values          as commands, of the values of the model
 *   reset           zigzag robot
 *   hash            u64, little-endian; bit 7 of the kind: a sample of that state follows in the log
 *   seed            u64, little-endian
 *   state           a zstd frame
 * varint: seven bits a byte, the lowest first, bit 7 set in all but the last; zigzag: 0, −1, 1, −2, … as 0, 1, 2, 3, …
 *
 * Logs of older programs have one entry without a name of a source; little-endian: u8 kind, u64 step, u8 length of the source,
 * source, then commands and safe: u32 count, count × (u32 command, f64 value); reset: i32 robot; hash: u64.
 */
#ifndef TT_RECORD_JOURNAL_CODEC_H
#define TT_RECORD_JOURNAL_CODEC_H

#include "sim/journal.h"
#include "record/wpilog.h"

#include <stdbool.h>

#define TT_JOURNAL "/tether/journal"     /**< the entry of older logs */
#define TT_JOURNAL_PREFIX TT_JOURNAL "/" /**< and the name of a source */
#define TT_JOURNAL_SAMPLED 0x80u         /**< bit of a hash's first byte */

/** Appends `entry` as a record of `id` to `out`; its source is the entry's. TT_ENTRY_EVENT and TT_ENTRY_FLAG are not for this. Out of memory: `out` has failed. */
void tt_journal_encode(tt_bytes *out, uint32_t id, uint64_t timestamp, const tt_entry *entry);

/** The bytes of a state as tt_journal_decode() gave it, the caller's to free(). TT_BAD_MESSAGE: malformed, or above 1 GiB. */
tt_status tt_journal_unpack_state(const tt_entry *entry, void **state, size_t *size);

/** What a decoded entry points into. */
typedef struct tt_journal_scratch {
  tt_submission *submissions; /**< [capacity], the caller's */
  int capacity;
  char source[256];
} tt_journal_scratch;

/** Is an entry of this name a journal's? */
bool tt_journal_is_entry(const char *name);
/** Is the record, of the entry called `name`, a state hash with a sample of that state behind it? */
bool tt_journal_marks_sample(const char *name, const tt_wpilog_record *record);
/** Decodes a payload of the entry called `name`; a state stays packed, and stays in the payload. TT_BAD_MESSAGE when it is
 *  malformed, TT_FULL when it has more commands than fit. */
tt_status tt_journal_decode(const char *name, const uint8_t *payload, size_t size,
                            tt_journal_scratch *scratch, tt_entry *entry);

#endif

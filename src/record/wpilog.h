/* wpilog.h: the WPILOG 1.0 container, both directions. Pure: bytes in memory, no I/O, no clock.
 *
 * Source: "WPILib Data Log File Format Specification, Version 1.0" (allwpilib, datalog/doc/datalog.adoc).
 * Little-endian, append-only. A header ("WPILOG", u16 version, u32 length, extra text), then records: a byte of
 * three lengths, entry id (1…4 bytes), payload size (1…4), timestamp in µs (1…8), payload. Id 0 are control
 * records: start, finish, metadata of an entry.
 */
#ifndef TT_RECORD_WPILOG_H
#define TT_RECORD_WPILOG_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Bytes of the longest name of an entry that we write or look for, its end included: of a body or joint, with what belongs to it. */
#define TT_WPILOG_MOST_NAME 1200

/* --- writing: appends to `out`; errors show as out->failed --- */
void tt_wpilog_write_header(tt_bytes *out, const char *extra);
/** Announces an entry. `type`: "double", "int64", "boolean", "string", "raw", "struct:Pose3d", "structschema", … */
void tt_wpilog_write_start(tt_bytes *out, uint32_t entry, const char *name, const char *type,
                           const char *metadata, uint64_t timestamp);
void tt_wpilog_write(tt_bytes *out, uint32_t entry, uint64_t timestamp, const void *payload,
                     size_t size);
/** The part of a record before its payload, for payloads that the caller appends piece by piece. */
void tt_wpilog_write_head(tt_bytes *out, uint32_t entry, uint64_t timestamp, size_t size);
void tt_wpilog_write_double(tt_bytes *out, uint32_t entry, uint64_t timestamp, double value);
void tt_wpilog_write_boolean(tt_bytes *out, uint32_t entry, uint64_t timestamp, bool value);
void tt_wpilog_write_string(tt_bytes *out, uint32_t entry, uint64_t timestamp, const char *text);

/* --- reading --- */
/** One record; pointers lead into the log's bytes. */
typedef struct tt_wpilog_record {
  uint32_t entry;     /**< 0: control */
  uint64_t timestamp; /**< µs */
  const uint8_t *payload;
  size_t size;
} tt_wpilog_record;

/** A start record, decoded. Texts are not terminated. */
typedef struct tt_wpilog_start {
  uint32_t entry;
  const char *name, *type, *metadata;
  uint32_t name_size, type_size, metadata_size;
} tt_wpilog_start;

/** Checks the header of a log of `size` bytes and gives the offset of the first record. TT_INVALID with the
 *  reason when it is no WPILOG, TT_VERSION when it is of another major version. */
tt_status tt_wpilog_check(const uint8_t *data, size_t size, size_t *offset, tt_error *error);
/** Decodes the record at `*offset` and moves past it. TT_END at the end, also where a crash cut the last
 *  record short: what is there before it is whole. */
tt_status tt_wpilog_next(const uint8_t *data, size_t size, size_t *offset,
                         tt_wpilog_record *record);
/** Decodes a control record of type start; TT_AGAIN when it is another type, TT_BAD_MESSAGE when malformed. */
tt_status tt_wpilog_decode_start(const tt_wpilog_record *record, tt_wpilog_start *start);
/** The id of the entry that a control record of type finish ends: it may be announced again as another. 0: it is no such record. */
uint32_t tt_wpilog_decode_finish(const tt_wpilog_record *record);

/** Little-endian numbers of a payload. */
uint64_t tt_wpilog_uint(const uint8_t *bytes, size_t size);
double tt_wpilog_double(const uint8_t bytes[8]);
void tt_wpilog_put_double(uint8_t bytes[8], double value);

#endif

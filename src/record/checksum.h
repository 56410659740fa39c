/* checksum.h: what tells that a log is the one that was written: records that hash all bytes since the one before.
 *
 * A record of TT_CHECKSUM_SIZE bytes: a head of 11 (id and size a byte each, 8 of time), then the payload, little-endian: the
 * eight bytes "TTHASHED", u64 their place in the file, u64 hash: tt_hash_bytes() over everything since the record before (or the
 * file's beginning), and from there on over this record's first 27 bytes. It is found by its place, not by the records around
 * it, so that damage to those can't hide it.
 */
#ifndef TT_RECORD_CHECKSUM_H
#define TT_RECORD_CHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_CHECKSUM_SIZE 35
#define TT_CHECKSUM_ENTRY "/tether/checksum" /**< name of their entry */

/** The record that comes behind `bytes`. Allocates nothing.
 *  @param entry below 256
 *  @param timestamp µs
 *  @param offset of `bytes` in the file: the end of the checksum before, or 0 */
void tt_checksum_make(uint8_t record[TT_CHECKSUM_SIZE], uint8_t entry, uint64_t timestamp,
                      uint64_t offset, const void *bytes, size_t size);

/** Is this the payload of a checksum, as it looks? */
bool tt_checksum_is(const void *payload, size_t size);

/** What the checksums of a log say. Offsets are bytes of the file. */
typedef struct tt_checksum_result {
  bool any;          /**< there is a checksum; logs of older programs have none */
  bool damaged;      /**< bytes from `from` to before `to` are not those that were written */
  uint64_t from, to; /**< the first such stretch */
  uint64_t covered;  /**< bytes from the beginning that are as they were written */
} tt_checksum_result;
/** Looks at every byte, up to the first damage. */
tt_checksum_result tt_checksum_verify(const uint8_t *data, size_t size);

#endif

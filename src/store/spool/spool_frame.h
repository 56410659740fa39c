/* spool_frame.h: what a spool's file is made of: frames, each with a batch, found again by the mark it begins with and
 * checked by its sums. Numbers are the machine's own: the file never leaves it.
 */
#ifndef TT_STORE_SPOOL_FRAME_H
#define TT_STORE_SPOOL_FRAME_H

#include "base/status.h"
#include "store/batch.h"
#include "store/map.h"

/** Of any kind of frame: bytes that are read before it is known what it is. */
#define TT_FRAME_HEAD 56
#define TT_FRAME_MOST (1u << 30)

typedef struct tt_frame {
  bool old;        /**< of the format before marks: no sum of its head, no count of its samples */
  uint64_t writer; /**< a process: indices mean the same in its frames */
  uint32_t head_size; /**< bytes before the batch */
  uint32_t size;      /**< bytes of the batch */
  uint32_t samples;   /**< in it; 0 where it is old */
  uint8_t sum[32];
} tt_frame;

/** Adds a batch as a frame that will stand at `position` of the file. False: out of memory, or it is too large. */
bool tt_frame_encode(tt_list *bytes, const tt_store_batch *batch, uint64_t writer,
                     uint64_t position);
/** Reads a head of up to TT_FRAME_HEAD bytes that stands at `position`. False: none is there. */
bool tt_frame_read_head(const uint8_t *bytes, size_t size, uint64_t position, tt_frame *frame);
/** Whether the bytes behind a head are its batch. */
bool tt_frame_is_whole(const tt_frame *frame, const uint8_t *bytes);
/** The first byte at which a frame may begin, `size` if there is none. The last TT_FRAME_MARK − 1 bytes are not looked at. */
size_t tt_frame_find(const uint8_t *bytes, size_t size);
#define TT_FRAME_MARK 16

/** What was said in the batches that were gathered into one. Zero at first. */
typedef struct tt_frame_known {
  tt_map devices, attributes; /**< by index */
  tt_map epochs;              /**< device, number → index in the batch */
} tt_frame_known;
void tt_frame_known_clear(tt_frame_known *known);

/** Adds what a frame's batch says to another. TT_BAD_MESSAGE: it is none. TT_NOMEM. Nothing but epochs is added then. */
tt_status tt_frame_decode(const tt_frame *frame, const uint8_t *bytes, tt_frame_known *known,
                          tt_store_batch *batch);

/* --- spool_old.c: the format before marks --- */

/** The head of a frame of older versions. False: it is none. */
bool tt_frame_read_old_head(const uint8_t *bytes, size_t size, tt_frame *frame);
/** The first four bytes of an old head. */
#define TT_FRAME_OLD_MAGIC "LTPS"
void tt_sha256(const uint8_t *bytes, size_t size, uint8_t digest[32]);

#endif

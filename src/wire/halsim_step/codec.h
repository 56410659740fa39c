/* codec.h: frames of halsim-step: where one ends, what its head says, its messages one by one. Byte table: docs/wires/halsim-step.md.
 */
#ifndef TT_WIRE_HALSIM_STEP_CODEC_H
#define TT_WIRE_HALSIM_STEP_CODEC_H

#include "base/bytes.h"
#include "base/status.h"
#include "halsim/message.h"
#include "wire/halsim_step/frame.h"

/** What a frame of an extension is. */
typedef enum tt_step_kind {
  TT_STEP_HELLO,   /**< its first */
  TT_STEP_ANSWER,  /**< what the program gave up to `time` */
  TT_STEP_TROUBLE, /**< `text` is for people; it answers nothing */
  TT_STEP_END,     /**< its last; `text` is for people */
} tt_step_kind;

typedef struct tt_step_head {
  tt_step_kind kind;
  int64_t version; /**< of a hello */
  int64_t time;    /**< µs of the program's clock; of an answer */
  char text[1024]; /**< of a hello the program's name; "" of an answer */
} tt_step_head;

/** Finds the first frame in what has come.
 *  @param body valid as long as `bytes`
 *  @param used bytes of the frame with its length
 *  @return TT_AGAIN: its end has not come yet; TT_INVALID: its length is beyond TT_STEP_MOST_BYTES */
tt_status tt_step_frame(const uint8_t *bytes, size_t size, const uint8_t **body, size_t *body_size,
                        size_t *used, tt_error *error);

/** The next message of a body and its line feed, of which `at` bytes are read. TT_END: there are no more; TT_INVALID: the last one is
 *  not ended by a line feed. `text` is without it, and not ended by 0. */
tt_status tt_step_line(const uint8_t *body, size_t body_size, size_t *at, const char **text,
                       size_t *size, tt_error *error);

/** What the first message of a body says. TT_INVALID: it is no head of an extension. */
tt_status tt_step_read_head(const tt_halsim_message *message, tt_step_head *head, tt_error *error);

/** Begins a frame of Tether's in empty bytes: number `frame`, and how far the program's clock is to go on, µs. */
void tt_step_begin(tt_bytes *to, uint64_t frame, int64_t microseconds);
/** Adds a message. */
void tt_step_add(tt_bytes *to, const char *text, size_t size);
/** Writes the length. False: out of memory, or beyond TT_STEP_MOST_BYTES. */
bool tt_step_end(tt_bytes *to);

#endif

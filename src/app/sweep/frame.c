#include "app/sweep/frame.h"

#include "base/text.h"
#include "sweep/rows_file.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define HEAD 5 /* size, kind */

static void put(tt_bytes *bytes, tt_sweep_frame_kind kind, const void *content, size_t size) {
  const uint32_t length = htole32((uint32_t)(size + 1));
  const uint8_t byte = (uint8_t)kind;
  tt_bytes_append(bytes, &length, sizeof length);
  tt_bytes_append(bytes, &byte, 1);
  tt_bytes_append(bytes, content, size);
}

void tt_sweep_frame_put_row(tt_bytes *bytes, const tt_sweep_plan *plan, const tt_sweep_row *row) {
  tt_bytes file = {0};
  tt_rows_begin(&file, plan);
  tt_rows_add(&file, plan, row);
  tt_rows_end(&file);
  if (!file.failed) put(bytes, TT_SWEEP_FRAME_ROW, file.data, file.size);
  bytes->failed |= file.failed;
  tt_bytes_free(&file);
}

void tt_sweep_frame_put_end(tt_bytes *bytes, tt_status status, const tt_error *error) {
  uint8_t content[1 + sizeof error->text];
  const size_t length = strlen(error->text);
  content[0] = (uint8_t)status;
  memcpy(content + 1, error->text, length);
  put(bytes, TT_SWEEP_FRAME_END, content, length + 1);
}

static tt_status take_row(void *context, const tt_sweep_row *row, tt_error *error) {
  tt_sweep_frame *frame = context;
  if (frame->kind == TT_SWEEP_FRAME_ROW)
    return tt_fail(error, TT_BAD_MESSAGE, "has more than one row");
  frame->kind = TT_SWEEP_FRAME_ROW;
  frame->row = *row;
  return TT_OK;
}

static tt_status take_end(const uint8_t *content, size_t size, tt_sweep_frame *frame,
                          tt_error *error) {
  if (size < 1 || size > sizeof frame->error.text || content[0] == TT_OK ||
      memchr(content + 1, 0, size - 1))
    return tt_fail(error, TT_BAD_MESSAGE, "is no frame");
  frame->kind = TT_SWEEP_FRAME_END;
  frame->status = (tt_status)content[0];
  memcpy(frame->error.text, content + 1, size - 1);
  frame->error.text[size - 1] = 0;
  tt_text_make_safe(frame->error.text);
  return TT_OK;
}

tt_status tt_sweep_frame_take(const tt_sweep_plan *plan, const uint8_t *bytes, size_t size,
                              tt_sweep_frame *frame, size_t *used, tt_error *error) {
  uint32_t length;
  if (size < sizeof length) return TT_AGAIN;
  memcpy(&length, bytes, sizeof length);
  length = le32toh(length);
  if (length < 1 || length > TT_SWEEP_FRAME_MOST)
    return tt_fail(error, TT_BAD_MESSAGE, "is no frame");
  if (size - sizeof length < length) return TT_AGAIN;
  const uint8_t *content = bytes + HEAD;
  *used = sizeof length + length;
  frame->kind = 0;
  if (bytes[sizeof length] == TT_SWEEP_FRAME_END)
    return take_end(content, length - 1, frame, error);
  if (bytes[sizeof length] != TT_SWEEP_FRAME_ROW)
    return tt_fail(error, TT_BAD_MESSAGE, "is no frame");
  TT_TRY(tt_rows_decode(plan, content, length - 1, take_row, frame, error));
  return frame->kind == TT_SWEEP_FRAME_ROW ? TT_OK : tt_fail(error, TT_BAD_MESSAGE, "has no row");
}

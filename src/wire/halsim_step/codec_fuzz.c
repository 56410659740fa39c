/* codec_fuzz.c: any bytes as what an extension sends: frames are found within what came, their lines within them, and a monitor
 * shows each without leaving it. */
#include "wire/halsim_step/codec.h"
#include "wire/halsim_step/explain.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void read_message(const char *text, size_t size, bool first) {
  tt_halsim_message message;
  tt_step_head head;
  tt_error error;
  if (tt_halsim_read(text, size, &message, &error) != TT_OK) return;
  if (first && tt_step_read_head(&message, &head, &error) == TT_OK)
    check(head.time >= 0 && head.version >= 0 && strlen(head.text) < sizeof head.text);
  tt_halsim_message_clear(&message);
}

static void show(const uint8_t *frame, size_t kept, size_t whole) {
  tt_wire_field fields[32];
  tt_explanation to = {
      .bytes = frame, .size = (int)kept, .whole = (int)whole, .fields = fields, .capacity = 32};
  tt_halsim_step_explain(&to);
  check(to.count >= 0 && to.count <= to.capacity);
  for (int i = 0; i < to.count; i++)
    check(fields[i].offset >= 0 && fields[i].offset + fields[i].size <= (int)whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t at = 0, used = 0, body_size;
  const uint8_t *body;
  tt_error error;
  show(data, size, size);
  while (tt_step_frame(data + at, size - at, &body, &body_size, &used, &error) == TT_OK) {
    check(body == data + at + TT_STEP_LENGTH && used == body_size + TT_STEP_LENGTH);
    size_t within = 0, length;
    const char *text;
    while (tt_step_line(body, body_size, &within, &text, &length, &error) == TT_OK) {
      check(within <= body_size && text + length < (const char *)body + body_size);
      read_message(text, length, text == (const char *)body);
    }
    show(data + at, used, used);
    show(data + at, used / 2, used);
    at += used;
  }
  return 0;
}

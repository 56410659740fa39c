/* codec_fuzz.c: any datagram, read as each of the messages: what is accepted is in range, and is read back from
 * what we would send for it. */
#include "sharp/codec.h"
#include "wire/sharp_json/explain.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void one(const tt_sharp_format *format, const uint8_t *data, size_t size) {
  int values[TT_SHARP_MAX_VALUES] = {0};
  tt_refusal fault;
  char unknown[TT_SHARP_UNKNOWN_TEXT];
  if (tt_sharp_decode(format, data, size, values, unknown, &fault) != TT_OK) {
    for (int i = 0; i < format->value_count; i++) check(values[i] == 0);
    return;
  }
  int index = 0;
  for (int k = 0; k < format->key_count; k++) {
    const tt_sharp_key *key = &format->keys[k];
    for (int i = 0; i < key->count; i++, index++) {
      check(values[index] >= key->lower && values[index] <= key->upper);
    }
  }
  for (int style = TT_SHARP_COLUMNS; style <= TT_SHARP_JSON; style++) {
    char text[TT_SHARP_MAX_TEXT];
    int again[TT_SHARP_MAX_VALUES] = {0};
    size_t length = tt_sharp_encode(format, (tt_sharp_style)style, values, text);
    check(tt_sharp_decode(format, (const uint8_t *)text, length, again, unknown, &fault) == TT_OK);
    check(unknown[0] == '\0');
    check(memcmp(values, again, sizeof values) == 0);
  }
}

/** What monitors show of it lies within it, whether it was kept whole or not. */
static void explain(const tt_sharp_format *format, const uint8_t *data, int size, int whole) {
  tt_wire_field fields[TT_SHARP_MAX_VALUES];
  tt_explanation to = {data, size, whole, fields, TT_SHARP_MAX_VALUES, 0};
  tt_sharp_explain(format, &to);
  for (int i = 0; i < to.count; i++)
    check(fields[i].offset >= 0 && fields[i].size >= 0 &&
          fields[i].offset + fields[i].size <= size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  explain(&tt_sharp_joystick_format, data, (int)size, (int)size);
  explain(&tt_sharp_command_format, data, (int)size, (int)size + 1);
  one(&tt_sharp_joystick_format, data, size);
  one(&tt_sharp_command_format, data, size);
  one(&tt_sharp_state_format, data, size);
  one(&tt_sharp_heartbeat_format, data, size);
  return 0;
}

/* codec_fuzz.c: any datagram, read as each of the messages: what is accepted is in range, and is read back from
 * what we would send for it. */
#include "wire/sharp_json/codec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void one(const tt_sharp_format *format, const uint8_t *data, size_t size) {
  int values[TT_SHARP_MAX_VALUES] = {0};
  tt_sharp_fault fault;
  if (tt_sharp_decode(format, data, size, values, &fault) != TT_OK) {
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
    check(tt_sharp_decode(format, (const uint8_t *)text, length, again, &fault) == TT_OK);
    check(memcmp(values, again, sizeof values) == 0);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  one(&tt_sharp_joystick_format, data, size);
  one(&tt_sharp_command_format, data, size);
  one(&tt_sharp_state_format, data, size);
  one(&tt_sharp_heartbeat_format, data, size);
  return 0;
}

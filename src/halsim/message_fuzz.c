/* message_fuzz.c: any bytes as a message: what is read holds finite numbers only, and is the same once it was written. */
#include "halsim/message.h"

#include <json-c/json.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void write_again(const tt_halsim_message *message) {
  tt_halsim_value values[TT_HALSIM_MOST_VALUES];
  int count = tt_halsim_values(message, values);
  for (int i = 0; i < count; i++) check(isfinite(values[i].number));
  char *text = malloc(8 * TT_HALSIM_MOST_BYTES);
  size_t size = tt_halsim_write(message->type, message->device, values, count, text,
                                8 * TT_HALSIM_MOST_BYTES);
  tt_halsim_message again;
  tt_error error;
  check(size > 0);
  if (tt_halsim_read(text, size, &again, &error) == TT_OK) {
    check(strcmp(again.type, message->type) == 0 && strcmp(again.device, message->device) == 0);
    check(json_object_object_length(again.data) == count);
    tt_halsim_message_clear(&again);
  } else {
    check(size > TT_HALSIM_MOST_BYTES); /* escapes make it longer */
  }
  free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_halsim_message message;
  tt_error error;
  if (tt_halsim_read((const char *)data, size, &message, &error) != TT_OK) return 0;
  write_again(&message);
  tt_halsim_message_clear(&message);
  return 0;
}

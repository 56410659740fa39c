/* message_fuzz.c: any bytes as a binary frame and as a text frame: what is read lies within the frame and can be written again. */
#include "nt4/control.h"
#include "nt4/message.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void read_binary(const uint8_t *data, size_t size) {
  const uint8_t *at = data, *end = data + size;
  tt_nt4_message message, again;
  while (tt_nt4_read_message(&at, end, &message) == TT_OK) {
    double number;
    if (tt_nt4_read_number(&message, &number)) check(number - number == 0);
    check(message.value >= data && message.value + message.value_size <= end);
    tt_bytes copy = {.size = 0};
    tt_nt4_put_message(&copy, &message);
    const uint8_t *from = copy.data;
    check(tt_nt4_read_message(&from, copy.data + copy.size, &again) == TT_OK);
    check(again.id == message.id && again.time == message.time && again.type == message.type);
    check(again.value_size == message.value_size &&
          memcmp(again.value, message.value, again.value_size) == 0);
    tt_bytes_free(&copy);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct json_object *frame;
  tt_nt4_request request;
  read_binary(data, size);
  if (tt_nt4_read_frame((const char *)data, size, &frame, NULL) != TT_OK) return 0;
  for (size_t i = 0; i < json_object_array_length(frame); i++) {
    tt_nt4_announcement said;
    if (tt_nt4_read_announcement(frame, i, &said) == TT_OK) check(said.name != NULL);
    if (tt_nt4_read_request(frame, i, &request) == TT_OK && request.method == TT_NT4_SUBSCRIBE)
      check(request.periodic >= 0.005 && request.periodic <= 3600);
  }
  json_object_put(frame);
  return 0;
}

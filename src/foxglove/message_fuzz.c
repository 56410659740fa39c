/* message_fuzz.c: any bytes as a binary message and as a text request: what is read lies within them, and numbers are finite. */
#include "foxglove/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

static void lies_within(const void *part, size_t part_size, const uint8_t *data, size_t size) {
  const uint8_t *at = part;
  if (part_size) check(at >= data && part_size <= size && at + part_size <= data + size);
}

static void read_binary(const uint8_t *data, size_t size) {
  tt_foxglove_binary message;
  if (tt_foxglove_read_binary(data, size, &message) != TT_OK) return;
  lies_within(message.payload, message.payload_size, data, size);
  lies_within(message.encoding, message.encoding_size, data, size);
  lies_within(message.id, message.id_size, data, size);
  check(isfinite(message.speed));
}

static void read_items(const tt_foxglove_request *request) {
  uint32_t id, channel;
  const char *name, *encoding;
  double value;
  for (size_t i = 0; i < request->count; i++) {
    tt_foxglove_read_subscription(request, i, &id, &channel);
    tt_foxglove_read_id(request, i, &id);
    if (tt_foxglove_read_channel(request, i, &id, &name, &encoding))
      check(strlen(name) < TT_FOXGLOVE_NAME && strlen(encoding) < TT_FOXGLOVE_NAME);
    if (tt_foxglove_read_name(request, i, &name)) check(strlen(name) < TT_FOXGLOVE_NAME);
    if (tt_foxglove_read_parameter(request, i, &name, &value)) check(isfinite(value));
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_foxglove_request request;
  read_binary(data, size);
  if (tt_foxglove_read_request((const char *)data, size, &request, NULL) != TT_OK) return 0;
  read_items(&request);
  json_object_put(request.frame);
  return 0;
}

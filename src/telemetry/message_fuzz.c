/* message_fuzz.c: any bytes, in pieces whose size the first byte gives. */
#include "telemetry/message.h"

#include <assert.h>
#include <string.h>

typedef struct heard {
  uint64_t hash;
  int messages;
} heard;

static void on_message(void *context, const tt_message *message) {
  heard *to = context;
  to->messages++;
  to->hash = to->hash * 31 + message->hash;
  assert(*message->device && strlen(message->device) <= 64);
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sample = &message->samples[s];
    assert(sample->first + sample->count <= message->value_count);
  }
  for (uint32_t v = 0; v < message->value_count; v++) {
    assert(*tt_message_text(message, message->values[v].identifier));
    to->hash += strlen(tt_message_text(message, message->values[v].text));
  }
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  (void)context;
  assert(refusal->line > 0 && refusal->column > 0 && *refusal->reason);
}

static heard feed(const uint8_t *data, size_t size, size_t step) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_message_limits limits = tt_message_limits_default();
  limits.message_bytes = 4096;
  limits.values = 100;
  heard to = {0};
  tt_message_parser *parser = tt_message_parser_new(&limits, &handler, &to);
  for (size_t at = 0; at < size; at += step) {
    tt_message_parser_feed(parser, data + at, size - at < step ? size - at : step);
  }
  tt_message_parser_end(parser);
  tt_message_parser_free(parser);
  return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  feed(data + 1, size - 1, (size_t)data[0] + 1);
  feed(data + 1, size - 1, size);
  return 0;
}

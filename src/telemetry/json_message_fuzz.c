/* json_message_fuzz.c: any bytes, in pieces whose size the first byte gives: the same comes out as of the whole. */
#include "telemetry/json_message.h"

#include <assert.h>
#include <string.h>

typedef struct heard {
  uint64_t hash;
  int messages, refusals;
} heard;

static void on_message(void *context, const tt_message *message) {
  heard *to = context;
  to->messages++;
  to->hash = to->hash * 31 + message->hash;
  assert(*message->device && strlen(message->device) <= 64 && message->line);
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sample = &message->samples[s];
    assert(sample->first + sample->count <= message->value_count);
  }
  for (uint32_t v = 0; v < message->value_count; v++) {
    const char *identifier = tt_message_text(message, message->values[v].identifier);
    assert(strchr(identifier, '.') && strlen(identifier) <= 40 && !strpbrk(identifier, " ,*?<&"));
    to->hash += strlen(tt_message_text(message, message->values[v].text));
  }
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  heard *to = context;
  assert(refusal->line > 0 && refusal->column > 0 && *refusal->reason);
  to->hash = to->hash * 31 + refusal->line * 1000 + refusal->column;
  to->refusals++;
}

static heard feed(const uint8_t *data, size_t size, size_t step) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_message_limits limits = tt_message_limits_default();
  limits.message_bytes = 1000;
  limits.attributes = 20;
  limits.name_bytes = 40;
  limits.value_bytes = 100;
  heard to = {0};
  tt_json_parser *parser = tt_json_parser_new(&limits, &handler, &to);
  for (size_t at = 0; at < size; at += step)
    tt_json_parser_feed(parser, data + at, size - at < step ? size - at : step);
  tt_json_parser_end(parser);
  tt_json_parser_free(parser);
  return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  const heard pieces = feed(data + 1, size - 1, (size_t)data[0] + 1);
  const heard whole = feed(data + 1, size - 1, size);
  assert(pieces.messages == whole.messages && pieces.refusals == whole.refusals &&
         pieces.hash == whole.hash);
  return 0;
}

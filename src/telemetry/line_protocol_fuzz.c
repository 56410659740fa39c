/* line_protocol_fuzz.c: any bytes, in pieces whose size the first byte gives: the same points come out as of the whole. */
#include "telemetry/line_protocol.h"

#include <assert.h>
#include <string.h>

typedef struct heard {
  uint64_t hash;
  uint64_t points, refusals;
} heard;

static void mix(heard *to, const char *text) {
  for (; *text; text++) to->hash = to->hash * 31 + (unsigned char)*text;
}

static void on_message(void *context, const tt_message *message) {
  heard *to = context;
  assert(message->points && message->value_count && message->sample_count && message->line);
  assert(*message->device && strlen(message->device) <= 64);
  to->points += message->points;
  mix(to, message->device);
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sample = &message->samples[s];
    assert(sample->first + sample->count <= message->value_count);
    for (uint32_t v = sample->first; v < sample->first + sample->count; v++) {
      to->hash += (uint64_t)sample->time;
      const char *identifier = tt_message_text(message, message->values[v].identifier);
      assert(strchr(identifier, '.') && strlen(identifier) <= 40 && !strpbrk(identifier, " ,*?<&"));
      mix(to, identifier);
      mix(to, tt_message_text(message, message->values[v].text));
    }
  }
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  heard *to = context;
  assert(refusal->line > 0 && refusal->column > 0 && *refusal->reason);
  to->refusals++;
}

static heard feed(const uint8_t *data, size_t size, size_t step) {
  static const tt_message_handler handler = {on_message, on_refused};
  static const char *const device[] = {"device", "host", NULL}, *const ignored[] = {"i", NULL};
  tt_line_options options = {.limits = tt_message_limits_default(),
                             .device_tags = device,
                             .ignored_tags = ignored,
                             .unit = 1000,
                             .time = TT_MESSAGE_NO_TIME};
  options.limits.message_bytes = 1000;
  options.limits.attributes = 20;
  options.limits.name_bytes = 40;
  options.limits.value_bytes = 100;
  heard to = {0};
  tt_line_parser *parser = tt_line_parser_new(&options, &handler, &to);
  for (size_t at = 0; at < size; at += step)
    tt_line_parser_feed(parser, data + at, size - at < step ? size - at : step);
  tt_line_parser_end(parser);
  tt_line_parser_free(parser);
  return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  const heard pieces = feed(data + 1, size - 1, (size_t)data[0] + 1);
  const heard whole = feed(data + 1, size - 1, size);
  // The device is told once a message; how many there are depends on pieces only where points have no time.
  assert(pieces.points == whole.points && pieces.refusals == whole.refusals);
  return 0;
}

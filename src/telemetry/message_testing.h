/* message_testing.h: what a parser of messages told, as text that a test compares: one line an event. */
#ifndef TT_TELEMETRY_MESSAGE_TESTING_H
#define TT_TELEMETRY_MESSAGE_TESTING_H

#include "telemetry/message.h"

#include <stdarg.h>
#include <stdio.h>

/** The text, terminated, and how often what came. */
typedef struct heard {
  char text[65536];
  size_t size;
  int messages, points, refusals;
} heard;

/** Appends; what has no room is left out. */
__attribute__((format(printf, 2, 3))) static inline void say(heard *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int wrote = vsnprintf(to->text + to->size, sizeof to->text - to->size, format, arguments);
  va_end(arguments);
  if (wrote > 0 && to->size + (size_t)wrote < sizeof to->text) to->size += (size_t)wrote;
}

/** Appends times (µs) and values of a message. */
static inline void say_samples(heard *to, const tt_message *message) {
  for (uint32_t s = 0; s < message->sample_count; s++) {
    const tt_message_sample *sample = &message->samples[s];
    if (sample->time == TT_MESSAGE_NO_TIME)
      say(to, " now\n");
    else
      say(to, " at %lld\n", (long long)sample->time);
    for (uint32_t v = sample->first; v < sample->first + sample->count; v++)
      say(to, "  %s=%s\n", tt_message_text(message, message->values[v].identifier),
          tt_message_text(message, message->values[v].text));
  }
}

/** For tt_message_handler: `context` is a heard. */
static inline void on_refused(void *context, const tt_message_refusal *refusal) {
  heard *to = context;
  to->refusals++;
  say(to, "refused %lu:%lu %s\n", refusal->line, refusal->column, refusal->reason);
}

/** Nothing was heard. */
static inline void forget(heard *to) {
  to->messages = to->points = to->refusals = 0;
  to->size = 0;
  *to->text = 0;
}

#endif

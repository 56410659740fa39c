/* message_build.c */
#include "telemetry/message_build.h"

#include "base/text.h"
#include "store/batch.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Text of a message is at most this many times its bytes: identifiers repeat the names of set and data. */
#define TEXT_PER_BYTE 4
/** A sample goes through logs whole, whose messages have at most 1 MiB: its texts, and what a value takes besides. */
#define SAMPLE_MOST (900u << 10)
#define VALUE_BYTES 20
_Static_assert(TT_MESSAGE_DEVICE_BYTES < TT_BOOT_SIZE, "a store keeps every name of a start whole");

static const char *refuse(tt_message_build *build, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static const char *refuse(tt_message_build *build, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(build->reason, sizeof build->reason, format, arguments);
  va_end(arguments);
  return build->reason;
}

tt_piece tt_piece_of(const char *text) { return (tt_piece){text, strlen(text)}; }

/** Makes room for one more item; false when out of memory. */
static bool reserve(void **array, size_t *capacity, size_t needed, size_t item_size) {
  if (needed <= *capacity) return true;
  size_t larger = *capacity ? *capacity * 2 : 64;
  while (larger < needed) larger *= 2;
  void *moved = realloc(*array, larger * item_size);
  if (!moved) return false;
  *array = moved;
  *capacity = larger;
  return true;
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t size) {
  while (size >= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
    bytes += 8;
    size -= 8;
  }
  uint64_t word = size;
  memcpy((char *)&word + 1, bytes, size);
  hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

bool tt_message_parse_ms(tt_piece text, int64_t *us) {
  const char *c = text.bytes, *end = c + text.size;
  bool negative = c < end && *c == '-';
  if (c < end && (*c == '-' || *c == '+')) c++;
  if (c == end || !isdigit((unsigned char)*c)) return false;
  int64_t ms = 0;
  for (; c < end && isdigit((unsigned char)*c); c++) {
    ms = ms * 10 + (*c - '0');
    if (ms > TT_MESSAGE_MAX_TIME_MS) return false;
  }
  int64_t fraction = 0;
  if (c < end && *c == '.') {
    c++;
    if (c == end || !isdigit((unsigned char)*c)) return false;
    for (int64_t unit = 100; c < end && isdigit((unsigned char)*c); c++, unit /= 10)
      fraction += unit * (*c - '0');
  }
  if (c < end) return false;
  *us = ms * 1000 + fraction;
  if (negative) *us = -*us;
  return true;
}

/* --- text --- */

/** As tt_text_character(). Nearly all are of one byte, and they are many. */
static size_t character(const unsigned char *at, const unsigned char *end, uint32_t *code) {
  *code = *at;
  return *at < 0x80 ? 1 : tt_text_character((const char *)at, (const char *)end, code);
}

bool tt_piece_is_text(tt_piece piece) {
  const unsigned char *at = (const unsigned char *)piece.bytes, *end = at + piece.size;
  while (at < end) {
    uint32_t code;
    const size_t size = character(at, end, &code);
    const bool control = (code < 0x20 && code != '\t' && code != '\r' && code != '\n') ||
                         code == 0x7f || code == 0xfffe || code == 0xffff;
    if (!size || control) return false;
    at += size;
  }
  return true;
}

/** Whether a character may stand in a name, not at its beginning. */
static bool is_of_name(uint32_t code) {
  static const uint32_t ranges[][2] = {
      {'-', '.'},       {'0', ':'},       {'A', 'Z'},        {'_', '_'},       {'a', 'z'},
      {0xb7, 0xb7},     {0xc0, 0xd6},     {0xd8, 0xf6},      {0xf8, 0x37d},    {0x37f, 0x1fff},
      {0x200c, 0x200d}, {0x203f, 0x2040}, {0x2070, 0x218f},  {0x2c00, 0x2fef}, {0x3001, 0xd7ff},
      {0xf900, 0xfdcf}, {0xfdf0, 0xfffd}, {0x10000, 0xeffff}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
    if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
  }
  return false;
}

/** Of those that may, whether a name may not begin with it. */
static bool is_inner(uint32_t code) {
  return (code >= '-' && code <= '9') || code == 0xb7 || (code >= 0x300 && code <= 0x36f) ||
         code == 0x203f || code == 0x2040;
}

bool tt_piece_is_name(tt_piece piece) {
  const unsigned char *at = (const unsigned char *)piece.bytes, *end = at + piece.size;
  for (bool first = true; at < end; first = false) {
    uint32_t code;
    const size_t size = character(at, end, &code);
    if (!size || !is_of_name(code) || (first && is_inner(code))) return false;
    at += size;
  }
  return piece.size;
}

size_t tt_piece_append_name(char *to, tt_piece piece) {
  const unsigned char *at = (const unsigned char *)piece.bytes, *end = at + piece.size;
  char *begun = to;
  for (bool first = true; at < end; first = false) {
    uint32_t code;
    size_t size = character(at, end, &code);
    const bool fit = size && is_of_name(code) && code != '.' && code != ':';
    if (!fit || (first && is_inner(code))) *to++ = '_';
    if (fit) memcpy(to, at, size);
    if (fit) to += size;
    at += size ? size : 1;
  }
  return (size_t)(to - begun);
}

/* --- a message --- */

void tt_message_build_begin(tt_message_build *build) {
  build->text_size = 0;
  *build->device = *build->boot = 0;
  build->message = (tt_message){.device = build->device,
                                .boot = build->boot,
                                .seq = TT_MESSAGE_NO_SEQ,
                                .line = 1,
                                .points = 1};
}

/** Copies what is fit to be an `id` or `boot`. That it is text is asked here, whatever decoded it: no database takes another,
 *  nor gets past it. */
static const char *take_name(tt_message_build *build, const char *what, tt_piece name, char *to) {
  if (name.size > TT_MESSAGE_DEVICE_BYTES)
    return refuse(build, "the %s is longer than %d bytes", what, TT_MESSAGE_DEVICE_BYTES);
  for (size_t i = 0; i < name.size; i++) {
    if ((unsigned char)name.bytes[i] < 0x20 || name.bytes[i] == 0x7f)
      return refuse(build, "the %s has a control character", what);
  }
  if (!tt_piece_is_text(name)) return refuse(build, "the %s is no text in UTF-8", what);
  memcpy(to, name.bytes, name.size);
  to[name.size] = 0;
  return NULL;
}

const char *tt_message_build_sender(tt_message_build *build, tt_piece device, int64_t time) {
  const char *reason = take_name(build, "id", device, build->device);
  build->message.time = time;
  build->message.hash = mix((uint64_t)time, device.bytes, reason ? 0 : device.size);
  return reason;
}

const char *tt_message_build_boot(tt_message_build *build, tt_piece boot) {
  if (!boot.size) return refuse(build, "the boot is empty");
  const char *reason = take_name(build, "boot", boot, build->boot);
  if (!reason) build->message.hash = mix(build->message.hash, boot.bytes, boot.size);
  return reason;
}

const char *tt_message_build_seq(tt_message_build *build, tt_piece seq) {
  int64_t number = 0;
  bool good = seq.size;
  for (size_t i = 0; i < seq.size && good; i++) {
    good = isdigit((unsigned char)seq.bytes[i]);
    if (good) number = number * 10 + (seq.bytes[i] - '0');
    good = good && number <= TT_MESSAGE_MAX_SEQ;
  }
  if (!good) {
    return refuse(build, "MESSAGE seq '%.*s' is no whole number from 0 to %lld",
                  (int)(seq.size < 32 ? seq.size : 32), seq.bytes, (long long)TT_MESSAGE_MAX_SEQ);
  }
  build->message.seq = number;
  build->message.hash = mix(build->message.hash ^ (uint64_t)number, "seq", 3);
  return NULL;
}

/** Whether two sets, one behind the other, may become one sample: the collector joins those of one moment, and a time that nobody told may
 *  turn out to be any. */
static bool may_join(const tt_message *message, int64_t one, int64_t other) {
  const int64_t sent = message->time;
  if (one == TT_MESSAGE_NO_TIME) one = sent == TT_MESSAGE_NO_TIME ? other : sent;
  if (other == TT_MESSAGE_NO_TIME) other = sent == TT_MESSAGE_NO_TIME ? one : sent;
  return one == other;
}

const char *tt_message_build_sample(tt_message_build *build, int64_t time, tt_piece name) {
  tt_message *message = &build->message;
  if (!reserve((void **)&build->samples, &build->sample_capacity, message->sample_count + 1,
               sizeof *build->samples))
    return refuse(build, "out of memory");
  const uint32_t count = message->sample_count;
  if (!count || !may_join(message, build->samples[count - 1].time, time)) build->joined = count;
  build->samples[message->sample_count++] =
      (tt_message_sample){.time = time, .first = message->value_count};
  message->hash = mix(message->hash ^ (uint64_t)time, name.bytes, name.size);
  return NULL;
}

/** Bytes of an identifier. */
static size_t joined_size(const tt_piece *parts, size_t count) {
  size_t size = count - 1;
  for (size_t i = 0; i < count; i++) size += parts[i].size;
  return size;
}

/** What the sample in the making takes with another value, where all texts take `text_size`; with the sets that it is joined to. */
static size_t sample_size(const tt_message_build *build, size_t text_size) {
  const tt_message *message = &build->message;
  const uint32_t first = message->sample_count ? build->samples[build->joined].first : 0;
  const uint32_t count = message->value_count - first;
  const size_t before = count ? build->values[first].identifier : build->text_size;
  return text_size - before + (size_t)VALUE_BYTES * (count + 1);
}

/** A value is refused for what came before it. */
static tt_message_build *full(tt_message_build *build) {
  build->full = true;
  return build;
}

const char *tt_message_build_value(tt_message_build *build, const tt_piece *parts, size_t count,
                                   tt_piece value) {
  tt_message *message = &build->message;
  build->full = false;
  const tt_piece name = parts[count - 1];
  const size_t identifier_size = joined_size(parts, count);
  if (identifier_size > build->limits.name_bytes)
    return refuse(build, "an attribute's identifier is longer than %u bytes",
                  build->limits.name_bytes);
  if (value.size > build->limits.value_bytes)
    return refuse(build, "the value of %.*s is longer than %u bytes",
                  (int)(name.size < 64 ? name.size : 64), name.bytes, build->limits.value_bytes);
  if (message->value_count >= build->limits.values)
    return refuse(full(build), "more than %u values in one message", build->limits.values);
  const size_t size = build->text_size + identifier_size + value.size + 2;
  if (sample_size(build, size) > SAMPLE_MOST)
    return refuse(full(build), "the names and values of a sample are too long altogether");
  if (size > build->limits.message_bytes * TEXT_PER_BYTE)
    return refuse(full(build), "the names in this message are too long altogether");
  if (!reserve((void **)&build->text, &build->text_capacity, size, 1) ||
      !reserve((void **)&build->values, &build->value_capacity, message->value_count + 1,
               sizeof *build->values))
    return refuse(build, "out of memory");
  char *text = build->text + build->text_size, *to = text;
  for (size_t i = 0; i < count; i++) {
    if (i) *to++ = '.';
    memcpy(to, parts[i].bytes, parts[i].size);
    to += parts[i].size;
  }
  *to++ = 0;
  memcpy(to, value.bytes, value.size);
  to[value.size] = 0;
  build->values[message->value_count++] = (tt_message_value){
      .identifier = (uint32_t)build->text_size, .text = (uint32_t)(to - build->text)};
  message->hash = mix(message->hash, text, identifier_size + 1 + value.size);
  build->text_size = size;
  return NULL;
}

tt_message_mark tt_message_build_mark(const tt_message_build *build) {
  return (tt_message_mark){build->message, build->text_size, build->joined};
}

void tt_message_build_return(tt_message_build *build, const tt_message_mark *mark) {
  build->message = mark->message;
  build->text_size = mark->text_size;
  build->joined = mark->joined;
}

const tt_message *tt_message_build_end(tt_message_build *build) {
  tt_message *message = &build->message;
  for (uint32_t i = 0; i < message->sample_count; i++) {
    const bool last = i + 1 == message->sample_count;
    build->samples[i].count =
        (last ? message->value_count : build->samples[i + 1].first) - build->samples[i].first;
  }
  message->samples = build->samples;
  message->values = build->values;
  message->text = build->text;
  message->text_size = build->text_size;
  return message;
}

void tt_message_build_clear(tt_message_build *build) {
  free(build->text);
  free(build->samples);
  free(build->values);
}

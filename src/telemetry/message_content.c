/* message_content.c: the elements of a document become a message: expat calls on_start() and on_end(), which fill arrays that
 * are used again for every message.
 */
#include "store/batch.h"
#include "telemetry/message_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Text of a message is at most this many times its bytes: identifiers repeat the names of set and data. */
#define TEXT_PER_BYTE 4
/** Of `seq`: what every reader of JSON has exactly. */
#define MAX_SEQ (1LL << 53)
/** ms; the year 2255 for a clock that counts from 1970. */
#define MAX_TIME_MS 9000000000000
_Static_assert(TT_MESSAGE_DEVICE_BYTES < TT_BOOT_SIZE, "a store keeps every name of a start whole");

void tt_message_refuse(tt_message_parser *parser, const char *format, ...) {
  if (parser->refused) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(parser->reason, sizeof parser->reason, format, arguments);
  va_end(arguments);
  parser->refused = true;
  parser->line = XML_GetCurrentLineNumber(parser->expat);
  parser->column = XML_GetCurrentColumnNumber(parser->expat) + 1;
  XML_Index index = XML_GetCurrentByteIndex(parser->expat);
  parser->end = index < 0 ? 0 : (size_t)index;
  XML_StopParser(parser->expat, XML_FALSE);
}

/** Makes room for one more item; false and refused when out of memory. */
static bool reserve(tt_message_parser *parser, void **array, size_t *capacity, size_t needed,
                    size_t item_size) {
  if (needed <= *capacity) return true;
  size_t larger = *capacity ? *capacity * 2 : 64;
  while (larger < needed) larger *= 2;
  void *moved = realloc(*array, larger * item_size);
  if (!moved) {
    tt_message_refuse(parser, "out of memory");
    return false;
  }
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

/** "123456", "-60", "12.5": milliseconds into µs. */
static bool parse_time(const char *text, int64_t *us) {
  bool negative = *text == '-';
  if (*text == '-' || *text == '+') text++;
  if (!isdigit((unsigned char)*text)) return false;
  int64_t ms = 0;
  for (; isdigit((unsigned char)*text); text++) {
    ms = ms * 10 + (*text - '0');
    if (ms > MAX_TIME_MS) return false;
  }
  int64_t fraction = 0;
  if (*text == '.') {
    text++;
    if (!isdigit((unsigned char)*text)) return false;
    for (int64_t unit = 100; isdigit((unsigned char)*text); text++, unit /= 10)
      fraction += unit * (*text - '0');
  }
  if (*text) return false;
  *us = ms * 1000 + fraction;
  if (negative) *us = -*us;
  return true;
}

static const char *attribute(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2) {
    if (!strcmp(attributes[0], name)) return attributes[1];
  }
  return NULL;
}

/** Whether the `id` or `boot` of a MESSAGE is fit to be one; else it is refused. */
static bool check_name(tt_message_parser *parser, const char *what, const char *name) {
  if (strlen(name) > TT_MESSAGE_DEVICE_BYTES) {
    tt_message_refuse(parser, "the %s is longer than %d bytes", what, TT_MESSAGE_DEVICE_BYTES);
    return false;
  }
  for (const char *c = name; *c; c++) {
    if ((unsigned char)*c >= 0x20 && *c != 0x7f) continue;
    tt_message_refuse(parser, "the %s has a control character", what);
    return false;
  }
  return true;
}

static bool parse_seq(const char *text, int64_t *seq) {
  *seq = 0;
  for (const char *c = text; *c; c++) {
    if (!isdigit((unsigned char)*c)) return false;
    *seq = *seq * 10 + (*c - '0');
    if (*seq > MAX_SEQ) return false;
  }
  return *text;
}

/** The optional attributes that tell boots and messages apart. */
static void start_identity(tt_message_parser *parser, const char **attributes) {
  tt_message *message = &parser->message;
  const char *boot = attribute(attributes, "boot"), *seq = attribute(attributes, "seq");
  if (boot && !*boot) {
    tt_message_refuse(parser, "the boot is empty");
  } else if (boot && check_name(parser, "boot", boot)) {
    strcpy(parser->boot, boot);
    message->hash = mix(message->hash, boot, strlen(boot));
  }
  if (!seq) return;
  if (!parse_seq(seq, &message->seq)) {
    tt_message_refuse(parser, "MESSAGE seq '%.32s' is no whole number from 0 to %lld", seq,
                      (long long)MAX_SEQ);
  }
  message->hash = mix(message->hash ^ (uint64_t)message->seq, "seq", 3);
}

static void start_message(tt_message_parser *parser, const char *name, const char **attributes) {
  if (strcmp(name, "MESSAGE")) {
    tt_message_refuse(parser, "the document is a <%.64s>, not a <MESSAGE>", name);
    return;
  }
  const char *id = attribute(attributes, "id"), *time = attribute(attributes, "time");
  const char *ack = attribute(attributes, "ack");
  if (!id || !*id) {
    tt_message_refuse(parser, "MESSAGE has no id");
    return;
  }
  if (!check_name(parser, "id", id)) return;
  if (!time) {
    tt_message_refuse(parser, "MESSAGE has no time");
    return;
  }
  if (!parse_time(time, &parser->message.time)) {
    tt_message_refuse(parser, "MESSAGE time '%.32s' is no number of milliseconds up to %lld", time,
                      (long long)MAX_TIME_MS);
    return;
  }
  strcpy(parser->device, id);
  parser->message.acknowledge = ack && !strcmp(ack, "yes");
  parser->message.hash = mix((uint64_t)parser->message.time, id, strlen(id));
  start_identity(parser, attributes);
}

static void start_sample(tt_message_parser *parser, const char *name, const char **attributes) {
  tt_message *message = &parser->message;
  const char *time = attribute(attributes, "time");
  int64_t us = 0;
  if (!time) {
    tt_message_refuse(parser, "sample set %.64s has no time", name);
    return;
  }
  if (!parse_time(time, &us)) {
    tt_message_refuse(parser, "time '%.32s' of sample set %.64s is no number of milliseconds", time,
                      name);
    return;
  }
  if (strlen(name) >= sizeof parser->set) {
    tt_message_refuse(parser, "the name of a sample set is longer than %zu bytes",
                      sizeof parser->set - 1);
    return;
  }
  strcpy(parser->set, name);
  if (!reserve(parser, (void **)&parser->samples, &parser->sample_capacity,
               message->sample_count + 1, sizeof *parser->samples)) {
    return;
  }
  if (us <= 0) us += message->time;
  parser->samples[message->sample_count++] =
      (tt_message_sample){.time = us, .first = message->value_count};
  message->hash = mix(message->hash ^ (uint64_t)us, name, strlen(name));
}

static void add_value(tt_message_parser *parser, const char *data, const char *name,
                      const char *value) {
  tt_message *message = &parser->message;
  size_t set_size = strlen(parser->set), data_size = strlen(data), name_size = strlen(name);
  size_t value_size = strlen(value), identifier_size = set_size + data_size + name_size + 2;
  if (identifier_size > parser->limits.name_bytes) {
    tt_message_refuse(parser, "an attribute's identifier is longer than %u bytes",
                      parser->limits.name_bytes);
    return;
  }
  if (value_size > parser->limits.value_bytes) {
    tt_message_refuse(parser, "the value of %.64s is longer than %u bytes", name,
                      parser->limits.value_bytes);
    return;
  }
  if (message->value_count >= parser->limits.values) {
    tt_message_refuse(parser, "more than %u values in one message", parser->limits.values);
    return;
  }
  size_t size = parser->text_size + identifier_size + value_size + 2;
  if (size > parser->limits.message_bytes * TEXT_PER_BYTE) {
    tt_message_refuse(parser, "the names in this message are too long altogether");
    return;
  }
  if (!reserve(parser, (void **)&parser->text, &parser->text_capacity, size, 1) ||
      !reserve(parser, (void **)&parser->values, &parser->value_capacity, message->value_count + 1,
               sizeof *parser->values)) {
    return;
  }
  char *text = parser->text + parser->text_size;
  tt_message_value *added = &parser->values[message->value_count++];
  added->identifier = (uint32_t)parser->text_size;
  memcpy(text, parser->set, set_size);
  text[set_size] = '.';
  memcpy(text + set_size + 1, data, data_size);
  text[set_size + 1 + data_size] = '.';
  memcpy(text + set_size + 1 + data_size + 1, name, name_size + 1);
  added->text = (uint32_t)(parser->text_size + identifier_size + 1);
  memcpy(text + identifier_size + 1, value, value_size + 1);
  message->hash = mix(message->hash, text + set_size, identifier_size - set_size + 1 + value_size);
  parser->text_size = size;
}

/** With an external DOCTYPE expat leaves out references to entities it doesn't know instead of refusing them. */
static bool names_unknown_entity(tt_message_parser *parser) {
  int offset = 0, size = 0;
  const char *context = XML_GetInputContext(parser->expat, &offset, &size);
  if (!context) return false;
  const char *tag = context + offset, *end = tag + XML_GetCurrentByteCount(parser->expat);
  if (end > context + size) end = context + size;
  static const char *const known[] = {"amp;", "lt;", "gt;", "quot;", "apos;", "#"};
  while ((tag = memchr(tag, '&', (size_t)(end - tag)))) {
    tag++;
    bool found = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
      size_t length = strlen(known[i]);
      found = found || ((size_t)(end - tag) >= length && !memcmp(tag, known[i], length));
    }
    if (!found) return true;
  }
  return false;
}

/** The tag in hand begins the next document: some of it may have come with an earlier chunk. */
static void keep_tag(tt_message_parser *parser) {
  int offset = 0, size = 0, length = XML_GetCurrentByteCount(parser->expat);
  const char *context = XML_GetInputContext(parser->expat, &offset, &size);
  if (!context || length <= 0 || (size_t)length > sizeof parser->tag || offset + length > size)
    return;
  memcpy(parser->tag, context + offset, (size_t)length);
  parser->tag_size = (size_t)length;
  parser->end += (size_t)length;
}

static void on_start(void *user, const char *name, const char **attributes) {
  tt_message_parser *parser = user;
  if (parser->refused) return;
  int count = XML_GetSpecifiedAttributeCount(parser->expat) / 2;
  if ((uint32_t)count > parser->limits.attributes) {
    tt_message_refuse(parser, "element %.64s has more than %u attributes", name,
                      parser->limits.attributes);
  } else if (parser->has_doctype && names_unknown_entity(parser)) {
    tt_message_refuse(parser, "entities are not allowed");
  } else if (parser->depth > 0 && !strcmp(name, "MESSAGE")) {
    tt_message_refuse(parser, "a MESSAGE begins before the last one has ended");
    keep_tag(parser);
  } else if (parser->depth == 0) {
    start_message(parser, name, attributes);
  } else if (parser->depth == 1) {
    start_sample(parser, name, attributes);
  } else if (parser->depth == 2) {
    for (; *attributes && !parser->refused; attributes += 2)
      add_value(parser, name, attributes[0], attributes[1]);
  } else {
    tt_message_refuse(
        parser,
        "element %.64s stands too deep: a MESSAGE has sample sets, and those have data sets", name);
  }
  parser->depth++;
}

static void on_end(void *user, const char *name) {
  tt_message_parser *parser = user;
  (void)name;
  if (parser->refused) return;
  parser->depth--;
  tt_message *message = &parser->message;
  if (parser->depth == 1) {
    tt_message_sample *sample = &parser->samples[message->sample_count - 1];
    sample->count = message->value_count - sample->first;
  }
  if (parser->depth > 0) return;
  parser->finished = true;
  parser->end = (size_t)XML_GetCurrentByteIndex(parser->expat) +
                (size_t)XML_GetCurrentByteCount(parser->expat);
  XML_StopParser(parser->expat, XML_FALSE);
}

static void on_text(void *user, const char *text, int size) {
  tt_message_parser *parser = user;
  for (int i = 0; i < size; i++) {
    if (!strchr(" \t\r\n", text[i])) {
      tt_message_refuse(parser, "text between elements: values belong into attributes");
      return;
    }
  }
}

static void on_doctype(void *user, const char *name, const char *system, const char *public,
                       int internal) {
  tt_message_parser *parser = user;
  (void)name, (void)system, (void)public;
  parser->has_doctype = true;
  if (!internal) return;
  tt_message_refuse(parser, "an internal DTD subset is not allowed");
  parser->skip_root = true;
}

static void on_skipped_entity(void *user, const char *name, int is_parameter) {
  (void)name, (void)is_parameter;
  tt_message_refuse(user, "entities are not allowed");
}

void tt_message_begin_content(tt_message_parser *parser) {
  XML_Parser expat = parser->expat;
  XML_SetUserData(expat, parser);
  XML_SetElementHandler(expat, on_start, on_end);
  XML_SetCharacterDataHandler(expat, on_text);
  XML_SetStartDoctypeDeclHandler(expat, on_doctype);
  XML_SetSkippedEntityHandler(expat, on_skipped_entity);
  parser->depth = 0;
  parser->has_doctype = parser->finished = parser->refused = false;
  parser->skip_root = false;
  parser->tag_size = 0;
  parser->text_size = 0;
  *parser->boot = 0;
  parser->message =
      (tt_message){.device = parser->device, .boot = parser->boot, .seq = TT_MESSAGE_NO_SEQ};
}

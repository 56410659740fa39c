/* message_content.c: the elements of a document become a message: expat calls on_start() and on_end().
 */
#include "telemetry/message_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t tt_message_position(const tt_message_parser *parser) {
  const int64_t index = XML_GetCurrentByteIndex64(parser->expat);
  return index < 0 || (size_t)index < parser->before.byte ? 0 : (size_t)index - parser->before.byte;
}

void tt_message_refuse(tt_message_parser *parser, const char *format, ...) {
  if (parser->refused) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(parser->reason, sizeof parser->reason, format, arguments);
  va_end(arguments);
  parser->refused = true;
  parser->line = XML_GetCurrentLineNumber64(parser->expat) - parser->before.line;
  parser->column = XML_GetCurrentColumnNumber64(parser->expat) + 1;
  if (parser->line == 1) parser->column -= parser->before.column;
  parser->end = tt_message_position(parser);
  XML_StopParser(parser->expat, XML_FALSE);
}

/** Refuses the message for a reason of message_build.h's. False: it has one. */
static bool passes(tt_message_parser *parser, const char *reason) {
  if (reason) tt_message_refuse(parser, "%s", reason);
  return !reason;
}

static const char *attribute(const char **attributes, const char *name) {
  for (; *attributes; attributes += 2) {
    if (!strcmp(attributes[0], name)) return attributes[1];
  }
  return NULL;
}

/** The optional attributes that tell boots and messages apart. */
static void start_identity(tt_message_parser *parser, const char **attributes) {
  const char *boot = attribute(attributes, "boot"), *seq = attribute(attributes, "seq");
  if (boot && !passes(parser, tt_message_build_boot(&parser->build, tt_piece_of(boot)))) return;
  if (seq) passes(parser, tt_message_build_seq(&parser->build, tt_piece_of(seq)));
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
  if (!time) {
    tt_message_refuse(parser, "MESSAGE has no time");
    return;
  }
  int64_t us;
  if (!tt_message_parse_ms(tt_piece_of(time), &us)) {
    tt_message_refuse(parser, "MESSAGE time '%.32s' is no number of milliseconds up to %lld", time,
                      (long long)TT_MESSAGE_MAX_TIME_MS);
    return;
  }
  if (!passes(parser, tt_message_build_sender(&parser->build, tt_piece_of(id), us))) return;
  parser->build.message.acknowledge = ack && !strcmp(ack, "yes");
  start_identity(parser, attributes);
}

static void start_sample(tt_message_parser *parser, const char *name, const char **attributes) {
  const char *time = attribute(attributes, "time");
  int64_t us = 0;
  if (!time) {
    tt_message_refuse(parser, "sample set %.64s has no time", name);
    return;
  }
  if (!tt_message_parse_ms(tt_piece_of(time), &us)) {
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
  if (us <= 0) us += parser->build.message.time;
  passes(parser, tt_message_build_sample(&parser->build, us, tt_piece_of(name)));
}

static void add_values(tt_message_parser *parser, const char *data, const char **attributes) {
  tt_piece parts[] = {tt_piece_of(parser->set), tt_piece_of(data), {0}};
  for (; *attributes && !parser->refused; attributes += 2) {
    parts[2] = tt_piece_of(attributes[0]);
    passes(parser, tt_message_build_value(&parser->build, parts, 3, tt_piece_of(attributes[1])));
  }
}

/** The tag in hand, as it was sent, or as much of it as there is; empty: unknown. */
static tt_piece tag_of(const tt_message_parser *parser) {
#ifdef TT_EXPAT_BEFORE_64
  int offset = 0, size = 0;
  const char *context = XML_GetInputContext(parser->expat, &offset, &size);
#else
  int64_t offset = 0;
  uint64_t size = 0;
  const char *context = XML_GetInputContext64(parser->expat, &offset, &size);
#endif
  const int64_t length = (int64_t)XML_GetCurrentByteCount64(parser->expat),
                rest = (int64_t)size - offset;
  if (!context || length <= 0 || rest <= 0) return (tt_piece){0};
  return (tt_piece){context + offset, (size_t)(length < rest ? length : rest)};
}

/** With an external DOCTYPE expat leaves out references to entities it doesn't know instead of refusing them. */
static bool names_unknown_entity(const tt_message_parser *parser) {
  const tt_piece whole = tag_of(parser);
  const char *tag = whole.bytes, *end = tag + whole.size;
  static const char *const known[] = {"amp;", "lt;", "gt;", "quot;", "apos;", "#"};
  while (tag && (tag = memchr(tag, '&', (size_t)(end - tag)))) {
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
  const tt_piece tag = tag_of(parser);
  if (!tag.size || tag.size > sizeof parser->tag) return;
  memcpy(parser->tag, tag.bytes, tag.size);
  parser->tag_size = tag.size;
  parser->end += tag.size;
}

static void on_start(void *user, const char *name, const char **attributes) {
  tt_message_parser *parser = user;
  if (parser->refused) return;
  int count = XML_GetSpecifiedAttributeCount(parser->expat) / 2;
  if ((uint32_t)count > parser->build.limits.attributes) {
    tt_message_refuse(parser, "element %.64s has more than %u attributes", name,
                      parser->build.limits.attributes);
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
    add_values(parser, name, attributes);
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
  if (parser->depth > 0) return;
  parser->finished = true;
  parser->end = tt_message_position(parser) + (size_t)XML_GetCurrentByteCount64(parser->expat);
  const bool goes_on = parser->may_go_on && parser->end == parser->document_bytes + parser->piece;
  if (!goes_on) XML_StopParser(parser->expat, XML_FALSE);
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

void tt_message_set_handlers(tt_message_parser *parser) {
  XML_Parser expat = parser->expat;
  XML_SetUserData(expat, parser);
  XML_SetElementHandler(expat, on_start, on_end);
  XML_SetCharacterDataHandler(expat, on_text);
  XML_SetStartDoctypeDeclHandler(expat, on_doctype);
  XML_SetSkippedEntityHandler(expat, on_skipped_entity);
}

void tt_message_begin_content(tt_message_parser *parser) {
  parser->depth = 0;
  parser->has_doctype = parser->finished = parser->refused = false;
  parser->skip_root = false;
  parser->tag_size = 0;
  tt_message_build_begin(&parser->build);
}

/* message.c: documents are cut out of the stream here; within one, expat calls start_element() and
 * end_element(), which fill arrays that are used again for every message.
 */
#include "telemetry/message.h"

#include <ctype.h>
#include <expat.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

/** Text of a message is at most this many times its bytes: identifiers repeat the names of set and data. */
#define TEXT_PER_BYTE 4
#define MAX_DEVICE_BYTES 64
/** Of `seq`: what every reader of JSON has exactly. */
#define MAX_SEQ (1LL << 53)
#define MAX_UNFINISHED_WORK (64u << 20)
/** ms; the year 2255 for a clock that counts from 1970. */
#define MAX_TIME_MS 9000000000000

/** Where the stream stands between documents. */
typedef enum tt_scan {
  SCAN_SPACE,         /**< before a document */
  SCAN_LESS,          /**< "<" */
  SCAN_BANG,          /**< "<!" */
  SCAN_BANG_DASH,     /**< "<!-" */
  SCAN_COMMENT,       /**< "<!--" */
  SCAN_COMMENT_DASH,  /**< "<!-- … -" */
  SCAN_COMMENT_CLOSE, /**< "<!-- … --" */
  SCAN_DOCUMENT,      /**< expat has it */
  SCAN_LOST,          /**< after a refusal: looking for the next "<?xml" or "<MESSAGE" */
} tt_scan;

struct tt_message_parser {
  XML_Parser expat;
  uint8_t salt[16]; /**< of expat's hashes: ours, or it would ask the kernel for one a message */
  bool salted;      /**< else it does ask */
  tt_message_limits limits;
  tt_message_handler handler;
  void *context;

  tt_scan scan;
  int64_t begun;  /**< µs monotonic: first byte of the document in hand */
  char found[16]; /**< bytes of a possible document start while SCAN_LOST */
  size_t found_size;

  size_t token_start;     /**< byte of the document where the unfinished token begins */
  size_t unfinished_work; /**< bytes of it looked at again and again */
  size_t document_bytes;  /**< given to expat before the present chunk */
  int depth;
  bool skip_root; /**< refused before its MESSAGE, which is still to come and not to be taken */
  bool has_doctype, finished, refused;
  char tag[1024];  /**< of a MESSAGE that began inside another… */
  size_t tag_size; /**< …0: none did */
  char reason[256];
  unsigned long line, column;
  size_t end; /**< byte of the document just behind it, or where it was refused */

  char set[256];
  char device[MAX_DEVICE_BYTES + 1], boot[MAX_DEVICE_BYTES + 1];
  tt_message message;
  char *text;
  size_t text_size, text_capacity;
  tt_message_sample *samples;
  size_t sample_capacity;
  tt_message_value *values;
  size_t value_capacity;
};

tt_message_limits tt_message_limits_default(void) {
  return (tt_message_limits){.message_bytes = 1 << 20,
                             .values = 50000,
                             .attributes = 1000,
                             .name_bytes = 200,
                             .value_bytes = 4096,
                             .duration = 5000000};
}

/** Refuses the present message at the element or text being parsed. */
static void refuse(tt_message_parser *parser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void refuse(tt_message_parser *parser, const char *format, ...) {
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
    refuse(parser, "out of memory");
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
  if (strlen(name) > MAX_DEVICE_BYTES) {
    refuse(parser, "the %s is longer than %d bytes", what, MAX_DEVICE_BYTES);
    return false;
  }
  for (const char *c = name; *c; c++) {
    if ((unsigned char)*c >= 0x20 && *c != 0x7f) continue;
    refuse(parser, "the %s has a control character", what);
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
    refuse(parser, "the boot is empty");
  } else if (boot && check_name(parser, "boot", boot)) {
    strcpy(parser->boot, boot);
    message->hash = mix(message->hash, boot, strlen(boot));
  }
  if (!seq) return;
  if (!parse_seq(seq, &message->seq)) {
    refuse(parser, "MESSAGE seq '%.32s' is no whole number from 0 to %lld", seq,
           (long long)MAX_SEQ);
  }
  message->hash = mix(message->hash ^ (uint64_t)message->seq, "seq", 3);
}

static void start_message(tt_message_parser *parser, const char *name, const char **attributes) {
  if (strcmp(name, "MESSAGE")) {
    refuse(parser, "the document is a <%.64s>, not a <MESSAGE>", name);
    return;
  }
  const char *id = attribute(attributes, "id"), *time = attribute(attributes, "time");
  const char *ack = attribute(attributes, "ack");
  if (!id || !*id) {
    refuse(parser, "MESSAGE has no id");
    return;
  }
  if (!check_name(parser, "id", id)) return;
  if (!time) {
    refuse(parser, "MESSAGE has no time");
    return;
  }
  if (!parse_time(time, &parser->message.time)) {
    refuse(parser, "MESSAGE time '%.32s' is no number of milliseconds up to %lld", time,
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
    refuse(parser, "sample set %.64s has no time", name);
    return;
  }
  if (!parse_time(time, &us)) {
    refuse(parser, "time '%.32s' of sample set %.64s is no number of milliseconds", time, name);
    return;
  }
  if (strlen(name) >= sizeof parser->set) {
    refuse(parser, "the name of a sample set is longer than %zu bytes", sizeof parser->set - 1);
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
    refuse(parser, "an attribute's identifier is longer than %u bytes", parser->limits.name_bytes);
    return;
  }
  if (value_size > parser->limits.value_bytes) {
    refuse(parser, "the value of %.64s is longer than %u bytes", name, parser->limits.value_bytes);
    return;
  }
  if (message->value_count >= parser->limits.values) {
    refuse(parser, "more than %u values in one message", parser->limits.values);
    return;
  }
  size_t size = parser->text_size + identifier_size + value_size + 2;
  if (size > parser->limits.message_bytes * TEXT_PER_BYTE) {
    refuse(parser, "the names in this message are too long altogether");
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
    refuse(parser, "element %.64s has more than %u attributes", name, parser->limits.attributes);
  } else if (parser->has_doctype && names_unknown_entity(parser)) {
    refuse(parser, "entities are not allowed");
  } else if (parser->depth > 0 && !strcmp(name, "MESSAGE")) {
    refuse(parser, "a MESSAGE begins before the last one has ended");
    keep_tag(parser);
  } else if (parser->depth == 0) {
    start_message(parser, name, attributes);
  } else if (parser->depth == 1) {
    start_sample(parser, name, attributes);
  } else if (parser->depth == 2) {
    for (; *attributes && !parser->refused; attributes += 2)
      add_value(parser, name, attributes[0], attributes[1]);
  } else {
    refuse(parser,
           "element %.64s stands too deep: a MESSAGE has sample sets, and those have data sets",
           name);
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
      refuse(parser, "text between elements: values belong into attributes");
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
  refuse(parser, "an internal DTD subset is not allowed");
  parser->skip_root = true;
}

static void on_skipped_entity(void *user, const char *name, int is_parameter) {
  (void)name, (void)is_parameter;
  refuse(user, "entities are not allowed");
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000LL + time.tv_nsec / 1000;
}

static void set_salt(const tt_message_parser *parser) {
  if (!parser->salted) return;
#ifdef TT_EXPAT_LONG_SALT
  XML_SetHashSalt16Bytes(parser->expat, parser->salt);
#else
  unsigned long salt;
  memcpy(&salt, parser->salt, sizeof salt);
  XML_SetHashSalt(parser->expat, salt);
#endif
}

static void begin_document(tt_message_parser *parser) {
  XML_Parser expat = parser->expat;
  XML_ParserReset(expat, NULL);
  set_salt(parser);
  XML_SetUserData(expat, parser);
  XML_SetElementHandler(expat, on_start, on_end);
  XML_SetCharacterDataHandler(expat, on_text);
  XML_SetStartDoctypeDeclHandler(expat, on_doctype);
  XML_SetSkippedEntityHandler(expat, on_skipped_entity);
#ifdef TT_EXPAT_DEFERS
  // Else the end of a message would be seen only when the next one comes. See spend_on_unfinished().
  XML_SetReparseDeferralEnabled(expat, XML_FALSE);
#endif
  parser->scan = SCAN_DOCUMENT;
  parser->begun = now();
  parser->document_bytes = 0;
  parser->token_start = 0;
  parser->unfinished_work = 0;
  parser->depth = 0;
  parser->has_doctype = parser->finished = parser->refused = false;
  parser->skip_root = false;
  parser->tag_size = 0;
  parser->text_size = 0;
  *parser->boot = 0;
  parser->message =
      (tt_message){.device = parser->device, .boot = parser->boot, .seq = TT_MESSAGE_NO_SEQ};
}

static void report_refusal(tt_message_parser *parser) {
  tt_message_refusal refusal = {
      .line = parser->line, .column = parser->column, .reason = parser->reason};
  parser->scan = SCAN_LOST;
  parser->found_size = 0;
  parser->handler.on_refused(parser->context, &refusal);
}

static void deliver(tt_message_parser *parser) {
  tt_message *message = &parser->message;
  message->samples = parser->samples;
  message->values = parser->values;
  message->text = parser->text;
  parser->scan = SCAN_SPACE;
  parser->handler.on_message(parser->context, message);
}

/** How many bytes of the present chunk lie before byte `position` of the document. */
static size_t within_chunk(const tt_message_parser *parser, size_t position, size_t size) {
  if (position <= parser->document_bytes) return 0;
  size_t inside = position - parser->document_bytes;
  return inside < size ? inside : size;
}

/** Expat looks at an unfinished token from its beginning whenever bytes come: one that is long and comes in small
 *  pieces is refused before that costs much. */
static void spend_on_unfinished(tt_message_parser *parser) {
  XML_Index index = XML_GetCurrentByteIndex(parser->expat);
  size_t start = index < 0 ? 0 : (size_t)index;
  if (start != parser->token_start) parser->unfinished_work = 0;
  parser->token_start = start;
  parser->unfinished_work += parser->document_bytes - start;
  if (parser->unfinished_work <= MAX_UNFINISHED_WORK) return;
  refuse(parser, "an element too long for the small pieces in which it comes");
  report_refusal(parser);
}

/** Gives bytes to expat; returns how many belong to this document. */
static size_t feed_document(tt_message_parser *parser, const char *bytes, size_t size) {
  size_t room = parser->limits.message_bytes - parser->document_bytes;
  size_t given = size < room ? size : room;
  enum XML_Status status = XML_Parse(parser->expat, bytes, (int)given, XML_FALSE);
  if (parser->finished) {
    size_t used = within_chunk(parser, parser->end, given);
    deliver(parser);
    return used;
  }
  if (parser->refused) {
    size_t used = within_chunk(parser, parser->tag_size ? parser->end : parser->end + 1, given);
    size_t tag_size = parser->tag_size;
    report_refusal(parser);
    if (tag_size) {
      begin_document(parser);
      feed_document(parser, parser->tag, tag_size);
    }
    return used;
  }
  if (status == XML_STATUS_ERROR) {
    refuse(parser, "%s", XML_ErrorString(XML_GetErrorCode(parser->expat)));
    size_t used = within_chunk(parser, parser->end ? parser->end : 1, given);
    enum XML_Error code = XML_GetErrorCode(parser->expat);
    parser->skip_root = code == XML_ERROR_UNKNOWN_ENCODING || code == XML_ERROR_INCORRECT_ENCODING;
    report_refusal(parser);
    return used;
  }
  parser->document_bytes += given;
  if (parser->document_bytes >= parser->limits.message_bytes) {
    refuse(parser, "the message is longer than %zu bytes", parser->limits.message_bytes);
    report_refusal(parser);
  } else {
    spend_on_unfinished(parser);
  }
  return given;
}

/** A document begins with bytes that have already been read, and goes on with the chunk. */
static void begin_with(tt_message_parser *parser, const char *bytes) {
  begin_document(parser);
  feed_document(parser, bytes, strlen(bytes));
}

/** One byte between documents. Returns whether it was used up. */
static bool scan_byte(tt_message_parser *parser, char c) {
  switch (parser->scan) {
    case SCAN_SPACE:
      if (strchr(" \t\r\n", c) && c) return true;
      if (c == '<') {
        parser->scan = SCAN_LESS;
        return true;
      }
      begin_document(parser);
      return false;
    case SCAN_LESS:
      if (c == '!') {
        parser->scan = SCAN_BANG;
        return true;
      }
      begin_with(parser, "<");
      return false;
    case SCAN_BANG:
      if (c == '-') {
        parser->scan = SCAN_BANG_DASH;
        return true;
      }
      begin_with(parser, "<!");
      return false;
    case SCAN_BANG_DASH:
      if (c == '-') {
        parser->scan = SCAN_COMMENT;
        return true;
      }
      begin_with(parser, "<!-");
      return false;
    case SCAN_COMMENT: parser->scan = c == '-' ? SCAN_COMMENT_DASH : SCAN_COMMENT; return true;
    case SCAN_COMMENT_DASH:
      parser->scan = c == '-' ? SCAN_COMMENT_CLOSE : SCAN_COMMENT;
      return true;
    case SCAN_COMMENT_CLOSE:
      parser->scan = c == '>' ? SCAN_SPACE : c == '-' ? SCAN_COMMENT_CLOSE : SCAN_COMMENT;
      return true;
    case SCAN_DOCUMENT:
    case SCAN_LOST: break;
  }
  return false;
}

/** One byte while looking for the next document after a refusal. */
static void search_byte(tt_message_parser *parser, char c) {
  static const char *const starts[] = {"<?xml", "<MESSAGE"};
  if (c == '<') parser->found_size = 0;
  parser->found[parser->found_size++] = c;
  bool possible = false;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    size_t length = strlen(starts[i]);
    if (parser->found_size > length || memcmp(parser->found, starts[i], parser->found_size))
      continue;
    if (parser->found_size == length) {
      if (parser->skip_root && starts[i][1] == 'M') {
        parser->skip_root = false;
        break;
      }
      begin_with(parser, starts[i]);
      return;
    }
    possible = true;
  }
  if (!possible) parser->found_size = 0;
}

void tt_message_parser_feed(tt_message_parser *parser, const void *bytes, size_t size) {
  const char *next = bytes, *end = next + size;
  while (next < end) {
    if (parser->scan == SCAN_DOCUMENT) {
      next += feed_document(parser, next, (size_t)(end - next));
    } else if (parser->scan == SCAN_LOST) {
      search_byte(parser, *next++);
    } else if (scan_byte(parser, *next)) {
      next++;
    }
  }
}

int64_t tt_message_parser_begun(const tt_message_parser *parser) {
  return parser->scan == SCAN_DOCUMENT ? parser->begun : 0;
}

void tt_message_parser_end(tt_message_parser *parser) {
  bool between = parser->scan == SCAN_SPACE || parser->scan == SCAN_LOST;
  if (!between && parser->scan != SCAN_DOCUMENT) begin_document(parser);
  if (!between) {
    // An end that expat finds wrong itself has a better reason than ours.
    enum XML_Status status = XML_Parse(parser->expat, "", 0, XML_TRUE);
    if (!parser->refused) {
      refuse(parser, "the document ends before </MESSAGE>%s%s",
             status == XML_STATUS_ERROR ? ": " : "",
             status == XML_STATUS_ERROR ? XML_ErrorString(XML_GetErrorCode(parser->expat)) : "");
    }
    report_refusal(parser);
  }
  parser->scan = SCAN_SPACE;
}

tt_message_parser *tt_message_parser_new(const tt_message_limits *limits,
                                         const tt_message_handler *handler, void *context) {
  tt_message_parser *parser = calloc(1, sizeof *parser);
  if (!parser) return NULL;
  parser->limits = *limits;
  parser->handler = *handler;
  parser->context = context;
  parser->expat = XML_ParserCreate(NULL);
  parser->salted = getrandom(parser->salt, sizeof parser->salt, 0) == sizeof parser->salt;
  parser->text = malloc(parser->text_capacity = 4096);
  if (!parser->expat || !parser->text) {
    tt_message_parser_free(parser);
    return NULL;
  }
  return parser;
}

void tt_message_parser_free(tt_message_parser *parser) {
  if (!parser) return;
  if (parser->expat) XML_ParserFree(parser->expat);
  free(parser->text);
  free(parser->samples);
  free(parser->values);
  free(parser);
}

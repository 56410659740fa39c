/* line_protocol.c: lines are cut out of the stream, and points joined to messages. */
#include "base/clock.h"
#include "telemetry/line_internal.h"

#include <stdlib.h>
#include <string.h>

/** A message is delivered once it has so much: points behind it begin another. */
#define GOOD_VALUES 5000
#define GOOD_TEXT (256u << 10)

/** Where the stream stands within a line. */
typedef enum tt_line_scan {
  SCAN_BLANK,   /**< nothing of it yet but blanks */
  SCAN_COMMENT, /**< '#' was its first byte */
  SCAN_NAMES,   /**< measurement and tags */
  SCAN_FIELDS,  /**< behind the first blank */
  SCAN_TEXT,    /**< in a text of a field */
  SCAN_TIME,    /**< behind the fields */
} tt_line_scan;

struct tt_line_parser {
  tt_line_options options;
  tt_message_handler handler;
  void *context;
  tt_line_scan scan;
  bool escaped;         /**< the last byte was a backslash that takes the next one's meaning */
  char last;            /**< byte before */
  unsigned long line;   /**< the stream's, from 1 */
  unsigned long begins; /**< the line at which the one in hand begins */
  int64_t begun;        /**< µs monotonic: first byte of it */
  char *bytes;          /**< what came of it */
  size_t size, room;
  bool too_long; /**< it is refused, and only its end is looked for */

  tt_line read;
  tt_list name; /**< char: measurement and tags of the point in hand */
  tt_message_build build;
  bool open;     /**< the build has points… */
  bool timeless; /**< …and one of them is of now */
};

int64_t tt_line_unit(const char *precision) {
  static const struct {
    const char *name;
    int64_t unit;
  } all[] = {
      {"ns", 1},   {"n", 1},        {"us", 1000},      {"u", 1000},        {"µs", 1000},
      {"µ", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (!strcmp(precision, all[i].name)) return all[i].unit;
  }
  return 0;
}

/* --- points into messages --- */

static void deliver(tt_line_parser *parser) {
  if (parser->open)
    parser->handler.on_message(parser->context, tt_message_build_end(&parser->build));
  parser->open = parser->timeless = false;
}

static void refuse(tt_line_parser *parser, unsigned long line, unsigned long column,
                   const char *reason) {
  const tt_message_refusal refusal = {line, column, reason};
  parser->handler.on_refused(parser->context, &refusal);
}

static bool is_key(tt_piece key, const char *name) {
  return key.size == strlen(name) && !memcmp(key.bytes, name, key.size);
}

static const tt_line_pair *find_tag(const tt_line *line, const char *key) {
  for (uint32_t i = 0; i < line->tags.len; i++) {
    const tt_line_pair *tag = &tt_list_at(&line->tags, tt_line_pair, i);
    if (is_key(tag->key, key)) return tag;
  }
  return NULL;
}

static const tt_line_pair *find_device(const tt_line_parser *parser) {
  const tt_line_pair *found = NULL;
  for (const char *const *key = parser->options.device_tags; *key && !found; key++)
    found = find_tag(&parser->read, *key);
  return found;
}

static bool is_ignored(const tt_line_parser *parser, tt_piece key) {
  const char *const *ignored = parser->options.ignored_tags;
  for (; ignored && *ignored; ignored++) {
    if (is_key(key, *ignored)) return true;
  }
  return false;
}

/** Appends a part to the name of the point in hand. */
static void add_name(tt_line_parser *parser, tt_piece part) {
  tt_list *name = &parser->name;
  if (!tt_list_reserve(name, part.size + 2)) {
    name->failed = true;
    return;
  }
  char *text = name->data;
  if (name->len) text[name->len++] = '.';
  name->len += (uint32_t)tt_piece_append_name(text + name->len, part);
}

/** Measurement and tags, but for the device's and those that are ignored. */
static bool make_name(tt_line_parser *parser, const tt_line_pair *device) {
  tt_list_cut(&parser->name, 0);
  add_name(parser, parser->read.measurement);
  for (uint32_t i = 0; i < parser->read.tags.len; i++) {
    const tt_line_pair *tag = &tt_list_at(&parser->read.tags, tt_line_pair, i);
    if (tag != device && !is_ignored(parser, tag->key)) add_name(parser, tag->value);
  }
  return !parser->name.failed;
}

/** Begins a message, unless the one in hand is the same device's. NULL, or why it can't. */
static const char *need_message(tt_line_parser *parser, tt_piece device) {
  tt_message_build *build = &parser->build;
  if (parser->open && is_key(device, build->device)) return NULL;
  deliver(parser);
  tt_message_build_begin(build);
  const char *reason = tt_message_build_sender(build, device, parser->options.time);
  if (!reason && parser->options.boot)
    reason = tt_message_build_boot(build, tt_piece_of(parser->options.boot));
  build->message.line = parser->begins;
  build->message.points = 0;
  return reason;
}

/** Adds the fields of the point in hand. NULL, or why not, with the field concerned. */
static const char *add_values(tt_line_parser *parser, const tt_line_pair **at) {
  tt_message_build *build = &parser->build;
  const int64_t time = parser->read.time;
  const uint32_t samples = build->message.sample_count;
  const char *reason = NULL;
  if (!samples || build->samples[samples - 1].time != time)
    reason = tt_message_build_sample(build, time, parser->read.measurement);
  for (uint32_t i = 0; i < parser->read.fields.len && !reason; i++) {
    *at = &tt_list_at(&parser->read.fields, tt_line_pair, i);
    char *text = parser->name.data;
    const size_t whole = parser->name.len;
    const size_t size = tt_piece_append_name(text + whole, (*at)->key);
    const tt_piece parts[] = {{text, whole}, {text + whole, size}};
    reason = tt_message_build_value(build, parts, 2, (*at)->value);
  }
  return reason;
}

/** Room for the longest field behind the name. */
static bool reserve_fields(tt_line_parser *parser) {
  size_t longest = 0;
  for (uint32_t i = 0; i < parser->read.fields.len; i++) {
    const size_t size = tt_list_at(&parser->read.fields, tt_line_pair, i).key.size;
    if (size > longest) longest = size;
  }
  return tt_list_reserve(&parser->name, longest + 1);
}

/** Adds the point in hand to a message. NULL, or why not, with what is concerned. */
static const char *add_point(tt_line_parser *parser, const tt_line_pair *device,
                             const tt_line_pair **at) {
  *at = device;
  const char *reason = need_message(parser, device->value);
  if (reason) return reason;
  *at = &tt_list_at(&parser->read.fields, tt_line_pair, 0);
  parser->build.full = false;
  const tt_message_mark mark = tt_message_build_mark(&parser->build);
  reason = add_values(parser, at);
  if (reason) tt_message_build_return(&parser->build, &mark);
  return reason;
}

static void take_point(tt_line_parser *parser) {
  const tt_line *read = &parser->read;
  const tt_line_pair *device = find_device(parser);
  if (!device) {
    refuse(parser, parser->begins, 1,
           "no tag names the device; telemetry.device_tags says which may");
    return;
  }
  if (!make_name(parser, device) || !reserve_fields(parser)) {
    refuse(parser, parser->begins, 1, "out of memory");
    return;
  }
  const tt_line_pair *at;
  const char *reason = add_point(parser, device, &at);
  if (reason && parser->open && parser->build.full) {
    deliver(parser);  // whose points are none of this one's fault
    reason = add_point(parser, device, &at);
  }
  if (reason) {
    refuse(parser, at->line, at->column, reason);
    return;
  }
  parser->open = true;
  parser->build.message.points++;
  parser->timeless |= read->time == TT_MESSAGE_NO_TIME;
  if (parser->build.message.value_count >= GOOD_VALUES || parser->build.text_size >= GOOD_TEXT)
    deliver(parser);
}

/* --- lines out of the stream --- */

static void end_line(tt_line_parser *parser) {
  size_t size = parser->size;
  if (parser->scan > SCAN_COMMENT && !parser->too_long) {
    if (size && parser->bytes[size - 1] == '\r') size--;
    if (tt_line_read(&parser->read, parser->bytes, size, parser->begins, &parser->options))
      take_point(parser);
    else
      refuse(parser, parser->read.line, parser->read.column, parser->read.reason);
  }
  parser->scan = SCAN_BLANK;
  parser->size = 0;
  parser->begun = 0;
  parser->too_long = parser->escaped = false;
  parser->last = 0;
}

static void keep_byte(tt_line_parser *parser, char c) {
  if (parser->too_long || parser->scan == SCAN_COMMENT) return;
  const size_t most = parser->options.limits.message_bytes;
  if (parser->size + 1 >= parser->room && parser->size < most) {
    const size_t larger = parser->room ? parser->room * 2 : 1024;
    char *moved = realloc(parser->bytes, larger);
    if (moved) {
      parser->bytes = moved;
      parser->room = larger;
    }
  }
  if (parser->size < most && parser->size + 1 < parser->room) {
    parser->bytes[parser->size++] = c;
    return;
  }
  parser->too_long = true;
  refuse(parser, parser->begins, 1,
         parser->size < most ? "out of memory" : "the line is longer than a message may be");
}

static void begin_line(tt_line_parser *parser) {
  parser->begun = tt_monotonic_us();
  parser->begins = parser->line;
}

static void take_byte(tt_line_parser *parser, char c) {
  if (c == '\n') parser->line++;
  if (c == '\n' && parser->scan != SCAN_TEXT) {
    end_line(parser);
    return;
  }
  if (!parser->begun) begin_line(parser);
  const bool escaped = parser->escaped;
  parser->escaped = !escaped && c == '\\';
  switch (parser->scan) {
    case SCAN_BLANK:
      if (c != ' ' && c != '\r') parser->scan = c == '#' ? SCAN_COMMENT : SCAN_NAMES;
      break;
    case SCAN_NAMES:
      if (c == ' ' && !escaped) parser->scan = SCAN_FIELDS;
      break;
    case SCAN_FIELDS:
      if (c == '"' && parser->last == '=') parser->scan = SCAN_TEXT;
      if (c == ' ' && !escaped && parser->last != ' ') parser->scan = SCAN_TIME;
      break;
    case SCAN_TEXT:
      if (c == '"' && !escaped) parser->scan = SCAN_FIELDS;
      break;
    case SCAN_TIME:
    case SCAN_COMMENT: break;
  }
  parser->last = escaped ? 0 : c;
  keep_byte(parser, c);
}

void tt_line_parser_feed(tt_line_parser *parser, const void *bytes, size_t size) {
  const char *next = bytes;
  for (size_t i = 0; i < size; i++) take_byte(parser, next[i]);
  // What is of now can't wait for what is still to come.
  if (parser->timeless) deliver(parser);
}

int64_t tt_line_parser_begun(const tt_line_parser *parser) { return parser->begun; }

void tt_line_parser_end(tt_line_parser *parser) {
  if (parser->options.whole_lines && parser->scan > SCAN_COMMENT) {
    refuse(parser, parser->begins, 1,
           "the body ends within this line: in a chunked one the last line ends with a line feed, "
           "too");
    parser->scan = SCAN_COMMENT;
  }
  end_line(parser);
  deliver(parser);
  parser->line = 1;
}

tt_line_parser *tt_line_parser_new(const tt_line_options *options,
                                   const tt_message_handler *handler, void *context) {
  tt_line_parser *parser = calloc(1, sizeof *parser);
  if (!parser) return NULL;
  parser->options = *options;
  parser->handler = *handler;
  parser->context = context;
  parser->line = 1;
  parser->name = TT_LIST(char, NULL);
  parser->build.limits = options->limits;
  tt_line_init(&parser->read);
  return parser;
}

void tt_line_parser_free(tt_line_parser *parser) {
  if (!parser) return;
  tt_line_clear(&parser->read);
  tt_list_free(&parser->name);
  tt_message_build_clear(&parser->build);
  free(parser->bytes);
  free(parser);
}

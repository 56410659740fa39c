/* json_message.c: messages are cut out of the stream; what stands in one is json_content.c's. */
#include "telemetry/json_message.h"

#include "base/clock.h"
#include "store/list.h"
#include "telemetry/json_content.h"

#include <stdlib.h>
#include <string.h>

/** Where the stream stands. */
typedef enum tt_json_scan {
  SCAN_START,   /**< before everything */
  SCAN_BETWEEN, /**< behind a message that stands in no array */
  SCAN_OPENED,  /**< behind '[' */
  SCAN_COMMA,   /**< behind ',' */
  SCAN_ITEM,    /**< behind a message of an array */
  SCAN_CLOSED,  /**< behind ']' */
  SCAN_MESSAGE, /**< in a message */
  SCAN_LOST,    /**< what stands between messages was wrong */
} tt_json_scan;

struct tt_json_parser {
  tt_message_limits limits;
  tt_message_handler handler;
  void *context;
  tt_json_scan scan, behind;    /**< `behind`: what follows the message in hand */
  unsigned long line, column;   /**< of the byte in hand, from 1 */
  unsigned long begins, beside; /**< line and column of the message in hand */
  int64_t begun;                /**< µs monotonic: its first byte */
  int depth;                    /**< of braces and brackets */
  bool quoted, escaped;
  bool too_long; /**< it is refused, and only its end is looked for */
  tt_list bytes; /**< char: what came of it */
  tt_message_build build;
};

static void refuse(tt_json_parser *parser, unsigned long line, unsigned long column,
                   const char *reason) {
  const tt_message_refusal refusal = {line, column, reason};
  parser->handler.on_refused(parser->context, &refusal);
}

/** Refuses the message in hand at a byte of it. */
static void refuse_at(tt_json_parser *parser, size_t at, const char *reason) {
  unsigned long line = parser->begins, column = parser->beside;
  const char *bytes = parser->bytes.data;
  for (size_t i = 0; i < at && i < parser->bytes.len; i++) {
    column = bytes[i] == '\n' ? 1 : column + 1;
    line += bytes[i] == '\n';
  }
  refuse(parser, line, column, reason);
}

/** The message in hand is whole, as far as braces tell. */
static void end_message(tt_json_parser *parser) {
  parser->scan = parser->behind;
  parser->begun = 0;
  if (parser->too_long) return;
  char reason[256];
  size_t at;
  tt_message_build_begin(&parser->build);
  if (tt_json_content_read(&parser->build, parser->bytes.data, parser->bytes.len, &at, reason,
                           sizeof reason)) {
    parser->build.message.line = parser->begins;
    parser->handler.on_message(parser->context, tt_message_build_end(&parser->build));
  } else {
    refuse_at(parser, at, reason);
  }
}

static void keep_byte(tt_json_parser *parser, char c) {
  if (parser->too_long) return;
  const bool longer = parser->bytes.len >= parser->limits.message_bytes;
  if (!longer && tt_list_add(&parser->bytes, &c, 1)) return;
  parser->too_long = true;
  refuse(parser, parser->begins, parser->beside,
         longer ? "the message is longer than it may be" : "out of memory");
}

static void message_byte(tt_json_parser *parser, char c) {
  keep_byte(parser, c);
  if (parser->quoted) {
    parser->quoted = parser->escaped || c != '"';
    parser->escaped = !parser->escaped && c == '\\';
    return;
  }
  parser->quoted = c == '"';
  parser->depth += (c == '{' || c == '[') - (c == '}' || c == ']');
  if (!parser->depth) end_message(parser);
}

static void begin_message(tt_json_parser *parser, tt_json_scan behind) {
  parser->begun = tt_monotonic_us();
  parser->begins = parser->line;
  parser->beside = parser->column;
  parser->behind = behind;
  parser->scan = SCAN_MESSAGE;
  parser->depth = 0;
  parser->quoted = parser->escaped = parser->too_long = false;
  tt_list_cut(&parser->bytes, 0);
}

/** A byte between messages that is no blank. */
static void between_byte(tt_json_parser *parser, char c) {
  const tt_json_scan scan = parser->scan;
  const bool listed = scan == SCAN_OPENED || scan == SCAN_COMMA;
  if (c == '{' && (listed || scan == SCAN_START || scan == SCAN_BETWEEN)) {
    begin_message(parser, listed ? SCAN_ITEM : SCAN_BETWEEN);
    message_byte(parser, c);
  } else if (c == '[' && scan == SCAN_START) {
    parser->scan = SCAN_OPENED;
  } else if (c == ',' && scan == SCAN_ITEM) {
    parser->scan = SCAN_COMMA;
  } else if (c == ']' && (scan == SCAN_OPENED || scan == SCAN_ITEM)) {
    parser->scan = SCAN_CLOSED;
  } else {
    refuse(parser, parser->line, parser->column,
           "not a message: what comes is one object, several behind one another, or an array of "
           "them; the rest is not read");
    parser->scan = SCAN_LOST;
  }
}

static void take_byte(tt_json_parser *parser, char c) {
  const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
  if (parser->scan == SCAN_MESSAGE)
    message_byte(parser, c);
  else if (parser->scan != SCAN_LOST && !blank)
    between_byte(parser, c);
  parser->column = c == '\n' ? 1 : parser->column + 1;
  parser->line += c == '\n';
}

void tt_json_parser_feed(tt_json_parser *parser, const void *bytes, size_t size) {
  const char *next = bytes;
  for (size_t i = 0; i < size; i++) take_byte(parser, next[i]);
}

int64_t tt_json_parser_begun(const tt_json_parser *parser) { return parser->begun; }

static void start(tt_json_parser *parser) {
  parser->scan = SCAN_START;
  parser->begun = 0;
  parser->line = parser->column = 1;
}

void tt_json_parser_end(tt_json_parser *parser) {
  if (parser->scan == SCAN_MESSAGE && !parser->too_long)
    refuse(parser, parser->begins, parser->beside, "the message does not end");
  else if (parser->scan == SCAN_OPENED || parser->scan == SCAN_ITEM || parser->scan == SCAN_COMMA)
    refuse(parser, parser->line, parser->column, "the array does not end");
  start(parser);
}

tt_json_parser *tt_json_parser_new(const tt_message_limits *limits,
                                   const tt_message_handler *handler, void *context) {
  tt_json_parser *parser = calloc(1, sizeof *parser);
  if (!parser) return NULL;
  parser->limits = parser->build.limits = *limits;
  parser->handler = *handler;
  parser->context = context;
  parser->bytes = TT_LIST(char, NULL);
  start(parser);
  return parser;
}

void tt_json_parser_free(tt_json_parser *parser) {
  if (!parser) return;
  tt_list_free(&parser->bytes);
  tt_message_build_clear(&parser->build);
  free(parser);
}

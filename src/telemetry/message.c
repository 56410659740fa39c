/* message.c: documents are cut out of the stream; what stands in one is message_content.c's. */
#include "base/clock.h"
#include "telemetry/message_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define MAX_UNFINISHED_WORK (64u << 20)
/** More than most messages have. */
#define USUAL_BYTES 1024
/** With what most of them end, and expat's view of those that follow each other: they stand in one element. */
#define END "</MESSAGE>"
#define ROOT "<s>"
/** Then expat begins anew, as it keeps the names of all elements and attributes. */
#define BYTES_OF_EXPAT (64u << 10)

tt_message_limits tt_message_limits_default(void) {
  return (tt_message_limits){.message_bytes = 1 << 20,
                             .values = 50000,
                             .attributes = 1000,
                             .name_bytes = 200,
                             .value_bytes = 4096,
                             .duration = 5000000};
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

/** Whether a document begins with its first element, in an encoding that has ASCII. */
static bool is_plain(const char *bytes, size_t size) {
  return size >= 2 && bytes[0] == '<' && isalpha((unsigned char)bytes[1]);
}

/** Expat knows no message any more. */
static void renew_expat(tt_message_parser *parser, bool plain) {
  XML_Parser expat = parser->expat;
  XML_ParserReset(expat, NULL);
  set_salt(parser);
#ifdef TT_EXPAT_DEFERS
  // Else the end of a message would be seen only when the next one comes. See spend_on_unfinished().
  XML_SetReparseDeferralEnabled(expat, XML_FALSE);
#endif
  parser->expat_bytes = 0;
  if (plain) {
    XML_Parse(expat, ROOT, strlen(ROOT), XML_FALSE);
    parser->expat_bytes = strlen(ROOT);
  }
  tt_message_set_handlers(parser);
}

/** Of the bytes with which it begins, two at most are looked at; none is used up. To begin anew takes expat about as long as a message: the
 *  next one is an element behind the last where it can be. */
static void begin_document(tt_message_parser *parser, const char *bytes, size_t size) {
  const bool plain = is_plain(bytes, size);
  if (!plain || !parser->goes_on || parser->expat_bytes >= BYTES_OF_EXPAT)
    renew_expat(parser, plain);
  parser->scan = SCAN_DOCUMENT;
  parser->may_go_on = plain;
  parser->goes_on = parser->hinted = false;
  parser->before = (tt_message_place){parser->expat_bytes, 0, 0};
  if (parser->expat_bytes) {
    parser->before.line = XML_GetCurrentLineNumber64(parser->expat) - 1;
    parser->before.column = XML_GetCurrentColumnNumber64(parser->expat);
  }
  parser->begun = tt_monotonic_us();
  parser->document_bytes = 0;
  parser->token_start = 0;
  parser->unfinished_work = 0;
  tt_message_begin_content(parser);
}

static void report_refusal(tt_message_parser *parser) {
  tt_message_refusal refusal = {
      .line = parser->line, .column = parser->column, .reason = parser->reason};
  parser->scan = SCAN_LOST;
  parser->found_size = 0;
  parser->handler.on_refused(parser->context, &refusal);
}

static void deliver(tt_message_parser *parser) {
  parser->scan = SCAN_SPACE;
  parser->handler.on_message(parser->context, tt_message_build_end(&parser->build));
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
  const size_t start = tt_message_position(parser);
  if (start != parser->token_start) parser->unfinished_work = 0;
  parser->token_start = start;
  parser->unfinished_work += parser->document_bytes - start;
  if (parser->unfinished_work <= MAX_UNFINISHED_WORK) return;
  tt_message_refuse(parser, "an element too long for the small pieces in which it comes");
  report_refusal(parser);
}

/** How many bytes expat is given, which copies them: no more than a message usually has, since the others are behind it; and none behind
 *  what looks like its end, so that it can go on with the next one. */
static size_t choose_piece(tt_message_parser *parser, const char *bytes, size_t size) {
  const size_t room = parser->build.limits.message_bytes - parser->document_bytes;
  const size_t usual =
      USUAL_BYTES + parser->document_bytes;  // of a long one twice as many each time
  size_t piece = size < room ? size : room;
  if (piece > usual) piece = usual;
  const bool helps = parser->may_go_on && !parser->hinted;
  const char *end = helps ? memmem(bytes, piece, END, strlen(END)) : NULL;
  if (!end) return piece;
  parser->hinted = true;  // one that was wrong is not followed by others
  return (size_t)(end - bytes) + strlen(END);
}

/** Gives bytes to expat; returns how many of them belong to this document. */
static size_t feed_document(tt_message_parser *parser, const char *bytes, size_t size) {
  const size_t given = choose_piece(parser, bytes, size);
  parser->piece = given;
  parser->expat_bytes += given;
  enum XML_Status status = XML_Parse(parser->expat, bytes, (int)given, XML_FALSE);
  if (parser->finished) {
    size_t used = within_chunk(parser, parser->end, given);
    parser->goes_on = parser->may_go_on && used == given;
    deliver(parser);
    return used;
  }
  if (parser->refused) {
    size_t used = within_chunk(parser, parser->tag_size ? parser->end : parser->end + 1, given);
    size_t tag_size = parser->tag_size;
    report_refusal(parser);
    if (tag_size) {
      begin_document(parser, parser->tag, tag_size);
      feed_document(parser, parser->tag, tag_size);
    }
    return used;
  }
  if (status == XML_STATUS_ERROR) {
    tt_message_refuse(parser, "%s", XML_ErrorString(XML_GetErrorCode(parser->expat)));
    size_t used = within_chunk(parser, parser->end ? parser->end : 1, given);
    enum XML_Error code = XML_GetErrorCode(parser->expat);
    parser->skip_root = code == XML_ERROR_UNKNOWN_ENCODING || code == XML_ERROR_INCORRECT_ENCODING;
    report_refusal(parser);
    return used;
  }
  parser->document_bytes += given;
  if (parser->document_bytes >= parser->build.limits.message_bytes) {
    tt_message_refuse(parser, "the message is longer than %zu bytes",
                      parser->build.limits.message_bytes);
    report_refusal(parser);
  } else {
    spend_on_unfinished(parser);
  }
  return given;
}

/** A document begins with bytes that have already been read, `size` of them before the chunk, which goes on with it. */
static void begin_with(tt_message_parser *parser, const char *bytes, size_t size) {
  begin_document(parser, bytes, strlen(bytes));
  feed_document(parser, bytes, size);
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
      begin_document(parser, &c, 1);
      return false;
    case SCAN_LESS:
      if (c == '!') {
        parser->scan = SCAN_BANG;
        return true;
      }
      begin_with(parser, (char[]){'<', c, 0}, 1);
      return false;
    case SCAN_BANG:
      if (c == '-') {
        parser->scan = SCAN_BANG_DASH;
        return true;
      }
      begin_with(parser, "<!", 2);
      return false;
    case SCAN_BANG_DASH:
      if (c == '-') {
        parser->scan = SCAN_COMMENT;
        return true;
      }
      begin_with(parser, "<!-", 3);
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
      begin_with(parser, starts[i], length);
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
    } else if (parser->scan == SCAN_SPACE && is_plain(next, (size_t)(end - next))) {
      begin_document(parser, next, (size_t)(end - next));
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
  if (!between && parser->scan != SCAN_DOCUMENT) begin_document(parser, "", 0);
  if (!between) {
    // An end that expat finds wrong itself has a better reason than ours.
    enum XML_Status status = XML_Parse(parser->expat, "", 0, XML_TRUE);
    if (!parser->refused) {
      tt_message_refuse(
          parser, "the document ends before </MESSAGE>%s%s", status == XML_STATUS_ERROR ? ": " : "",
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
  parser->build.limits = *limits;
  parser->handler = *handler;
  parser->context = context;
  parser->expat = XML_ParserCreate(NULL);
  parser->salted = getrandom(parser->salt, sizeof parser->salt, 0) == sizeof parser->salt;
  if (!parser->expat) {
    tt_message_parser_free(parser);
    return NULL;
  }
  return parser;
}

void tt_message_parser_free(tt_message_parser *parser) {
  if (!parser) return;
  if (parser->expat) XML_ParserFree(parser->expat);
  tt_message_build_clear(&parser->build);
  free(parser);
}

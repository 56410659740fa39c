/* line_protocol.h: InfluxDB line protocol into messages.
 *
 *   climate,device=hall,room=north temperature=21.5,open=f,note="door" 1700000000000000000
 *
 * Points of one device that stand behind one another make up a message, with as many sample sets as there are moments. The
 * value above is of the device hall, its identifier climate.north.temperature: measurement, the other tags' values in
 * order of their keys, field. Bytes may come split anywhere. A line that is bad is refused with line, column and reason;
 * the others are kept. See docs/telemetry-in.md.
 */
#ifndef TT_TELEMETRY_LINE_PROTOCOL_H
#define TT_TELEMETRY_LINE_PROTOCOL_H

#include "telemetry/message.h"

typedef struct tt_line_options {
  tt_message_limits limits; /**< `message_bytes` of a line, `attributes`: fields of one */
  /** Of tags, NULL-terminated: the first of these that a point has names its device… */
  const char *const *device_tags;
  const char *const *ignored_tags; /**< …and these make no part of identifiers; NULL: none */
  int64_t unit;                    /**< ns that a timestamp counts */
  int64_t time;                    /**< of all: see tt_message.time */
  const char *boot;                /**< of all: see tt_message.boot */
  bool whole_lines; /**< the last line has a line feed as well; one without is torn, and refused */
} tt_line_options;

/** Nanoseconds of what a client calls a precision: "ns", "u", "ms", "s" and the like; 0: there is none of this name. */
int64_t tt_line_unit(const char *precision);

/** A timestamp of that unit in µs, rounded down; false where no clock says that. */
bool tt_line_time(int64_t count, int64_t unit, int64_t *us);

typedef struct tt_line_parser tt_line_parser;

/** NULL when out of memory. What `options` points to must outlive it. */
tt_line_parser *tt_line_parser_new(const tt_line_options *options,
                                   const tt_message_handler *handler, void *context);
void tt_line_parser_free(tt_line_parser *parser);
/** Takes bytes as they come; calls the handler for every message that is whole, and every line that is refused. */
void tt_line_parser_feed(tt_line_parser *parser, const void *bytes, size_t size);
/** µs monotonic at which the line in hand began, 0 between lines. */
int64_t tt_line_parser_begun(const tt_line_parser *parser);
/** The document has ended, with its last line. The parser is as new afterwards. */
void tt_line_parser_end(tt_line_parser *parser);

#endif

/* json_message.h: messages written in JSON, with the content of a MESSAGE.
 *
 *   {"id": "ROBO1", "time": 123456, "sets": [
 *     {"name": "Input", "time": -10, "values": {"battery": {"level": 11.8}, "pir": {"on": true}}}]}
 *
 * One, any number one behind the other, or an array of them; bytes may come split anywhere. docs/message.schema.json says the same
 * as a schema. A message is delivered whole or refused whole with line, column and reason; those before and behind it are
 * kept, unless what stands between messages is wrong: then the rest is refused.
 */
#ifndef TT_TELEMETRY_JSON_MESSAGE_H
#define TT_TELEMETRY_JSON_MESSAGE_H

#include "telemetry/message.h"

typedef struct tt_json_parser tt_json_parser;

/** NULL when out of memory. */
tt_json_parser *tt_json_parser_new(const tt_message_limits *limits,
                                   const tt_message_handler *handler, void *context);
void tt_json_parser_free(tt_json_parser *parser);
/** Takes bytes as they come; calls the handler for every message that ends or fails in them. */
void tt_json_parser_feed(tt_json_parser *parser, const void *bytes, size_t size);
/** µs monotonic at which the message in hand began, 0 between messages. */
int64_t tt_json_parser_begun(const tt_json_parser *parser);
/** The document has ended: a message or an array that hasn't is refused. The parser is as new afterwards. */
void tt_json_parser_end(tt_json_parser *parser);

#endif

/* message.h: the robocar-xml MESSAGE, and the one streaming parser for all its ways in.
 *
 *   <MESSAGE id='1' time='123456'>
 *     <Output time='-60'> <drive velocity='50'/> <turn heading='12'/> </Output>
 *   </MESSAGE>
 *
 * Bytes may come split anywhere, and any number of documents one after the other. A message is delivered whole or
 * refused whole with line, column and reason; after a refusal the parser looks for the next document. Expat
 * parses; nothing external is ever loaded, an internal DTD subset and entities are refused.
 */
#ifndef TT_TELEMETRY_MESSAGE_H
#define TT_TELEMETRY_MESSAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One attribute of a data set. Texts are offsets for tt_message_text(). */
typedef struct tt_message_value {
  uint32_t identifier; /**< "Set.Data.attribute" */
  uint32_t text;       /**< as sent, UTF-8 */
} tt_message_value;

/** A time that was not told. */
#define TT_MESSAGE_NO_TIME INT64_MIN

/** A sample set: what a device measured at one moment. */
typedef struct tt_message_sample {
  /** µs on the device's clock, already absolute; TT_MESSAGE_NO_TIME: that of transmission */
  int64_t time;
  uint32_t first, count; /**< its values */
} tt_message_sample;

/** Of a message that has none. */
#define TT_MESSAGE_NO_SEQ (-1)

/** A whole, valid message; valid during on_message only. */
typedef struct tt_message {
  const char *device; /**< the `id`: 1…64 bytes without control characters */
  const char *boot;   /**< the same of the device's start; "": it said none */
  int64_t seq;        /**< number of the message, 0…2^53; TT_MESSAGE_NO_SEQ: it said none */
  int64_t time; /**< µs on the device's clock at transmission; TT_MESSAGE_NO_TIME: it said none */
  bool acknowledge; /**< the sender asked for <ACK/> */
  const tt_message_sample *samples;
  const tt_message_value *values;
  uint32_t sample_count, value_count;
  uint64_t hash; /**< of boot, seq, times, identifiers and values, to know a message sent again */
  const char *text;
  size_t text_size;   /**< bytes of it */
  unsigned long line; /**< at which it begins, where many stand in one document; else 1 */
  uint32_t points;    /**< points of line protocol that it was made of; else 1 */
} tt_message;

/** The text at an offset of a value. Valid as long as the message. */
static inline const char *tt_message_text(const tt_message *message, uint32_t offset) {
  return message->text + offset;
}

/** Where and why a message was refused. */
typedef struct tt_message_refusal {
  unsigned long line, column; /**< within its document, both from 1 */
  const char *reason;
} tt_message_refusal;

typedef struct tt_message_limits {
  size_t message_bytes; /**< default 1 MiB */
  uint32_t values;      /**< a message; default 50,000 */
  uint32_t attributes;  /**< an element; default 1,000 */
  uint32_t name_bytes;  /**< of an identifier; default 200 */
  uint32_t value_bytes; /**< of one value; default 4,096 */
  /** µs from a message's first byte to its last; default 5 s. Whoever reads enforces it */
  int64_t duration;
} tt_message_limits;
/** The defaults above. */
tt_message_limits tt_message_limits_default(void);

/** Called from within tt_message_parser_feed() and _end(); what they are given is valid during the call only. */
typedef struct tt_message_handler {
  void (*on_message)(void *context, const tt_message *message);
  void (*on_refused)(void *context, const tt_message_refusal *refusal);
} tt_message_handler;

typedef struct tt_message_parser tt_message_parser;

/** NULL when out of memory. */
tt_message_parser *tt_message_parser_new(const tt_message_limits *limits,
                                         const tt_message_handler *handler, void *context);
void tt_message_parser_free(tt_message_parser *parser);
/** Takes bytes as they come; calls the handler for every message that ends or fails in them. */
void tt_message_parser_feed(tt_message_parser *parser, const void *bytes, size_t size);
/** µs monotonic at which the message in hand began, 0 between messages. */
int64_t tt_message_parser_begun(const tt_message_parser *parser);
/** The stream has ended: a document that hasn't is refused. The parser is as new afterwards. */
void tt_message_parser_end(tt_message_parser *parser);

#endif

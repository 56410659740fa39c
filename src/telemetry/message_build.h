/* message_build.h: a message in the making, whatever it was written in: message_content.c (XML), line_protocol.c and
 * json_message.c fill it. Its arrays are used again for every message. One thread.
 */
#ifndef TT_TELEMETRY_MESSAGE_BUILD_H
#define TT_TELEMETRY_MESSAGE_BUILD_H

#include "telemetry/message.h"

/** Of a device's identifier, and of what it calls its start. */
#define TT_MESSAGE_DEVICE_BYTES 64
/** Of `seq`: what every reader of JSON has exactly. */
#define TT_MESSAGE_MAX_SEQ (1LL << 53)
/** ms; the year 2255 for a clock that counts from 1970. */
#define TT_MESSAGE_MAX_TIME_MS 9000000000000

/** A piece of text that need not end with 0. */
typedef struct tt_piece {
  const char *bytes;
  size_t size;
} tt_piece;

/** Zero at first, but for `limits`. */
typedef struct tt_message_build {
  tt_message_limits limits;
  tt_message message;
  char device[TT_MESSAGE_DEVICE_BYTES + 1], boot[TT_MESSAGE_DEVICE_BYTES + 1];
  char *text;
  size_t text_size, text_capacity;
  tt_message_sample *samples;
  size_t sample_capacity;
  uint32_t joined; /**< index of the first sample set that may become one sample with the latest */
  tt_message_value *values;
  size_t value_capacity;
  char reason[256]; /**< why the last of these functions refused */
  bool full;        /**< the last value had no room beside what is there */
} tt_message_build;

/* The functions below return NULL, or why what they were given is refused; that text is valid until the next call. */

/** Forgets the last message. */
void tt_message_build_begin(tt_message_build *build);
/** Whose it is and when it was sent: µs on the device's clock, or TT_MESSAGE_NO_TIME. Before all others. */
const char *tt_message_build_sender(tt_message_build *build, tt_piece device, int64_t time);
const char *tt_message_build_boot(tt_message_build *build, tt_piece boot);
/** As decimal digits. */
const char *tt_message_build_seq(tt_message_build *build, tt_piece seq);
/** What follows was measured then: µs on the device's clock, or TT_MESSAGE_NO_TIME. `name` tells sample sets apart in the
 *  message's hash alone. */
const char *tt_message_build_sample(tt_message_build *build, int64_t time, tt_piece name);
/** A value; the parts of its identifier are joined by dots. */
const char *tt_message_build_value(tt_message_build *build, const tt_piece *parts, size_t count,
                                   tt_piece value);
/** A state to which a message in the making can go back. */
typedef struct tt_message_mark {
  tt_message message;
  size_t text_size;
  uint32_t joined;
} tt_message_mark;
tt_message_mark tt_message_build_mark(const tt_message_build *build);
/** Forgets what came since. */
void tt_message_build_return(tt_message_build *build, const tt_message_mark *mark);
/** The message, which is valid until the next begins. */
const tt_message *tt_message_build_end(tt_message_build *build);
/** Frees what is in it. */
void tt_message_build_clear(tt_message_build *build);

/** "123456", "-60", "12.5": milliseconds into µs. */
bool tt_message_parse_ms(tt_piece text, int64_t *us);
/** A text with its 0 as a piece. */
tt_piece tt_piece_of(const char *text);
/** Whether it is UTF-8 and has no characters that XML could not have: control characters but for tab and line ends. */
bool tt_piece_is_text(tt_piece piece);
/** Whether it is a name of XML, as an identifier is made of. */
bool tt_piece_is_name(tt_piece piece);
/** Appends UTF-8 as a part of an identifier without dots: what can't be in a name becomes '_'. `to` has room for one byte more
 *  than the piece has. Returns how many were written. */
size_t tt_piece_append_name(char *to, tt_piece piece);

#endif

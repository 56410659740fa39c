/* message.h: what NetworkTables 4 sends in binary frames: [topic, time, type, value] in MessagePack, one behind the other.
 *
 * Source: allwpilib, ntcore/doc/networktables4.adoc, 4.1. MessagePack by libmpack. Pure: no I/O.
 */
#ifndef TT_NT4_MESSAGE_H
#define TT_NT4_MESSAGE_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The numbers of types. Any type that is not listed, such as struct:Pose3d, travels as RAW. */
typedef enum tt_nt4_type {
  TT_NT4_BOOLEAN = 0,
  TT_NT4_DOUBLE = 1,
  TT_NT4_INT = 2,
  TT_NT4_FLOAT = 3,
  TT_NT4_STRING = 4,
  TT_NT4_RAW = 5,
  TT_NT4_BOOLEAN_ARRAY = 16,
  TT_NT4_DOUBLE_ARRAY = 17,
  TT_NT4_INT_ARRAY = 18,
  TT_NT4_FLOAT_ARRAY = 19,
  TT_NT4_STRING_ARRAY = 20,
} tt_nt4_type;

/** The number of a type's name. */
tt_nt4_type tt_nt4_type_of(const char *name);
/** A name of that number. */
const char *tt_nt4_type_name(tt_nt4_type type);

/* Values. Out of memory: `to->failed`. */
void tt_nt4_put_boolean(tt_bytes *to, bool value);
void tt_nt4_put_int(tt_bytes *to, int64_t value);
void tt_nt4_put_double(tt_bytes *to, double value);
void tt_nt4_put_text(tt_bytes *to, const char *text);
void tt_nt4_put_raw(tt_bytes *to, const void *data, size_t size);
/** The head of an array; `count` values of its type follow. */
void tt_nt4_put_array(tt_bytes *to, uint32_t count);

/** The head of a map; `count` pairs of a text and a value follow. */
void tt_nt4_put_map(tt_bytes *to, uint32_t count);

/** A message: [id, time, type, value]. `id` is the topic's, or the publisher's own number for it; −1: the clock. */
typedef struct tt_nt4_message {
  int64_t id;
  int64_t time; /**< µs */
  tt_nt4_type type;
  const uint8_t *value; /**< in MessagePack */
  size_t value_size;
} tt_nt4_message;

/** Appends a whole message; its value is copied. */
void tt_nt4_put_message(tt_bytes *to, const tt_nt4_message *message);
/** Reads the next message of a frame, and moves `at` behind it. TT_END: there is none; TT_BAD_MESSAGE: the rest of the frame
 *  is no message, or its value is not of its type. The value stays the frame's. */
tt_status tt_nt4_read_message(const uint8_t **at, const uint8_t *end, tt_nt4_message *message);
/** The value as a number; a boolean is 0 or 1. False: it is none, or not finite. */
bool tt_nt4_read_number(const tt_nt4_message *message, double *number);

#endif

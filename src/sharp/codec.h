/* codec.h: the JSON messages between joystick, core and vehicle, as bytes and as numbers.
 *
 * One table describes each message (keys, how many numbers, their range); encoder and decoder both
 * read it, so that they can't drift apart. Byte table: docs/wires/sharp-json.md.
 */
#ifndef TT_WIRE_SHARP_JSON_CODEC_H
#define TT_WIRE_SHARP_JSON_CODEC_H

#include "base/drop.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_SHARP_FULL 512   /**< full deflection of a stick, full speed of a motor */
#define TT_SHARP_TICKS 1024 /**< encoder values are 0…1023 */
/** s between two messages to a program that may read one a loop and loop no faster than 72 times a second: what comes
 *  faster waits in its socket and ages. */
#define TT_SHARP_PERIOD (1.0 / 60)
#define TT_SHARP_MAX_TEXT 192 /**< bytes that hold any message we send */
/** A longer datagram is refused before it is read: ten times what any style of these messages takes. */
#define TT_SHARP_MAX_DATAGRAM 2048

/** Numbers of the joystick's message, in the order of its columns. Sticks −512…512 (right and
 *  forward positive); the rest 0 or 1. */
typedef enum tt_sharp_joystick_value {
  TT_JOYSTICK_LEFT_X,
  TT_JOYSTICK_LEFT_Y,
  TT_JOYSTICK_RIGHT_X,
  TT_JOYSTICK_RIGHT_Y,
  TT_JOYSTICK_UP,
  TT_JOYSTICK_DOWN,
  TT_JOYSTICK_LEFT,
  TT_JOYSTICK_RIGHT,
  TT_JOYSTICK_A,
  TT_JOYSTICK_B,
  TT_JOYSTICK_X,
  TT_JOYSTICK_Y,
  TT_JOYSTICK_BACK,
  TT_JOYSTICK_SELECT,
  TT_JOYSTICK_START,
  TT_JOYSTICK_VALUES
} tt_sharp_joystick_value;

/** Numbers of the core's command to the vehicle: speeds −512…512, buttons 0 or 1. */
typedef enum tt_sharp_command_value {
  TT_SHARP_LEFT_DRIVE,
  TT_SHARP_RIGHT_DRIVE,
  TT_SHARP_ELEVATOR,
  TT_SHARP_BACK,
  TT_SHARP_GUIDE,
  TT_SHARP_START,
  TT_SHARP_COMMAND_VALUES
} tt_sharp_command_value;

/** Numbers of the vehicle's state: encoder counts, 0…1023. */
typedef enum tt_sharp_state_value {
  TT_SHARP_LEFT_ENCODER,
  TT_SHARP_RIGHT_ENCODER,
  TT_SHARP_ELEVATOR_ENCODER,
  TT_SHARP_STATE_VALUES
} tt_sharp_state_value;

/** Room for the numbers of any message. */
#define TT_SHARP_MAX_VALUES TT_JOYSTICK_VALUES

/** One key of a message: a number, or an array of `count` numbers where `array`. */
typedef struct tt_sharp_key {
  const char *name;
  bool array;
  int count;
  int lower, upper; /**< a value outside is refused */
  int digits;       /**< columns of each number, sign included */
  const char *unit; /**< for people; "": none */
} tt_sharp_key;

/** What later programs of the same kind call a flag; read, never sent. */
typedef struct tt_sharp_alias {
  const char *name;
  int value; /**< index of the number that it is */
} tt_sharp_alias;

/** One kind of message. */
typedef struct tt_sharp_format {
  const char *name; /**< for people: "vehicle command" */
  const tt_sharp_key *keys;
  int key_count;
  int value_count;
  const tt_sharp_alias *aliases;
  int alias_count;
} tt_sharp_format;

extern const tt_sharp_format tt_sharp_joystick_format;  /**< joystick → core, 154 bytes */
extern const tt_sharp_format tt_sharp_command_format;   /**< core → vehicle, 124 bytes */
extern const tt_sharp_format tt_sharp_state_format;     /**< vehicle → core, 80 bytes */
extern const tt_sharp_format tt_sharp_heartbeat_format; /**< core → joystick, "{}" */

typedef enum tt_sharp_style {
  TT_SHARP_COLUMNS, /**< as the originals: single quotes, every number in its fixed columns */
  TT_SHARP_JSON,    /**< proper JSON of the same keys */
} tt_sharp_style;

/** "columns" or "json" as a style; false for anything else. */
bool tt_sharp_style_parse(const char *text, tt_sharp_style *style);

/** Writes the message into `text` (TT_SHARP_MAX_TEXT bytes, terminated) and returns its length in bytes
 *  without the terminator, which is not sent. Values beyond their range are clamped into it. */
size_t tt_sharp_encode(const tt_sharp_format *format, tt_sharp_style style, const int *values,
                       char *text);

/** The alias of number `value`, or NULL. */
const tt_sharp_alias *tt_sharp_alias_of(const tt_sharp_format *format, int value);

/** Room for the names of keys that mean nothing here. */
#define TT_SHARP_UNKNOWN_TEXT 200

/** Reads a message tolerantly: any spacing, order and quotes, leading zeros, aliases (of a flag and its alias in one message
 *  either may be 1), unknown keys. Missing keys leave their `values` as they are. `unknown` (TT_SHARP_UNKNOWN_TEXT
 *  bytes, or NULL) gets the names of the unknown keys, separated by commas. On TT_BAD_MESSAGE nothing in `values` has changed and `fault`
 *  says why. (json-c allocates while it parses; nothing is kept.) */
tt_status tt_sharp_decode(const tt_sharp_format *format, const uint8_t *bytes, size_t size,
                          int *values, char *unknown, tt_refusal *fault);

#endif

/* message.h: the messages that robot programs on WPILib's HALSim exchange with a simulator: one JSON object in a frame,
 * {"type": T, "device": D, "data": {KEY: VALUE, …}}. A key begins with who gives the value: "<" the program, ">" the
 * simulator, "<>" both. Seasons differ in keys only, so that each is told by its name.
 */
#ifndef TT_HALSIM_MESSAGE_H
#define TT_HALSIM_MESSAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

struct json_object;

/** Bytes of a message: an LED strip of 5,460 is the longest that the HAL has, and a program writes each in 34 bytes, with a line
 * for every number. */
#define TT_HALSIM_MOST_BYTES (256 << 10)
#define TT_HALSIM_MOST_VALUES 64 /**< of a message */
#define TT_HALSIM_NAME 128       /**< bytes of the longest type, device or key, with its 0 */

/** What a value is. A peer of season 2027 takes nothing else than the sort it has. */
typedef enum tt_halsim_sort {
  TT_HALSIM_NOTHING, /**< null, which stands for a number that is none */
  TT_HALSIM_FLAG,
  TT_HALSIM_WHOLE,
  TT_HALSIM_NUMBER,
  TT_HALSIM_TEXT,  /**< of an enumeration */
  TT_HALSIM_OTHER, /**< an array or object, as of LEDs */
} tt_halsim_sort;

/** One value of a device. */
typedef struct tt_halsim_value {
  const char *key; /**< with its prefix */
  tt_halsim_sort sort;
  double number;            /**< finite; of a flag 0 or 1; 0 of what is no number */
  struct json_object *json; /**< of a message that was read: the value itself; else NULL */
} tt_halsim_value;

/** A message that was read. Its texts live until tt_halsim_message_clear(). */
typedef struct tt_halsim_message {
  struct json_object *whole;
  struct json_object *data; /**< its members are the values */
  const char *type, *device;
} tt_halsim_message;

/** Reads one message. Keys beside the three are ignored.
 *  @return TT_INVALID: `error` says what is wrong, and nothing is to be cleared; TT_NOMEM */
tt_status tt_halsim_read(const char *text, size_t size, tt_halsim_message *message,
                         tt_error *error);
void tt_halsim_message_clear(tt_halsim_message *message);

/** Its values, at most TT_HALSIM_MOST_VALUES, which is how many a message has that was read. Returns how many. */
int tt_halsim_values(const tt_halsim_message *message,
                     tt_halsim_value values[TT_HALSIM_MOST_VALUES]);

/** What json-c holds under `key` of `data`. */
tt_halsim_value tt_halsim_value_of(const char *key, struct json_object *json);

/** The three prefixes: how many bytes of `key` are one, 0 to 2. */
int tt_halsim_prefix(const char *key);

/** Writes a message of `count` values as text, which ends with 0. Numbers that are not finite do not exist here.
 *  @return bytes without the 0; 0: `capacity` does not suffice, or out of memory */
size_t tt_halsim_write(const char *type, const char *device, const tt_halsim_value *values,
                       int count, char *text, size_t capacity);

/** The same with `data` as it is, which it takes over. */
size_t tt_halsim_write_data(const char *type, const char *device, struct json_object *data,
                            char *text, size_t capacity);

#endif

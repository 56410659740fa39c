/* json.h: a JSON object that comes from outside, read whole or refused; and its members, a line each, for those who
 * build or read one with json-c, which escapes whatever a text holds.
 */
#ifndef TT_BASE_JSON_H
#define TT_BASE_JSON_H

#include "base/status.h"

#include <json-c/json.h>

#include <stdbool.h>
#include <stdint.h>

#define TT_JSON_MOST_DEPTH 16 /**< objects and arrays within each other */
/** Objects and arrays in all: one of two bytes takes hundreds of them in memory. */
#define TT_JSON_MOST_OBJECTS 32768

/** How much is forgiven. */
typedef enum tt_json_manner {
  TT_JSON_STRICT, /**< JSON to the letter */
  TT_JSON_TOLERANT, /**< also single quotes and leading zeros, as programs of the field have sent them */
} tt_json_manner;

/** Reads what anybody may have sent: one object in UTF-8 without comments, nothing but blanks behind it, and no key
 *  twice in an object, since readers disagree on which of the two counts.
 *  @param size of `text` in bytes; whoever took it in has bounded it
 *  @param object the caller's to json_object_put(); NULL unless TT_OK
 *  @return TT_INVALID: `error` says at which byte, counted from 0, and why; TT_NOMEM */
tt_status tt_json_read(const char *text, size_t size, tt_json_manner manner,
                       struct json_object **object, tt_error *error);

/* Members of `to`, which may be NULL: out of memory, and so is what stands there. */

/** Takes `value` over; NULL becomes null. */
void tt_json_add(struct json_object *to, const char *key, struct json_object *value);
/** NULL becomes null. */
void tt_json_add_text(struct json_object *to, const char *key, const char *value);
void tt_json_add_int(struct json_object *to, const char *key, int64_t value);
void tt_json_add_uint(struct json_object *to, const char *key, uint64_t value);
/** With 17 digits where they are needed. */
void tt_json_add_double(struct json_object *to, const char *key, double value);
void tt_json_add_bool(struct json_object *to, const char *key, bool value);
/** An empty array, which belongs to the object; NULL: out of memory. */
struct json_object *tt_json_add_array(struct json_object *to, const char *key);

/** Of JSON from anywhere: the text under `key`, the object's; "" where it is missing or null, or `from` no object. */
const char *tt_json_text(struct json_object *from, const char *key);
/** The list under `key`, the object's; NULL, of length 0, where there is none. */
struct json_object *tt_json_list(struct json_object *from, const char *key, size_t *length);

#endif

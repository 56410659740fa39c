/* json.h: the members of a JSON object, a line each, for those who build or read one with json-c, which escapes
 * whatever a text holds.
 */
#ifndef TT_CORE_JSON_H
#define TT_CORE_JSON_H

#include <json-c/json.h>

#include <stdbool.h>
#include <stdint.h>

/** NULL becomes null. */
void tt_json_add_text(struct json_object *to, const char *key, const char *value);
void tt_json_add_int(struct json_object *to, const char *key, int64_t value);
/** With 17 digits where they are needed. */
void tt_json_add_double(struct json_object *to, const char *key, double value);
void tt_json_add_bool(struct json_object *to, const char *key, bool value);
/** An empty array, which belongs to the object. */
struct json_object *tt_json_add_array(struct json_object *to, const char *key);

/** Of JSON from anywhere: the text under `key`, the object's; "" where it is missing or null, or `from` no object. */
const char *tt_json_text(struct json_object *from, const char *key);
/** The list under `key`, the object's; NULL, of length 0, where there is none. */
struct json_object *tt_json_list(struct json_object *from, const char *key, size_t *length);

#endif

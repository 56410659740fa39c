/* json.c */
#include "core/json.h"

void tt_json_add_text(struct json_object *to, const char *key, const char *value) {
  json_object_object_add(to, key, value ? json_object_new_string(value) : NULL);
}

void tt_json_add_int(struct json_object *to, const char *key, int64_t value) {
  json_object_object_add(to, key, json_object_new_int64(value));
}

void tt_json_add_double(struct json_object *to, const char *key, double value) {
  json_object_object_add(to, key, json_object_new_double(value));
}

void tt_json_add_bool(struct json_object *to, const char *key, bool value) {
  json_object_object_add(to, key, json_object_new_boolean(value));
}

struct json_object *tt_json_add_array(struct json_object *to, const char *key) {
  struct json_object *array = json_object_new_array();
  json_object_object_add(to, key, array);
  return array;
}

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

const char *tt_json_text(struct json_object *from, const char *key) {
  struct json_object *value;
  bool given = json_object_object_get_ex(from, key, &value) && value;
  return given ? json_object_get_string(value) : "";
}

struct json_object *tt_json_list(struct json_object *from, const char *key, size_t *length) {
  struct json_object *list;
  bool given =
      json_object_object_get_ex(from, key, &list) && json_object_is_type(list, json_type_array);
  *length = given ? json_object_array_length(list) : 0;
  return given ? list : NULL;
}

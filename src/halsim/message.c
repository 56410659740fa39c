/* message.c: HALSim's messages, read and written by json-c. */
#include "halsim/message.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

int tt_halsim_prefix(const char *key) {
  if (key[0] == '<') return key[1] == '>' ? 2 : 1;
  return key[0] == '>';
}

tt_halsim_value tt_halsim_value_of(const char *key, struct json_object *json) {
  tt_halsim_value value = {.key = key, .sort = TT_HALSIM_OTHER, .json = json};
  switch (json_object_get_type(json)) {
    case json_type_null: value.sort = TT_HALSIM_NOTHING; break;
    case json_type_boolean:
      value.sort = TT_HALSIM_FLAG;
      value.number = json_object_get_boolean(json);
      break;
    case json_type_int:
      value.sort = TT_HALSIM_WHOLE;
      value.number = (double)json_object_get_int64(json);
      break;
    case json_type_double:
      value.sort = TT_HALSIM_NUMBER;
      value.number = json_object_get_double(json);
      break;
    case json_type_string: value.sort = TT_HALSIM_TEXT; break;
    default: break;
  }
  return value;
}

static tt_status read_name(struct json_object *whole, const char *key, const char **name,
                           tt_error *error) {
  struct json_object *value;
  if (!json_object_object_get_ex(whole, key, &value) ||
      !json_object_is_type(value, json_type_string))
    return tt_fail(error, TT_INVALID, "'%s' is missing, or no text", key);
  *name = json_object_get_string(value);
  if (strlen(*name) != (size_t)json_object_get_string_len(value))
    return tt_fail(error, TT_INVALID, "'%s' has a 0 within", key);
  if (strlen(*name) >= TT_HALSIM_NAME)
    return tt_fail(error, TT_INVALID, "'%s' is longer than %d bytes", key, TT_HALSIM_NAME - 1);
  return TT_OK;
}

/* A number too large for a double is infinite to json-c. */
static tt_status check_values(struct json_object *data, tt_error *error) {
  if (json_object_object_length(data) > TT_HALSIM_MOST_VALUES)
    return tt_fail(error, TT_INVALID, "more than %d values", TT_HALSIM_MOST_VALUES);
  json_object_object_foreach(data, key, json) {
    if (strlen(key) >= TT_HALSIM_NAME)
      return tt_fail(error, TT_INVALID, "a key is longer than %d bytes", TT_HALSIM_NAME - 1);
    if (!isfinite(tt_halsim_value_of(key, json).number))
      return tt_fail(error, TT_INVALID, "'%s' is not a finite number", key);
  }
  return TT_OK;
}

static tt_status take_apart(tt_halsim_message *message, tt_error *error) {
  TT_TRY(read_name(message->whole, "type", &message->type, error));
  if (!*message->type) return tt_fail(error, TT_INVALID, "'type' is empty");
  TT_TRY(read_name(message->whole, "device", &message->device, error));
  if (!json_object_object_get_ex(message->whole, "data", &message->data) ||
      !json_object_is_type(message->data, json_type_object))
    return tt_fail(error, TT_INVALID, "'data' is missing, or no object");
  return check_values(message->data, error);
}

tt_status tt_halsim_read(const char *text, size_t size, tt_halsim_message *message,
                         tt_error *error) {
  *message = (tt_halsim_message){.whole = NULL};
  if (size > TT_HALSIM_MOST_BYTES)
    return tt_fail(error, TT_INVALID, "longer than %d bytes", TT_HALSIM_MOST_BYTES);
  TT_TRY(tt_json_read(text, size, TT_JSON_STRICT, &message->whole, error));
  tt_status status = take_apart(message, error);
  if (status != TT_OK) tt_halsim_message_clear(message);
  return status;
}

void tt_halsim_message_clear(tt_halsim_message *message) {
  json_object_put(message->whole);
  *message = (tt_halsim_message){.whole = NULL};
}

int tt_halsim_values(const tt_halsim_message *message,
                     tt_halsim_value values[TT_HALSIM_MOST_VALUES]) {
  int count = 0;
  json_object_object_foreach(message->data, key, json) values[count++] =
      tt_halsim_value_of(key, json);
  return count;
}

static void add_value(struct json_object *to, const tt_halsim_value *value) {
  switch (value->sort) {
    case TT_HALSIM_FLAG: tt_json_add_bool(to, value->key, value->number >= 0.5); break;
    case TT_HALSIM_WHOLE: tt_json_add_int(to, value->key, llround(value->number)); break;
    case TT_HALSIM_NUMBER: tt_json_add_double(to, value->key, value->number); break;
    default: tt_json_add(to, value->key, json_object_get(value->json)); break;
  }
}

size_t tt_halsim_write_data(const char *type, const char *device, struct json_object *data,
                            char *text, size_t capacity) {
  struct json_object *whole = json_object_new_object();
  if (!whole || json_object_object_add(whole, "data", data) != 0) {
    json_object_put(whole);
    json_object_put(data);
    return 0;
  }
  tt_json_add_text(whole, "type", type);
  tt_json_add_text(whole, "device", device);
  size_t size = 0;
  const char *written = json_object_to_json_string_length(
      whole, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &size);
  bool fits = written && size < capacity;
  if (fits) memcpy(text, written, size + 1);
  json_object_put(whole);
  return fits ? size : 0;
}

size_t tt_halsim_write(const char *type, const char *device, const tt_halsim_value *values,
                       int count, char *text, size_t capacity) {
  struct json_object *data = json_object_new_object();
  if (!data) return 0;
  for (int i = 0; i < count; i++) add_value(data, &values[i]);
  return tt_halsim_write_data(type, device, data, text, capacity);
}

#include "nt4/control.h"

#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PERIODIC_DEFAULT 0.1 /* s */
#define PERIODIC_LEAST 0.005
#define PERIODIC_GREATEST 3600.0

tt_status tt_nt4_read_frame(const char *text, size_t size, struct json_object **frame,
                            tt_error *error) {
  /* One reader of what comes from outside takes objects: the array becomes the only member of one. */
  static const char before[] = "{\"frame\":", after[] = "}";
  struct json_object *object = NULL;
  *frame = NULL;
  char *wrapped = malloc(size + sizeof before + sizeof after);
  if (!wrapped) return tt_fail(error, TT_NOMEM, "out of memory");
  memcpy(wrapped, before, sizeof before - 1);
  memcpy(wrapped + sizeof before - 1, text, size);
  memcpy(wrapped + sizeof before - 1 + size, after, sizeof after);
  tt_status status = tt_json_read(wrapped, size + sizeof before - 1 + sizeof after - 1,
                                  TT_JSON_STRICT, &object, error);
  free(wrapped);
  if (status == TT_NOMEM) return status;
  if (status != TT_OK) return TT_BAD_MESSAGE;
  struct json_object *array = json_object_object_get(object, "frame");
  if (json_object_object_length(object) == 1 && json_object_is_type(array, json_type_array))
    *frame = json_object_get(array);
  json_object_put(object);
  return *frame ? TT_OK : tt_fail(error, TT_BAD_MESSAGE, "no JSON array");
}

static bool read_text(struct json_object *from, const char *key, const char **text) {
  struct json_object *found = json_object_object_get(from, key);
  if (!json_object_is_type(found, json_type_string)) return false;
  *text = json_object_get_string(found);
  return strlen(*text) == (size_t)json_object_get_string_len(found); /* no NUL within */
}

static bool read_name(struct json_object *from, const char **name) {
  return read_text(from, "name", name) && **name && strlen(*name) < TT_NT4_NAME;
}

/* Numbers of clients are of 32 bits; JavaScript may send 1.0 for 1. */
static bool read_uid(struct json_object *from, const char *key, int64_t *uid) {
  struct json_object *found = json_object_object_get(from, key);
  double value = json_object_get_double(found);
  if (!json_object_is_type(found, json_type_int) && !json_object_is_type(found, json_type_double))
    return false;
  *uid = value >= INT32_MIN && value <= INT32_MAX ? (int64_t)value : INT64_MAX;
  return value == (double)*uid;
}

static bool read_publish(struct json_object *params, tt_nt4_request *request) {
  request->method = TT_NT4_PUBLISH;
  request->properties = json_object_object_get(params, "properties");
  return read_name(params, &request->name) && read_text(params, "type", &request->type) &&
         *request->type && strlen(request->type) < TT_NT4_NAME &&
         read_uid(params, "pubuid", &request->uid) &&
         (!request->properties || json_object_is_type(request->properties, json_type_object));
}

static bool read_set_properties(struct json_object *params, tt_nt4_request *request) {
  request->method = TT_NT4_SET_PROPERTIES;
  request->properties = json_object_object_get(params, "update");
  return read_name(params, &request->name) &&
         json_object_is_type(request->properties, json_type_object);
}

static bool flag(struct json_object *options, const char *key) {
  struct json_object *found = json_object_object_get(options, key);
  return json_object_is_type(found, json_type_boolean) && json_object_get_boolean(found);
}

static bool are_names(struct json_object *topics) {
  if (!json_object_is_type(topics, json_type_array)) return false;
  size_t count = json_object_array_length(topics);
  if (count > TT_NT4_NAMES_A_REQUEST) return false;
  for (size_t i = 0; i < count; i++) {
    struct json_object *name = json_object_array_get_idx(topics, i);
    if (!json_object_is_type(name, json_type_string) ||
        json_object_get_string_len(name) >= TT_NT4_NAME)
      return false;
  }
  return true;
}

static bool read_subscribe(struct json_object *params, tt_nt4_request *request) {
  struct json_object *options = json_object_object_get(params, "options");
  struct json_object *periodic = json_object_object_get(options, "periodic");
  request->method = TT_NT4_SUBSCRIBE;
  request->topics = json_object_object_get(params, "topics");
  request->periodic = periodic ? json_object_get_double(periodic) : PERIODIC_DEFAULT;
  if (!(request->periodic >= PERIODIC_LEAST)) request->periodic = PERIODIC_LEAST;
  request->periodic = fmin(request->periodic, PERIODIC_GREATEST);
  request->all = flag(options, "all");
  request->topics_only = flag(options, "topicsonly");
  request->prefix = flag(options, "prefix");
  return are_names(request->topics) && read_uid(params, "subuid", &request->uid);
}

/* The parameters of a message; NULL: it is malformed. */
static struct json_object *read_message(struct json_object *frame, size_t index,
                                        const char **method) {
  struct json_object *message = json_object_array_get_idx(frame, index);
  if (!json_object_is_type(message, json_type_object) || !read_text(message, "method", method))
    return NULL;
  struct json_object *params = json_object_object_get(message, "params");
  return json_object_is_type(params, json_type_object) ? params : NULL;
}

tt_status tt_nt4_read_announcement(struct json_object *frame, size_t index,
                                   tt_nt4_announcement *said) {
  const char *method;
  struct json_object *params = read_message(frame, index, &method);
  *said = (tt_nt4_announcement){.gone = false};
  if (!params) return TT_BAD_MESSAGE;
  said->gone = strcmp(method, "unannounce") == 0;
  if (!said->gone && strcmp(method, "announce") != 0) return TT_BAD_MESSAGE;
  bool good = read_text(params, "name", &said->name) && read_uid(params, "id", &said->id);
  return good ? TT_OK : TT_BAD_MESSAGE;
}

tt_status tt_nt4_read_request(struct json_object *frame, size_t index, tt_nt4_request *request) {
  const char *method;
  struct json_object *params = read_message(frame, index, &method);
  bool good = false;
  *request = (tt_nt4_request){.uid = 0};
  if (!params) return TT_BAD_MESSAGE;
  if (strcmp(method, "publish") == 0) {
    good = read_publish(params, request);
  } else if (strcmp(method, "unpublish") == 0) {
    request->method = TT_NT4_UNPUBLISH;
    good = read_uid(params, "pubuid", &request->uid);
  } else if (strcmp(method, "setproperties") == 0) {
    good = read_set_properties(params, request);
  } else if (strcmp(method, "subscribe") == 0) {
    good = read_subscribe(params, request);
  } else if (strcmp(method, "unsubscribe") == 0) {
    request->method = TT_NT4_UNSUBSCRIBE;
    good = read_uid(params, "subuid", &request->uid);
  }
  return good ? TT_OK : TT_BAD_MESSAGE;
}

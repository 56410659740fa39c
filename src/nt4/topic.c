#include "nt4/topic_internal.h"

#include "base/clock.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

bool nt4_topic_init(nt4_topic *topic, const char *name, const char *type, const char *unit) {
  *topic = (nt4_topic){.name = strdup(name),
                       .type = strdup(type),
                       .number = tt_nt4_type_of(type),
                       .properties = json_object_new_object()};
  if (topic->name && topic->type && topic->properties) {
    if (unit) tt_json_add_text(topic->properties, "unit", unit);
    return true;
  }
  nt4_topic_clear(topic);
  return false;
}

void nt4_topic_clear(nt4_topic *topic) {
  free(topic->name);
  free(topic->type);
  json_object_put(topic->properties);
  tt_bytes_free(&topic->value);
}

bool nt4_topic_has(const nt4_topic *topic, const tt_bytes *value) {
  return topic->version && topic->value.size == value->size &&
         memcmp(topic->value.data, value->data, value->size) == 0;
}

bool nt4_topic_keep(nt4_topic *topic, const void *value, size_t size, int64_t time) {
  size_t old = topic->value.size;
  tt_bytes_append(&topic->value, value, size);
  if (topic->value.failed) {
    tt_bytes_cut(&topic->value, old);
    return false;
  }
  memmove(topic->value.data, topic->value.data + old, size);
  tt_bytes_cut(&topic->value, size);
  topic->time = time;
  topic->version++;
  return true;
}

bool nt4_topic_put(const nt4_topic *topic, int64_t id, int64_t time, tt_bytes *to) {
  size_t before = to->size;
  tt_nt4_put_message(to, &(tt_nt4_message){.id = id,
                                           .time = time,
                                           .type = topic->number,
                                           .value = topic->value.data,
                                           .value_size = topic->value.size});
  if (!to->failed) return true;
  tt_bytes_cut(to, before);
  return false;
}

int64_t nt4_now(void) { return (int64_t)(tt_monotonic_ns() / 1000); }

void nt4_say(struct json_object **frame, const char *method, struct json_object *params) {
  struct json_object *message = params ? json_object_new_object() : NULL;
  if (!*frame) *frame = json_object_new_array();
  tt_json_add_text(message, "method", method);
  tt_json_add(message, "params", params);
  if (!message || !*frame || json_object_array_add(*frame, message) != 0) json_object_put(message);
}

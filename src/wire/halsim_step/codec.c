/* codec.c */
#include "wire/halsim_step/codec.h"

#include <json-c/json.h>

#include <stdio.h>
#include <string.h>

/* --- what comes --- */

tt_status tt_step_frame(const uint8_t *bytes, size_t size, const uint8_t **body, size_t *body_size,
                        size_t *used, tt_error *error) {
  if (size < TT_STEP_LENGTH) return TT_AGAIN;
  size_t length = tt_step_get_length(bytes);
  if (length > TT_STEP_MOST_BYTES)
    return tt_fail(error, TT_INVALID,
                   "a frame of %zu bytes, and %zu are the most: is that tether-halsim.so?", length,
                   TT_STEP_MOST_BYTES);
  if (size - TT_STEP_LENGTH < length) return TT_AGAIN;
  *body = bytes + TT_STEP_LENGTH;
  *body_size = length;
  *used = TT_STEP_LENGTH + length;
  return TT_OK;
}

tt_status tt_step_line(const uint8_t *body, size_t body_size, size_t *at, const char **text,
                       size_t *size, tt_error *error) {
  if (*at == body_size) return TT_END;
  const uint8_t *end = memchr(body + *at, '\n', body_size - *at);
  if (!end)
    return tt_fail(error, TT_INVALID, "byte %zu of a frame: no line feed ends its last message",
                   *at);
  *text = (const char *)body + *at;
  *size = (size_t)(end - body) - *at;
  *at += *size + 1;
  return TT_OK;
}

static bool text_of(struct json_object *data, const char *key, tt_step_head *head) {
  struct json_object *value;
  if (!json_object_object_get_ex(data, key, &value) ||
      !json_object_is_type(value, json_type_string))
    return false;
  snprintf(head->text, sizeof head->text, "%s", json_object_get_string(value));
  return true;
}

static bool whole_of(struct json_object *data, const char *key, int64_t *whole) {
  struct json_object *value;
  if (!json_object_object_get_ex(data, key, &value) || !json_object_is_type(value, json_type_int))
    return false;
  *whole = json_object_get_int64(value);
  return *whole >= 0;
}

tt_status tt_step_read_head(const tt_halsim_message *message, tt_step_head *head, tt_error *error) {
  *head = (tt_step_head){.kind = TT_STEP_ANSWER};
  if (strcmp(message->type, TT_STEP_TYPE) != 0)
    return tt_fail(error, TT_INVALID, "a frame begins with a message of type '%.40s', not '%s'",
                   message->type, TT_STEP_TYPE);
  if (whole_of(message->data, TT_STEP_KEY_TIME, &head->time)) return TT_OK;
  if (whole_of(message->data, TT_STEP_KEY_VERSION, &head->version)) {
    head->kind = TT_STEP_HELLO;
    text_of(message->data, TT_STEP_KEY_PROGRAM, head);
    return TT_OK;
  }
  head->kind = TT_STEP_TROUBLE;
  if (text_of(message->data, TT_STEP_KEY_TROUBLE, head)) return TT_OK;
  head->kind = TT_STEP_END;
  if (text_of(message->data, TT_STEP_KEY_END, head)) return TT_OK;
  return tt_fail(error, TT_INVALID, "a frame's head has none of %s, %s, %s, %s",
                 TT_STEP_KEY_VERSION, TT_STEP_KEY_TIME, TT_STEP_KEY_TROUBLE, TT_STEP_KEY_END);
}

/* --- what goes --- */

void tt_step_begin(tt_bytes *to, uint64_t frame, int64_t microseconds) {
  static const uint8_t length[TT_STEP_LENGTH];
  char head[160];
  int size = snprintf(head, sizeof head,
                      "{\"type\":\"" TT_STEP_TYPE "\",\"device\":\"\",\"data\":{\"" TT_STEP_KEY_STEP
                      "\":%lld,\"" TT_STEP_KEY_FRAME "\":%llu}}",
                      (long long)microseconds, (unsigned long long)frame);
  tt_bytes_append(to, length, sizeof length);
  tt_step_add(to, head, (size_t)size);
}

void tt_step_add(tt_bytes *to, const char *text, size_t size) {
  tt_bytes_append(to, text, size);
  tt_bytes_append(to, "\n", 1);
}

bool tt_step_end(tt_bytes *to) {
  if (to->failed || to->size - TT_STEP_LENGTH > TT_STEP_MOST_BYTES) return false;
  tt_step_put_length(to->data, to->size - TT_STEP_LENGTH);
  return true;
}

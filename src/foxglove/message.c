#include "foxglove/message.h"

#include "base/json.h"

#include <math.h>
#include <string.h>

/* Opcodes of a server. */
enum { MESSAGE_DATA = 1, TIME = 2, SERVICE_CALL_RESPONSE = 3, PLAYBACK_STATE = 5 };

/* ---- text ---- */

static const struct {
  const char *name, *list;
  tt_foxglove_op op;
} operations[] = {
    {"subscribe", "subscriptions", TT_FOXGLOVE_SUBSCRIBE},
    {"unsubscribe", "subscriptionIds", TT_FOXGLOVE_UNSUBSCRIBE},
    {"advertise", "channels", TT_FOXGLOVE_ADVERTISE},
    {"unadvertise", "channelIds", TT_FOXGLOVE_UNADVERTISE},
    {"getParameters", "parameterNames", TT_FOXGLOVE_GET_PARAMETERS},
    {"setParameters", "parameters", TT_FOXGLOVE_SET_PARAMETERS},
    {"subscribeParameterUpdates", "parameterNames", TT_FOXGLOVE_FOLLOW_PARAMETERS},
    {"unsubscribeParameterUpdates", "parameterNames", TT_FOXGLOVE_LEAVE_PARAMETERS},
};

static tt_status take_request(tt_foxglove_request *request, tt_error *error) {
  const char *op = tt_json_text(request->frame, "op");
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(op, operations[i].name) != 0) continue;
    request->op = operations[i].op;
    request->items = tt_json_list(request->frame, operations[i].list, &request->count);
    request->id = tt_json_text(request->frame, "id");
    if (!request->items || request->count > TT_FOXGLOVE_MOST_ITEMS)
      return tt_fail(error, TT_BAD_MESSAGE, "%s: %s is to be a list of at most %d", op,
                     operations[i].list, TT_FOXGLOVE_MOST_ITEMS);
    return TT_OK;
  }
  return tt_fail(error, TT_BAD_MESSAGE, "op: it is missing, or not known here");
}

tt_status tt_foxglove_read_request(const char *text, size_t size, tt_foxglove_request *request,
                                   tt_error *error) {
  *request = (tt_foxglove_request){.count = 0};
  tt_status status = tt_json_read(text, size, TT_JSON_STRICT, &request->frame, error);
  if (status != TT_OK) return status == TT_NOMEM ? status : TT_BAD_MESSAGE;
  status = take_request(request, error);
  if (status == TT_OK) return TT_OK;
  json_object_put(request->frame);
  request->frame = NULL;
  return status;
}

bool tt_foxglove_number(struct json_object *value, double *number) {
  if (!json_object_is_type(value, json_type_int) && !json_object_is_type(value, json_type_double))
    return false;
  *number = json_object_get_double(value);
  return isfinite(*number);
}

static bool read_u32(struct json_object *value, uint32_t *number) {
  double wide;
  if (!tt_foxglove_number(value, &wide) || wide < 0 || wide > UINT32_MAX) return false;
  *number = (uint32_t)wide;
  return wide == (double)*number;
}

static bool read_text(struct json_object *value, const char **text) {
  if (!json_object_is_type(value, json_type_string)) return false;
  *text = json_object_get_string(value);
  size_t size = (size_t)json_object_get_string_len(value);
  return size < TT_FOXGLOVE_NAME && strlen(*text) == size;
}

static struct json_object *item(const tt_foxglove_request *request, size_t index) {
  return json_object_array_get_idx(request->items, index);
}

/* A member of an item that is an object. */
static struct json_object *member(const tt_foxglove_request *request, size_t index,
                                  const char *key) {
  struct json_object *value = NULL, *of = item(request, index);
  if (json_object_is_type(of, json_type_object)) json_object_object_get_ex(of, key, &value);
  return value;
}

bool tt_foxglove_read_subscription(const tt_foxglove_request *request, size_t index, uint32_t *id,
                                   uint32_t *channel) {
  return read_u32(member(request, index, "id"), id) &&
         read_u32(member(request, index, "channelId"), channel);
}

bool tt_foxglove_read_id(const tt_foxglove_request *request, size_t index, uint32_t *id) {
  return read_u32(item(request, index), id);
}

bool tt_foxglove_read_channel(const tt_foxglove_request *request, size_t index, uint32_t *id,
                              const char **topic, const char **encoding) {
  return read_u32(member(request, index, "id"), id) &&
         read_text(member(request, index, "topic"), topic) &&
         read_text(member(request, index, "encoding"), encoding);
}

bool tt_foxglove_read_name(const tt_foxglove_request *request, size_t index, const char **name) {
  return read_text(item(request, index), name);
}

bool tt_foxglove_read_parameter(const tt_foxglove_request *request, size_t index, const char **name,
                                double *value) {
  return read_text(member(request, index, "name"), name) &&
         tt_foxglove_number(member(request, index, "value"), value);
}

/* ---- binary, in ---- */

/* What is left of a message; a piece that is not there whole makes it `cut`. */
typedef struct reading {
  const uint8_t *at;
  size_t left;
  bool cut;
} reading;

static const uint8_t *take(reading *from, size_t size) {
  static const uint8_t nothing[8];
  const uint8_t *taken = from->at;
  if (from->cut || from->left < size) {
    from->cut = true;
    return nothing;
  }
  from->at += size;
  from->left -= size;
  return taken;
}

/* `size` is at most 8. */
static uint64_t take_uint(reading *from, size_t size) {
  const uint8_t *bytes = take(from, size);
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static const char *take_text(reading *from, size_t *size) {
  *size = (size_t)take_uint(from, 4);
  if (*size > from->left) from->cut = true;
  return (const char *)take(from, *size <= from->left ? *size : 0);
}

static void take_playback(reading *from, tt_foxglove_binary *message) {
  uint8_t command = (uint8_t)take_uint(from, 1);
  uint32_t bits = (uint32_t)take_uint(from, 4);
  float speed;
  memcpy(&speed, &bits, sizeof speed);
  message->pause = command == 1;
  message->speed = (double)speed;
  message->seeks = take_uint(from, 1) != 0;
  message->time = take_uint(from, 8);
  message->id = take_text(from, &message->id_size);
  if (command > 1 || !isfinite(message->speed)) from->cut = true;
}

tt_status tt_foxglove_read_binary(const uint8_t *bytes, size_t size, tt_foxglove_binary *message) {
  reading from = {.at = bytes, .left = size};
  *message = (tt_foxglove_binary){.kind = (tt_foxglove_kind)take_uint(&from, 1)};
  switch (message->kind) {
    case TT_FOXGLOVE_MESSAGE: message->channel = (uint32_t)take_uint(&from, 4); break;
    case TT_FOXGLOVE_CALL:
      message->service = (uint32_t)take_uint(&from, 4);
      message->call = (uint32_t)take_uint(&from, 4);
      message->encoding = take_text(&from, &message->encoding_size);
      break;
    case TT_FOXGLOVE_PLAYBACK: take_playback(&from, message); break;
    default: return TT_BAD_MESSAGE;
  }
  message->payload = from.at;
  message->payload_size = from.left;
  return from.cut ? TT_BAD_MESSAGE : TT_OK;
}

/* ---- binary, out ---- */

void tt_foxglove_put_message(tt_bytes *to, uint32_t subscription, uint64_t time_ns,
                             const void *payload, size_t size) {
  tt_bytes_append_le(to, MESSAGE_DATA, 1);
  tt_bytes_append_le(to, subscription, 4);
  tt_bytes_append_le(to, time_ns, 8);
  tt_bytes_append(to, payload, size);
}

void tt_foxglove_put_time(tt_bytes *to, uint64_t time_ns) {
  tt_bytes_append_le(to, TIME, 1);
  tt_bytes_append_le(to, time_ns, 8);
}

void tt_foxglove_put_answer(tt_bytes *to, uint32_t service, uint32_t call, const char *json) {
  static const char encoding[] = "json";
  tt_bytes_append_le(to, SERVICE_CALL_RESPONSE, 1);
  tt_bytes_append_le(to, service, 4);
  tt_bytes_append_le(to, call, 4);
  tt_bytes_append_le(to, sizeof encoding - 1, 4);
  tt_bytes_append(to, encoding, sizeof encoding - 1);
  tt_bytes_append(to, json, strlen(json));
}

void tt_foxglove_put_playback(tt_bytes *to, tt_foxglove_playing playing, uint64_t time_ns,
                              double speed, bool sought, const char *id, size_t id_size) {
  float narrow = (float)speed;
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  tt_bytes_append_le(to, PLAYBACK_STATE, 1);
  tt_bytes_append_le(to, playing, 1);
  tt_bytes_append_le(to, time_ns, 8);
  tt_bytes_append_le(to, bits, 4);
  tt_bytes_append_le(to, sought, 1);
  tt_bytes_append_le(to, id ? id_size : 0, 4);
  if (id) tt_bytes_append(to, id, id_size);
}

/* offer.c: what there is, and sending it. */
#include "foxglove/server_internal.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#define CHANNELS_A_FRAME 100

/* --- what there is --- */

/* Room for one more at `*list`, of `count` of `size` bytes. NULL: there is none. */
static void *one_more(void **list, int count, size_t size) {
  if (count >= TT_FOXGLOVE_MOST_CHANNELS) return NULL;
  void *moved = realloc(*list, (size_t)(count + 1) * size);
  if (!moved) return NULL;
  *list = moved;
  memset((char *)moved + (size_t)count * size, 0, size);
  return (char *)moved + (size_t)count * size;
}

int tt_foxglove_add_channel(tt_foxglove_server *server, const char *topic, const char *schema_name,
                            const char *schema) {
  foxglove_channel *made =
      one_more((void **)&server->channels, server->channel_count, sizeof *made);
  if (!made) return -1;
  *made = (foxglove_channel){
      .topic = strdup(topic), .schema_name = strdup(schema_name), .schema = strdup(schema)};
  server->channel_count++; /* freed with the others */
  return made->topic && made->schema_name && made->schema ? server->channel_count - 1 : -1;
}

int tt_foxglove_add_parameter(tt_foxglove_server *server, const char *name, double lower,
                              double upper) {
  foxglove_parameter *made =
      one_more((void **)&server->parameters, server->parameter_count, sizeof *made);
  if (!made) return -1;
  *made = (foxglove_parameter){.name = strdup(name), .lower = lower, .upper = upper};
  server->parameter_count++;
  return made->name ? server->parameter_count - 1 : -1;
}

int tt_foxglove_add_service(tt_foxglove_server *server, const char *name, const char *schema) {
  foxglove_service *made =
      one_more((void **)&server->services, server->service_count, sizeof *made);
  if (!made) return -1;
  *made = (foxglove_service){.name = strdup(name), .schema = strdup(schema)};
  server->service_count++;
  return made->name && made->schema ? server->service_count - 1 : -1;
}

/* --- what clients are told --- */

void foxglove_say(const foxglove_peer *to, struct json_object *object) {
  size_t size;
  const char *text =
      object ? json_object_to_json_string_length(object, JSON_C_TO_STRING_PLAIN, &size) : NULL;
  if (text) tt_websocket_send(to->websocket, true, text, size);
  json_object_put(object);
}

static struct json_object *operation(const char *op) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "op", op);
  return made;
}

void foxglove_tell(const foxglove_peer *to, int level, const char *text) {
  struct json_object *status = operation("status");
  tt_json_add_int(status, "level", level);
  tt_json_add_text(status, "message", text);
  foxglove_say(to, status);
}

static void add_item(struct json_object *list, struct json_object *item) {
  if (!list || !item || json_object_array_add(list, item) != 0) json_object_put(item);
}

static struct json_object *describe_channel(const foxglove_channel *channel, int id) {
  struct json_object *made = json_object_new_object();
  tt_json_add_int(made, "id", id);
  tt_json_add_text(made, "topic", channel->topic);
  tt_json_add_text(made, "encoding", "json");
  tt_json_add_text(made, "schemaName", channel->schema_name);
  tt_json_add_text(made, "schema", channel->schema);
  tt_json_add_text(made, "schemaEncoding", "jsonschema");
  return made;
}

static void advertise_channels(const foxglove_peer *to) {
  const tt_foxglove_server *server = to->server;
  for (int first = 0; first < server->channel_count; first += CHANNELS_A_FRAME) {
    struct json_object *said = operation("advertise");
    struct json_object *list = tt_json_add_array(said, "channels");
    for (int i = first; i < server->channel_count && i < first + CHANNELS_A_FRAME; i++)
      add_item(list, describe_channel(&server->channels[i], i));
    foxglove_say(to, said);
  }
}

static struct json_object *describe_json(const char *schema_name, const char *schema) {
  struct json_object *made = json_object_new_object();
  tt_json_add_text(made, "encoding", "json");
  tt_json_add_text(made, "schemaName", schema_name);
  tt_json_add_text(made, "schemaEncoding", "jsonschema");
  tt_json_add_text(made, "schema", schema);
  return made;
}

static void advertise_services(const foxglove_peer *to) {
  static const char answer[] =
      "{\"type\":\"object\",\"properties\":{\"success\":{\"type\":\"boolean\"},"
      "\"message\":{\"type\":\"string\"}}}";
  const tt_foxglove_server *server = to->server;
  struct json_object *said = operation("advertiseServices");
  struct json_object *list = tt_json_add_array(said, "services");
  for (int i = 0; i < server->service_count; i++) {
    struct json_object *made = json_object_new_object();
    tt_json_add_int(made, "id", i);
    tt_json_add_text(made, "name", server->services[i].name);
    tt_json_add_text(made, "type", "tether.Control");
    tt_json_add(made, "request", describe_json("tether.Control", server->services[i].schema));
    tt_json_add(made, "response", describe_json("tether.Answer", answer));
    add_item(list, made);
  }
  foxglove_say(to, said);
}

void foxglove_introduce(const foxglove_peer *to) {
  tt_websocket_send(to->websocket, true, to->server->info, strlen(to->server->info));
  advertise_channels(to);
  if (to->server->service_count > 0) advertise_services(to);
}

void foxglove_say_parameters(const foxglove_peer *to, const bool *chosen, const char *id) {
  struct json_object *said = operation("parameterValues");
  struct json_object *list = tt_json_add_array(said, "parameters");
  for (int i = 0; i < to->server->parameter_count; i++) {
    if (!chosen[i]) continue;
    struct json_object *made = json_object_new_object();
    tt_json_add_text(made, "name", to->server->parameters[i].name);
    tt_json_add_double(made, "value", to->server->parameters[i].value);
    tt_json_add_text(made, "type", "float64");
    add_item(list, made);
  }
  if (*id) tt_json_add_text(said, "id", id);
  foxglove_say(to, said);
}

/* --- messages --- */

static bool is_slow(const foxglove_peer *peer) {
  return tt_websocket_queued(peer->websocket) > FOXGLOVE_SLOW_AT;
}

bool tt_foxglove_is_wanted(const tt_foxglove_server *server, int channel, bool news) {
  for (const foxglove_peer *one = server->peers; one; one = one->next)
    for (int i = 0; i < one->subscription_count; i++)
      if (one->subscriptions[i].channel == channel && (news || !one->subscriptions[i].began))
        return true;
  return false;
}

/* False: it could not be sent. */
static bool send_message(tt_foxglove_server *server, const foxglove_peer *to, uint32_t subscription,
                         const tt_bytes *json) {
  tt_bytes_cut(&server->frame, 0);
  tt_foxglove_put_message(&server->frame, subscription, server->time, json->data, json->size);
  return !server->frame.failed &&
         tt_websocket_send(to->websocket, false, server->frame.data, server->frame.size) == TT_OK;
}

void tt_foxglove_publish(tt_foxglove_server *server, int channel, bool news, const tt_bytes *json) {
  if (json->failed) return;
  for (foxglove_peer *one = server->peers; one; one = one->next)
    for (int i = 0; i < one->subscription_count && !is_slow(one); i++) {
      foxglove_subscription *wish = &one->subscriptions[i];
      if (wish->channel == channel && (news || !wish->began))
        wish->began |= send_message(server, one, wish->id, json);
    }
}

tt_status tt_foxglove_keep(tt_foxglove_server *server, int index, const tt_bytes *json) {
  foxglove_channel *channel = &server->channels[index];
  tt_bytes *made = one_more((void **)&channel->kept, channel->kept_count, sizeof *made);
  if (!made) return TT_NOMEM;
  tt_bytes_append(made, json->data, json->size);
  if (json->failed || made->failed) {
    tt_bytes_free(made);
    return TT_NOMEM;
  }
  channel->kept_count++;
  return TT_OK;
}

void tt_foxglove_repeat_kept(tt_foxglove_server *server) {
  for (foxglove_peer *one = server->peers; one; one = one->next)
    for (int i = 0; i < one->subscription_count; i++) one->subscriptions[i].kept_sent = 0;
}

void tt_foxglove_set_time(tt_foxglove_server *server, uint64_t time_ns) {
  server->time = time_ns;
  tt_bytes_cut(&server->frame, 0);
  tt_foxglove_put_time(&server->frame, time_ns);
  for (foxglove_peer *one = server->peers; one && !server->frame.failed; one = one->next)
    if (!is_slow(one))
      tt_websocket_send(one->websocket, false, server->frame.data, server->frame.size);
}

void tt_foxglove_server_playback(tt_foxglove_server *server, tt_foxglove_playing playing,
                                 uint64_t time_ns, double speed, bool sought, const char *id,
                                 size_t id_size) {
  tt_bytes_cut(&server->frame, 0);
  tt_foxglove_put_playback(&server->frame, playing, time_ns, speed, sought, id, id_size);
  for (foxglove_peer *one = server->peers; one && !server->frame.failed; one = one->next)
    if (one->plays)
      tt_websocket_send(one->websocket, false, server->frame.data, server->frame.size);
}

void tt_foxglove_set_parameter(tt_foxglove_server *server, int parameter, double value) {
  if (server->parameters[parameter].value == value) return;
  server->parameters[parameter].value = value;
  for (foxglove_peer *one = server->peers; one; one = one->next)
    one->changed[parameter] = one->follows[parameter];
}

static void flush_kept(tt_foxglove_server *server, foxglove_peer *to) {
  for (int i = 0; i < to->subscription_count; i++) {
    foxglove_subscription *wish = &to->subscriptions[i];
    const foxglove_channel *channel = &server->channels[wish->channel];
    while (wish->kept_sent < channel->kept_count && !is_slow(to)) {
      if (!send_message(server, to, wish->id, &channel->kept[wish->kept_sent])) return;
      wish->kept_sent++;
    }
  }
}

static void flush_parameters(const tt_foxglove_server *server, foxglove_peer *to) {
  bool any = false;
  for (int i = 0; i < server->parameter_count; i++) any |= to->changed[i];
  if (!any || is_slow(to)) return;
  foxglove_say_parameters(to, to->changed, "");
  memset(to->changed, 0, (size_t)server->parameter_count * sizeof *to->changed);
}

void tt_foxglove_flush(tt_foxglove_server *server) {
  for (foxglove_peer *one = server->peers; one; one = one->next) {
    flush_kept(server, one);
    flush_parameters(server, one);
  }
}

/* --- the end --- */

static void free_channel(foxglove_channel *channel) {
  for (int i = 0; i < channel->kept_count; i++) tt_bytes_free(&channel->kept[i]);
  free(channel->kept);
  free(channel->topic);
  free(channel->schema_name);
  free(channel->schema);
}

void foxglove_clear_offer(tt_foxglove_server *server) {
  for (int i = 0; i < server->channel_count; i++) free_channel(&server->channels[i]);
  for (int i = 0; i < server->parameter_count; i++) free(server->parameters[i].name);
  for (int i = 0; i < server->service_count; i++) {
    free(server->services[i].name);
    free(server->services[i].schema);
  }
  free(server->channels);
  free(server->parameters);
  free(server->services);
}

/* server_topics.c: what there is, who wants it, and what they are sent of it. */
#include "nt4/server_internal.h"

#include <stdlib.h>
#include <string.h>

#define SLOW_AT ((size_t)1 << 20) /* bytes unsent beyond which values are left out */
#define FRAME_AT 65536u           /* bytes of values at which a frame leaves at once */
#define MESSAGES_A_FRAME 64       /* of text */

int64_t nt4_now(void) { return (int64_t)(tt_net_now() / 1000); }

/* --- topics --- */

int nt4_find_topic(const tt_nt4_server *server, const char *name) {
  for (int i = 0; i < server->topic_count; i++)
    if (!server->topics[i].gone && strcmp(server->topics[i].name, name) == 0) return i;
  return -1;
}

void nt4_clear_topic(nt4_topic *topic) {
  free(topic->name);
  free(topic->type);
  json_object_put(topic->properties);
  tt_bytes_free(&topic->value);
}

/* Room for a topic: behind the last, or, where there are too many, of one that is gone. −1: there is none. */
static int find_room(tt_nt4_server *server) {
  if (server->topic_count == TT_NT4_MOST_TOPICS) {
    for (int i = 0; i < server->topic_count; i++)
      if (server->topics[i].gone) return i;
    return -1;
  }
  if (server->topic_count < server->topic_capacity) return server->topic_count;
  int capacity = server->topic_capacity ? 2 * server->topic_capacity : 64;
  nt4_topic *moved = realloc(server->topics, (size_t)capacity * sizeof *moved);
  if (!moved) return -1;
  server->topics = moved;
  server->topic_capacity = capacity;
  return server->topic_count;
}

int nt4_add_topic(tt_nt4_server *server, const char *name, const char *type, bool own) {
  int room = find_room(server);
  if (room < 0) return -1;
  nt4_topic made = {.name = strdup(name),
                    .type = strdup(type),
                    .number = tt_nt4_type_of(type),
                    .properties = json_object_new_object(),
                    .own = own};
  if (!made.name || !made.type || !made.properties) {
    nt4_clear_topic(&made);
    return -1;
  }
  if (room < server->topic_count)
    nt4_clear_topic(&server->topics[room]);
  else
    server->topic_count++;
  server->topics[room] = made;
  return room;
}

int tt_nt4_topic(tt_nt4_server *server, const char *name, const char *type, const char *unit) {
  int made = nt4_add_topic(server, name, type, true);
  if (made < 0 || !unit) return made;
  nt4_member(server->topics[made].properties, "unit", json_object_new_string(unit));
  return made;
}

void nt4_remove_topic(tt_nt4_server *server, int index) {
  nt4_topic *topic = &server->topics[index];
  topic->gone = true;
  for (nt4_client *one = server->clients; one; one = one->next) {
    if (index >= one->interest_count || !one->interests[index].announced) continue;
    struct json_object *params = json_object_new_object();
    nt4_member(params, "name", json_object_new_string(topic->name));
    nt4_member(params, "id", json_object_new_int(index));
    nt4_say(one, "unannounce", params);
    one->interests[index] = (nt4_interest){.announced = false};
  }
}

/* --- what a client is told --- */

void nt4_send_said(nt4_client *to) {
  if (!to->said) return;
  size_t size;
  const char *text = json_object_to_json_string_length(to->said, JSON_C_TO_STRING_PLAIN, &size);
  if (text) tt_websocket_send(to->websocket, true, text, size);
  json_object_put(to->said);
  to->said = NULL;
}

void nt4_member(struct json_object *object, const char *key, struct json_object *value) {
  if (!object || !value || json_object_object_add(object, key, value) != 0) json_object_put(value);
}

void nt4_say(nt4_client *to, const char *method, struct json_object *params) {
  struct json_object *message = params ? json_object_new_object() : NULL;
  if (!to->said) to->said = json_object_new_array();
  nt4_member(message, "method", json_object_new_string(method));
  nt4_member(message, "params", params);
  if (!message || !to->said || json_object_array_add(to->said, message) != 0) {
    json_object_put(message);
    return;
  }
  if (json_object_array_length(to->said) >= MESSAGES_A_FRAME) nt4_send_said(to);
}

void nt4_announce(nt4_client *to, int index, const int64_t *pubuid) {
  const nt4_topic *topic = &to->server->topics[index];
  struct json_object *params = json_object_new_object();
  nt4_member(params, "name", json_object_new_string(topic->name));
  nt4_member(params, "id", json_object_new_int(index));
  nt4_member(params, "type", json_object_new_string(topic->type));
  nt4_member(params, "properties", json_object_get(topic->properties));
  if (pubuid) nt4_member(params, "pubuid", json_object_new_int64(*pubuid));
  nt4_say(to, "announce", params);
  to->interests[index].announced = true;
}

static void send_values(nt4_client *to) {
  if (to->values.size == 0) return;
  nt4_send_said(to); /* an announcement comes before its values */
  tt_websocket_send(to->websocket, false, to->values.data, to->values.size);
  tt_bytes_cut(&to->values, 0);
}

static bool is_slow(const nt4_client *to) { return tt_websocket_queued(to->websocket) > SLOW_AT; }

static void queue_value(nt4_client *to, int index) {
  const nt4_topic *topic = &to->server->topics[index];
  if (is_slow(to)) return; /* the newest follows when it has caught up */
  size_t before = to->values.size;
  tt_nt4_put_message(&to->values, &(tt_nt4_message){.id = index,
                                                    .time = topic->time,
                                                    .type = topic->number,
                                                    .value = topic->value.data,
                                                    .value_size = topic->value.size});
  if (to->values.failed) { /* none in pieces: it is tried again */
    tt_bytes_cut(&to->values, before);
    return;
  }
  to->interests[index].version = topic->version;
  if (to->values.size >= FRAME_AT) send_values(to);
}

/* --- who wants what --- */

static bool matches(const nt4_subscription *wish, const char *name) {
  size_t count = json_object_array_length(wish->names);
  for (size_t i = 0; i < count; i++) {
    const char *asked = json_object_get_string(json_object_array_get_idx(wish->names, i));
    if (!wish->prefix && strcmp(name, asked) == 0) return true;
    /* what begins with $ is for those who ask for it by name */
    if (wish->prefix && strncmp(name, asked, strlen(asked)) == 0 && (name[0] != '$' || *asked))
      return true;
  }
  return false;
}

bool nt4_grow_interests(nt4_client *who) {
  int count = who->server->topic_count;
  if (count <= who->interest_count) return true;
  nt4_interest *moved =
      realloc(who->interests, (size_t)who->server->topic_capacity * sizeof *moved);
  if (!moved) return false;
  memset(moved + who->interest_count, 0, (size_t)(count - who->interest_count) * sizeof *moved);
  who->interests = moved;
  who->interest_count = count;
  return true;
}

void nt4_weigh(nt4_client *who, int index) {
  const nt4_topic *topic = &who->server->topics[index];
  if (topic->gone || !nt4_grow_interests(who)) return;
  nt4_interest *interest = &who->interests[index];
  bool named = false;
  interest->wanted = interest->all = false;
  for (int i = 0; i < who->subscription_count; i++) {
    const nt4_subscription *wish = &who->subscriptions[i];
    if (!matches(wish, topic->name)) continue;
    named = true;
    interest->wanted |= !wish->topics_only;
    interest->all |= !wish->topics_only && wish->all;
  }
  if (named && !interest->announced) nt4_announce(who, index, NULL);
}

void nt4_weigh_all(nt4_client *who) {
  who->period = INT64_MAX;
  for (int i = 0; i < who->subscription_count; i++) {
    int64_t period = (int64_t)(who->subscriptions[i].periodic * 1e6);
    if (!who->subscriptions[i].topics_only && period < who->period) who->period = period;
  }
  who->next_flush = 0;
  for (int i = 0; i < who->server->topic_count; i++) nt4_weigh(who, i);
}

bool tt_nt4_is_wanted(const tt_nt4_server *server, int index) {
  for (const nt4_client *one = server->clients; one; one = one->next)
    if (index < one->interest_count && one->interests[index].wanted) return true;
  return false;
}

/* --- values --- */

void nt4_set_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                   const nt4_client *from) {
  nt4_topic *topic = &server->topics[index];
  size_t old = topic->value.size;
  tt_bytes_append(&topic->value, value, size);
  if (topic->value.failed) {
    tt_bytes_cut(&topic->value, old);
    return;
  }
  memmove(topic->value.data, topic->value.data + old, size);
  tt_bytes_cut(&topic->value, size);
  topic->time = time;
  topic->version++;
  for (nt4_client *one = server->clients; one; one = one->next) {
    if (index >= one->interest_count) continue;
    if (one == from) one->interests[index].version = topic->version; /* it knows */
    if (one != from && one->interests[index].all) queue_value(one, index);
  }
}

void tt_nt4_set(tt_nt4_server *server, int index, const tt_bytes *value) {
  const nt4_topic *topic = &server->topics[index];
  bool same = topic->version && topic->value.size == value->size &&
              memcmp(topic->value.data, value->data, value->size) == 0;
  if (same || value->failed) return;
  nt4_set_value(server, index, value->data, value->size, nt4_now(), NULL);
}

static void flush_client(nt4_client *one, int64_t now) {
  for (int i = 0; i < one->interest_count && !is_slow(one); i++) {
    const nt4_interest *interest = &one->interests[i];
    if (interest->wanted && interest->version != one->server->topics[i].version &&
        !one->server->topics[i].gone)
      queue_value(one, i);
  }
  nt4_send_said(one);
  send_values(one);
  one->next_flush = one->period > INT64_MAX - now ? INT64_MAX : now + one->period;
}

void tt_nt4_flush(tt_nt4_server *server) {
  int64_t now = nt4_now();
  for (nt4_client *one = server->clients; one; one = one->next)
    if (now >= one->next_flush) flush_client(one, now);
}

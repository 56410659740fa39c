/* server_topics.c: what there is, who wants it, and what they are sent of it. */
#include "nt4/server_internal.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* --- topics --- */

int nt4_find_topic(const tt_nt4_server *server, const char *name) {
  for (int i = 0; i < server->topic_count; i++)
    if (!server->topics[i].gone && strcmp(server->topics[i].name, name) == 0) return i;
  return -1;
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

int nt4_add_topic(tt_nt4_server *server, const char *name, const char *type, const char *unit) {
  int room = find_room(server);
  nt4_topic made;
  if (room < 0 || !nt4_topic_init(&made, name, type, unit)) return -1;
  if (room < server->topic_count)
    nt4_topic_clear(&server->topics[room]);
  else
    server->topic_count++;
  server->topics[room] = made;
  return room;
}

static int add(tt_nt4_sink *sink, const tt_nt4_spec *spec) {
  tt_nt4_server *server = (tt_nt4_server *)sink;
  int made = nt4_add_topic(server, spec->name, spec->type, spec->unit);
  if (made < 0) return -1;
  server->topics[made].own = true;
  server->topics[made].writable = spec->writable;
  return made;
}

void nt4_remove_topic(tt_nt4_server *server, int index) {
  nt4_topic *topic = &server->topics[index];
  topic->gone = true;
  server->kept -= topic->value.size;
  tt_bytes_free(&topic->value); /* nobody asks for it; its name is still told */
  for (nt4_peer *one = server->clients; one; one = one->next) {
    if (index >= one->interest_count || !one->interests[index].announced) continue;
    struct json_object *params = json_object_new_object();
    tt_json_add_text(params, "name", topic->name);
    tt_json_add_int(params, "id", index);
    nt4_tell(one, "unannounce", params);
    one->interests[index] = (nt4_interest){.announced = false};
  }
}

/* --- what a client is told --- */

void nt4_send_said(nt4_peer *to) {
  if (!to->said) return;
  size_t size;
  const char *text = json_object_to_json_string_length(to->said, JSON_C_TO_STRING_PLAIN, &size);
  if (text) tt_websocket_send(to->websocket, true, text, size);
  json_object_put(to->said);
  to->said = NULL;
}

void nt4_tell(nt4_peer *to, const char *method, struct json_object *params) {
  nt4_say(&to->said, method, params);
  if (to->said && json_object_array_length(to->said) >= NT4_MESSAGES_A_FRAME) nt4_send_said(to);
}

void nt4_announce(nt4_peer *to, int index, const int64_t *pubuid) {
  const nt4_topic *topic = &to->server->topics[index];
  struct json_object *params = json_object_new_object();
  tt_json_add_text(params, "name", topic->name);
  tt_json_add_int(params, "id", index);
  tt_json_add_text(params, "type", topic->type);
  tt_json_add(params, "properties", json_object_get(topic->properties));
  if (pubuid) tt_json_add_int(params, "pubuid", *pubuid);
  nt4_tell(to, "announce", params);
  to->interests[index].announced = true;
}

static void send_values(nt4_peer *to) {
  if (to->values.size == 0) return;
  nt4_send_said(to); /* an announcement comes before its values */
  tt_websocket_send(to->websocket, false, to->values.data, to->values.size);
  tt_bytes_cut(&to->values, 0);
}

static bool is_slow(const nt4_peer *to) { return tt_websocket_queued(to->websocket) > NT4_SLOW_AT; }

static void queue_value(nt4_peer *to, int index) {
  const nt4_topic *topic = &to->server->topics[index];
  if (is_slow(to)) return; /* the newest follows when it has caught up */
  if (!nt4_topic_put(topic, index, topic->time, &to->values)) return; /* it is tried again */
  to->interests[index].version = topic->version;
  if (to->values.size >= NT4_FRAME_AT) send_values(to);
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

bool nt4_grow_interests(nt4_peer *who) {
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

void nt4_weigh(nt4_peer *who, int index) {
  const nt4_topic *topic = &who->server->topics[index];
  if (topic->gone || !nt4_grow_interests(who)) return;
  nt4_interest *interest = &who->interests[index];
  bool named = false, before = interest->wanted;
  interest->wanted = interest->all = false;
  for (int i = 0; i < who->subscription_count; i++) {
    const nt4_subscription *wish = &who->subscriptions[i];
    if (!matches(wish, topic->name)) continue;
    named = true;
    interest->wanted |= !wish->topics_only;
    interest->all |= !wish->topics_only && wish->all;
  }
  if (interest->wanted && !before) interest->version = 0; /* who comes back begins anew */
  if (named && !interest->announced) nt4_announce(who, index, NULL);
}

void nt4_weigh_all(nt4_peer *who) {
  who->period = INT64_MAX;
  for (int i = 0; i < who->subscription_count; i++) {
    int64_t period = (int64_t)(who->subscriptions[i].periodic * 1e6);
    if (!who->subscriptions[i].topics_only && period < who->period) who->period = period;
  }
  who->next_flush = 0;
  for (int i = 0; i < who->server->topic_count; i++) nt4_weigh(who, i);
}

static bool is_wanted(const tt_nt4_sink *sink, int index) {
  const tt_nt4_server *server = (const tt_nt4_server *)sink;
  for (const nt4_peer *one = server->clients; one; one = one->next)
    if (index < one->interest_count && one->interests[index].wanted) return true;
  return false;
}

/* --- values --- */

void nt4_set_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                   const nt4_peer *from) {
  nt4_topic *topic = &server->topics[index];
  if (!nt4_topic_keep(topic, value, size, time)) return;
  topic->writer = from ? from->number : 0;
  for (nt4_peer *one = server->clients; one; one = one->next) {
    if (index >= one->interest_count) continue;
    if (one == from) one->interests[index].version = topic->version; /* it knows */
    if (one != from && one->interests[index].all) queue_value(one, index);
  }
}

void nt4_pass_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                    const nt4_peer *from) {
  const nt4_topic *topic = &server->topics[index];
  const tt_nt4_message passed = {
      .id = index, .time = time, .type = topic->number, .value = value, .value_size = size};
  for (nt4_peer *one = server->clients; one; one = one->next) {
    if (one == from || index >= one->interest_count || !one->interests[index].wanted) continue;
    if (one->interests[index].version != topic->version) queue_value(one, index); /* came before */
    size_t before = one->values.size;
    if (is_slow(one)) continue;
    tt_nt4_put_message(&one->values, &passed);
    if (one->values.failed) tt_bytes_cut(&one->values, before);
    if (one->values.size >= NT4_FRAME_AT) send_values(one);
  }
}

static void set(tt_nt4_sink *sink, int index, const tt_bytes *value) {
  tt_nt4_server *server = (tt_nt4_server *)sink;
  if (!value->failed && !nt4_topic_has(&server->topics[index], value))
    nt4_set_value(server, index, value->data, value->size, nt4_now(), NULL);
}

void nt4_fill_sink(tt_nt4_sink *sink) {
  sink->add = add;
  sink->is_wanted = is_wanted;
  sink->set = set;
}

static void flush_client(nt4_peer *one, int64_t now) {
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

void tt_nt4_server_flush(tt_nt4_server *server) {
  int64_t now = nt4_now();
  for (nt4_peer *one = server->clients; one; one = one->next)
    if (now >= one->next_flush) flush_client(one, now);
}

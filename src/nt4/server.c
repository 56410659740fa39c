/* server.c: who wants what, and gives it to them. What clients say is read in control.c and message.c. */
#include "nt4/server.h"

#include "base/log.h"
#include "nt4/control.h"
#include "websocket/websocket.h"

#include <json-c/json.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CLIENTS 16
#define CLIENT_NAME 128
#define MOST_MESSAGE ((size_t)2 << 20) /* bytes, as ntcore */
#define MOST_QUEUED ((size_t)4 << 20)  /* bytes, at which a client is cut */
#define SLOW_AT ((size_t)1 << 20)      /* bytes unsent beyond which values are left out */
#define FRAME_AT 65536u                /* bytes of values at which a frame leaves at once */
#define MESSAGES_A_FRAME 64            /* of text */
#define PING_PERIOD 0.2                /* s, of 4.1 */
#define PING_TIMEOUT 1.0

typedef struct topic {
  char *name, *type;
  tt_nt4_type number;
  struct json_object *properties;
  bool own;       /* ours; else clients' */
  bool gone;      /* no client publishes it any more */
  int publishers; /* clients */
  tt_nt4_bytes value;
  int64_t time;     /* µs, of the value */
  uint64_t version; /* of the value; 0: there is none yet */
} topic;

/* A topic, as one client sees it. */
typedef struct interest {
  bool announced, wanted, all;
  uint64_t version; /* sent last */
} interest;

typedef struct subscription {
  int64_t uid;
  struct json_object *names;
  double periodic; /* s */
  bool all, topics_only, prefix;
} subscription;

typedef struct publisher {
  int64_t uid;
  int topic;
} publisher;

typedef struct client {
  tt_nt4_server *server;
  struct client *next;
  tt_websocket *websocket;
  char name[CLIENT_NAME];
  interest *interests; /* by topic */
  int interest_count;
  subscription *subscriptions;
  publisher *publishers;
  int subscription_count, publisher_count;
  int64_t period, next_flush; /* µs */
  struct json_object *said;   /* text messages that wait; NULL: none */
  tt_nt4_bytes values;        /* binary ones */
} client;

struct tt_nt4_server {
  tt_net *net;
  tt_websocket_server *websockets;
  topic *topics;
  int topic_count, topic_capacity;
  client *clients;
  int client_count;
};

static int64_t now_us(void) { return (int64_t)(tt_net_now() / 1000); }

/* --- topics --- */

static int find_topic(const tt_nt4_server *server, const char *name) {
  for (int i = 0; i < server->topic_count; i++)
    if (!server->topics[i].gone && strcmp(server->topics[i].name, name) == 0) return i;
  return -1;
}

static void free_topic(topic *topic) {
  free(topic->name);
  free(topic->type);
  json_object_put(topic->properties);
  tt_nt4_bytes_free(&topic->value);
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
  topic *moved = realloc(server->topics, (size_t)capacity * sizeof *moved);
  if (!moved) return -1;
  server->topics = moved;
  server->topic_capacity = capacity;
  return server->topic_count;
}

static int add_topic(tt_nt4_server *server, const char *name, const char *type, bool own) {
  int room = find_room(server);
  if (room < 0) return -1;
  topic made = {.name = strdup(name),
                .type = strdup(type),
                .number = tt_nt4_type_of(type),
                .properties = json_object_new_object(),
                .own = own};
  if (!made.name || !made.type || !made.properties) {
    free_topic(&made);
    return -1;
  }
  if (room < server->topic_count)
    free_topic(&server->topics[room]);
  else
    server->topic_count++;
  server->topics[room] = made;
  return room;
}

int tt_nt4_topic(tt_nt4_server *server, const char *name, const char *type, const char *unit) {
  int made = add_topic(server, name, type, true);
  if (made < 0 || !unit) return made;
  struct json_object *text = json_object_new_string(unit);
  if (!text || json_object_object_add(server->topics[made].properties, "unit", text) != 0)
    json_object_put(text);
  return made;
}

/* --- what a client is told --- */

static void send_said(client *to) {
  if (!to->said) return;
  size_t size;
  const char *text = json_object_to_json_string_length(to->said, JSON_C_TO_STRING_PLAIN, &size);
  if (text) tt_websocket_send(to->websocket, true, text, size);
  json_object_put(to->said);
  to->said = NULL;
}

/* Takes `params` over. */
static void say(client *to, const char *method, struct json_object *params) {
  struct json_object *message = json_object_new_object();
  if (!to->said) to->said = json_object_new_array();
  json_object_object_add(message, "method", json_object_new_string(method));
  json_object_object_add(message, "params", params);
  json_object_array_add(to->said, message);
  if (json_object_array_length(to->said) >= MESSAGES_A_FRAME) send_said(to);
}

static void announce(client *to, int index, const int64_t *pubuid) {
  const topic *topic = &to->server->topics[index];
  struct json_object *params = json_object_new_object();
  json_object_object_add(params, "name", json_object_new_string(topic->name));
  json_object_object_add(params, "id", json_object_new_int(index));
  json_object_object_add(params, "type", json_object_new_string(topic->type));
  json_object_object_add(params, "properties", json_object_get(topic->properties));
  if (pubuid) json_object_object_add(params, "pubuid", json_object_new_int64(*pubuid));
  say(to, "announce", params);
  to->interests[index].announced = true;
}

static void send_values(client *to) {
  if (to->values.size == 0) return;
  send_said(to); /* an announcement comes before its values */
  tt_websocket_send(to->websocket, false, to->values.data, to->values.size);
  to->values.size = 0;
}

static bool is_slow(const client *to) { return tt_websocket_queued(to->websocket) > SLOW_AT; }

static void queue_value(client *to, int index) {
  const topic *topic = &to->server->topics[index];
  if (is_slow(to)) return; /* the newest follows when it has caught up */
  to->interests[index].version = topic->version;
  tt_nt4_put_message(&to->values, &(tt_nt4_message){.id = index,
                                                    .time = topic->time,
                                                    .type = topic->number,
                                                    .value = topic->value.data,
                                                    .value_size = topic->value.size});
  if (to->values.size >= FRAME_AT) send_values(to);
}

/* --- who wants what --- */

static bool matches(const subscription *wish, const char *name) {
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

static bool grow_interests(client *who) {
  int count = who->server->topic_count;
  if (count <= who->interest_count) return true;
  interest *moved = realloc(who->interests, (size_t)who->server->topic_capacity * sizeof *moved);
  if (!moved) return false;
  memset(moved + who->interest_count, 0, (size_t)(count - who->interest_count) * sizeof *moved);
  who->interests = moved;
  who->interest_count = count;
  return true;
}

static void weigh(client *who, int index) {
  const topic *topic = &who->server->topics[index];
  if (topic->gone || !grow_interests(who)) return;
  interest *interest = &who->interests[index];
  bool named = false;
  interest->wanted = interest->all = false;
  for (int i = 0; i < who->subscription_count; i++) {
    const subscription *wish = &who->subscriptions[i];
    if (!matches(wish, topic->name)) continue;
    named = true;
    interest->wanted |= !wish->topics_only;
    interest->all |= !wish->topics_only && wish->all;
  }
  if (named && !interest->announced) announce(who, index, NULL);
}

static void weigh_all(client *who) {
  who->period = INT64_MAX;
  for (int i = 0; i < who->subscription_count; i++) {
    int64_t period = (int64_t)(who->subscriptions[i].periodic * 1e6);
    if (!who->subscriptions[i].topics_only && period < who->period) who->period = period;
  }
  who->next_flush = 0;
  for (int i = 0; i < who->server->topic_count; i++) weigh(who, i);
}

bool tt_nt4_is_wanted(const tt_nt4_server *server, int index) {
  for (const client *one = server->clients; one; one = one->next)
    if (index < one->interest_count && one->interests[index].wanted) return true;
  return false;
}

/* --- values --- */

static void set_value(tt_nt4_server *server, int index, const void *value, size_t size,
                      int64_t time, const client *from) {
  topic *topic = &server->topics[index];
  topic->value.size = 0;
  tt_nt4_put(&topic->value, value, size);
  topic->time = time;
  topic->version++;
  for (client *one = server->clients; one; one = one->next) {
    if (index >= one->interest_count) continue;
    if (one == from) one->interests[index].version = topic->version; /* it knows */
    if (one != from && one->interests[index].all) queue_value(one, index);
  }
}

void tt_nt4_set(tt_nt4_server *server, int index, const tt_nt4_bytes *value) {
  const topic *topic = &server->topics[index];
  if (topic->version && topic->value.size == value->size &&
      memcmp(topic->value.data, value->data, value->size) == 0)
    return;
  set_value(server, index, value->data, value->size, now_us(), NULL);
}

static void flush_client(client *one, int64_t now) {
  for (int i = 0; i < one->interest_count && !is_slow(one); i++) {
    const interest *interest = &one->interests[i];
    if (interest->wanted && interest->version != one->server->topics[i].version &&
        !one->server->topics[i].gone)
      queue_value(one, i);
  }
  send_said(one);
  send_values(one);
  one->next_flush = one->period > INT64_MAX - now ? INT64_MAX : now + one->period;
}

void tt_nt4_flush(tt_nt4_server *server) {
  int64_t now = now_us();
  for (client *one = server->clients; one; one = one->next)
    if (now >= one->next_flush) flush_client(one, now);
}

/* --- what clients ask for --- */

static void unpublish(client *who, int position) {
  topic *topic = &who->server->topics[who->publishers[position].topic];
  int index = who->publishers[position].topic;
  who->publishers[position] = who->publishers[--who->publisher_count];
  topic->publishers--;
  struct json_object *kept = json_object_object_get(topic->properties, "retained");
  struct json_object *persistent = json_object_object_get(topic->properties, "persistent");
  if (topic->own || topic->publishers > 0 || json_object_get_boolean(kept) ||
      json_object_get_boolean(persistent))
    return;
  topic->gone = true;
  for (client *one = who->server->clients; one; one = one->next) {
    if (index >= one->interest_count || !one->interests[index].announced) continue;
    struct json_object *params = json_object_new_object();
    json_object_object_add(params, "name", json_object_new_string(topic->name));
    json_object_object_add(params, "id", json_object_new_int(index));
    say(one, "unannounce", params);
    one->interests[index] = (interest){.announced = false};
  }
}

static int find_publisher(const client *who, int64_t uid) {
  for (int i = 0; i < who->publisher_count; i++)
    if (who->publishers[i].uid == uid) return i;
  return -1;
}

static void publish(client *who, const tt_nt4_request *request) {
  tt_nt4_server *server = who->server;
  int index = find_topic(server, request->name);
  bool made = index < 0;
  int old = find_publisher(who, request->uid);
  if (old >= 0) unpublish(who, old);
  if (who->publisher_count == TT_NT4_MOST_REQUESTS) return;
  if (made) index = add_topic(server, request->name, request->type, false);
  publisher *grown = realloc(who->publishers, (size_t)(who->publisher_count + 1) * sizeof *grown);
  if (grown) who->publishers = grown;
  if (index < 0 || !grown || !grow_interests(who)) return;
  topic *topic = &server->topics[index];
  if (made && request->properties) {
    json_object_put(topic->properties);
    topic->properties = json_object_get(request->properties);
  }
  who->publishers[who->publisher_count++] = (publisher){.uid = request->uid, .topic = index};
  topic->publishers++;
  announce(who, index, &request->uid);
  for (client *one = server->clients; made && one; one = one->next) weigh(one, index);
}

static void set_properties(client *who, const tt_nt4_request *request) {
  int index = find_topic(who->server, request->name);
  if (index < 0 || who->server->topics[index].own) return;
  struct json_object *properties = who->server->topics[index].properties;
  json_object_object_foreach(request->properties, key, value) {
    if (value)
      json_object_object_add(properties, key, json_object_get(value));
    else
      json_object_object_del(properties, key);
  }
  for (client *one = who->server->clients; one; one = one->next) {
    if (one != who && (index >= one->interest_count || !one->interests[index].announced)) continue;
    struct json_object *params = json_object_new_object();
    json_object_object_add(params, "name", json_object_new_string(request->name));
    json_object_object_add(params, "update", json_object_get(request->properties));
    if (one == who) json_object_object_add(params, "ack", json_object_new_boolean(true));
    say(one, "properties", params);
  }
}

static void unsubscribe(client *who, int64_t uid) {
  for (int i = 0; i < who->subscription_count; i++) {
    if (who->subscriptions[i].uid != uid) continue;
    json_object_put(who->subscriptions[i].names);
    who->subscriptions[i] = who->subscriptions[--who->subscription_count];
    return;
  }
}

static void subscribe(client *who, const tt_nt4_request *request) {
  unsubscribe(who, request->uid); /* the same number again replaces */
  if (who->subscription_count == TT_NT4_MOST_REQUESTS) return;
  subscription *grown =
      realloc(who->subscriptions, (size_t)(who->subscription_count + 1) * sizeof *grown);
  if (!grown) return;
  who->subscriptions = grown;
  grown[who->subscription_count++] = (subscription){.uid = request->uid,
                                                    .names = json_object_get(request->topics),
                                                    .periodic = request->periodic,
                                                    .all = request->all,
                                                    .topics_only = request->topics_only,
                                                    .prefix = request->prefix};
}

static void obey(client *who, const tt_nt4_request *request) {
  int position;
  switch (request->method) {
    case TT_NT4_PUBLISH: publish(who, request); break;
    case TT_NT4_UNPUBLISH:
      position = find_publisher(who, request->uid);
      if (position >= 0) unpublish(who, position);
      break;
    case TT_NT4_SET_PROPERTIES: set_properties(who, request); break;
    case TT_NT4_SUBSCRIBE: subscribe(who, request); break;
    case TT_NT4_UNSUBSCRIBE: unsubscribe(who, request->uid); break;
  }
}

static void on_text(client *who, const uint8_t *bytes, size_t size) {
  struct json_object *frame;
  tt_nt4_request request;
  bool wishes = false;
  if (tt_nt4_read_frame((const char *)bytes, size, &frame, NULL) != TT_OK) return;
  size_t count = json_object_array_length(frame);
  for (size_t i = 0; i < count; i++) {
    if (tt_nt4_read_request(frame, i, &request) != TT_OK) continue;
    obey(who, &request);
    wishes |= request.method == TT_NT4_SUBSCRIBE || request.method == TT_NT4_UNSUBSCRIBE;
  }
  json_object_put(frame);
  if (wishes) weigh_all(who);
  for (client *one = who->server->clients; one; one = one->next) send_said(one);
}

/* The clock is answered at once. Sent values are taken where they are newer than what is there. */
static void take_message(client *who, const tt_nt4_message *message) {
  if (message->id == -1) {
    tt_nt4_bytes answer = {.size = 0};
    tt_nt4_message now = *message;
    now.time = now_us();
    tt_nt4_put_message(&answer, &now);
    tt_websocket_send(who->websocket, false, answer.data, answer.size);
    tt_nt4_bytes_free(&answer);
    return;
  }
  int position = find_publisher(who, message->id);
  if (position < 0) return;
  int index = who->publishers[position].topic;
  const topic *topic = &who->server->topics[index];
  if (topic->own || topic->number != message->type ||
      (topic->version && message->time < topic->time))
    return;
  set_value(who->server, index, message->value, message->value_size, message->time, who);
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  client *who = context;
  const uint8_t *at = bytes;
  tt_nt4_message message;
  (void)websocket;
  if (text) {
    on_text(who, bytes, size);
    return;
  }
  while (tt_nt4_read_message(&at, bytes + size, &message) == TT_OK) take_message(who, &message);
}

/* --- coming and going --- */

static const char *const protocols[] = {"v4.1.networktables.first.wpi.edu",
                                        "networktables.first.wpi.edu",
                                        "rtt.networktables.first.wpi.edu"};
enum { PROTOCOL_4_1, PROTOCOL_4_0, PROTOCOL_RTT, PROTOCOL_COUNT };

/* Ours is the order of preference: some clients name the older one first. */
static const char *choose_protocol(const tt_websocket_request *request) {
  for (int ours = 0; ours < PROTOCOL_COUNT; ours++)
    for (int i = 0; i < request->protocol_count; i++)
      if (strcmp(request->protocols[i], protocols[ours]) == 0) return protocols[ours];
  return NULL;
}

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  static const char prefix[] = "/nt/";
  (void)context;
  if (!request->upgrade && strcmp(request->path, "/") == 0) {
    /* viewers look here before they connect */
    *answer = (tt_websocket_answer){.status = 200,
                                    .body = "This is a server of NetworkTables 4: /nt/NAME",
                                    .allow_origin = "*"};
    return;
  }
  const char *name = request->path + sizeof prefix - 1;
  if (strncmp(request->path, prefix, sizeof prefix - 1) != 0 || !*name || strchr(name, '@')) return;
  answer->protocol = choose_protocol(request);
  answer->status = answer->protocol || !request->upgrade ? 101 : 400;
  answer->body = "Offer the subprotocol v4.1.networktables.first.wpi.edu.";
}

static int hex(char digit) {
  if (!isxdigit((unsigned char)digit)) return -1;
  return isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10;
}

/* The name in a path, without its escapes. */
static void read_name(const char *path, char *name, size_t size) {
  size_t used = 0;
  for (const char *at = path + strlen("/nt/"); *at && *at != '?' && used + 1 < size; at++) {
    bool escaped = *at == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0;
    name[used++] = escaped ? (char)(hex(at[1]) * 16 + hex(at[2])) : *at;
    if (escaped) at += 2;
  }
  name[used] = '\0';
}

static bool is_taken(const tt_nt4_server *server, const char *name) {
  for (const client *one = server->clients; one; one = one->next)
    if (strcmp(one->name, name) == 0) return true;
  return false;
}

static void name_client(client *made, const char *path) {
  char asked[CLIENT_NAME - 8];
  read_name(path, asked, sizeof asked);
  snprintf(made->name, sizeof made->name, "%s", asked);
  for (int n = 1; is_taken(made->server, made->name); n++)
    snprintf(made->name, sizeof made->name, "%s@%d", asked, n);
}

static void on_open(void *context, tt_websocket *websocket) {
  tt_nt4_server *server = context;
  const char *protocol = tt_websocket_protocol(websocket);
  client *made = calloc(1, sizeof *made);
  tt_websocket_set_context(websocket, made);
  if (!made) {
    tt_websocket_close(websocket, 1011, "out of memory");
    return;
  }
  made->server = server;
  made->websocket = websocket;
  made->period = INT64_MAX;
  name_client(made, tt_websocket_path(websocket));
  made->next = server->clients;
  server->clients = made;
  server->client_count++;
  if (strcmp(protocol, protocols[PROTOCOL_4_0]) != 0) /* clients of 4.0 don't stand pings */
    tt_websocket_ping(websocket, PING_PERIOD, PING_TIMEOUT);
  if (strcmp(protocol, protocols[PROTOCOL_RTT]) != 0)
    tt_log_info("nt4: %s connected as %s", tt_websocket_peer(websocket), made->name);
}

static void free_client(client *gone) {
  for (int i = 0; i < gone->subscription_count; i++) json_object_put(gone->subscriptions[i].names);
  free(gone->subscriptions);
  free(gone->publishers);
  free(gone->interests);
  json_object_put(gone->said);
  tt_nt4_bytes_free(&gone->values);
  free(gone);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  client *gone = context;
  (void)websocket, (void)code, (void)reason;
  if (!gone) return;
  client **link = &gone->server->clients;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
  gone->server->client_count--;
  while (gone->publisher_count > 0) unpublish(gone, gone->publisher_count - 1);
  for (client *one = gone->server->clients; one; one = one->next) send_said(one);
  free_client(gone);
}

tt_status tt_nt4_server_open(tt_net *net, const char *address, const tt_allow *allow,
                             tt_nt4_server **server_out, tt_error *error) {
  *server_out = NULL;
  tt_nt4_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  server->net = net;
  tt_websocket_options options = tt_websocket_options_default();
  options.address = address;
  options.max_connections = MOST_CLIENTS;
  options.max_message = MOST_MESSAGE;
  options.max_queued = MOST_QUEUED;
  options.allow = *allow;
  options.handler = (tt_websocket_handler){
      .on_request = on_request, .on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = server;
  tt_status status = tt_websocket_listen(net, &options, &server->websockets, error);
  if (status != TT_OK) {
    free(server);
    return status;
  }
  *server_out = server;
  return TT_OK;
}

void tt_nt4_server_close(tt_nt4_server *server) {
  if (!server) return;
  tt_websocket_server_close(server->websockets);
  while (server->clients) {
    client *first = server->clients;
    server->clients = first->next;
    free_client(first);
  }
  for (int i = 0; i < server->topic_count; i++) free_topic(&server->topics[i]);
  free(server->topics);
  free(server);
}

const char *tt_nt4_server_address(const tt_nt4_server *server) {
  return tt_websocket_server_address(server->websockets);
}

int tt_nt4_client_count(const tt_nt4_server *server) { return server->client_count; }

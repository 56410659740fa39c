/* server.c: clients come, ask, and go. What they say is read in control.c and message.c. */
#include "nt4/server.h"

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "nt4/server_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CLIENTS 16
#define MOST_MESSAGE ((size_t)2 << 20) /* bytes, as ntcore */
#define MOST_QUEUED ((size_t)4 << 20)  /* bytes, at which a client is cut */
#define OFFLINE 1          /* µs, of a value: written while nobody was connected; 0: a default */
#define CLOCK_SLACK 100000 /* µs that a client's idea of our time may be behind */
#define MOST_NAMES 4096    /* in all that a client subscribed to */

/* --- what clients ask for --- */

/* What nobody publishes goes, unless its properties hold it. */
static void remove_unused(tt_nt4_server *server, int index) {
  const nt4_topic *topic = &server->topics[index];
  struct json_object *retained = json_object_object_get(topic->properties, "retained");
  struct json_object *persistent = json_object_object_get(topic->properties, "persistent");
  if (!topic->own && topic->publishers == 0 && !json_object_get_boolean(retained) &&
      !json_object_get_boolean(persistent))
    nt4_remove_topic(server, index);
}

static void unpublish(nt4_peer *who, int position) {
  nt4_topic *topic = &who->server->topics[who->publishers[position].topic];
  int index = who->publishers[position].topic;
  bool wrote = who->publishers[position].wrote;
  who->publishers[position] = who->publishers[--who->publisher_count];
  topic->publishers--;
  if (wrote) who->server->sink.on_released(who->server->sink.context, index);
  remove_unused(who->server, index);
}

static int find_publisher(const nt4_peer *who, int64_t uid) {
  for (int i = 0; i < who->publisher_count; i++)
    if (who->publishers[i].uid == uid) return i;
  return -1;
}

/* Properties are a topic's, and stay with it: there is no end of them otherwise. */
static bool has_room_for(struct json_object *old, struct json_object *update) {
  size_t before = 0, added = 0;
  json_object_to_json_string_length(old, JSON_C_TO_STRING_PLAIN, &before);
  json_object_to_json_string_length(update, JSON_C_TO_STRING_PLAIN, &added);
  return before + added <= TT_NT4_PROPERTIES;
}

static void publish(nt4_peer *who, const tt_nt4_request *request) {
  tt_nt4_server *server = who->server;
  if (!who->trusted || !has_room_for(NULL, request->properties)) return;
  int old = find_publisher(who, request->uid);
  if (old >= 0) unpublish(who, old); /* the same number again replaces */
  int index = nt4_find_topic(server, request->name);
  bool made = index < 0;
  if (who->publisher_count == TT_NT4_MOST_REQUESTS) return;
  if (made) index = nt4_add_topic(server, request->name, request->type, NULL);
  nt4_publisher *grown =
      realloc(who->publishers, (size_t)(who->publisher_count + 1) * sizeof *grown);
  if (grown) who->publishers = grown;
  if (index < 0 || !grown || !nt4_grow_interests(who)) return;
  nt4_topic *topic = &server->topics[index];
  if (made && request->properties) {
    json_object_put(topic->properties);
    topic->properties = json_object_get(request->properties);
  }
  who->publishers[who->publisher_count++] = (nt4_publisher){.uid = request->uid, .topic = index};
  topic->publishers++;
  nt4_announce(who, index, &request->uid);
  for (nt4_peer *one = server->clients; made && one; one = one->next) nt4_weigh(one, index);
}

static void set_properties(nt4_peer *who, const tt_nt4_request *request) {
  int index = nt4_find_topic(who->server, request->name);
  if (!who->trusted || index < 0 || who->server->topics[index].own) return;
  struct json_object *properties = who->server->topics[index].properties;
  if (!has_room_for(properties, request->properties)) return;
  json_object_object_foreach(request->properties, key, value) {
    if (value)
      tt_json_add(properties, key, json_object_get(value));
    else
      json_object_object_del(properties, key);
  }
  for (nt4_peer *one = who->server->clients; one; one = one->next) {
    if (one != who && (index >= one->interest_count || !one->interests[index].announced)) continue;
    struct json_object *params = json_object_new_object();
    tt_json_add_text(params, "name", request->name);
    tt_json_add(params, "update", json_object_get(request->properties));
    if (one == who) tt_json_add_bool(params, "ack", true);
    nt4_tell(one, "properties", params);
  }
  remove_unused(who->server, index);
}

static void unsubscribe(nt4_peer *who, int64_t uid) {
  for (int i = 0; i < who->subscription_count; i++) {
    if (who->subscriptions[i].uid != uid) continue;
    json_object_put(who->subscriptions[i].names);
    who->subscriptions[i] = who->subscriptions[--who->subscription_count];
    return;
  }
}

static size_t count_names(const nt4_peer *who) {
  size_t count = 0;
  for (int i = 0; i < who->subscription_count; i++)
    count += json_object_array_length(who->subscriptions[i].names);
  return count;
}

static void subscribe(nt4_peer *who, const tt_nt4_request *request) {
  unsubscribe(who, request->uid); /* the same number again replaces */
  if (who->subscription_count == TT_NT4_MOST_REQUESTS ||
      count_names(who) + json_object_array_length(request->topics) > MOST_NAMES)
    return;
  nt4_subscription *grown =
      realloc(who->subscriptions, (size_t)(who->subscription_count + 1) * sizeof *grown);
  if (!grown) return;
  who->subscriptions = grown;
  grown[who->subscription_count++] = (nt4_subscription){.uid = request->uid,
                                                        .names = json_object_get(request->topics),
                                                        .periodic = request->periodic,
                                                        .all = request->all,
                                                        .topics_only = request->topics_only,
                                                        .prefix = request->prefix};
}

static void obey(nt4_peer *who, const tt_nt4_request *request) {
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

static void on_text(nt4_peer *who, const uint8_t *bytes, size_t size) {
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
  if (wishes) nt4_weigh_all(who);
  for (nt4_peer *one = who->server->clients; one; one = one->next) nt4_send_said(one);
}

/* A default, or what its program wrote before it came, commands nothing: the robot was made safe since, and a client that lost
 * its connection says its last values again. One that never asked for our time (as ntcore's for browsers, of 4.1) counts its own,
 * which says nothing here. */
static bool is_news(const nt4_peer *who, const tt_nt4_message *message) {
  if (message->time <= OFFLINE) return false;
  return !who->knows_time || message->time >= who->since - CLOCK_SLACK;
}

/* The world says what it becomes. */
static void hear(nt4_peer *who, int position, const tt_nt4_message *message) {
  const tt_nt4_sink *sink = &who->server->sink;
  const int topic = who->publishers[position].topic;
  double number;
  if (!sink->on_written || !is_news(who, message) || !tt_nt4_read_number(message, &number) ||
      !sink->on_written(sink->context, topic, number, who->name))
    return;
  for (nt4_peer *one = who->server->clients; one; one = one->next) /* who wrote last commands */
    for (int i = 0; i < one->publisher_count; i++)
      if (one->publishers[i].topic == topic) one->publishers[i].wrote = false;
  who->publishers[position].wrote = true;
}

/* Clients' values stay when clients go: all together have a limit. */
static bool may_keep(tt_nt4_server *server, const nt4_topic *topic, size_t size) {
  bool fits = server->kept - topic->value.size + size <= TT_NT4_MOST_KEPT;
  if (!fits && !server->is_full)
    tt_log_warning("nt4: values of clients take more than %u MiB; what is more is left out",
                   TT_NT4_MOST_KEPT >> 20);
  server->is_full |= !fits;
  return fits;
}

/* A client's clock may be set back, or may be behind another's. What it says itself later counts; else what is newer. A default
 * is none. */
static bool replaces(const nt4_peer *who, const nt4_topic *topic, const tt_nt4_message *message) {
  bool same = topic->writer == who->number && message->time > OFFLINE;
  return !topic->version || same || message->time >= topic->time;
}

/* What may be written is a number, however it is sent. */
static bool is_of_type(const nt4_topic *topic, const tt_nt4_message *message) {
  return topic->writable ? message->type <= TT_NT4_FLOAT : message->type == topic->number;
}

static void say_wrong(nt4_peer *who, nt4_publisher *of, const nt4_topic *topic, tt_nt4_type type) {
  char more[TT_LOG_MORE];
  if (of->told_wrong || !tt_log_is_due(&who->server->wrong, more)) return;
  of->told_wrong = true;
  tt_log_warning("nt4: %s writes '%s' as %s, but it is %s: such values are left out%s", who->name,
                 topic->name, tt_nt4_type_name(type), topic->type, more);
}

/* The clock is answered at once. */
static void take_message(nt4_peer *who, const tt_nt4_message *message) {
  if (message->id == -1) {
    tt_bytes answer = {.size = 0};
    tt_nt4_message now = *message;
    now.time = nt4_now();
    who->knows_time = true;
    tt_nt4_put_message(&answer, &now);
    if (!answer.failed) tt_websocket_send(who->websocket, false, answer.data, answer.size);
    tt_bytes_free(&answer);
    return;
  }
  int position = find_publisher(who, message->id);
  if (position < 0 || !who->trusted) return; /* pages of other sites only read */
  int index = who->publishers[position].topic;
  const nt4_topic *topic = &who->server->topics[index];
  if (topic->own && !topic->writable) return;
  if (!is_of_type(topic, message)) {
    say_wrong(who, &who->publishers[position], topic, message->type);
    return;
  }
  if (topic->writable) {
    hear(who, position, message);
    return;
  }
  if (!replaces(who, topic, message)) {
    nt4_pass_value(who->server, index, message->value, message->value_size, message->time, who);
    return;
  }
  if (!may_keep(who->server, topic, message->value_size)) return;
  size_t before = topic->value.size;
  nt4_set_value(who->server, index, message->value, message->value_size, message->time, who);
  who->server->kept += topic->value.size - before;
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  nt4_peer *who = context;
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

static const char *const protocols[] = {NT4_PROTOCOL_4_1, NT4_PROTOCOL_4_0, NT4_PROTOCOL_RTT};
enum { PROTOCOL_4_1, PROTOCOL_4_0, PROTOCOL_RTT, PROTOCOL_COUNT };

/* Ours is the order of preference: some clients name the older one first. */
static const char *choose_protocol(const tt_websocket_request *request) {
  for (int ours = 0; ours < PROTOCOL_COUNT; ours++)
    for (int i = 0; i < request->protocol_count; i++)
      if (strcmp(request->protocols[i], protocols[ours]) == 0) return protocols[ours];
  return NULL;
}

static int hex(char digit) {
  if (!isxdigit((unsigned char)digit)) return -1;
  return isdigit((unsigned char)digit) ? digit - '0' : tolower((unsigned char)digit) - 'a' + 10;
}

/* The name in a path, without its escapes; made safe, since it is shown, and told to other clients. */
static void read_name(const char *path, char *name, size_t size) {
  size_t used = 0;
  for (const char *at = path + strlen("/nt/"); *at && *at != '?' && used + 1 < size; at++) {
    bool escaped = *at == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0;
    name[used++] = escaped ? (char)(hex(at[1]) * 16 + hex(at[2])) : *at;
    if (escaped) at += 2;
  }
  name[used] = '\0';
  tt_text_make_safe(name);
}

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  static const char prefix[] = "/nt/";
  (void)context;
  bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
  if (!request->upgrade && reads && strcmp(request->path, "/") == 0) {
    /* viewers look here before they connect */
    *answer = (tt_websocket_answer){.status = 200,
                                    .body = "This is a server of NetworkTables 4: /nt/NAME",
                                    .allow_origin = "*"};
    return;
  }
  char name[NT4_PEER_NAME];
  if (strncmp(request->path, prefix, sizeof prefix - 1) != 0) return;
  read_name(request->path, name, sizeof name);
  if (!*name || strchr(name, '@')) return;
  answer->protocol = choose_protocol(request);
  answer->status = answer->protocol || !request->upgrade ? 101 : 400;
  answer->body = "Offer the subprotocol v4.1.networktables.first.wpi.edu.";
}

static bool is_taken(const tt_nt4_server *server, const char *name) {
  for (const nt4_peer *one = server->clients; one; one = one->next)
    if (strcmp(one->name, name) == 0) return true;
  return false;
}

static void name_client(nt4_peer *made, const char *path) {
  char asked[NT4_PEER_NAME - 8];
  read_name(path, asked, sizeof asked);
  snprintf(made->name, sizeof made->name, "%s", asked);
  for (int n = 1; is_taken(made->server, made->name); n++)
    snprintf(made->name, sizeof made->name, "%s@%d", asked, n);
}

/* The topic "$clients", which Outline Viewer shows: [{id, conn}] in MessagePack. */
static void tell_clients(tt_nt4_server *server) {
  tt_bytes list = {.size = 0}, value = {.size = 0};
  uint32_t count = 0;
  int index = nt4_find_topic(server, "$clients");
  if (index < 0) index = nt4_add_topic(server, "$clients", "msgpack", NULL);
  if (index < 0) return;
  server->topics[index].own = true;
  for (const nt4_peer *one = server->clients; one; one = one->next) count += !one->is_clock;
  tt_nt4_put_array(&list, count);
  for (const nt4_peer *one = server->clients; one; one = one->next) {
    if (one->is_clock) continue;
    tt_nt4_put_map(&list, 2);
    tt_nt4_put_text(&list, "id");
    tt_nt4_put_text(&list, one->name);
    tt_nt4_put_text(&list, "conn");
    tt_nt4_put_text(&list, one->address);
  }
  tt_nt4_put_raw(&value, list.data, list.size);
  if (!list.failed && !value.failed)
    nt4_set_value(server, index, value.data, value.size, nt4_now(), NULL);
  tt_bytes_free(&list);
  tt_bytes_free(&value);
}

static void on_open(void *context, tt_websocket *websocket) {
  tt_nt4_server *server = context;
  const char *protocol = tt_websocket_protocol(websocket);
  nt4_peer *made = calloc(1, sizeof *made);
  tt_websocket_set_context(websocket, made);
  if (!made) {
    tt_websocket_close(websocket, 1011, "out of memory");
    return;
  }
  made->server = server;
  made->websocket = websocket;
  made->period = INT64_MAX;
  made->since = nt4_now();
  made->number = ++server->last_number;
  made->trusted = tt_websocket_is_trusted(websocket);
  name_client(made, tt_websocket_path(websocket));
  made->next = server->clients;
  server->clients = made;
  server->client_count++;
  if (strcmp(protocol, protocols[PROTOCOL_4_0]) != 0) /* clients of 4.0 don't stand pings */
    tt_websocket_ping(websocket, NT4_PING_PERIOD, NT4_PING_TIMEOUT);
  snprintf(made->address, sizeof made->address, "%s", tt_websocket_peer(websocket));
  made->is_clock = strcmp(protocol, protocols[PROTOCOL_RTT]) == 0;
  if (made->is_clock) return;
  tt_log_info("nt4: %s connected as %s", tt_websocket_peer(websocket), made->name);
  tell_clients(server);
}

static void free_client(nt4_peer *gone) {
  for (int i = 0; i < gone->subscription_count; i++) json_object_put(gone->subscriptions[i].names);
  free(gone->subscriptions);
  free(gone->publishers);
  free(gone->interests);
  json_object_put(gone->said);
  tt_bytes_free(&gone->values);
  free(gone);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  nt4_peer *gone = context;
  (void)code;
  if (!gone) return;
  if (!gone->is_clock)
    tt_log_info("nt4: %s (%s) disconnected: %s", tt_websocket_peer(websocket), gone->name, reason);
  nt4_peer **link = &gone->server->clients;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
  gone->server->client_count--;
  while (gone->publisher_count > 0) unpublish(gone, gone->publisher_count - 1);
  for (nt4_peer *one = gone->server->clients; one; one = one->next) nt4_send_said(one);
  if (!gone->is_clock) tell_clients(gone->server);
  free_client(gone);
}

tt_status tt_nt4_server_open(tt_net *net, const char *address, const tt_allow *allow,
                             tt_nt4_server **server_out, tt_error *error) {
  *server_out = NULL;
  tt_nt4_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  nt4_fill_sink(&server->sink);
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
    nt4_peer *first = server->clients;
    server->clients = first->next;
    free_client(first);
  }
  for (int i = 0; i < server->topic_count; i++) nt4_topic_clear(&server->topics[i]);
  free(server->topics);
  free(server);
}

tt_nt4_sink *tt_nt4_server_sink(tt_nt4_server *server) { return &server->sink; }

const char *tt_nt4_server_address(const tt_nt4_server *server) {
  return tt_websocket_server_address(server->websockets);
}

int tt_nt4_server_clients(const tt_nt4_server *server) { return server->client_count; }

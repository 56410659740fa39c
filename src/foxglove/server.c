/* server.c: clients come, ask and go. */
#include "foxglove/server_internal.h"

#include "base/json.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CLIENTS 16
#define MOST_MESSAGE ((size_t)1 << 20)
#define MOST_QUEUED                                                                                \
  ((size_t)8 << 20) /* bytes, at which a client is cut: twice what a scene's largest message has */
#define PING_PERIOD 5.0 /* s */
#define PING_TIMEOUT 20.0

static const char *const protocols[] = {"foxglove.sdk.v1", "foxglove.websocket.v1"};
enum { PROTOCOL_SDK, PROTOCOL_WEBSOCKET, PROTOCOL_COUNT };

static const char refused[] =
    "This is read-only for pages of other sites; foxglove.origins names those that may command.";

/* --- subscriptions --- */

static foxglove_subscription *find_subscription(foxglove_peer *peer, uint32_t id) {
  for (int i = 0; i < peer->subscription_count; i++)
    if (peer->subscriptions[i].id == id) return &peer->subscriptions[i];
  return NULL;
}

static bool has_channel(const foxglove_peer *peer, int channel) {
  for (int i = 0; i < peer->subscription_count; i++)
    if (peer->subscriptions[i].channel == channel) return true;
  return false;
}

static bool grow_subscriptions(foxglove_peer *peer) {
  if (peer->subscription_count < peer->subscription_capacity) return true;
  int capacity = peer->subscription_capacity ? 2 * peer->subscription_capacity : 16;
  foxglove_subscription *moved = realloc(peer->subscriptions, (size_t)capacity * sizeof *moved);
  if (!moved) return false;
  peer->subscriptions = moved;
  peer->subscription_capacity = capacity;
  return true;
}

static void subscribe(foxglove_peer *peer, const tt_foxglove_request *request) {
  uint32_t id, channel;
  for (size_t i = 0; i < request->count; i++) {
    if (!tt_foxglove_read_subscription(request, i, &id, &channel) ||
        channel >= (uint32_t)peer->server->channel_count)
      foxglove_tell(peer, 1, "subscribe: there is no such channel");
    else if (find_subscription(peer, id) || has_channel(peer, (int)channel))
      foxglove_tell(peer, 1, "subscribe: this id or channel has a subscription already");
    else if (grow_subscriptions(peer))
      peer->subscriptions[peer->subscription_count++] =
          (foxglove_subscription){.id = id, .channel = (int)channel};
  }
}

static void unsubscribe(foxglove_peer *peer, const tt_foxglove_request *request) {
  uint32_t id;
  for (size_t i = 0; i < request->count; i++) {
    foxglove_subscription *found =
        tt_foxglove_read_id(request, i, &id) ? find_subscription(peer, id) : NULL;
    if (found)
      *found = peer->subscriptions[--peer->subscription_count];
    else
      foxglove_tell(peer, 1, "unsubscribe: there is no such subscription");
  }
}

/* --- commands --- */

/* Whether it may command; it is told if not. */
static bool may_command(const foxglove_peer *peer, bool allowed, const char *why_not) {
  if (!allowed) foxglove_tell(peer, 2, why_not);
  if (allowed && !peer->trusted) foxglove_tell(peer, 2, refused);
  return allowed && peer->trusted;
}

static bool may_write(const foxglove_peer *peer) {
  return may_command(peer, peer->server->options.commands,
                     "This scene takes no commands here; foxglove.commands: on lets it.");
}

static foxglove_own *find_own(foxglove_peer *peer, uint32_t id) {
  for (int i = 0; i < peer->own_count; i++)
    if (peer->own[i].id == id) return &peer->own[i];
  return NULL;
}

static void advertise(foxglove_peer *peer, const tt_foxglove_request *request) {
  uint32_t id;
  const char *topic, *encoding;
  if (!may_write(peer)) return;
  for (size_t i = 0; i < request->count; i++) {
    if (!tt_foxglove_read_channel(request, i, &id, &topic, &encoding) ||
        strcmp(encoding, "json") != 0 || find_own(peer, id) ||
        peer->own_count == TT_FOXGLOVE_MOST_OWN) {
      foxglove_tell(peer, 1,
                    "advertise: give a channel an id of its own, a topic and encoding json");
      continue;
    }
    foxglove_own *made = &peer->own[peer->own_count++];
    made->id = id;
    snprintf(made->topic, sizeof made->topic, "%s", topic);
  }
}

static void unadvertise(foxglove_peer *peer, const tt_foxglove_request *request) {
  uint32_t id;
  for (size_t i = 0; i < request->count; i++) {
    foxglove_own *found = tt_foxglove_read_id(request, i, &id) ? find_own(peer, id) : NULL;
    if (found) *found = peer->own[--peer->own_count];
  }
}

/* --- parameters --- */

static int find_parameter(const tt_foxglove_server *server, const char *name) {
  for (int i = 0; i < server->parameter_count; i++)
    if (strcmp(server->parameters[i].name, name) == 0) return i;
  return -1;
}

/* Those that a request names; an empty list: all. */
static void choose_parameters(const tt_foxglove_server *server, const tt_foxglove_request *request,
                              bool *chosen, bool as) {
  const char *name;
  for (int i = 0; request->count == 0 && i < server->parameter_count; i++) chosen[i] = as;
  for (size_t i = 0; i < request->count; i++) {
    int found = tt_foxglove_read_name(request, i, &name) ? find_parameter(server, name) : -1;
    if (found >= 0) chosen[found] = as;
  }
}

/* Whether a parameter takes a value; the client is told if not. */
static bool takes(const foxglove_peer *peer, int parameter, double value) {
  const foxglove_parameter *of = &peer->server->parameters[parameter];
  if (value >= of->lower && value <= of->upper) return true;
  char text[TT_FOXGLOVE_NAME + 128];
  snprintf(text, sizeof text, "%s: %g is out of its range; give %g to %g", of->name, value,
           of->lower, of->upper);
  foxglove_tell(peer, 1, text);
  return false;
}

/* Whether parameters are taken now; the client is told if not. */
static bool are_taken(const foxglove_peer *peer) {
  const tt_foxglove_options *options = &peer->server->options;
  const char *why = options->handler.why_not(options->context);
  if (why) foxglove_tell(peer, 1, why);
  return !why;
}

/* What a client names that is not there. */
static void tell_unknown(const foxglove_peer *peer, const char *by, const char *name) {
  char text[256];
  snprintf(text, sizeof text, "%s: there is no %.200s", by, name);
  foxglove_tell(peer, 1, text);
}

/* What is asked for is its value until the world says what became of it. */
static void set_parameter(foxglove_peer *peer, int parameter, double value) {
  tt_foxglove_server *server = peer->server;
  for (foxglove_peer *one = server->peers; one; one = one->next) one->wrote[parameter] = false;
  peer->wrote[parameter] = true; /* who set it last commands */
  tt_foxglove_set_parameter(server, parameter, value);
  server->options.handler.on_parameter(server->options.context, parameter, value);
}

static void set_parameters(foxglove_peer *peer, const tt_foxglove_request *request, bool *chosen) {
  const char *name;
  double value;
  if (!may_write(peer)) return;
  const bool taken = are_taken(peer);
  for (size_t i = 0; i < request->count; i++) {
    if (!tt_foxglove_read_parameter(request, i, &name, &value)) {
      foxglove_tell(peer, 1, "setParameters: give a parameter's name and a finite number");
      continue;
    }
    int found = find_parameter(peer->server, name);
    if (found < 0) {
      tell_unknown(peer, "setParameters", name);
      continue;
    }
    chosen[found] = true;
    if (taken && takes(peer, found, value)) set_parameter(peer, found, value);
  }
}

/* False: the client is told what is wrong. */
static bool are_good(const foxglove_peer *peer, struct json_object *commands) {
  double number;
  json_object_object_foreach(commands, name, value) {
    int parameter = find_parameter(peer->server, name);
    if (parameter < 0) {
      tell_unknown(peer, "/commands", name);
      return false;
    }
    if (!tt_foxglove_number(value, &number)) {
      foxglove_tell(peer, 1, "/commands: give names of commands, each with a finite number");
      return false;
    }
    if (!takes(peer, parameter, number)) return false;
  }
  return true;
}

/* {NAME: number, …}: all of it is good, or nothing is done. */
static void obey_commands(foxglove_peer *peer, const uint8_t *json, size_t size) {
  struct json_object *commands;
  tt_error why = {""};
  double number;
  if (tt_json_read((const char *)json, size, TT_JSON_STRICT, &commands, &why) != TT_OK) {
    foxglove_tell(peer, 1, why.text);
    return;
  }
  bool good = are_taken(peer) && are_good(peer, commands);
  json_object_object_foreach(commands, name, value) {
    if (good && tt_foxglove_number(value, &number))
      set_parameter(peer, find_parameter(peer->server, name), number);
  }
  json_object_put(commands);
}

static void obey_parameters(foxglove_peer *peer, const tt_foxglove_request *request) {
  tt_foxglove_server *server = peer->server;
  bool *chosen = calloc((size_t)server->parameter_count + 1, sizeof *chosen);
  if (!chosen) return;
  switch (request->op) {
    case TT_FOXGLOVE_GET_PARAMETERS:
      choose_parameters(server, request, chosen, true);
      foxglove_say_parameters(peer, chosen, request->id);
      break;
    case TT_FOXGLOVE_SET_PARAMETERS:
      set_parameters(peer, request, chosen);
      if (*request->id) foxglove_say_parameters(peer, chosen, request->id);
      break;
    case TT_FOXGLOVE_FOLLOW_PARAMETERS:
      choose_parameters(server, request, peer->follows, true);
      break;
    default: choose_parameters(server, request, peer->follows, false); break;
  }
  free(chosen);
}

static void on_text(foxglove_peer *peer, const uint8_t *bytes, size_t size) {
  tt_foxglove_request request;
  tt_error why = {""};
  if (tt_foxglove_read_request((const char *)bytes, size, &request, &why) != TT_OK) {
    foxglove_tell(peer, 1, why.text);
    return;
  }
  switch (request.op) {
    case TT_FOXGLOVE_SUBSCRIBE: subscribe(peer, &request); break;
    case TT_FOXGLOVE_UNSUBSCRIBE: unsubscribe(peer, &request); break;
    case TT_FOXGLOVE_ADVERTISE: advertise(peer, &request); break;
    case TT_FOXGLOVE_UNADVERTISE: unadvertise(peer, &request); break;
    default: obey_parameters(peer, &request); break;
  }
  json_object_put(request.frame);
}

/* --- binary messages --- */

static void fail_call(const foxglove_peer *peer, const tt_foxglove_binary *call, const char *why) {
  struct json_object *said = json_object_new_object();
  tt_json_add_text(said, "op", "serviceCallFailure");
  tt_json_add_int(said, "serviceId", call->service);
  tt_json_add_int(said, "callId", call->call);
  tt_json_add_text(said, "message", why);
  foxglove_say(peer, said);
}

static void obey_call(foxglove_peer *peer, const tt_foxglove_binary *call) {
  tt_foxglove_server *server = peer->server;
  char text[256] = "";
  if (!peer->trusted || call->service >= (uint32_t)server->service_count ||
      call->encoding_size != 4 || memcmp(call->encoding, "json", 4) != 0) {
    fail_call(peer, call, peer->trusted ? "there is no such service, in JSON" : refused);
    return;
  }
  if (!server->options.handler.on_call(server->options.context, (int)call->service,
                                       (const char *)call->payload, call->payload_size, text,
                                       sizeof text)) {
    fail_call(peer, call, text);
    return;
  }
  struct json_object *answer = json_object_new_object();
  tt_json_add_bool(answer, "success", true);
  tt_json_add_text(answer, "message", text);
  const char *json = answer ? json_object_to_json_string_ext(answer, JSON_C_TO_STRING_PLAIN) : NULL;
  tt_bytes_cut(&server->frame, 0);
  if (json) tt_foxglove_put_answer(&server->frame, call->service, call->call, json);
  if (json && !server->frame.failed)
    tt_websocket_send(peer->websocket, false, server->frame.data, server->frame.size);
  json_object_put(answer);
}

static void on_binary(foxglove_peer *peer, const uint8_t *bytes, size_t size) {
  const tt_foxglove_options *options = &peer->server->options;
  tt_foxglove_binary message;
  if (tt_foxglove_read_binary(bytes, size, &message) != TT_OK) {
    foxglove_tell(peer, 1, "a binary message is cut, or of an opcode that is not known here");
    return;
  }
  const foxglove_own *own =
      message.kind == TT_FOXGLOVE_MESSAGE ? find_own(peer, message.channel) : NULL;
  switch (message.kind) {
    case TT_FOXGLOVE_MESSAGE:
      if (own && strcmp(own->topic, "/commands") == 0)
        obey_commands(peer, message.payload, message.payload_size);
      break;
    case TT_FOXGLOVE_CALL: obey_call(peer, &message); break;
    case TT_FOXGLOVE_PLAYBACK:
      peer->plays = true;
      if (may_command(peer, options->playback, "Only a kept run is played back."))
        options->handler.on_playback(options->context, &message);
      break;
  }
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  (void)websocket;
  if (text)
    on_text(context, bytes, size);
  else
    on_binary(context, bytes, size);
}

/* --- coming and going --- */

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  const tt_foxglove_server *server = context;
  for (int i = 0; i < server->options.origin_count; i++)
    answer->trusted |= strcmp(server->options.origins[i], request->origin) == 0;
  for (int ours = 0; ours < PROTOCOL_COUNT && !answer->protocol; ours++)
    for (int i = 0; i < request->protocol_count && !answer->protocol; i++)
      if (strcmp(request->protocols[i], protocols[ours]) == 0) answer->protocol = protocols[ours];
  if (!request->upgrade) return;
  answer->status = answer->protocol ? 101 : 400;
  answer->body = "Offer the subprotocol foxglove.sdk.v1 or foxglove.websocket.v1.";
}

static void free_peer(foxglove_peer *peer) {
  free(peer->subscriptions);
  free(peer->follows);
  free(peer->changed);
  free(peer->wrote);
  free(peer);
}

static foxglove_peer *make_peer(tt_foxglove_server *server, tt_websocket *websocket) {
  size_t parameters = (size_t)server->parameter_count + 1;
  foxglove_peer *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  made->server = server;
  made->websocket = websocket;
  made->follows = calloc(parameters, sizeof(bool));
  made->changed = calloc(parameters, sizeof(bool));
  made->wrote = calloc(parameters, sizeof(bool));
  if (made->follows && made->changed && made->wrote) return made;
  free_peer(made);
  return NULL;
}

static void on_open(void *context, tt_websocket *websocket) {
  tt_foxglove_server *server = context;
  foxglove_peer *made = make_peer(server, websocket);
  tt_websocket_set_context(websocket, made);
  if (!made) {
    tt_websocket_close(websocket, 1011, "out of memory");
    return;
  }
  made->trusted = tt_websocket_is_trusted(websocket);
  made->plays = strcmp(tt_websocket_protocol(websocket), protocols[PROTOCOL_SDK]) == 0;
  made->next = server->peers;
  server->peers = made;
  server->peer_count++;
  tt_websocket_ping(websocket, PING_PERIOD, PING_TIMEOUT);
  tt_log_info("foxglove: %s connected", tt_websocket_peer(websocket));
  foxglove_introduce(made);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  foxglove_peer *gone = context;
  (void)code;
  if (!gone) return;
  tt_log_info("foxglove: %s disconnected: %s", tt_websocket_peer(websocket), reason);
  tt_foxglove_server *server = gone->server;
  foxglove_peer **link = &server->peers;
  while (*link != gone) link = &(*link)->next;
  *link = gone->next;
  server->peer_count--;
  for (int i = 0; i < server->parameter_count; i++)
    if (gone->wrote[i]) server->options.handler.on_released(server->options.context, i);
  free_peer(gone);
}

/* --- the beginning and the end --- */

tt_status tt_foxglove_server_open(tt_net *net, const tt_foxglove_options *options,
                                  tt_foxglove_server **out, tt_error *error) {
  *out = NULL;
  tt_foxglove_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  server->options = *options;
  server->info = strdup(options->info);
  tt_websocket_options sockets = tt_websocket_options_default();
  sockets.address = options->address;
  sockets.max_connections = MOST_CLIENTS;
  sockets.max_message = MOST_MESSAGE;
  sockets.max_queued = MOST_QUEUED;
  sockets.allow = options->allow;
  sockets.handler = (tt_websocket_handler){
      .on_request = on_request, .on_open = on_open, .on_message = on_message, .on_close = on_close};
  sockets.context = server;
  tt_status status = server->info ? tt_websocket_listen(net, &sockets, &server->websockets, error)
                                  : tt_fail(error, TT_NOMEM, "out of memory");
  if (status != TT_OK) {
    free(server->info);
    free(server);
    return status;
  }
  *out = server;
  return TT_OK;
}

void tt_foxglove_server_close(tt_foxglove_server *server) {
  if (!server) return;
  tt_websocket_server_close(server->websockets);
  while (server->peers) {
    foxglove_peer *first = server->peers;
    server->peers = first->next;
    free_peer(first);
  }
  foxglove_clear_offer(server);
  tt_bytes_free(&server->frame);
  free(server->info);
  free(server);
}

const char *tt_foxglove_server_address(const tt_foxglove_server *server) {
  return tt_websocket_server_address(server->websockets);
}

int tt_foxglove_client_count(const tt_foxglove_server *server) { return server->peer_count; }

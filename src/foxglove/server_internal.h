/* server_internal.h: a server from the inside: what it offers, and sends (offer.c), and who is connected, with what they
 * ask for (server.c).
 */
#ifndef TT_FOXGLOVE_SERVER_INTERNAL_H
#define TT_FOXGLOVE_SERVER_INTERNAL_H

#include "foxglove/server.h"
#include "websocket/websocket.h"

#define FOXGLOVE_SLOW_AT ((size_t)1 << 20) /**< bytes unsent beyond which messages are left out */

/** What clients subscribe to. */
typedef struct foxglove_channel {
  char *topic, *schema_name, *schema;
  tt_bytes *kept; /**< messages */
  int kept_count;
} foxglove_channel;

/** A number that has a name. */
typedef struct foxglove_parameter {
  char *name;
  double value, lower, upper;
} foxglove_parameter;

/** What clients call. */
typedef struct foxglove_service {
  char *name, *schema;
} foxglove_service;

/** What a client wants of a channel. */
typedef struct foxglove_subscription {
  uint32_t id; /**< the client's choice */
  int channel;
  int kept_sent; /**< messages that the channel keeps */
  bool began;    /**< it has had a message */
} foxglove_subscription;

/** A channel of a client's own. */
typedef struct foxglove_own {
  uint32_t id;
  char topic[TT_FOXGLOVE_NAME];
} foxglove_own;

/** Who is connected. */
typedef struct foxglove_peer {
  tt_foxglove_server *server;
  struct foxglove_peer *next;
  tt_websocket *websocket;
  foxglove_subscription *subscriptions;
  int subscription_count, subscription_capacity;
  foxglove_own own[TT_FOXGLOVE_MOST_OWN];
  int own_count;
  bool *follows, *changed, *wrote; /**< by parameter */
  bool trusted;                    /**< it may command */
  bool plays;                      /**< it knows what a playback is */
} foxglove_peer;

/** What there is, and who is connected. */
struct tt_foxglove_server {
  tt_websocket_server *websockets;
  tt_foxglove_options options;
  char *info;
  foxglove_channel *channels;
  foxglove_parameter *parameters;
  foxglove_service *services;
  int channel_count, parameter_count, service_count;
  foxglove_peer *peers;
  int peer_count;
  uint64_t time;  /**< ns, of messages */
  tt_bytes frame; /**< the message at hand */
};

/* --- what there is, for who comes (offer.c) --- */
/** Takes `object` over. */
void foxglove_say(const foxglove_peer *to, struct json_object *object);
/** Information for people; `level` 0, a warning 1, an error 2. */
void foxglove_tell(const foxglove_peer *to, int level, const char *text);
/** serverInfo, channels, services. */
void foxglove_introduce(const foxglove_peer *to);
/** Parameters that `chosen` (by number) says, with the id of a request or "". */
void foxglove_say_parameters(const foxglove_peer *to, const bool *chosen, const char *id);

/** Frees channels, parameters and services. */
void foxglove_clear_offer(tt_foxglove_server *server);

#endif

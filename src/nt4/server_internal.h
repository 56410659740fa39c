/* server_internal.h: a server from the inside: its topics and what clients are told of them (server_topics.c), what clients
 * ask for and how they come and go (server.c).
 */
#ifndef TT_NT4_SERVER_INTERNAL_H
#define TT_NT4_SERVER_INTERNAL_H

#include "nt4/control.h"
#include "base/log.h"
#include "net/address.h"
#include "nt4/server.h"
#include "nt4/topic_internal.h"
#include "websocket/websocket.h"

#include <json-c/json.h>

#define NT4_PEER_NAME 128 /**< bytes of a client's name, with its end */

/** A topic, as one client sees it. */
typedef struct nt4_interest {
  bool announced, wanted, all;
  uint64_t version; /* sent last */
} nt4_interest;

/** What a client asked for. */
typedef struct nt4_subscription {
  int64_t uid;
  struct json_object *names;
  double periodic; /* s */
  bool all, topics_only, prefix;
} nt4_subscription;

/** A topic that a client writes. */
typedef struct nt4_publisher {
  int64_t uid;
  int topic;
  bool wrote;      /* a topic of ours, and nobody else since */
  bool told_wrong; /* that its values are of a wrong type */
} nt4_publisher;

/** Who is connected. */
typedef struct nt4_peer {
  tt_nt4_server *server;
  struct nt4_peer *next;
  uint64_t number; /* from 1 on, in the order in which they came */
  tt_websocket *websocket;
  char name[NT4_PEER_NAME], address[TT_ADDRESS_TEXT];
  nt4_interest *interests; /* by topic */
  int interest_count;
  nt4_subscription *subscriptions;
  nt4_publisher *publishers;
  int subscription_count, publisher_count;
  bool is_clock;              /* only asks for the time */
  bool knows_time;            /* it asked: the times of its values are ours */
  int64_t since;              /* µs: when it came */
  bool trusted;               /* no page of another site: it may publish */
  int64_t period, next_flush; /* µs */
  struct json_object *said;   /* text messages that wait; NULL: none */
  tt_bytes values;            /* binary ones */
} nt4_peer;

/** What there is, and who is connected. */
struct tt_nt4_server {
  tt_nt4_sink sink; /* first: found by it */
  tt_net *net;
  tt_websocket_server *websockets;
  nt4_topic *topics;
  int topic_count, topic_capacity;
  nt4_peer *clients;
  int client_count;
  uint64_t last_number; /* of a client */
  size_t kept;          /**< bytes of clients' values */
  bool is_full;         /**< which has been said */
  tt_log_hold wrong;    /**< what is told of values of a wrong type */
};

/* --- topics --- */
/** Fills the functions of its sink. */
void nt4_fill_sink(tt_nt4_sink *sink);
/** −1: there is none of that name. */
int nt4_find_topic(const tt_nt4_server *server, const char *name);
/** −1: out of memory, or there are too many. */
int nt4_add_topic(tt_nt4_server *server, const char *name, const char *type, const char *unit);
/** No client publishes it any more: who knows it is told. */
void nt4_remove_topic(tt_nt4_server *server, int index);
/** Tells all but `from` of a value that is older than what it has, which stands. */
void nt4_pass_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                    const nt4_peer *from);
/** Gives it a value and `time`, to all but `from` (NULL: to all). Out of memory: the one before stands. */
void nt4_set_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                   const nt4_peer *from);

/* --- what a client is told; it leaves with nt4_send_said() --- */
/** Takes `params` over. */
void nt4_tell(nt4_peer *to, const char *method, struct json_object *params);
/** With `pubuid` where the client publishes it; otherwise NULL. */
void nt4_announce(nt4_peer *to, int index, const int64_t *pubuid);
void nt4_send_said(nt4_peer *to);

/* --- who wants what --- */
/** Makes room for what it thinks of every topic. False: out of memory. */
bool nt4_grow_interests(nt4_peer *who);
/** Looks again whether a client wants a topic, and announces it. */
void nt4_weigh(nt4_peer *who, int index);
/** All topics, after its subscriptions have changed. */
void nt4_weigh_all(nt4_peer *who);

#endif

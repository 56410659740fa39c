/* server_internal.h: a server from the inside: its topics and what clients are told of them (server_topics.c), what clients
 * ask for and how they come and go (server.c).
 */
#ifndef TT_NT4_SERVER_INTERNAL_H
#define TT_NT4_SERVER_INTERNAL_H

#include "nt4/control.h"
#include "nt4/server.h"
#include "websocket/websocket.h"

#include <json-c/json.h>

#define NT4_CLIENT_NAME 128 /**< bytes of a client's name, with its end */

/** What has a name and a value. */
typedef struct nt4_topic {
  char *name, *type;
  tt_nt4_type number;
  struct json_object *properties;
  bool own;       /* ours; else clients' */
  bool gone;      /* no client publishes it any more */
  int publishers; /* clients */
  tt_bytes value;
  int64_t time;     /* µs, of the value */
  uint64_t version; /* of the value; 0: there is none yet */
} nt4_topic;

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
} nt4_publisher;

/** Who is connected. */
typedef struct nt4_client {
  tt_nt4_server *server;
  struct nt4_client *next;
  tt_websocket *websocket;
  char name[NT4_CLIENT_NAME];
  nt4_interest *interests; /* by topic */
  int interest_count;
  nt4_subscription *subscriptions;
  nt4_publisher *publishers;
  int subscription_count, publisher_count;
  int64_t period, next_flush; /* µs */
  struct json_object *said;   /* text messages that wait; NULL: none */
  tt_bytes values;            /* binary ones */
} nt4_client;

/** What there is, and who is connected. */
struct tt_nt4_server {
  tt_net *net;
  tt_websocket_server *websockets;
  nt4_topic *topics;
  int topic_count, topic_capacity;
  nt4_client *clients;
  int client_count;
};

/** The clock of NetworkTables, µs. */
int64_t nt4_now(void);

/* --- topics --- */
/** −1: there is none of that name. */
int nt4_find_topic(const tt_nt4_server *server, const char *name);
/** −1: out of memory, or there are too many. */
int nt4_add_topic(tt_nt4_server *server, const char *name, const char *type, bool own);
/** No client publishes it any more: who knows it is told. */
void nt4_remove_topic(tt_nt4_server *server, int index);
/** Frees what is in it. */
void nt4_clear_topic(nt4_topic *topic);
/** Gives it a value and `time`, to all but `from` (NULL: to all). Out of memory: the one before stands. */
void nt4_set_value(tt_nt4_server *server, int index, const void *value, size_t size, int64_t time,
                   const nt4_client *from);

/* --- what a client is told; it leaves with nt4_send_said() --- */
/** Puts `value`, which it takes over, into `object`. Either may be NULL: out of memory. */
void nt4_member(struct json_object *object, const char *key, struct json_object *value);
/** Takes `params` over. NULL: out of memory, and nothing is said. */
void nt4_say(nt4_client *to, const char *method, struct json_object *params);
/** With `pubuid` where the client publishes it; otherwise NULL. */
void nt4_announce(nt4_client *to, int index, const int64_t *pubuid);
void nt4_send_said(nt4_client *to);

/* --- who wants what --- */
/** Makes room for what it thinks of every topic. False: out of memory. */
bool nt4_grow_interests(nt4_client *who);
/** Looks again whether a client wants a topic, and announces it. */
void nt4_weigh(nt4_client *who, int index);
/** All topics, after its subscriptions have changed. */
void nt4_weigh_all(nt4_client *who);

#endif

/* internal.h: what the files of this room share. */
#ifndef TT_WEB_INTERNAL_H
#define TT_WEB_INTERNAL_H

#include "web/input.h"
#include "web/server.h"

/** Used by the web's own thread alone, but for what the mutex guards. */
struct tt_web {
  tt_web_options options;
  char *host, *token, *address;
  char **hosts;
  guint16 port;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GSocketListener *listener;
  GCancellable *accepting;
  SoupServer *server;
  GArray *routes, *sockets; /**< tt_web_route, tt_web_socket_route */
  GHashTable *connections;  /**< GSocket -> tt_web_connection */
  tt_web_turns turns;
  GMutex mutex; /**< guards stats and slots */
  tt_web_stats stats;
  int slots;
  int answers_due; /**< of tt_web_respond_later(), not written yet; web's thread */
};

/** Adds one to a counter of `web->stats`. Any thread. */
void tt_web_count(tt_web *web, uint64_t *counter);

/** The name in "name:port" or "[::1]:port"; g_free() it. */
char *tt_web_host_name(const char *host);
/** Why a request is refused before its route is looked for, with the HTTP status in `*code`; NULL: it is let in. Static. */
const char *tt_web_no_access(const tt_web *web, SoupServerMessage *message, unsigned *code);

/** An accepted connection, whatever is spoken on it. */
typedef struct tt_web_connection {
  tt_web *web;
  GSocket *socket;  /**< not owned: goes with the connection */
  int64_t deadline; /**< µs monotonic at which it is cut; 0: none */
  TtWebInput *input;
  SoupWebsocketConnection *frames; /**< not owned; NULL: no WebSocket */
  int64_t unfinished; /**< µs monotonic at which more were seen; 0: there are no more */
} tt_web_connection;

/** The connection of a request, or NULL when it is gone. */
tt_web_connection *tt_web_connection_of(tt_web *web, SoupServerMessage *message);
tt_web_connection *tt_web_connection_at(tt_web *web, GSocket *socket);
/** The socket of a request, also once its connection became a WebSocket's. */
GSocket *tt_web_socket_of(SoupServerMessage *message);
/** First of all for each request: remembers its socket. */
void tt_web_find_socket(SoupServerMessage *message);
/** Accepts from `web->listener` and looks after deadlines, until `web->accepting` is cancelled. */
void tt_web_begin_accepting(tt_web *web);
/** Ends all that are open; libsoup notices, and lets go of them. */
void tt_web_shut_connections(tt_web *web);
/** Cuts it unless something is called again within `seconds`; 0: no deadline. */
void tt_web_set_deadline(tt_web_connection *connection, double seconds);

/** A WebSocket's frames have a deadline from here on, and its messages, of at most `message` bytes, an end. NULL-safe. */
void tt_web_watch_frames(tt_web_connection *connection, SoupWebsocketConnection *frames,
                         size_t message);
/** Before the connection is freed. */
void tt_web_unwatch_frames(tt_web_connection *connection);
/** Asked again and again: a frame was begun too long ago. */
bool tt_web_frame_is_late(tt_web_connection *connection, int64_t now);

/** Slots for answers made in threads of their own; false: all are taken. Any thread. */
bool tt_web_take_slot(tt_web *web);
void tt_web_give_slot(tt_web *web);
int tt_web_slots_taken(tt_web *web);

#endif

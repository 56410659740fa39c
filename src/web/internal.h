/* internal.h: what the files of this room share. */
#ifndef TT_WEB_INTERNAL_H
#define TT_WEB_INTERNAL_H

#include "base/file.h"
#include "web/forwarded.h"
#include "web/input.h"
#include "web/server.h"
#include "web/tries.h"

/** Of a file's name at a moment: what tells whether it is still the same. */
typedef struct tt_web_file_stamp {
  tt_file_mark file;
  int64_t size, changed; /**< bytes, −1: there is none; ns */
} tt_web_file_stamp;

/** What takes long is counted apart: who reads a long table slowly holds up no short answer. */
typedef enum tt_web_slot_kind {
  TT_WEB_STREAMS, /**< answers of any length, sent while they are made */
  TT_WEB_JOBS,    /**< answers that are sent once they are made */
  TT_WEB_CHORES,  /**< the same, where it takes long */
  TT_WEB_SLOT_KINDS
} tt_web_slot_kind;

/** Used by the web's own thread alone, but for what the mutex guards. */
struct tt_web {
  tt_web_options options;
  char *host, *token, *address;
  char **hosts;
  char *tokens_path;                          /**< NULL: there is no file of tokens */
  GArray *tokens;                             /**< tt_token: web.token, then those of the file */
  tt_web_file_stamp tokens_read, tokens_seen; /**< when it was read, and looked at, last */
  bool tokens_changed; /**< since those were looked for whose token is gone */
  tt_web_tries *tries;
  GPtrArray *proxies; /**< GInetAddressMask */
  guint16 port;
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GSocketListener *listener;
  GCancellable *accepting;
  SoupServer *server;
  GArray *routes, *sockets; /**< tt_web_route, tt_web_socket_route */
  GArray *figures;          /**< tt_web_figures; NULL: nobody has any */
  GHashTable *connections;  /**< GSocket -> tt_web_connection */
  tt_web_turns turns;
  pthread_mutex_t mutex; /**< guards stats and slots */
  tt_web_stats stats;
  int slots[TT_WEB_SLOT_KINDS];
  /** the owner's, and one for each thread of tt_web_respond_streaming() that has not let go of its answer */
  gatomicrefcount references;
  size_t bodies;   /**< bytes that are kept of those of requests under way; web's thread */
  int answers_due; /**< of tt_web_respond_later(), not written yet; web's thread */
  /** of those: with no slot yet, first come first; web's thread */
  GQueue waiting[TT_WEB_SLOT_KINDS];
  GQueue working; /**< those with one; web's thread */
};

/** Adds one to a counter of `web->stats`. Any thread. */
void tt_web_count(tt_web *web, uint64_t *counter);

/** How a request is met before its route is looked for. */
typedef struct tt_web_access {
  const char *reason;           /**< why it is refused; NULL: it is let in. Static */
  unsigned code;                /**< HTTP, where it is refused */
  int retry_after;              /**< s, where it is to come again later; else 0 */
  tt_role role;                 /**< what it may do */
  uint8_t token[TT_TOKEN_HASH]; /**< by which it is let in; zero: there are none */
} tt_web_access;
tt_web_access tt_web_check_access(tt_web *web, SoupServerMessage *message);

/** Reads the tokens for the first time; then tt_web_check_access() does again when another file has their file's name. */
tt_status tt_web_open_tokens(tt_web *web, tt_error *error);
/** Reads them also when their file was changed, once it stays as it is. True: there are others since the call before, and who
 *  came by one that is gone is to leave. */
bool tt_web_look_at_tokens(tt_web *web);

/** Looks for a request's route: an error, or what is there. `rest` as in tt_web_request. NULL: there is none. */
const tt_web_route *tt_web_find_route(const tt_web *web, const char *path, const char **rest);
const tt_web_socket_route *tt_web_find_socket_route(const tt_web *web, const char *path);
/** What a method of a route needs; TT_ROLE_NONE: it has not this method. HEAD is GET. */
tt_role tt_web_role_needed(const tt_web_route *route, const char *method);
/** What a WebSocket needs. */
tt_role tt_web_socket_role(const tt_web_socket_route *route);
/** All methods of a route, for Allow; g_free() it. */
char *tt_web_methods(const tt_web_route *route);
/** GET /api/access: what everything needs, and what the asker has. */
void tt_web_add_access_route(tt_web *web);

/** An accepted connection, whatever is spoken on it. */
typedef struct tt_web_connection {
  tt_web *web;
  GSocket *socket; /**< not owned: goes with the connection */
  /** of the token by which its latest request was let in; TT_ROLE_NONE: it took none */
  tt_role role;
  uint8_t token[TT_TOKEN_HASH];
  int64_t deadline; /**< µs monotonic at which it is cut; 0: none */
  bool ends;        /**< it is cut at the next look, whatever its deadline is by then */
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

/** Lets go of all messages that tt_web_respond_later() still has; their connections are gone. What is at work ends by itself.
 *  In the web's context, after its thread. */
void tt_web_forget_later(tt_web *web);
/** Before their connections are closed: what is being made is answered to nobody any more. */
void tt_web_leave_later(tt_web *web);

/** One more who needs `web` itself beyond tt_web_free(). Any thread. */
tt_web *tt_web_ref(tt_web *web);
/** Any thread. The last one frees what tt_web_free() left. */
void tt_web_unref(tt_web *web);

/** Slots for answers made in threads of their own; false: all of this kind are taken. Any thread. */
bool tt_web_take_slot(tt_web *web, tt_web_slot_kind kind);
void tt_web_give_slot(tt_web *web, tt_web_slot_kind kind);
/** Of all kinds. */
int tt_web_slots_taken(tt_web *web);

#endif

/* websocket.h: WebSockets (RFC 6455) in the loop of a tt_net, as server and as client: handshake, frames, fragments,
 * ping and pong, close, limits, deadlines. Frames are libwslay's, heads libsoup's. No TLS, no extensions.
 *
 * All of it belongs to the thread of its tt_net; callbacks run inside tt_net_poll(). Nothing here blocks.
 *
 * A peer that sends faster than it is listened to is read a few frames a turn, so that others get theirs meanwhile; TCP
 * holds it back. What a peer does wrong ends its connection with the code that the RFC asks for.
 */
#ifndef TT_WEBSOCKET_WEBSOCKET_H
#define TT_WEBSOCKET_WEBSOCKET_H

#include "net/net.h"

typedef struct tt_websocket tt_websocket; /**< an open connection, accepted or made */
typedef struct tt_websocket_server tt_websocket_server;
typedef struct tt_websocket_client tt_websocket_client;

/** What somebody asks a server for. Valid during the call. */
typedef struct tt_websocket_request {
  const char *method;           /**< "GET" where it wants a WebSocket */
  const char *path;             /**< as it was sent, with its query */
  const char *origin;           /**< of the page that asks; "": no browser does */
  const char *const *protocols; /**< subprotocols offered, in order of preference */
  int protocol_count;
  const char *peer; /**< its address */
  bool upgrade;     /**< it wants a WebSocket; false: a plain request */
} tt_websocket_request;

/** What it gets. Texts live until the call's end, and a moment longer: static ones, or those of the request. */
typedef struct tt_websocket_answer {
  int status; /**< 101: come in; any other status of HTTP ends the connection. Preset: 404, which is for plain requests, too */
  const char *protocol;     /**< of 101: the subprotocol chosen among those offered; NULL: none */
  const char *body;         /**< of others: text for people; NULL: what the status means */
  const char *allow_origin; /**< of others: Access-Control-Allow-Origin; NULL: none */
  bool trusted;             /**< of 101: as tt_websocket_is_trusted(); preset by its origin */
} tt_websocket_answer;

/** Called in the loop's thread, from within tt_net_poll(). */
typedef struct tt_websocket_handler {
  /** Server: decides about a request. Required there. `context` is the server's. */
  void (*on_request)(void *context, const tt_websocket_request *request,
                     tt_websocket_answer *answer);
  /** Open. `context` becomes the connection's (tt_websocket_set_context). */
  void (*on_open)(void *context, tt_websocket *websocket);
  /** A whole message: checked UTF-8 where it is `text`. Valid during the call, which may close the connection. */
  void (*on_message)(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                     size_t size);
  /** Gone, with the peer's close code (1005: none given, 1006: without a close) and the reason for people. Last call; not
   *  made when the server or client itself is closed. `websocket` is NULL, and `code` 0, where it never opened: a client's
   *  attempt that the server refused, or, with `reconnect` 0, that found nobody. */
  void (*on_close)(void *context, tt_websocket *websocket, int code, const char *reason);
} tt_websocket_handler;

/** Of a server or a client; begin with tt_websocket_options_default(). */
typedef struct tt_websocket_options {
  const char *address;          /**< server: to listen on */
  const char *url;              /**< client: ws://HOST:PORT/PATH; HOST as in net.h */
  const char *const *protocols; /**< client: subprotocols offered; they outlive it */
  int protocol_count;
  /** Server: open at once; default 16. Further ones get 503, and so do those that are not trusted where they would fill the last
   * quarter. Who has not asked for anything yet takes nobody's place. */
  int max_connections;
  size_t max_message;       /**< bytes of a message; a longer one closes with 1009; default 1 MiB */
  size_t max_queued;        /**< bytes unsent at which a slow reader is cut; default 1 MiB */
  int frames_a_turn;        /**< looked at before others get their turn; default 64 */
  double handshake_timeout; /**< s; default 5 */
  double reconnect;         /**< client: s between attempts; 0: once; default 1 */
  tt_allow allow;           /**< server */
  tt_websocket_handler handler;
  void *context;
} tt_websocket_options;
/** The defaults above. */
tt_websocket_options tt_websocket_options_default(void);

/** Errors are those of tt_tcp_listen(). */
tt_status tt_websocket_listen(tt_net *net, const tt_websocket_options *options,
                              tt_websocket_server **server, tt_error *error);
const char *tt_websocket_server_address(const tt_websocket_server *server);
/** Closes its connections too. Not from within on_request. NULL-safe. */
void tt_websocket_server_close(tt_websocket_server *server);

/** Starts connecting; goes on trying with `reconnect`. TT_INVALID: the URL, with what is wrong with it. */
tt_status tt_websocket_connect(tt_net *net, const tt_websocket_options *options,
                               tt_websocket_client **client, tt_error *error);
/** NULL-safe. */
void tt_websocket_client_close(tt_websocket_client *client);

/** One message in one frame. TT_FULL cuts the connection; TT_CLOSED: it is closing. */
tt_status tt_websocket_send(tt_websocket *websocket, bool text, const void *bytes, size_t size);
/** Says goodbye with `code` and `reason` (at most 120 bytes of it), and closes when the peer has, or after a second. */
void tt_websocket_close(tt_websocket *websocket, int code, const char *reason);
/** Pings from now on, every `period` s; drops a peer of whom `timeout` s nothing is heard. */
void tt_websocket_ping(tt_websocket *websocket, double period, double timeout);
const char *tt_websocket_peer(const tt_websocket *websocket);
const char *tt_websocket_path(const tt_websocket *websocket);     /**< that was asked for */
const char *tt_websocket_protocol(const tt_websocket *websocket); /**< chosen; "": none */
/** Of the page that asked; "": no browser did. */
const char *tt_websocket_origin(const tt_websocket *websocket);
/** Whether it may command: it is no page of another site, which any browser on this machine may have open. Programs are
 *  none, and pages of this machine are not another site. Or its handler said so. */
bool tt_websocket_is_trusted(const tt_websocket *websocket);
/** Bytes that the kernel did not take yet. */
size_t tt_websocket_queued(const tt_websocket *websocket);
void tt_websocket_set_context(tt_websocket *websocket, void *context);

#endif

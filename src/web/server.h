/* server.h: HTTP and WebSocket for people and programs, by libsoup in a thread of its own.
 *
 * Rooms register routes before tt_web_start(); handlers run in the web's thread and must not block: what takes long runs
 * in tt_web_respond_streaming(), what streams goes through tt_web_stream. Before any handler sees a request it has been checked:
 * Host, Origin, token, method, role, size of the body.
 */
#ifndef TT_WEB_SERVER_H
#define TT_WEB_SERVER_H

#include "base/status.h"
#include "web/tokens.h"

#include <libsoup/soup.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct tt_web tt_web;

typedef struct tt_web_options {
  const char *listen; /**< "127.0.0.1:8080"; port 0: a free one */
  bool next_free; /**< a taken port gives way to the next free one (a default nobody asked for) */
  /** asked of every request; that or `tokens` is required unless `listen` is loopback */
  const char *token;
  const char *tokens; /**< file of tokens with roles, read again when it changes; NULL: none */
  const char *const *
      proxies; /**< addresses or CIDR blocks of those who say for whom they ask; NULL-terminated, or NULL */
  const char *const
      *hosts;          /**< further names by which pages may call us; NULL-terminated, or NULL */
  int max_connections; /**< default 256 */
  int max_streams; /**< streamed answers at a time, and as many that are made as a whole; default 8 */
  double answer_deadline; /**< s in which a client takes the next piece of an answer; default 30 */
  double body_deadline;   /**< s in which the next piece of a request's body comes; default 30 */
  /** bytes of bodies that are kept until they are whole, all together, but for those of at most 64 KiB; default 256 MiB */
  size_t max_bodies;
} tt_web_options;
/** On port 8080 of 127.0.0.1, without a token. */
tt_web_options tt_web_options_default(void);

/** Makes a server that doesn't listen yet. TT_INVALID: a malformed address, or a public one without a token. */
tt_status tt_web_new(const tt_web_options *options, tt_web **web, tt_error *error);
/** Listens and starts the thread. TT_FAILED: the port is in use. */
tt_status tt_web_start(tt_web *web, tt_error *error);
/** "http://127.0.0.1:8080". */
const char *tt_web_address(const tt_web *web);
/** Ends the thread and closes everything, within a second; an answer that is being made is sent if it is ready in half of
 *  that. NULL-safe. */
void tt_web_free(tt_web *web);
/** The web's own main context, for sources of rooms. */
GMainContext *tt_web_context(tt_web *web);
/** Has the loop of `context` call `function` with `data`, at default priority, once, or as long as it returns TRUE; then `release`
 * frees `data`. Where the context ends before, `data` is released with it. Any thread; what it wrote before is seen there. */
void tt_web_hand(GMainContext *context, GSourceFunc function, gpointer data,
                 GDestroyNotify release);

/** One request, as a handler gets it. */
typedef struct tt_web_request {
  tt_web *web;
  SoupServerMessage *message;
  const char *method;
  const char *path;  /**< decoded; begins with the route's path */
  const char *rest;  /**< what follows a route's path that ends in '/'; else "" */
  const char *query; /**< still encoded, or NULL */
  tt_role role;      /**< what the asker may do: at least what the route needs */
} tt_web_request;

/** TT_INVALID: the query has a key without '=', one twice, or a byte of zero, of which a form's decoder would say nothing. */
tt_status tt_web_check_query(const tt_web_request *request, tt_error *error);

typedef struct tt_web_route {
  const char *path; /**< "/telemetry.csv", or with a '/' at its end everything below */
  /** Methods, "GET", "PUT DELETE", by who may ask with them; those that stand nowhere are refused. May be NULL. */
  const char *watch, *drive, *administer;
  /** The body is complete (soup_server_message_get_request_body()), or streamed by `begin`. */
  void (*handle)(void *context, const tt_web_request *request);
  /** May be NULL: the headers are there; the route connects to "got-chunk" itself. */
  void (*begin)(void *context, const tt_web_request *request);
  size_t max_body; /**< bytes; default 64 KiB */
  void *context;
} tt_web_route;
/** `route`'s strings must outlive the server. */
void tt_web_add_route(tt_web *web, const tt_web_route *route);

typedef struct tt_web_socket_route {
  const char *path;
  tt_role role; /**< needed to open it; TT_ROLE_NONE: TT_ROLE_ADMINISTER */
  /** A WebSocket was opened; keep a reference to use it beyond this call. */
  void (*open)(void *context, const tt_web_request *request, SoupWebsocketConnection *connection);
  size_t max_message; /**< bytes of an incoming message */
  void *context;
} tt_web_socket_route;
/** As tt_web_add_route(), for a path at which WebSockets open. */
void tt_web_add_socket(tt_web *web, const tt_web_socket_route *route);

/* --- answers --- */

/** Answers at once. `body` is copied. Web's thread. */
void tt_web_respond(const tt_web_request *request, unsigned status, const char *content_type,
                    const char *body, size_t size);
/** What is said in JSON and in a WebSocket's texts is UTF-8 and nothing else, which names in files and what came over a wire need not
 *  be: each byte that is none becomes U+FFFD. Any thread. */
void tt_web_make_valid(GString *text);
/** {"error": "…"} with the HTTP status that fits the status. */
void tt_web_respond_error(const tt_web_request *request, tt_status status, const char *text);

/** Produces a document in a thread of its own; `write` blocks while the client is slow, and fails when it is gone. */
typedef struct tt_web_sink {
  tt_status (*write)(void *sink, const char *bytes, size_t size);
  void *sink;
} tt_web_sink;
typedef tt_status tt_web_producer(void *context, const tt_web_sink *sink, tt_error *error);
/** Answers 200 with what `produce` writes, in constant memory; 503 when too many are at it. `release` frees the context in
 *  any case. An error before the first byte is answered as such; a later one cuts the connection, so that no client takes a
 *  part for the whole. `content_type` is static. */
void tt_web_respond_streaming(const tt_web_request *request, const char *content_type,
                              tt_web_producer *produce, void *context,
                              void (*release)(void *context));

/** An answer in the making. */
typedef struct tt_web_answer {
  tt_status status; /**< anything but TT_OK: `error` is answered */
  tt_error error;
  unsigned code;    /**< HTTP; 0: 200 */
  const char *type; /**< of the body; NULL: JSON */
  GString *body;    /**< of bounded size */
} tt_web_answer;
typedef void tt_web_work(void *context, tt_web_answer *answer);
/** Lets `work` make a short answer in a thread of its own; when too many are at it, after those who came before. `release`
 *  frees the context in any case. */
void tt_web_respond_later(const tt_web_request *request, tt_web_work *work, void *context,
                          void (*release)(void *context));
/** The same for work of many seconds, such as reading a whole log: two at a time, and no short answer waits for them. */
void tt_web_respond_at_leisure(const tt_web_request *request, tt_web_work *work, void *context,
                               void (*release)(void *context));

/* --- frames to a WebSocket at the pace of its reader --- */

/** libsoup queues without bound and can't tell how much; a stream asks for the next frame only when all before went
 *  to the kernel, whose buffer is bounded. A reader that takes nothing for five seconds is cut. */
typedef struct tt_web_stream tt_web_stream;
typedef struct tt_web_stream_source {
  /** Appends the next frame; false: there is none now. Web's thread. */
  bool (*next)(void *context, GString *frame, bool *binary);
  /** The connection is gone; the last call. Web's thread. */
  void (*closed)(void *context);
} tt_web_stream_source;
tt_web_stream *tt_web_stream_new(const tt_web_request *request, SoupWebsocketConnection *connection,
                                 const tt_web_stream_source *source, void *context);
/** There may be something to send. Any thread, also inside a lock; never blocks. */
void tt_web_stream_wake(tt_web_stream *stream);
/** Cut: with a reason of at most 123 bytes. Web's thread. */
void tt_web_stream_close(tt_web_stream *stream, const char *reason);
/** Keeps it valid for tt_web_stream_wake() until tt_web_stream_unref(). Made with one reference. */
tt_web_stream *tt_web_stream_ref(tt_web_stream *stream);
void tt_web_stream_unref(tt_web_stream *stream);

/** Figures for people. */
typedef struct tt_web_stats {
  uint64_t requests, refused_connections, refused_requests, cut;
  int connections;
} tt_web_stats;
void tt_web_get_stats(tt_web *web, tt_web_stats *stats);

#endif

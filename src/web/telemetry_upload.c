/* telemetry_upload.c: messages in by POST, in any format, and by the WebSocket /telemetry/in. */
#include "base/log.h"
#include "telemetry/reply.h"
#include "web/inflate.h"
#include "web/internal.h"
#include "web/telemetry_formats.h"

#include <string.h>

#define SECOND 1000000
/** Answers that a WebSocket's client may leave unread before it is cut. */
#define MAX_UNREAD 100000

/** A message source over HTTP: one POST or one WebSocket. */
typedef struct upload {
  tt_telemetry_routes *routes;
  const tt_upload_format *format;
  SoupServerMessage *message;          /**< POST */
  SoupWebsocketConnection *connection; /**< WebSocket */
  GSocket *socket;                     /**< not owned */
  void *decoder;       /**< the format's; NULL: it can't be read, and `result` says why */
  tt_inflate *inflate; /**< NULL: it comes as it is */
  GSource *unpacking;  /**< the rest of a chunk, piece by piece; NULL: there is none */
  tt_origin origin;
  int64_t received;
  uint64_t ticket; /**< highest of its messages */
  tt_answer result;
  GQueue answers;        /**< pending_ack, WebSocket: in order */
  tt_web_stream *stream; /**< WebSocket: what sends them */
} upload;

typedef struct pending_ack {
  uint64_t ticket;
  char *text;
} pending_ack;

static void free_ack(gpointer data) {
  pending_ack *ack = data;
  g_free(ack->text);
  g_free(ack);
}

/** A WebSocket's answers wait in order: each until its messages are durable and the client takes it. */
static void promise(upload *from, uint64_t ticket, char *text) {
  pending_ack *ack = g_new(pending_ack, 1);
  *ack = (pending_ack){ticket, text};
  g_queue_push_tail(&from->answers, ack);
  if (from->answers.length > MAX_UNREAD) tt_web_stream_close(from->stream, "answers are not read");
}

static void refuse_message(upload *from, const tt_message_refusal *refusal, uint64_t points) {
  tt_answer_refuse(&from->result, refusal, points);
  tt_collector_refused(from->routes->collector,
                       from->connection ? "WebSocket" : from->format->source, refusal);
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  refuse_message(context, refusal, 1);
}

/** What can't go on at all: the rest of the body is not looked at. */
static void refuse_body(upload *from, unsigned code, const char *reason) {
  if (from->result.code) return;
  from->result.code = code;
  refuse_message(from, &(tt_message_refusal){.line = 1, .column = 1, .reason = reason}, 1);
}

static void on_message(void *context, const tt_message *message) {
  upload *from = context;
  tt_answer *result = &from->result;
  tt_message wanted = *message;
  // A POST always waits for its answer.
  if (from->message) wanted.acknowledge = true;
  uint64_t ticket = 0;
  tt_error error;
  tt_status status = result->full
                         ? TT_FULL
                         : tt_collector_take(from->routes->collector, &wanted, &from->origin,
                                             from->received, &ticket, &error);
  if (status == TT_FULL) {
    result->full = true;
  } else if (status != TT_OK) {
    refuse_message(from,
                   &(tt_message_refusal){.line = message->line, .column = 1, .reason = error.text},
                   message->points);
  } else {
    result->taken += message->points;
    tt_answer_drop(result, &from->origin);
    from->ticket = MAX(from->ticket, ticket);
    if (from->connection && message->acknowledge)
      promise(from, ticket, tt_reply_ack(message, &from->origin));
  }
}

static upload *upload_new(tt_telemetry_routes *routes, const tt_web_request *request,
                          const tt_upload_format *format) {
  static const tt_message_handler handler = {on_message, on_refused};
  upload *made = g_new0(upload, 1);
  tt_error error;
  made->routes = routes;
  made->format = format;
  made->socket = tt_web_socket_of(request->message);
  tt_answer_begin(&made->result);
  g_queue_init(&made->answers);
  tt_status status = format->open(routes, request, &handler, made, &made->decoder, &error);
  if (status != TT_OK) refuse_body(made, status == TT_NOMEM ? 503 : 400, error.text);
  return made;
}

static void stop_unpacking(upload *from) {
  if (!from->unpacking) return;
  g_source_destroy(from->unpacking);
  g_clear_pointer(&from->unpacking, g_source_unref);
}

static void upload_free(gpointer data) {
  upload *freed = data;
  if (freed->decoder) freed->format->free(freed->decoder);
  stop_unpacking(freed);
  tt_inflate_free(freed->inflate);
  tt_answer_clear(&freed->result);
  g_queue_clear_full(&freed->answers, free_ack);
  if (freed->stream) tt_web_stream_unref(freed->stream);
  g_free(freed);
}

/** A message has so long from its first byte; within a POST, another must begin in that time. */
static void set_deadline(upload *from) {
  double allowed = (double)tt_message_limits_default().duration / SECOND;
  int64_t begun = from->decoder ? from->format->begun(from->decoder) : 0;
  double left = begun ? allowed - (double)(g_get_monotonic_time() - begun) / SECOND : allowed;
  tt_web_connection *connection = tt_web_connection_at(from->routes->web, from->socket);
  tt_web_set_deadline(connection, begun || from->message ? MAX(left, 0.001) : 0);
}

static void decode(void *context, const void *bytes, size_t size) {
  upload *from = context;
  from->format->feed(from->decoder, bytes, size);
}

/** False: there is no more to unpack of what came. */
static bool unpack_piece(upload *from) {
  tt_error error;
  tt_status status = tt_inflate_step(from->inflate, &error);
  if (status != TT_OK && status != TT_AGAIN)
    refuse_body(from, status == TT_FULL ? 413 : 400, error.text);
  return status == TT_OK;
}

/** A turn in the web's loop. */
static gboolean unpack_next(gpointer data) {
  upload *from = data;
  const bool more = unpack_piece(from);
  set_deadline(from);
  if (more) return G_SOURCE_CONTINUE;
  stop_unpacking(from);
  soup_server_message_unpause(from->message);
  return G_SOURCE_REMOVE;
}

/** A chunk of 8 KiB may be 8 MiB, unpacked: others have their turns between its pieces, and no more is read meanwhile. */
static void unpack(upload *from) {
  if (!unpack_piece(from)) return;
  soup_server_message_pause(from->message);
  from->unpacking = g_idle_source_new();
  g_source_set_priority(from->unpacking, G_PRIORITY_DEFAULT);
  g_source_set_callback(from->unpacking, unpack_next, from, NULL);
  g_source_attach(from->unpacking, tt_web_context(from->routes->web));
}

static void feed(upload *from, const void *bytes, size_t size) {
  from->received = tt_collector_now();
  if (!from->decoder || from->result.code) {
    // Its reason is told behind the last byte.
  } else if (!from->inflate) {
    decode(from, bytes, size);
  } else {
    tt_inflate_add(from->inflate, bytes, size);
    unpack(from);
  }
  set_deadline(from);
}

static void on_post_chunk(SoupServerMessage *message, GBytes *chunk, gpointer data) {
  (void)message;
  gsize size;
  const void *bytes = g_bytes_get_data(chunk, &size);
  feed(data, bytes, size);
}

/** The client went away before its answer. */
static void on_post_finished(SoupServerMessage *message, gpointer data) {
  upload *from = data;
  (void)message;
  g_ptr_array_remove_fast(from->routes->waiting, from);
}

/** gzip, deflate or nothing. */
static void find_encoding(upload *from, const tt_web_request *request) {
  const char *encoding = soup_message_headers_get_one(
      soup_server_message_get_request_headers(request->message), "Content-Encoding");
  if (!encoding || !g_ascii_strcasecmp(encoding, "identity")) return;
  from->inflate = tt_inflate_new(encoding, TT_UPLOAD_MAX, decode, from);
  if (!from->inflate)
    refuse_body(from, 415, "this Content-Encoding is not read; send gzip, deflate or none");
}

void tt_upload_begin(tt_telemetry_routes *routes, const tt_web_request *request,
                     const tt_upload_format *format) {
  if (strcmp(request->method, "POST")) return;
  upload *from = upload_new(routes, request, format);
  from->origin.request = true;
  from->message = request->message;
  find_encoding(from, request);
  soup_message_body_set_accumulate(soup_server_message_get_request_body(request->message), FALSE);
  g_object_set_data_full(G_OBJECT(request->message), "tether-upload", from, upload_free);
  g_signal_connect(request->message, "got-chunk", G_CALLBACK(on_post_chunk), from);
  g_signal_connect(request->message, "finished", G_CALLBACK(on_post_finished), from);
  set_deadline(from);
}

static void answer_post(upload *from) {
  GString *body = g_string_new(NULL);
  unsigned status = from->format->answer(&from->result, body);
  if (from->result.full) {
    soup_message_headers_replace(soup_server_message_get_response_headers(from->message),
                                 "Retry-After", "1");
  }
  soup_server_message_set_status(from->message, status, NULL);
  if (body->len) {
    soup_server_message_set_response(from->message, "application/json", SOUP_MEMORY_COPY, body->str,
                                     body->len);
  }
  g_string_free(body, TRUE);
}

/** The body is there. */
static void end_body(upload *from) {
  tt_error error;
  if (from->inflate && !from->result.code && tt_inflate_end(from->inflate, &error) != TT_OK)
    refuse_body(from, 400, error.text);
  if (from->decoder) from->format->end(from->decoder);
}

bool tt_upload_answer(tt_telemetry_routes *routes, const tt_web_request *request) {
  upload *from = g_object_get_data(G_OBJECT(request->message), "tether-upload");
  if (!from) return false;
  end_body(from);
  if (from->ticket <= tt_collector_durable(routes->collector)) {
    answer_post(from);
    return true;
  }
  // A status says to libsoup that this is no WebSocket handshake gone wrong.
  soup_server_message_set_status(request->message, 200, NULL);
  soup_server_message_pause(request->message);
  g_ptr_array_add(routes->waiting, from);
  return true;
}

/** Web's thread: answers everybody whose messages are durable now. */
static gboolean answer_waiting(gpointer data) {
  tt_telemetry_routes *routes = data;
  g_atomic_int_set(&routes->told, 0);
  uint64_t durable = tt_collector_durable(routes->collector);
  for (guint i = routes->waiting->len; i-- > 0;) {
    upload *from = g_ptr_array_index(routes->waiting, i);
    if (from->ticket > durable) continue;
    g_ptr_array_remove_index_fast(routes->waiting, i);
    answer_post(from);
    soup_server_message_unpause(from->message);
  }
  for (guint i = 0; i < routes->inputs->len; i++) {
    tt_web_stream_wake(((upload *)g_ptr_array_index(routes->inputs, i))->stream);
  }
  return G_SOURCE_REMOVE;
}

void tt_upload_on_durable(void *context) {
  tt_telemetry_routes *routes = context;
  if (!g_atomic_int_compare_and_exchange(&routes->told, 0, 1)) return;
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, answer_waiting, routes, NULL);
  g_source_attach(source, tt_web_context(routes->web));
  g_source_unref(source);
}

static void on_input_message(SoupWebsocketConnection *connection, gint type, GBytes *bytes,
                             gpointer data) {
  (void)type;
  upload *from = data;
  gsize size;
  const void *text = g_bytes_get_data(bytes, &size);
  tt_answer *result = &from->result;
  uint64_t refused = result->refused;
  feed(from, text, size);
  // Every frame is a document of its own or the next part of one; what was refused is said at once.
  if (result->refused != refused) {
    promise(from, 0, g_strdup_printf("{\"refused\":[%s]}", result->refusals->str));
    g_string_truncate(result->refusals, 0);
    result->listed = 0;
  }
  tt_web_stream_wake(from->stream);
  if (result->full &&
      soup_websocket_connection_get_state(connection) == SOUP_WEBSOCKET_STATE_OPEN) {
    soup_websocket_connection_close(connection, 1013,
                                    "the store is behind; send again what was not acknowledged");
  }
}

static bool next_answer(void *context, GString *frame, bool *binary) {
  upload *from = context;
  pending_ack *ack = g_queue_peek_head(&from->answers);
  if (!ack || ack->ticket > tt_collector_durable(from->routes->collector)) return false;
  *binary = false;
  g_string_append(frame, ack->text);
  free_ack(g_queue_pop_head(&from->answers));
  return true;
}

static void input_closed(void *context) {
  upload *from = context;
  g_ptr_array_remove_fast(from->routes->inputs, from);
  g_signal_handlers_disconnect_by_data(from->connection, from);
  g_object_unref(from->connection);
  upload_free(from);
}

void tt_upload_open_socket(void *context, const tt_web_request *request,
                           SoupWebsocketConnection *connection) {
  static const tt_web_stream_source source = {next_answer, input_closed};
  tt_telemetry_routes *routes = context;
  upload *from = upload_new(routes, request, &tt_upload_xml);
  from->connection = g_object_ref(connection);
  from->stream = tt_web_stream_new(request, connection, &source, from);
  g_ptr_array_add(routes->inputs, from);
  g_signal_connect(connection, "message", G_CALLBACK(on_input_message), from);
}

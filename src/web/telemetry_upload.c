/* telemetry_upload.c: messages in by POST /telemetry and by the WebSocket /telemetry/in. */
#include "base/log.h"
#include "telemetry/reply.h"
#include "telemetry/text.h"
#include "web/internal.h"
#include "web/telemetry_routes_internal.h"

#include <string.h>

#define SECOND 1000000
/** Refusals that one answer lists; all are counted. */
#define MAX_REFUSALS 100
/** Answers that a WebSocket's client may leave unread before it is cut. */
#define MAX_UNREAD 100000

/** A message source over HTTP: one POST or one WebSocket. */
typedef struct upload {
  tt_telemetry_routes *routes;
  SoupServerMessage *message;          /**< POST */
  SoupWebsocketConnection *connection; /**< WebSocket */
  GSocket *socket;                     /**< not owned */
  tt_message_parser *parser;
  tt_origin origin;
  int64_t received;
  uint64_t ticket; /**< highest of its messages */
  uint64_t taken, refused;
  bool full;             /**< the store was behind: the rest was not taken */
  GString *refusals;     /**< JSON objects, for the next answer */
  int listed;            /**< of them */
  uint64_t dropped;      /**< values that don't fit their attributes */
  GString *drops;        /**< JSON texts, why */
  int drops_listed;      /**< of them */
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

static void refuse_message(upload *from, const tt_message_refusal *refusal) {
  from->refused++;
  tt_collector_refused(from->routes->collector, from->connection ? "WebSocket" : "HTTP", refusal);
  if (from->listed >= MAX_REFUSALS) return;
  if (from->listed++) g_string_append_c(from->refusals, ',');
  g_string_append_printf(from->refusals, "{\"line\":%lu,\"column\":%lu,\"reason\":", refusal->line,
                         refusal->column);
  tt_append_json(from->refusals, refusal->reason);
  g_string_append_c(from->refusals, '}');
}

static void on_refused(void *context, const tt_message_refusal *refusal) {
  refuse_message(context, refusal);
}

/** Values of the message just taken that don't fit: counted, the first of each message with its reason. */
static void note_dropped(upload *from) {
  if (!from->origin.dropped) return;
  from->dropped += from->origin.dropped;
  if (from->drops_listed >= MAX_REFUSALS) return;
  if (from->drops_listed++) g_string_append_c(from->drops, ',');
  tt_append_json(from->drops, from->origin.drop_reason);
}

static void on_message(void *context, const tt_message *message) {
  upload *from = context;
  tt_message wanted = *message;
  // A POST always waits for its answer.
  if (from->message) wanted.acknowledge = true;
  uint64_t ticket = 0;
  tt_error error;
  tt_status status = from->full ? TT_FULL
                                : tt_collector_take(from->routes->collector, &wanted, &from->origin,
                                                    from->received, &ticket, &error);
  if (status == TT_FULL) {
    from->full = true;
  } else if (status != TT_OK) {
    refuse_message(from, &(tt_message_refusal){.line = 1, .column = 1, .reason = error.text});
  } else {
    from->taken++;
    note_dropped(from);
    from->ticket = MAX(from->ticket, ticket);
    if (from->connection && message->acknowledge)
      promise(from, ticket, tt_reply_ack(message, &from->origin));
  }
}

static upload *upload_new(tt_telemetry_routes *routes, const tt_web_request *request) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_message_limits limits = tt_message_limits_default();
  upload *made = g_new0(upload, 1);
  made->routes = routes;
  made->socket = tt_web_socket_of(request->message);
  made->parser = tt_message_parser_new(&limits, &handler, made);
  made->refusals = g_string_new(NULL);
  made->drops = g_string_new(NULL);
  g_queue_init(&made->answers);
  return made;
}

static void upload_free(gpointer data) {
  upload *freed = data;
  tt_message_parser_free(freed->parser);
  g_string_free(freed->refusals, TRUE);
  g_string_free(freed->drops, TRUE);
  g_queue_clear_full(&freed->answers, free_ack);
  if (freed->stream) tt_web_stream_unref(freed->stream);
  g_free(freed);
}

/** A message has so long from its first byte; within a POST, another must begin in that time. */
static void set_deadline(upload *from) {
  double allowed = (double)tt_message_limits_default().duration / SECOND;
  int64_t begun = tt_message_parser_begun(from->parser);
  double left = begun ? allowed - (double)(g_get_monotonic_time() - begun) / SECOND : allowed;
  tt_web_connection *connection = tt_web_connection_at(from->routes->web, from->socket);
  tt_web_set_deadline(connection, begun || from->message ? MAX(left, 0.001) : 0);
}

static void feed(upload *from, const void *bytes, size_t size) {
  from->received = tt_collector_now();
  tt_message_parser_feed(from->parser, bytes, size);
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

void tt_upload_begin_post(void *context, const tt_web_request *request) {
  if (strcmp(request->method, "POST")) return;
  upload *from = upload_new(context, request);
  from->origin.request = true;
  from->message = request->message;
  soup_message_body_set_accumulate(soup_server_message_get_request_body(request->message), FALSE);
  g_object_set_data_full(G_OBJECT(request->message), "tether-upload", from, upload_free);
  g_signal_connect(request->message, "got-chunk", G_CALLBACK(on_post_chunk), from);
  g_signal_connect(request->message, "finished", G_CALLBACK(on_post_finished), from);
  set_deadline(from);
}

static void answer_post(upload *from) {
  unsigned status = from->full ? 503 : from->refused ? 400 : 200;
  GString *body = g_string_new(NULL);
  g_string_append_printf(
      body, "{\"stored\":%" G_GUINT64_FORMAT ",\"refused\":%" G_GUINT64_FORMAT ",\"reasons\":[%s]",
      from->taken, from->refused, from->refusals->str);
  if (from->dropped)
    g_string_append_printf(body, ",\"dropped_values\":%" G_GUINT64_FORMAT ",\"dropped\":[%s]",
                           from->dropped, from->drops->str);
  if (from->full) g_string_append(body, ",\"error\":\"the store is behind; send the rest again\"");
  g_string_append(body, "}\n");
  if (from->full) {
    soup_message_headers_replace(soup_server_message_get_response_headers(from->message),
                                 "Retry-After", "1");
  }
  soup_server_message_set_status(from->message, status, NULL);
  soup_server_message_set_response(from->message, "application/json", SOUP_MEMORY_COPY, body->str,
                                   body->len);
  g_string_free(body, TRUE);
}

bool tt_upload_answer_post(tt_telemetry_routes *routes, const tt_web_request *request) {
  upload *from = g_object_get_data(G_OBJECT(request->message), "tether-upload");
  if (!from) return false;
  tt_message_parser_end(from->parser);
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
  uint64_t refused = from->refused;
  feed(from, text, size);
  // Every frame is a document of its own or the next part of one; what was refused is said at once.
  if (from->refused != refused) {
    promise(from, 0, g_strdup_printf("{\"refused\":[%s]}", from->refusals->str));
    g_string_truncate(from->refusals, 0);
    from->listed = 0;
  }
  tt_web_stream_wake(from->stream);
  if (from->full && soup_websocket_connection_get_state(connection) == SOUP_WEBSOCKET_STATE_OPEN) {
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
  upload *from = upload_new(routes, request);
  from->connection = g_object_ref(connection);
  from->stream = tt_web_stream_new(request, connection, &source, from);
  g_ptr_array_add(routes->inputs, from);
  g_signal_connect(connection, "message", G_CALLBACK(on_input_message), from);
}

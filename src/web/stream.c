/* stream.c: frames to one WebSocket at the pace of its reader.
 *
 * libsoup writes its queue from a source of default priority. Ours have a lower one: when ours runs and the socket takes bytes,
 * libsoup's has run before and its queue is empty. So a frame is asked for only then, and what can
 * be under way is what the kernel buffers.
 */
#include "web/internal.h"

#include <sys/socket.h>

/** s without taking a byte after which a reader is cut. */
#define STUCK_AFTER 5.0
#define KERNEL_BUFFER (256 * 1024)
/** Frames sent before others get their turn. */
#define FRAMES_A_TURN 4

struct tt_web_stream {
  gatomicrefcount references;
  tt_web *web;
  GMainContext *context;
  SoupWebsocketConnection *connection; /**< NULL once closed */
  GSocket *socket;
  tt_web_stream_source source;
  void *source_context;
  GSource *writable; /**< waits for room in the socket; NULL: none */
  GString *frame;
  gint scheduled; /**< atomic */
};

tt_web_stream *tt_web_stream_ref(tt_web_stream *stream) {
  g_atomic_ref_count_inc(&stream->references);
  return stream;
}

void tt_web_stream_unref(tt_web_stream *stream) {
  if (!g_atomic_ref_count_dec(&stream->references)) return;
  g_string_free(stream->frame, TRUE);
  g_main_context_unref(stream->context);
  g_free(stream);
}

static void unref(gpointer stream) { tt_web_stream_unref(stream); }

static void pump(tt_web_stream *stream);

static void set_deadline(tt_web_stream *stream, double seconds) {
  tt_web_set_deadline(tt_web_connection_at(stream->web, stream->socket), seconds);
}

static void stop_waiting(tt_web_stream *stream) {
  if (!stream->writable) return;
  g_source_destroy(stream->writable);
  g_clear_pointer(&stream->writable, g_source_unref);
}

static void on_closed(SoupWebsocketConnection *connection, gpointer data) {
  (void)connection;
  tt_web_stream *stream = data;
  if (!stream->connection) return;
  stop_waiting(stream);
  g_clear_object(&stream->connection);
  g_clear_object(&stream->socket);
  stream->source.closed(stream->source_context);
}

void tt_web_stream_close(tt_web_stream *stream, const char *reason) {
  if (!stream->connection) return;
  if (soup_websocket_connection_get_state(stream->connection) == SOUP_WEBSOCKET_STATE_OPEN) {
    soup_websocket_connection_close(stream->connection, SOUP_WEBSOCKET_CLOSE_POLICY_VIOLATION,
                                    reason);
  }
}

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer data) {
  (void)socket, (void)condition;
  tt_web_stream *stream = data;
  g_clear_pointer(&stream->writable, g_source_unref);
  set_deadline(stream, 0);
  pump(stream);
  return G_SOURCE_REMOVE;
}

static void wait_until_writable(tt_web_stream *stream) {
  if (stream->writable) return;
  set_deadline(stream, STUCK_AFTER);
  stream->writable = g_socket_create_source(stream->socket, G_IO_OUT, NULL);
  g_source_set_priority(stream->writable, G_PRIORITY_DEFAULT_IDLE);
  g_source_set_callback(stream->writable, G_SOURCE_FUNC(on_writable), tt_web_stream_ref(stream),
                        unref);
  g_source_attach(stream->writable, stream->context);
}

static void pump(tt_web_stream *stream) {
  for (int i = 0; stream->connection && i < FRAMES_A_TURN; i++) {
    if (soup_websocket_connection_get_state(stream->connection) != SOUP_WEBSOCKET_STATE_OPEN)
      return;
    if (!(g_socket_condition_check(stream->socket, G_IO_OUT) & G_IO_OUT)) {
      wait_until_writable(stream);
      return;
    }
    bool binary = false;
    g_string_truncate(stream->frame, 0);
    if (!stream->source.next(stream->source_context, stream->frame, &binary)) return;
    GBytes *bytes = g_bytes_new(stream->frame->str, stream->frame->len);
    SoupWebsocketDataType type = binary ? SOUP_WEBSOCKET_DATA_BINARY : SOUP_WEBSOCKET_DATA_TEXT;
    soup_websocket_connection_send_message(stream->connection, type, bytes);
    g_bytes_unref(bytes);
  }
  tt_web_stream_wake(stream);
}

static gboolean on_wake(gpointer data) {
  tt_web_stream *stream = data;
  g_atomic_int_set(&stream->scheduled, 0);
  if (stream->connection && !stream->writable) pump(stream);
  return G_SOURCE_REMOVE;
}

void tt_web_stream_wake(tt_web_stream *stream) {
  if (!g_atomic_int_compare_and_exchange(&stream->scheduled, 0, 1)) return;
  GSource *source = g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT_IDLE);
  g_source_set_callback(source, on_wake, tt_web_stream_ref(stream), unref);
  g_source_attach(source, stream->context);
  g_source_unref(source);
}

static void forget(gpointer stream, GClosure *closure) {
  (void)closure;
  tt_web_stream_unref(stream);
}

tt_web_stream *tt_web_stream_new(const tt_web_request *request, SoupWebsocketConnection *connection,
                                 const tt_web_stream_source *source, void *context) {
  tt_web_stream *stream = g_new0(tt_web_stream, 1);
  g_atomic_ref_count_init(&stream->references);
  stream->web = request->web;
  stream->context = g_main_context_ref(tt_web_context(request->web));
  stream->connection = g_object_ref(connection);
  stream->socket = g_object_ref(tt_web_socket_of(request->message));
  stream->source = *source;
  stream->source_context = context;
  stream->frame = g_string_new(NULL);
  int size = KERNEL_BUFFER;
  setsockopt(g_socket_get_fd(stream->socket), SOL_SOCKET, SO_SNDBUF, &size,
             sizeof size);  // best effort
  g_signal_connect_data(connection, "closed", G_CALLBACK(on_closed), tt_web_stream_ref(stream),
                        forget, 0);
  return stream;
}

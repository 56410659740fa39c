/* connections.c: who is accepted, how long each connection may take, and its end. */
#include "base/log.h"
#include "web/internal.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#define SECOND 1000000
#define HEADER_DEADLINE 5.0    /* s for a request's header */
#define WITHDRAWN_DEADLINE 1.0 /* s for the last frame to one whose token was withdrawn */

GSocket *tt_web_socket_of(SoupServerMessage *message) {
  return g_object_get_data(G_OBJECT(message), "tether-socket");
}

void tt_web_find_socket(SoupServerMessage *message) {
  GSocketAddress *remote = soup_server_message_get_remote_address(message);
  GSocket *socket = remote ? g_object_get_data(G_OBJECT(remote), "tether-socket") : NULL;
  if (socket)
    g_object_set_data_full(G_OBJECT(message), "tether-socket", g_object_ref(socket),
                           g_object_unref);
}

tt_web_connection *tt_web_connection_at(tt_web *web, GSocket *socket) {
  return g_hash_table_lookup(web->connections, socket);
}

tt_web_connection *tt_web_connection_of(tt_web *web, SoupServerMessage *message) {
  return tt_web_connection_at(web, tt_web_socket_of(message));
}

void tt_web_set_deadline(tt_web_connection *connection, double seconds) {
  if (connection)
    connection->deadline = seconds > 0 ? g_get_monotonic_time() + (int64_t)(seconds * SECOND) : 0;
}

/* The token by which it was let in is none any more: a WebSocket is told, then it ends. */
static void withdraw(tt_web_connection *connection) {
  connection->role = TT_ROLE_NONE;
  tt_web_count(connection->web, &connection->web->stats.cut);
  SoupWebsocketConnection *frames = connection->frames;
  if (frames && soup_websocket_connection_get_state(frames) == SOUP_WEBSOCKET_STATE_OPEN) {
    tt_web_set_deadline(connection, WITHDRAWN_DEADLINE);
    soup_websocket_connection_close(frames, SOUP_WEBSOCKET_CLOSE_POLICY_VIOLATION,
                                    "the token was withdrawn, or has another role now");
  } else {
    g_socket_shutdown(connection->socket, TRUE, TRUE, NULL);
  }
}

static bool is_withdrawn(const tt_web *web, const tt_web_connection *connection) {
  if (connection->role == TT_ROLE_NONE) return false;
  const tt_token *token = tt_token_find(web->tokens, connection->token);
  return !token || token->role != connection->role;
}

static void cut_withdrawn(tt_web *web) {
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, web->connections);
  while (g_hash_table_iter_next(&iterator, NULL, &value))
    if (is_withdrawn(web, value)) withdraw(value);
}

static gboolean cut_late_connections(gpointer data) {
  tt_web *web = data;
  if (tt_web_look_at_tokens(web)) cut_withdrawn(web);
  int64_t now = g_get_monotonic_time();
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, web->connections);
  while (g_hash_table_iter_next(&iterator, NULL, &value)) {
    tt_web_connection *connection = value;
    bool late = connection->ends || (connection->deadline && connection->deadline <= now);
    if (!late && !tt_web_frame_is_late(connection, now)) continue;
    tt_web_unwatch_frames(connection);
    connection->deadline = 0;
    connection->ends = false;
    tt_web_count(web, &web->stats.cut);
    // libsoup notices, and lets go of the connection itself.
    g_socket_shutdown(connection->socket, TRUE, TRUE, NULL);
  }
  return G_SOURCE_CONTINUE;
}

static void on_connection_gone(gpointer data, GObject *object) {
  (void)object;
  tt_web_connection *connection = data;
  tt_web *web = connection->web;
  pthread_mutex_lock(&web->mutex);
  web->stats.connections--;
  pthread_mutex_unlock(&web->mutex);
  tt_web_unwatch_frames(connection);
  g_object_unref(connection->input);
  g_hash_table_remove(web->connections, connection->socket);
}

static void set_option(int fd, int level, int name, int value) {
  setsockopt(fd, level, name, &value, sizeof value);  // best effort
}

/* The same connection, of which is read what `input` gives. */
static GSocketConnection *read_in_turns(GSocketConnection *accepted, TtWebInput *input) {
  GIOStream *both = g_simple_io_stream_new(G_INPUT_STREAM(input),
                                           g_io_stream_get_output_stream(G_IO_STREAM(accepted)));
  GSocketConnection *made = G_SOCKET_CONNECTION(
      g_tcp_wrapper_connection_new(both, g_socket_connection_get_socket(accepted)));
  g_object_unref(both);
  /* Its streams count as closed once it is gone. */
  g_object_set_data_full(G_OBJECT(made), "tether-accepted", g_object_ref(accepted), g_object_unref);
  return made;
}

static void take_connection(tt_web *web, GSocketConnection *accepted) {
  if (g_hash_table_size(web->connections) >= (guint)web->options.max_connections) {
    tt_web_count(web, &web->stats.refused_connections);
    return;
  }
  GSocket *socket = g_socket_connection_get_socket(accepted);
  int fd = g_socket_get_fd(socket);
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 10000);
  g_socket_set_keepalive(socket, TRUE);
  tt_web_connection *connection = g_new0(tt_web_connection, 1);
  connection->web = web;
  connection->socket = socket;
  connection->input = tt_web_input_new(accepted, &web->turns);
  tt_web_set_deadline(connection, HEADER_DEADLINE);
  g_hash_table_insert(web->connections, socket, connection);
  GSocketConnection *served = read_in_turns(accepted, connection->input);
  g_object_weak_ref(G_OBJECT(served), on_connection_gone, connection);
  pthread_mutex_lock(&web->mutex);
  web->stats.connections++;
  pthread_mutex_unlock(&web->mutex);
  GError *error = NULL;
  GSocketAddress *local = g_socket_connection_get_local_address(accepted, NULL);
  GSocketAddress *remote = g_socket_connection_get_remote_address(accepted, NULL);
  /* libsoup knows no socket of a stream that it was given; the peer's address leads back to it. */
  if (remote)
    g_object_set_data_full(G_OBJECT(remote), "tether-socket", g_object_ref(socket), g_object_unref);
  if (!local || !remote ||
      !soup_server_accept_iostream(web->server, G_IO_STREAM(served), local, remote, &error)) {
    tt_log_warning("web: can't serve a connection: %s", error ? error->message : "it is gone");
    g_clear_error(&error);
  }
  g_clear_object(&local);
  g_clear_object(&remote);
  g_object_unref(served);
}

static void on_accepted(GObject *source, GAsyncResult *result, gpointer data);

static gboolean accept_next(gpointer data) {
  tt_web *web = data;
  g_socket_listener_accept_async(web->listener, web->accepting, on_accepted, web);
  return G_SOURCE_REMOVE;
}

static void accept_later(tt_web *web) {
  GSource *source = g_timeout_source_new(100);
  g_source_set_callback(source, accept_next, web, NULL);
  g_source_attach(source, web->context);
  g_source_unref(source);
}

static void on_accepted(GObject *source, GAsyncResult *result, gpointer data) {
  (void)source;
  tt_web *web = data;
  GError *error = NULL;
  GSocketConnection *accepted =
      g_socket_listener_accept_finish(web->listener, result, NULL, &error);
  if (accepted) {
    take_connection(web, accepted);
    g_object_unref(accepted);
    accept_next(web);
    return;
  }
  bool over = g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED);
  if (!over) {
    tt_log_warning("web: can't accept: %s", error->message);  // out of descriptors: try again soon
    accept_later(web);
  }
  g_clear_error(&error);
}

void tt_web_begin_accepting(tt_web *web) {
  GSource *tick = g_timeout_source_new(250);
  g_source_set_callback(tick, cut_late_connections, web, NULL);
  g_source_attach(tick, web->context);
  g_source_unref(tick);
  accept_next(web);
}

void tt_web_shut_connections(tt_web *web) {
  GHashTableIter iterator;
  gpointer value;
  g_hash_table_iter_init(&iterator, web->connections);
  while (g_hash_table_iter_next(&iterator, NULL, &value))
    g_socket_shutdown(((tt_web_connection *)value)->socket, TRUE, TRUE, NULL);
}

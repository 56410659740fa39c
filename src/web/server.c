/* server.c: a server's life, and what becomes of each request. */
#include "web/server.h"

#include "base/log.h"
#include "web/internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define SECOND 1000000
/** s for a request's body, between two requests, and for each piece of an answer. */
/** Bytes a second of a body that is kept, at the least, but for what `body_deadline` allows: a telephone far from its mast. */
#define BODY_RATE 16384
/** s in which the rest of a body that was refused is still read, so that whoever sends it sees the answer and not a broken connection. */
#define LINGER 5.0
#define IDLE_DEADLINE 60.0
#define PORTS_TRIED 100
#define DEFAULT_BODY 65536

tt_web_options tt_web_options_default(void) {
  return (tt_web_options){.listen = "127.0.0.1:8080",
                          .max_connections = 256,
                          .max_streams = 8,
                          .answer_deadline = 30,
                          .body_deadline = 30,
                          .max_bodies = 256u << 20};
}

GMainContext *tt_web_context(tt_web *web) { return web->context; }
const char *tt_web_address(const tt_web *web) { return web->address; }

/* --- requests --- */

/* What the token of a request allows, from tt_web_check_access() on. */
static void set_role(SoupServerMessage *message, tt_role role) {
  g_object_set_data(G_OBJECT(message), "tether-role", GINT_TO_POINTER(role));
}
static tt_role role_of(SoupServerMessage *message) {
  return (tt_role)GPOINTER_TO_INT(g_object_get_data(G_OBJECT(message), "tether-role"));
}

static tt_web_request request_of(tt_web *web, SoupServerMessage *message, const char *path) {
  return (tt_web_request){.web = web,
                          .message = message,
                          .method = soup_server_message_get_method(message),
                          .path = path,
                          .rest = "",
                          .query = g_uri_get_query(soup_server_message_get_uri(message)),
                          .role = role_of(message)};
}

static bool is_upgrade(SoupServerMessage *message) {
  const char *upgrade =
      soup_message_headers_get_one(soup_server_message_get_request_headers(message), "Upgrade");
  return upgrade && !g_ascii_strcasecmp(upgrade, "websocket");
}

static void add_security_headers(SoupServerMessage *message) {
  SoupMessageHeaders *headers = soup_server_message_get_response_headers(message);
  soup_message_headers_replace(
      headers, "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
      "connect-src 'self'; font-src 'self'; worker-src 'self' blob:; base-uri 'none'; "
      "form-action 'self'; frame-ancestors 'none'");
  soup_message_headers_replace(headers, "X-Content-Type-Options", "nosniff");
  soup_message_headers_replace(headers, "Referrer-Policy", "no-referrer");
  soup_message_headers_replace(headers, "Cross-Origin-Resource-Policy", "same-origin");
  soup_message_headers_replace(headers, "Cache-Control", "no-cache");
}

static bool is_long_body(SoupServerMessage *message) {
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  return soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CHUNKED ||
         soup_message_headers_get_content_length(headers) > DEFAULT_BODY;
}

/** As it stands in the message, and the last of this connection. */
static GString *text_of_answer(SoupServerMessage *message) {
  const char *name, *value;
  SoupMessageHeadersIter at;
  GBytes *body = soup_message_body_flatten(soup_server_message_get_response_body(message));
  const unsigned status = soup_server_message_get_status(message);
  GString *text = g_string_new(NULL);
  g_string_printf(text, "HTTP/1.1 %u %s\r\n", status, soup_status_get_phrase(status));
  soup_message_headers_iter_init(&at, soup_server_message_get_response_headers(message));
  while (soup_message_headers_iter_next(&at, &name, &value))
    if (g_ascii_strcasecmp(name, "Content-Length") != 0)
      g_string_append_printf(text, "%s: %s\r\n", name, value);
  g_string_append_printf(text, "Content-Length: %zu\r\n\r\n", g_bytes_get_size(body));
  g_string_append_len(text, g_bytes_get_data(body, NULL), (gssize)g_bytes_get_size(body));
  g_bytes_unref(body);
  return text;
}

/** libsoup answers once it has read the whole body, which of a long one may take longer than anybody waits: the answer goes ahead of it,
 *  and what still comes is read for a moment. Whoever asked whether to send it (Expect) has libsoup's answer at once. */
static void answer_ahead(const tt_web_request *request) {
  SoupServerMessage *message = request->message;
  GSocket *socket = tt_web_socket_of(message);
  tt_web_connection *connection = tt_web_connection_of(request->web, message);
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
  if (!connection || !is_long_body(message) || soup_message_headers_get_expectations(headers))
    return;
  GString *text = text_of_answer(message);
  g_socket_send_with_blocking(socket, text->str, text->len, FALSE, NULL, NULL);
  g_socket_shutdown(socket, FALSE, TRUE, NULL);
  g_string_free(text, TRUE);
  tt_web_set_deadline(connection, LINGER);
}

/** Refuses before the body is read: it is thrown away, and the connection ends with the answer. */
static void refuse(const tt_web_request *request, unsigned status, const char *text) {
  tt_web_count(request->web, &request->web->stats.refused_requests);
  soup_message_body_set_accumulate(soup_server_message_get_request_body(request->message), FALSE);
  soup_message_headers_replace(soup_server_message_get_response_headers(request->message),
                               "Connection", "close");
  char *body = g_strdup_printf("{\"error\": \"%s\"}\n", text);
  tt_web_respond(request, status, "application/json", body, strlen(body));
  g_free(body);
}

/** The same, as its head comes. */
static void refuse_head(const tt_web_request *request, unsigned status, const char *text) {
  refuse(request, status, text);
  answer_ahead(request);
}

/** What of a request's body may still come, and what of it is kept. */
typedef struct body_count {
  size_t left, kept;
  int64_t begun;    /**< µs monotonic */
  unsigned refused; /**< HTTP: why it was cut; 0: it was not */
} body_count;

static body_count *count_of(SoupServerMessage *message) {
  return g_object_get_data(G_OBJECT(message), "tether-body");
}

static bool is_kept(SoupServerMessage *message) {
  return soup_message_body_get_accumulate(soup_server_message_get_request_body(message));
}

/** Short ones always have room, or who sends long ones slowly would keep everybody from everything. */
static bool has_room(const tt_web *web, goffset whole, size_t more) {
  return whole <= DEFAULT_BODY || web->bodies + more <= web->options.max_bodies;
}

static void give_room(tt_web *web, body_count *count) {
  web->bodies -= count->kept;
  count->kept = 0;
}

static void refuse_body(const tt_web_request *request, unsigned status);

/** What is there of it goes at once; whoever sends it is told so, and the connection ends. */
static void cut(tt_web *web, SoupServerMessage *message, unsigned status) {
  body_count *count = count_of(message);
  SoupMessageBody *body = soup_server_message_get_request_body(message);
  tt_web_connection *connection = tt_web_connection_of(web, message);
  count->refused = status;
  give_room(web, count);
  soup_message_body_set_accumulate(body, FALSE);
  soup_message_body_truncate(body);
  if (connection) connection->ends = true;
  const tt_web_request request = {.web = web, .message = message};
  refuse_body(&request, status);
  answer_ahead(&request);
}

/** For the next piece of a body that is kept, and for all of it: a large one may take long on a slow line, but not for ever. */
static void wait_for_more(tt_web *web, SoupServerMessage *message, const body_count *count) {
  const double patience = web->options.body_deadline,
               taken = (double)(g_get_monotonic_time() - count->begun) / SECOND,
               left = patience + (double)count->kept / BODY_RATE - taken;
  tt_web_set_deadline(tt_web_connection_of(web, message), CLAMP(left, 0.001, patience));
}

/** A body without a declared length is counted as it comes; those that are kept until they are whole, all together. */
static void on_chunk(SoupServerMessage *message, GBytes *chunk, gpointer data) {
  tt_web *web = data;
  body_count *count = count_of(message);
  const size_t size = g_bytes_get_size(chunk);
  const bool kept = is_kept(message);
  if (count->refused) return;
  if (size > count->left) {
    cut(web, message, 413);
  } else if (kept && !has_room(web, (goffset)(count->kept + size), size)) {
    cut(web, message, 503);
  } else {
    count->left -= size;
    if (!kept) return;
    count->kept += size;
    web->bodies += size;
    wait_for_more(web, message, count);
  }
}

/** Answered, or its connection is gone. */
static void on_finished(SoupServerMessage *message, gpointer data) {
  give_room(data, count_of(message));
}

static void limit_body(tt_web *web, SoupServerMessage *message, size_t limit) {
  body_count *count = g_new0(body_count, 1);
  count->left = limit;
  count->begun = g_get_monotonic_time();
  g_object_set_data_full(G_OBJECT(message), "tether-body", count, g_free);
  g_signal_connect(message, "got-chunk", G_CALLBACK(on_chunk), web);
  g_signal_connect(message, "finished", G_CALLBACK(on_finished), web);
}

static void refuse_body(const tt_web_request *request, unsigned status) {
  if (status == 503)
    soup_message_headers_replace(soup_server_message_get_response_headers(request->message),
                                 "Retry-After", "1");
  refuse(request, status,
         status == 503 ? "too much is being sent here at the moment; try again"
                       : "the body is too long");
}

static void on_body(SoupServerMessage *message, gpointer data) {
  tt_web_connection *connection = tt_web_connection_of(data, message);
  tt_web_set_deadline(connection, 0);
  if (connection) tt_web_input_body(connection->input, false);
}

static void on_wrote_chunk(SoupServerMessage *message, gpointer data) {
  tt_web *web = data;
  tt_web_set_deadline(tt_web_connection_of(web, message), web->options.answer_deadline);
}

/** Lets a connection stay behind an answer that has no body. libsoup takes the length from it while it writes its head, then takes what has
 *  none for an answer that ends with the connection, and ends that without a word. */
static void keep_if_empty(SoupServerMessage *message) {
  const unsigned status = soup_server_message_get_status(message);
  if (status == SOUP_STATUS_NO_CONTENT || status == SOUP_STATUS_NOT_MODIFIED)
    soup_message_headers_set_encoding(soup_server_message_get_response_headers(message),
                                      SOUP_ENCODING_NONE);
}

static void on_wrote_headers(SoupServerMessage *message, gpointer data) {
  tt_web *web = data;
  keep_if_empty(message);
  if (!is_upgrade(message))
    tt_web_set_deadline(tt_web_connection_of(web, message), web->options.answer_deadline);
}

static void on_wrote_body(SoupServerMessage *message, gpointer data) {
  tt_web_connection *connection = tt_web_connection_of(data, message);
  tt_web_set_deadline(connection, IDLE_DEADLINE);
  if (connection) tt_web_input_rest(connection->input, true);
}

/** False: it was refused. */
static bool check_role(const tt_web_request *request, tt_role needed) {
  if (request->role >= needed) return true;
  char *text = g_strdup_printf("this needs a token of the role %s; yours may %s",
                               tt_role_names[needed], tt_role_names[request->role]);
  refuse_head(request, 403, text);
  g_free(text);
  return false;
}

static void check_socket_route(const tt_web_request *request) {
  const tt_web_socket_route *route = tt_web_find_socket_route(request->web, request->path);
  if (route)
    check_role(request, tt_web_socket_role(route));
  else
    refuse_head(request, 404, "there is no WebSocket at this path");
}

static void refuse_method(const tt_web_request *request, const tt_web_route *route) {
  char *methods = tt_web_methods(route);
  soup_message_headers_replace(soup_server_message_get_response_headers(request->message), "Allow",
                               methods);
  refuse_head(request, 405, "this method is not allowed here");
  g_free(methods);
}

static void check_route(const tt_web_request *request) {
  tt_web *web = request->web;
  const char *rest;
  const tt_web_route *route = tt_web_find_route(web, request->path, &rest);
  if (!route) {
    refuse_head(request, 404, "there is nothing at this path");
    return;
  }
  tt_role needed = tt_web_role_needed(route, request->method);
  if (needed == TT_ROLE_NONE) {
    refuse_method(request, route);
    return;
  }
  if (!check_role(request, needed)) return;
  size_t limit = route->max_body ? route->max_body : DEFAULT_BODY;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers(request->message);
  const goffset length = soup_message_headers_get_content_length(headers); /* 0: not declared */
  if (length > (goffset)limit) {
    refuse_body(request, 413);
    answer_ahead(request);
    return;
  }
  limit_body(web, request->message, limit);
  if (route->begin) {
    tt_web_request passed = *request;
    passed.rest = rest;
    route->begin(route->context, &passed);
  }
  if (is_kept(request->message) && !has_room(web, length, (size_t)length)) {
    refuse_body(request, 503);
    answer_ahead(request);
    return;
  }
  tt_web_connection *connection = tt_web_connection_of(web, request->message);
  if (connection) tt_web_input_body(connection->input, is_kept(request->message));
}

/** False: it was refused. */
static bool check_access(tt_web_request *request) {
  tt_web_access access = tt_web_check_access(request->web, request->message);
  tt_web_connection *connection = tt_web_connection_of(request->web, request->message);
  if (access.retry_after) {
    char *seconds = g_strdup_printf("%d", access.retry_after);
    soup_message_headers_replace(soup_server_message_get_response_headers(request->message),
                                 "Retry-After", seconds);
    g_free(seconds);
  }
  if (access.reason) {
    if (connection) connection->role = TT_ROLE_NONE;  // it has an answer, which is not to be cut
    refuse_head(request, access.code, access.reason);
    return false;
  }
  request->role = access.role;
  set_role(request->message, access.role);
  if (connection && request->web->tokens->len) {
    connection->role = access.role;
    memcpy(connection->token, access.token, sizeof connection->token);
  }
  return true;
}

/** libsoup takes the end of a connection for the end of a chunked body, and doesn't see it a second time. */
static void close_if_chunked(SoupServerMessage *message) {
  if (soup_message_headers_get_encoding(soup_server_message_get_request_headers(message)) ==
      SOUP_ENCODING_CHUNKED)
    soup_message_headers_replace(soup_server_message_get_response_headers(message), "Connection",
                                 "close");
}

/** libsoup would cut answers by it: as many pieces as are asked for, however they overlap. Here an answer is always whole, which a server
 *  may give to any range (RFC 9110, 14.2). */
static void ignore_ranges(SoupServerMessage *message) {
  soup_message_headers_remove(soup_server_message_get_request_headers(message), "Range");
}

/** The headers are there. */
static void on_headers(SoupServer *server, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data) {
  (void)server, (void)query;
  tt_web *web = data;
  tt_web_request request = request_of(web, message, path);
  tt_web_find_socket(message);
  tt_web_count(web, &web->stats.requests);
  add_security_headers(message);
  ignore_ranges(message);
  close_if_chunked(message);
  tt_web_connection *connection = tt_web_connection_of(web, message);
  tt_web_set_deadline(connection, web->options.body_deadline);
  if (connection) tt_web_input_rest(connection->input, false);
  g_signal_connect(message, "got-body", G_CALLBACK(on_body), web);
  g_signal_connect(message, "wrote-headers", G_CALLBACK(on_wrote_headers), web);
  g_signal_connect(message, "wrote-chunk", G_CALLBACK(on_wrote_chunk), web);
  g_signal_connect(message, "wrote-body", G_CALLBACK(on_wrote_body), web);
  if (!check_access(&request)) return;
  if (is_upgrade(message))
    check_socket_route(&request);
  else
    check_route(&request);
}

/** The body is there too. */
static void on_request(SoupServer *server, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer data) {
  (void)server, (void)query;
  tt_web *web = data;
  if (is_upgrade(message)) return;
  tt_web_request request = request_of(web, message, path);
  const body_count *count = count_of(message);
  if (count && count->refused) return; /* what is there of it is not the whole */
  const tt_web_route *route = tt_web_find_route(web, path, &request.rest);
  if (route) route->handle(route->context, &request);
}

static void on_websocket(SoupServer *server, SoupServerMessage *message, const char *path,
                         SoupWebsocketConnection *connection, gpointer data) {
  (void)server;
  tt_web *web = data;
  tt_web_connection *beneath = tt_web_connection_of(web, message);
  tt_web_set_deadline(beneath, 0);
  const tt_web_socket_route *route = tt_web_find_socket_route(web, path);
  if (!route) return;
  soup_websocket_connection_set_max_incoming_payload_size(connection, route->max_message);
  tt_web_watch_frames(beneath, connection, route->max_message);
  tt_web_request request = request_of(web, message, path);
  route->open(route->context, &request, connection);
}

/* --- beginning and end --- */

static bool asks_for_tokens(const tt_web *web) { return web->tokens_path || web->tokens->len; }

static tt_status parse_address(tt_web *web, tt_error *error) {
  const char *listen = web->options.listen, *colon = strrchr(listen, ':');
  char *end = NULL;
  guint64 port = colon ? g_ascii_strtoull(colon + 1, &end, 10) : 0;
  web->host = tt_web_host_name(listen);
  if (!strcmp(web->host, "localhost")) {
    g_free(web->host);
    web->host = g_strdup("127.0.0.1");
  }
  if (!colon || !colon[1] || *end || port > 65535 || !g_hostname_is_ip_address(web->host)) {
    return tt_fail(error, TT_INVALID,
                   "web.listen: '%s' is no address; give one such as 127.0.0.1:8080", listen);
  }
  web->port = (guint16)port;
  GInetAddress *address = g_inet_address_new_from_string(web->host);
  bool loopback = g_inet_address_get_is_loopback(address);
  g_object_unref(address);
  if (!loopback && !asks_for_tokens(web)) {
    return tt_fail(error, TT_INVALID,
                   "web.listen: %s can be reached from outside; set web.token or web.tokens, or "
                   "listen on 127.0.0.1",
                   listen);
  }
  return TT_OK;
}

/* Who trusts a proxy has visitors from elsewhere. */
static tt_status open_proxies(tt_web *web, tt_error *error) {
  TT_TRY(tt_web_proxies_read(web->options.proxies, &web->proxies, error));
  if (web->proxies->len && !asks_for_tokens(web))
    return tt_fail(error, TT_INVALID,
                   "web.proxies: who comes through a proxy needs a token; set web.token or "
                   "web.tokens");
  return TT_OK;
}

tt_status tt_web_new(const tt_web_options *options, tt_web **out, tt_error *error) {
  tt_web *web = g_new0(tt_web, 1);
  web->options = *options;
  web->tokens_path = options->tokens && *options->tokens ? g_strdup(options->tokens) : NULL;
  web->token = g_strdup(options->token);
  web->tries = tt_web_tries_new();
  web->hosts = g_strdupv((char **)options->hosts);
  web->context = g_main_context_new();
  web->routes = g_array_new(FALSE, FALSE, sizeof(tt_web_route));
  web->sockets = g_array_new(FALSE, FALSE, sizeof(tt_web_socket_route));
  web->connections = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL, g_free);
  pthread_mutex_init(&web->mutex, NULL);
  g_atomic_ref_count_init(&web->references);
  tt_web_add_access_route(web);
  tt_status status = tt_web_open_tokens(web, error);
  if (status == TT_OK) status = open_proxies(web, error);
  if (status == TT_OK) status = parse_address(web, error);
  if (status != TT_OK) {
    tt_web_free(web);
    return status;
  }
  *out = web;
  return TT_OK;
}

static bool listen_on(tt_web *web, guint16 port, GError **error) {
  GInetAddress *host = g_inet_address_new_from_string(web->host);
  GSocketAddress *address = g_inet_socket_address_new(host, port);
  GSocketAddress *effective = NULL;
  bool listening = g_socket_listener_add_address(web->listener, address, G_SOCKET_TYPE_STREAM,
                                                 G_SOCKET_PROTOCOL_TCP, NULL, &effective, error);
  if (listening) {
    bool six = g_inet_address_get_family(host) == G_SOCKET_FAMILY_IPV6;
    web->port = g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(effective));
    web->address = g_strdup_printf(six ? "http://[%s]:%u" : "http://%s:%u", web->host, web->port);
    g_object_unref(effective);
  }
  g_object_unref(address);
  g_object_unref(host);
  return listening;
}

static tt_status open_listener(tt_web *web, tt_error *error) {
  int tries = web->options.next_free ? PORTS_TRIED : 1;
  GError *reason = NULL;
  web->listener = g_socket_listener_new();
  g_socket_listener_set_backlog(web->listener, 128);
  for (int i = 0; i < tries; i++) {
    g_clear_error(&reason);
    if (listen_on(web, (guint16)(web->port + i), &reason)) return TT_OK;
    if (!g_error_matches(reason, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE)) break;
  }
  bool taken = g_error_matches(reason, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE);
  tt_status status =
      tt_fail(error, TT_FAILED, "web.listen: %s: %s", web->options.listen,
              taken ? "port in use by another program; stop that one or give another port"
                    : reason->message);
  g_clear_error(&reason);
  return status;
}

static gpointer serve(gpointer data) {
  tt_web *web = data;
  g_main_context_push_thread_default(web->context);
  g_main_loop_run(web->loop);
  g_main_context_pop_thread_default(web->context);
  return NULL;
}

static GSocket *listen_briefly(void) {
  GSocket *socket =
      g_socket_new(G_SOCKET_FAMILY_IPV4, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);
  GSocketAddress *address = g_inet_socket_address_new_from_string("127.0.0.1", 0);
  if (socket && (!g_socket_bind(socket, address, FALSE, NULL) || !g_socket_listen(socket, NULL)))
    g_clear_object(&socket);
  g_object_unref(address);
  return socket;
}

/* libsoup keeps a connection for its next request only while it listens somewhere itself. Connections are accepted here, so
 * it has a socket to which the kernel lets nobody any more, in a context that nobody looks at. */
static void let_connections_stay(tt_web *web) {
  GError *error = NULL;
  GSocket *nowhere = listen_briefly();
  GMainContext *never = g_main_context_new();
  g_main_context_push_thread_default(never);
  if (!nowhere || !soup_server_listen_socket(web->server, nowhere, 0, &error))
    tt_log_warning("web: each request needs a connection of its own: %s",
                   error ? error->message : "no socket is left");
  if (nowhere) shutdown(g_socket_get_fd(nowhere), SHUT_RDWR);  // it listens no more
  g_main_context_pop_thread_default(never);
  g_main_context_unref(never);
  g_clear_error(&error);
  g_clear_object(&nowhere);
}

tt_status tt_web_start(tt_web *web, tt_error *error) {
  g_main_context_push_thread_default(web->context);
  tt_status status = open_listener(web, error);
  if (status == TT_OK) {
    web->server = soup_server_new("server-header", "tether", NULL);
    soup_server_add_early_handler(web->server, "/", on_headers, web, NULL);
    soup_server_add_handler(web->server, "/", on_request, web, NULL);
    soup_server_add_websocket_handler(web->server, "/", NULL, NULL, on_websocket, web, NULL);
    /* libsoup unpacks a frame whole, however much comes out of it. */
    soup_server_remove_websocket_extension(web->server, SOUP_TYPE_WEBSOCKET_EXTENSION_DEFLATE);
    let_connections_stay(web);
    web->accepting = g_cancellable_new();
    tt_web_begin_accepting(web);
    web->loop = g_main_loop_new(web->context, FALSE);
  }
  g_main_context_pop_thread_default(web->context);
  if (status == TT_OK) web->thread = g_thread_new("web", serve, web);
  return status;
}

static gboolean quit(gpointer data) {
  g_main_loop_quit(((tt_web *)data)->loop);
  return G_SOURCE_REMOVE;
}

static bool answers(tt_web *web) { return web->answers_due > 0; }

static bool works(tt_web *web) {
  return g_hash_table_size(web->connections) || tt_web_slots_taken(web) ||
         !g_atomic_ref_count_compare(&web->references, 1) || g_main_context_pending(web->context);
}

/* Goes on with the web's context as long as `busy` says so, but not beyond `end` (µs monotonic). */
static void go_on_while(tt_web *web, bool (*busy)(tt_web *web), int64_t end) {
  while (busy(web) && g_get_monotonic_time() < end)
    if (!g_main_context_iteration(web->context, FALSE)) g_usleep(1000);
}

/** In the web's context, its thread being gone: who waits for an answer gets it, as one who chose another scene; then everything
 *  closes and says so to its owners. */
static void close_all(tt_web *web) {
  int64_t start = g_get_monotonic_time();
  g_cancellable_cancel(web->accepting);
  go_on_while(web, answers, start + SECOND / 2);
  tt_web_leave_later(web); /* libsoup does not tell that their connections are gone */
  soup_server_disconnect(web->server);
  tt_web_shut_connections(web);
  go_on_while(web, works, start + 3 * SECOND / 4);
}

tt_web *tt_web_ref(tt_web *web) {
  g_atomic_ref_count_inc(&web->references);
  return web;
}

void tt_web_unref(tt_web *web) {
  if (!g_atomic_ref_count_dec(&web->references)) return;
  pthread_mutex_destroy(&web->mutex);
  g_free(web);
}

void tt_web_free(tt_web *web) {
  if (!web) return;
  if (web->thread) {
    g_main_context_invoke(web->context, quit, web);
    g_thread_join(web->thread);
    g_main_context_push_thread_default(web->context);
    close_all(web);
    tt_web_forget_later(web);
    g_main_context_pop_thread_default(web->context);
  }
  g_clear_object(&web->server);
  g_clear_object(&web->listener);
  g_clear_object(&web->accepting);
  if (web->loop) g_main_loop_unref(web->loop);
  g_main_context_unref(web->context);
  g_array_unref(web->routes);
  if (web->figures) g_array_unref(web->figures);
  g_array_unref(web->sockets);
  g_hash_table_unref(web->connections);
  g_strfreev(web->hosts);
  g_free(web->host);
  g_free(web->token);
  g_free(web->tokens_path);
  g_array_unref(web->tokens);
  if (web->proxies) g_ptr_array_unref(web->proxies);
  tt_web_tries_free(web->tries);
  g_free(web->address);
  tt_web_unref(web);
}

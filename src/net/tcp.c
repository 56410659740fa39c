/* tcp.c: TCP servers, clients that reconnect, and the connections of both. */
#include "core/log.h"
#include "net/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128
#define ACCEPTS_A_TURN 64
#define SAY_AGAIN_AFTER 1000000000u /* ns */

struct tt_tcp {
  tt_source source; /* first: read_connection gets it */
  uv_poll_t poll;
  tt_net *net;
  tt_tcp_server *server;   /* of an accepted connection, while it is open */
  tt_tcp_client *client;   /* of one that we made */
  tt_tcp *previous, *next; /* the server's list */
  tt_tcp_handler handler;
  void *context;
  size_t max_queued;
  int socket;
  int connect_error; /* errno of a connect() that failed at once */
  bool connecting, paused, closed, silent;
  uint8_t *queue; /* bytes that the kernel did not take yet */
  size_t queued, queue_capacity;
  char peer[TT_ADDRESS_TEXT];
  char reason[96];
};

struct tt_tcp_server {
  tt_endpoint endpoint;
  uv_poll_t poll;
  tt_net *net;
  tt_tcp_options options;
  tt_allowed allowed;
  int socket;
  tt_tcp *connections;
  int connection_count;
  uint64_t refused, refused_said, refused_said_at;
  char address[TT_ADDRESS_TEXT];
};

struct tt_tcp_client {
  tt_endpoint endpoint;
  uv_timer_t timer;
  tt_net *net;
  tt_tcp_options options;
  tt_address address;
  tt_tcp *tcp;
};

static void retry_later(tt_tcp_client *client);

tt_tcp_options tt_tcp_options_default(void) {
  return (tt_tcp_options){
      .max_connections = 16, .max_queued = 1 << 20, .dead_after = 5, .reconnect = 1};
}

/* --- a connection --- */

static void set_option(int socket, int level, int option, int value) {
  setsockopt(socket, level, option, &value, sizeof value);
}

/* One segment a send, and a peer whose kernel is silent for `dead_after` seconds counts as gone. */
static void tune(int socket, double dead_after) {
  int probe = dead_after >= 3 ? (int)(dead_after / 3) : 1;
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, probe);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, probe);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 2);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(dead_after * 1000));
}

static void free_tcp(tt_tcp *tcp) {
  free(tcp->queue);
  free(tcp);
}

static void detach(tt_tcp *tcp) {
  if (tcp->client) tcp->client->tcp = NULL;
  if (!tcp->server) return;
  if (tcp->previous)
    tcp->previous->next = tcp->next;
  else
    tcp->server->connections = tcp->next;
  if (tcp->next) tcp->next->previous = tcp->previous;
  tcp->server->connection_count--;
  tcp->server = NULL;
}

static void on_closed(uv_handle_t *handle) {
  tt_tcp *tcp = handle->data;
  if (!tcp->silent) {
    tcp->net->callbacks++;
    tcp->handler.on_close(tcp->context, tcp, tcp->reason);
  }
  free_tcp(tcp);
}

static void drop_connection(tt_tcp *tcp) {
  tcp->closed = true;
  detach(tcp);
  tt_net_remove_source(tcp->net, &tcp->source);
  uv_poll_stop(&tcp->poll);
  close(tcp->socket);
  tcp->net->loop_due = true;
  uv_close((uv_handle_t *)&tcp->poll, on_closed);
}

static void flush_queue(tt_tcp *tcp);

void tt_tcp_close(tt_tcp *tcp, const char *reason) {
  if (tcp->closed) return;
  snprintf(tcp->reason, sizeof tcp->reason, "%s", reason);
  tt_tcp_client *client = tcp->client;
  flush_queue(tcp);
  if (tcp->closed) return; /* the flush found it broken */
  drop_connection(tcp);
  if (client) retry_later(client);
}

static const char *reason_of(int error) {
  switch (error) {
    case ECONNRESET:
    case EPIPE: return "reset by peer";
    case ETIMEDOUT: return "timed out";
    default: return strerror(error);
  }
}

static void broken(tt_tcp *tcp, int error) {
  tcp->queued = 0;
  tt_tcp_close(tcp, reason_of(error));
}

static void read_connection(tt_source *source) {
  tt_tcp *tcp = (tt_tcp *)source;
  tt_net *net = tcp->net;
  if (tcp->paused) return;
  ssize_t got = recv(tcp->socket, net->buffer, sizeof net->buffer, MSG_DONTWAIT);
  if (got > 0) {
    net->callbacks++;
    tcp->handler.on_data(tcp->context, tcp, net->buffer, (size_t)got);
  } else if (got == 0) {
    tt_tcp_close(tcp, "closed by peer");
  } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
    broken(tcp, errno);
  }
}

static void on_ready(uv_poll_t *poll, int status, int events);

static void watch(tt_tcp *tcp) {
  int events =
      (tcp->paused ? 0 : UV_READABLE) | (tcp->queued ? UV_WRITABLE : 0); /* 0: not at all */
  uv_poll_start(&tcp->poll, events, on_ready);
}

/* Gives the kernel as much as it takes; 0 when it takes nothing now. */
static size_t send_some(tt_tcp *tcp, const void *bytes, size_t size) {
  for (;;) {
    ssize_t sent = send(tcp->socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent >= 0) return (size_t)sent;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) broken(tcp, errno);
    return 0;
  }
}

static void flush_queue(tt_tcp *tcp) {
  if (tcp->queued == 0) return;
  size_t sent = send_some(tcp, tcp->queue, tcp->queued);
  if (tcp->closed) return;
  tcp->queued -= sent;
  memmove(tcp->queue, tcp->queue + sent, tcp->queued);
}

static void on_ready(uv_poll_t *poll, int status, int events) {
  tt_tcp *tcp = poll->data;
  if (status < 0) events |= UV_READABLE; /* recv() will say what is wrong */
  if (events & UV_WRITABLE) {
    flush_queue(tcp);
    if (!tcp->closed) watch(tcp);
  }
  if (events & UV_READABLE && !tcp->closed) read_connection(&tcp->source);
  if (status < 0 && !tcp->closed) watch(tcp); /* libuv stopped watching */
}

static tt_status enqueue(tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  if (tcp->queued + size > tcp->max_queued) {
    char reason[96];
    snprintf(reason, sizeof reason, "too slow a reader: %zu bytes unsent", tcp->queued + size);
    tcp->queued = 0;
    tt_tcp_close(tcp, reason);
    return TT_FULL;
  }
  if (tcp->queued + size > tcp->queue_capacity) {
    size_t capacity = 2 * (tcp->queued + size);
    uint8_t *queue = realloc(tcp->queue, capacity);
    if (!queue) {
      tt_tcp_close(tcp, "out of memory");
      return TT_FULL;
    }
    tcp->queue = queue;
    tcp->queue_capacity = capacity;
  }
  memcpy(tcp->queue + tcp->queued, bytes, size);
  tcp->queued += size;
  watch(tcp);
  return TT_OK;
}

tt_status tt_tcp_send(tt_tcp *tcp, const void *bytes, size_t size) {
  if (tcp->closed || tcp->connecting) return TT_CLOSED;
  size_t sent = tcp->queued ? 0 : send_some(tcp, bytes, size);
  if (tcp->closed) return TT_CLOSED;
  return sent == size ? TT_OK : enqueue(tcp, (const uint8_t *)bytes + sent, size - sent);
}

void tt_tcp_pause(tt_tcp *tcp, bool paused) {
  if (tcp->closed || tcp->paused == paused) return;
  tcp->paused = paused;
  watch(tcp);
}

bool tt_tcp_closed(const tt_tcp *tcp) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (tcp->closed) return true;
  return getsockopt(tcp->socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state != TCP_ESTABLISHED;
}

const char *tt_tcp_peer(const tt_tcp *tcp) { return tcp->peer; }

size_t tt_tcp_queued(const tt_tcp *tcp) { return tcp->queued; }

void tt_tcp_set_context(tt_tcp *tcp, void *context) { tcp->context = context; }

/* Takes over `socket`; closes it when NULL is returned. */
static tt_tcp *new_tcp(tt_net *net, int socket, const tt_tcp_options *options,
                       const tt_address *peer) {
  tt_tcp *tcp = calloc(1, sizeof *tcp);
  if (!tcp || uv_poll_init(&net->loop, &tcp->poll, socket) != 0) {
    close(socket);
    free(tcp);
    return NULL;
  }
  tcp->source = (tt_source){.read = read_connection, .index = -1};
  tcp->poll.data = tcp;
  tcp->net = net;
  tcp->handler = options->handler;
  tcp->context = options->context;
  tcp->max_queued = options->max_queued;
  tcp->socket = socket;
  tt_address_format(peer, tcp->peer);
  tune(socket, options->dead_after);
  return tcp;
}

static void opened(tt_tcp *tcp) {
  tcp->connecting = false;
  if (tt_net_add_source(tcp->net, &tcp->source, NULL) != TT_OK) {
    tcp->silent = true;
    tt_tcp_close(tcp, "out of memory");
    return;
  }
  watch(tcp);
  tcp->net->loop_due = true;
  tcp->net->callbacks++;
  tcp->handler.on_open(tcp->context, tcp);
}

/* --- the server --- */

static void say_refused(tt_tcp_server *server, const char *peer, const char *why) {
  server->refused++;
  uint64_t now = tt_net_now();
  if (server->refused_said && now - server->refused_said_at < SAY_AGAIN_AFTER) return;
  tt_log_warning("%s: refused a connection from %s: %s (%llu refused since the last such line)",
                 server->address, peer, why,
                 (unsigned long long)(server->refused - server->refused_said));
  server->refused_said = server->refused;
  server->refused_said_at = now;
}

static void welcome(tt_tcp_server *server, int socket, const tt_address *peer) {
  char text[TT_ADDRESS_TEXT];
  tt_address_format(peer, text);
  const char *why = NULL;
  if (!tt_allowed_has(&server->allowed, peer)) why = "its address is not in allow";
  if (server->connection_count >= server->options.max_connections)
    why = "as many are connected as are allowed";
  if (why) {
    close(socket);
    say_refused(server, text, why);
    return;
  }
  tt_tcp *tcp = new_tcp(server->net, socket, &server->options, peer);
  if (!tcp) {
    say_refused(server, text, "out of memory");
    return;
  }
  tcp->server = server;
  tcp->next = server->connections;
  if (tcp->next) tcp->next->previous = tcp;
  server->connections = tcp;
  server->connection_count++;
  opened(tcp);
}

/* With no descriptor left, accept() would fail forever and the loop would spin: lends the spare one to say no. */
static void refuse_one(tt_tcp_server *server) {
  tt_net *net = server->net;
  if (net->spare_descriptor >= 0) close(net->spare_descriptor);
  int socket = accept4(server->socket, NULL, NULL, SOCK_CLOEXEC);
  if (socket >= 0) close(socket);
  net->spare_descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
  say_refused(server, "somebody", "no file descriptor is left; raise 'ulimit -n'");
}

static void on_knock(uv_poll_t *poll, int status, int events) {
  tt_tcp_server *server = poll->data;
  (void)status;
  (void)events;
  for (int i = 0; i < ACCEPTS_A_TURN; i++) {
    tt_address peer = {0};
    socklen_t size = sizeof peer;
    int socket = accept4(server->socket, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket >= 0) {
      welcome(server, socket, &peer);
    } else if (errno == EMFILE || errno == ENFILE) {
      refuse_one(server);
      return;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    }
  }
}

static void free_server(tt_tcp_server *server) {
  tt_allowed_close(&server->allowed);
  free(server);
}

static void on_server_closed(uv_handle_t *handle) { free_server(handle->data); }

void tt_tcp_server_close(tt_tcp_server *server) {
  if (!server) return;
  while (server->connections) {
    server->connections->silent = true;
    tt_tcp_close(server->connections, "the server ends");
  }
  tt_net_remove_endpoint(server->net, &server->endpoint);
  if (server->socket < 0) { /* it never listened */
    free_server(server);
    return;
  }
  uv_poll_stop(&server->poll);
  close(server->socket);
  server->net->loop_due = true;
  uv_close((uv_handle_t *)&server->poll, on_server_closed);
}

static void close_server_endpoint(tt_endpoint *endpoint) {
  tt_tcp_server_close((tt_tcp_server *)((char *)endpoint - offsetof(tt_tcp_server, endpoint)));
}

static tt_status open_listener(tt_tcp_server *server, tt_error *error) {
  tt_address address;
  TT_TRY(tt_address_parse(server->options.address, &address, error));
  TT_TRY(tt_allowed_open(&server->options.allow, &address, &server->allowed, error));
  TT_TRY(tt_net_bind(&address, SOCK_STREAM, &server->socket, error));
  if (listen(server->socket, BACKLOG) != 0) {
    int reason = errno; /* with SO_REUSEADDR a port in use may show only here */
    return tt_fail(error, TT_FAILED, "%s: %s", server->options.address,
                   reason == EADDRINUSE
                       ? "port in use by another program; stop that one or give another port"
                       : strerror(reason));
  }
  address = tt_address_of(server->socket);
  tt_address_format(&address, server->address);
  int failed = uv_poll_init(&server->net->loop, &server->poll, server->socket);
  return failed ? tt_fail(error, TT_FAILED, "%s: %s", server->address, uv_strerror(failed)) : TT_OK;
}

tt_status tt_tcp_listen(tt_net *net, const tt_tcp_options *options, tt_tcp_server **server_out,
                        tt_error *error) {
  *server_out = NULL;
  tt_tcp_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  *server = (tt_tcp_server){
      .endpoint = {.close = close_server_endpoint}, .net = net, .options = *options, .socket = -1};
  tt_status status = open_listener(server, error);
  if (status != TT_OK) {
    if (server->socket >= 0) close(server->socket);
    tt_allowed_close(&server->allowed);
    free(server);
    return status;
  }
  server->poll.data = server;
  tt_net_add_endpoint(net, &server->endpoint);
  uv_poll_start(&server->poll, UV_READABLE, on_knock);
  net->loop_due = true;
  *server_out = server;
  return TT_OK;
}

/* The two ends of a connection that somebody else accepted. */
static tt_status describe_adopted(tt_tcp_server *server, int socket, tt_address *peer,
                                  tt_error *error) {
  socklen_t size = sizeof *peer;
  if (getpeername(socket, &peer->any, &size) != 0)
    return tt_fail(error, TT_CLOSED, "the client is gone already: %s", strerror(errno));
  tt_address own = tt_address_of(socket);
  tt_address_format(&own, server->address);
  return tt_allowed_open(&server->options.allow, &own, &server->allowed, error);
}

tt_status tt_tcp_adopt(tt_net *net, int socket, const tt_tcp_options *options,
                       tt_tcp_server **server_out, tt_error *error) {
  *server_out = NULL;
  tt_address peer = {0};
  tt_tcp_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  *server = (tt_tcp_server){
      .endpoint = {.close = close_server_endpoint}, .net = net, .options = *options, .socket = -1};
  tt_status status = describe_adopted(server, socket, &peer, error);
  int copy = status == TT_OK ? fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1;
  if (status == TT_OK && copy < 0) status = tt_fail(error, TT_FAILED, "%s", strerror(errno));
  if (status != TT_OK) {
    free_server(server);
    return status;
  }
  tt_net_add_endpoint(net, &server->endpoint);
  welcome(server, copy, &peer);
  if (!server->connections) {
    tt_tcp_server_close(server);
    return tt_fail(error, TT_CLOSED, "the client was not let in");
  }
  *server_out = server;
  return TT_OK;
}

int tt_tcp_release(tt_tcp *tcp) {
  int socket = tcp->closed ? -1 : fcntl(tcp->socket, F_DUPFD_CLOEXEC, 1);
  tcp->silent = true;
  tt_tcp_close(tcp, "released");
  return socket;
}

const char *tt_tcp_server_address(const tt_tcp_server *server) { return server->address; }

uint64_t tt_tcp_server_refused(const tt_tcp_server *server) { return server->refused; }

/* --- the client --- */

static void on_connected(uv_poll_t *poll, int status, int events) {
  tt_tcp *tcp = poll->data;
  tt_tcp_client *client = tcp->client;
  (void)events;
  int reason = tcp->connect_error;
  socklen_t size = sizeof reason;
  if (!reason) getsockopt(tcp->socket, SOL_SOCKET, SO_ERROR, &reason, &size);
  if (status == 0 && reason == 0) {
    opened(tcp);
    return;
  }
  const char *text = reason ? reason_of(reason) : uv_strerror(status);
  tcp->silent = true;
  drop_connection(tcp);
  if (client->options.reconnect > 0) {
    retry_later(client);
    return;
  }
  client->net->callbacks++;
  client->options.handler.on_close(client->options.context, NULL, text);
}

static void attempt(tt_tcp_client *client) {
  int s = socket(client->address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  tt_tcp *tcp = s < 0 ? NULL : new_tcp(client->net, s, &client->options, &client->address);
  if (!tcp) {
    retry_later(client);
    return;
  }
  client->tcp = tcp;
  tcp->client = client;
  tcp->connecting = true;
  if (connect(s, &client->address.any, tt_address_size(&client->address)) != 0 &&
      errno != EINPROGRESS)
    tcp->connect_error = errno; /* told by on_connected like any other */
  uv_poll_start(&tcp->poll, UV_WRITABLE, on_connected);
}

static void on_timer(uv_timer_t *timer) { attempt(timer->data); }

static void retry_later(tt_tcp_client *client) {
  if (client->options.reconnect <= 0 || uv_is_closing((uv_handle_t *)&client->timer)) return;
  uv_update_time(&client->net->loop);
  uv_timer_start(&client->timer, on_timer, (uint64_t)(client->options.reconnect * 1000), 0);
}

static void on_client_closed(uv_handle_t *handle) { free(handle->data); }

void tt_tcp_client_close(tt_tcp_client *client) {
  if (!client || uv_is_closing((uv_handle_t *)&client->timer)) return;
  client->net->loop_due = true;
  uv_close((uv_handle_t *)&client->timer, on_client_closed);
  tt_net_remove_endpoint(client->net, &client->endpoint);
  if (!client->tcp) return;
  client->tcp->silent = true;
  tt_tcp_close(client->tcp, "the client ends");
}

static void close_client_endpoint(tt_endpoint *endpoint) {
  tt_tcp_client_close((tt_tcp_client *)((char *)endpoint - offsetof(tt_tcp_client, endpoint)));
}

tt_status tt_tcp_connect(tt_net *net, const tt_tcp_options *options, tt_tcp_client **client_out,
                         tt_error *error) {
  *client_out = NULL;
  tt_address address;
  TT_TRY(tt_address_parse(options->address, &address, error));
  tt_tcp_client *client = calloc(1, sizeof *client);
  if (!client) return tt_fail(error, TT_NOMEM, "out of memory");
  *client = (tt_tcp_client){.endpoint = {.close = close_client_endpoint},
                            .net = net,
                            .options = *options,
                            .address = address};
  uv_timer_init(&net->loop, &client->timer);
  client->timer.data = client;
  tt_net_add_endpoint(net, &client->endpoint);
  attempt(client);
  net->loop_due = true;
  *client_out = client;
  return TT_OK;
}

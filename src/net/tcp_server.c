/* tcp_server.c: TCP servers: who may come in, and who is in. */
#include "base/clock.h"
#include "base/log.h"
#include "net/tcp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128
#define ACCEPTS_A_TURN 64
#define SAY_AGAIN_AFTER 1000000000u /* ns */

struct tt_tcp_server {
  tt_tcp_owner owner; /* first: count_left gets it */
  tt_endpoint endpoint;
  uv_poll_t poll;
  tt_net *net;
  tt_tcp_options options;
  tt_allowed allowed;
  int socket;
  int connection_count; /* those that are not closed */
  uint64_t refused, refused_said, refused_said_at;
  char address[TT_ADDRESS_TEXT];
};

static void say_refused(tt_tcp_server *server, const char *peer, const char *why) {
  server->refused++;
  uint64_t now = tt_monotonic_ns();
  if (server->refused_said && now - server->refused_said_at < SAY_AGAIN_AFTER) return;
  tt_log_warning("%s: refused a connection from %s: %s (%llu refused since the last such line)",
                 server->address, peer, why,
                 (unsigned long long)(server->refused - server->refused_said));
  server->refused_said = server->refused;
  server->refused_said_at = now;
}

static void count_left(tt_tcp_owner *owner, tt_tcp *tcp) {
  (void)tcp;
  ((tt_tcp_server *)owner)->connection_count--;
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
  tt_tcp *tcp = tt_tcp_new(server->net, socket, &server->options, peer, &server->owner);
  if (!tcp) {
    say_refused(server, text, "out of memory");
    return;
  }
  server->connection_count++;
  tt_tcp_opened(tcp);
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
  tt_tcp_end_all(&server->owner, "the server ends");
  tt_net_remove_endpoint(server->net, &server->endpoint);
  if (server->socket < 0) { /* it never listened */
    free_server(server);
    return;
  }
  server->net->loop_due = true;
  uv_close((uv_handle_t *)&server->poll,
           on_server_closed); /* names the socket to the kernel once more */
  close(server->socket);
}

static void close_server_endpoint(tt_endpoint *endpoint) {
  tt_tcp_server_close((tt_tcp_server *)((char *)endpoint - offsetof(tt_tcp_server, endpoint)));
}

static tt_tcp_server *new_server(tt_net *net, const tt_tcp_options *options) {
  tt_tcp_server *server = calloc(1, sizeof *server);
  if (!server) return NULL;
  *server = (tt_tcp_server){.owner = {.left = count_left},
                            .endpoint = {.close = close_server_endpoint},
                            .net = net,
                            .options = *options,
                            .socket = -1};
  return server;
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
  tt_tcp_server *server = new_server(net, options);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
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
  tt_tcp_server *server = new_server(net, options);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = describe_adopted(server, socket, &peer, error);
  int copy = status == TT_OK ? fcntl(socket, F_DUPFD_CLOEXEC, 0) : -1;
  if (status == TT_OK && copy < 0) status = tt_fail(error, TT_FAILED, "%s", strerror(errno));
  if (status != TT_OK) {
    free_server(server);
    return status;
  }
  tt_net_add_endpoint(net, &server->endpoint);
  welcome(server, copy, &peer);
  if (server->connection_count == 0) {
    tt_tcp_server_close(server);
    return tt_fail(error, TT_CLOSED, "the client was not let in");
  }
  *server_out = server;
  return TT_OK;
}

const char *tt_tcp_server_address(const tt_tcp_server *server) { return server->address; }

uint64_t tt_tcp_server_refused(const tt_tcp_server *server) { return server->refused; }

/* server.c: the WebSockets that others open, and the plain requests that come to the same port. */
#include "websocket/internal.h"

#include "base/log.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define ANSWER_BYTES 4096 /* of the longest answer to a request */
#define MOST_ENTERING 64  /* connections that have not asked yet; a turn accepts as many */

struct tt_websocket_server {
  tt_websocket_owner owner; /* first: on_request_head gets it */
  tt_endpoint endpoint;
  tt_net *net;
  tt_tcp_server *tcp;
  tt_websocket_options options;
  tt_log_hold refused;
};

/* --- who finds room --- */

static void say_refused(tt_websocket_server *server, const tt_websocket *websocket,
                        const char *why) {
  char more[TT_LOG_MORE];
  if (tt_log_is_due(&server->refused, more))
    tt_log_warning("%s: refused %s: %s%s", tt_websocket_server_address(server),
                   tt_tcp_peer(websocket->tcp), why, more);
}

static int count_open(const tt_websocket_server *server, bool all) {
  int count = 0;
  for (const tt_websocket *one = server->owner.connections; one; one = one->next)
    count += one->opened && !one->dropped && (all || !one->trusted);
  return count;
}

/* Any page of the web may come in and read; all of them together leave others theirs. */
static bool has_room(const tt_websocket_server *server, bool trusted) {
  int most = server->options.max_connections;
  return count_open(server, true) < most &&
         (trusted || count_open(server, false) < most - most / 4);
}

/* Whoever connects and says nothing gives way to those that come after him. */
static void limit_entering(tt_websocket_server *server) {
  tt_websocket *oldest = NULL;
  int count = 0;
  for (tt_websocket *one = server->owner.connections; one; one = one->next) {
    if (one->opened || one->dropped) continue;
    oldest = one; /* the list begins with the newest */
    count++;
  }
  if (count <= MOST_ENTERING) return;
  say_refused(server, oldest, "others came before it had asked for anything");
  tt_websocket_close(oldest, 1013, "others came before it had asked for anything");
}

/* --- who asks --- */

/* Says no with an answer that people can read, and ends. */
static tt_status refuse(tt_websocket *websocket, const tt_handshake *asked,
                        const tt_handshake_answer *answer, tt_error *error) {
  char text[ANSWER_BYTES];
  size_t size = tt_handshake_answer_write(asked, answer, text, sizeof text);
  if (size > 0) tt_tcp_send(websocket->tcp, text, size);
  return tt_fail(error, TT_BAD_MESSAGE, "answered with %d", answer->status);
}

static tt_websocket_answer ask_handler(tt_websocket_server *server, const tt_websocket *websocket,
                                       const tt_handshake *asked) {
  const char *protocols[TT_HANDSHAKE_PROTOCOLS];
  for (int i = 0; i < asked->protocol_count; i++) protocols[i] = asked->protocols[i];
  tt_websocket_request request = {.method = asked->method,
                                  .path = asked->path,
                                  .origin = asked->origin,
                                  .protocols = protocols,
                                  .protocol_count = asked->protocol_count,
                                  .peer = tt_tcp_peer(websocket->tcp),
                                  .upgrade = asked->upgrade};
  tt_websocket_answer answer = {.status = 404,
                                .trusted = tt_handshake_is_own_origin(asked->origin)};
  server->options.handler.on_request(server->options.context, &request, &answer);
  if (answer.status == 101 && !asked->upgrade)
    answer = (tt_websocket_answer){.status = 426, .body = "This address speaks WebSocket."};
  if (answer.status == 101 && !has_room(server, answer.trusted)) {
    say_refused(server, websocket, "as many are connected as are allowed");
    answer = (tt_websocket_answer){.status = 503, .body = "As many are connected as are allowed."};
  }
  return answer;
}

static tt_status on_request_head(tt_websocket_owner *owner, tt_websocket *websocket,
                                 const char *head, size_t size, tt_error *error) {
  tt_websocket_server *server = (tt_websocket_server *)owner;
  tt_handshake asked;
  int status = 0;
  tt_error why = {""};
  if (tt_handshake_read(head, size, &asked, &status, &why) != TT_OK)
    return refuse(websocket, &asked, &(tt_handshake_answer){.status = status, .body = why.text},
                  error);
  tt_websocket_answer chosen = ask_handler(server, websocket, &asked);
  tt_handshake_answer answer = {.status = chosen.status,
                                .protocol = chosen.protocol,
                                .body = chosen.body,
                                .allow_origin = chosen.allow_origin};
  if (answer.status != 101) return refuse(websocket, &asked, &answer, error);
  char text[ANSWER_BYTES];
  size_t written = tt_handshake_answer_write(&asked, &answer, text, sizeof text);
  if (tt_tcp_send(websocket->tcp, text, written) != TT_OK)
    return tt_fail(error, TT_CLOSED, "gone before it was answered");
  snprintf(websocket->path, sizeof websocket->path, "%s", asked.path);
  snprintf(websocket->protocol, sizeof websocket->protocol, "%s",
           answer.protocol ? answer.protocol : "");
  snprintf(websocket->origin, sizeof websocket->origin, "%s", asked.origin);
  websocket->trusted = chosen.trusted;
  tt_websocket_opened(websocket);
  return TT_OK;
}

static void on_accepted(void *context, tt_tcp *tcp) {
  tt_websocket_server *server = context;
  tt_websocket_new(server->net, tcp, &server->options, &server->owner, true);
  limit_entering(server);
}

void tt_websocket_server_close(tt_websocket_server *server) {
  if (!server) return;
  tt_net_remove_endpoint(server->net, &server->endpoint);
  tt_tcp_server_close(server->tcp);
  tt_websocket_forget_all(&server->owner);
  free(server);
}

static void close_endpoint(tt_endpoint *endpoint) {
  tt_websocket_server_close(
      (tt_websocket_server *)((char *)endpoint - offsetof(tt_websocket_server, endpoint)));
}

tt_status tt_websocket_listen(tt_net *net, const tt_websocket_options *options,
                              tt_websocket_server **server_out, tt_error *error) {
  *server_out = NULL;
  tt_websocket_server *server = calloc(1, sizeof *server);
  if (!server) return tt_fail(error, TT_NOMEM, "out of memory");
  server->owner.on_head = on_request_head;
  server->endpoint.close = close_endpoint;
  server->net = net;
  server->options = *options;
  tt_tcp_options tcp = tt_tcp_options_default();
  tcp.address = options->address;
  tcp.max_connections = options->max_connections + MOST_ENTERING + 1;
  tcp.max_queued = options->max_queued;
  tcp.allow = options->allow;
  tcp.handler = (tt_tcp_handler){
      .on_open = on_accepted, .on_data = tt_websocket_on_data, .on_close = tt_websocket_on_gone};
  tcp.context = server;
  tt_status status = tt_tcp_listen(net, &tcp, &server->tcp, error);
  if (status != TT_OK) {
    free(server);
    return status;
  }
  tt_net_add_endpoint(net, &server->endpoint); /* closed before the TCP server, which it owns */
  *server_out = server;
  return TT_OK;
}

const char *tt_websocket_server_address(const tt_websocket_server *server) {
  return tt_tcp_server_address(server->tcp);
}

/* websocket_fuzz.c: any bytes behind a handshake, over real loopback, in portions: no crash, no leak, and the connection
 * ends when the peer's does. The first byte says how long a portion is.
 */
#include "websocket/websocket.h"

#include "net/address.h"
#include "net/socket_testing.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REQUEST                                                                                    \
  "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                     \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int opened, closed;

static void check(bool holds) {
  if (!holds) abort();
}

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  (void)context, (void)request;
  answer->status = 101;
}

static void on_open(void *context, tt_websocket *websocket) {
  (void)context, (void)websocket;
  opened++;
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  (void)context;
  check(size <= 1000);
  tt_websocket_send(websocket, text, bytes, size);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  (void)context;
  check(websocket != NULL && code >= 0 && reason[0]);
  closed++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tt_websocket_options options = tt_websocket_options_default();
  options.address = "127.0.0.1:0";
  options.max_message = 1000;
  options.handler = (tt_websocket_handler){on_request, on_open, on_message, on_close};
  tt_net *net = tt_net_new();
  tt_websocket_server *server;
  tt_address address;
  if (size == 0 || !net || tt_websocket_listen(net, &options, &server, NULL) != TT_OK) {
    tt_net_free(net);
    return 0;
  }
  tt_net_set_spin(net, 0);
  check(tt_address_parse(tt_websocket_server_address(server), &address, NULL) == TT_OK);
  int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  check(connect_to(s, &address.any, tt_address_size(&address)) == 0);
  check(send(s, REQUEST, sizeof REQUEST - 1, MSG_NOSIGNAL) == sizeof REQUEST - 1);
  opened = closed = 0;
  while (opened == 0) tt_net_poll(net, 1000000);
  size_t portion = data[0] ? data[0] : size;
  for (size_t at = 1; at < size && closed == 0; at += portion) {
    size_t part = size - at < portion ? size - at : portion;
    if (send(s, data + at, part, MSG_NOSIGNAL) < 0) break;
    tt_net_poll(net, 0);
  }
  close(s);
  while (closed == 0) tt_net_poll(net, 1000000);
  tt_websocket_server_close(server);
  tt_net_free(net);
  return 0;
}

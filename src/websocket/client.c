/* client.c: a WebSocket that we open, and again after each end. */
#include "websocket/internal.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUEST_BYTES 4096 /* of the longest request */

struct tt_websocket_client {
  tt_websocket_owner owner; /* first: on_answer_head gets it */
  tt_endpoint endpoint;
  tt_net *net;
  tt_tcp_client *tcp;
  tt_websocket_options options;
  tt_handshake_url url;
  char key[TT_HANDSHAKE_KEY];
};

static tt_status on_answer_head(tt_websocket_owner *owner, tt_websocket *websocket,
                                const char *head, size_t size, tt_error *error) {
  tt_websocket_client *client = (tt_websocket_client *)owner;
  const char *const *protocols = client->options.protocols;
  int chosen = -1;
  TT_TRY(tt_handshake_answer_read(head, size, client->key, protocols,
                                  client->options.protocol_count, &chosen, error));
  snprintf(websocket->path, sizeof websocket->path, "%s", client->url.path);
  snprintf(websocket->protocol, sizeof websocket->protocol, "%s",
           chosen >= 0 ? protocols[chosen] : "");
  websocket->trusted = true;
  tt_websocket_opened(websocket);
  return TT_OK;
}

static void on_connected(void *context, tt_tcp *tcp) {
  tt_websocket_client *client = context;
  char text[REQUEST_BYTES];
  if (!tt_websocket_new(client->net, tcp, &client->options, &client->owner, false)) return;
  tt_handshake_key(client->key);
  size_t size = tt_handshake_ask(&client->url, client->key, client->options.protocols,
                                 client->options.protocol_count, text, sizeof text);
  tt_tcp_send(tcp, text, size);
}

static void on_gone(void *context, tt_tcp *tcp, const char *reason) {
  if (tcp) {
    tt_websocket_on_gone(context, tcp, reason);
    return;
  }
  tt_websocket_client *client = context; /* its one attempt found nobody */
  client->options.handler.on_close(client->options.context, NULL, 0, reason);
}

void tt_websocket_client_close(tt_websocket_client *client) {
  if (!client) return;
  tt_net_remove_endpoint(client->net, &client->endpoint);
  tt_tcp_client_close(client->tcp);
  tt_websocket_forget_all(&client->owner);
  free(client);
}

static void close_endpoint(tt_endpoint *endpoint) {
  tt_websocket_client_close(
      (tt_websocket_client *)((char *)endpoint - offsetof(tt_websocket_client, endpoint)));
}

tt_status tt_websocket_connect(tt_net *net, const tt_websocket_options *options,
                               tt_websocket_client **client_out, tt_error *error) {
  *client_out = NULL;
  char text[REQUEST_BYTES];
  tt_websocket_client *client = calloc(1, sizeof *client);
  if (!client) return tt_fail(error, TT_NOMEM, "out of memory");
  client->owner.on_head = on_answer_head;
  client->endpoint.close = close_endpoint;
  client->net = net;
  client->options = *options;
  tt_status status = tt_handshake_url_read(options->url, &client->url, error);
  if (status == TT_OK && !tt_handshake_ask(&client->url, "", options->protocols,
                                           options->protocol_count, text, sizeof text))
    status = tt_fail(error, TT_INVALID, "%s: the request would be too long", options->url);
  tt_tcp_options tcp = tt_tcp_options_default();
  tcp.address = client->url.address;
  tcp.max_queued = options->max_queued;
  tcp.reconnect = options->reconnect;
  tcp.handler = (tt_tcp_handler){
      .on_open = on_connected, .on_data = tt_websocket_on_data, .on_close = on_gone};
  tcp.context = client;
  if (status == TT_OK) status = tt_tcp_connect(net, &tcp, &client->tcp, error);
  if (status != TT_OK) {
    free(client);
    return status;
  }
  tt_net_add_endpoint(net, &client->endpoint); /* closed before the TCP client, which it owns */
  *client_out = client;
  return TT_OK;
}

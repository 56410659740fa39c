/* tcp_client.c: a TCP client: connects, and again after each end. */
#include "net/tcp_internal.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>

struct tt_tcp_client {
  tt_tcp_owner owner; /* first: try_again gets it */
  tt_endpoint endpoint;
  uv_timer_t timer;
  tt_net *net;
  tt_tcp_options options;
  tt_address address;
  int connect_error; /* errno of a connect() that failed at once */
};

static void retry_later(tt_tcp_client *client);

static void on_connected(uv_poll_t *poll, int status, int events) {
  tt_tcp *tcp = poll->data;
  tt_tcp_client *client = (tt_tcp_client *)tcp->owner;
  (void)events;
  int reason = client->connect_error;
  socklen_t size = sizeof reason;
  if (!reason) getsockopt(tcp->socket, SOL_SOCKET, SO_ERROR, &reason, &size);
  if (status == 0 && reason == 0) {
    tt_tcp_opened(tcp);
    return;
  }
  const char *text = reason ? tt_tcp_reason(reason) : uv_strerror(status);
  tcp->silent = true;
  tt_tcp_drop(tcp);
  if (client->options.reconnect > 0) return; /* tries again by itself */
  client->net->callbacks++;
  client->options.handler.on_close(client->options.context, NULL, text);
}

static void attempt(tt_tcp_client *client) {
  int s = socket(client->address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  tt_tcp *tcp =
      s < 0 ? NULL : tt_tcp_new(client->net, s, &client->options, &client->address, &client->owner);
  if (!tcp) {
    retry_later(client);
    return;
  }
  client->connect_error = 0;
  tcp->connecting = true;
  if (connect(s, &client->address.any, tt_address_size(&client->address)) != 0 &&
      errno != EINPROGRESS)
    client->connect_error = errno; /* told by on_connected like any other */
  uv_poll_start(&tcp->poll, UV_WRITABLE, on_connected);
}

static void on_timer(uv_timer_t *timer) { attempt(timer->data); }

static void retry_later(tt_tcp_client *client) {
  if (client->options.reconnect <= 0 || uv_is_closing((uv_handle_t *)&client->timer)) return;
  uv_update_time(&client->net->loop);
  uv_timer_start(&client->timer, on_timer, (uint64_t)(client->options.reconnect * 1000), 0);
}

static void try_again(tt_tcp_owner *owner, tt_tcp *tcp) {
  tt_tcp_client *client = (tt_tcp_client *)owner;
  (void)tcp;
  retry_later(client);
}

static void on_client_closed(uv_handle_t *handle) { free(handle->data); }

void tt_tcp_client_close(tt_tcp_client *client) {
  if (!client || uv_is_closing((uv_handle_t *)&client->timer)) return;
  client->net->loop_due = true;
  uv_close((uv_handle_t *)&client->timer, on_client_closed);
  tt_net_remove_endpoint(client->net, &client->endpoint);
  tt_tcp_end_all(&client->owner, "the client ends");
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
  *client = (tt_tcp_client){.owner = {.left = try_again},
                            .endpoint = {.close = close_client_endpoint},
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

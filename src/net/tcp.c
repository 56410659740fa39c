/* tcp.c: a TCP connection, whoever made it: reads without waiting, keeps what the kernel does not take yet. */
#include "net/tcp_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

tt_tcp_options tt_tcp_options_default(void) {
  return (tt_tcp_options){
      .max_connections = 16, .max_queued = 1 << 20, .dead_after = 5, .reconnect = 1};
}

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

/* Its owner knows it no longer. */
static void unlink_tcp(tt_tcp *tcp) {
  if (!tcp->owner) return;
  if (tcp->previous)
    tcp->previous->next = tcp->next;
  else
    tcp->owner->connections = tcp->next;
  if (tcp->next) tcp->next->previous = tcp->previous;
  tcp->owner = NULL;
}

static void on_closed(uv_handle_t *handle) {
  tt_tcp *tcp = handle->data;
  unlink_tcp(tcp);
  if (!tcp->silent) {
    tcp->net->callbacks++;
    tcp->handler.on_close(tcp->context, tcp, tcp->reason);
  }
  free_tcp(tcp);
}

void tt_tcp_drop(tt_tcp *tcp) {
  tcp->closed = true;
  if (tcp->owner) tcp->owner->left(tcp->owner, tcp);
  tt_net_remove_source(tcp->net, &tcp->source);
  tcp->net->loop_due = true;
  uv_close((uv_handle_t *)&tcp->poll, on_closed); /* names the socket to the kernel once more */
  close(tcp->socket);
}

static void flush_queue(tt_tcp *tcp);

void tt_tcp_close(tt_tcp *tcp, const char *reason) {
  if (tcp->closed) return;
  snprintf(tcp->reason, sizeof tcp->reason, "%s", reason);
  flush_queue(tcp);
  if (!tcp->closed) tt_tcp_drop(tcp); /* else the flush found it broken */
}

void tt_tcp_end_all(tt_tcp_owner *owner, const char *reason) {
  while (owner->connections) {
    tt_tcp *first = owner->connections;
    first->silent = true;
    tt_tcp_close(first, reason);
    unlink_tcp(first);
  }
}

const char *tt_tcp_reason(int error) {
  switch (error) {
    case ECONNRESET:
    case EPIPE: return "reset by peer";
    case ETIMEDOUT: return "timed out";
    default: return strerror(error);
  }
}

static void broken(tt_tcp *tcp, int error) {
  tcp->queued = 0;
  tt_tcp_close(tcp, tt_tcp_reason(error));
}

static void read_connection(tt_net_source *source) {
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
  /* 0: not at all */
  int events = (tcp->paused ? 0 : UV_READABLE) | (tcp->queued ? UV_WRITABLE : 0);
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

int tt_tcp_release(tt_tcp *tcp) {
  int socket = tcp->closed ? -1 : fcntl(tcp->socket, F_DUPFD_CLOEXEC, 1);
  tcp->silent = true;
  tt_tcp_close(tcp, "released");
  return socket;
}

bool tt_tcp_closed(const tt_tcp *tcp) {
  struct tcp_info info = {0};
  socklen_t size = sizeof info;
  if (tcp->closed) return true;
  return getsockopt(tcp->socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0 ||
         info.tcpi_state != TCP_ESTABLISHED;
}

bool tt_tcp_has_unread(const tt_tcp *tcp) {
  int size = 0;
  return !tcp->closed && ioctl(tcp->socket, FIONREAD, &size) == 0 && size > 0;
}

const char *tt_tcp_peer(const tt_tcp *tcp) { return tcp->peer; }

size_t tt_tcp_queued(const tt_tcp *tcp) { return tcp->queued; }

void tt_tcp_set_context(tt_tcp *tcp, void *context) { tcp->context = context; }

tt_tcp *tt_tcp_new(tt_net *net, int socket, const tt_tcp_options *options, const tt_address *peer,
                   tt_tcp_owner *owner) {
  tt_tcp *tcp = calloc(1, sizeof *tcp);
  if (!tcp || uv_poll_init(&net->loop, &tcp->poll, socket) != 0) {
    close(socket);
    free(tcp);
    return NULL;
  }
  tcp->source = (tt_net_source){.read = read_connection, .index = -1};
  tcp->poll.data = tcp;
  tcp->net = net;
  tcp->owner = owner;
  tcp->next = owner->connections;
  if (tcp->next) tcp->next->previous = tcp;
  owner->connections = tcp;
  tcp->handler = options->handler;
  tcp->context = options->context;
  tcp->max_queued = options->max_queued;
  tcp->socket = socket;
  tt_address_format(peer, tcp->peer);
  tune(socket, options->dead_after);
  return tcp;
}

void tt_tcp_opened(tt_tcp *tcp) {
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

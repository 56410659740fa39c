/* udp.c: a UDP endpoint: reads all that has arrived at once, keeps the newest, and can play an imperfect network. */
#include "base/clock.h"
#include "base/log.h"
#include "net/faults.h"
#include "net/internal.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SAY_AGAIN_AFTER 1000000000u /* ns between two lines of what does not leave */

/* Of a flood at most so many times drain_limit datagrams are read in one go: then the physics is due again. */
#define FLOOD_ROUNDS 4

struct tt_udp {
  tt_net_source source; /* first: the net calls back with it */
  tt_endpoint endpoint;
  uv_poll_t poll;
  tt_net *net;
  tt_udp_options options;
  tt_allowed allowed;
  int socket;
  bool peer_known, peer_fixed;
  bool closed;
  tt_address peer;
  char address[TT_ADDRESS_TEXT];

  tt_address sender; /* of the datagram being delivered, and its text, which rarely changes */
  char sender_text[TT_ADDRESS_TEXT];
  uint64_t overflowed, unreached, handed, arrived;
  int trouble; /* errno of what did not leave, and has been said; 0: all leaves */
  uint64_t trouble_at;

  /* Ring of drain_limit datagrams; `next` is written next. */
  struct mmsghdr *messages;
  struct iovec *vectors;
  tt_address *senders;
  uint8_t *buffers;
  int next;

  bool faulty;
  double time, clock; /* s simulated: as told, and without the jumps back of resets */
  tt_fault_line in, out;
};

tt_udp_options tt_udp_options_default(void) {
  return (tt_udp_options){.max_datagram = 2048, .drain_limit = 256};
}

static void free_udp(tt_udp *udp) {
  tt_allowed_close(&udp->allowed);
  tt_fault_line_close(&udp->in);
  tt_fault_line_close(&udp->out);
  free(udp->messages);
  free(udp->vectors);
  free(udp->senders);
  free(udp->buffers);
  free(udp);
}

static void on_closed(uv_handle_t *handle) { free_udp(handle->data); }

void tt_udp_close(tt_udp *udp) {
  if (!udp || udp->closed) return;
  udp->closed = true;
  tt_net_remove_source(udp->net, &udp->source);
  tt_net_remove_endpoint(udp->net, &udp->endpoint);
  udp->net->loop_due = true;
  uv_close((uv_handle_t *)&udp->poll, on_closed); /* names the socket to the kernel once more */
  close(udp->socket);
}

static void close_endpoint(tt_endpoint *endpoint) {
  tt_udp_close((tt_udp *)((char *)endpoint - offsetof(tt_udp, endpoint)));
}

static void deliver(tt_udp *udp, const uint8_t *bytes, size_t size, bool truncated,
                    const tt_address *sender) {
  if (!tt_address_equal(sender, &udp->sender) || !udp->sender_text[0]) {
    udp->sender = *sender;
    tt_address_format(sender, udp->sender_text);
  }
  udp->net->callbacks++;
  bool allowed = tt_allowed_has(&udp->allowed, sender);
  if (allowed)
    udp->options.on_datagram(udp->options.context, bytes, size, truncated, udp->sender_text);
  else if (udp->options.on_refused)
    udp->options.on_refused(udp->options.context, bytes, size, udp->sender_text);
}

/* What the kernel heard of datagrams that were sent: that nobody was there. The errors of a socket wait in a queue of their
 * own, which takes room from what arrives until it is read. */
static void read_errors(tt_udp *udp) {
  for (;;) {
    tt_address meant;
    uint8_t control[512];
    struct msghdr message = {.msg_name = &meant,
                             .msg_namelen = sizeof meant,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(udp->socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) return;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
      struct sock_extended_err reason;
      if (part->cmsg_type != IP_RECVERR && part->cmsg_type != IPV6_RECVERR) continue;
      memcpy(&reason, CMSG_DATA(part), sizeof reason);
      if (reason.ee_errno != ECONNREFUSED || !tt_address_equal(&meant, &udp->peer)) continue;
      udp->unreached++;
      udp->net->callbacks++;
    }
  }
}

static bool is_about_an_earlier_one(int error) { return error != EAGAIN && error != EINTR; }

/* Reads into the ring until nothing is left. Returns how many came. */
static int fill_ring(tt_udp *udp) {
  int limit = udp->options.drain_limit, total = 0;
  while (total < FLOOD_ROUNDS * limit) {
    unsigned room = (unsigned)(limit - udp->next);
    int got = recvmmsg(udp->socket, &udp->messages[udp->next], room, MSG_DONTWAIT, NULL);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && udp->options.watch_peer && is_about_an_earlier_one(errno)) read_errors(udp);
    if (got <= 0) break;
    for (int i = 0; i < got; i++)
      udp->messages[udp->next + i].msg_hdr.msg_namelen = sizeof *udp->senders;
    udp->next = (udp->next + got) % limit;
    total += got;
    if (got < (int)room) break;
  }
  return total;
}

static void read_socket(tt_net_source *source) {
  tt_udp *udp = (tt_udp *)source;
  int limit = udp->options.drain_limit;
  udp->next = 0;
  int total = fill_ring(udp);
  if (total == 0) return;
  udp->arrived += (uint64_t)total;
  int kept = total < limit ? total : limit;
  udp->overflowed += (uint64_t)(total - kept);
  int oldest = total <= limit ? 0 : udp->next;
  for (int i = 0; i < kept && !udp->closed; i++) {
    int slot = (oldest + i) % limit;
    const struct mmsghdr *message = &udp->messages[slot];
    size_t size = message->msg_len;
    bool truncated = message->msg_hdr.msg_flags & MSG_TRUNC;
    const uint8_t *bytes = udp->vectors[slot].iov_base;
    if (udp->faulty)
      tt_fault_line_put(&udp->in, udp->clock, bytes, size, truncated, &udp->senders[slot]);
    else
      deliver(udp, bytes, size, truncated, &udp->senders[slot]);
  }
  if (udp->faulty) udp->net->callbacks++; /* who waits may want to advance it */
}

void tt_udp_read(tt_udp *udp) { read_socket(&udp->source); }

static void on_readable(uv_poll_t *poll, int status, int events) {
  (void)status;
  (void)events;
  read_socket(poll->data);
}

static tt_status make_ring(tt_udp *udp, tt_error *error) {
  size_t limit = (size_t)udp->options.drain_limit, size = udp->options.max_datagram;
  udp->messages = calloc(limit, sizeof *udp->messages);
  udp->vectors = calloc(limit, sizeof *udp->vectors);
  udp->senders = calloc(limit, sizeof *udp->senders);
  udp->buffers = malloc(limit * size);
  if (!udp->messages || !udp->vectors || !udp->senders || !udp->buffers)
    return tt_fail(error, TT_NOMEM, "out of memory");
  for (size_t i = 0; i < limit; i++) {
    udp->vectors[i] = (struct iovec){.iov_base = udp->buffers + i * size, .iov_len = size};
    udp->messages[i].msg_hdr = (struct msghdr){.msg_name = &udp->senders[i],
                                               .msg_namelen = sizeof *udp->senders,
                                               .msg_iov = &udp->vectors[i],
                                               .msg_iovlen = 1};
  }
  return TT_OK;
}

static tt_status make_faults(tt_udp *udp, tt_error *error) {
  udp->faulty = tt_faults_any(&udp->options.faults);
  if (!udp->faulty) return TT_OK;
  TT_TRY(tt_fault_line_open(&udp->in, &udp->options.faults, 0, error));
  return tt_fault_line_open(&udp->out, &udp->options.faults, 1, error);
}

static tt_status prepare(tt_udp *udp, tt_address *bound, tt_error *error) {
  TT_TRY(tt_address_parse(udp->options.bind, bound, error));
  TT_TRY(tt_allowed_open(&udp->options.allow, bound, &udp->allowed, error));
  const char *peer = udp->options.peer;
  udp->peer_fixed = udp->peer_known = peer && strcmp(peer, "sender") != 0;
  if (udp->peer_fixed) TT_TRY(tt_address_parse(peer, &udp->peer, error));
  TT_TRY(make_ring(udp, error));
  TT_TRY(make_faults(udp, error));
  return tt_net_bind(bound, SOCK_DGRAM, &udp->socket, error);
}

static void watch_peer(const tt_udp *udp, const tt_address *bound) {
  bool v6 = bound->any.sa_family == AF_INET6;
  int on = 1;
  setsockopt(udp->socket, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_RECVERR : IP_RECVERR, &on,
             sizeof on);
}

static tt_status start(tt_udp *udp, tt_error *error) {
  const char *bind = udp->options.bind;
  int failed = uv_poll_init(&udp->net->loop, &udp->poll, udp->socket);
  if (failed) {
    close(udp->socket);
    free_udp(udp);
    return tt_fail(error, TT_FAILED, "%s: %s", bind, uv_strerror(failed));
  }
  udp->poll.data = udp;
  tt_net_add_endpoint(udp->net, &udp->endpoint);
  tt_status status = tt_net_add_source(udp->net, &udp->source, error);
  if (status == TT_OK) uv_poll_start(&udp->poll, UV_READABLE, on_readable);
  udp->net->loop_due = true;
  if (status != TT_OK) tt_udp_close(udp);
  return status;
}

tt_status tt_udp_open(tt_net *net, const tt_udp_options *options, tt_udp **udp_out,
                      tt_error *error) {
  *udp_out = NULL;
  tt_udp *udp = calloc(1, sizeof *udp);
  if (!udp) return tt_fail(error, TT_NOMEM, "out of memory");
  *udp = (tt_udp){.source = {.read = read_socket, .index = -1},
                  .endpoint = {.close = close_endpoint},
                  .net = net,
                  .options = *options,
                  .socket = -1};
  tt_address bound;
  tt_status status = prepare(udp, &bound, error);
  if (status != TT_OK) {
    free_udp(udp);
    return status;
  }
  tt_address real = tt_address_of(udp->socket);
  tt_address_format(&real, udp->address);
  if (options->watch_peer) watch_peer(udp, &real);
  TT_TRY(start(udp, error));
  *udp_out = udp;
  return TT_OK;
}

static const char *remedy(const tt_udp *udp, const tt_address *peer) {
  tt_address own = tt_address_of(udp->socket);
  if (own.any.sa_family != peer->any.sa_family)
    return "; bind and peer are to be of one kind, both IPv4 or both IPv6";
  if (tt_address_is_loopback(&own) && !tt_address_is_loopback(peer))
    return "; what is bound to this machine only reaches no other: bind an address that does";
  return "";
}

/* Full buffers, and that nobody is there yet, are the usual course of things. */
static void say_trouble(tt_udp *udp, int reason, const tt_address *peer) {
  char text[TT_ADDRESS_TEXT];
  uint64_t now = tt_monotonic_ns();
  bool usual = reason == EAGAIN || reason == EWOULDBLOCK || reason == ENOBUFS ||
               reason == ECONNREFUSED || reason == EINTR;
  if (usual || reason == udp->trouble) return;
  if (udp->trouble_at && now - udp->trouble_at < SAY_AGAIN_AFTER) return;
  udp->trouble = reason;
  udp->trouble_at = now;
  tt_address_format(peer, text);
  tt_log_warning("%s: can't send to %s: %s%s", udp->address, text, strerror(reason),
                 remedy(udp, peer));
}

static tt_status send_now(tt_udp *udp, const void *bytes, size_t size, const tt_address *peer) {
  ssize_t sent = -1;
  int reason = 0;
  for (int tries = 0; tries < 2; tries++) {
    sent = sendto(udp->socket, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL, &peer->any,
                  tt_address_size(peer));
    reason = errno;
    if (sent >= 0 || !udp->options.watch_peer || !is_about_an_earlier_one(reason)) break;
    read_errors(udp); /* with these gone this one may leave */
  }
  udp->handed += sent == (ssize_t)size;
  if (sent < 0)
    say_trouble(udp, reason, peer);
  else
    udp->trouble = 0;
  return sent == (ssize_t)size ? TT_OK : TT_FAILED;
}

static void send_due(tt_udp *udp) {
  tt_flight flight;
  while (tt_fault_line_take(&udp->out, udp->clock, &flight)) {
    send_now(udp, flight.bytes, flight.size, &flight.peer);
    free(flight.bytes);
  }
}

static tt_status send_through(tt_udp *udp, const void *bytes, size_t size, const tt_address *peer) {
  if (!udp->faulty) return send_now(udp, bytes, size, peer);
  tt_fault_line_put(&udp->out, udp->clock, bytes, size, false, peer);
  send_due(udp);
  return TT_OK;
}

tt_status tt_udp_send(tt_udp *udp, const void *bytes, size_t size) {
  return udp->peer_known ? send_through(udp, bytes, size, &udp->peer) : TT_CLOSED;
}

tt_status tt_udp_send_to(tt_udp *udp, const void *bytes, size_t size, const char *peer) {
  tt_address address;
  TT_TRY(tt_address_parse(peer, &address, NULL));
  return send_through(udp, bytes, size, &address);
}

void tt_udp_accept_peer(tt_udp *udp) {
  if (udp->peer_fixed) return;
  udp->peer = udp->sender;
  udp->peer_known = true;
}

void tt_udp_forget_peer(tt_udp *udp) {
  if (!udp->peer_fixed) udp->peer_known = false;
}

bool tt_udp_is_from_peer(const tt_udp *udp) {
  return udp->peer_known && tt_address_equal(&udp->sender, &udp->peer);
}

void tt_udp_advance(tt_udp *udp, double time) {
  if (time > udp->time) udp->clock += time - udp->time;
  udp->time = time;
  if (!udp->faulty) return;
  tt_flight flight;
  while (!udp->closed && tt_fault_line_take(&udp->in, udp->clock, &flight)) {
    deliver(udp, flight.bytes, flight.size, flight.truncated, &flight.peer);
    free(flight.bytes);
  }
  if (!udp->closed) send_due(udp);
}

const char *tt_udp_address(const tt_udp *udp) { return udp->address; }

uint64_t tt_udp_overflowed(const tt_udp *udp) { return udp->overflowed; }

uint64_t tt_udp_unreached(const tt_udp *udp) { return udp->unreached; }

uint64_t tt_udp_handed(const tt_udp *udp) { return udp->handed; }

uint64_t tt_udp_arrived(const tt_udp *udp) { return udp->arrived; }

bool tt_udp_is_faulty(const tt_udp *udp) { return udp->faulty; }

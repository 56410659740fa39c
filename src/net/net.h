/* net.h: sockets on one libuv loop, with adaptive spin, limits and fault injection.
 *
 * One tt_net belongs to one thread. Callbacks run inside tt_net_poll() and only there (delayed datagrams: also in
 * tt_udp_advance). Addresses are
 * "host:port" with numeric IPv4 or bracketed IPv6 ("[::1]:5801") or "localhost"; port 0 takes a free one.
 */
#ifndef TT_NET_NET_H
#define TT_NET_NET_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tt_net tt_net;

tt_net *tt_net_new(void); /**< NULL when out of memory or descriptors */
/** Closes everything that is still open, and frees. */
void tt_net_free(tt_net *net);

/** Runs callbacks that are ready. `wait_ns` 0: returns at once; otherwise waits for the first one at most
 *  that long, first spinning up to the spin budget, then sleeping. Returns true if any callback ran.
 *  The budget adapts: it shrinks when spinning was in vain, grows back when answers come in time. Where several
 *  tt_net of a process spin, and there are not two cores for each, all sleep at once instead. */
bool tt_net_poll(tt_net *net, uint64_t wait_ns);
/** Upper bound of the spin before sleeping, ns. Default 200 µs; 0: always sleep. */
void tt_net_set_spin(tt_net *net, uint64_t max_ns);
/** Makes a tt_net_poll() that sleeps return. Any thread; async-signal-safe. */
void tt_net_wake(tt_net *net);

/** Who may speak: list of "CIDR"; empty = loopback only if bound to loopback, and a public bind needs one. */
typedef struct tt_allow {
  const char *const *cidrs;
  int count;
} tt_allow;

/** Checks what opening would check of an address, without opening: syntax, and with `allow` (NULL: an address to send
 *  to) also that a public one has a list of who may speak. TT_INVALID with the remedy. */
tt_status tt_address_check(const char *address, const tt_allow *allow, tt_error *error);

/** Seeded faults of a UDP endpoint, on simulated time: the same run has the same faults. All in both directions. */
typedef struct tt_faults {
  double loss, duplicate, reorder; /**< probabilities, 0…1 */
  double delay, jitter;            /**< s simulated; jitter uniform in 0…jitter */
  uint64_t seed;
} tt_faults;

/* --- UDP --- */
typedef struct tt_udp tt_udp;
/** One whole datagram; `truncated` when it was longer than the endpoint's limit. `peer` as "127.0.0.1:4711". */
typedef void (*tt_udp_on_datagram)(void *context, const uint8_t *bytes, size_t size, bool truncated,
                                   const char *peer);
/** A datagram from somebody whom `allow` does not list. May be NULL. */
typedef void (*tt_udp_on_refused)(void *context, const uint8_t *bytes, size_t size,
                                  const char *peer);
typedef struct tt_udp_options {
  const char *bind; /**< required */
  /** where tt_udp_send() goes; NULL or "sender": whoever was accepted last (tt_udp_accept_peer) */
  const char *peer;
  size_t max_datagram; /**< longer ones are given truncated; default 2048 */
  int drain_limit; /**< most datagrams a poll; the newest are kept, older ones counted; default 256 */
  bool watch_peer; /**< hear of it when nobody is at the peer's port: tt_udp_unreached() */
  tt_allow allow;
  tt_faults faults;
  tt_udp_on_datagram on_datagram;
  tt_udp_on_refused on_refused;
  void *context;
} tt_udp_options;
tt_udp_options tt_udp_options_default(void);
/** Errors name the address and the reason ("port in use": TT_FAILED; a malformed or forbidden address: TT_INVALID). */
tt_status tt_udp_open(tt_net *net, const tt_udp_options *options, tt_udp **udp, tt_error *error);
/** Best effort, never blocks: TT_FAILED when the kernel refused it, TT_CLOSED while no peer is known. */
tt_status tt_udp_send(tt_udp *udp, const void *bytes, size_t size);
/** Sends to an explicit address, from the same port. */
tt_status tt_udp_send_to(tt_udp *udp, const void *bytes, size_t size, const char *peer);
/** The datagram being delivered was valid: its sender becomes the peer where options.peer is "sender". */
void tt_udp_accept_peer(tt_udp *udp);
/** Where options.peer is "sender": no peer is known any more. */
void tt_udp_forget_peer(tt_udp *udp);
/** Whether the datagram being delivered comes from where tt_udp_send() goes. */
bool tt_udp_is_from_peer(const tt_udp *udp);
/** Takes what has arrived at this endpoint, and at no other, as tt_net_poll() does. */
void tt_udp_read(tt_udp *udp);
/** Datagrams of which the peer's kernel has said that no socket was there to take them. With watch_peer only; a firewall may
 *  keep that answer back. */
uint64_t tt_udp_unreached(const tt_udp *udp);
/** Datagrams that the kernel took, and gave, since the socket was opened: after faults on the way out, before them on the way in. */
uint64_t tt_udp_handed(const tt_udp *udp);
uint64_t tt_udp_arrived(const tt_udp *udp);
/** Whether it plays an imperfect network. */
bool tt_udp_is_faulty(const tt_udp *udp);
/** Tells faults what time it is, s simulated; delivers what is due (through on_datagram). */
void tt_udp_advance(tt_udp *udp, double time);
const char *tt_udp_address(const tt_udp *udp);
/** Datagrams that were read but superseded because more than drain_limit arrived at once. */
uint64_t tt_udp_overflowed(const tt_udp *udp);
void tt_udp_close(tt_udp *udp);

/* --- TCP --- */
typedef struct tt_tcp_server tt_tcp_server;
typedef struct tt_tcp tt_tcp; /**< a connection, accepted or made */
typedef struct tt_tcp_handler {
  /** Accepted or connected. `context` becomes the connection's (tt_tcp_set_context). */
  void (*on_open)(void *context, tt_tcp *tcp);
  /** Any number of bytes, in order. May close the connection. */
  void (*on_data)(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size);
  /** Gone, for `reason` ("closed by peer", "reset", "timed out", …); also after tt_tcp_close(). Last call; not made
   *  when the server or client itself is closed. `tcp` is NULL where a single attempt (`reconnect` 0) failed. */
  void (*on_close)(void *context, tt_tcp *tcp, const char *reason);
} tt_tcp_handler;
typedef struct tt_tcp_options {
  const char *address; /**< to listen on, or to connect to */
  int max_connections; /**< server: further ones are closed at once, logged and counted; default 16 */
  size_t max_queued;   /**< bytes unsent at which a slow reader is cut; default 1 MiB */
  /** s without any sign of life of the peer's kernel (keepalive, TCP_USER_TIMEOUT); default 5 */
  double dead_after;
  double reconnect; /**< client: s between attempts; 0 = once; default 1 */
  tt_allow allow;
  tt_tcp_handler handler;
  void *context;
} tt_tcp_options;
tt_tcp_options tt_tcp_options_default(void);
tt_status tt_tcp_listen(tt_net *net, const tt_tcp_options *options, tt_tcp_server **server,
                        tt_error *error);
/** A server that does not listen: its one connection is `socket`, which another server accepted and gave away with
 *  tt_tcp_release(). Works on a copy: `socket` stays the caller's to close. on_open is called before this returns. */
tt_status tt_tcp_adopt(tt_net *net, int socket, const tt_tcp_options *options,
                       tt_tcp_server **server, tt_error *error);
/** Gives an accepted connection away, as from on_open, for tt_tcp_adopt() in another thread: returns its descriptor,
 *  the caller's, never 0, or −1 when it is closed or no descriptor is left. `tcp` ends without on_close. */
int tt_tcp_release(tt_tcp *tcp);
const char *tt_tcp_server_address(const tt_tcp_server *server);
/** Connections closed at once because of `max_connections`, `allow`, or descriptors that ran out. */
uint64_t tt_tcp_server_refused(const tt_tcp_server *server);
/** Closes its connections too. */
void tt_tcp_server_close(tt_tcp_server *server);
/** Starts connecting; on_open tells when. With `reconnect` it goes on trying until tt_tcp_client_close(). */
typedef struct tt_tcp_client tt_tcp_client;
tt_status tt_tcp_connect(tt_net *net, const tt_tcp_options *options, tt_tcp_client **client,
                         tt_error *error);
void tt_tcp_client_close(tt_tcp_client *client);
/** One send where the kernel takes it whole (TCP_NODELAY is on), else queued; TT_FULL cuts the connection. */
tt_status tt_tcp_send(tt_tcp *tcp, const void *bytes, size_t size);
/** While paused nothing is read, so that the peer feels TCP's own backpressure. */
void tt_tcp_pause(tt_tcp *tcp, bool paused);
const char *tt_tcp_peer(const tt_tcp *tcp);
/** The peer has ended the connection, though what it sent before may still be unread and on_close is to come: who holds
 *  it may close it and take the next one already. */
bool tt_tcp_closed(const tt_tcp *tcp);
/** Something that the peer sent is still unread. */
bool tt_tcp_has_unread(const tt_tcp *tcp);
size_t tt_tcp_queued(const tt_tcp *tcp);
void tt_tcp_set_context(tt_tcp *tcp, void *context);
/** Sends what is queued if the kernel takes it now, then closes. Idempotent. */
void tt_tcp_close(tt_tcp *tcp, const char *reason);

#endif

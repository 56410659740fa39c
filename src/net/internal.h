/* internal.h: a tt_net from the inside, shared by net.c, udp.c and the files of TCP.
 *
 * Sockets are ours and non-blocking; libuv tells when to look (uv_poll_t), keeps the timers, and sleeps. Whoever polls
 * also reads the open sockets directly (tt_net_source), because one recv() costs a third of a turn of the loop, and
 * lock-step is about exactly that.
 */
#ifndef TT_NET_INTERNAL_H
#define TT_NET_INTERNAL_H

#include "net/address.h"
#include "net/net.h"

#include <stdatomic.h>
#include <uv.h>

/** Up to so many sockets are read directly; with more, asking the kernel which are ready is cheaper. */
#define TT_DIRECT_SOURCES 8
#define TT_READ_BUFFER 65536

/** A socket that brings data. */
typedef struct tt_net_source {
  void (*read)(struct tt_net_source
                   *source); /**< takes what has arrived, without blocking; runs callbacks */
  int index;                 /**< in net->sources, −1: not listed */
} tt_net_source;

/** Anything a tt_net has to close when it is freed. */
typedef struct tt_endpoint {
  void (*close)(struct tt_endpoint *endpoint); /**< without further callbacks */
  struct tt_endpoint *previous, *next;
} tt_endpoint;

/** Used by its loop's thread alone, but for what is atomic. */
struct tt_net {
  uv_loop_t loop;
  uv_async_t async;
  atomic_bool woken;
  bool slack_set;
  uint64_t spin_max, spin; /* ns */
  int cores;               /* that this thread may use */
  bool spins;              /* counted among those of this process that do */
  uint64_t loop_ran;       /* when the loop last turned, ns */
  bool loop_due;           /* something was closed or started: turn at the next poll */
  uint64_t callbacks;      /* run so far */
  tt_net_source **sources; /* NULL where one left while reading() */
  int source_count, source_capacity;
  bool reading, holes;
  tt_endpoint *endpoints;
  int spare_descriptor; /* given up for a moment to refuse a connection when none is left */
  uint8_t buffer[TT_READ_BUFFER];
};

/** What is read at each poll, and what is closed with the loop. Neither is owned; each removes itself before it is freed.
 *  TT_NOMEM. */
tt_status tt_net_add_source(tt_net *net, tt_net_source *source, tt_error *error);
void tt_net_remove_source(tt_net *net, tt_net_source *source);
void tt_net_add_endpoint(tt_net *net, tt_endpoint *endpoint);
void tt_net_remove_endpoint(tt_net *net, tt_endpoint *endpoint);

/** A bound non-blocking socket of `type` (SOCK_DGRAM, SOCK_STREAM); errors name address and reason. */
tt_status tt_net_bind(const tt_address *address, int type, int *socket, tt_error *error);

#endif

/* tcp_internal.h: a connection from the inside, shared by tcp.c, and by tcp_server.c and tcp_client.c, which make them. */
#ifndef TT_NET_TCP_INTERNAL_H
#define TT_NET_TCP_INTERNAL_H

#include "net/internal.h"

/** Who made a connection: a server or a client. */
typedef struct tt_tcp_owner {
  void (*left)(struct tt_tcp_owner *owner,
               tt_tcp *tcp); /**< it is closed; `owner` must not use it any more */
  tt_tcp *connections;       /**< all whose memory is there, closed ones too */
} tt_tcp_owner;

/** One connection, of a server or of a client. Its loop's thread. */
struct tt_tcp {
  tt_net_source source; /* first: read_connection gets it */
  uv_poll_t poll;
  tt_net *net;
  tt_tcp_owner *owner;
  tt_tcp *previous, *next; /* the owner's list */
  tt_tcp_handler handler;
  void *context;
  size_t max_queued;
  int socket;
  bool connecting, paused, closed;
  bool silent;    /* its end is not told */
  uint8_t *queue; /* bytes that the kernel did not take yet */
  size_t queued, queue_capacity;
  char peer[TT_ADDRESS_TEXT];
  char reason[96];
};

/** A connection over `socket`, which it takes over; NULL: out of memory, and `socket` is closed. */
tt_tcp *tt_tcp_new(tt_net *net, int socket, const tt_tcp_options *options, const tt_address *peer,
                   tt_tcp_owner *owner);
/** It is connected: reads from now on, and tells its handler. */
void tt_tcp_opened(tt_tcp *tcp);
/** Closes at once, without what is queued; its owner hears of it now, its handler with the loop's next turn. */
void tt_tcp_drop(tt_tcp *tcp);
/** Closes all connections of an owner that ends. Their handlers hear nothing more, also of those that were closed before and
 *  did not tell it yet. */
void tt_tcp_end_all(tt_tcp_owner *owner, const char *reason);
/** An errno as people read it. */
const char *tt_tcp_reason(int error);

#endif

/* internal.h: a WebSocket from the inside, shared by websocket.c, and by server.c and
 * client.c, which make them.
 */
#ifndef TT_WEBSOCKET_INTERNAL_H
#define TT_WEBSOCKET_INTERNAL_H

#include "base/bytes.h"
#include "websocket/handshake.h"
#include "net/internal.h"
#include "websocket/websocket.h"

#include <wslay/wslay.h>

#define TT_WEBSOCKET_HEAD 8192 /**< bytes of the longest head */

/** Who made a connection: what the handshake is at its end. */
typedef struct tt_websocket_owner {
  /** A whole head has come. TT_OK: the connection is open (tt_websocket_opened() was called). Otherwise it ends, and
   *  `error` says why. */
  tt_status (*on_head)(struct tt_websocket_owner *owner, tt_websocket *websocket, const char *head,
                       size_t size, tt_error *error);
  tt_websocket *connections;
} tt_websocket_owner;

/** One connection. Its loop's thread. */
struct tt_websocket {
  tt_net *net;
  tt_tcp *tcp; /* while not dropped */
  tt_websocket_owner *owner;
  tt_websocket *previous, *next; /* the owner's list */
  tt_websocket_handler handler;
  void *context;
  wslay_event_context_ptr frames;
  uv_timer_t timer; /* of the handshake, of pings, of the goodbye */
  uv_idle_t more;   /* turns while frames wait in `input` */
  int handles;      /* of libuv that are not closed yet */
  int budget, frames_a_turn;
  bool is_server;
  bool trusted;         /* as tt_websocket_is_trusted() */
  bool opened;          /* the handshake is done */
  bool leaving;         /* we said goodbye: nothing is sent any more, and no message told */
  bool dropped;         /* the TCP connection is closed */
  bool in_goodbye;      /* the frame that comes is one */
  uint8_t goodbye[125]; /* its bytes: code and reason */
  size_t goodbye_size;
  int code;        /* that the peer closed with; 1006: none yet */
  int most_pings;  /* without an answer */
  int pings;       /* since the last frame was looked at */
  tt_bytes input;  /* what waits for its turn, or for the rest of a head */
  size_t input_at; /* what is before was looked at */
  tt_bytes output; /* frames of one send */
  char path[TT_HANDSHAKE_TEXT];
  char origin[TT_HANDSHAKE_TEXT];
  char protocol[96];
  char reason[160];
};

/** A connection whose handshake is still to come, over `tcp`, whose context it becomes (NULL: out of memory, and `tcp` is
 *  closed). */
tt_websocket *tt_websocket_new(tt_net *net, tt_tcp *tcp, const tt_websocket_options *options,
                               tt_websocket_owner *owner, bool is_server);
/** From here on there are frames; tells the handler. */
void tt_websocket_opened(tt_websocket *websocket);
/** Frees all connections of an owner, whose TCP connections go at the same time, without telling anybody. */
void tt_websocket_forget_all(tt_websocket_owner *owner);
/** What the tt_tcp of a WebSocket calls; its context is the tt_websocket. */
void tt_websocket_on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size);
void tt_websocket_on_gone(void *context, tt_tcp *tcp, const char *reason);

#endif

/* internal.h: what the files of this room share. */
#ifndef TT_WEB_INTERNAL_H
#define TT_WEB_INTERNAL_H

#include "web/server.h"

/** An accepted connection, whatever is spoken on it. */
typedef struct tt_web_connection {
  tt_web *web;
  GSocket *socket;                 /**< not owned: goes with the connection */
  int64_t deadline;                /**< µs monotonic at which it is cut; 0: none */
  SoupWebsocketConnection *frames; /**< not owned; NULL: no WebSocket */
  uint64_t whole;                  /**< bytes that had come with the last whole message or pong */
  int64_t unfinished; /**< µs monotonic at which more were seen; 0: there are no more */
} tt_web_connection;

/** The connection of a request, or NULL when it is gone. */
tt_web_connection *tt_web_connection_of(tt_web *web, SoupServerMessage *message);
tt_web_connection *tt_web_connection_at(tt_web *web, GSocket *socket);
/** The socket of a request, also once its connection became a WebSocket's. */
GSocket *tt_web_socket_of(SoupServerMessage *message);
/** Cuts it unless something is called again within `seconds`; 0: no deadline. */
void tt_web_set_deadline(tt_web_connection *connection, double seconds);

/** A WebSocket's frames have a deadline from here on. NULL-safe. */
void tt_web_watch_frames(tt_web_connection *connection, SoupWebsocketConnection *frames);
/** Before the connection is freed. */
void tt_web_unwatch_frames(tt_web_connection *connection);
/** Asked again and again: a frame was begun too long ago. */
bool tt_web_frame_is_late(tt_web_connection *connection, int64_t now);

/** Slots for streamed answers. */
bool tt_web_take_slot(tt_web *web);
void tt_web_give_slot(tt_web *web);

#endif

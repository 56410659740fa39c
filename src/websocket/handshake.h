/* handshake.h: the opening handshake of a WebSocket (RFC 6455, section 4), as bytes: what a client asks, what a server
 * answers. Heads are read by libsoup's parser. No I/O, and no state but what is given.
 */
#ifndef TT_WEBSOCKET_HANDSHAKE_H
#define TT_WEBSOCKET_HANDSHAKE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_HANDSHAKE_PROTOCOLS 8 /**< subprotocols that are looked at */
#define TT_HANDSHAKE_KEY 25      /**< bytes of a key, as text, with its end */
#define TT_HANDSHAKE_TEXT 512    /**< bytes of a path or origin, with its end */

/** What a client asked for. */
typedef struct tt_handshake {
  char method[16];
  char path[TT_HANDSHAKE_TEXT];   /**< as it was sent, with its query */
  char origin[TT_HANDSHAKE_TEXT]; /**< of the page that asks; "": no browser does */
  char key[TT_HANDSHAKE_KEY];
  char protocols[TT_HANDSHAKE_PROTOCOLS][96]; /**< in the client's order of preference */
  int protocol_count;
  bool upgrade; /**< it wants a WebSocket; otherwise it is a plain request */
} tt_handshake;

/** A server's answer. Texts are the caller's. */
typedef struct tt_handshake_answer {
  int status;               /**< 101: welcome; any other HTTP status ends the connection */
  const char *protocol;     /**< of 101: the subprotocol chosen; NULL: none */
  const char *body;         /**< of others: text for people; NULL: what the status means */
  const char *allow_origin; /**< of others: Access-Control-Allow-Origin; NULL: none */
} tt_handshake_answer;

/** Where a client connects to. */
typedef struct tt_handshake_url {
  char address[TT_HANDSHAKE_TEXT]; /**< "host:port" */
  char path[TT_HANDSHAKE_TEXT];
} tt_handshake_url;

/** Whether an Origin is that of a program ("" or a scheme of its own), of a file, or of a page that this machine serves;
 *  not that of another site, nor "null", which pages of other sites may have. */
bool tt_handshake_is_own_origin(const char *origin);

/** Bytes of the head that `bytes` begin with, its empty line included; 0: it is not whole yet. */
size_t tt_handshake_head(const void *bytes, size_t size);

/** Reads a whole head. TT_BAD_MESSAGE: `status` is the HTTP status to answer with, and `error` has the reason. */
tt_status tt_handshake_read(const char *head, size_t size, tt_handshake *asked, int *status,
                            tt_error *error);
/** Writes the head (and body) that answers `asked` into `text`; its length, or 0 where `capacity` is too small. */
size_t tt_handshake_answer_write(const tt_handshake *asked, const tt_handshake_answer *answer,
                                 char *text, size_t capacity);

/** Reads ws://HOST[:PORT][/PATH]; TT_INVALID names what is wrong with it. */
tt_status tt_handshake_url_read(const char *url, tt_handshake_url *read, tt_error *error);
/** A fresh key. */
void tt_handshake_key(char key[TT_HANDSHAKE_KEY]);
/** Writes a client's request; its length, or 0 where `capacity` is too small. */
size_t tt_handshake_ask(const tt_handshake_url *url, const char *key, const char *const *protocols,
                        int protocol_count, char *text, size_t capacity);
/** Reads a server's whole head. `chosen` gets the index of the subprotocol in `protocols`, −1: none. TT_BAD_MESSAGE with
 *  the reason where the server does not speak WebSocket, or refuses. */
tt_status tt_handshake_answer_read(const char *head, size_t size, const char *key,
                                   const char *const *protocols, int protocol_count, int *chosen,
                                   tt_error *error);

#endif

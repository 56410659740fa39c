/* server.h: a server of NetworkTables 4 (4.0 and 4.1, with the connection for round trips): topics of our own, which clients
 * read, and topics of theirs.
 *
 * All of it belongs to the thread of its tt_net. Times are those of the monotonic clock, µs, as clients synchronise to it;
 * simulated time is a topic like others.
 *
 * A client gets of each topic it subscribed to the newest value, at most once in the period it asked for; every value where
 * it asked for all. One that reads too slowly loses values, never the rest.
 */
#ifndef TT_NT4_SERVER_H
#define TT_NT4_SERVER_H

#include "net/net.h"
#include "nt4/sink.h"

#define TT_NT4_MOST_REQUESTS 1000    /**< subscriptions, and publishers, of a client */
#define TT_NT4_MOST_KEPT (64u << 20) /**< bytes of all values that clients publish */
#define TT_NT4_PROPERTIES 4096u      /**< bytes of a topic's properties, as JSON */

typedef struct tt_nt4_server tt_nt4_server;

/** `address` to listen on; who may come, where that is public. Errors are those of tt_websocket_listen(). */
tt_status tt_nt4_server_open(tt_net *net, const char *address, const tt_allow *allow,
                             tt_nt4_server **server, tt_error *error);
/** NULL-safe. */
void tt_nt4_server_close(tt_nt4_server *server);
const char *tt_nt4_server_address(const tt_nt4_server *server);

/** Where topics of our own are put. Clients can't write them but those that are writable, and pages of other machines not
 *  even those. The server's. */
tt_nt4_sink *tt_nt4_server_sink(tt_nt4_server *server);
/** Sends what is due. Call it at least every 5 ms of interest. */
void tt_nt4_server_flush(tt_nt4_server *server);
/** Clients that are connected. */
int tt_nt4_server_clients(const tt_nt4_server *server);

#endif

/* client.h: a client of NetworkTables 4 (4.1, else 4.0), which publishes topics of ours into another's server, as a robot
 * program of WPILib is one, and tries again for ever.
 *
 * All of it belongs to the thread of its tt_net. Values have the server's time, which the client keeps asking for. A server
 * that reads too slowly loses values and gets the newest later.
 */
#ifndef TT_NT4_CLIENT_H
#define TT_NT4_CLIENT_H

#include "net/net.h"
#include "nt4/sink.h"

#define TT_NT4_DEFAULT_PATH "/nt/Tether" /**< of a URL without one: our name there */

typedef struct tt_nt4_client tt_nt4_client;

/** Checks ws://HOST[:PORT][/nt/NAME]. TT_INVALID: what is wrong with it. */
tt_status tt_nt4_client_check(const char *url, tt_error *error);
/** Starts connecting. TT_INVALID: the URL. */
tt_status tt_nt4_client_open(tt_net *net, const char *url, tt_nt4_client **client, tt_error *error);
/** NULL-safe. */
void tt_nt4_client_close(tt_nt4_client *client);
/** Where topics are put. Once connected all are wanted. The client's. */
tt_nt4_sink *tt_nt4_client_sink(tt_nt4_client *client);
/** Sends what changed, asks for the time, and closes where nothing was heard. To be called at least every 5 ms. */
void tt_nt4_client_flush(tt_nt4_client *client);
/** Whether there is a connection, and its clock is known. */
bool tt_nt4_client_is_ready(const tt_nt4_client *client);

#endif

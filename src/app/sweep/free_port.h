/* free_port.h: a port of 127.0.0.1 for a program that is started later, and has it for itself then.
 *
 * A port that the kernel chose is anybody's again once it is closed. These lie where the kernel chooses none, and who has one holds a
 * lock on it that every sweep of the machine looks at, and that ends with its process.
 */
#ifndef TT_APP_SWEEP_FREE_PORT_H
#define TT_APP_SWEEP_FREE_PORT_H

#include "base/status.h"

#include <stdbool.h>

/** Gives a port, and its lock, to be closed when nobody needs it any more. TT_FAILED: there is none. */
tt_status tt_free_port_take(bool tcp, int *port, int *lock, tt_error *error);
/** Whether a socket is bound to the UDP port, or listens at the TCP port, in this thread's network. */
bool tt_port_is_taken(bool tcp, int port);

#endif

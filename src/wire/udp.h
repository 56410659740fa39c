/* udp.h: what every wire over UDP does with its socket. */
#ifndef TT_WIRE_UDP_H
#define TT_WIRE_UDP_H

#include "host/wire_keys.h"
#include "host/wire.h"

/** Opens the socket of a wire with its common keys (allow, faults). `on_datagram` is given the wire; what `allow` refuses
 *  is counted and told here. Errors begin with the wire's place in the scene. */
tt_status tt_wire_open_udp(tt_wire *wire, const tt_wire_common *common, const char *bind,
                           const char *peer, size_t max_datagram, tt_udp_on_datagram on_datagram,
                           tt_udp **udp, tt_error *error);
/** At receive: delivers what faults have delayed until now, and counts what was too much at once. */
void tt_wire_advance_udp(tt_wire *wire, tt_udp *udp);
/** Sends and counts; nothing while nobody has spoken to a wire that answers its sender. */
void tt_wire_send_udp(tt_wire *wire, tt_udp *udp, const void *bytes, size_t size);

#endif

/* udp.h: what every wire over UDP does with its socket, and how it goes in lock-step over a network that may lose messages.
 *
 * In lock-step (tt_wire.lockstep) one message is outstanding: the world waits for the answer to what it sent. An answer more
 * than was asked for is dropped before the next message leaves. A message without an answer for the wire's deadline is sent
 * again (late: wait), anew, so that its time is a greater one; after that the world waits until the answers to all of
 * them have come, or no more come: else a controller that answers each message would lag behind for ever. One that reached
 * nobody, as the peer's kernel says, is sent again as it was: nobody has seen it. With `peer: sender` the first datagram
 * says only that somebody is there; the message that waits is sent to it.
 *
 * What the wire's own faults lose is known to be lost. With `late: hold` it is not waited for: the world waits for one datagram for each
 * that left, and goes on with what the faults let through. So an imperfect network costs no time, and gives the same bits again.
 */
#ifndef TT_WIRE_UDP_H
#define TT_WIRE_UDP_H

#include "host/wire_keys.h"
#include "host/wire.h"

#define TT_WIRE_UDP_MESSAGE 2048 /**< bytes of the longest message that a wire sends */

/** A wire's socket: the first member of its `self`, which the adapter allocates. All in the world's thread. */
typedef struct tt_wire_udp {
  tt_udp *udp; /**< NULL: only checked */
  /** as the scene says; the adapter sets it before the socket is opened, if it ever is */
  const char *bind;
  bool to_sender; /**< `peer: sender` */
  /* In lock-step only: */
  bool met;      /**< somebody has spoken, and is not known to be gone */
  bool gone;     /**< the message reached nobody */
  bool answered; /**< the message has its answer */
  uint64_t owed; /**< messages that may still be answered */
  /** tt_udp_arrived() when it was last looked at; where what is lost is not waited for */
  uint64_t arrived;
  uint64_t repeats;   /**< of the message */
  uint64_t unreached; /**< tt_udp_unreached() when it was sent */
  uint64_t sent_at;   /**< wall clock, ns */
  double waited;      /**< s since it was sent, or answered */
  double silent;      /**< s of waiting since the last answer */
  size_t size;        /**< bytes of the message; 0: none was made yet */
  uint8_t message[TT_WIRE_UDP_MESSAGE];
} tt_wire_udp;

/** Opens the socket of a wire with its common keys (allow, faults). `on_datagram` is given the wire; what `allow` refuses
 *  is counted and told here. Errors begin with the wire's place in the scene. */
tt_status tt_wire_open_udp(tt_wire *wire, const tt_wire_common *common, const char *bind,
                           const char *peer, size_t max_datagram, tt_udp_on_datagram on_datagram,
                           tt_wire_udp *link, tt_error *error);
/** Whether the datagram being delivered, of which everything is right, is to be obeyed; drops it and says why otherwise. Its
 *  sender becomes the peer where the wire answers its sender. */
bool tt_wire_take_udp(tt_wire *wire, tt_wire_udp *link, const char *peer, const uint8_t *bytes,
                      size_t size);
/** In lock-step: wall clock for which whoever drives has been waited for in vain, s; infinite while nobody is known to be
 *  there. Another may then take its place. */
double tt_wire_udp_silence(const tt_wire *wire, const tt_wire_udp *link);
/** At receive: delivers what faults have delayed until now, and counts what was too much at once. */
void tt_wire_advance_udp(tt_wire *wire, tt_wire_udp *link);
/** Sends the message of this period and counts it; it is not counted while nobody has spoken to a wire that answers its sender. In
 *  lock-step `bytes` are at most TT_WIRE_UDP_MESSAGE. */
void tt_wire_send_udp(tt_wire *wire, tt_wire_udp *link, const void *bytes, size_t size);
/* Operations of every such wire: must_wait, poll, eject, address, and close, which frees `self` and is called after an error
 * while opening, too. */
bool tt_wire_udp_must_wait(const tt_wire *wire);
void tt_wire_poll_udp(tt_wire *wire, double seconds);
void tt_wire_eject_udp(tt_wire *wire);
const char *tt_wire_udp_address(const tt_wire *wire);
void tt_wire_close_udp(tt_wire *wire);

#endif

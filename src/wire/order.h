/* order.h: whose message drives, and which of several is the newest, for a wire whose controller numbers or stamps its messages.
 *
 * Each valid message is offered when it is read; the newest of a period waits until receive, where the wire submits it.
 * "Newest" is the greatest stamp from the controller that drives. After SILENCE without an accepted message the order starts
 * anew, and whoever speaks first then drives.
 */
#ifndef TT_WIRE_ORDER_H
#define TT_WIRE_ORDER_H

#include "wire/udp.h"

#define TT_WIRE_ORDER_BYTES 1024 /**< of the longest message that is offered */

/** What an adapter keeps of it, as a member, zero at the start. */
typedef struct tt_wire_order {
  /** `last_stamp` and `driver` are those of the message accepted at `accepted_time` */
  bool ordered;
  double last_stamp;
  double accepted_time; /**< s simulated */
  char driver[64];
  bool pending;         /**< a message waits for receive */
  double pending_stamp; /**< of that one, as are those below */
  size_t pending_size;  /**< bytes */
  char pending_peer[64];
  uint8_t pending_bytes[TT_WIRE_ORDER_BYTES];
} tt_wire_order;

/** Whether a valid message of at most TT_WIRE_ORDER_BYTES now waits instead of any other: from who drives, newer than what was
 *  accepted and than what waits, and obeyed by tt_wire_take_udp(). Drops it, or the one before, and says why. `stamp`: NULL where
 *  messages carry none: then the order of arrival holds. World's thread. */
bool tt_wire_order_take(tt_wire *wire, tt_wire_order *order, tt_wire_udp *link, const double *stamp,
                        const char *peer, const uint8_t *bytes, size_t size);
/** The message that waited was submitted (`accepted`), or refused by the world, which is told as a drop. */
void tt_wire_order_submitted(tt_wire *wire, tt_wire_order *order, bool accepted);
/** Whether one of what is to be submitted asks for a reset. */
bool tt_wire_has_reset(const tt_wire *wire, const tt_submission *submissions, int count);

#endif

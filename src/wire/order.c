#include "wire/order.h"

#include <stdio.h>
#include <string.h>

#define SILENCE 1.0 /* s simulated; in lock-step, of waiting */

/* In lock-step simulated time stands still while a silent controller is waited for. */
static void restart_after_silence(tt_wire *wire, tt_wire_order *order, const tt_wire_udp *link) {
  bool silent = tt_wire_time(wire) - order->accepted_time >= SILENCE ||
                tt_wire_udp_silence(wire, link) >= SILENCE;
  if (order->ordered && silent) order->ordered = false;
}

/* Whether the message comes from whoever drives now. */
static bool from_driver(tt_wire *wire, const tt_wire_order *order, const uint8_t *bytes,
                        size_t size, const char *peer) {
  const char *driver = order->pending ? order->pending_peer : order->ordered ? order->driver : peer;
  if (strcmp(driver, peer) == 0) return true;
  tt_wire_drop(wire, TT_DROP_REFUSED, peer, bytes, size,
               "%s drives; another is heard once it has been silent for %g s%s", driver, SILENCE,
               wire->lockstep ? "" : " of simulated time");
  return false;
}

/* Whether the message is newer than what was accepted and than what is pending. */
static bool is_newest(tt_wire *wire, const tt_wire_order *order, double stamp, const uint8_t *bytes,
                      size_t size, const char *peer) {
  if (order->ordered && stamp <= order->last_stamp) {
    tt_wire_drop(wire, TT_DROP_STALE, peer, bytes, size, "stamp %.9g after %.9g", stamp,
                 order->last_stamp);
    return false;
  }
  if (!order->pending) return true;
  double waiting = order->pending_stamp;
  if (stamp > waiting) return true;
  tt_wire_drop(wire, stamp == waiting ? TT_DROP_STALE : TT_DROP_SUPERSEDED, peer, bytes, size,
               "stamp %.9g after %.9g in the same period", stamp, waiting);
  return false;
}

bool tt_wire_order_take(tt_wire *wire, tt_wire_order *order, tt_wire_udp *link, const double *stamp,
                        const char *peer, const uint8_t *bytes, size_t size) {
  restart_after_silence(wire, order, link);
  if (!from_driver(wire, order, bytes, size, peer)) return false;
  if (stamp && !is_newest(wire, order, *stamp, bytes, size, peer)) return false;
  if (!tt_wire_take_udp(wire, link, peer, bytes, size)) return false;
  if (order->pending)
    tt_wire_drop(wire, TT_DROP_SUPERSEDED, order->pending_peer, order->pending_bytes,
                 order->pending_size, "a newer message came in the same period");
  memcpy(order->pending_bytes, bytes, size);
  order->pending_size = size;
  order->pending_stamp = stamp ? *stamp : 0;
  snprintf(order->pending_peer, sizeof order->pending_peer, "%s", peer);
  order->pending = true;
  return true;
}

void tt_wire_order_submitted(tt_wire *wire, tt_wire_order *order, bool accepted) {
  order->pending = false;
  if (!accepted) {
    tt_wire_drop(wire, TT_DROP_RANGE, order->pending_peer, order->pending_bytes,
                 order->pending_size, "the world refused it");
    return;
  }
  order->ordered = true;
  order->last_stamp = order->pending_stamp;
  order->accepted_time = tt_wire_time(wire);
  if (strcmp(order->driver, order->pending_peer) != 0 || !wire->stats.peer[0]) {
    tt_wire_event(wire, "driven by %s", order->pending_peer);
    snprintf(order->driver, sizeof order->driver, "%s", order->pending_peer);
    snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", order->pending_peer);
  }
}

bool tt_wire_has_reset(const tt_wire *wire, const tt_submission *submissions, int count) {
  for (int i = 0; i < count; i++)
    if (wire->model->commands[submissions[i].command].kind == TT_COMMAND_RESET &&
        submissions[i].value != 0)
      return true;
  return false;
}

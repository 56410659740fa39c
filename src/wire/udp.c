#include "wire/udp.h"

static void on_refused(void *context, const uint8_t *bytes, size_t size, const char *peer) {
  tt_wire *wire = context;
  tt_wire_received(wire, bytes, size);
  tt_wire_drop(wire, TT_DROP_REFUSED, peer, bytes, size, "its address is not in allow");
}

tt_status tt_wire_open_udp(tt_wire *wire, const tt_wire_common *common, const char *bind,
                           const char *peer, size_t max_datagram, tt_udp_on_datagram on_datagram,
                           tt_udp **udp, tt_error *error) {
  tt_udp_options options = tt_udp_options_default();
  options.bind = bind;
  options.peer = peer;
  options.max_datagram = max_datagram;
  options.allow = (tt_allow){(const char *const *)common->allow, (int)common->allow_count};
  options.on_datagram = on_datagram;
  options.on_refused = on_refused;
  options.context = wire;
  TT_TRY(tt_wire_faults_check(common, wire->where, &options.faults, error));
  tt_error reason;
  tt_status status = tt_udp_open(wire->net, &options, udp, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

static void count_overflow(tt_wire *wire, const tt_udp *udp) {
  uint64_t *counted = &wire->stats.dropped[TT_DROP_OVERFLOW];
  uint64_t overflowed = tt_udp_overflowed(udp);
  wire->stats.received += overflowed - *counted;
  *counted = overflowed;
}

void tt_wire_advance_udp(tt_wire *wire, tt_udp *udp) {
  tt_udp_advance(udp, tt_wire_time(wire));
  count_overflow(wire, udp);
}

void tt_wire_send_udp(tt_wire *wire, tt_udp *udp, const void *bytes, size_t size) {
  tt_status status = tt_udp_send(udp, bytes, size);
  if (status != TT_CLOSED) tt_wire_sent(wire, bytes, size, status == TT_OK);
}

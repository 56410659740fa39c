/* sharp_link.c: one UDP link of the SHARP chain. See sharp_link.h. */
#include "control/sharp_link.h"

#include "base/clock.h"
#include "base/log.h"

#define SAY_AGAIN_NS 1000000000u /* the first of each reason a second is logged */

/** Bad datagrams change nothing and are never the end: counted, and said now and then. */
static void drop(tt_sharp_link *link, const char *peer, const tt_refusal *fault) {
  link->dropped[fault->drop]++;
  uint64_t now = tt_monotonic_ns();
  if (link->said_ns[fault->drop] != 0 && now - link->said_ns[fault->drop] < SAY_AGAIN_NS) return;
  link->said_ns[fault->drop] = now;
  tt_log_warning("%s: dropped a message from %s: %s: %s (%llu so far)", link->name, peer,
                 tt_drop_text(fault->drop), fault->text,
                 (unsigned long long)link->dropped[fault->drop]);
}

static void on_datagram(void *context, const uint8_t *bytes, size_t size, bool truncated,
                        const char *peer) {
  tt_sharp_link *link = context;
  tt_refusal fault = {TT_DROP_LENGTH, "longer than any of these messages"};
  char unknown[TT_SHARP_UNKNOWN_TEXT] = "";
  if (truncated || tt_sharp_decode(link->hears, bytes, size, link->values,
                                   link->said_unknown ? NULL : unknown, &fault) != TT_OK) {
    drop(link, peer, &fault);
    return;
  }
  if (unknown[0] != '\0') {
    link->said_unknown = true;
    tt_log_info("%s: these keys of %s mean nothing here: %s", link->name, peer, unknown);
  }
  tt_udp_accept_peer(link->udp);
  link->accepted++;
  link->heard = true;
  link->heard_ns = tt_monotonic_ns();
}

tt_status tt_sharp_link_open(tt_sharp_link *link, tt_net *net, tt_error *error) {
  tt_udp_options options = tt_udp_options_default();
  options.bind = link->bind;
  options.peer = link->peer;
  options.max_datagram = TT_SHARP_MAX_DATAGRAM;
  options.allow = link->allow;
  options.on_datagram = on_datagram;
  options.context = link;
  return tt_udp_open(net, &options, &link->udp, error);
}

void tt_sharp_link_send(tt_sharp_link *link, const tt_sharp_format *format, const int *values) {
  char text[TT_SHARP_MAX_TEXT];
  size_t size = tt_sharp_encode(format, link->style, values, text);
  if (tt_udp_send(link->udp, text, size) == TT_OK) link->sent++;
}

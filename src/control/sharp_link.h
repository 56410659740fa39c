/* sharp_link.h: one UDP link of the SHARP chain: sends one kind of message, hears another, keeps the newest. */
#ifndef TT_CONTROL_SHARP_LINK_H
#define TT_CONTROL_SHARP_LINK_H

#include "net/net.h"
#include "sharp/codec.h"

/** Messages from one partner. Set the first five members, zero the rest, then open. */
typedef struct tt_sharp_link {
  const char *name;        /**< of the partner, for people: "vehicle" */
  const char *bind, *peer; /**< as in tt_udp_options */
  tt_allow allow;
  const tt_sharp_format *hears; /**< what the partner sends */
  tt_sharp_style style;         /**< of what we send */

  /** of the newest accepted message; missing keys keep their last value */
  int values[TT_SHARP_MAX_VALUES];
  bool heard;        /**< something was accepted; the reader clears it */
  uint64_t heard_ns; /**< when the newest was */
  uint64_t accepted, sent;
  bool said_unknown; /**< which keys of the partner mean nothing here */
  uint64_t dropped[TT_DROP_COUNT];
  uint64_t said_ns[TT_DROP_COUNT]; /**< when each reason was last logged */
  tt_udp *udp;
} tt_sharp_link;

/** Opens the socket; errors as of tt_udp_open(). The link must not move while it is open; the net closes it. */
tt_status tt_sharp_link_open(tt_sharp_link *link, tt_net *net, tt_error *error);
/** Sends one message of `values`, as many as the format has. Never blocks; best effort: nobody need be there. */
void tt_sharp_link_send(tt_sharp_link *link, const tt_sharp_format *format, const int *values);

#endif

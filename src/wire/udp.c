#include "wire/udp.h"
#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SILENCE 1.0     /* s: another may then take the place of who drives */
#define KNOCK_EVERY 0.1 /* s between messages to a port where nobody is */
#define SETTLE 0.1      /* s in which the next of several answers comes, at least */

static void on_refused(void *context, const uint8_t *bytes, size_t size, const char *peer) {
  tt_wire *wire = context;
  tt_wire_received(wire, bytes, size);
  tt_wire_drop(wire, TT_DROP_REFUSED, peer, bytes, size, "its address is not in allow");
}

tt_status tt_wire_open_udp(tt_wire *wire, const tt_wire_common *common, const char *bind,
                           const char *peer, size_t max_datagram, tt_udp_on_datagram on_datagram,
                           tt_wire_udp *link, tt_error *error) {
  tt_udp_options options = tt_udp_options_default();
  options.bind = bind;
  options.peer = peer;
  options.max_datagram = max_datagram;
  options.watch_peer = wire->lockstep;
  options.allow = (tt_allow){(const char *const *)common->allow, (int)common->allow_count};
  options.on_datagram = on_datagram;
  options.on_refused = on_refused;
  options.context = wire;
  TT_TRY(tt_wire_faults_check(common, wire->where, &options.faults, error));
  *link = (tt_wire_udp){.bind = bind, .to_sender = strcmp(peer, "sender") == 0};
  tt_error reason;
  tt_status status = tt_udp_open(wire->net, &options, &link->udp, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

void tt_wire_close_udp(tt_wire *wire) {
  tt_wire_udp *link = wire->self;
  tt_udp_close(link->udp);
  free(link); /* all of the wire's own: the link is its first member */
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
}

const char *tt_wire_udp_address(const tt_wire *wire) {
  const tt_wire_udp *link = wire->self;
  return link->udp ? tt_udp_address(link->udp) : link->bind;
}

static void count_overflow(tt_wire *wire, const tt_udp *udp) {
  uint64_t *counted = &wire->stats.dropped[TT_DROP_OVERFLOW];
  uint64_t overflowed = tt_udp_overflowed(udp);
  wire->stats.received += overflowed - *counted;
  *counted = overflowed;
}

void tt_wire_advance_udp(tt_wire *wire, tt_wire_udp *link) {
  tt_udp_advance(link->udp, tt_wire_time(wire));
  count_overflow(wire, link->udp);
}

/* Whether what faults lose is gone for good. */
static bool lets_go(const tt_wire *wire, const tt_wire_udp *link) {
  return wire->lockstep && wire->late == TT_LATE_HOLD && tt_udp_is_faulty(link->udp);
}

/* There: each datagram that came, whatever becomes of it, is the answer to one that left. */
static void count_answers(tt_wire *wire, tt_wire_udp *link) {
  uint64_t came = tt_udp_arrived(link->udp) - link->arrived;
  link->arrived += came;
  if (came == 0 || link->answered || !lets_go(wire, link)) return;
  link->owed -= came < link->owed ? came : link->owed;
  if (link->owed > 0) return;
  link->answered = true;
  link->waited = link->silent = 0;
  tt_wire_answered(wire, link->sent_at);
}

static void take_what_came(tt_wire *wire, tt_wire_udp *link) {
  tt_udp_read(link->udp);
  tt_wire_advance_udp(wire, link);
  count_answers(wire, link);
}

/* --- sending --- */

/* Hands the message to the socket; false: nobody is known to whom. */
static bool hand_over(tt_wire *wire, tt_wire_udp *link, const void *bytes, size_t size) {
  link->unreached = tt_udp_unreached(link->udp);
  tt_status status = tt_udp_send(link->udp, bytes, size);
  if (status == TT_CLOSED) return false;
  tt_wire_sent(wire, bytes, size, status == TT_OK);
  return true;
}

static void send_message(tt_wire *wire, tt_wire_udp *link) {
  link->gone = link->answered = false;
  link->waited = 0;
  link->sent_at = tt_monotonic_ns();
  uint64_t handed = tt_udp_handed(link->udp);
  if (!hand_over(wire, link, link->message, link->size)) return;
  link->owed += lets_go(wire, link) ? tt_udp_handed(link->udp) - handed : 1;
  link->answered = link->owed == 0;
}

void tt_wire_send_udp(tt_wire *wire, tt_wire_udp *link, const void *bytes, size_t size) {
  if (!wire->lockstep) {
    hand_over(wire, link, bytes, size);
    return;
  }
  take_what_came(wire, link); /* what was not asked for is dropped before the next one leaves */
  memcpy(link->message, bytes, size);
  link->size = size;
  link->repeats = 0;
  send_message(wire, link);
}

/* Anew: whoever filters by time would be deaf to a copy. */
static void repeat_message(tt_wire *wire, tt_wire_udp *link) {
  take_what_came(wire, link);
  if (link->answered) return;
  uint64_t repeats = link->repeats + 1;
  wire->ops->send(wire, tt_wire_view(wire));
  link->repeats = repeats;
}

/* --- who is there --- */

static void forget_peer(tt_wire *wire, tt_wire_udp *link) {
  tt_udp_forget_peer(link->udp);
  link->met = false;
  link->owed = link->repeats = 0;
  wire->state = TT_WIRE_WAITING;
}

static void notice_that_nobody_is_there(tt_wire *wire, tt_wire_udp *link) {
  if (link->gone || link->answered || tt_udp_unreached(link->udp) == link->unreached) return;
  link->gone = true;
  link->owed = 0;
  if (!link->met) return;
  tt_wire_event(wire, "nobody is at its peer's port any more");
  forget_peer(wire, link);
}

void tt_wire_eject_udp(tt_wire *wire) {
  tt_wire_event(wire, "ejected: no answer in time");
  forget_peer(wire, wire->self);
}

double tt_wire_udp_silence(const tt_wire *wire, const tt_wire_udp *link) {
  if (!wire->lockstep) return 0;
  return link->met ? link->silent : INFINITY;
}

/* Somebody new, who is told what the world waits to be answered. */
static void meet(tt_wire *wire, tt_wire_udp *link, const char *peer) {
  tt_udp_accept_peer(link->udp);
  link->met = true;
  link->owed = link->repeats = 0;
  link->silent = 0;
  wire->state = TT_WIRE_WAITING; /* it gets its own time to answer */
  tt_wire_event(wire, "met %s", peer);
  if (link->size > 0) send_message(wire, link);
}

/* --- receiving --- */

/* Whoever was told something more than once has seen another world than one who was not. */
static void note_answer(tt_wire *wire, tt_wire_udp *link) {
  tt_wire_answered(wire, link->sent_at);
  if (link->repeats == 0) return;
  wire->stats.repeated += link->repeats;
  tt_wire_event(wire,
                "answered after the message was sent again, %llu times: the run may not repeat bit "
                "for bit",
                (unsigned long long)link->repeats);
}

bool tt_wire_take_udp(tt_wire *wire, tt_wire_udp *link, const char *peer, const uint8_t *bytes,
                      size_t size) {
  if (!wire->lockstep) {
    tt_udp_accept_peer(link->udp);
    return true;
  }
  if (link->to_sender && !tt_udp_is_from_peer(link->udp)) {
    if (tt_wire_udp_silence(wire, link) >= SILENCE)
      meet(wire, link, peer);
    else
      tt_wire_drop(wire, TT_DROP_REFUSED, peer, bytes, size,
                   "%s drives; another is heard once it has been waited for for %g s in vain",
                   wire->stats.peer, SILENCE);
    return false;
  }
  if (lets_go(wire, link)) {
    link->met = true;
    return true;
  }
  if (link->answered && link->owed == 0) {
    tt_wire_drop(wire, TT_DROP_SURPLUS, peer, bytes, size, "every message has its answer");
    return false;
  }
  if (!link->answered) note_answer(wire, link);
  link->met = link->answered = true;
  link->waited = link->silent = 0;
  if (link->owed > 0) link->owed--;
  return true;
}

bool tt_wire_udp_must_wait(const tt_wire *wire) {
  const tt_wire_udp *link = wire->self;
  return !link->answered || link->owed > 0;
}

/* s after which no more answers come: twice what one usually takes, and never so long that the wire would be late. */
static double settling_time(const tt_wire *wire) {
  const tt_wire_stats *stats = &wire->stats;
  double usual = stats->round_trips > 0 ? stats->round_trip_sum / (double)stats->round_trips : 0;
  return fmin(fmax(SETTLE, 2 * usual), wire->deadline / 2);
}

void tt_wire_poll_udp(tt_wire *wire, double seconds) {
  tt_wire_udp *link = wire->self;
  if (!wire->lockstep) return;
  tt_wire_advance_udp(wire, link);
  count_answers(wire, link);
  notice_that_nobody_is_there(wire, link);
  double since_sent = (double)(tt_monotonic_ns() - link->sent_at) * 1e-9;
  link->waited = fmin(link->waited + seconds, since_sent);
  if (link->answered) {
    if (link->waited >= settling_time(wire)) link->owed = 0;
    return;
  }
  link->silent += seconds;
  if (link->gone && !link->to_sender && link->waited >= KNOCK_EVERY)
    send_message(wire, link);
  else if (link->owed > 0 && wire->late == TT_LATE_WAIT && link->waited >= wire->deadline)
    repeat_message(wire, link);
}

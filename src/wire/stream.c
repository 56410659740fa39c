#include "wire/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_AT_MOST 65536u /* bytes that one read brings */

tt_wire_disconnect tt_wire_disconnect_of(const char *text) {
  if (strcmp(text, "keep") == 0) return TT_WIRE_KEEP;
  return strcmp(text, "exit") == 0 ? TT_WIRE_EXIT : TT_WIRE_RESET;
}

/* --- the peer comes and goes --- */

static void meet(tt_wire *wire, tt_tcp *tcp) {
  tt_wire_stream *stream = wire->self;
  stream->tcp = tcp;
  wire->state = TT_WIRE_WAITING; /* it gets its own time to answer */
  snprintf(wire->stats.peer, sizeof wire->stats.peer, "%s", tt_tcp_peer(tcp));
  tt_wire_event(wire, "connected %s", tt_tcp_peer(tcp));
  if (stream->use.met) stream->use.met(wire);
}

/* NULL: nobody. */
static tt_tcp *last_waiting(const tt_wire_stream *stream) {
  const tt_wire_queue *waiting = &stream->waiting;
  return waiting->count > 0 ? waiting->of[waiting->count - 1] : NULL;
}

static void leave_queue(tt_wire_stream *stream, const tt_tcp *tcp) {
  tt_wire_queue *waiting = &stream->waiting;
  int kept = 0;
  for (int i = 0; i < waiting->count; i++)
    if (waiting->of[i] != tcp) waiting->of[kept++] = waiting->of[i];
  waiting->count = kept;
}

static void meet_next(tt_wire *wire) {
  tt_wire_stream *stream = wire->self;
  if (stream->waiting.count == 0) return;
  tt_tcp *next = stream->waiting.of[0];
  leave_queue(stream, next);
  tt_tcp_pause(next, false);
  meet(wire, next);
}

static void lose_peer(tt_wire *wire, const char *reason) {
  tt_wire_stream *stream = wire->self;
  tt_wire_event(wire, "disconnected %s: %s", wire->stats.peer, reason);
  *stream = (tt_wire_stream){.use = stream->use,
                             .server = stream->server,
                             .connector = stream->connector,
                             .bytes = stream->bytes,
                             .waiting = stream->waiting,
                             .stands = stream->stands && stream->use.then != TT_WIRE_RESET};
  wire->state = TT_WIRE_WAITING;
  wire->stats.peer[0] = '\0';
  stream->use.lost(wire);
  if (stream->use.then == TT_WIRE_RESET) {
    tt_wire_request_reset(wire);
  } else if (stream->use.then == TT_WIRE_EXIT) {
    char text[64];
    snprintf(text, sizeof text, "its %s is gone", stream->use.whom);
    tt_wire_request_stop(wire, TT_OK, text);
  }
  meet_next(wire);
}

void tt_wire_end_stream(tt_wire *wire, const char *reason) {
  tt_wire_stream *stream = wire->self;
  tt_tcp *tcp = stream->tcp;
  if (!tcp && !stream->left) return;
  if (stream->hurries && stream->answered) { /* what it had said before that still counts */
    stream->tcp = NULL;
    stream->left = true;
    stream->size = 0;
  } else {
    lose_peer(wire, reason);
  }
  if (tcp) tt_tcp_close(tcp, reason);
}

static bool is_leaving(const tt_wire_stream *stream) {
  return stream->left || (stream->tcp && tt_tcp_closed(stream->tcp));
}

/* Whoever went without a word has nothing that could be obeyed, and nobody else notices. */
static void drop_last_if_mute(tt_wire_stream *stream) {
  tt_tcp *last = last_waiting(stream);
  if (!last || !tt_tcp_closed(last) || tt_tcp_has_unread(last)) return;
  leave_queue(stream, last);
  tt_tcp_close(last, "closed by peer");
}

/* One that has gone is behind them, or nobody. */
static bool may_wait(const tt_wire_stream *stream) {
  const tt_tcp *last = last_waiting(stream);
  if (!is_leaving(stream) || stream->waiting.count == TT_WIRE_MOST_WAITING) return false;
  return !last || tt_tcp_closed(last);
}

/* What one that is gone said ahead would drive its robot on, and keep the next one waiting, for as long as that takes in
 * real time. So it is taken at once, up to its last word, which may be a stop. In lock-step it is done as fast as it is
 * computed, and is part of the run. */
static void hear_out(tt_wire *wire) {
  tt_wire_stream *stream = wire->self;
  if (!wire->realtime || !stream->use.answers_ahead) return;
  if (!stream->answered || !is_leaving(stream)) return;
  stream->hurries = true;
  stream->use.take(wire);
}

static void wait_for_last(tt_wire *wire, tt_tcp *tcp) {
  tt_wire_stream *stream = wire->self;
  stream->waiting.of[stream->waiting.count++] = tcp;
  tt_tcp_pause(tcp, true);
  tt_wire_event(wire, "%s waits until the last answer of %s is obeyed", tt_tcp_peer(tcp),
                wire->stats.peer);
  hear_out(wire);
}

static void refuse(tt_wire *wire, tt_tcp *tcp, const tt_tcp *present) {
  const tt_wire_stream *stream = wire->self;
  const tt_tcp *last = last_waiting(stream);
  if (last && tt_tcp_closed(last))
    tt_wire_drop(wire, TT_DROP_REFUSED, tt_tcp_peer(tcp), NULL, 0,
                 "%d that have left are obeyed first; there is room once the world has gone on",
                 1 + stream->waiting.count);
  else
    tt_wire_drop(wire, TT_DROP_REFUSED, tt_tcp_peer(tcp), NULL, 0, "%s is connected; %s",
                 tt_tcp_peer(present), stream->use.refusal);
  tt_tcp_close(tcp, "refused");
}

static void on_open(void *context, tt_tcp *tcp) {
  tt_wire *wire = context;
  tt_wire_stream *stream = wire->self;
  drop_last_if_mute(stream);
  const tt_tcp *last = last_waiting(stream), *present = last ? last : stream->tcp;
  if (may_wait(stream))
    wait_for_last(wire, tcp);
  else if (present)
    refuse(wire, tcp, present);
  else
    meet(wire, tcp);
}

/* Whether the end comes together with the last answer or after its tick is chance; what the world does is not: every
 * answer that came gets its tick, and who goes between two messages ends at the next one. In real time all that was said
 * ahead gets one tick together. */
static void on_close(void *context, tt_tcp *tcp, const char *reason) {
  tt_wire *wire = context;
  tt_wire_stream *stream = wire->self;
  leave_queue(stream, tcp);
  if (!tcp || tcp != stream->tcp) return;
  stream->tcp = NULL;
  stream->answered |= stream->said; /* nobody is left who could answer the newest message */
  stream->left = stream->answered || !stream->stands;
  hear_out(wire);
  if (!stream->left) lose_peer(wire, reason);
}

/* --- what it sends --- */

static void set_paused(tt_wire_stream *stream) {
  bool paused = stream->size > stream->use.enough;
  if (!stream->tcp || stream->paused == paused) return;
  stream->paused = paused;
  tt_tcp_pause(stream->tcp, paused);
}

static void on_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  tt_wire *wire = context;
  tt_wire_stream *stream = wire->self;
  if (tcp != stream->tcp) return; /* refused, and not gone yet */
  if (size > stream->use.enough + READ_AT_MOST - stream->size) {
    tt_wire_end_stream(wire,
                       "more bytes than there is room for"); /* a read brought more than it may */
    return;
  }
  memcpy(stream->bytes + stream->size, bytes, size);
  stream->size += size;
  stream->use.take(wire);
  hear_out(wire);
  set_paused(stream);
}

void tt_wire_stream_taken(tt_wire_stream *stream, size_t size) {
  if (size == 0 || size > stream->size) return;
  stream->size -= size;
  if (stream->size > 0) memmove(stream->bytes, stream->bytes + size, stream->size);
}

void tt_wire_stand_stream(tt_wire_stream *stream) {
  stream->stands = true;
  /* Where a policy let the world go on, it may just have answered the message before this one. */
  if (!stream->left && !stream->hurries) stream->answered = false;
}

bool tt_wire_obey_stream(tt_wire_stream *stream) {
  stream->said = false;
  if (!stream->answered) return false;
  stream->stands = stream->answered = false;
  return true;
}

bool tt_wire_stream_wants(const tt_wire_stream *stream) {
  return stream->stands && (!stream->answered || stream->hurries);
}

void tt_wire_reread_stream(tt_wire *wire) {
  tt_wire_stream *stream = wire->self;
  if (!stream->tcp && !stream->left) return;
  stream->use.take(wire);
  hear_out(wire);
  if (stream->left && !stream->answered) tt_wire_end_stream(wire, "closed by peer");
  set_paused(stream);
}

/* --- the rest --- */

tt_status tt_wire_open_stream(tt_wire *wire, const tt_wire_stream_use *use,
                              const tt_wire_common *common, tt_error *error) {
  tt_wire_stream *stream = wire->self;
  stream->use = *use;
  if (wire->check_only) return TT_OK;
  stream->bytes = malloc(use->enough + READ_AT_MOST);
  if (!stream->bytes) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_tcp_options options = tt_tcp_options_default();
  options.address = use->connect ? use->connect : use->listen;
  /* Who leaves, who wait for that, and who is told by us why not. */
  options.max_connections = 2 + TT_WIRE_MOST_WAITING;
  if (use->max_queued > 0) options.max_queued = use->max_queued;
  options.allow = (tt_allow){(const char *const *)common->allow, (int)common->allow_count};
  options.handler = (tt_tcp_handler){.on_open = on_open, .on_data = on_data, .on_close = on_close};
  options.context = wire;
  tt_error reason;
  tt_status status;
  if (use->connection)
    status = tt_tcp_adopt(wire->net, use->connection, &options, &stream->server, &reason);
  else if (use->connect)
    status = tt_tcp_connect(wire->net, &options, &stream->connector, &reason);
  else
    status = tt_tcp_listen(wire->net, &options, &stream->server, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: %s", wire->where, reason.text);
}

void tt_wire_send_stream(tt_wire *wire, const void *bytes, size_t size) {
  const tt_wire_stream *stream = wire->self;
  tt_wire_sent(wire, bytes, size, tt_tcp_send(stream->tcp, bytes, size) == TT_OK);
}

void tt_wire_reset_stream(tt_wire *wire) {
  tt_wire_stream *stream = wire->self;
  stream->stands = stream->answered = false; /* also for who waits: it is told what comes */
  stream->said = false;
  if (stream->left || stream->hurries) tt_wire_end_stream(wire, "closed by peer");
  stream->stale = stream->owed;
}

bool tt_wire_stream_must_wait(const tt_wire *wire) {
  const tt_wire_stream *stream = wire->self;
  return stream->stands && !stream->answered;
}

void tt_wire_eject_stream(tt_wire *wire) {
  const tt_wire_stream *stream = wire->self;
  if (stream->tcp) tt_wire_end_stream(wire, "ejected: no answer in time");
}

void tt_wire_end_left_stream(tt_wire *wire) {
  const tt_wire_stream *stream = wire->self;
  if (stream->left && stream->use.then == TT_WIRE_EXIT) lose_peer(wire, "closed by peer");
}

const char *tt_wire_stream_address(const tt_wire *wire) {
  const tt_wire_stream *stream = wire->self;
  if (stream->server) return tt_tcp_server_address(stream->server);
  return stream->use.connect ? stream->use.connect : stream->use.listen;
}

void tt_wire_close_stream(tt_wire *wire) {
  tt_wire_stream *stream = wire->self;
  tt_tcp_server_close(stream->server);
  tt_tcp_client_close(stream->connector);
  free(stream->bytes);
  free(stream); /* all of the wire's own: the stream is its first member */
  wire->self = NULL;
  wire->owned = NULL;
  wire->owned_count = 0;
}

/* wire_port.c: the host's side of the contract in host/wire.h: the only ways in which an adapter touches a world. */
#include "base/clock.h"
#include "base/log.h"
#include "host/world_internal.h"

#include <stdio.h>
#include <string.h>

tt_wire_slot *tt_wire_slot_of(tt_wire *wire) {
  return (tt_wire_slot *)wire; /* the wire is its slot's first member */
}

tt_status tt_wire_submit(tt_wire *wire, const tt_submission *submissions, int count, int *bad) {
  TT_TRY(
      tt_world_apply(wire->world, wire->name, wire->tells_driver_station, submissions, count, bad));
  tt_wire_alive(wire);
  return TT_OK;
}

tt_status tt_wire_submit_again(tt_wire *wire, const tt_submission *submissions, int count) {
  return tt_world_apply(wire->world, wire->name, wire->tells_driver_station, submissions, count,
                        NULL);
}

void tt_wire_alive(tt_wire *wire) {
  wire->stats.accepted++;
  tt_world_fed(wire->world, tt_wire_slot_of(wire));
}

void tt_wire_answered(tt_wire *wire, uint64_t sent_at) {
  tt_wire_stats *stats = &wire->stats;
  uint64_t now = tt_monotonic_ns();
  double seconds = (double)(now - sent_at) * 1e-9;
  tt_wire_slot_of(wire)->answered_ns = now;
  stats->round_trip_last = seconds;
  stats->round_trip_sum += seconds;
  if (stats->round_trips == 0 || seconds < stats->round_trip_min) stats->round_trip_min = seconds;
  if (seconds > stats->round_trip_max) stats->round_trip_max = seconds;
  stats->round_trips++;
}

void tt_wire_make_safe(tt_wire *wire, const int *commands, int count) {
  tt_sim_make_safe(wire->world->sim, wire->name, commands, count);
}

static void keep_bad(tt_wire *wire, const char *peer, const uint8_t *bytes, size_t size,
                     const char *text) {
  tt_wire_stats *stats = &wire->stats;
  snprintf(stats->bad_peer, sizeof stats->bad_peer, "%s", peer);
  snprintf(stats->bad_text, sizeof stats->bad_text, "%s", text);
  stats->bad_size = (int)(size < sizeof stats->bad_bytes ? size : sizeof stats->bad_bytes);
  stats->bad_whole = (int)size;
  if (stats->bad_size) memcpy(stats->bad_bytes, bytes, (size_t)stats->bad_size);
}

void tt_wire_drop(tt_wire *wire, tt_drop reason, const char *peer, const uint8_t *bytes,
                  size_t size, const char *format, ...) {
  tt_wire_slot *slot = tt_wire_slot_of(wire);
  wire->stats.dropped[reason]++;
  if (reason == TT_DROP_SUPERSEDED) return; /* nothing is wrong with it */
  char text[sizeof wire->stats.bad_text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  keep_bad(wire, peer, bytes, size, text);

  char more[TT_LOG_MORE];
  if (tt_log_is_due(&slot->drops[reason], more))
    tt_log_warning("%s: dropped a message from %s: %s: %s%s", wire->name, peer,
                   tt_drop_text(reason), text, more);
}

static void tap(tt_wire *wire, bool incoming, const void *bytes, size_t size) {
  tt_world *world = wire->world;
  const tt_wire_slot *slot = tt_wire_slot_of(wire);
  if (!slot->tapped) return;
  tt_tapped message = {.wire = (int)(slot - world->wires),
                       .incoming = incoming,
                       .step = world->clock->step,
                       .size = (int)size};
  memcpy(message.bytes, bytes, size < TT_TAPPED_BYTES ? size : TT_TAPPED_BYTES);
  tt_queue_push(world->tapped, &message);
}

void tt_wire_received(tt_wire *wire, const void *bytes, size_t size) {
  wire->stats.received++;
  tap(wire, true, bytes, size);
}

void tt_wire_sent(tt_wire *wire, const void *bytes, size_t size, bool sent) {
  if (sent)
    wire->stats.sent++;
  else
    wire->stats.send_failed++;
  tap(wire, false, bytes, size);
}

void tt_wire_event(tt_wire *wire, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tt_world_event_va(wire->world, wire->name, format, arguments);
  va_end(arguments);
}

bool tt_wire_is_behind(const tt_wire *wire) {
  const tt_world *world = wire->world;
  if (world->spec.pace != TT_PACE_REALTIME) return false;
  uint64_t ticks = wire->period_steps / world->spec.io_steps;
  return tt_pacer_is_behind(&world->pacer, ticks > 0 ? ticks : 1, tt_monotonic_ns());
}

void tt_wire_request_reset(tt_wire *wire) {
  tt_world *world = wire->world;
  if (!world->source->is_live) return;
  /* With one robot its reset is the world's: a fresh start in every respect. */
  bool whole = wire->robot == TT_NO_ROBOT || world->model->robot_count == 1;
  tt_sim_ask_reset(world->sim, whole ? TT_NO_ROBOT : wire->robot);
}

void tt_wire_request_stop(tt_wire *wire, tt_status status, const char *reason) {
  tt_world *world = wire->world;
  if (!world->source->is_live) return;
  world->quit = true;
  world->quit_status = tt_fail(&world->quit_reason, status, "%s: %s", wire->name, reason);
}

const tt_view *tt_wire_view(const tt_wire *wire) { return wire->world->view; }

double tt_wire_time(const tt_wire *wire) { return wire->world->view->time; }

double tt_wire_run_time(const tt_wire *wire) {
  const tt_world *world = wire->world;
  uint64_t steps = world->clock->total_steps + world->steps_gone_back;
  return world->spec.time_before + tt_model_time(world->model, steps);
}

uint64_t tt_wire_step(const tt_wire *wire) { return wire->world->clock->step; }

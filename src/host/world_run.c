/* world_run.c: a world's run at one of three paces. */
#include "base/clock.h"
#include "host/world_internal.h"

#include <time.h>

#define FINE_WAIT_NS 1500000u /* the last stretch before a deadline is slept without the sockets */

static void sleep_until(uint64_t deadline) {
  struct timespec at = {.tv_sec = (time_t)(deadline / 1000000000u),
                        .tv_nsec = (long)(deadline % 1000000000u)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
  }
}

/* Real time: waits until the next tick is due, serving the sockets for most of the time. */
static void await_due(tt_world *world) {
  for (;;) {
    uint64_t now = tt_monotonic_ns();
    uint64_t deadline = tt_pacer_due(&world->pacer);
    if (now >= deadline || world->quit || world->paused) return;
    uint64_t left = deadline - now;
    if (left <= FINE_WAIT_NS) {
      sleep_until(deadline);
      return;
    }
    left -= FINE_WAIT_NS;
    tt_net_poll(world->net, left < TT_SLICE_NS ? left : TT_SLICE_NS);
    tt_world_drain_mail(world);
  }
}

/* Of the wires that one is heard while paused by whose command the world stands, since only its next one lets it go on, and who
 * wants a reset. What others command waits. */
static bool is_heard_paused(const tt_world *world, tt_wire_slot *slot) {
  tt_wire *wire = &slot->wire;
  if (!slot->open) return false;
  return wire == world->paused_by || (wire->ops->wants_reset && wire->ops->wants_reset(wire));
}

/* While paused commands of people are heard and resets done, but no step is made unless asked for; true then. */
static bool single_step(tt_world *world) {
  tt_net_poll(world->net, TT_SLICE_NS);
  tt_world_drain_mail(world);
  for (int i = 0; i < world->wire_count; i++)
    if (is_heard_paused(world, &world->wires[i]))
      world->wires[i].wire.ops->receive(&world->wires[i].wire);
  tt_world_apply_resets(world);
  tt_world_show(world, tt_monotonic_ns());
  tt_pacer_restart(&world->pacer, world->pacer.speed, tt_monotonic_ns());
  if (!world->paused || world->ticks_to_make == 0 || world->quit) return false;
  world->ticks_to_make--;
  return true;
}

/* Waits until the next tick may be made; false when something else is to be looked at first. */
static bool may_tick(tt_world *world, bool realtime) {
  if (world->paused) return single_step(world);
  if (realtime) await_due(world);
  return !world->quit && !world->paused;
}

static bool finished(const tt_world *world) {
  const tt_match_period period = world->stations.period;
  if (world->spec.plays_match && (period == TT_PERIOD_OVER || period == TT_PERIOD_NONE))
    return true;
  return world->source->is_live && world->spec.duration > 0 &&
         tt_model_time(world->model, world->clock->total_steps) >= world->spec.duration - 1e-9;
}

void tt_world_begin(tt_world *world) {
  tt_world_journal_stations(world);
  if (world->spec.plays_match)
    tt_world_order_station(world, &(tt_ds_order){.kind = TT_DS_MATCH, .robot = -1, .value = 1});
  tt_world_start(world);
  tt_world_begin_stations(world);
}

tt_status tt_world_run(tt_world *world, tt_error *error) {
  bool realtime = world->spec.pace == TT_PACE_REALTIME;
  double tick = (double)world->spec.io_steps * tt_model_timestep(world->model);
  tt_pacer_start(&world->pacer, tick, world->spec.speed, world->spec.late_tick == TT_TICK_CATCH_UP,
                 tt_monotonic_ns());
  tt_world_begin(world);
  while (!world->quit && !finished(world)) {
    if (!may_tick(world, realtime)) continue;
    tt_pacer_tick(&world->pacer, tt_monotonic_ns(), realtime);
    TT_TRY(tt_world_tick(world, error));
    tt_world_show(world, tt_monotonic_ns());
  }
  world->shown_at = 0; /* the last figures are the run's */
  tt_world_show(world, tt_monotonic_ns());
  if (error && world->quit_status != TT_OK) *error = world->quit_reason;
  return world->quit_status;
}

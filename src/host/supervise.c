/* supervise.c: watchdogs in simulated time. A wire whose controller has driven and then falls silent has the
 * commands it lists made safe, exactly `watchdog` after the last accepted message took effect. */
#include "host/world_internal.h"

static uint64_t trip_step(const tt_wire_slot *slot) {
  bool armed =
      slot->open && slot->watchdog_steps && slot->last_accept_step != TT_NEVER && !slot->tripped;
  return armed ? slot->last_accept_step + slot->watchdog_steps : TT_NEVER;
}

void tt_world_schedule_watchdogs(tt_world *world) {
  world->next_trip = TT_NEVER;
  for (int i = 0; i < world->wire_count; i++) {
    uint64_t trip = trip_step(&world->wires[i]);
    if (trip < world->next_trip) world->next_trip = trip;
  }
}

static void trip(tt_world *world, tt_wire_slot *slot) {
  slot->tripped = true;
  slot->wire.state = TT_WIRE_SILENT;
  slot->wire.stats.watchdog_trips++;
  tt_world_event(world, slot->wire.name, "watchdog: silent for %g s, its commands are made safe",
                 slot->wire.watchdog);
  tt_sim_make_safe(world->sim, "supervisor", slot->wire.owned, slot->wire.owned_count);
}

void tt_world_supervise(tt_world *world) {
  if (world->clock->step < world->next_trip) return;
  for (int i = 0; i < world->wire_count; i++)
    if (world->clock->step >= trip_step(&world->wires[i])) trip(world, &world->wires[i]);
  tt_world_schedule_watchdogs(world);
}

void tt_world_fed(tt_world *world, tt_wire_slot *slot) {
  if (slot->tripped) tt_world_event(world, slot->wire.name, "heard again");
  slot->tripped = slot->given_up = false;
  slot->last_accept_step = world->clock->step;
  slot->wire.state = TT_WIRE_DRIVING;
  if (slot->watchdog_steps) tt_world_schedule_watchdogs(world);
}

/* world_state.c: a world's saved state: the simulation's, then what the watchdogs count. */
#include "host/world_internal.h"

#include <string.h>

typedef struct watchdog {
  uint64_t last_accept_step, tripped;
} watchdog;
_Static_assert(sizeof(watchdog) == 16, "sim/state.c reads past those of older states");

size_t tt_world_state_size(const tt_world *world) {
  return tt_sim_state_size(world->sim) + (size_t)world->wire_count * sizeof(watchdog);
}

void tt_world_save(const tt_world *world, void *state) {
  unsigned char *at = (unsigned char *)state + tt_sim_state_size(world->sim);
  tt_sim_save(world->sim, state);
  for (int i = 0; i < world->wire_count; i++, at += sizeof(watchdog)) {
    const tt_wire_slot *slot = &world->wires[i];
    memcpy(at, &(watchdog){slot->last_accept_step, slot->tripped}, sizeof(watchdog));
  }
}

/* A world without wires, as in a replay, takes any state of the scene. One saved by an older version has its watchdogs
 * elsewhere: they begin anew. */
tt_status tt_world_restore(tt_world *world, const void *state, size_t size) {
  size_t used, ours = (size_t)world->wire_count * sizeof(watchdog);
  TT_TRY(tt_sim_restore(world->sim, state, size, &used));
  size_t theirs = size - used;
  if (theirs % sizeof(watchdog) != 0 || (ours && theirs && theirs != ours)) return TT_INVALID;
  const unsigned char *at = (const unsigned char *)state + used;
  for (int i = 0; i < world->wire_count; i++, at += sizeof(watchdog)) {
    watchdog saved = {.last_accept_step = TT_NEVER};
    if (theirs) memcpy(&saved, at, sizeof saved);
    world->wires[i].last_accept_step = saved.last_accept_step;
    world->wires[i].tripped = saved.tripped != 0;
  }
  tt_world_schedule_watchdogs(world);
  return TT_OK;
}

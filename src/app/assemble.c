/* assemble.c: a loaded scene becomes a world: its simulation, and its wires. */
#include "app/assemble.h"

#include "host/game_keys.h"
#include "host/scene_wires.h"
#include "scene/scene_sim.h"

#include <stdlib.h>

static void describe_wires(const tt_scene *scene, const tt_assembly *assembly,
                           tt_world_wire *wires) {
  for (int i = 0; i < scene->wire_count; i++) {
    const tt_scene_wire *from = &scene->wires[i];
    wires[i] = (tt_world_wire){.ops = tt_wire_protocols[from->protocol],
                               .name = from->name,
                               .where = from->where,
                               .robot = from->robot,
                               .period_steps = from->period_steps,
                               .watchdog = from->watchdog,
                               .lockstep = from->lockstep,
                               .late = from->late,
                               .deadline = from->deadline,
                               .config = from->config};
  }
  if (assembly->wire_config && scene->wire_count > 0) wires[0].config = assembly->wire_config;
}

tt_status tt_assemble(const tt_scene *scene, const tt_assembly *assembly, tt_world **world,
                      tt_error *error) {
  *world = NULL;
  tt_sim *sim;
  tt_world_wire *wires = calloc((size_t)scene->wire_count + 1, sizeof *wires);
  if (!wires) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = tt_scene_sim(
      scene,
      &(tt_scene_sim_options){.hash_a_tick = assembly->hash_every_tick, .engine = assembly->engine},
      &sim, error);
  if (status == TT_OK) {
    const tt_game_keys *game = tt_scene_section(scene, "game", NULL);
    describe_wires(scene, assembly, wires);
    tt_world_spec spec = {.net = assembly->net,
                          .sim = sim,
                          .wires = wires,
                          .wire_count = assembly->no_wires ? 0 : scene->wire_count,
                          .io_steps = scene->io_steps,
                          .pace = scene->pace,
                          .speed = scene->speed,
                          .late_tick = scene->late_tick,
                          .on_divergence = scene->on_divergence,
                          .duration = scene->duration,
                          .time_before = assembly->time_before,
                          .start = game->begins,
                          .match = game->match,
                          .plays_match = assembly->plays_match,
                          .check_only = assembly->check_only};
    /* the simulation is the world's, even if it fails */
    status = tt_world_new(&spec, world, error);
    if (status != TT_OK) tt_scene_explain(scene, error);
  }
  free(wires);
  return status;
}

/* scene_sim.h: a loaded scene becomes a simulation: engine and parts put together. */
#ifndef TT_SCENE_SCENE_SIM_H
#define TT_SCENE_SCENE_SIM_H

#include "scene/scene.h"
#include "sim/sim.h"

/** What differs between those who need a simulation. Zero is the usual. */
typedef struct tt_scene_sim_options {
  bool hash_a_tick; /**< as in tt_sim_spec */
  /** of another simulation of the same scene, cloned instead of compiled; or NULL */
  const tt_engine *engine;
} tt_scene_sim_options;

/** Makes the simulation of a scene, which must outlive it. May block: models are compiled. Errors carry file and line. */
tt_status tt_scene_sim(const tt_scene *scene, const tt_scene_sim_options *options, tt_sim **sim,
                       tt_error *error);

#endif

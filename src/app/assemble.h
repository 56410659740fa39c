/* assemble.h: a loaded scene becomes a world: engine, parts and wires put together. */
#ifndef TT_APP_ASSEMBLE_H
#define TT_APP_ASSEMBLE_H

#include "scene/scene.h"
#include "host/world.h"
#include "engine/mujoco/mujoco_engine.h"

/** What differs between the commands that need a world. Zero is the usual. */
typedef struct tt_assembly {
  bool check_only;      /**< resolve every name, open no socket */
  bool no_wires;        /**< leave the wires out (replay, benches) */
  bool hash_every_tick; /**< journal a state hash each tick */
  bool plays_match;     /**< as in tt_world_spec */
  tt_net *net;          /**< as in tt_world_spec */
  double time_before;   /**< as in tt_world_spec */
  /** of another world of the same scene, cloned instead of compiled; or NULL */
  const tt_engine *engine;
  /** for the scene's first wire instead of its own; outlives the world; or NULL */
  const void *wire_config;
} tt_assembly;

/** Makes the world of a scene, which must outlive it. Errors carry file and line. */
tt_status tt_assemble(const tt_scene *scene, const tt_assembly *assembly, tt_world **world,
                      tt_error *error);

#endif

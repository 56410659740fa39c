/* assemble.h: a loaded scene becomes a world: physics, parts and wires put together. */
#ifndef TT_APP_ASSEMBLE_H
#define TT_APP_ASSEMBLE_H

#include "config/scene.h"
#include "core/world.h"

/** What differs between the commands that need a world. Zero is the usual. */
typedef struct tt_assembly {
  bool check_only;      /**< resolve every name, open no socket */
  bool no_wires;        /**< leave the wires out (replay, benches) */
  bool hash_every_tick; /**< as in tt_world_spec */
  tt_net *net;          /**< as in tt_world_spec */
} tt_assembly;

/** Makes the world of a scene, which must outlive it. Errors carry file and line. */
tt_status tt_assemble(const tt_scene *scene, const tt_assembly *assembly, tt_world **world,
                      tt_error *error);

#endif

/* scene_wires.h: the wires of a scene: plain, checked structs, as the simulation's own keys are in scene/scene.h. */
#ifndef TT_HOST_SCENE_WIRES_H
#define TT_HOST_SCENE_WIRES_H

#include "host/wire.h"
#include "scene/scene.h"

typedef struct tt_scene_wire {
  const tt_schema *schema; /**< tt_wire_schemas[protocol] */
  int protocol;            /**< index into tt_wire_protocols too */
  const char *name;        /**< unique */
  const char *where;       /**< "scenes/a.yaml: wires.float-udp" */
  int robot;               /**< index, or TT_NO_ROBOT: the whole world */
  uint64_t period_steps;   /**< a multiple of io_steps */
  double watchdog;         /**< s simulated; 0 off */
  bool lockstep;           /**< the world waits for its answers */
  tt_late_policy late;
  double deadline;    /**< s wall clock */
  const void *config; /**< the adapter's own struct, checked */
} tt_scene_wire;

/** Stage of loading a scene: names, robots, policies and periods of its wires. */
tt_status tt_load_wires(struct tt_scene_store *store);

#endif

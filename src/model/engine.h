/* engine.h: the contract of an engine: a world of rigid bodies that something steps.
 *
 * One tt_engine is one compiled model with a mutable state of its own, so that several simulations can run side by
 * side. No clock, no I/O after loading. Not thread-safe: one thread per engine at a time.
 *
 * A step is: forces at the present state → integrate → kinematics, contacts and sensors at the new state. So positions
 * are always fresh after a step, and a servo solved before one sees the present mass matrix; nothing is computed twice,
 * and looking never changes later bits.
 *
 * An engine's own struct begins with a tt_engine; its folder in src/engine/ fills the ops and has a function that loads.
 */
#ifndef TT_MODEL_ENGINE_H
#define TT_MODEL_ENGINE_H

#include "base/status.h"
#include "model/drive.h"
#include "model/model.h"
#include "model/shape.h"
#include "model/space.h"
#include "model/value.h"
#include "model/view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- what an engine is given to compile. All strings are copied. --- */

/** A gripper: a weld that can be retargeted at run time to one piece at a time. */
typedef struct tt_engine_gripper {
  const char *name; /**< of the part, without the robot's prefix */
  const char *site; /**< site (or body) of the robot's model around which pieces are within reach */
  double reach;     /**< m, from the site to the nearest point of the piece's geometry */
  /** begins error messages, "robot.yaml: grippers[0]"; NULL: the model's file */
  const char *where;
} tt_engine_gripper;

/** The surface of a body: its friction against whatever it touches; where two bodies have one, the greater holds. */
typedef struct tt_engine_surface {
  const char *body;          /**< as in its own model; "world" is what stands fixed in the arena */
  double friction;           /**< against sliding, ≥ 0 */
  double torsional_friction; /**< m: against turning on the spot; negative: as the model says */
  double rolling_friction;   /**< m: against rolling; negative: as the model says */
  const char *where;         /**< begins error messages, "robot.yaml: bodies[0]" */
} tt_engine_surface;

/** A measure that the model declares, with another value than its own. */
typedef struct tt_engine_measure {
  const char *name;
  double value;      /**< SI */
  const char *where; /**< begins error messages, "robot.yaml: measures[0]" */
  /** of its unit; TT_DIMENSION_COUNT: a bare number, SI of what the model has */
  tt_dimension dimension;
} tt_engine_measure;

/** One robot to put into the world. All strings are copied. */
typedef struct tt_engine_robot {
  const char *name;       /**< prefix of every name when there are several robots */
  const char *model_file; /**< MJCF or URDF */
  const char *alliance;   /**< "red", "blue" or "": recolours materials/geoms named "alliance" */
  double x, y, z;         /**< m, arena frame, of the robot's root body */
  double heading;         /**< rad about world Z */
  bool floating;          /**< URDF only: give the base a free joint (MJCF says it itself) */
  bool base_decided;      /**< somebody chose `floating`, so that no advice is needed */
  const tt_engine_gripper *grippers;
  const tt_engine_surface *surfaces;
  const tt_engine_measure *measures;
  int gripper_count, surface_count, measure_count;
} tt_engine_robot;

/** What a body of the arena that can be gripped is. */
typedef struct tt_engine_piece {
  const char *body;  /**< name of a body of the arena that has a free joint */
  int kind;          /**< 1…4 */
  const char *where; /**< begins error messages, "arena.yaml: pieces[0]"; NULL: the arena's model */
} tt_engine_piece;

/** What a robot's file says of a joint of its model. */
typedef struct tt_engine_joint {
  const char *name;    /**< as in the robot's own model */
  double max_torque;   /**< N·m or N; 0: as the model says */
  double max_velocity; /**< rad/s or m/s; 0: as the model says */
  const char *where;   /**< begins error messages, "robot.yaml: joints[0]" */
  /** of their units; TT_DIMENSIONLESS: a bare number, which fits a hinge and a slide */
  tt_dimension torque_dimension, velocity_dimension;
} tt_engine_joint;

typedef struct tt_engine_spec {
  const char *arena_file; /**< MJCF, or NULL for an empty floor */
  const tt_engine_robot *robots;
  int robot_count;
  const tt_engine_piece *pieces;
  const tt_engine_surface *surfaces; /**< of the arena's bodies */
  int piece_count, surface_count;
  int64_t timestep_num, timestep_den; /**< s */
  const char *const *search_path; /**< folders for package:// and meshes; NULL-terminated or NULL */
  bool want_feedback;             /**< fill body_force, body_torque and feedback each tick */
  int contact_capacity;
} tt_engine_spec;

/* --- what it does --- */

typedef struct tt_engine tt_engine;

/** What viewers show; owned by the engine, static for its life. Any thread. */
typedef struct tt_scenery {
  const tt_shape *shapes;
  const tt_mesh *meshes;
  const tt_material *materials;
  const tt_texture *textures;
  /** of the model's own range finders; channels are indices of tt_mechanism.sensors */
  const tt_ray *rays;
  int shape_count, mesh_count, material_count, texture_count, ray_count;
} tt_scenery;

typedef struct tt_engine_ops {
  const char *name; /**< "mujoco" */

  /** Advances one step. `drives` is [axis_count], `controls` is [actuator_count]; both finite. `last` says that a view
   *  will be filled after this step, so that what only a view needs is computed then. TT_DIVERGED in the very step
   *  where the state became bad, with the reason in `error`; the state is then that before the step, and the caller
   *  resets or stops. TT_FAILED: the engine itself failed, in this call or in one since the step before; it does
   *  nothing, and its view stays as it was, until it is reset as a whole, restored or freed. */
  tt_status (*step)(tt_engine *engine, const tt_drive *drives, const double *controls, bool last,
                    tt_error *error);
  /** Fills the physical part of a view: bodies, joints, contacts, feedback, and the first sensor_count channels.
   *  Changes nothing in the engine. */
  void (*view)(const tt_engine *engine, tt_view *view);

  /** Back to the initial state: poses, velocities, grips, parked pieces. An engine that failed is made anew; where that
   *  finds no memory, the next step fails again. */
  void (*reset)(tt_engine *engine);
  /** One robot to its initial pose, dropping what it holds, touching nothing else. */
  void (*reset_robot)(tt_engine *engine, int robot);

  /* Concept mode: moves things without dynamics. What is NAN of a pose stays. Kinematics are fresh after place_done. */
  void (*place_robot)(tt_engine *engine, int robot, double x, double y,
                      double heading);                                   /**< m, rad */
  void (*place_axis)(tt_engine *engine, int axis, double position);      /**< rad or m */
  void (*place_body)(tt_engine *engine, int body, const double pose[7]); /**< m; w x y z */
  /** Held pieces follow their grippers; velocities become differences over `dt` s (0: zero). TT_FAILED as a step. */
  tt_status (*place_done)(tt_engine *engine, double dt, tt_error *error);

  /** Everything that decides the future, of a fixed size for a model, bytes: with or without the feedback, which decides
   *  nothing and is the last of it. */
  size_t (*state_size)(const tt_engine *engine, bool feedback);
  /** Whether a state that is saved has it: where the spec wants it. */
  bool (*feeds_back)(const tt_engine *engine);
  void (*save)(const tt_engine *engine, void *state);
  /** Takes a state with or without it. TT_INVALID when `size` is neither of this model's, or an index in it is out of its
   *  range: nothing changed; otherwise the run goes on bit for bit. TT_FAILED or TT_NOMEM: the engine failed. */
  tt_status (*restore)(tt_engine *engine, const void *state, size_t size);
  /** Of the saved state: same bits, same hash, on every machine of one byte order. */
  uint64_t (*hash)(const tt_engine *engine);

  /** Sets the limits of a robot's joint. Before the engine is cloned or handed to a simulation. Unknown: TT_INVALID
   *  with the nearest name. */
  tt_status (*limit_joint)(tt_engine *engine, int robot, const tt_engine_joint *joint,
                           tt_error *error);
  void (*scenery)(const tt_engine *engine, tt_scenery *scenery);
  /** What of the model may be changed; the same list for all clones, which begin with its own values. */
  const tt_value *(*values)(const tt_engine *engine, int *count);
  /** Makes the values those of `values` [count], each within its range; the state stays as it is. They survive resets, and
   *  are no part of the state. TT_NOMEM: nothing changed. TT_FAILED as step() says; one that
   *  failed already takes them for after its reset. */
  tt_status (*set_values)(tt_engine *engine, const double *values, tt_error *error);

  /** A second, independent engine of the same model in its initial state; NULL when out of memory, or when this one
   *  failed. */
  tt_engine *(*clone)(const tt_engine *engine);
  void (*free)(tt_engine *engine);
} tt_engine_ops;

/** First member of every engine's own struct. */
struct tt_engine {
  tt_space space; /**< what parts see of it */
  const tt_engine_ops *ops;
};

/* Each calls the function of its name above; parts' functions through the space. */

/** Each calls the function of its name in tt_engine_ops or tt_space_ops, whose comment holds. */
static inline const tt_mechanism *tt_engine_mechanism(const tt_engine *engine) {
  return tt_space_mechanism(&engine->space);
}
static inline tt_status tt_engine_step(tt_engine *engine, const tt_drive *drives,
                                       const double *controls, bool last, tt_error *error) {
  return engine->ops->step(engine, drives, controls, last, error);
}
static inline void tt_engine_view(const tt_engine *engine, tt_view *view) {
  engine->ops->view(engine, view);
}
static inline void tt_engine_reset(tt_engine *engine) { engine->ops->reset(engine); }
static inline void tt_engine_reset_robot(tt_engine *engine, int robot) {
  engine->ops->reset_robot(engine, robot);
}
static inline void tt_engine_place_robot(tt_engine *engine, int robot, double x, double y,
                                         double heading) {
  engine->ops->place_robot(engine, robot, x, y, heading);
}
static inline void tt_engine_place_axis(tt_engine *engine, int axis, double position) {
  engine->ops->place_axis(engine, axis, position);
}
static inline void tt_engine_place_body(tt_engine *engine, int body, const double pose[7]) {
  engine->ops->place_body(engine, body, pose);
}
static inline tt_status tt_engine_place_done(tt_engine *engine, double dt, tt_error *error) {
  return engine->ops->place_done(engine, dt, error);
}
static inline size_t tt_engine_state_size(const tt_engine *engine, bool feedback) {
  return engine->ops->state_size(engine, feedback);
}
static inline bool tt_engine_feeds_back(const tt_engine *engine) {
  return engine->ops->feeds_back(engine);
}
static inline void tt_engine_save(const tt_engine *engine, void *state) {
  engine->ops->save(engine, state);
}
static inline tt_status tt_engine_restore(tt_engine *engine, const void *state, size_t size) {
  return engine->ops->restore(engine, state, size);
}
static inline uint64_t tt_engine_hash(const tt_engine *engine) { return engine->ops->hash(engine); }
static inline tt_status tt_engine_limit_joint(tt_engine *engine, int robot,
                                              const tt_engine_joint *joint, tt_error *error) {
  return engine->ops->limit_joint(engine, robot, joint, error);
}
static inline void tt_engine_scenery(const tt_engine *engine, tt_scenery *scenery) {
  engine->ops->scenery(engine, scenery);
}
static inline const tt_value *tt_engine_values(const tt_engine *engine, int *count) {
  return engine->ops->values(engine, count);
}
static inline tt_status tt_engine_set_values(tt_engine *engine, const double *values,
                                             tt_error *error) {
  return engine->ops->set_values(engine, values, error);
}
static inline tt_engine *tt_engine_clone(const tt_engine *engine) {
  return engine->ops->clone(engine);
}
/** NULL-safe. */
static inline void tt_engine_free(tt_engine *engine) {
  if (engine) engine->ops->free(engine);
}

#endif

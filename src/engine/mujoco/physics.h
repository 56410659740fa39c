/* physics.h: a world of rigid bodies, as the files and tests of this room see it; ops.c shows it as a tt_engine.
 *
 * One tt_physics is one compiled model with its own mutable state (it owns its mjModel too, since
 * welds live there), so that several worlds can run side by side. No global state, no clock, no I/O
 * after loading. Not thread-safe: one thread per tt_physics at a time.
 *
 * A step is: forces at the present state → integrate → kinematics, contacts and sensors at the new
 * state. So positions are always fresh after a step, and a servo solved before one sees the present
 * mass matrix; nothing is computed twice and looking never changes later bits.
 */
#ifndef TT_ENGINE_MUJOCO_PHYSICS_H
#define TT_ENGINE_MUJOCO_PHYSICS_H

#include "engine/mujoco/mujoco_engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tt_physics tt_physics;

/** Loads, composes and compiles. On failure `*physics` is NULL and `error` names file and reason.
 *  May block (files); writes nothing anywhere but to a temporary folder that it removes. */
tt_status tt_physics_load(const tt_engine_spec *spec, tt_physics **physics, tt_error *error);
/** A second, independent world of the same model in its initial state; NULL when out of memory. */
tt_physics *tt_physics_clone(const tt_physics *physics);
/** NULL-safe. */
void tt_physics_free(tt_physics *physics);

/** What was loaded. The physics' own, static for its life. */
const tt_mechanism *tt_physics_describe(const tt_physics *physics);

/** Sets the limits of a robot's joint. Before the physics is cloned or handed to a world. Unknown: TT_INVALID with the
 *  nearest name. */
tt_status tt_physics_limit_joint(tt_physics *physics, int robot, const tt_engine_joint *joint,
                                 tt_error *error);

/** Advances one step. `drives` is [axis_count], `controls` is [actuator_count]; both finite.
 *  `last` says that a view will be filled after this step, so that what only a view needs is
 *  computed then. Returns TT_DIVERGED in the very step where MuJoCo warned of bad state, time ran
 *  backwards or a number became non-finite, with the reason in `error`; the state is then that
 *  before the step, and the caller resets or stops. */
tt_status tt_physics_step(tt_physics *physics, const tt_drive *drives, const double *controls,
                          bool last, tt_error *error);

/** Present velocity of each axis, rad/s or m/s; valid until the next call that changes state. */
const double *tt_physics_axis_velocity(const tt_physics *physics);
/** Present position of each axis, rad or m (hinge and slide; 0 for ball axes). */
const double *tt_physics_axis_position(const tt_physics *physics);
/** Torque that the drive put on each axis in the last step, N·m or N. */
const double *tt_physics_axis_torque(const tt_physics *physics);

/** Fills the physical part of a view: bodies, joints, contacts, feedback, and the first sensor_count
 *  channels. Changes nothing in the physics. */
void tt_physics_view(const tt_physics *physics, tt_view *view);

/** Holds the nearest piece of `kind` within reach of `gripper` that nobody else holds. Returns its
 *  body, or 0 when there is none (then nothing is held). Holding that kind already changes nothing. */
int tt_physics_grip(tt_physics *physics, int gripper, int kind);
/** Lets go. */
void tt_physics_release(tt_physics *physics, int gripper);
/** Body held by `gripper`, or 0. */
int tt_physics_held(const tt_physics *physics, int gripper);

/** Whole-world reset to the initial state: poses, velocities, grips, parked pieces. */
void tt_physics_reset(tt_physics *physics);
/** Resets one robot to its initial pose and drops what it holds, touching nothing else. */
void tt_physics_reset_robot(tt_physics *physics, int robot);

/** Concept mode: moves things without dynamics; m and rad in the arena's frame, a pose as x y z and the quaternion w x y z,
 *  of which those that are NAN stay. Kinematics are fresh after tt_physics_place_done(). */
void tt_physics_place_robot(tt_physics *physics, int robot, double x, double y, double heading);
void tt_physics_place_axis(tt_physics *physics, int axis, double position);
void tt_physics_place_body(tt_physics *physics, int body, const double pose[7]);
/** Held pieces follow their grippers; velocities become differences over `dt` s (0: zero). */
void tt_physics_place_done(tt_physics *physics, double dt);

/** Saved state: everything that decides the future (positions, velocities, activations, warm
 *  start, welds, parking), of a fixed size for a model, with or without what is fed back from it. */
size_t tt_physics_state_size(const tt_physics *physics, bool feedback);
/** Whether those that are saved have it. */
bool tt_physics_feeds_back(const tt_physics *physics);
void tt_physics_save(const tt_physics *physics, void *state);
/** TT_INVALID when `size` is none of this model, or an index in it is out of its range; otherwise the run goes on bit for bit. */
tt_status tt_physics_restore(tt_physics *physics, const void *state, size_t size);
/** 64-bit hash of the saved state (same bits, same hash, on every machine of one byte order). */
uint64_t tt_physics_hash(const tt_physics *physics);

/** Makes the model's values (tt_engine_ops.values) those of `values`. TT_NOMEM: nothing changed. */
tt_status tt_physics_set_values(tt_physics *physics, const double *values, tt_error *error);

/** Distance (m) along a ray from `origin` in unit `direction` to the first geometry that is not of
 *  robot `except_robot` (TT_NO_ROBOT: none excepted); negative when nothing is within `limit`. */
double tt_physics_ray(const tt_physics *physics, const double origin[3], const double direction[3],
                      int except_robot, double limit);

/** Geometry for viewers, [count], m; the physics' own, static for its life. */
const tt_shape *tt_physics_shapes(const tt_physics *physics, int *count);
const tt_mesh *tt_physics_meshes(const tt_physics *physics, int *count);
const tt_material *tt_physics_materials(const tt_physics *physics, int *count);
const tt_texture *tt_physics_textures(const tt_physics *physics, int *count);
/** Of the model's own range finders; channels are indices of tt_mechanism.sensors. */
const tt_ray *tt_physics_rays(const tt_physics *physics, int *count);

#endif

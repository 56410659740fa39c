/* space.h: what a robot's part sees of the world around it: the mechanism that was compiled, the present motion of its
 * axes, what a gripper holds, and rays. Every engine fills it (model/engine.h); a part knows no more of an engine.
 *
 * All calls come from the simulation's thread; none blocks or allocates. What they return is the engine's.
 */
#ifndef TT_MODEL_SPACE_H
#define TT_MODEL_SPACE_H

#include "model/model.h"

/** An actuator that the model file declares. */
typedef struct tt_actuator {
  const char *name;
  int robot;
  double lower, upper; /**< control range; ±TT_COMMAND_LIMIT when unlimited */
} tt_actuator;

/** A gripper as composed. */
typedef struct tt_gripper {
  const char *name; /**< with the robot's prefix where names have one */
  int robot;
} tt_gripper;

/** What was compiled. Owned by the engine, static for its life. Sensors are the model's own, one a scalar. */
typedef struct tt_mechanism {
  const tt_body *bodies;
  const tt_joint *joints;
  const int *axis_joint;
  const tt_channel *sensors;
  const tt_robot *robots;
  const tt_actuator *actuators;
  const tt_gripper *grippers;
  int body_count, joint_count, axis_count, sensor_count, robot_count, actuator_count, gripper_count;
  int64_t timestep_num, timestep_den; /**< s, as in the spec */
  int contact_capacity;               /**< as in the spec */
  uint64_t model_hash; /**< of the compiled model: equal models, equal hashes, on one build */
} tt_mechanism;

typedef struct tt_space tt_space;

/** What an engine answers parts with. World's thread; nothing blocks, allocates or fails. */
typedef struct tt_space_ops {
  const tt_mechanism *(*mechanism)(const tt_space *space);
  /** Present velocity of each axis, rad/s or m/s, [axis_count]; valid until the next call that changes state. */
  const double *(*axis_velocity)(const tt_space *space);
  /** Present position of each axis, rad or m (hinge and slide; 0 for ball axes). */
  const double *(*axis_position)(const tt_space *space);
  /** Torque that the drive put on each axis in the last step, N·m or N. */
  const double *(*axis_torque)(const tt_space *space);
  /** Holds the nearest piece of `kind` within reach of `gripper` that nobody else holds. Returns its
   *  body, or 0 when there is none (then nothing is held). Holding that kind already changes nothing. */
  int (*grip)(tt_space *space, int gripper, int kind);
  /** Lets go. */
  void (*release)(tt_space *space, int gripper);
  /** Body held by `gripper`, or 0. */
  int (*held)(const tt_space *space, int gripper);
  /** Distance (m) along a ray from `origin` in unit `direction`, world frame, to the first geometry that is not of
   *  robot `except_robot` (TT_NO_ROBOT: none excepted); negative when nothing is within `limit`. */
  double (*ray)(const tt_space *space, const double origin[3], const double direction[3],
                int except_robot, double limit);
} tt_space_ops;

/** First member of what an engine's own struct begins with. */
struct tt_space {
  const tt_space_ops *ops;
};

/* Each calls the function of its name above. */

/** Each calls the function of its name in tt_space_ops, whose comment holds. */
static inline const tt_mechanism *tt_space_mechanism(const tt_space *space) {
  return space->ops->mechanism(space);
}
static inline const double *tt_space_axis_velocity(const tt_space *space) {
  return space->ops->axis_velocity(space);
}
static inline const double *tt_space_axis_position(const tt_space *space) {
  return space->ops->axis_position(space);
}
static inline const double *tt_space_axis_torque(const tt_space *space) {
  return space->ops->axis_torque(space);
}
static inline int tt_space_grip(tt_space *space, int gripper, int kind) {
  return space->ops->grip(space, gripper, kind);
}
static inline void tt_space_release(tt_space *space, int gripper) {
  space->ops->release(space, gripper);
}
static inline int tt_space_held(const tt_space *space, int gripper) {
  return space->ops->held(space, gripper);
}
static inline double tt_space_ray(const tt_space *space, const double origin[3],
                                  const double direction[3], int except_robot, double limit) {
  return space->ops->ray(space, origin, direction, except_robot, limit);
}

#endif

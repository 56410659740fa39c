/* model.h: what does not change while a world runs: the list of bodies, joints, contacts' bodies,
 * sensors, channels and commands, by name. Filled by physics and robot when a world is composed,
 * read by everyone. Pure data: it knows nothing of MuJoCo.
 *
 * Indices are stable for the life of the world. Body 0 is the world itself. All names are unique
 * within their list; with several robots each name begins with "<robot>/".
 */
#ifndef TT_MODEL_MODEL_H
#define TT_MODEL_MODEL_H

#include "model/unit.h"

#include <stdbool.h>
#include <stdint.h>

#define TT_NO_ROBOT (-1) /**< belongs to the arena or to the world */
#define TT_NO_PART (-1)  /**< belongs to the model or to the simulation, not to a robot part */
#define TT_MAX_ROBOTS 32 /**< in one world */

/** A rigid body. */
typedef struct tt_body {
  const char *name;
  int parent;  /**< index of the parent body; 0 is the world, whose parent is 0 */
  int robot;   /**< index into tt_model.robots, or TT_NO_ROBOT */
  int piece;   /**< game piece kind 1…4 if this body can be gripped, else 0 */
  double mass; /**< kg, of this body alone */
  /** its pose follows from nothing else: it is free, on a ball joint, or moved by hand */
  bool own;
  double position[3],
      rotation[4]; /**< m, w x y z: of its frame in its parent's, joints at their reference */
} tt_body;

/** Axes: hinge and slide 1, ball 3, free 0. */
typedef enum tt_joint_kind { TT_HINGE, TT_SLIDE, TT_BALL, TT_FREE } tt_joint_kind;

/** A joint; its axes are scalars in tt_view.joint_position and its neighbours. */
typedef struct tt_joint {
  const char *name;
  tt_joint_kind kind;
  int body;       /**< the child body, which this joint moves */
  int robot;      /**< as in tt_body */
  int axis;       /**< index of the first axis, or −1 for TT_FREE, which has none */
  int axis_count; /**< hinge and slide 1, ball 3, free 0 */
  bool limited;
  double lower, upper;            /**< rad or m; meaningful only if limited */
  double anchor[3], direction[3]; /**< m, and unit: of a hinge or slide in the body's frame */
  /** rad or m: position at which the body stands as its position and rotation say */
  double reference;
  double max_torque; /**< N·m or N: default limit of a velocity servo and of duty 1; > 0, finite */
  /** What no drive exceeds, whoever asks for it: N·m or N, and rad/s or m/s beyond which it pushes no further. INFINITY
   *  where neither the model (a URDF's effort and velocity) nor the robot's file states one. */
  double torque_limit, velocity_limit;
} tt_joint;

/** A scalar of the model's own sensors, or one that a robot part computes at sense. */
typedef struct tt_channel {
  const char *name;       /**< whole signal name, for example "grip.held" */
  tt_dimension dimension; /**< SI */
  int robot;
  int part; /**< index of the part that computes it, or TT_NO_PART: the model's own sensor */
} tt_channel;

/** What a command does when it is applied. */
typedef enum tt_command_kind {
  TT_COMMAND_TORQUE,      /**< N·m or N on axis `index` */
  TT_COMMAND_VELOCITY,    /**< rad/s or m/s servo on axis `index` */
  TT_COMMAND_MAX_TORQUE,  /**< N·m or N ≥ 0, limit of the servo on axis `index` */
  TT_COMMAND_DUTY,        /**< −1…1 of the motor on axis `index` */
  TT_COMMAND_ACTUATOR,    /**< control of actuator `index` of the model file */
  TT_COMMAND_GRIP,        /**< 0 nothing, 1…4 a kind of game piece; robot's gripper `index` */
  TT_COMMAND_SHIFT,       /**< gear number of motor `index`, from 1 */
  TT_COMMAND_RESET,       /**< nonzero: reset the robot (TT_NO_ROBOT: the world) */
  TT_COMMAND_PAUSE,       /**< nonzero pauses the world, 0 resumes */
  TT_COMMAND_MATCH_TIMER, /**< nonzero toggles the match timer */
  TT_COMMAND_PLACE,       /**< physics off: sets x, y, heading (index 0, 1, 2) of a robot */
  TT_COMMAND_PLACE_JOINT, /**< physics off: position of axis `index` */
  TT_COMMAND_PLACE_PIECE, /**< physics off: number `index % 7` (x y z qw qx qy qz) of body `index / 7` */
} tt_command_kind;

/** One named command. */
typedef struct tt_command {
  const char *name; /**< for example "left_track.torque" */
  tt_command_kind kind;
  tt_dimension dimension; /**< of its value, SI */
  int robot;
  int index; /**< see tt_command_kind */
  double lower,
      upper;   /**< a value outside is refused; ±TT_COMMAND_LIMIT where nothing else holds */
  double safe; /**< value the watchdog sets (0 for torque; grip stays: NAN means "leave it") */
  int part;    /**< index of the part that interprets it, or TT_NO_PART: the simulation does */
} tt_command;

/** One accepted scalar. */
typedef struct tt_submission {
  int command;  /**< index into tt_model.commands; in TT_ENTRY_VALUES into tt_sim_values() */
  double value; /**< SI */
} tt_submission;

/** Beyond this no command value is accepted: far above any robot, far below MuJoCo's own 1e10. */
#define TT_COMMAND_LIMIT 1e7

/** A robot: a subtree of the world, with its own reset, watchdogs and command space. */
typedef struct tt_robot {
  const char *name;
  int root_body;
  const char *alliance; /**< "red", "blue" or "" */
} tt_robot;

/** The whole list. Everything in it is owned by the world and lives as long as it does. */
typedef struct tt_model {
  const tt_body *bodies;
  const tt_joint *joints;
  const int *axis_joint; /**< joint index of each axis */
  const tt_channel *channels;
  const tt_command *commands;
  const tt_robot *robots;
  int body_count, joint_count, axis_count, channel_count, command_count, robot_count;
  int contact_capacity; /**< most contacts a view holds; more are counted, not shown */
  int64_t timestep_num, timestep_den; /**< s: the timestep is this rational, exactly */
} tt_model;

/** The timestep as the nearest double, s. */
double tt_model_timestep(const tt_model *model);
/** The time that so many steps take, s, correctly rounded. */
double tt_model_time(const tt_model *model, uint64_t steps);
/** The same in whole µs, rounded down: when it stands in a log. */
uint64_t tt_model_microseconds(const tt_model *model, uint64_t steps);

/** Index of an axis' own command of a kind from torque to duty (not of a motor that drives the axis), or −1. */
int tt_model_axis_command(const tt_model *model, tt_command_kind kind, int axis);

#endif

/* part.h: what a robot adds to its model: motors, encoders, grippers, surrogate sensors.
 *
 * A part declares channels (scalars it computes) and commands (scalars it obeys) when a world is
 * composed, then takes part in each tick: actuate before every step, sense once after the steps.
 * All calls come from the world's thread, in the order in which parts stand in the robot's file; none
 * may block, allocate, read a clock, or keep state that save() does not save.
 */
#ifndef TT_MODEL_PART_H
#define TT_MODEL_PART_H

#include "model/shape.h"
#include "model/signal.h"
#include "model/space.h"
#include "model/value.h"
#include "base/status.h"
#include "model/view.h"
#include "model/drive.h"

typedef struct tt_part tt_part;

/** Where a robot's battery tells what it gives. */
typedef struct tt_supply_channels {
  int voltage; /**< V; −1: there is none */
  int off;     /**< 1: brown-out */
} tt_supply_channels;

/** Given to declare(): collects the names a part adds. Indices are final at once. */
typedef struct tt_declare {
  int robot;
  const char *where; /**< beginning of error messages, "robots/frc2011/robot.yaml: motors[0]" */
  void *context;
  /** Adds "<robot>/name" (prefix only with several robots) and gives its index in view->channels. */
  tt_status (*add_channel)(struct tt_declare *declare, const char *name, tt_dimension dimension,
                           int *channel, tt_error *error);
  /** Adds a command that only this part interprets; `command` is its index in model->commands. */
  tt_status (*add_command)(struct tt_declare *declare, const tt_command *command, int *index,
                           tt_error *error);
  /** For joints, grippers and rays by name. */
  tt_space *space;
  /** Channels of what feeds the robot's motors; −1: it has no battery. A battery, which declares before motors, puts them
   *  there. NULL for parts of no robot. */
  tt_supply_channels *supply;
  /** [axis_count] the part that drives an axis; NULL: none yet. A motor puts itself there. */
  const struct tt_part **drivers;
} tt_declare;

/** What the motors of a robot are fed with during a step. */
typedef struct tt_supply {
  double voltage; /**< V at its controllers */
  bool is_there;  /**< the robot has a battery; else each motor has a constant voltage of its own */
  bool off;       /**< brown-out: no motor gets anything */
} tt_supply;

/** What a part sees and changes while actuating one step. */
typedef struct tt_actuation {
  tt_space *space;
  const double *commands; /**< last accepted values; [command_count] */
  /** When each command was last accepted: a running number, 0 never (since reset); [command_count]. Of several
   *  commands that mean the same thing the one with the greatest number holds: "the last accepted kind holds
   *  the joint" needs no other state, and no callback. */
  const uint64_t *accepted;
  /** The greatest of them among each axis' own joint commands; [axis_count]. A motor takes an axis over when
   *  one of its commands has a greater number. */
  const uint64_t *axis_accepted;
  /** [axis_count]; the simulation filled them from commands, parts may change them */
  tt_drive *drives;
  double *controls; /**< [actuator_count] */
  double timestep;  /**< s */
  uint64_t step;
  /** [robot_count]; filled by batteries, which act before motors; meanwhile those of the last step */
  tt_supply *supplies;
  /** A, that the parts of `robot` draw from a battery with `voltage` V: by what they did in the last step. */
  double (*draw)(const struct tt_actuation *actuation, int robot, double voltage);
  const void *context; /**< of draw() */
} tt_actuation;

typedef struct tt_part_ops {
  const char *kind; /**< key in the robot's file: "motors", "encoders", "line_trackers", … */
  /** Resolves what needs no other part's names; declares channels and commands. */
  tt_status (*declare)(tt_part *part, tt_declare *declare, tt_error *error);
  /** Resolves signals by name once all parts have declared. May be NULL. */
  tt_status (*resolve)(tt_part *part, const tt_names *names, tt_error *error);
  /** Before every step. May be NULL. */
  void (*actuate)(tt_part *part, tt_actuation *actuation);
  /** A, that this part draws from its robot's battery with `voltage` V > 0, by what it did in the last step; negative: it gives
   *  back. May be NULL: nothing. */
  double (*draws)(const tt_part *part, const tt_actuation *actuation, double voltage);
  /** Once a tick, after physics filled `view`: writes the part's own channels only. May be NULL. */
  void (*sense)(tt_part *part, const tt_space *space, tt_view *view);
  /** Of a range finder: its ray, for viewers, but for the name. Static; any thread. May be NULL. */
  void (*ray)(const tt_part *part, tt_ray *ray);
  /** All chance of this part follows `seed` from here on. May be NULL: it knows none. */
  void (*seed)(tt_part *part, uint64_t seed);
  /** Number `index`, from 0, of its configuration that may be changed, after declare(): fills dimension, own value and
   *  range, and as name the field alone ("noise"), static. False: there are no more. May be NULL: none. */
  bool (*value)(const tt_part *part, int index, tt_value *value);
  /** Changes it, from the next step or sense on; within its range. It survives resets and is no part of the state. NULL
   *  where value is. */
  void (*set_value)(tt_part *part, int index, double value);
  /** Robot or world reset. May be NULL. */
  void (*reset)(tt_part *part);
  /** State that decides the future; sizes fixed after declare. May be NULL (no state). */
  size_t (*state_size)(const tt_part *part);
  void (*save)(const tt_part *part, void *state);
  void (*restore)(tt_part *part, const void *state);
  /** A fresh part of the same configuration for a cloned world; NULL when out of memory. */
  tt_part *(*clone)(const tt_part *part);
  void (*free)(tt_part *part);
} tt_part_ops;

/** First member of every part's own struct. */
struct tt_part {
  const tt_part_ops *ops;
  int robot; /**< set by the simulation before declare() */
  const char *name;
  const char *where; /**< begins error messages, "robots/a/robot.yaml: motors[0]"; NULL: the name */
  /** As in tt_actuation, for sense(); the simulation's, which sets them when all parts have declared. */
  const uint64_t *accepted, *axis_accepted;
};

#endif

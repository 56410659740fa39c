/* signal.h: every scalar of a view by name, as in "left_wheel.position".
 *
 * A signal is a small value: resolved once by name, read from any view of that model in a few
 * nanoseconds. Nothing is computed for a signal that nobody reads.
 *
 * Joint: position velocity torque (axes .x .y .z where it has several). Body: x y z qw qx qy qz
 * heading yaw_rate vx vy vz wx wy wz. Channels (sensors, grip, motors) by their own names. World: time, step,
 * match_time, real_time_factor. The last accepted value of a command is the signal "command:<command>".
 * heading: rad, rotation of the body's x axis about world Z, in (−π, π]; yaw_rate: rad/s about the body's own
 * z axis, right hand.
 *
 * Every name also exists with its kind in front ("joint:arm.position", "body:", "sensor:", "part:", "actuator:",
 * "world:"). Where a short name means two things, one that a robot file declares wins over the model's own;
 * otherwise the short name is refused and both kinds are suggested.
 */
#ifndef TT_MODEL_SIGNAL_H
#define TT_MODEL_SIGNAL_H

#include "base/status.h"
#include "model/view.h"

/** Where in a view a signal is read. */
typedef enum tt_signal_source {
  TT_SIGNAL_TIME,
  TT_SIGNAL_STEP,
  TT_SIGNAL_MATCH_TIME,
  TT_SIGNAL_REAL_TIME_FACTOR,
  TT_SIGNAL_BODY_POSITION,
  TT_SIGNAL_BODY_ROTATION,
  TT_SIGNAL_BODY_HEADING,
  TT_SIGNAL_BODY_YAW_RATE,
  TT_SIGNAL_BODY_VELOCITY,
  TT_SIGNAL_BODY_SPIN,
  TT_SIGNAL_JOINT_POSITION,
  TT_SIGNAL_JOINT_VELOCITY,
  TT_SIGNAL_JOINT_TORQUE,
  TT_SIGNAL_CHANNEL,
  TT_SIGNAL_COMMAND,
} tt_signal_source;

typedef struct tt_signal {
  tt_signal_source source;
  int index;     /**< body, axis, channel or command */
  int component; /**< 0… within a vector */
  tt_dimension dimension;
} tt_signal;

/** The value in SI; always finite. */
double tt_signal_read(const tt_signal *signal, const tt_view *view);

/** Where `view` holds it; NULL for one that is computed from others, and for the clock. */
double *tt_signal_place(const tt_signal *signal, tt_view *view);

/** All signals of a model with their names, for lists, trees and logs. */
typedef struct tt_signal_entry {
  const char *name;
  tt_signal signal;
  int robot; /**< that it belongs to, or TT_NO_ROBOT */
} tt_signal_entry;

typedef struct tt_names tt_names; /**< the table of all signal and command names of a model */

/** Builds the table, disambiguating short names that mean two things with "joint:" or "body:" in
 *  front; NULL when out of memory. Free before the model. */
tt_names *tt_names_new(const tt_model *model);
void tt_names_free(tt_names *names);
/** The model whose names they are. */
const tt_model *tt_names_model(const tt_names *names);

/** All signals in model order; commands come last. Owned by `names`. */
const tt_signal_entry *tt_names_signals(const tt_names *names, int *count);

/** Resolves `name` for a reader that belongs to `robot` (its own "<robot>/" prefix may be left out;
 *  TT_NO_ROBOT: only whole names). `where` begins the error, for example
 *  "scenes/a.yaml: wires.float-udp.sensors[3]". Unknown: TT_INVALID, with the nearest name, which
 *  is not looked for where `error` is NULL. */
tt_status tt_names_find_signal(const tt_names *names, const char *name, int robot,
                               const char *where, tt_signal *signal, tt_error *error);
/** The same for a command; gives its index in model->commands. */
tt_status tt_names_find_command(const tt_names *names, const char *name, int robot,
                                const char *where, int *command, tt_error *error);

/** The name of model->commands[command] that people write: short where it is unique. Owned by `names`. */
const char *tt_names_command(const tt_names *names, int command);

#endif

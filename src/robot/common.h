/* common.h: what all robot parts share: their head, finding joints and bodies by name, frames. */
#ifndef TT_ROBOT_COMMON_H
#define TT_ROBOT_COMMON_H

#include "model/schema.h"
#include "robot/noise.h"
#include "robot/robot.h"

/** Head of every part's struct. Its config begins with `char *name`. */
typedef struct tt_robot_part {
  tt_part part;
  const struct tt_part_kind *kind;
  const void *config;
  tt_robot_env env;
  char where[256]; /**< what env.where points to */
} tt_robot_part;

/** A kind of part: one line in the table of registry.c. */
typedef struct tt_part_kind {
  const tt_part_ops *ops;
  size_t part_size; /**< of the part's struct */
  /** Once the head is filled: reads files, for example. May be NULL. */
  tt_status (*make)(tt_part *part, tt_error *error);
} tt_part_kind;

/** The kinds there are and their keys, each in the file of its name. Static. */
extern const tt_part_kind tt_battery_kind, tt_bumper_kind, tt_encoder_kind, tt_gripper_kind,
    tt_gyro_kind, tt_limit_switch_kind, tt_line_tracker_kind, tt_lua_sensor_kind, tt_motor_kind,
    tt_range_finder_kind;

/** Their keys in a robot file. */
extern const tt_schema tt_battery_schema, tt_bumper_schema, tt_encoder_schema, tt_gripper_schema,
    tt_gyro_schema, tt_limit_switch_schema, tt_line_tracker_schema, tt_lua_sensor_schema,
    tt_motor_schema, tt_range_finder_schema;

/** See tt_robot_part_new(), which finds the kind. */
tt_status tt_robot_part_make(const tt_part_kind *kind, const void *config, const tt_robot_env *env,
                             tt_part **part, tt_error *error);

/** The usual ops: a clone is made of the same config; free() frees one block. */
tt_part *tt_robot_part_clone(const tt_part *part);
void tt_robot_part_free(tt_part *part);

/** Whether the whole name `whole` of something is what `robot` itself calls `name`. */
bool tt_robot_is_called(const tt_mechanism *info, int robot, const char *whole, const char *name);
/** Index of this robot's joint with one axis called `name` ("<robot>/" may be left out); its axis is
 *  joints[index].axis. `key` stands in the error. */
tt_status tt_robot_find_joint(const tt_declare *declare, const char *key, const char *name,
                              int *joint, tt_error *error);
/** Index of this robot's body called `name`; NULL gives its root body. */
tt_status tt_robot_find_body(const tt_declare *declare, const char *key, const char *name,
                             int *body, tt_error *error);
/** Resolves a signal for a part whose first channel is `channel`. One that this part or a later one computes is
 *  refused: it would be read before it is written. So is what the wall clock decides. */
tt_status tt_robot_find_signal(const tt_robot_part *part, const tt_names *names, const char *key,
                               const char *name, int channel, tt_signal *signal, tt_error *error);
/** Adds the channel "<part>.<suffix>". */
tt_status tt_robot_add_channel(tt_declare *declare, const tt_part *part, const char *suffix,
                               tt_dimension dimension, int *channel, tt_error *error);
/** Adds `command` under the name "<part>.<suffix>"; command->name is not read. */
tt_status tt_robot_add_command(tt_declare *declare, const tt_part *part, const char *suffix,
                               tt_command command, int *index, tt_error *error);

/** TT_INVALID unless `name` can begin a signal's name: letters, digits, '_' and '-', not empty. */
tt_status tt_robot_check_name(const char *name, const char *where, tt_error *error);

/** A point or direction of a body's frame in the world's. */
void tt_robot_rotate(const double rotation[4], const double local[3], double world[3]);
void tt_robot_place(const tt_view *view, int body, const double local[3], double world[3]);

#endif

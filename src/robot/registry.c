/* registry.c: the table of the kinds of robot parts. Adding one is a line in each list. A robot's parts act and sense
 * in this order: what may read others comes last. */
#include "base/nearest.h"
#include "robot/common.h"

#include <string.h>

static const tt_part_kind *const kinds[] = {
    &tt_battery_kind,
    &tt_motor_kind,
    &tt_encoder_kind,
    &tt_gripper_kind,
    &tt_line_tracker_kind,
    &tt_range_finder_kind,
    &tt_bumper_kind,
    &tt_limit_switch_kind,
    &tt_gyro_kind,
    &tt_lua_sensor_kind,
    NULL,
};

const tt_schema *const tt_part_schemas[] = {
    &tt_battery_schema,
    &tt_motor_schema,
    &tt_encoder_schema,
    &tt_gripper_schema,
    &tt_line_tracker_schema,
    &tt_range_finder_schema,
    &tt_bumper_schema,
    &tt_limit_switch_schema,
    &tt_gyro_schema,
    &tt_lua_sensor_schema,
    NULL,
};

tt_status tt_robot_part_new(const char *kind, const void *config, const tt_robot_env *env,
                            tt_part **part, tt_error *error) {
  *part = NULL;
  const tt_part_kind *const *found = kinds;
  tt_nearest nearest = tt_nearest_start(kind);
  for (; *found && strcmp((*found)->ops->kind, kind) != 0; found++)
    tt_nearest_offer(&nearest, (*found)->ops->kind);
  if (!*found)
    return tt_fail(error, TT_INVALID, "%s: there is no kind of part '%s'%s%s", env->where, kind,
                   nearest.best ? "; did you mean " : "", nearest.best ? nearest.best : "");
  return tt_robot_part_make(*found, config, env, part, error);
}

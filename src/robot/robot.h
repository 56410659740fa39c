/* robot.h: makes the parts that a robot's file adds to its model: motors, encoders, grippers, sensors.
 *
 * Each kind of part is a sequence in the robot's file, an element a part; its schema stands in tt_part_schemas
 * under the same key. Assembling a scene loads the file, then makes each part with tt_robot_part_new().
 */
#ifndef TT_ROBOT_ROBOT_H
#define TT_ROBOT_ROBOT_H

#include "model/part.h"
#include "base/status.h"
#include "model/engine.h"

#include <stdint.h>

/** A line painted on the arena's floor: a rectangle around the segment. */
typedef struct tt_painted_line {
  double x1, y1, x2, y2; /**< m, arena frame: ends of its centre line */
  double width;          /**< m */
  double darkness;       /**< 0 as the floor … 1 as different from it as can be */
  bool black;            /**< as people see it; else white */
} tt_painted_line;

/** What a part may know of its surroundings. Everything pointed to must outlive the part and its clones. */
typedef struct tt_robot_env {
  int robot;         /**< index of the robot it belongs to */
  const char *where; /**< begins error messages: "robots/a/robot.yaml: motors[0]"; copied */
  const tt_painted_line *lines; /**< of the arena; may be NULL when line_count is 0 */
  int line_count;
  const char *scene_folder; /**< where Lua files are looked up first; NULL or "": nowhere */
  const char *folder;       /**< then here: the robot file's; NULL or "": the working one */
  uint64_t seed;            /**< of the scene */
} tt_robot_env;

/** Makes a part of `kind` ("motors", …) from one checked element of that sequence. `config` must outlive the
 *  part and its clones. On failure `*part` is NULL: TT_INVALID (also an unknown kind) or TT_NOMEM. */
tt_status tt_robot_part_new(const char *kind, const void *config, const tt_robot_env *env,
                            tt_part **part, tt_error *error);

/** What physics must know of one checked element of `grippers` before the model is composed. Strings are the
 *  element's own. */
void tt_robot_gripper(const void *config, tt_engine_gripper *gripper);

#endif

/* value.h: a number of a model that may be changed after it was compiled: a mass, a damping, the noise of a sensor. Its name
 * is that of a setting: models.<robot>.<kind>.<name>.<field>, where what belongs to no robot is the arena's.
 */
#ifndef TT_MODEL_VALUE_H
#define TT_MODEL_VALUE_H

#include "model/unit.h"

typedef struct tt_value {
  const char *name; /**< whole, "models.gripper.joints.swivel.damping" */
  tt_dimension dimension;
  int robot;           /**< or TT_NO_ROBOT: of the arena */
  double own;          /**< as the files of robot and arena say, SI */
  double lower, upper; /**< SI; what lies outside is refused */
} tt_value;

#endif

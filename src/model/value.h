/* value.h: a number of a model that may be changed after it was compiled: a mass, a damping, the noise of a sensor. Its name
 * is that of a setting: models.<robot>.<kind>.<name>.<field>, where what belongs to no robot is the arena's.
 */
#ifndef TT_MODEL_VALUE_H
#define TT_MODEL_VALUE_H

#include "model/unit.h"

/** A value that nobody set, where no number says what holds then: the friction of a body, whose geometry may have several and
 *  which the other body's outranks. */
#define TT_AS_MODELLED (-1)

typedef struct tt_value {
  const char *name; /**< whole, "models.gripper.joints.swivel.damping" */
  tt_dimension dimension;
  int robot; /**< or TT_NO_ROBOT: of the arena */
  /** as the files of robot and arena say, SI; TT_AS_MODELLED, below `lower`: not set */
  double own;
  /** of one that is TT_AS_MODELLED: the number in the model, of several the first */
  double modelled;
  double lower, upper; /**< SI; what lies outside is refused */
} tt_value;

#endif

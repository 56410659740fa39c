/* kinematics.h: where the bodies of a model are, and how they move, from their joints: for those who kept only these. */
#ifndef TT_CORE_KINEMATICS_H
#define TT_CORE_KINEMATICS_H

#include "model/view.h"

/** Fills position, rotation, velocity and spin of every body of `view` that is not its own (tt_body.own) from its parent's and
 *  from positions and velocities of the axes between them. Equal to what physics says but for rounding. */
void tt_kinematics(tt_view *view);

#endif

/* bare.h: MuJoCo alone on a world's own model and state: the limit that benches compare a step with. */
#ifndef TT_ENGINE_MUJOCO_BARE_H
#define TT_ENGINE_MUJOCO_BARE_H

#include "engine/mujoco/physics.h"

/** Calls mj_step `steps` times from the present state, with `torques` ([steps][axis_count], N·m or N) acting on the
 *  axes and nothing of ours around it. The state is good for nothing afterwards: restore a saved one. */
void tt_physics_bare_steps(tt_physics *physics, const double *torques, int steps);

#endif

/* bare.c: MuJoCo alone on a world's own model and state. */
#include "engine/mujoco/bare.h"

#include "engine/mujoco/physics_internal.h"

void tt_physics_bare_steps(tt_physics *p, const double *torques, int steps) {
  const physics_fixed *fixed = p->fixed;
  for (int k = 0; k < steps; k++) {
    for (int i = 0; i < fixed->info.axis_count; i++)
      p->data->qfrc_applied[fixed->axis_dof[i]] = *torques++;
    mj_step(p->model, p->data);
  }
}

/* kinematics.c: where everything is, from the positions of joints. */
#include "engine/mujoco/physics_internal.h"

void physics_read_axes(tt_physics *p) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->info.axis_count; i++) {
    p->axis_velocity[i] = p->data->qvel[f->axis_dof[i]];
    p->axis_position[i] = f->axis_qpos[i] >= 0 ? p->data->qpos[f->axis_qpos[i]] : 0;
  }
}

void physics_set_time(tt_physics *p) {
  p->data->time = (double)(p->step * p->fixed->timestep_num) / (double)p->fixed->timestep_den;
}

/* MuJoCo normalises quaternions in place, which need not be idempotent to the last bit: what was
 * there before is what decides, and what is saved. */
void physics_kinematics(tt_physics *p) {
  mju_copy(p->qpos, p->data->qpos, p->model->nq);
  mj_step1(p->model, p->data);
  physics_read_axes(p);
}

void physics_refresh(tt_physics *p) {
  physics_set_time(p);
  mju_copy(p->data->qpos, p->qpos, p->model->nq);
  physics_cull_nothing(p);
  physics_kinematics(p);
}

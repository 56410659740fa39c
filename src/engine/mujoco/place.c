/* place.c: concept mode: things are put where a controller says, without dynamics. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <string.h>

static void put(double *number, double value) {
  if (!isnan(value)) *number = value;
}

void tt_physics_place_robot(tt_physics *p, int robot, double x, double y, double heading) {
  mjModel *m = p->model;
  int root = p->fixed->info.robots[robot].root_body, joint = m->body_jntadr[root];
  bool is_free = joint >= 0 && m->jnt_type[joint] == mjJNT_FREE;
  double *position = is_free ? p->qpos + m->jnt_qposadr[joint] : m->body_pos + 3 * root;
  double *rotation = is_free ? position + 3 : m->body_quat + 4 * root;
  put(position, x);
  put(position + 1, y);
  if (isnan(heading)) return;
  const double turned[4] = {cos(heading / 2), 0, 0, sin(heading / 2)};
  memcpy(rotation, turned, sizeof turned);
}

void tt_physics_place_axis(tt_physics *p, int axis, double position) {
  if (p->fixed->axis_qpos[axis] >= 0) p->qpos[p->fixed->axis_qpos[axis]] = position;
}

void tt_physics_place_body(tt_physics *p, int body, const double pose[7]) {
  const mjModel *m = p->model;
  int joint = m->body_jntadr[body];
  if (joint < 0 || m->jnt_type[joint] != mjJNT_FREE) return;
  double *q = p->qpos + m->jnt_qposadr[joint];
  for (int i = 0; i < 7; i++) put(q + i, pose[i]);
  mju_normalize4(q + 3);
  if (p->fixed->body_piece[body] >= 0) physics_unpark(p, p->fixed->body_piece[body]);
}

/* Held pieces stand where their grippers, whose kinematics are fresh, have them. */
static bool carry(tt_physics *p) {
  bool any = false;
  for (int i = 0; i < p->fixed->info.gripper_count; i++) {
    if (!p->held[i]) continue;
    const physics_piece *piece = &p->fixed->pieces[p->fixed->body_piece[p->held[i]]];
    physics_held_pose(p, i, p->qpos + piece->qpos, p->qpos + piece->qpos + 3);
    any = true;
  }
  return any;
}

void tt_physics_place_done(tt_physics *p, double dt) {
  mjData *d = p->data;
  mju_zero(d->qvel, p->model->nv);
  physics_follow(p->fixed, p->model, p->qpos);
  physics_refresh(p);
  if (carry(p)) physics_refresh(p);
  if (dt > 0) {
    mj_differentiatePos(p->model, d->qvel, dt, p->place, d->qpos);
    physics_refresh(p);
  }
  mju_copy(p->place, d->qpos, p->model->nq);
}

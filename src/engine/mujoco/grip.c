/* grip.c: a gripper is a weld, aimed at run time at the piece that it holds. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <string.h>

static double piece_distance(const tt_physics *p, const physics_piece *piece,
                             const double point[3]) {
  double nearest = INFINITY;
  for (int g = piece->first_geom; g < piece->last_geom; g++) {
    nearest = fmin(nearest, physics_point_distance(p, g, point));
  }
  return nearest;
}

static bool held_by_any(const tt_physics *p, int body) {
  for (int i = 0; i < p->fixed->info.gripper_count; i++) {
    if (p->held[i] == body) return true;
  }
  return false;
}

/* Index of the nearest free piece of `kind` within reach, or −1; the first listed of equals. */
static int nearest_piece(const tt_physics *p, const physics_gripper *gripper, int kind) {
  const double *centre = gripper->site >= 0 ? p->data->site_xpos + 3 * gripper->site
                                            : p->data->xpos + 3 * gripper->body;
  int best = -1;
  double best_distance = INFINITY;
  for (int i = 0; i < p->fixed->piece_count; i++) {
    const physics_piece *piece = &p->fixed->pieces[i];
    if (piece->kind != kind || held_by_any(p, piece->body)) continue;
    double distance = piece_distance(p, piece, centre);
    if (distance <= gripper->reach && distance < best_distance) {
      best = i;
      best_distance = distance;
    }
  }
  return best;
}

/* Keeps the piece where it is now, as seen from the gripper. Data of a weld: anchor in body 2 (3),
 * pose of body 2 in body 1 (7), torque scale. */
static void aim_weld(tt_physics *p, const physics_gripper *gripper, int body) {
  mjModel *m = p->model;
  const mjData *d = p->data;
  double *data = m->eq_data + mjNEQDATA * gripper->equality;
  double offset[3], back[4];
  mju_sub3(offset, d->xpos + 3 * body, d->xpos + 3 * gripper->body);
  mju_zero(data, mjNEQDATA);
  mju_rotVecMatT(data + 3, offset, d->xmat + 9 * gripper->body);
  mju_negQuat(back, d->xquat + 4 * gripper->body);
  mju_mulQuat(data + 6, back, d->xquat + 4 * body);
  data[10] = 1;
  m->eq_obj2id[gripper->equality] = body;
  m->eq_active[gripper->equality] = 1;
}

void physics_held_pose(const tt_physics *p, int gripper, double position[3], double rotation[4]) {
  const physics_gripper *g = &p->fixed->grippers[gripper];
  const double *data = p->model->eq_data + mjNEQDATA * g->equality;
  mju_rotVecMat(position, data + 3, p->data->xmat + 9 * g->body);
  mju_addTo3(position, p->data->xpos + 3 * g->body);
  mju_mulQuat(rotation, p->data->xquat + 4 * g->body, data + 6);
}

/* A piece rests from now on: what a gripper kept still may hang in the air. */
void physics_let_go(tt_physics *p, int gripper) {
  int equality = p->fixed->grippers[gripper].equality;
  if (p->held[gripper]) p->rest[p->fixed->body_piece[p->held[gripper]]] = 0;
  p->held[gripper] = 0;
  p->model->eq_active[equality] = 0;
  p->model->eq_obj2id[equality] = 0;
  mju_zero(p->model->eq_data + mjNEQDATA * equality, mjNEQDATA);
}

int tt_physics_grip(tt_physics *p, int gripper, int kind) {
  int old = p->held[gripper];
  if (old && p->fixed->pieces[p->fixed->body_piece[old]].kind == kind) return old;
  if (old) physics_let_go(p, gripper);
  int index = nearest_piece(p, &p->fixed->grippers[gripper], kind);
  if (index >= 0) {
    physics_unpark(p, index);
    p->held[gripper] = p->fixed->pieces[index].body;
    aim_weld(p, &p->fixed->grippers[gripper], p->held[gripper]);
  }
  if (old || index >= 0) physics_refresh(p);
  return p->held[gripper];
}

void tt_physics_release(tt_physics *p, int gripper) {
  if (!p->held[gripper]) return;
  physics_let_go(p, gripper);
  physics_refresh(p);
}

int tt_physics_held(const tt_physics *p, int gripper) { return p->held[gripper]; }

/* reach.c: how far a point is from a shape, and how far a body can go: what parking, gripping and culling ask. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>

static double box_distance(const double point[3], const double half[3]) {
  double outside = 0, inside = -INFINITY;
  for (int i = 0; i < 3; i++) {
    double beyond = fabs(point[i]) - half[i];
    outside += beyond > 0 ? beyond * beyond : 0;
    inside = fmax(inside, beyond);
  }
  return inside > 0 ? sqrt(outside) : inside;
}

double physics_point_distance(const tt_physics *p, int geom, const double point[3]) {
  const mjModel *m = p->model;
  const double *size = m->geom_size + 3 * geom;
  const double *turned = p->data->geom_xmat + 9 * geom;
  double offset[3], local[3];
  mju_sub3(offset, point, p->data->geom_xpos + 3 * geom);
  if (m->geom_type[geom] == mjGEOM_PLANE)
    return turned[2] * offset[0] + turned[5] * offset[1] + turned[8] * offset[2];
  mju_rotVecMatT(local, offset, turned);
  switch (m->geom_type[geom]) {
    case mjGEOM_SPHERE: return mju_norm3(local) - size[0];
    case mjGEOM_CAPSULE: {
      double along = fmax(-size[1], fmin(size[1], local[2]));
      double r[3] = {local[0], local[1], local[2] - along};
      return mju_norm3(r) - size[0];
    }
    case mjGEOM_CYLINDER: {
      const double flat[3] = {hypot(local[0], local[1]), local[2], 0};
      const double half[3] = {size[0], size[1], INFINITY};
      return box_distance(flat, half);
    }
    case mjGEOM_BOX:
    case mjGEOM_MESH: /* its size is that of the box around it */
    case mjGEOM_ELLIPSOID: return box_distance(local, size);
    default: return mju_norm3(local) - m->geom_rbound[geom];
  }
}

/* At its present velocity and twice that. */
double physics_coming(const tt_physics *p, int body, double radius, double interval) {
  double velocity[3];
  physics_velocity(p, body, p->data->xipos + 3 * body, velocity);
  return 2 * interval * (mju_norm3(velocity) + radius * mju_norm3(p->data->cvel + 6 * body));
}

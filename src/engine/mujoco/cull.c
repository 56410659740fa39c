/* cull.c: fixed bodies that nothing can reach soon are left out of MuJoCo's search for contacts.
 *
 * Its broad phase looks at every geom of every body in each step, which on a field full of racks and
 * walls costs more than all the rest. Leaving out what is farther than anything can go until the
 * next look changes no contact, so this is no part of the state.
 */
#include "engine/mujoco/physics_internal.h"

#include <math.h>

#define CULL_MARGIN 0.05 /* m, besides what the speeds could cover until the next look */

static bool geom_in_reach(const tt_physics *p, int geom, const double centre[3], double reach) {
  const double *at = p->data->geom_xpos + 3 * geom;
  double sphere = reach + p->model->geom_rbound[geom], r[3];
  mju_sub3(r, at, centre);
  return mju_dot3(r, r) <= sphere * sphere && physics_point_distance(p, geom, centre) <= reach;
}

/* A fixed body is of use when a sphere around something that moves may touch one of its geoms. */
static void mark_reachable(tt_physics *p, const double centre[3], double reach) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->static_count; i++) {
    int body = f->statics[i], first = p->model->body_geomadr[body];
    if (p->model->body_geomnum[body]) continue;
    for (int g = first; g < first + f->body_geomnum[body]; g++) {
      bool collides = f->geom_contype[g] || f->geom_conaffinity[g];
      if (collides && geom_in_reach(p, g, centre, reach)) {
        p->model->body_geomnum[body] = f->body_geomnum[body];
        break;
      }
    }
  }
}

void physics_cull(tt_physics *p, double interval) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->static_count; i++) p->model->body_geomnum[f->statics[i]] = 0;
  for (int i = 0; i < f->mover_count; i++) {
    int body = f->movers[i].body;
    double radius = physics_mover_radius(p, &f->movers[i]);
    double reach = radius + CULL_MARGIN + physics_coming(p, body, radius, interval);
    mark_reachable(p, p->data->xipos + 3 * body, reach);
  }
  for (int i = 0; i < f->piece_count; i++) {
    if (p->parked[i]) continue;
    const physics_piece *piece = &f->pieces[i];
    double reach =
        piece->radius + CULL_MARGIN + physics_coming(p, piece->body, piece->radius, interval);
    mark_reachable(p, p->data->xpos + 3 * piece->body, reach);
  }
}

void physics_cull_nothing(tt_physics *p) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->static_count; i++) {
    p->model->body_geomnum[f->statics[i]] = f->body_geomnum[f->statics[i]];
  }
}

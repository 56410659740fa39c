/* cull.c: bodies that nothing can touch soon are left out of MuJoCo's search for contacts.
 *
 * Its broad phase looks at every geom of every body in each step: a third of the step of an arm that touches nothing, and on a
 * field full of racks and walls more than all the rest. Leaving out what is farther than anything can go until the next
 * look changes no contact, so this is no part of the state.
 */
#include "engine/mujoco/physics_internal.h"

#include <string.h>

#define JOLT 20 /* m/s that hits may add to a speed until the next look */

static bool is_in(const tt_physics *p, int body) { return p->model->body_geomnum[body] > 0; }

static void leave_out(tt_physics *p, int body) { p->model->body_geomnum[body] = 0; }

static void take_in(tt_physics *p, int body) {
  p->model->body_geomnum[body] = p->fixed->body_geomnum[body];
}

static double squared_distance(const double a[3], const double b[3]) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

static bool geom_in_reach(const tt_physics *p, int geom, const double centre[3], double reach) {
  const double bound = p->model->geom_rbound[geom], both = reach + bound;
  if (p->model->geom_type[geom] == mjGEOM_HFIELD) return true;
  const bool boundless = bound <= 0; /* a plane */
  if (!boundless && squared_distance(p->data->geom_xpos + 3 * geom, centre) > both * both)
    return false;
  return physics_point_distance(p, geom, centre) <= reach;
}

/* Whether a sphere may touch one of the body's geoms. */
static bool in_reach(const tt_physics *p, int body, const double centre[3], double reach) {
  const physics_fixed *f = p->fixed;
  const int first = p->model->body_geomadr[body], end = first + f->body_geomnum[body];
  for (int g = first; g < end; g++) {
    bool collides = f->geom_contype[g] || f->geom_conaffinity[g];
    if (collides && geom_in_reach(p, g, centre, reach)) return true;
  }
  return false;
}

/* Takes in the fixed bodies in reach of a sphere; whether there are any, unless `known`: then it is true. */
static bool meet_fixed(tt_physics *p, const double centre[3], double reach, bool known) {
  const physics_fixed *f = p->fixed;
  bool any = known;
  for (int i = 0; !any && i < f->ground_count; i++) any = in_reach(p, f->grounds[i], centre, reach);
  for (int i = 0; i < f->static_count; i++) {
    const int body = f->statics[i];
    if ((any && is_in(p, body)) || !in_reach(p, body, centre, reach)) continue;
    take_in(p, body);
    any = true;
  }
  return any;
}

/* Never in contact, as MuJoCo has it: parts of one body, and neighbours in a tree. */
static bool never_meet(const tt_physics *p, const physics_mover *a, const physics_mover *b) {
  if (a->weld == b->weld) return true;
  if ((p->model->opt.disableflags & mjDSBL_FILTERPARENT) || !a->weld || !b->weld) return false;
  return a->weld == b->weld_parent || b->weld == a->weld_parent;
}

/* Whether two whose spheres overlap may touch: the smaller one's sphere, and the geoms of the other. */
static bool meet(const tt_physics *p, int i, int j, double margin) {
  const physics_mover *movers = p->fixed->movers;
  const int small = movers[i].radius < movers[j].radius ? i : j, large = small == i ? j : i;
  const physics_sphere *from = &p->spheres[small];
  return !never_meet(p, &movers[i], &movers[j]) &&
         in_reach(p, movers[large].body, from->centre,
                  from->reach + p->spheres[large].coming + margin);
}

static void meet_movers(tt_physics *p, double margin) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->mover_count; i++) {
    const physics_sphere *one = &p->spheres[i];
    const int body = f->movers[i].body;
    for (int j = 0; j < i; j++) {
      const physics_sphere *other = &p->spheres[j];
      const double apart = one->reach + other->reach + margin;
      if (squared_distance(one->centre, other->centre) > apart * apart) continue;
      if ((is_in(p, body) && is_in(p, f->movers[j].body)) || !meet(p, i, j, margin)) continue;
      take_in(p, body);
      take_in(p, f->movers[j].body);
    }
  }
}

static void meet_piece(tt_physics *p, const physics_piece *piece, double reach) {
  const physics_fixed *f = p->fixed;
  const double *at = p->data->xpos + 3 * piece->body;
  meet_fixed(p, at, reach, true);
  for (int i = 0; i < f->mover_count; i++) {
    const int body = f->movers[i].body;
    if (!is_in(p, body) && in_reach(p, body, at, reach + p->spheres[i].coming)) take_in(p, body);
  }
}

static void meet_pieces(tt_physics *p, double interval, double margin) {
  for (int i = 0; i < p->fixed->piece_count; i++) {
    const physics_piece *piece = &p->fixed->pieces[i];
    if (p->parked[i]) continue;
    const double coming = physics_coming(p, piece->body, piece->radius, interval);
    meet_piece(p, piece, piece->radius + coming + margin);
  }
}

void physics_cull(tt_physics *p, double interval) {
  const physics_fixed *f = p->fixed;
  const double margin = JOLT * interval + f->contact_margin;
  for (int i = 0; i < f->static_count; i++) leave_out(p, f->statics[i]);
  for (int i = 0; i < f->mover_count; i++) {
    const physics_mover *mover = &f->movers[i];
    physics_sphere *sphere = &p->spheres[i];
    memcpy(sphere->centre, p->data->xipos + 3 * mover->body, sizeof sphere->centre);
    sphere->coming = physics_coming(p, mover->body, mover->radius, interval);
    sphere->reach = mover->radius + sphere->coming;
    if (f->culls_movers) leave_out(p, mover->body);
    if (meet_fixed(p, sphere->centre, sphere->reach + margin, !f->culls_movers))
      take_in(p, mover->body);
  }
  meet_pieces(p, interval, margin);
  if (f->culls_movers) meet_movers(p, margin);
}

void physics_cull_nothing(tt_physics *p) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->static_count; i++) take_in(p, f->statics[i]);
  for (int i = 0; i < f->mover_count; i++) take_in(p, f->movers[i].body);
}

/* park.c: a game piece at rest costs nothing.
 *
 * A piece that has been still for a while, with nothing that moves near it, is parked: its geoms
 * collide with nothing and its weight is taken from it, so that it stays where it is, exactly. It
 * wakes when a robot, an awake piece or anything else that can move comes near. Both decisions
 * depend on the state alone. What is parked leans on the arena, or on pieces parked in the same
 * instant: an awake piece is never left near a parked one.
 */
#include "engine/mujoco/physics_internal.h"

#include <math.h>

#define LOOK_INTERVAL 0.0025 /* s between looks around */
#define WAKE_MARGIN 0.02     /* m, besides what the speeds could cover until the next look */
#define PARK_MARGIN 0.05     /* m, greater, so that a piece does not park and wake by turns */
#define STILL_TIME 0.3       /* s */
#define STILL_SPEED 0.02     /* m/s */
#define STILL_SPIN 0.1       /* rad/s */

void physics_park_masks(tt_physics *p, int index) {
  const physics_piece *piece = &p->fixed->pieces[index];
  for (int g = piece->first_geom; g < piece->last_geom; g++) {
    p->model->geom_contype[g] = p->parked[index] ? 0 : p->fixed->geom_contype[g];
    p->model->geom_conaffinity[g] = p->parked[index] ? 0 : p->fixed->geom_conaffinity[g];
  }
  /* The broad phase looks at masked geoms too. */
  p->model->body_geomnum[piece->body] = p->parked[index] ? 0 : p->fixed->body_geomnum[piece->body];
}

/* The forces that cancel weight and passive forces to the last bit: acceleration is exactly zero. */
void physics_park_pin(tt_physics *p) {
  mjData *d = p->data;
  for (int i = 0; i < p->fixed->piece_count; i++) {
    if (!p->parked[i]) continue;
    for (int k = p->fixed->pieces[i].dof; k < p->fixed->pieces[i].dof + 6; k++) {
      d->qfrc_applied[k] = -(d->qfrc_passive[k] - d->qfrc_bias[k]);
    }
  }
}

static void park(tt_physics *p, int index) {
  int dof = p->fixed->pieces[index].dof;
  p->parked[index] = 1;
  mju_zero(p->data->qvel + dof, 6);
  mju_zero(p->data->qacc_warmstart + dof, 6);
  physics_park_masks(p, index);
}

void physics_unpark(tt_physics *p, int index) {
  p->rest[index] = 0;
  if (!p->parked[index]) return;
  p->parked[index] = 0;
  mju_zero(p->data->qfrc_applied + p->fixed->pieces[index].dof, 6);
  physics_park_masks(p, index);
}

static bool is_still(const tt_physics *p, const physics_piece *piece) {
  const double *v = p->data->qvel + piece->dof;
  return mju_dot3(v, v) < STILL_SPEED * STILL_SPEED &&
         mju_dot3(v + 3, v + 3) < STILL_SPIN * STILL_SPIN;
}

static bool is_held(const tt_physics *p, int body) {
  for (int i = 0; i < p->fixed->info.gripper_count; i++) {
    if (p->held[i] == body) return true;
  }
  return false;
}

static bool could_collide(const tt_physics *p, int geom) {
  return p->fixed->geom_contype[geom] || p->fixed->geom_conaffinity[geom];
}

static double squared_distance(const double a[3], const double b[3]) {
  double r[3];
  mju_sub3(r, a, b);
  return mju_dot3(r, r);
}

/* Whether geom `g` is within `margin` of a piece: spheres first, then g's own shape against the
 * sphere of each of the piece's geoms. */
static bool geom_near(const tt_physics *p, int g, const physics_piece *piece, double margin) {
  const mjData *d = p->data;
  const double *radius = p->model->geom_rbound;
  const double *centre = d->geom_xpos + 3 * g;
  double reach = radius[g] + piece->radius + margin;
  if (radius[g] > 0 && squared_distance(centre, d->xpos + 3 * piece->body) > reach * reach) {
    return false;
  }
  for (int h = piece->first_geom; h < piece->last_geom; h++) {
    if (!could_collide(p, h)) continue;
    double near = radius[h] + margin, both = near + radius[g];
    if (radius[g] > 0 && squared_distance(centre, d->geom_xpos + 3 * h) > both * both) continue;
    if (physics_point_distance(p, g, d->geom_xpos + 3 * h) < near) return true;
  }
  return false;
}

static bool range_near(const tt_physics *p, int first, int last, const physics_piece *piece,
                       double margin) {
  for (int g = first; g < last; g++) {
    if (could_collide(p, g) && geom_near(p, g, piece, margin)) return true;
  }
  return false;
}

/* Not the mover's own `radius`, whose last bits are others: what parks shows in the state. */
static double radius_now(const tt_physics *p, const physics_mover *mover) {
  double radius = 0;
  for (int g = mover->first_geom; g < mover->last_geom; g++) {
    if (!could_collide(p, g)) continue;
    double r = sqrt(squared_distance(p->data->geom_xpos + 3 * g, p->data->xipos + 3 * mover->body));
    radius = fmax(radius, r + p->model->geom_rbound[g]);
  }
  return radius;
}

static bool wake_near_movers(tt_physics *p, double interval) {
  const physics_fixed *f = p->fixed;
  bool woken = false;
  for (int k = 0; k < f->mover_count; k++) {
    const physics_mover *mover = &f->movers[k];
    double margin = -1;
    for (int i = 0; i < f->piece_count; i++) {
      if (!p->parked[i]) continue;
      if (margin < 0) {
        margin = WAKE_MARGIN + physics_coming(p, mover->body, radius_now(p, mover), interval);
      }
      if (range_near(p, mover->first_geom, mover->last_geom, &f->pieces[i], margin)) {
        physics_unpark(p, i);
        woken = true;
      }
    }
  }
  return woken;
}

/* Awake pieces wake what is parked near them, and so on until nothing changes. */
static bool wake_near_pieces(tt_physics *p, double interval) {
  const physics_fixed *f = p->fixed;
  bool woken = false, again = true;
  while (again) {
    again = false;
    for (int k = 0; k < f->piece_count; k++) {
      if (p->parked[k]) continue;
      const physics_piece *awake = &f->pieces[k];
      double margin = WAKE_MARGIN + physics_coming(p, awake->body, awake->radius, interval);
      for (int i = 0; i < f->piece_count; i++) {
        if (!p->parked[i] ||
            !range_near(p, awake->first_geom, awake->last_geom, &f->pieces[i], margin)) {
          continue;
        }
        physics_unpark(p, i);
        woken = again = true;
      }
    }
  }
  return woken;
}

static bool may_park(const tt_physics *p, int index, int steps) {
  const physics_fixed *f = p->fixed;
  const physics_piece *piece = &f->pieces[index];
  if (p->parked[index] || p->rest[index] < steps || is_held(p, piece->body)) return false;
  for (int k = 0; k < f->mover_count; k++) {
    if (range_near(p, f->movers[k].first_geom, f->movers[k].last_geom, piece, PARK_MARGIN)) {
      return false;
    }
  }
  return true;
}

/* Whether an awake piece that may not park now is near piece `index`. */
static bool has_restless_neighbour(const tt_physics *p, int index, const bool *ready) {
  const physics_fixed *f = p->fixed;
  for (int k = 0; k < f->piece_count; k++) {
    if (k == index || p->parked[k] || ready[k]) continue;
    const physics_piece *other = &f->pieces[k];
    if (range_near(p, other->first_geom, other->last_geom, &f->pieces[index], PARK_MARGIN)) {
      return true;
    }
  }
  return false;
}

static bool park_still(tt_physics *p, int steps) {
  const physics_fixed *f = p->fixed;
  bool any = false, again = true;
  for (int i = 0; i < f->piece_count; i++) {
    p->ready[i] = may_park(p, i, steps);
    any = any || p->ready[i];
  }
  while (any && again) {
    again = false;
    for (int i = 0; i < f->piece_count; i++) {
      if (p->ready[i] && has_restless_neighbour(p, i, p->ready)) {
        p->ready[i] = false;
        again = true;
      }
    }
  }
  bool parked = false;
  for (int i = 0; i < f->piece_count; i++) {
    if (!p->ready[i]) continue;
    park(p, i);
    parked = true;
  }
  return parked;
}

int physics_look_steps(double timestep) {
  return (int)fmax(1, floor(LOOK_INTERVAL / timestep + 0.5));
}

static int still_steps(const tt_physics *p) { return (int)(STILL_TIME / p->fixed->timestep); }

bool physics_parks_soon(const tt_physics *p) {
  const physics_fixed *f = p->fixed;
  if ((p->step + 1) % f->look_steps) return false;
  for (int i = 0; i < f->piece_count; i++)
    if (!p->parked[i] && p->rest[i] + 1 >= still_steps(p)) return true;
  return false;
}

void physics_park_step(tt_physics *p) {
  const physics_fixed *f = p->fixed;
  for (int i = 0; i < f->piece_count; i++) {
    if (p->parked[i]) continue;
    p->rest[i] = is_still(p, &f->pieces[i]) ? p->rest[i] + 1 : 0;
  }
  int look = f->look_steps;
  if (p->step % look) return;
  double interval = look * f->timestep;
  bool changed = park_still(p, still_steps(p));
  changed = wake_near_movers(p, interval) || changed;
  changed = wake_near_pieces(p, interval) || changed;
  if (changed) physics_refresh(p);
  /* Where little stands around, looking costs more than it saves. */
  if (f->culls_movers || f->static_count > f->mover_count) physics_cull(p, interval);
}

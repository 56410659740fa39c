/* servo.c: torques of driven axes.
 *
 * A velocity servo is not a stiff gain: before each step the torque that makes the axis have its
 * target velocity after the step is solved from the dynamics, all servoed axes together, so that
 * they don't disturb each other, and clamped.
 *
 * While nothing touches anything, M a = f + τ is solved directly: M is the mass matrix (+ timestep ×
 * damping, which Euler integrates implicitly), f all known forces, a known for the servoed axes and
 * τ zero for the others. A torque beyond its limit is clamped, becomes a known force, and the rest
 * is solved again.
 *
 * A servoed joint that leans on its limit is no harder: its acceleration is given, and with it the
 * limit's force, which the torque has to bear too.
 *
 * Where there are contacts or welds, or a limit that no torque within bounds bears, their forces and
 * the servos' torques depend on each other. Then each servo becomes one more row of MuJoCo's
 * constraint solver: a dry friction against the target velocity, whose bound is the torque limit.
 * That is what a motor with a limit is. The joint's own dry friction is in the same row, and what is
 * told of the motor is what the row gives without it.
 */
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT_REST 0.01 /* rad/s or m/s: slower than this friction is told to act against the target */

/* How constraints act on a tree. */
enum { TOUCHED_BY_NOTHING, TOUCHED_BY_LIMITS, TOUCHED };

typedef struct physics_servo {
  int *servoed;   /**< [nv] 1: acceleration given, torque wanted; 0: the other way round */
  double *target; /**< [nv] velocity of servoed axes */
  double *wanted; /**< [nv] acceleration of servoed axes; their torque once solved as rows */
  double *limit;  /**< [nv] of the torque, dry friction included */
  double *standing, *moving;     /**< [tree] torques to stand still, and to do as wanted */
  double *old_loss, *old_solver; /**< [nv], [nv][mjNREF + mjNIMP] of the model while rows are in */
  int *touched;                  /**< [nv] by first dof of a tree: TOUCHED… */
  int *limit_row;                /**< [nv] row of the limit that a servoed dof leans on, or −1 */
  bool rows;                     /**< this step's servos are rows of the constraint solver */
  bool in_model;                 /**< and their frictions stand in the model at present */
  double *inertia;               /**< [tree] diagonal of the mass */
  bool dense;                    /**< `mass` is that of the present tree */
  double *mass;                  /**< [tree][tree] */
  double *factor;                /**< [free][free] Cholesky of the mass of what is not servoed */
  double *force;                 /**< [tree] f + clamped torques */
  double *accel;                 /**< [tree] */
  int *free_index;               /**< [tree] */
} physics_servo;

tt_status physics_servo_new(tt_physics *p) {
  const size_t nv = (size_t)p->model->nv + 1;
  size_t tree = 1;
  for (int i = 0; i < p->model->nv; i++) {
    if ((size_t)p->fixed->tree_size[i] > tree) tree = (size_t)p->fixed->tree_size[i];
  }
  physics_servo *s = calloc(1, sizeof *s);
  if (!s) return TT_NOMEM;
  p->servo = s;
  s->servoed = calloc(nv, sizeof(int));
  s->touched = calloc(nv, sizeof(int));
  s->limit_row = calloc(nv, sizeof(int));
  s->target = calloc(nv, sizeof(double));
  s->wanted = calloc(nv, sizeof(double));
  s->limit = calloc(nv, sizeof(double));
  s->standing = calloc(tree, sizeof(double));
  s->moving = calloc(tree, sizeof(double));
  s->old_loss = calloc(nv, sizeof(double));
  s->old_solver = calloc(nv, sizeof(double) * (mjNREF + mjNIMP));
  s->inertia = calloc(tree, sizeof(double));
  s->mass = calloc(tree * tree, sizeof(double));
  s->factor = calloc(tree * tree, sizeof(double));
  s->force = calloc(tree, sizeof(double));
  s->accel = calloc(tree, sizeof(double));
  s->free_index = calloc(tree, sizeof(int));
  return s->servoed && s->touched && s->limit_row && s->target && s->wanted && s->limit &&
                 s->standing && s->moving && s->old_loss && s->old_solver && s->inertia &&
                 s->mass && s->factor && s->force && s->accel && s->free_index
             ? TT_OK
             : TT_NOMEM;
}

void physics_servo_free(tt_physics *p) {
  physics_servo *s = p->servo;
  if (!s) return;
  void *owned[] = {s->servoed,  s->touched, s->limit_row, s->target,     s->wanted,  s->limit,
                   s->standing, s->moving,  s->old_loss,  s->old_solver, s->inertia, s->mass,
                   s->factor,   s->force,   s->accel,     s->free_index, s};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  p->servo = NULL;
}

/* Dense mass matrix of the tree whose dofs are start … start + n − 1. */
static void tree_mass(const tt_physics *p, int start, int n) {
  const physics_fixed *f = p->fixed;
  double *mass = p->servo->mass;
  memset(mass, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n; i++) {
    mass[i * n + i] = p->servo->inertia[i];
    for (int k = f->mass_row[start + i] + 1; k < f->mass_row[start + i + 1]; k++) {
      const int j = f->mass_column[k];
      mass[i * n + j] = mass[j * n + i] = p->data->qM[k];
    }
  }
  p->servo->dense = true;
}

/* Accelerations of the dofs that are not servoed, given those of the servoed ones:
 * M_ff a_f = force_f − M_fs a_s. */
static void solve_free(const tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  const int *servoed = s->servoed + start;
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) s->free_index[k++] = i;
  }
  if (k == 0) return;
  if (!s->dense) tree_mass(p, start, n);
  for (int a = 0; a < k; a++) {
    const double *row = s->mass + s->free_index[a] * n;
    double right = s->force[s->free_index[a]];
    for (int i = 0; i < n; i++) {
      if (servoed[i]) right -= row[i] * s->accel[i];
    }
    s->accel[s->free_index[a]] = right;
    for (int b = 0; b <= a; b++) {
      double sum = row[s->free_index[b]];
      for (int c = 0; c < b; c++) sum -= s->factor[a * k + c] * s->factor[b * k + c];
      s->factor[a * k + b] = a == b ? sqrt(fmax(sum, mjMINVAL)) : sum / s->factor[b * k + b];
    }
  }
  for (int a = 0; a < k; a++) {
    double *x = &s->accel[s->free_index[a]];
    for (int c = 0; c < a; c++) *x -= s->factor[a * k + c] * s->accel[s->free_index[c]];
    *x /= s->factor[a * k + a];
  }
  for (int a = k - 1; a >= 0; a--) {
    double *x = &s->accel[s->free_index[a]];
    for (int c = a + 1; c < k; c++) *x -= s->factor[c * k + a] * s->accel[s->free_index[c]];
    *x /= s->factor[a * k + a];
  }
}

/* Torques on the dofs of the tree that go with the accelerations: M a − force. MuJoCo keeps the lower half of M without zeros, its
 * rows from the diagonal backwards; each sum is made in the order of a whole row. */
static void torques_on(const tt_physics *p, int start, int n, double *restrict torques) {
  const physics_servo *s = p->servo;
  const int *row = p->fixed->mass_row + start, *column = p->fixed->mass_column;
  const double *half = p->data->qM, *inertia = s->inertia, *accel = s->accel, *force = s->force;
  for (int i = 0; i < n; i++) {
    const double own = accel[i];
    double torque = -force[i];
    for (int k = row[i + 1] - 1; k > row[i]; k--) {
      torque += half[k] * accel[column[k]];
      torques[column[k]] += half[k] * own;
    }
    torques[i] = torque + inertia[i] * own;
  }
}

/* Applies the torques of the servoed dofs; clamps those beyond their limits and tells whether any was. */
static bool apply_or_clamp(tt_physics *p, int start, int n, const double *torques) {
  physics_servo *s = p->servo;
  int *servoed = s->servoed + start;
  double *applied = p->data->qfrc_applied + start;
  bool clamped = false;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) continue;
    const double torque = torques[i], limit = s->limit[start + i];
    applied[i] = torque;
    if (fabs(torque) <= limit) continue;
    applied[i] = fmin(fmax(torque, -limit), limit);
    servoed[i] = 0;
    s->force[i] += applied[i];
    clamped = true;
  }
  return clamped;
}

/* Torques for the wanted accelerations, times `scale`. */
static void torques_at(const tt_physics *p, int start, int n, double scale, double *torques) {
  physics_servo *s = p->servo;
  const int *servoed = s->servoed + start;
  for (int i = 0; i < n; i++) s->accel[i] = servoed[i] ? scale * s->wanted[start + i] : 0;
  solve_free(p, start, n);
  torques_on(p, start, n, torques);
}

/* Whether another servo of the tree carries this one, as an arm its wrist. */
static bool is_carried(const tt_physics *p, int start, int i) {
  for (int dof = p->model->dof_parentid[start + i]; dof >= start; dof = p->model->dof_parentid[dof])
    if (p->servo->servoed[dof]) return true;
  return false;
}

/* A strong joint that starts at full torque would overpower the weak ones that it carries. So no
 * axis is asked for more than it can do alone, and then all are slowed together until none of those
 * that are carried, and could stand still, is pushed beyond its limit. What only stands on the same
 * base, as wheels that coast beside a lift, slows nobody. */
static void limit_accelerations(const tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  const int *servoed = s->servoed + start;
  const double *limit = s->limit + start;
  double *wanted = s->wanted + start;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) continue;
    if (fabs(s->inertia[i] * wanted[i] - s->force[i]) <= limit[i]) continue;
    double least = (s->force[i] - limit[i]) / s->inertia[i];
    double most = (s->force[i] + limit[i]) / s->inertia[i];
    if (least < 0 && most > 0) wanted[i] = fmin(fmax(wanted[i], least), most);
  }
  torques_at(p, start, n, 1, s->moving);
  bool feasible = true;
  for (int i = 0; i < n; i++)
    feasible = feasible && (!servoed[i] || fabs(s->moving[i]) <= limit[i]);
  if (feasible) return;
  double scale = 1;
  torques_at(p, start, n, 0, s->standing);
  for (int i = 0; i < n; i++) {
    if (!servoed[i] || fabs(s->standing[i]) > limit[i] || fabs(s->moving[i]) <= limit[i]) continue;
    if (!is_carried(p, start, i)) continue;
    double bound = s->moving[i] > 0 ? limit[i] : -limit[i];
    scale = fmin(scale, (bound - s->standing[i]) / (s->moving[i] - s->standing[i]));
  }
  for (int i = 0; i < n && scale < 1; i++) wanted[i] *= scale;
  torques_at(p, start, n, 1, s->moving);
}

/* What is known of a tree before its servos are solved; accelerations they can bear. */
static void plan_tree(tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  const mjData *d = p->data;
  const double *passive = d->qfrc_passive + start, *actuator = d->qfrc_actuator + start,
               *bias = d->qfrc_bias + start, *applied = d->qfrc_applied + start;
  const int *servoed = s->servoed + start;
  const double *damping = p->model->dof_damping + start, *mass = d->qM;
  const int *row = p->fixed->mass_row + start;
  const double timestep = p->model->opt.timestep;
  double *restrict force = s->force, *restrict inertia = s->inertia;
  for (int i = 0; i < n; i++) {
    force[i] = passive[i] + actuator[i] - bias[i] + (servoed[i] ? 0 : applied[i]);
    inertia[i] = mass[row[i]] + timestep * damping[i];
  }
  s->dense = false;
  limit_accelerations(p, start, n);
}

/* The limit acts on its joint with this sign. */
static double limit_side(const tt_physics *p, int row) {
  const mjData *d = p->data;
  const int dof = p->model->jnt_dofadr[d->efc_id[row]];
  return mj_isSparse(p->model) ? d->efc_J[d->efc_J_rowadr[row]]
                               : d->efc_J[row * p->model->nv + dof];
}

/* What a limit adds to the torque that dof i of the tree needs: the force that MuJoCo's solver gives
 * the row at that acceleration, the other way round. */
static double limit_load(const tt_physics *p, int start, int i) {
  const mjData *d = p->data;
  const int row = p->servo->limit_row[start + i];
  if (row < 0) return 0;
  const double side = limit_side(p, row);
  return -side * d->efc_D[row] * fmax(0, d->efc_aref[row] - side * p->servo->accel[i]);
}

/* The torques with which servoed dofs move as planned although they lean on their limits; false,
 * with nothing changed, when one of them is too great. */
static bool bear_limits(tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  const int *servoed = s->servoed + start;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) continue;
    s->moving[i] += limit_load(p, start, i); /* the plan left there what the motion needs */
    if (fabs(s->moving[i]) > s->limit[start + i]) return false;
  }
  for (int i = 0; i < n; i++)
    if (servoed[i]) p->data->qfrc_applied[start + i] = s->moving[i];
  return true;
}

static void servo_tree(tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  /* The plan left the torques there. Each pass clamps at least one more axis. */
  while (apply_or_clamp(p, start, n, s->moving)) torques_at(p, start, n, 1, s->moving);
}

static void make_friction_stiff(tt_physics *p, int dof) {
  mjModel *m = p->model;
  double *old = p->servo->old_solver + (mjNREF + mjNIMP) * dof;
  double *reference = m->dof_solref + mjNREF * dof, *impedance = m->dof_solimp + mjNIMP * dof;
  memcpy(old, reference, sizeof(double) * mjNREF);
  memcpy(old + mjNREF, impedance, sizeof(double) * mjNIMP);
  physics_stiff(m, 1, reference, impedance);
}

static void restore_friction(tt_physics *p, int dof) {
  mjModel *m = p->model;
  const double *old = p->servo->old_solver + (mjNREF + mjNIMP) * dof;
  m->dof_frictionloss[dof] = p->servo->old_loss[dof];
  memcpy(m->dof_solref + mjNREF * dof, old, sizeof(double) * mjNREF);
  memcpy(m->dof_solimp + mjNIMP * dof, old + mjNREF, sizeof(double) * mjNIMP);
}

static void add_rows(tt_physics *p) {
  mjModel *m = p->model;
  mjData *d = p->data;
  physics_servo *s = p->servo;
  s->in_model = true;
  for (int i = 0; i < m->nv; i++) {
    if (!s->servoed[i]) continue;
    s->old_loss[i] = m->dof_frictionloss[i];
    m->dof_frictionloss[i] = s->limit[i];
    make_friction_stiff(p, i);
  }
  mj_makeConstraint(m, d);
  mj_projectConstraint(m, d);
  mj_referenceConstraint(m, d);
  for (int r = d->ne; r < d->ne + d->nf; r++) {
    int dof = d->efc_id[r];
    if (d->efc_type[r] != mjCNSTR_FRICTION_DOF || !s->servoed[dof]) continue;
    d->efc_aref[r] = s->wanted[dof];
  }
  s->rows = true;
}

/* What of a row's force is dry friction: against the motion, and to stand still as much as it bears. */
static double friction_of(const tt_physics *p, int dof, double force) {
  const double loss = p->servo->old_loss[dof], target = p->servo->target[dof];
  if (target == 0) return fmin(fmax(force, -loss), loss);
  const double velocity = p->data->qvel[dof];
  return -copysign(loss, fabs(velocity) > AT_REST ? velocity : target);
}

void physics_finish_drives(tt_physics *p) {
  const physics_fixed *f = p->fixed;
  const mjData *d = p->data;
  physics_servo *s = p->servo;
  if (s->rows) {
    for (int r = d->ne; r < d->ne + d->nf; r++) {
      int dof = d->efc_id[r];
      if (d->efc_type[r] != mjCNSTR_FRICTION_DOF || !s->servoed[dof]) continue;
      s->wanted[dof] = d->efc_force[r] - friction_of(p, dof, d->efc_force[r]);
      restore_friction(p, dof);
    }
    s->in_model = false;
  }
  for (int i = 0; i < f->info.axis_count; i++) {
    int dof = f->axis_dof[i];
    bool row = s->rows && s->servoed[dof];
    p->axis_torque[i] = row ? s->wanted[dof] : d->qfrc_applied[dof];
    p->axis_effort[i] = p->axis_torque[i] + d->qfrc_actuator[dof];
  }
}

bool physics_servos_are_rows(const tt_physics *p) { return p->servo->rows; }

void physics_servo_withdraw(tt_physics *p) {
  for (int i = 0; p->servo->in_model && i < p->model->nv; i++)
    if (p->servo->servoed[i]) restore_friction(p, i);
  p->servo->in_model = false;
}

static void touch_body(tt_physics *p, int body) {
  int moving = p->model->body_weldid[body], dof = p->model->body_dofadr[moving];
  if (dof >= 0) p->servo->touched[p->fixed->tree_start[dof]] = TOUCHED;
}

/* Only of a servoed axis that leans on one side is the limit's force known beforehand. */
static void touch_limit(tt_physics *p, int row) {
  physics_servo *s = p->servo;
  const mjModel *m = p->model;
  const int joint = p->data->efc_id[row], dof = m->jnt_dofadr[joint];
  int *touched = &s->touched[p->fixed->tree_start[dof]];
  if (m->jnt_type[joint] == mjJNT_BALL || !s->servoed[dof] || s->limit_row[dof] >= 0) {
    *touched = TOUCHED;
  } else {
    s->limit_row[dof] = row;
    if (*touched == TOUCHED_BY_NOTHING) *touched = TOUCHED_BY_LIMITS;
  }
}

static void touch_all(tt_physics *p) {
  for (int i = 0; i < p->model->nv; i++) p->servo->touched[i] = TOUCHED;
}

/* Marks the trees that contacts, limits, frictions or equalities act on: only there torques and
 * constraint forces depend on each other. */
static void find_touched(tt_physics *p) {
  const mjModel *m = p->model;
  const mjData *d = p->data;
  int *restrict touched = p->servo->touched, *restrict limit_row = p->servo->limit_row;
  for (int i = 0; i < m->nv; i++) {
    touched[i] = TOUCHED_BY_NOTHING;
    limit_row[i] = -1;
  }
  for (int i = 0; i < d->ncon; i++) {
    if (d->contact[i].efc_address < 0) continue;
    touch_body(p, m->geom_bodyid[d->contact[i].geom1]);
    touch_body(p, m->geom_bodyid[d->contact[i].geom2]);
  }
  for (int r = 0; r < d->nefc; r++) {
    int type = d->efc_type[r], id = d->efc_id[r];
    if (type == mjCNSTR_LIMIT_JOINT) {
      touch_limit(p, r);
    } else if (type == mjCNSTR_FRICTION_DOF) {
      touch_body(p, m->dof_bodyid[id]);
    } else if (type == mjCNSTR_EQUALITY &&
               (m->eq_type[id] == mjEQ_WELD || m->eq_type[id] == mjEQ_CONNECT)) {
      touch_body(p, m->eq_obj1id[id]);
      touch_body(p, m->eq_obj2id[id]);
    } else if (type == mjCNSTR_EQUALITY && m->eq_type[id] == mjEQ_JOINT) {
      touch_body(p, m->jnt_bodyid[m->eq_obj1id[id]]);
      if (m->eq_obj2id[id] >= 0) touch_body(p, m->jnt_bodyid[m->eq_obj2id[id]]);
    } else if (type == mjCNSTR_EQUALITY || type == mjCNSTR_LIMIT_TENDON ||
               type == mjCNSTR_FRICTION_TENDON) {
      touch_all(p);
      return;
    }
  }
}

/* Torques of a planned tree's servos, where they can be known before the constraints are solved. */
static bool solve_tree(tt_physics *p, int start, int n) {
  if (p->servo->touched[start] == TOUCHED) return false;
  if (p->servo->touched[start] == TOUCHED_BY_LIMITS) return bear_limits(p, start, n);
  servo_tree(p, start, n);
  return true;
}

/* What motor and dry friction can do together: on the way to a target friction takes its part of the torque, to stand
 * still they work together. A motor weaker than friction can't keep a target up: it pushes toward it, and friction
 * decides. */
static void set_servo(tt_physics *p, int dof, const tt_drive *drive) {
  physics_servo *s = p->servo;
  const double most = drive->max_torque, loss = p->model->dof_frictionloss[dof];
  s->target[dof] = drive->velocity;
  s->wanted[dof] = (drive->velocity - p->data->qvel[dof]) / p->fixed->timestep;
  s->limit[dof] = drive->velocity == 0 ? most + loss : most - loss;
  s->servoed[dof] = s->limit[dof] > 0;
  if (s->servoed[dof]) return;
  const double enough = p->data->qM[p->model->dof_Madr[dof]] * s->wanted[dof];
  p->data->qfrc_applied[dof] = fmin(fmax(enough, -most), most);
}

static bool any_servoed(const physics_servo *s, int start, int n) {
  for (int i = start; i < start + n; i++)
    if (s->servoed[i]) return true;
  return false;
}

void physics_apply_drives(tt_physics *p, const tt_drive *drives) {
  physics_servo *s = p->servo;
  const physics_fixed *f = p->fixed;
  mjData *d = p->data;
  bool any = false;
  s->rows = false;
  tt_drive limited;
  for (int i = 0; i < f->info.axis_count; i++) {
    const tt_drive *drive = &drives[i];
    if (f->limits_drives) {
      limited = physics_limit_drive(p, i, drive);
      drive = &limited;
    }
    int dof = f->axis_dof[i];
    d->qfrc_applied[dof] = drive->kind == TT_DRIVE_TORQUE ? drive->torque : 0;
    s->servoed[dof] = 0;
    if (drive->kind == TT_DRIVE_VELOCITY && drive->max_torque > 0) set_servo(p, dof, drive);
    any = any || s->servoed[dof];
  }
  bool rows = false;
  if (any) find_touched(p);
  for (int start = 0; any && start < p->model->nv; start += f->tree_size[start]) {
    const int n = f->tree_size[start];
    if (!any_servoed(s, start, n)) continue;
    plan_tree(p, start, n);
    if (!solve_tree(p, start, n)) {
      rows = true;
      continue;
    }
    memset(s->servoed + start, 0, sizeof(int) * (size_t)n);
  }
  if (rows) add_rows(p);
}

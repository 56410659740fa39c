/* servo.c: torques of driven axes.
 *
 * A velocity servo is not a stiff gain: before each step the torque that makes the axis have its
 * target velocity after the step is solved from the dynamics,
 *
 *   M a = f + c + τ,   M = mass matrix (+ timestep × damping, which Euler integrates implicitly)
 *
 * with a known for the servoed axes, τ zero for the others, f all known forces and c the constraint
 * forces of the last step (the best estimate of those of this one: contacts, limits, welds). All
 * servoed axes of a kinematic tree are solved together, so that they don't disturb each other. A
 * torque beyond its limit is clamped, becomes a known force, and the rest is solved again.
 */
#include "physics/physics_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct physics_servo {
  int *servoed;    /**< [nv] 1: acceleration given, torque wanted; 0: the other way round */
  double *wanted;  /**< [nv] acceleration of servoed axes */
  double *limit;   /**< [nv] */
  double *mass;    /**< [tree][tree] */
  double *factor;  /**< [free][free] Cholesky of the mass of what is not servoed */
  double *force;   /**< [tree] f + c + clamped torques */
  double *accel;   /**< [tree] */
  int *free_index; /**< [tree] */
  int *axis_of;    /**< [nv] axis of a dof, or −1 */
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
  s->wanted = calloc(nv, sizeof(double));
  s->limit = calloc(nv, sizeof(double));
  s->mass = calloc(tree * tree, sizeof(double));
  s->factor = calloc(tree * tree, sizeof(double));
  s->force = calloc(tree, sizeof(double));
  s->accel = calloc(tree, sizeof(double));
  s->free_index = calloc(tree, sizeof(int));
  s->axis_of = calloc(nv, sizeof(int));
  if (!s->servoed || !s->wanted || !s->limit || !s->mass || !s->factor || !s->force || !s->accel ||
      !s->free_index || !s->axis_of) {
    return TT_NOMEM;
  }
  for (int i = 0; i < p->model->nv; i++) s->axis_of[i] = -1;
  for (int i = 0; i < p->fixed->info.axis_count; i++) s->axis_of[p->fixed->axis_dof[i]] = i;
  return TT_OK;
}

void physics_servo_free(tt_physics *p) {
  physics_servo *s = p->servo;
  if (!s) return;
  void *owned[] = {s->servoed, s->wanted, s->limit,      s->mass, s->factor,
                   s->force,   s->accel,  s->free_index, s->axis_of, s};
  for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
  p->servo = NULL;
}

/* Dense mass matrix of the tree whose dofs are start … start + n − 1. */
static void tree_mass(const tt_physics *p, int start, int n) {
  const mjModel *m = p->model;
  double *mass = p->servo->mass;
  memset(mass, 0, sizeof(double) * (size_t)(n * n));
  for (int i = 0; i < n; i++) {
    int address = m->dof_Madr[start + i];
    for (int j = start + i; j >= 0; j = m->dof_parentid[j]) {
      double value = p->data->qM[address++];
      mass[i * n + j - start] = value;
      mass[(j - start) * n + i] = value;
    }
    mass[i * n + i] += m->opt.timestep * m->dof_damping[start + i];
  }
}

/* Accelerations of the dofs that are not servoed, given those of the servoed ones:
 * M_ff a_f = force_f − M_fs a_s. */
static void solve_free(physics_servo *s, const int *servoed, int n) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) s->free_index[k++] = i;
  }
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

/* Torques of the servoed dofs; clamps those beyond their limits and tells whether any was. */
static bool torques_or_clamp(tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  int *servoed = s->servoed + start;
  double *applied = p->data->qfrc_applied + start;
  bool clamped = false;
  for (int i = 0; i < n; i++) {
    if (!servoed[i]) continue;
    double torque = -s->force[i];
    for (int j = 0; j < n; j++) torque += s->mass[i * n + j] * s->accel[j];
    double limit = s->limit[start + i];
    applied[i] = fmin(fmax(torque, -limit), limit);
    if (applied[i] != torque) {
      servoed[i] = 0;
      s->force[i] += applied[i];
      clamped = true;
    }
  }
  return clamped;
}

static void servo_tree(tt_physics *p, int start, int n) {
  physics_servo *s = p->servo;
  const mjData *d = p->data;
  tree_mass(p, start, n);
  for (int i = 0; i < n; i++) {
    int dof = start + i;
    s->force[i] = d->qfrc_passive[dof] + d->qfrc_actuator[dof] - d->qfrc_bias[dof] +
                  d->qfrc_constraint[dof] + (s->servoed[dof] ? 0 : d->qfrc_applied[dof]);
  }
  /* Each pass clamps at least one more axis, so there are at most n + 1. */
  bool again = true;
  while (again) {
    for (int i = 0; i < n; i++) s->accel[i] = s->servoed[start + i] ? s->wanted[start + i] : 0;
    solve_free(s, s->servoed + start, n);
    again = torques_or_clamp(p, start, n);
  }
}

void physics_apply_drives(tt_physics *p, const tt_drive *drives) {
  physics_servo *s = p->servo;
  const physics_fixed *f = p->fixed;
  mjData *d = p->data;
  bool any = false;
  for (int i = 0; i < f->info.axis_count; i++) {
    const tt_drive *drive = &drives[i];
    int dof = f->axis_dof[i];
    bool servo = drive->kind == TT_DRIVE_VELOCITY;
    d->qfrc_applied[dof] = drive->kind == TT_DRIVE_TORQUE ? drive->torque : 0;
    s->servoed[dof] = servo;
    if (!servo) continue;
    any = true;
    s->wanted[dof] = (drive->velocity - d->qvel[dof]) / f->timestep;
    s->limit[dof] = drive->max_torque;
  }
  for (int start = 0; any && start < p->model->nv; start += f->tree_size[start]) {
    bool here = false;
    for (int i = start; i < start + f->tree_size[start]; i++) here = here || s->servoed[i];
    if (here) servo_tree(p, start, f->tree_size[start]);
  }
  for (int i = 0; i < f->info.axis_count; i++) {
    p->axis_torque[i] = d->qfrc_applied[f->axis_dof[i]];
    p->axis_effort[i] = p->axis_torque[i] + d->qfrc_actuator[f->axis_dof[i]];
  }
}

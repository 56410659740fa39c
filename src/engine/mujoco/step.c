/* step.c: one step of the dynamics.
 *
 * mj_step computes kinematics, then forces, then integrates, which leaves positions a step behind.
 * Here the same pieces run in the order forces → integrate → kinematics, so that everything that
 * depends on position or velocity is fresh between steps at no cost, with the same bits as mj_step.
 */
#include "engine/mujoco/physics_internal.h"

#include <string.h>

static void copy(double *target, const double *source, int count) {
  if (count > 0) memcpy(target, source, sizeof(double) * (size_t)count);
}

static void back_up(tt_physics *p) {
  const mjModel *m = p->model;
  const mjData *d = p->data;
  double *at = p->backup;
  copy(at, p->qpos, m->nq);
  copy(at += m->nq, d->qvel, m->nv);
  copy(at += m->nv, d->qacc_warmstart, m->nv);
  copy(at += m->nv, d->act, m->na);
  copy(at += m->na, d->mocap_pos, 3 * m->nmocap);
  copy(at + 3 * m->nmocap, d->mocap_quat, 4 * m->nmocap);
}

/* MuJoCo resets its data by itself when it diverges. */
static void take_back(tt_physics *p) {
  const mjModel *m = p->model;
  mjData *d = p->data;
  physics_reset_data(p);
  const double *at = p->backup;
  copy(p->qpos, at, m->nq);
  copy(d->qvel, at += m->nq, m->nv);
  copy(d->qacc_warmstart, at += m->nv, m->nv);
  copy(d->act, at += m->nv, m->na);
  copy(d->mocap_pos, at += m->na, 3 * m->nmocap);
  copy(d->mocap_quat, at + 3 * m->nmocap, 4 * m->nmocap);
  physics_capture_clear(p);
  physics_refresh(p);
}

/* Four sums, so that none waits for the one before. */
static bool all_finite(const double *numbers, int count) {
  double a = 0, b = 0, c = 0, d = 0;
  int i = 0;
  for (; i + 4 <= count; i += 4) {
    a += numbers[i] * 0;
    b += numbers[i + 1] * 0;
    c += numbers[i + 2] * 0;
    d += numbers[i + 3] * 0;
  }
  for (; i < count; i++) a += numbers[i] * 0;
  return a + b + c + d == 0;
}

/* Why the world diverged in this step, or NULL. `element` is the index that was bad, or −1. */
static const char *divergence(const tt_physics *p, bool backwards, int *element) {
  static const struct {
    mjtWarning warning;
    const char *text;
  } BAD[] = {{mjWARN_INERTIA, "its inertia matrix became singular"},
             {mjWARN_BADQPOS, "a position became huge or not a number"},
             {mjWARN_BADQVEL, "a velocity became huge or not a number"},
             {mjWARN_BADQACC, "an acceleration became huge or not a number"},
             {mjWARN_BADCTRL, "a control was huge or not a number"}};
  const mjModel *m = p->model;
  const mjData *d = p->data;
  for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
    if (d->warning[BAD[i].warning].number > 0) {
      *element = d->warning[BAD[i].warning].lastinfo;
      return BAD[i].text;
    }
  }
  *element = -1;
  if (backwards) return "time ran backwards";
  bool finite = all_finite(d->qpos, m->nq) && all_finite(d->qvel, m->nv) &&
                all_finite(d->qacc, m->nv) && all_finite(d->act, m->na);
  return finite ? NULL : "a number became not finite";
}

/* The joint that owns degree of freedom (or coordinate) `index`, for the message. */
static const char *owner(const tt_physics *p, int index) {
  const mjModel *m = p->model;
  int found = -1;
  for (int j = 0; j < m->njnt && index >= 0; j++) {
    if (m->jnt_dofadr[j] <= index) found = j;
  }
  return found >= 0 ? p->fixed->info.joints[found].name : "the world";
}

static void solve(tt_physics *p) {
  mj_fwdAcceleration(p->model, p->data);
  mj_fwdConstraint(p->model, p->data);
  physics_finish_drives(p);
}

/* The intermediate stages of Runge and Kutta make their own constraints: the servos' torques, once
 * found, act as plain forces there. */
static void turn_rows_into_forces(tt_physics *p) {
  mjData *d = p->data;
  for (int i = 0; i < p->fixed->info.axis_count; i++) {
    d->qfrc_applied[p->fixed->axis_dof[i]] = p->axis_torque[i];
  }
  mj_makeConstraint(p->model, d);
  mj_projectConstraint(p->model, d);
  mj_referenceConstraint(p->model, d);
  mj_fwdAcceleration(p->model, d);
  mj_fwdConstraint(p->model, d);
}

/* The implicit integrator is reachable through mj_step2 alone; what is captured after it needs the
 * velocities of before. */
static void step_implicitly(tt_physics *p, bool capture) {
  const mjModel *m = p->model;
  mjData *d = p->data;
  mj_step2(m, d);
  physics_finish_drives(p);
  if (!capture) return;
  int mark = d->pstack;
  double *after = mj_stackAlloc(d, m->nv);
  copy(after, d->qvel, m->nv);
  copy(d->qvel, p->backup + m->nq, m->nv);
  physics_capture(p);
  copy(d->qvel, after, m->nv);
  d->pstack = mark;
}

static void solve_and_integrate(tt_physics *p, const tt_drive *drives, bool capture) {
  const mjModel *m = p->model;
  mjData *d = p->data;
  mj_fwdActuation(m, d);
  physics_apply_drives(p, drives);
  physics_park_pin(p);
  if (m->opt.integrator == mjINT_IMPLICIT) {
    step_implicitly(p, capture);
    return;
  }
  solve(p);
  if (m->opt.integrator == mjINT_RK4 && physics_servos_are_rows(p)) turn_rows_into_forces(p);
  mj_sensorAcc(m, d);
  mj_checkAcc(m, d);
  if (capture) physics_capture(p);
  if (m->opt.integrator == mjINT_RK4) {
    mj_RungeKutta(m, d, 4);
  } else {
    mj_Euler(m, d);
  }
}

tt_status tt_physics_step(tt_physics *p, const tt_drive *drives, const double *controls, bool last,
                          tt_error *error) {
  mjData *d = p->data;
  const double time_before = d->time;
  back_up(p);
  if (p->model->nu) copy(d->ctrl, controls, p->model->nu);
  solve_and_integrate(p, drives, last || physics_parks_soon(p));
  const bool backwards = d->time < time_before;
  p->step++;
  physics_set_time(p);
  physics_kinematics(p);
  int element;
  const char *reason = divergence(p, backwards, &element);
  if (reason) {
    p->step--;
    take_back(p);
    return tt_fail(error, TT_DIVERGED,
                   "step %lld: the simulation diverged: %s (near '%s'); a smaller timestep, "
                   "smaller forces or softer contacts may help",
                   (long long)p->step, reason, owner(p, element));
  }
  physics_park_step(p);
  return TT_OK;
}

const double *tt_physics_axis_velocity(const tt_physics *p) { return p->axis_velocity; }
const double *tt_physics_axis_position(const tt_physics *p) { return p->axis_position; }
const double *tt_physics_axis_torque(const tt_physics *p) { return p->axis_torque; }

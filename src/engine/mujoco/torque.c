/* torque.c: the limits of each joint: what the model and the robot's file say; of the torque, else, a documented estimate. */
#include "base/nearest.h"
#include "engine/mujoco/physics_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Distance of a point of the joint's body from the joint's axis (hinge) or anchor (ball). */
static double distance_from_axis(const mjModel *m, int joint, const double point[3]) {
  double r[3], along[3];
  mju_sub3(r, point, m->jnt_pos + 3 * joint);
  if (m->jnt_type[joint] == mjJNT_HINGE) {
    mju_scl3(along, m->jnt_axis + 3 * joint, mju_dot3(r, m->jnt_axis + 3 * joint));
    mju_subFrom3(r, along);
  }
  return mju_norm3(r);
}

/* Bound of the distance of a body's centre of mass from a joint's axis, in any pose of the joints
 * between: the distances along the chain add up at most (triangle inequality), and a slide may add
 * its whole range. */
static double farthest_reach(const mjModel *m, int joint, int body) {
  double reach = 0;
  const double *point = m->body_ipos + 3 * body;
  for (int b = body; b != m->jnt_bodyid[joint]; b = m->body_parentid[b]) {
    reach += mju_norm3(point);
    for (int j = m->body_jntadr[b]; j >= 0 && j < m->body_jntadr[b] + m->body_jntnum[b]; j++) {
      if (m->jnt_type[j] != mjJNT_SLIDE || !m->jnt_limited[j]) continue;
      reach += fmax(fabs(m->jnt_range[2 * j]), fabs(m->jnt_range[2 * j + 1]));
    }
    point = m->body_pos + 3 * b;
  }
  return reach + distance_from_axis(m, joint, point);
}

static bool below(const mjModel *m, int body, int ancestor) {
  while (body > ancestor) body = m->body_parentid[body];
  return body == ancestor;
}

/* What a joint must carry: 2 × the weight of all it moves at its farthest reach, plus what gives
 * its greatest inertia 50 rad/s², or 1.5 g at its farthest end if that is less, so that the joints
 * beyond, made by the same rule, can bear it. A slide: 2 × the weight, plus 20 m/s². A joint whose load is
 * balanced (a wheel) of a robot that moves as a whole gets at least a quarter of the robot's weight
 * at the radius of its geometry, so that it can drive it. */
static double default_torque(const mjModel *m, int joint) {
  const double g = fmax(mju_norm3(m->opt.gravity), 1.0);
  int body = m->jnt_bodyid[joint];
  double weight_torque = 0, farthest = 0, inertia = m->dof_armature[m->jnt_dofadr[joint]], mass = 0;
  for (int b = body; b < m->nbody; b++) {
    if (!below(m, b, body)) continue;
    double reach = farthest_reach(m, joint, b);
    farthest = fmax(farthest, reach);
    mass += m->body_mass[b];
    weight_torque += m->body_mass[b] * g * reach;
    inertia +=
        m->body_mass[b] * reach * reach +
        fmax(m->body_inertia[3 * b], fmax(m->body_inertia[3 * b + 1], m->body_inertia[3 * b + 2]));
  }
  if (m->jnt_type[joint] == mjJNT_SLIDE) return fmax(2 * mass * g + 20 * mass, 1e-3);
  double torque = 2 * weight_torque + fmin(50, 1.5 * g / fmax(farthest, 1e-3)) * inertia;
  double radius = 0;
  for (int i = m->body_geomadr[body]; i < m->body_geomadr[body] + m->body_geomnum[body]; i++) {
    if (i >= 0) radius = fmax(radius, m->geom_rbound[i]);
  }
  int root = m->body_rootid[body];
  bool mobile = m->body_dofnum[root] > 0 && root != body;
  if (mobile && weight_torque < 0.1 * mass * g * radius) {
    torque += 0.25 * m->body_subtreemass[root] * g * radius;
  }
  return fmax(torque, 1e-3);
}

/* Greatest force that one of the model's own actuators can put on a joint, or 0. */
static double actuator_limit(const mjModel *m, int actuator) {
  double gear = fabs(m->actuator_gear[6 * actuator]);
  if (m->actuator_forcelimited[actuator]) {
    return gear * fmax(fabs(m->actuator_forcerange[2 * actuator]),
                       fabs(m->actuator_forcerange[2 * actuator + 1]));
  }
  bool motor = m->actuator_gaintype[actuator] == mjGAIN_FIXED &&
               m->actuator_biastype[actuator] == mjBIAS_NONE;
  if (!motor || !m->actuator_ctrllimited[actuator]) return 0;
  return gear * fabs(m->actuator_gainprm[mjNGAIN * actuator]) *
         fmax(fabs(m->actuator_ctrlrange[2 * actuator]),
              fabs(m->actuator_ctrlrange[2 * actuator + 1]));
}

/* As composing noted them in the model: torque and velocity; zeros when the joint's file stated none. */
static const double *stated_limits(const mjModel *m, const char *joint) {
  static const double NONE[2] = {0, 0};
  char name[1024];
  if (!joint) return NONE;
  snprintf(name, sizeof name, TT_LIMIT_PREFIX "%s", joint);
  int numeric = mj_name2id(m, mjOBJ_NUMERIC, name);
  return numeric >= 0 ? m->numeric_data + m->numeric_adr[numeric] : NONE;
}

static double limit_or_none(double stated) { return stated > 0 ? stated : INFINITY; }

void physics_joint_limits(const mjModel *m, tt_joint *joints) {
  for (int j = 0; j < m->njnt; j++) {
    joints[j].max_torque = 1;
    joints[j].torque_limit = joints[j].velocity_limit = INFINITY;
    if (m->jnt_type[j] == mjJNT_FREE) continue;
    double limit = 0;
    for (int a = 0; a < m->nu; a++) {
      bool here = (m->actuator_trntype[a] == mjTRN_JOINT ||
                   m->actuator_trntype[a] == mjTRN_JOINTINPARENT) &&
                  m->actuator_trnid[2 * a] == j;
      if (here) limit = fmax(limit, actuator_limit(m, a));
    }
    const double *stated = stated_limits(m, mj_id2name(m, mjOBJ_JOINT, j));
    if (limit <= 0) limit = stated[0];
    if (!(limit > 0) || !isfinite(limit)) limit = default_torque(m, j);
    joints[j].max_torque = fmin(limit, TT_COMMAND_LIMIT);
    joints[j].torque_limit = limit_or_none(stated[0]);
    joints[j].velocity_limit = limit_or_none(stated[1]);
  }
}

/* Who states a torque in the robot's file knows better than the URDF. */
static void set_limits(tt_joint *joint, const tt_engine_joint *from) {
  if (from->max_torque > 0) joint->max_torque = fmin(from->max_torque, TT_COMMAND_LIMIT);
  if (from->max_torque > 0 && isfinite(joint->torque_limit))
    joint->torque_limit = joint->max_torque;
  if (from->max_velocity > 0) joint->velocity_limit = from->max_velocity;
}

static tt_status check_units(const tt_joint *joint, const tt_engine_joint *from, tt_error *error) {
  const bool slide = joint->kind == TT_SLIDE;
  if (from->torque_dimension == (slide ? TT_TORQUE : TT_FORCE))
    return tt_fail(error, TT_INVALID, "%s.max_torque: '%s' %s", from->where, from->name,
                   slide ? "is a slide; give a force (N, lbf)"
                         : "is no slide; give a torque (N·m, in·lbf, …)");
  if (from->velocity_dimension == (slide ? TT_ANGULAR_VELOCITY : TT_VELOCITY))
    return tt_fail(error, TT_INVALID, "%s.max_velocity: '%s' %s", from->where, from->name,
                   slide ? "is a slide; give a velocity (m/s, ft/s)"
                         : "is no slide; give an angular velocity (rad/s, rpm, …)");
  return TT_OK;
}

tt_status tt_physics_limit_joint(tt_physics *physics, int robot, const tt_engine_joint *from,
                                 tt_error *error) {
  const tt_mechanism *info = &physics->fixed->info;
  tt_joint *joints = (tt_joint *)info->joints; /* ours: describe.c made them */
  tt_nearest nearest = tt_nearest_start(from->name);
  size_t prefix = info->robot_count > 1 ? strlen(info->robots[robot].name) + 1 : 0;
  for (int j = 0; j < info->joint_count; j++) {
    if (joints[j].robot != robot || joints[j].axis < 0) continue;
    const char *own = joints[j].name + prefix;
    if (!strcmp(own, from->name)) {
      TT_TRY(check_units(&joints[j], from, error));
      set_limits(&joints[j], from);
      physics_note_limits(physics->fixed);
      return TT_OK;
    }
    tt_nearest_offer(&nearest, own);
  }
  return tt_fail(error, TT_INVALID, "%s: the model has no joint '%s'%s", from->where, from->name,
                 tt_nearest_hint(&nearest));
}

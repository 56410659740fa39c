/* limits.c: what a joint's own limits leave of a drive, whoever asks for it. */
#include "engine/mujoco/physics_internal.h"

#include <math.h>

#define NEAR 4      /* times what a torque is estimated to change of a velocity in a step */
#define BEYOND 1e-6 /* part of the velocity limit: rounding is not beyond it */

void physics_note_limits(physics_fixed *fixed) {
  const tt_mechanism *info = &fixed->info;
  for (int j = 0; j < info->joint_count; j++)
    fixed->limits_drives = fixed->limits_drives || isfinite(info->joints[j].torque_limit) ||
                           isfinite(info->joints[j].velocity_limit);
}

/* A torque that would carry its axis past the limit in this step becomes a servo to the limit, which needs no more. Where
 * something else made the axis faster than that, a torque in the same direction gives nothing; it does not brake. */
static tt_drive limit_torque(const tt_physics *p, int axis, tt_drive drive, double most) {
  const mjModel *m = p->model;
  const int dof = p->fixed->axis_dof[axis];
  const double sign = copysign(1, drive.torque), torque = fabs(drive.torque);
  const double along = sign * p->data->qvel[dof];
  const double gain = NEAR * m->opt.timestep * torque * m->dof_invweight0[dof];
  if (along + gain < most) return drive;
  if (along > most * (1 + BEYOND)) return (tt_drive){.kind = TT_DRIVE_TORQUE};
  return (tt_drive){.kind = TT_DRIVE_VELOCITY, .velocity = sign * most, .max_torque = torque};
}

static double clamp(double value, double most) { return fmin(fmax(value, -most), most); }

tt_drive physics_limit_drive(const tt_physics *p, int axis, const tt_drive *asked) {
  const tt_joint *joint = &p->fixed->info.joints[p->fixed->info.axis_joint[axis]];
  tt_drive drive = *asked;
  drive.torque = clamp(drive.torque, joint->torque_limit);
  drive.velocity = clamp(drive.velocity, joint->velocity_limit);
  drive.max_torque = fmin(drive.max_torque, joint->torque_limit);
  if (drive.kind != TT_DRIVE_TORQUE || drive.torque == 0 || isinf(joint->velocity_limit))
    return drive;
  return limit_torque(p, axis, drive, joint->velocity_limit);
}

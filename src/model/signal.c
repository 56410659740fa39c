#include "model/signal.h"

#include <math.h>

/* Third column of a rotation matrix, the body's z axis in the world, from a unit quaternion w x y z. */
static double spin_about_own_z(const double q[4], const double w[3]) {
  double zx = 2 * (q[1] * q[3] + q[0] * q[2]);
  double zy = 2 * (q[2] * q[3] - q[0] * q[1]);
  double zz = 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
  return zx * w[0] + zy * w[1] + zz * w[2];
}

static double heading(const double q[4]) {
  return atan2(2 * (q[1] * q[2] + q[0] * q[3]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
}

double tt_signal_read(const tt_signal *signal, const tt_view *view) {
  int i = signal->index;
  int k = signal->component;
  switch (signal->source) {
    case TT_SIGNAL_TIME: return view->time;
    case TT_SIGNAL_STEP: return (double)view->step;
    case TT_SIGNAL_MATCH_TIME: return view->match_time;
    case TT_SIGNAL_REAL_TIME_FACTOR: return view->real_time_factor;
    case TT_SIGNAL_BODY_POSITION: return view->body_position[i][k];
    case TT_SIGNAL_BODY_ROTATION: return view->body_rotation[i][k];
    case TT_SIGNAL_BODY_HEADING: return heading(view->body_rotation[i]);
    case TT_SIGNAL_BODY_YAW_RATE:
      return spin_about_own_z(view->body_rotation[i], view->body_spin[i]);
    case TT_SIGNAL_BODY_VELOCITY: return view->body_velocity[i][k];
    case TT_SIGNAL_BODY_SPIN: return view->body_spin[i][k];
    case TT_SIGNAL_JOINT_POSITION: return view->joint_position[i];
    case TT_SIGNAL_JOINT_VELOCITY: return view->joint_velocity[i];
    case TT_SIGNAL_JOINT_TORQUE: return view->joint_torque[i];
    case TT_SIGNAL_CHANNEL: return view->channels[i];
    case TT_SIGNAL_COMMAND: return view->commands[i];
  }
  return 0;
}

double *tt_signal_place(const tt_signal *signal, tt_view *view) {
  int i = signal->index, k = signal->component;
  switch (signal->source) {
    case TT_SIGNAL_MATCH_TIME: return &view->match_time;
    case TT_SIGNAL_REAL_TIME_FACTOR: return &view->real_time_factor;
    case TT_SIGNAL_BODY_POSITION: return &view->body_position[i][k];
    case TT_SIGNAL_BODY_ROTATION: return &view->body_rotation[i][k];
    case TT_SIGNAL_BODY_VELOCITY: return &view->body_velocity[i][k];
    case TT_SIGNAL_BODY_SPIN: return &view->body_spin[i][k];
    case TT_SIGNAL_JOINT_POSITION: return &view->joint_position[i];
    case TT_SIGNAL_JOINT_VELOCITY: return &view->joint_velocity[i];
    case TT_SIGNAL_JOINT_TORQUE: return &view->joint_torque[i];
    case TT_SIGNAL_CHANNEL: return &view->channels[i];
    case TT_SIGNAL_COMMAND: return &view->commands[i];
    case TT_SIGNAL_TIME:
    case TT_SIGNAL_STEP:
    case TT_SIGNAL_BODY_HEADING:
    case TT_SIGNAL_BODY_YAW_RATE: return NULL;
  }
  return NULL;
}

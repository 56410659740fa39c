#include "model/kinematics.h"

#include <math.h>
#include <string.h>

static void multiply(double to[4], const double a[4], const double b[4]) {
  const double product[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                             a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                             a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                             a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
  memcpy(to, product, sizeof product);
}

static void cross(double to[3], const double a[3], const double b[3]) {
  const double product[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                             a[0] * b[1] - a[1] * b[0]};
  memcpy(to, product, sizeof product);
}

static void add(double to[3], const double what[3], double factor) {
  for (int k = 0; k < 3; k++) to[k] += factor * what[k];
}

/* `vector` turned by the unit quaternion `by`. */
static void turn(double to[3], const double by[4], const double vector[3]) {
  double twice[3], across[3];
  cross(twice, by + 1, vector);
  for (int k = 0; k < 3; k++) twice[k] *= 2;
  cross(across, by + 1, twice);
  for (int k = 0; k < 3; k++) to[k] = vector[k] + by[0] * twice[k] + across[k];
}

/* A joint that acts on a body, in the world, with the position that its own motion leads to. */
typedef struct motion {
  double anchor[3], direction[3], velocity;
  bool slides;
} motion;

/* Turns or shifts the body's pose by the joint's position. */
static motion move(const tt_joint *joint, tt_view *view, double position[3], double rotation[4]) {
  double by = view->joint_position[joint->axis] - joint->reference;
  motion made = {.velocity = view->joint_velocity[joint->axis], .slides = joint->kind == TT_SLIDE};
  double arm[3];
  turn(made.direction, rotation, joint->direction);
  turn(arm, rotation, joint->anchor);
  memcpy(made.anchor, position, sizeof made.anchor);
  add(made.anchor, arm, 1);
  if (made.slides) {
    add(position, made.direction, by);
    return made;
  }
  double angle[4] = {cos(by / 2)};
  for (int k = 0; k < 3; k++) angle[k + 1] = sin(by / 2) * joint->direction[k];
  multiply(rotation, rotation, angle);
  turn(arm, rotation, joint->anchor);
  memcpy(position, made.anchor, sizeof made.anchor);
  add(position, arm, -1);
  return made;
}

/* The parent's motion carried to the body's origin, and the joint's own. */
static void add_motion(const motion *of, const double position[3], double velocity[3],
                       double spin[3]) {
  double arm[3], across[3];
  if (of->slides) {
    add(velocity, of->direction, of->velocity);
    return;
  }
  memcpy(arm, position, sizeof arm);
  add(arm, of->anchor, -1);
  cross(across, of->direction, arm);
  add(velocity, across, of->velocity);
  add(spin, of->direction, of->velocity);
}

#define MOST_JOINTS 6 /* of one body that mean anything */

static void place(const tt_model *model, tt_view *view, int body, int joint) {
  const tt_body *of = &model->bodies[body];
  double *position = view->body_position[body], *rotation = view->body_rotation[body];
  double *velocity = view->body_velocity[body], *spin = view->body_spin[body];
  motion motions[MOST_JOINTS];
  double arm[3], across[3];
  int count = 0;
  turn(arm, view->body_rotation[of->parent], of->position);
  memcpy(position, view->body_position[of->parent], 3 * sizeof *position);
  add(position, arm, 1);
  multiply(rotation, view->body_rotation[of->parent], of->rotation);
  for (; joint < model->joint_count && model->joints[joint].body == body && count < MOST_JOINTS;
       joint++)
    motions[count++] = move(&model->joints[joint], view, position, rotation);
  memcpy(spin, view->body_spin[of->parent], 3 * sizeof *spin);
  memcpy(velocity, view->body_velocity[of->parent], 3 * sizeof *velocity);
  memcpy(arm, position, sizeof arm);
  add(arm, view->body_position[of->parent], -1);
  cross(across, spin, arm);
  add(velocity, across, 1);
  for (int i = 0; i < count; i++) add_motion(&motions[i], position, velocity, spin);
}

/* Parents stand before their children, joints in the order of their bodies. */
void tt_kinematics(tt_view *view) {
  const tt_model *model = view->model;
  int joint = 0;
  view->body_rotation[0][0] = 1;
  for (int b = 1; b < model->body_count; b++) {
    while (joint < model->joint_count && model->joints[joint].body < b) joint++;
    if (!model->bodies[b].own) place(model, view, b, joint);
  }
}

/* physics_testing.h: what the tests of this room share. */
#ifndef TT_ENGINE_MUJOCO_PHYSICS_TESTING_H
#define TT_ENGINE_MUJOCO_PHYSICS_TESTING_H

#include "engine/mujoco/physics.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TUBES 12 /* on the field */
#define DATA TETHER_SOURCE_DIR "/src/engine/mujoco/testdata/"

/** cmocka compares floats; these are doubles. */
#define assert_close(a, b, tolerance)                                                              \
  do {                                                                                             \
    double a_ = (a), b_ = (b);                                                                     \
    if (!(fabs(a_ - b_) <= (tolerance))) fail_msg(#a " is %.12g, not " #b " = %.12g", a_, b_);     \
  } while (0)

/** Loads a world; fails the test with the loader's message. */
static inline tt_physics *load_spec(const tt_engine_spec *spec) {
  tt_physics *physics = NULL;
  tt_error error = {""};
  tt_status status = tt_physics_load(spec, &physics, &error);
  if (status != TT_OK) fail_msg("%s", error.text);
  return physics;
}

/** One robot in an arena (either NULL: none); to be freed. Fails the test. */
static inline tt_physics *load_robot(const char *file, const char *arena,
                                     int64_t steps_per_second) {
  tt_engine_robot robot = {.name = "robot", .model_file = file};
  tt_engine_spec spec = {.arena_file = arena,
                         .robots = &robot,
                         .robot_count = file ? 1 : 0,
                         .timestep_num = 1,
                         .timestep_den = steps_per_second};
  return load_spec(&spec);
}

/** Writes a URDF of a palm with fingers on the joints j1, j2, …, each with what `mimics` says of it, to a fresh file: `path` ends in
 *  XXXXXX.urdf. The caller removes it. */
static inline void write_hand(char *path, const char *const *mimics, int count) {
  FILE *f = fdopen(mkstemps(path, 5), "w");
  fputs("<robot name='hand'><link name='palm'/>", f);
  for (int i = 1; i <= count; i++)
    fprintf(f,
            "<link name='finger%d'><inertial><origin xyz='0 0 0.05'/><mass value='0.1'/>"
            "<inertia ixx='1e-4' iyy='1e-4' izz='1e-4' ixy='0' ixz='0' iyz='0'/></inertial></link>"
            "<joint name='j%d' type='continuous'><parent link='palm'/><child link='finger%d'/>"
            "<origin xyz='0 %d 0'/><axis xyz='1 0 0'/>%s</joint>",
            i, i, i, i, mimics[i - 1]);
  fputs("</robot>", f);
  fclose(f);
}

/** A field of tubes and a ball; up to two carts with grippers. `park`: these are pieces. */
static inline tt_physics *load_field(int robots, bool park, int64_t rate) {
  static char names[TUBES][8];
  static tt_engine_piece pieces[TUBES + 1];
  for (int i = 0; i < TUBES; i++) {
    snprintf(names[i], sizeof names[i], "tube%d", i + 1);
    pieces[i] = (tt_engine_piece){.body = names[i], .kind = 1 + i % 3};
  }
  pieces[TUBES] = (tt_engine_piece){.body = "ball", .kind = 4};
  static const tt_engine_gripper grippers[] = {{.name = "grip", .site = "grip", .reach = 0.3},
                                               {.name = "second", .site = "imu", .reach = 5}};
  tt_engine_robot carts[] = {
      {.name = "a", .model_file = DATA "cart.xml", .grippers = grippers, .gripper_count = 2},
      {.name = "b",
       .model_file = DATA "cart.xml",
       .y = 1.2,
       .grippers = grippers,
       .gripper_count = 2}};
  tt_engine_spec spec = {.arena_file = DATA "field.xml",
                         .robots = carts,
                         .robot_count = robots,
                         .pieces = pieces,
                         .piece_count = park ? TUBES + 1 : 0,
                         .contact_capacity = 256,
                         .timestep_num = 1,
                         .timestep_den = rate};
  return load_spec(&spec);
}

/** Index of the axis of the joint called `name`. */
static inline int axis_named(const tt_physics *physics, const char *name) {
  const tt_mechanism *info = tt_physics_describe(physics);
  for (int i = 0; i < info->joint_count; i++) {
    if (strcmp(info->joints[i].name, name) == 0) return info->joints[i].axis;
  }
  fail_msg("no joint %s", name);
  return -1;
}

/** Index of the body called `name`. Fails the test. */
static inline int body_named(const tt_physics *physics, const char *name) {
  const tt_mechanism *info = tt_physics_describe(physics);
  for (int i = 0; i < info->body_count; i++) {
    if (strcmp(info->bodies[i].name, name) == 0) return i;
  }
  fail_msg("no body %s", name);
  return -1;
}

/** Drives and controls of zeros, big enough for any test model. */
typedef struct inputs {
  tt_drive drives[256];
  double controls[64];
} inputs;

/** Makes `count` steps under these inputs. Fails the test. */
static inline void step(tt_physics *physics, const inputs *in, int count) {
  tt_error error = {""};
  for (int i = 0; i < count; i++) {
    tt_status status = tt_physics_step(physics, in->drives, in->controls, i == count - 1, &error);
    if (status != TT_OK) fail_msg("%s", error.text);
  }
}

/** A view of what physics knows, with room for `contacts`. */
static inline tt_view *view_of(const tt_physics *physics, tt_model *model, int contacts) {
  const tt_mechanism *info = tt_physics_describe(physics);
  *model = (tt_model){.bodies = info->bodies,
                      .joints = info->joints,
                      .axis_joint = info->axis_joint,
                      .channels = info->sensors,
                      .robots = info->robots,
                      .body_count = info->body_count,
                      .joint_count = info->joint_count,
                      .axis_count = info->axis_count,
                      .channel_count = info->sensor_count,
                      .robot_count = info->robot_count,
                      .contact_capacity = contacts};
  tt_view *view = tt_view_new(model);
  assert_non_null(view);
  tt_physics_view(physics, view);
  return view;
}

#endif

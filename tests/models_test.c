/* The models that come with Tether are what their files say: masses, signs, forces, and what they can do. */
#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define IN_LBF 0.1129848290276167 /* N·m in an in·lbf */
#define WHEEL 0.0762              /* m, radius */

/* cmocka compares floats; these are doubles. */
#define assert_close(a, b, tolerance)                                                              \
  do {                                                                                             \
    double a_ = (a), b_ = (b);                                                                     \
    if (!(fabs(a_ - b_) <= (tolerance))) fail_msg(#a " is %.9g, not " #b " = %.9g", a_, b_);       \
  } while (0)

/* A scene's engine, stepped directly: what drives it is in `drives`, one an axis. */
typedef struct stage {
  tt_scene *scene;
  tt_world *world;
  tt_engine *engine;
  tt_view *view;
  tt_drive drives[64];
  double controls[8];
  double rate; /* steps a second */
} stage;

static void open_stage(stage *on, const char *scene) {
  memset(on, 0, sizeof *on);
  tt_error error = {.text = ""};
  if (tt_scene_load(&tt_program_guests, scene, NULL, 0, &on->scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_assembly assembly = {.no_wires = true};
  if (tt_assemble(on->scene, &assembly, &on->world, &error) != TT_OK) fail_msg("%s", error.text);
  on->engine = tt_sim_engine(tt_world_sim(on->world));
  on->view = tt_view_new(tt_world_model(on->world));
  assert_non_null(on->view);
  on->rate = (double)on->scene->timestep_den / (double)on->scene->timestep_num;
}

static void close_stage(stage *on) {
  tt_view_free(on->view);
  tt_world_free(on->world);
  tt_scene_free(on->scene);
}

static void run(stage *on, double seconds) {
  int steps = (int)lround(seconds * on->rate);
  tt_error error = {.text = ""};
  for (int i = 0; i < steps; i++)
    if (tt_engine_step(on->engine, on->drives, on->controls, i == steps - 1, &error) != TT_OK)
      fail_msg("%s", error.text);
  tt_engine_view(on->engine, on->view);
}

static int axis(const stage *on, const char *joint) {
  const tt_model *model = tt_world_model(on->world);
  for (int i = 0; i < model->joint_count; i++)
    if (strcmp(model->joints[i].name, joint) == 0) return model->joints[i].axis;
  fail_msg("no joint %s", joint);
  return -1;
}

static int body(const stage *on, const char *name) {
  const tt_model *model = tt_world_model(on->world);
  for (int i = 0; i < model->body_count; i++)
    if (strcmp(model->bodies[i].name, name) == 0) return i;
  fail_msg("no body %s", name);
  return -1;
}

static const double *place_of(const stage *on, const char *name) {
  return on->view->body_position[body(on, name)];
}

static double position(const stage *on, const char *joint) {
  return tt_space_axis_position(&on->engine->space)[axis(on, joint)];
}

static void torque(stage *on, const char *joint, double value) {
  on->drives[axis(on, joint)] = (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value};
}

static void servo(stage *on, const char *joint, double velocity) {
  const tt_model *model = tt_world_model(on->world);
  int a = axis(on, joint);
  on->drives[a] = (tt_drive){.kind = TT_DRIVE_VELOCITY,
                             .velocity = velocity,
                             .max_torque = model->joints[model->axis_joint[a]].max_torque};
}

/* Puts joints where they shall begin, at rest. */
static void pose(stage *on, const char *joint, double angle) {
  tt_engine_place_axis(on->engine, axis(on, joint), angle);
  tt_engine_place_done(on->engine, 0, NULL);
}

static void hold(stage *on, const char *joint, double angle) {
  pose(on, joint, angle);
  servo(on, joint, 0);
}

/* ---- frc2011 ---- */

static double robot_mass(const stage *on) {
  const tt_model *model = tt_world_model(on->world);
  double mass = 0;
  for (int i = 0; i < model->body_count; i++)
    mass += model->bodies[i].robot == 0 ? model->bodies[i].mass : 0;
  return mass;
}

static void frc2011_weighs_120_pounds(void **state) {
  (void)state;
  static const char *const scenes[] = {"frc2011", "frc2011-motors", "concept-symmetric",
                                       "concept-turnaround"};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
    stage on;
    open_stage(&on, scenes[i]);
    assert_close(robot_mass(&on), 54.4, 0.05);
    close_stage(&on);
  }
}

/* Wheel inertia (0.012 kg·m² a side) and rolling resistance (0.4 N·m a side) as the model's file gives them. */
static void frc2011_accelerates_as_newton_says(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "frc2011");
  hold(&on, "arm", -1);
  hold(&on, "wrist", 0);
  run(&on, 0.5);
  double each = 50 * IN_LBF, before = on.view->body_velocity[body(&on, "chassis")][0];
  torque(&on, "left_wheel", each);
  torque(&on, "right_wheel", each);
  run(&on, 0.3);
  double gained = on.view->body_velocity[body(&on, "chassis")][0] - before;
  double force = 2 * (each - 0.4) / WHEEL, mass = robot_mass(&on) + 2 * 0.012 / (WHEEL * WHEEL);
  assert_close(gained / 0.3, force / mass, 0.05 * force / mass);
  close_stage(&on);
}

static void frc2011_turns_in_place_by_the_right_hand(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    stage on;
    open_stage(&on, "frc2011");
    hold(&on, "arm", -1);
    hold(&on, "wrist", 0);
    run(&on, 0.5);
    const double *at = place_of(&on, "chassis");
    double x = at[0], y = at[1];
    torque(&on, "left_wheel", -sign * 60 * IN_LBF);
    torque(&on, "right_wheel", sign * 60 * IN_LBF);
    run(&on, 0.4);
    assert_true(sign * on.view->body_spin[body(&on, "chassis")][2] > 1);
    at = place_of(&on, "chassis");
    assert_true(hypot(at[0] - x, at[1] - y) < 0.05);
    close_stage(&on);
  }
}

static void frc2011_arm_droops_and_positive_is_down(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "frc2011");
  run(&on, 0.1);
  double free = position(&on, "arm");
  assert_true(free > 0);
  pose(&on, "arm", 0);
  torque(&on, "arm", 10);
  run(&on, 0.1);
  assert_true(position(&on, "arm") > free);
  close_stage(&on);
}

static int piece_named(const stage *on, const char *name) { return body(on, name); }

/* Puts a piece beside the hand, upright as if lifted, and grips it. */
static void give_tube(stage *on, const char *name, int kind) {
  const double *hand = place_of(on, "hand");
  double side = sqrt(0.5),
         at[7] = {hand[0] + 0.25, hand[1], hand[2] - 0.26 - 0.05, side, 0, side, 0};
  tt_engine_place_body(on->engine, piece_named(on, name), at);
  tt_engine_place_done(on->engine, 0, NULL);
  assert_int_equal(tt_space_grip(&on->engine->space, 0, kind), piece_named(on, name));
}

static void frc2011_lifts_a_tube_with_250_inch_pounds(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "frc2011");
  hold(&on, "arm", 0.6);
  hold(&on, "wrist", 0);
  run(&on, 0.01);
  give_tube(&on, "circle3", 1);
  torque(&on, "arm", -250 * IN_LBF);
  run(&on, 0.7);
  assert_true(position(&on, "arm") < -0.2);
  close_stage(&on);
}

/* Where a ring's centre hangs below a peg's axis, with which side up (rad about its own axis). */
static void pieces_of_every_kind_rest_on_a_peg(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double below, turned;
  } kinds[] = {
      {"circle1", 0.16, 0}, {"triangle1", 0.09, 0}, {"square1", 0.17, 0}, {"special1", 0.17, 0}};
  stage on;
  open_stage(&on, "frc2011");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    /* Around the middle of four pegs' lengths; the rings' axes along x, a little beside the middle of each peg. */
    double side = sqrt(0.5), y[] = {1.9, 1.9 - 0.762, -1.9, -1.9 - 0.762};
    double axis_height = 1.70 + (i % 2 ? 0 : 0.20) + 0.2 * tan(15 * M_PI / 180);
    double at[7] = {8.13 - 0.2, y[i] + 0.01, axis_height - kinds[i].below, side, 0, side, 0};
    tt_engine_place_body(on.engine, body(&on, kinds[i].name), at);
  }
  tt_engine_place_done(on.engine, 0, NULL);
  run(&on, 3);
  double before[4][3];
  for (int i = 0; i < 4; i++) memcpy(before[i], place_of(&on, kinds[i].name), sizeof before[i]);
  run(&on, 2);
  for (int i = 0; i < 4; i++) {
    const double *now = place_of(&on, kinds[i].name);
    assert_true(now[2] > 1.4); /* it did not fall to the next row */
    for (int k = 0; k < 3; k++) assert_close(now[k], before[i][k], 0.003);
  }
  close_stage(&on);
}

/* ---- gripper ---- */

static const char *const arm_joints[] = {
    "swivel",       "base",         "middle",         "wrist",          "finger1_base",
    "finger2_base", "finger3_base", "finger1_middle", "finger2_middle", "finger3_middle"};
#define ARM_JOINTS 10

static void gripper_begins_straight_up(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "gripper");
  tt_engine_view(on.engine, on.view);
  for (int i = 0; i < ARM_JOINTS; i++)
    assert_close(position(&on, arm_joints[i]), i < 7 ? 0 : -0.1, 0);
  static const struct {
    const char *name;
    double x, y, z;
  } axes[] = {{"swivel", 0, 0, 0.25},
              {"upper_arm", 0, 0, 1.5},
              {"forearm", 0, 0, 4},
              {"hand", 0, 0, 6.5},
              {"finger1_base", 0.3, 0, 7},
              {"finger2_base", -0.15, 0.259807621135332, 7},
              {"finger3_base", -0.15, -0.259807621135332, 7},
              {"finger1_middle", 0.3, 0, 7.5}};
  for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
    const double *at = place_of(&on, axes[i].name);
    assert_close(at[0], axes[i].x, 1e-5);
    assert_close(at[1], axes[i].y, 1e-5);
    assert_close(at[2], axes[i].z, 1e-5);
  }
  close_stage(&on);
}

/* From stretched out level to folded; fingers between their ends. Nothing touches anything. */
static const double poses[][ARM_JOINTS] = {
    {0, 0, 0, 0, 0.5, 0.5, 0.5, -0.5, -0.5, -0.5},
    {0.5, 1.45, 0, 0, 0.5, 0.5, 0.5, -0.5, -0.5, -0.5},
    {-2, -1.2, -0.3, -0.4, 0.8, 0.4, 0.6, -0.45, -0.55, -0.65},
    {3, 0.5, 1.5, 1, 0.5, 0.5, 0.5, -0.5, -0.5, -0.5},
};

static void follow_alone(stage *on, const double *from, int moving, double velocity) {
  for (int i = 0; i < ARM_JOINTS; i++) hold(on, arm_joints[i], from[i]);
  tt_engine_place_done(on->engine, 0, NULL);
  run(on, 0.05);
  servo(on, arm_joints[moving], velocity);
  run(on, 0.1);
  for (int i = 0; i < 10; i++) {
    run(on, 0.02);
    double speed = tt_space_axis_velocity(&on->engine->space)[axis(on, arm_joints[moving])];
    if (fabs(speed - velocity) > 0.05)
      fail_msg("%s at pose %g %g goes at %g, not %g", arm_joints[moving], from[0], from[1], speed,
               velocity);
  }
  for (int i = 0; i < ARM_JOINTS; i++)
    if (i != moving) assert_close(position(on, arm_joints[i]), from[i], 0.02);
}

static void gripper_joints_follow_alone_in_any_pose(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "gripper");
  for (size_t p = 0; p < sizeof poses / sizeof *poses; p++)
    for (int joint = 0; joint < ARM_JOINTS; joint++)
      for (int sign = -1; sign <= 1; sign += 2) {
        tt_engine_reset(on.engine);
        memset(on.drives, 0, sizeof on.drives);
        follow_alone(&on, poses[p], joint, sign);
      }
  close_stage(&on);
}

/* ---- sharp ---- */

static void sharp_reaches_its_speed(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "sharp");
  tt_engine_place_robot(on.engine, 0, 0, -6, M_PI / 2);
  tt_engine_place_done(on.engine, 0, NULL);
  servo(&on, "elevator", 0);
  on.drives[axis(&on, "left_drive")] = on.drives[axis(&on, "right_drive")] =
      (tt_drive){.kind = TT_DRIVE_VELOCITY, .velocity = 833 * 2 * M_PI / 60, .max_torque = 10};
  run(&on, 1.7);
  assert_close(on.view->body_velocity[body(&on, "chassis")][1], 6.65, 0.05);
  close_stage(&on);
}

static void sharp_lifts_a_crate(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "sharp");
  tt_engine_place_robot(on.engine, 0, -3.3, -5, M_PI / 2);
  tt_engine_place_done(on.engine, 0, NULL);
  run(&on, 0.2);
  double start = place_of(&on, "crate1")[2];
  servo(&on, "elevator", 0);
  servo(&on, "left_drive", 6);
  servo(&on, "right_drive", 6);
  run(&on, 2.8); /* the crate is 1.8 m ahead, the fork reaches 0.68 m */
  servo(&on, "left_drive", 0);
  servo(&on, "right_drive", 0);
  servo(&on, "elevator", 0.2);
  run(&on, 2);
  servo(&on, "elevator", 0);
  run(&on, 0.5);
  assert_true(place_of(&on, "crate1")[2] > start + 0.25);
  close_stage(&on);
}

/* Full speed straight ahead, from the start to the other alliance's half. */
static void drive_across(const char *scene, const char *const *robots, int count, double way) {
  stage on;
  open_stage(&on, scene);
  run(&on, 0.1);
  double from[3][2];
  for (int i = 0; i < count; i++) {
    char joint[64];
    for (int side = 0; side < 2; side++) {
      snprintf(joint, sizeof joint, "%s%s_drive", robots[i], side ? "right" : "left");
      servo(&on, joint, 60);
    }
    snprintf(joint, sizeof joint, "%schassis", robots[i]);
    memcpy(from[i], place_of(&on, joint), sizeof from[i]);
  }
  run(&on, way / 4.57 + 1);
  for (int i = 0; i < count; i++) {
    char chassis[64];
    snprintf(chassis, sizeof chassis, "%schassis", robots[i]);
    const double *at = place_of(&on, chassis);
    assert_close(at[0], from[i][0], 0.1);
    if (fabs(at[1] - from[i][1]) < way)
      fail_msg("%s: %s comes %g m far", scene, chassis, fabs(at[1] - from[i][1]));
  }
  close_stage(&on);
}

static void sharp_field_is_empty_ahead_of_every_start(void **state) {
  (void)state;
  static const char *const alone[] = {""}, *const red[] = {"red1/", "red2/", "red3/"},
                           *const blue[] = {"blue1/", "blue2/", "blue3/"};
  drive_across("sharp", alone, 1, 12);
  drive_across("sharp-six", red, 3, 8);
  drive_across("sharp-six", blue, 3, 8);
}

/* From the first view on, while it settles. */
static void sharp_encoders_read_zero_at_rest(void **state) {
  (void)state;
  static const char *const names[] = {"left_drive_encoder.ticks", "right_drive_encoder.ticks",
                                      "elevator_encoder.ticks"};
  stage on;
  open_stage(&on, "sharp");
  tt_error error = {.text = ""};
  tt_world_start(on.world);
  for (int tick = 0; tick < 100; tick++) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      tt_signal signal;
      if (tt_names_find_signal(tt_world_names(on.world), names[i], 0, "test", &signal, &error) !=
          TT_OK)
        fail_msg("%s", error.text);
      assert_close(tt_signal_read(&signal, tt_world_view(on.world)), 0, 0);
    }
    if (tt_world_tick(on.world, &error) != TT_OK) fail_msg("%s", error.text);
  }
  close_stage(&on);
}

/* ---- creature ---- */

static void creature_has_every_kind_of_joint(void **state) {
  (void)state;
  stage on;
  open_stage(&on, "ezphysics");
  const tt_model *model = tt_world_model(on.world);
  int kinds[4] = {0}, twins = 0;
  for (int i = 0; i < model->joint_count; i++) {
    kinds[model->joints[i].kind]++;
    twins += i > 0 && model->joints[i].kind == TT_HINGE && model->joints[i - 1].kind == TT_HINGE &&
             model->joints[i].body == model->joints[i - 1].body;
  }
  for (int i = 0; i < 4; i++) assert_true(kinds[i] > 0);
  assert_true(twins > 0);
  run(&on, 1);
  assert_true(on.view->contact_count > 0);
  close_stage(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(frc2011_weighs_120_pounds),
      cmocka_unit_test(frc2011_accelerates_as_newton_says),
      cmocka_unit_test(frc2011_turns_in_place_by_the_right_hand),
      cmocka_unit_test(frc2011_arm_droops_and_positive_is_down),
      cmocka_unit_test(frc2011_lifts_a_tube_with_250_inch_pounds),
      cmocka_unit_test(pieces_of_every_kind_rest_on_a_peg),
      cmocka_unit_test(gripper_begins_straight_up),
      cmocka_unit_test(gripper_joints_follow_alone_in_any_pose),
      cmocka_unit_test(sharp_reaches_its_speed),
      cmocka_unit_test(sharp_lifts_a_crate),
      cmocka_unit_test(sharp_field_is_empty_ahead_of_every_start),
      cmocka_unit_test(sharp_encoders_read_zero_at_rest),
      cmocka_unit_test(creature_has_every_kind_of_joint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

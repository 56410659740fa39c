/* Tests of the velocity servo: it follows in any pose, holds the others, keeps its limit, and does
 * not ring, at coarse and fine timesteps. */
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

static const char *const JOINTS[] = {
    "swivel",       "base",         "middle",         "wrist",          "finger1_base",
    "finger2_base", "finger3_base", "finger1_middle", "finger2_middle", "finger3_middle"};
enum { JOINT_COUNT = sizeof JOINTS / sizeof *JOINTS };

/* A pose in the middle of every range, or one stretched out sideways, where gravity pulls most. */
static const double POSES[2][JOINT_COUNT] = {
    {0.3, 0.4, -0.8, 0.5, 0.7, 0.7, 0.7, -0.55, -0.55, -0.55},
    {1.0, 1.1, 0.0, 0.0, 0.8, 0.8, 0.8, -0.55, -0.55, -0.55}};

static void set_pose(tt_physics *p, const double *pose) {
  tt_physics_reset(p);
  for (int i = 0; i < JOINT_COUNT; i++) {
    tt_physics_place_axis(p, axis_named(p, JOINTS[i]), pose[i]);
  }
  tt_physics_place_done(p, 0);
}

static void follow(tt_physics *p, int rate, const double *pose, int moving, double velocity) {
  set_pose(p, pose);
  const tt_mechanism *info = tt_physics_describe(p);
  inputs in = {0};
  double start[JOINT_COUNT];
  for (int i = 0; i < JOINT_COUNT; i++) {
    int axis = axis_named(p, JOINTS[i]);
    start[i] = tt_physics_axis_position(p)[axis];
    in.drives[axis] = (tt_drive){.kind = TT_DRIVE_VELOCITY,
                                 .velocity = i == moving ? velocity : 0,
                                 .max_torque = info->joints[info->axis_joint[axis]].max_torque};
  }
  int steps = rate * 2 / 5;
  double last = 0;
  int turns = 0;
  for (int n = 0; n < steps; n++) {
    step(p, &in, 1);
    for (int i = 0; i < JOINT_COUNT; i++) {
      int axis = axis_named(p, JOINTS[i]);
      double torque = tt_physics_axis_torque(p)[axis];
      assert_true(fabs(torque) <= in.drives[axis].max_torque);
      double v = tt_physics_axis_velocity(p)[axis], q = tt_physics_axis_position(p)[axis];
      if (i == moving) {
        turns += (v - last) * (velocity - last) < 0 && fabs(v - velocity) > 0.05;
        last = v;
        if (n > steps * 3 / 4 && fabs(v - velocity) > 0.05) {
          fail_msg("%s goes at %g, not %g, step %d at %d Hz", JOINTS[i], v, velocity, n, rate);
        }
      } else if (fabs(q - start[i]) > 0.02) {
        fail_msg("%s moves by %g while %s goes at %g, at %d Hz", JOINTS[i], q - start[i],
                 JOINTS[moving], velocity, rate);
      }
    }
  }
  assert_true(turns <= 1);
}

static void every_joint_follows_alone(void **state) {
  (void)state;
  static const int RATES[] = {600, 3000, 600};
  static const char *const FILES[] = {DATA "arm.xml", DATA "arm.xml",
                                      TETHER_SOURCE_DIR "/robots/gripper/robot.xml"};
  for (size_t r = 0; r < 3; r++) {
    tt_physics *p = load_robot(FILES[r], NULL, RATES[r]);
    /* Only the mild pose for the real arm: stretched out, it reaches the floor. */
    for (int pose = 0; pose < (r < 2 ? 2 : 1); pose++) {
      for (int i = 0; i < JOINT_COUNT; i++) {
        follow(p, RATES[r], POSES[pose], i, 1);
        follow(p, RATES[r], POSES[pose], i, -1);
      }
    }
    tt_physics_free(p);
  }
}

/* Held for ten seconds with every joint at zero velocity, nothing drifts. */
static void standing_joints_do_not_drift(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "arm.xml", NULL, 600);
  set_pose(p, POSES[1]);
  inputs in = {0};
  for (int a = 0; a < JOINT_COUNT; a++) in.drives[a] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 1e5};
  double start[JOINT_COUNT];
  memcpy(start, tt_physics_axis_position(p), sizeof start);
  step(p, &in, 6000);
  for (int a = 0; a < JOINT_COUNT; a++) {
    assert_close(tt_physics_axis_position(p)[a], start[a], 0.002);
  }
  tt_physics_free(p);
}

/* A servo too weak for the weight gives all it has and not more, and the arm sinks. */
static void a_weak_servo_gives_its_limit(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "arm.xml", NULL, 3000);
  set_pose(p, POSES[1]);
  int base = axis_named(p, "base");
  inputs in = {0};
  for (int a = 0; a < JOINT_COUNT; a++) in.drives[a] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 1e5};
  in.drives[base].max_torque = 100;
  step(p, &in, 300);
  assert_close(fabs(tt_physics_axis_torque(p)[base]), 100, 0);
  assert_true(tt_physics_axis_position(p)[base] > POSES[1][1] + 0.02);
  tt_physics_free(p);
}

/* Wheels that push a robot along the floor: contacts are part of the load. */
static void wheels_drive_a_robot(void **state) {
  (void)state;
  static const int RATES[] = {600, 3000};
  for (size_t r = 0; r < 2; r++) {
    tt_physics *p = load_robot(DATA "cart.xml", NULL, RATES[r]);
    static const char *const WHEELS[] = {"left_front", "left_back", "right_front", "right_back"};
    inputs in = {0};
    in.drives[axis_named(p, "arm")] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 100};
    step(p, &in, RATES[r]);
    for (int i = 0; i < 4; i++) {
      in.drives[axis_named(p, WHEELS[i])] = (tt_drive){TT_DRIVE_VELOCITY, 0, 10, 8};
    }
    step(p, &in, RATES[r] * 2);
    double before = p->data->qvel[0];
    for (int n = 0; n < RATES[r] / 5; n++) {
      step(p, &in, 1);
      for (int i = 0; i < 4; i++) {
        double v = tt_physics_axis_velocity(p)[axis_named(p, WHEELS[i])];
        assert_close(v, 10, 0.3);
      }
    }
    assert_close(before, 10 * 0.0762, 0.05);
    tt_physics_free(p);
  }
}

/* Dry friction is the joint's, not the motor's: what is told of the motor is what it really gives. */
static void friction_is_not_the_motors(void **state) {
  (void)state;
  enum { RATE = 1000 };
  const double inertia = 0.1, friction = 0.5;
  tt_physics *p = load_robot(DATA "wheel.xml", NULL, RATE);
  const double *velocity = tt_physics_axis_velocity(p), *torque = tt_physics_axis_torque(p);
  inputs in = {0};
  /* It speeds up with what friction leaves, and then the motor overcomes friction alone. */
  in.drives[0] = (tt_drive){TT_DRIVE_VELOCITY, 0, 5, 2};
  step(p, &in, RATE / 10);
  assert_close(velocity[0], (2 - friction) / inertia / 10, 0.02);
  assert_close(torque[0], 2, 1e-3);
  step(p, &in, RATE);
  assert_close(velocity[0], 5, 0.01);
  assert_close(torque[0], friction, 0.01);
  /* To a stand both work, a weak motor too. */
  in.drives[0] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 0.1};
  step(p, &in, RATE / 10);
  assert_close(velocity[0], 5 - (0.1 + friction) / inertia / 10, 0.02);
  assert_close(torque[0], -0.1, 1e-3);
  step(p, &in, RATE * 3 / 2);
  assert_close(velocity[0], 0, 1e-6);
  assert_close(torque[0], 0, 1e-3);
  /* A motor weaker than friction does not start. */
  in.drives[0] = (tt_drive){TT_DRIVE_VELOCITY, 0, 5, 0.4};
  /* MuJoCo's friction creeps a little under load. */
  step(p, &in, RATE / 2);
  assert_close(velocity[0], 0, 0.01);
  assert_close(torque[0], 0.4, 1e-9);
  /* Against a stop it gives all it has. */
  in.drives[0] = (tt_drive){TT_DRIVE_VELOCITY, 0, 50, 8};
  step(p, &in, RATE * 2);
  assert_close(velocity[0], 0, 0.05);
  assert_close(torque[0], 8, 1e-3);
  tt_physics_free(p);
}

static const char LIMITED[] =
    "<robot name='r'>"
    "<link name='base'><inertial><mass value='9'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
    "iyz='0'/></inertial></link>"
    "<link name='wheel'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' "
    "ixz='0' iyz='0'/></inertial></link>"
    "<joint name='wheel' type='continuous'><parent link='base'/><child link='wheel'/>"
    "<axis xyz='0 0 1'/><limit effort='3' velocity='20'/></joint></robot>";

static tt_physics *load_limited(int rate) {
  char path[] = "/tmp/tether-test-XXXXXX.urdf";
  FILE *f = fdopen(mkstemps(path, 5), "w");
  fputs(LIMITED, f);
  fclose(f);
  tt_physics *p = load_robot(path, NULL, rate);
  remove(path);
  return p;
}

/* Whatever drives it: a torque beyond the effort, a servo beyond the velocity, either way round. */
static void a_urdf_limits_effort_and_velocity(void **state) {
  (void)state;
  static const tt_drive DRIVES[] = {{TT_DRIVE_TORQUE, 100, 0, 0},
                                    {TT_DRIVE_TORQUE, -2, 0, 0},
                                    {TT_DRIVE_VELOCITY, 0, 86, 100},
                                    {TT_DRIVE_VELOCITY, 0, -86, 2}};
  static const int RATES[] = {600, 3000};
  for (size_t i = 0; i < 2 * sizeof DRIVES / sizeof *DRIVES; i++) {
    const int rate = RATES[i % 2];
    const tt_drive drive = DRIVES[i / 2];
    const double most = fmin(3, fmax(fabs(drive.torque), drive.max_torque));
    const double sign = drive.torque + drive.velocity < 0 ? -1 : 1;
    tt_physics *p = load_limited(rate);
    const double *velocity = tt_physics_axis_velocity(p), *torque = tt_physics_axis_torque(p);
    inputs in = {.drives = {drive}};
    step(p, &in, rate / 10);
    assert_close(velocity[0], sign * most / 0.1 / 10, 0.01);
    assert_close(torque[0], sign * most, 1e-9);
    for (int n = 0; n < 2 * rate; n++) {
      step(p, &in, 1);
      assert_true(fabs(velocity[0]) < 20.001 && fabs(torque[0]) <= 3);
    }
    assert_close(velocity[0], sign * 20, 0.001);
    tt_physics_free(p);
  }
}

/* A robot's file knows better than the URDF; what else makes a joint fast is not braked. */
static void limits_can_be_set_and_do_not_brake(void **state) {
  (void)state;
  tt_physics *p = load_limited(1000);
  tt_error error = {""};
  const tt_engine_joint joint = {
      .name = "wheel", .max_torque = 5, .max_velocity = 30, .where = "robot.yaml: joints[0]"};
  assert_int_equal(tt_physics_limit_joint(p, 0, &joint, &error), TT_OK);
  const double *velocity = tt_physics_axis_velocity(p);
  inputs in = {.drives = {{TT_DRIVE_TORQUE, 100, 0, 0}}};
  step(p, &in, 100);
  assert_close(velocity[0], 5, 0.01);
  step(p, &in, 2000);
  assert_close(velocity[0], 30, 0.001);
  p->data->qvel[p->fixed->axis_dof[0]] = 50;
  step(p, &in, 1000);
  assert_close(velocity[0], 50, 1e-9);
  assert_close(tt_physics_axis_torque(p)[0], 0, 0);
  tt_physics_free(p);
}

/* Where the arm's joints are after a while, beside a hand of which nothing moves the arm. */
static void move_beside_a_hand(const char *mimic, double positions[JOINT_COUNT]) {
  char path[] = "/tmp/tether-test-XXXXXX.urdf";
  write_hand(path, (const char *const[]){"", mimic}, 2);
  tt_engine_robot robots[] = {{.name = "a", .model_file = DATA "arm.xml"},
                              {.name = "b", .model_file = path, .y = 5, .z = 2}};
  tt_engine_spec spec = {
      .robots = robots, .robot_count = 2, .timestep_num = 1, .timestep_den = 600};
  tt_physics *p = load_spec(&spec);
  remove(path);
  inputs in = {0};
  for (int i = 0; i < JOINT_COUNT; i++) {
    char name[40];
    snprintf(name, sizeof name, "a/%s", JOINTS[i]);
    const int axis = axis_named(p, name);
    tt_physics_place_axis(p, axis, POSES[0][i]);
    in.drives[axis] = (tt_drive){TT_DRIVE_VELOCITY, 0, i ? 0.1 : 0.3, 1e5};
  }
  tt_physics_place_done(p, 0);
  for (int n = 0; n < 120; n++) {
    step(p, &in, 1);
    assert_false(physics_servos_are_rows(p));
  }
  memcpy(positions, tt_physics_axis_position(p), sizeof(double) * JOINT_COUNT);
  tt_physics_free(p);
}

static void what_holds_other_joints_together_touches_no_servo(void **state) {
  (void)state;
  double beside_free[JOINT_COUNT], beside_held[JOINT_COUNT];
  move_beside_a_hand("", beside_free);
  move_beside_a_hand("<mimic joint='j1' multiplier='-1'/>", beside_held);
  assert_memory_equal(beside_free, beside_held, sizeof beside_free);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_joint_follows_alone),
      cmocka_unit_test(standing_joints_do_not_drift),
      cmocka_unit_test(a_weak_servo_gives_its_limit),
      cmocka_unit_test(wheels_drive_a_robot),
      cmocka_unit_test(friction_is_not_the_motors),
      cmocka_unit_test(a_urdf_limits_effort_and_velocity),
      cmocka_unit_test(limits_can_be_set_and_do_not_brake),
      cmocka_unit_test(what_holds_other_joints_together_touches_no_servo),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

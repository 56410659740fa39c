/* Tests of stepping: the same bits as mj_step, free fall, divergence, forces, state. */
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#include <stdio.h>

/* A world's own steps against a plain mj_step loop of the same model with the same inputs. */
static void same_bits_as_mj_step(const char *robot, const char *arena, int integrator) {
  tt_physics *p = load_robot(robot, arena, 2000);
  const int nv = p->model->nv, axes = p->fixed->info.axis_count;
  p->model->opt.integrator = integrator;
  mjData *plain = mj_makeData(p->model);
  inputs in = {0};
  for (int i = 0; i < 2000; i++) {
    for (int a = 0; a < axes; a++) {
      in.drives[a] = (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = 0.5 * sin(0.01 * i + a)};
      plain->qfrc_applied[p->fixed->axis_dof[a]] = in.drives[a].torque;
    }
    for (int u = 0; u < p->model->nu; u++) plain->ctrl[u] = in.controls[u] = cos(0.02 * i + u);
    step(p, &in, 1);
    mj_step(p->model, plain);
    assert_memory_equal(p->qpos, plain->qpos, sizeof(double) * (size_t)p->model->nq);
    assert_memory_equal(p->data->qvel, plain->qvel, sizeof(double) * (size_t)nv);
  }
  mj_deleteData(plain);
  tt_physics_free(p);
}

static void steps_have_the_bits_of_mj_step(void **state) {
  (void)state;
  same_bits_as_mj_step(DATA "cart.xml", DATA "field.xml", mjINT_EULER);
  same_bits_as_mj_step(DATA "cart.xml", NULL, mjINT_RK4);
  same_bits_as_mj_step(DATA "cart.xml", NULL, mjINT_IMPLICIT);
  same_bits_as_mj_step(DATA "arm.xml", NULL, mjINT_EULER);
}

static void a_ball_falls_at_g(void **state) {
  (void)state;
  tt_physics *p = load_robot(NULL, DATA "field.xml", 3000);
  int ball = body_named(p, "ball");
  inputs in = {0};
  step(p, &in, 750);
  tt_model model;
  tt_view *view = view_of(p, &model, 64);
  assert_close(view->body_position[ball][2], 0.5 - 9.81 * 0.25 * 0.25 / 2, 1e-3);
  assert_close(view->body_velocity[ball][2], -9.81 * 0.25, 1e-9);
  tt_view_free(view);
  tt_physics_free(p);
}

static void positions_are_fresh_after_a_step(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", NULL, 1000);
  inputs in = {0};
  in.drives[axis_named(p, "arm")] = (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = 5};
  step(p, &in, 100);
  double angle = tt_physics_axis_position(p)[axis_named(p, "arm")];
  assert_memory_equal(&angle, &p->data->sensordata[6], sizeof angle);
  double position[3];
  memcpy(position, p->data->xpos + 3, sizeof position);
  mj_kinematics(p->model, p->data);
  assert_memory_equal(position, p->data->xpos + 3, sizeof position);
  tt_physics_free(p);
}

static void divergence_is_told_in_its_step_and_undone(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", NULL, 1000);
  inputs in = {0};
  step(p, &in, 50);
  uint64_t before = tt_physics_hash(p);
  tt_error error = {""};
  in.drives[axis_named(p, "arm")] = (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = 1e13};
  assert_int_equal(tt_physics_step(p, in.drives, in.controls, true, &error), TT_DIVERGED);
  assert_non_null(strstr(error.text, "step 50"));
  assert_true(tt_physics_hash(p) == before);
  /* Undone means that it goes on as if nothing had happened. */
  tt_physics *other = load_robot(DATA "cart.xml", NULL, 1000);
  in.drives[axis_named(p, "arm")] = (tt_drive){0};
  step(other, &in, 80);
  step(p, &in, 30);
  assert_true(tt_physics_hash(p) == tt_physics_hash(other));
  tt_physics_reset(p);
  assert_true(tt_physics_hash(p) != before);
  tt_physics_free(other);
  tt_physics_free(p);
}

static void drive_about(const tt_physics *p, inputs *in, int i) {
  int axes = p->fixed->info.axis_count;
  for (int a = 0; a < axes; a++) {
    in->drives[a] =
        (i / 500 + a) % 3 == 0
            ? (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = 2 * sin(0.003 * i + a)}
            : (tt_drive){
                  .kind = TT_DRIVE_VELOCITY, .velocity = 3 * cos(0.001 * i + a), .max_torque = 6};
  }
}

/* The view's velocities have the bits of MuJoCo's own function. */
static void expect_velocities_of_mujoco(const tt_physics *p) {
  tt_model model = {.body_count = p->model->nbody,
                    .axis_count = p->fixed->info.axis_count,
                    .channel_count = p->fixed->info.sensor_count,
                    .contact_capacity = 64};
  tt_view *view = tt_view_new(&model);
  assert_non_null(view);
  tt_physics_view(p, view);
  for (int b = 1; b < p->model->nbody; b++) {
    double velocity[6];
    mj_objectVelocity(p->model, p->data, mjOBJ_XBODY, b, velocity, 0);
    assert_memory_equal(view->body_spin[b], velocity, 3 * sizeof(double));
    assert_memory_equal(view->body_velocity[b], velocity + 3, 3 * sizeof(double));
  }
  tt_view_free(view);
}

static tt_physics *load_cart_among_tubes(bool want_feedback) {
  tt_engine_gripper gripper = {.name = "grip", .site = "grip", .reach = 0.5};
  tt_engine_robot robot = {
      .name = "cart", .model_file = DATA "cart.xml", .grippers = &gripper, .gripper_count = 1};
  tt_engine_piece pieces[] = {{.body = "ball", .kind = 4},
                              {.body = "tube1", .kind = 1},
                              {.body = "tube2", .kind = 1},
                              {.body = "tube7", .kind = 2}};
  tt_engine_spec spec = {.arena_file = DATA "field.xml",
                         .robots = &robot,
                         .robot_count = 1,
                         .pieces = pieces,
                         .piece_count = 4,
                         .timestep_num = 1,
                         .timestep_den = 2000,
                         .want_feedback = want_feedback,
                         .contact_capacity = 64};
  return load_spec(&spec);
}

/* Two runs, one of them saved, disturbed and restored into a clone half way, end in the same bits. */
static void runs_and_restored_runs_are_equal(void **state) {
  (void)state;
  tt_physics *a = load_cart_among_tubes(true), *b = load_cart_among_tubes(true);
  tt_physics *c = tt_physics_clone(b);
  size_t size = tt_physics_state_size(a, true);
  void *saved = malloc(size);
  inputs in = {0};
  tt_physics *second = b;
  const int steps = 10000 / TETHER_FEWER;
  for (int i = 0; i < steps; i++) {
    drive_about(a, &in, i);
    if (i == 700) {
      assert_int_equal(tt_physics_grip(a, 0, 4), tt_physics_grip(b, 0, 4));
    }
    if (i == steps / 2) {
      assert_true(tt_physics_held(b, 0) != 0);
      tt_physics_save(b, saved);
      step(b, &in, 100);
      assert_int_equal(tt_physics_restore(c, saved, size - 1), TT_INVALID);
      assert_int_equal(tt_physics_restore(c, saved, size), TT_OK);
      second = c;
      assert_true(tt_physics_hash(a) == tt_physics_hash(c));
    }
    step(a, &in, 1);
    step(second, &in, 1);
    if (i % 100 == 0) assert_true(tt_physics_hash(a) == tt_physics_hash(second));
    if (i % 1000 == 0) expect_velocities_of_mujoco(a);
  }
  void *other = malloc(size);
  tt_physics_save(a, saved);
  tt_physics_save(c, other);
  assert_memory_equal(saved, other, size);
  free(other);
  free(saved);
  tt_physics_free(a);
  tt_physics_free(b);
  tt_physics_free(c);
}

/* Of one scene, those that want the feedback take the states of those that don't, and the other way round. */
static void a_state_fits_with_and_without_feedback(void **state) {
  (void)state;
  tt_physics *with = load_cart_among_tubes(true), *without = load_cart_among_tubes(false);
  const size_t more = tt_physics_state_size(with, true), less = tt_physics_state_size(with, false);
  void *saved = malloc(more);
  inputs in = {0};
  step(with, &in, 1500);
  tt_physics_save(with, saved);
  assert_int_equal(tt_physics_restore(without, saved, more), TT_OK);
  step(with, &in, 10);
  step(without, &in, 10);
  assert_true(tt_physics_hash(with) == tt_physics_hash(without));
  tt_physics_save(without, saved);
  assert_int_equal(tt_physics_restore(with, saved, less), TT_OK);
  assert_true(tt_physics_hash(with) == tt_physics_hash(without));
  for (int i = 0; i < 6 * with->model->nbody; i++) assert_true(with->body_wrench[i] == 0);
  free(saved);
  tt_physics_free(with);
  tt_physics_free(without);
}

/* Whatever stands in a state: it is refused, or what it makes can be looked at. */
static void indices_of_a_state_are_checked(void **state) {
  (void)state;
  enum { LOOKED_AT = 8192 };
  tt_physics *p = load_cart_among_tubes(false);
  const size_t size = tt_physics_state_size(p, false);
  const size_t contacts = size - 64 * sizeof(tt_contact), count = contacts - 2 * sizeof(int32_t);
  unsigned char *good = malloc(size), *bad = malloc(size);
  tt_model model;
  inputs in = {0};
  step(p, &in, 1500); /* on the floor */
  tt_view *view = view_of(p, &model, 64);
  tt_physics_save(p, good);
  const uint64_t hash = tt_physics_hash(p);
  int refused = 0;
  for (size_t at = 8; at + 4 <= size && at < LOOKED_AT; at += 4) {
    memcpy(bad, good, size);
    memcpy(bad + at, &(int32_t){0x10000000}, 4);
    if (tt_physics_restore(p, bad, size) == TT_INVALID) refused++;
    tt_physics_held(p, 0);
    tt_physics_view(p, view);
  }
  assert_true(refused >= 4); /* held, what is welded, two that may be parked */
  assert_int_equal(tt_physics_restore(p, good, size), TT_OK);
  assert_true(p->contact_count > 0);
  const struct {
    size_t at;
    int32_t value;
  } wrong[] = {{count, -1},
               {count, 65},
               {contacts + offsetof(tt_contact, body1), -1},
               {contacts + offsetof(tt_contact, body2), p->model->nbody}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    memcpy(bad, good, size);
    memcpy(bad + wrong[i].at, &wrong[i].value, 4);
    assert_int_equal(tt_physics_restore(p, bad, size), TT_INVALID);
    assert_true(tt_physics_hash(p) == hash);
  }
  tt_view_free(view);
  free(good);
  free(bad);
  tt_physics_free(p);
}

static void resetting_one_robot_touches_no_other(void **state) {
  (void)state;
  tt_engine_robot robots[] = {{.name = "a", .model_file = DATA "cart.xml"},
                              {.name = "b", .model_file = DATA "cart.xml", .y = 3}};
  tt_engine_spec spec = {
      .robots = robots, .robot_count = 2, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  inputs in = {0};
  for (int i = 0; i < 500; i++) {
    drive_about(p, &in, i);
    step(p, &in, 1);
  }
  int nq = p->model->nq / 2, nv = p->model->nv / 2;
  double *positions = malloc(sizeof(double) * (size_t)nq),
         *speeds = malloc(sizeof(double) * (size_t)nv);
  memcpy(positions, p->qpos + nq, sizeof(double) * (size_t)nq);
  memcpy(speeds, p->data->qvel + nv, sizeof(double) * (size_t)nv);
  tt_physics_reset_robot(p, 0);
  assert_memory_equal(positions, p->qpos + nq, sizeof(double) * (size_t)nq);
  assert_memory_equal(speeds, p->data->qvel + nv, sizeof(double) * (size_t)nv);
  assert_memory_equal(p->fixed->initial_qpos, p->qpos, sizeof(double) * (size_t)nq);
  for (int i = 0; i < nv; i++) assert_true(p->data->qvel[i] == 0);
  free(positions);
  free(speeds);
  tt_physics_free(p);
}

static const char HANGING[] =
    "<mujoco><worldbody><body name='upper' pos='0 0 3'><joint name='top' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0 0 -1' size='0.05' mass='2'/>"
    "<body name='lower' pos='0 0 -1'><joint name='elbow' axis='0 1 0'/>"
    "<geom type='capsule' fromto='0 0 0 0.5 0 -1' size='0.04' mass='3'/></body></body>"
    "</worldbody></mujoco>";

/* A robot from a text, with feedback. */
static tt_physics *load_text(const char *text) {
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  int file = mkstemps(path, 4);
  FILE *f = fdopen(file, "w");
  fputs(text, f);
  fclose(f);
  tt_engine_robot robot = {.name = "r", .model_file = path};
  tt_engine_spec spec = {.robots = &robot,
                         .robot_count = 1,
                         .timestep_num = 1,
                         .timestep_den = 1000,
                         .want_feedback = true};
  tt_physics *p = load_spec(&spec);
  remove(path);
  return p;
}

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Two links held still by servos: each link carries what hangs below it, and torque about a centre
 * of mass is what the weight there needs. */
static void links_transmit_weight(void **state) {
  (void)state;
  tt_physics *p = load_text(HANGING);
  inputs in = {0};
  for (int a = 0; a < 2; a++) in.drives[a] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 1000};
  step(p, &in, 500);
  tt_model model;
  tt_view *view = view_of(p, &model, 8);
  int upper = body_named(p, "upper"), lower = body_named(p, "lower");
  const tt_feedback *top = &view->feedback[upper], *elbow = &view->feedback[lower];
  assert_close(top->force[2], 5 * 9.81, 0.01 * 5 * 9.81);
  assert_close(elbow->force[2], 3 * 9.81, 0.01 * 3 * 9.81);
  assert_close(elbow->parent_force[2], -3 * 9.81, 0.01 * 3 * 9.81);
  for (int b = upper; b <= lower; b++) {
    const double *com = p->data->xipos + 3 * b, *anchor = p->data->xanchor + 3 * (b - 1);
    const double axis[3] = {0, 1, 0};
    double arm[3], moment[3];
    mju_sub3(arm, anchor, com);
    mju_cross(moment, arm, view->feedback[b].force);
    /* About the axis, force at the anchor and drive torque are all that the link transmits. */
    double drive = tt_physics_axis_torque(p)[b - 1];
    assert_close(dot(view->feedback[b].torque, axis), dot(moment, axis) + drive, 0.02);
  }
  /* The elbow carries the lower link's weight at its lever of 0.25 m, positive turns it down. */
  assert_close(fabs(tt_physics_axis_torque(p)[1]), 3 * 9.81 * 0.25, 0.05);
  tt_view_free(view);
  tt_physics_free(p);
}

static const char STOPS[] =
    "<mujoco><compiler autolimits='true'/><worldbody>"
    "<body pos='0 0 1'><joint name='hard' type='slide' axis='0 0 1' range='-0.5 1'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "<body pos='1 0 1'><joint name='soft' type='slide' axis='0 0 1' range='-0.5 1' "
    "solreflimit='0.04 1'/><geom type='sphere' size='0.1' mass='2'/></body>"
    "<body pos='2 0 1'><joint name='hung' type='slide' axis='0 0 1'/>"
    "<geom type='sphere' size='0.1' mass='2'/></body>"
    "</worldbody><tendon><fixed range='-0.5 1'><joint joint='hung' coef='1'/></fixed></tendon>"
    "</mujoco>";

/* Weights that fall half a metre into a stop: steel, but where the model's own file says what it is made of. */
static void stops_are_steel_unless_the_model_says_otherwise(void **state) {
  (void)state;
  tt_physics *p = load_text(STOPS);
  inputs in = {0};
  double lowest[3] = {0};
  for (int i = 0; i < 1000; i++) {
    step(p, &in, 1);
    for (int a = 0; a < 3; a++) lowest[a] = fmin(lowest[a], tt_physics_axis_position(p)[a] + 0.5);
  }
  const double way = sqrt(9.81) / 1000; /* of one step at the speed of the fall */
  assert_true(lowest[0] > -1.1 * way);
  assert_true(lowest[1] < -0.03);
  assert_true(lowest[2] > -1.1 * way);
  assert_close(tt_physics_axis_position(p)[0], -0.5, 1e-4);
  assert_close(tt_physics_axis_position(p)[2], -0.5, 1e-4);
  tt_physics_free(p);
}

static const char ON_A_STAND[] =
    "<mujoco><worldbody><body name='stand' pos='2 0 1'><body name='bob'>"
    "<joint name='pivot' axis='0 1 0'/><geom type='sphere' pos='0 0 -0.5' size='0.1' mass='2'/>"
    "</body></body></worldbody></mujoco>";

/* A body without mass is where its frame is: a weight that hangs straight below it turns nothing. */
static void a_stand_without_mass_feels_no_torque(void **state) {
  (void)state;
  tt_physics *p = load_text(ON_A_STAND);
  inputs in = {0};
  step(p, &in, 10);
  tt_model model;
  tt_view *view = view_of(p, &model, 8);
  const tt_feedback *pivot = &view->feedback[body_named(p, "bob")];
  assert_close(pivot->parent_force[2], -2 * 9.81, 1e-6);
  for (int i = 0; i < 3; i++) {
    assert_close(pivot->parent_torque[i], 0, 1e-6);
    assert_close(pivot->torque[i], 0, 1e-6);
  }
  tt_view_free(view);
  tt_physics_free(p);
}

static void contacts_carry_a_resting_robot(void **state) {
  (void)state;
  tt_engine_robot robot = {.name = "cart", .model_file = DATA "cart.xml"};
  tt_engine_spec spec = {.robots = &robot,
                         .robot_count = 1,
                         .timestep_num = 1,
                         .timestep_den = 1000,
                         .want_feedback = true};
  tt_physics *p = load_spec(&spec);
  inputs in = {0};
  in.drives[axis_named(p, "arm")] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 100};
  step(p, &in, 3000);
  tt_model model;
  tt_view *view = view_of(p, &model, 64);
  assert_int_equal(view->contact_count, 4);
  double lift = 0, felt = 0;
  for (int i = 0; i < view->contact_count; i++) {
    const tt_contact *c = &view->contacts[i];
    assert_int_equal(c->body1, 0);
    assert_close(c->normal[2], 1, 1e-9);
    assert_true(c->depth > 0 && c->depth < 0.01);
    lift += c->force[2];
    felt += view->body_force[c->body2][2];
  }
  assert_close(lift, 47.2 * 9.81, 0.01 * 47.2 * 9.81);
  assert_close(felt, lift, 1e-9);
  tt_view_free(view);
  tt_physics_free(p);
}

static void rays_see_what_collides(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", DATA "field.xml", 1000);
  const double above[3] = {0, 0, 2}, down[3] = {0, 0, -1}, far[3] = {9, 9, 2};
  assert_close(tt_physics_ray(p, far, down, TT_NO_ROBOT, 10), 2, 1e-9);
  assert_close(tt_physics_ray(p, above, down, TT_NO_ROBOT, 10), 2 - 0.17, 1e-9);
  assert_close(tt_physics_ray(p, above, down, 0, 10), 2, 1e-9);
  assert_true(tt_physics_ray(p, above, down, 0, 1.5) < 0);
  tt_physics_free(p);
}

static const char SLIDING[] =
    "<mujoco><worldbody><body name='box' pos='0 0 0.1'><freejoint/>"
    "<geom type='box' size='0.2 0.2 0.1' mass='2'/></body></worldbody></mujoco>";

/* How far the box slides that begins with 2 m/s; negative friction: none is given. */
static double slide(double box, double floor) {
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  FILE *f = fdopen(mkstemps(path, 4), "w");
  fputs(SLIDING, f);
  fclose(f);
  const tt_engine_surface of_box = {"box", box, -1, -1, "robot.yaml: bodies[0]"},
                          of_floor = {"world", floor, -1, -1, "arena.yaml: bodies[0]"};
  const tt_engine_robot robot = {
      .name = "r", .model_file = path, .surfaces = &of_box, .surface_count = box >= 0};
  const tt_engine_spec spec = {.robots = &robot,
                               .robot_count = 1,
                               .surfaces = &of_floor,
                               .surface_count = floor >= 0,
                               .timestep_num = 1,
                               .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  remove(path);
  inputs in = {0};
  step(p, &in, 200);
  const double from = p->data->qpos[0];
  p->data->qvel[0] = 2;
  step(p, &in, 3000);
  assert_close(p->data->qvel[0], 0, 1e-3);
  const double way = p->data->qpos[0] - from;
  tt_physics_free(p);
  return way;
}

/* v² / (2 μ g). MuJoCo's own friction of a geom is 1, and of two the greater holds: a slippery body needs the key. */
static void friction_is_what_the_files_give(void **state) {
  (void)state;
  const double at_one = 4 / (2 * 9.81);
  assert_close(slide(-1, -1), at_one, 0.03 * at_one);
  assert_close(slide(0.2, -1), at_one / 0.2, 0.03 * at_one / 0.2);
  assert_close(slide(-1, 0.3), at_one / 0.3, 0.03 * at_one / 0.3);
  assert_close(slide(0.2, 0.3), at_one / 0.3, 0.03 * at_one / 0.3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_have_the_bits_of_mj_step),
      cmocka_unit_test(a_ball_falls_at_g),
      cmocka_unit_test(positions_are_fresh_after_a_step),
      cmocka_unit_test(divergence_is_told_in_its_step_and_undone),
      cmocka_unit_test(runs_and_restored_runs_are_equal),
      cmocka_unit_test(a_state_fits_with_and_without_feedback),
      cmocka_unit_test(indices_of_a_state_are_checked),
      cmocka_unit_test(resetting_one_robot_touches_no_other),
      cmocka_unit_test(links_transmit_weight),
      cmocka_unit_test(stops_are_steel_unless_the_model_says_otherwise),
      cmocka_unit_test(a_stand_without_mass_feels_no_torque),
      cmocka_unit_test(friction_is_what_the_files_give),
      cmocka_unit_test(contacts_carry_a_resting_robot),
      cmocka_unit_test(rays_see_what_collides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests of game pieces: gripping, one holder a piece, carrying, dropping, parking and waking. */
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

static int parked_count(const tt_physics *p) {
  int count = 0;
  for (int i = 0; i < p->fixed->piece_count; i++) count += p->parked[i];
  return count;
}

static void place_ball(tt_physics *p, double x, double y, double z) {
  const double pose[7] = {x, y, z, 1, 0, 0, 0};
  tt_physics_place_body(p, body_named(p, "ball"), pose);
  tt_physics_place_done(p, 0);
}

/* Pose of the ball in the frame of the arm. */
static void relative_pose(const tt_physics *p, double pose[7]) {
  const mjData *d = p->data;
  int arm = body_named(p, "arm"), ball = body_named(p, "ball");
  double offset[3], back[4];
  mju_sub3(offset, d->xpos + 3 * ball, d->xpos + 3 * arm);
  mju_rotVecMatT(pose, offset, d->xmat + 9 * arm);
  mju_negQuat(back, d->xquat + 4 * arm);
  mju_mulQuat(pose + 3, back, d->xquat + 4 * ball);
}

static void a_gripped_piece_keeps_its_pose(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 3000);
  inputs in = {0};
  in.drives[axis_named(p, "arm")] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 100};
  place_ball(p, 0.97, 0.08, 0.35);
  assert_int_equal(tt_physics_grip(p, 0, 2), 0); /* no tube within reach */
  int ball = body_named(p, "ball");
  assert_int_equal(tt_physics_grip(p, 0, 4), ball);
  assert_int_equal(tt_physics_grip(p, 0, 4), ball);
  double before[7], after[7];
  relative_pose(p, before);
  in.drives[axis_named(p, "arm")].velocity = -0.5;
  step(p, &in, 3000);
  relative_pose(p, after);
  for (int i = 0; i < 7; i++) assert_close(after[i], before[i], 0.01);
  assert_true(p->data->xpos[3 * ball + 2] > 0.45);
  /* Let go, it falls at g. */
  in.drives[axis_named(p, "arm")].velocity = 0;
  step(p, &in, 300);
  tt_physics_release(p, 0);
  assert_int_equal(tt_physics_held(p, 0), 0);
  double speed = p->data->qvel[p->fixed->pieces[TUBES].dof + 2];
  step(p, &in, 150);
  assert_close(p->data->qvel[p->fixed->pieces[TUBES].dof + 2], speed - 9.81 * 0.05, 0.02);
  tt_physics_free(p);
}

static void a_piece_has_one_holder(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000);
  int ball = body_named(p, "ball");
  place_ball(p, 0.9, 0.08, 0.35);
  assert_int_equal(tt_physics_grip(p, 1, 4), ball); /* a's second gripper reaches 5 m */
  assert_int_equal(tt_physics_grip(p, 0, 4), 0);
  assert_int_equal(tt_physics_grip(p, 3, 4), 0);
  tt_physics_release(p, 1);
  assert_int_equal(tt_physics_grip(p, 3, 4), ball);
  uint64_t holding = tt_physics_hash(p);
  tt_physics_reset_robot(p, 0); /* not the holder */
  assert_int_equal(tt_physics_held(p, 3), ball);
  tt_physics_reset_robot(p, 1);
  assert_int_equal(tt_physics_held(p, 3), 0);
  assert_true(tt_physics_hash(p) != holding);
  /* Another kind lets the first go. */
  assert_int_equal(tt_physics_grip(p, 1, 4), ball);
  int tube = tt_physics_grip(p, 1, 2);
  assert_true(tube != 0 && tube != ball);
  assert_int_equal(tt_physics_describe(p)->bodies[tube].piece, 2);
  tt_physics_reset(p);
  for (int i = 0; i < 4; i++) assert_int_equal(tt_physics_held(p, i), 0);
  tt_physics_free(p);
}

static void resting_pieces_park_and_stay(void **state) {
  (void)state;
  tt_physics *p = load_field(0, true, 2000);
  inputs in = {0};
  step(p, &in, 6000);
  assert_int_equal(parked_count(p), TUBES + 1);
  double *poses = malloc(sizeof(double) * (size_t)p->model->nq);
  memcpy(poses, p->qpos, sizeof(double) * (size_t)p->model->nq);
  step(p, &in, 2000);
  assert_memory_equal(poses, p->qpos, sizeof(double) * (size_t)p->model->nq);
  assert_int_equal(p->data->ncon, 0);
  free(poses);
  /* Still seen by rays, and where it lies, not under the floor. */
  const double above[3] = {-3 + 0.277, -4, 1}, down[3] = {0, 0, -1};
  assert_close(tt_physics_ray(p, above, down, TT_NO_ROBOT, 5), 0.9, 0.01);
  tt_physics_free(p);
}

static void drive(const tt_physics *p, inputs *in, double speed) {
  static const char *const WHEELS[] = {"left_front", "left_back", "right_front", "right_back"};
  for (int i = 0; i < 4; i++) {
    in->drives[axis_named(p, WHEELS[i])] = (tt_drive){TT_DRIVE_VELOCITY, 0, speed, 8};
  }
  in->drives[axis_named(p, "arm")] = (tt_drive){TT_DRIVE_VELOCITY, 0, 0, 100};
}

/* A robot that drives through a piece pushes it just as if it had never been parked. */
static void a_robot_wakes_what_it_meets(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 2000);
  inputs in = {0};
  drive(p, &in, 0);
  place_ball(p, 2.5, 0, 0.1);
  step(p, &in, 6000);
  int ball = body_named(p, "ball");
  assert_int_equal(p->parked[TUBES], 1);
  drive(p, &in, 15);
  double clearance = 10;
  for (int i = 0; i < 8000 && p->parked[TUBES]; i++) {
    step(p, &in, 1);
    clearance = p->data->xpos[3 * ball] - 0.1 - p->data->xpos[3 * body_named(p, "chassis")] - 0.35;
  }
  assert_int_equal(p->parked[TUBES], 0);
  assert_true(clearance > 0); /* woken before it is touched */
  step(p, &in, 4000);
  assert_true(p->data->xpos[3 * ball] > 2.7);
  tt_physics_free(p);
}

/* A pile parks as a whole and wakes as a whole: nothing falls through what is parked below it. */
static void a_pile_parks_together(void **state) {
  (void)state;
  tt_physics *p = load_field(0, true, 2000);
  int tube = body_named(p, "tube1");
  inputs in = {0};
  step(p, &in, 4000);
  const double above[7] = {p->data->xpos[3 * tube], p->data->xpos[3 * tube + 1], 0.3, 1, 0, 0, 0};
  tt_physics_place_body(p, body_named(p, "tube2"), above);
  tt_physics_place_done(p, 0);
  step(p, &in, 450);
  assert_int_equal(p->parked[0], 0); /* woken by the one that falls on it */
  step(p, &in, 8000);
  assert_int_equal(p->parked[0], 1);
  assert_int_equal(p->parked[1], 1);
  double height = p->data->xpos[3 * body_named(p, "tube2") + 2];
  assert_true(height > 0.12 && height < 0.2);
  tt_physics_free(p);
}

static void gripping_a_parked_piece_wakes_it(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 2000);
  inputs in = {0};
  drive(p, &in, 0);
  step(p, &in, 6000);
  int index = 5; /* tube6, kind 3 */
  assert_int_equal(p->parked[index], 1);
  int held = tt_physics_grip(p, 1, 3);
  assert_true(held != 0);
  assert_int_equal(p->parked[p->fixed->body_piece[held]], 0);
  step(p, &in, 4000);
  assert_int_equal(p->parked[p->fixed->body_piece[held]], 0);
  tt_physics_free(p);
}

static bool touches(const tt_physics *p, const char *name) {
  const int body = body_named(p, name);
  for (int i = 0; i < p->contact_count; i++)
    if (p->contacts[i].body1 == body || p->contacts[i].body2 == body) return true;
  return false;
}

/* Parked pieces show what they touch; where there is not room for all, what moves goes first. */
static void what_rests_goes_on_touching(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 2000);
  inputs in = {0};
  drive(p, &in, 0);
  place_ball(p, 2.5, 0, 0.1);
  step(p, &in, 2000); /* in one go: most park meanwhile */
  assert_true(touches(p, "ball") && touches(p, "tube1") && touches(p, "tube12"));
  place_ball(p, 2.5, 0, 0.1);
  step(p, &in, 100);
  for (int i = 0; i < 50; i++) { /* over parking */
    step(p, &in, 100);
    assert_true(touches(p, "ball") && touches(p, "tube1") && touches(p, "tube12"));
  }
  assert_int_equal(parked_count(p), TUBES + 1);
  size_t size = tt_physics_state_size(p, false);
  void *saved = malloc(size);
  tt_physics_save(p, saved);
  drive(p, &in, 15);
  for (int i = 0; i < 8000 && p->parked[TUBES]; i++) { /* over waking */
    step(p, &in, 1);
    assert_true(touches(p, "ball"));
  }
  step(p, &in, 1);
  assert_true(!p->parked[TUBES] && touches(p, "ball") && touches(p, "tube12"));
  place_ball(p, 2.5, 3, 1);
  step(p, &in, 1);
  assert_false(touches(p, "ball"));
  assert_int_equal(tt_physics_restore(p, saved, size), TT_OK);
  assert_true(touches(p, "ball"));
  p->fixed->contact_capacity = p->contact_count = 3;
  place_ball(p, 2.5, 0, 0.09);
  step(p, &in, 1);
  assert_int_equal(p->contact_count, 3);
  assert_true(p->contacts_left_off > 0 && touches(p, "ball"));
  free(saved);
  tt_physics_free(p);
}

/* At whatever step between two looks around it was let go. */
static void what_was_held_still_falls(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 1000);
  inputs in = {0};
  drive(p, &in, 0);
  int ball = body_named(p, "ball");
  for (int way = 0; way < 2; way++) {
    for (int extra = 0; extra < 6; extra += TETHER_FEWER) {
      tt_physics_reset(p);
      place_ball(p, 1.5, 0, 0.8);
      assert_int_equal(tt_physics_grip(p, 1, 4), ball);
      step(p, &in, 800 + extra);
      assert_true(p->data->xpos[3 * ball + 2] > 0.75);
      if (way == 0)
        tt_physics_release(p, 1);
      else
        tt_physics_reset_robot(p, 0);
      step(p, &in, 600);
      assert_true(p->data->xpos[3 * ball + 2] < 0.15);
    }
  }
  tt_physics_free(p);
}

/* It stood still as long as what lies on the floor. At whatever step between two looks around. */
static void what_stood_on_a_robot_falls_when_that_begins_anew(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 1000);
  inputs in = {0};
  drive(p, &in, 0);
  const int tube = body_named(p, "tube1");
  const double on_top[7] = {2.48, 0, 0.225, 1, 0, 0, 0};
  for (int extra = 0; extra < 6; extra += TETHER_FEWER) {
    tt_physics_reset(p);
    tt_physics_place_robot(p, 0, 2.5, 0, 0);
    tt_physics_place_body(p, tube, on_top);
    tt_physics_place_done(p, 0);
    step(p, &in, 800 + extra);
    assert_true(p->data->xpos[3 * tube + 2] > 0.2);
    tt_physics_reset_robot(p, 0);
    step(p, &in, 600);
    assert_true(p->data->xpos[3 * tube + 2] < 0.1);
  }
  tt_physics_free(p);
}

/* Not by the sphere around it. */
static void a_mesh_is_reached_by_its_box(void **state) {
  (void)state;
  const tt_engine_piece piece = {.body = "pole", .kind = 1};
  const tt_engine_gripper gripper = {.name = "grip", .site = "grip", .reach = 0.3};
  tt_engine_robot cart = {
      .name = "a", .model_file = DATA "cart.xml", .grippers = &gripper, .gripper_count = 1};
  tt_physics *p = load_spec(&(tt_engine_spec){.arena_file = DATA "pole.xml",
                                              .robots = &cart,
                                              .robot_count = 1,
                                              .pieces = &piece,
                                              .piece_count = 1,
                                              .timestep_num = 1,
                                              .timestep_den = 1000});
  const double *site = p->data->site_xpos + 3 * p->fixed->grippers[0].site;
  for (int i = 0; i < 8; i++) { /* beside it, wherever the hand is along it */
    const double away = i % 2 ? 0.5 : 0.15;
    const double pose[7] = {site[0], site[1] + away, site[2] - 0.8 + 0.2 * i, 1, 0, 0, 0};
    tt_physics_place_body(p, body_named(p, "pole"), pose);
    tt_physics_place_done(p, 0);
    assert_close(physics_point_distance(p, p->fixed->pieces[0].first_geom, site), away - 0.02,
                 1e-6);
    assert_int_equal(tt_physics_grip(p, 0, 1) != 0, away < 0.3);
    tt_physics_release(p, 0);
  }
  tt_physics_free(p);
}

/* Concept mode: what is held follows its gripper, and speeds are differences. */
static void held_pieces_follow_when_placed(void **state) {
  (void)state;
  tt_physics *p = load_field(1, true, 1000);
  place_ball(p, 0.9, 0, 0.35);
  int ball = body_named(p, "ball");
  assert_int_equal(tt_physics_grip(p, 0, 4), ball);
  tt_physics_place_robot(p, 0, 2, 1, 0);
  tt_physics_place_done(p, 0);
  assert_close(p->data->xpos[3 * ball], 2.9, 1e-9);
  assert_close(p->data->xpos[3 * ball + 1], 1, 1e-9);
  tt_physics_place_robot(p, 0, 2.01, 1, M_PI / 2);
  tt_physics_place_done(p, 0.01);
  assert_close(p->data->xpos[3 * ball], 2.01, 1e-9);
  assert_close(p->data->xpos[3 * ball + 1], 1.9, 1e-9);
  assert_close(p->data->qvel[p->model->body_dofadr[body_named(p, "chassis")]], 1, 1e-9);
  tt_physics_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_gripped_piece_keeps_its_pose),
      cmocka_unit_test(a_piece_has_one_holder),
      cmocka_unit_test(resting_pieces_park_and_stay),
      cmocka_unit_test(a_robot_wakes_what_it_meets),
      cmocka_unit_test(a_pile_parks_together),
      cmocka_unit_test(gripping_a_parked_piece_wakes_it),
      cmocka_unit_test(what_rests_goes_on_touching),
      cmocka_unit_test(what_was_held_still_falls),
      cmocka_unit_test(what_stood_on_a_robot_falls_when_that_begins_anew),
      cmocka_unit_test(a_mesh_is_reached_by_its_box),
      cmocka_unit_test(held_pieces_follow_when_placed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is left out of the search for contacts changes none: a world beside another that looks at everything in each step. */
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

/* Seeded, so that a failure can be seen again. */
static double chance(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 33) / (double)(1u << 30) - 1;
}

/* Of each joint: full torque, part of it, or a speed. */
static void draw(const tt_physics *p, inputs *in, uint64_t *seed, double part) {
  const tt_mechanism *info = tt_physics_describe(p);
  for (int i = 0; i < info->axis_count; i++) {
    const double most = part * info->joints[info->axis_joint[i]].max_torque;
    const bool turns = chance(seed) > 0;
    in->drives[i] = (tt_drive){turns ? TT_DRIVE_VELOCITY : TT_DRIVE_TORQUE, most * chance(seed),
                               3 * chance(seed), most};
  }
}

static bool moves(const tt_physics *p, int geom) {
  return p->model->body_weldid[p->model->geom_bodyid[geom]] != 0;
}

/* Contacts between two that move. */
static int meetings(const tt_physics *p) {
  int count = 0;
  for (int i = 0; i < p->data->ncon; i++)
    count += moves(p, p->data->contact[i].geom1) && moves(p, p->data->contact[i].geom2);
  return count;
}

static int left_out(const tt_physics *p) {
  int count = 0;
  for (int i = 0; i < p->fixed->mover_count; i++)
    count += p->model->body_geomnum[p->fixed->movers[i].body] == 0;
  return count;
}

/* A restored world looks at everything, until its next step is done. */
static void compare(tt_physics *p, int count, int steps_a_drive, double part) {
  tt_physics *whole = tt_physics_clone(p);
  const size_t size = tt_physics_state_size(p, false);
  void *state = malloc(size);
  uint64_t seed = 1;
  int without = 0, met = 0;
  inputs in = {0};
  assert_non_null(whole);
  for (int i = 0; i < count; i++) {
    if (i % steps_a_drive == 0) draw(p, &in, &seed, part);
    tt_physics_save(whole, state);
    assert_int_equal(tt_physics_restore(whole, state, size), TT_OK);
    assert_int_equal(left_out(whole), 0);
    step(p, &in, 1);
    step(whole, &in, 1);
    if (tt_physics_hash(p) != tt_physics_hash(whole)) fail_msg("step %d is another", i);
    without += left_out(p);
    met += meetings(p);
  }
  print_message("%.2f bodies left out, %.2f contacts of two that move\n", (double)without / count,
                (double)met / count);
  assert_true(without > 0 && met > 0);
  free(state);
  tt_physics_free(whole);
  tt_physics_free(p);
}

static void an_arm_that_hits_itself_and_the_floor(void **state) {
  (void)state;
  static const int64_t rates[] = {100, 600, 3000};
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    compare(load_robot(TETHER_SOURCE_DIR "/robots/gripper/robot.xml",
                       TETHER_SOURCE_DIR "/arenas/gripper/arena.xml", rates[i]),
            2000, 150, 1);
}

static void carts_among_tubes(void **state) {
  (void)state;
  compare(load_field(2, true, 1000), 1500 / TETHER_FEWER, 300, 1);
  compare(load_field(2, false, 1000), 1500 / TETHER_FEWER, 300, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_arm_that_hits_itself_and_the_floor),
      cmocka_unit_test(carts_among_tubes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

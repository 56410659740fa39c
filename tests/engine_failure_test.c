/* engine_failure_test.c: MuJoCo gives up in the middle of a step. It does so for real: the stack that it computes on is made
 * too small in one simulation, at every size from nothing to enough, so that each place that needs it fails once. */
#include "engine/mujoco/physics_internal.h"
#include "library/library.h"
#include "library/library_testing.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static tt_physics *physics_of(tether_sim *sim) { return (tt_physics *)tt_sim_engine(sim->sim); }

/* Servos that touch something, so that they stand in the model as rows while a step is computed. */
static tether_status drive(tether_sim *sim, int steps) {
  static const char *const names[] = {"left_track.velocity", "right_track.velocity",
                                      "arm.velocity"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    tether_handle handle;
    double value = 1;
    if (tether_command_find(sim, names[i], NULL, &handle, NULL) != TETHER_OK) continue;
    good(tether_sim_apply(sim, &handle, &value, 1, &error));
  }
  return tether_sim_step(sim, steps, &error);
}

static void shrink_stack(tether_sim *sim, int numbers) { physics_of(sim)->data->nstack = numbers; }

/* Model and data are as if nothing had been. */
static void same_as_new(tether_sim *sim, const mjModel *model, uint64_t hash) {
  const mjModel *m = physics_of(sim)->model;
  assert_memory_equal(m->dof_frictionloss, model->dof_frictionloss, sizeof(double) * (size_t)m->nv);
  assert_memory_equal(m->dof_solref, model->dof_solref, sizeof(double) * mjNREF * (size_t)m->nv);
  good(drive(sim, 30));
  assert_int_equal(tether_sim_hash(sim), hash);
}

static void a_failure_anywhere_is_an_error(void **state) {
  (void)state;
  tether_scene *scene = load("frc2011");
  tether_sim *sim = sim_of(scene), *other = sim_of(scene);
  good(drive(other, 30));
  const uint64_t hash = tether_sim_hash(other);
  const mjModel *model = physics_of(other)->model;
  const size_t size = tether_sim_state_size(sim);
  void *saved = malloc(size);
  good(tether_sim_reset(sim, NULL, &error));
  good(tether_sim_save(sim, saved, size, &error));
  int failures = 0;
  for (int numbers = 0;; numbers += 1 + numbers / 12) {
    good(drive(sim, 5));
    const uint64_t steps = tether_sim_steps(sim);
    shrink_stack(sim, numbers);
    tether_status status = drive(sim, 3);
    if (status == TETHER_OK) break;
    failures++;
    assert_int_equal(status, TETHER_FAILED);
    assert_non_null(strstr(error.text, "MuJoCo failed"));
    assert_int_equal(tether_sim_steps(sim), steps);
    assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_FAILED);
    assert_int_equal(tether_sim_save(sim, saved, size, &error), TETHER_FAILED);
    tether_sim *clone;
    assert_int_equal(tether_sim_clone(sim, &clone, &error), TETHER_FAILED);
    good(failures % 2 ? tether_sim_reset(sim, NULL, &error)
                      : tether_sim_restore(sim, saved, size, &error));
    same_as_new(sim, model, hash);
    good(tether_sim_reset(sim, NULL, &error));
  }
  assert_true(failures > 10);
  free(saved);
  tether_sim_free(sim);
  tether_sim_free(other);
  tether_scene_free(scene);
}

static void the_others_of_a_batch_go_on(void **state) {
  (void)state;
  enum { COUNT = 5, ROUNDS = 8 };
  static const char *const commands[] = {"swivel.velocity"}, *const signals[] = {"time"};
  double in[COUNT], out[COUNT];
  uint64_t hashes[COUNT];
  tether_scene *scene = load("gripper");
  tether_batch *batch;
  for (int run = 0; run < 2; run++) {
    good(tether_batch_new(scene, COUNT, 2, commands, 1, signals, 1, &batch, &error));
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < COUNT; i++) in[i] = 0.1 * i;
      if (run == 1 && round == 3) shrink_stack(tether_batch_sim(batch, 2), 10);
      good(tether_batch_step(batch, in, 10, out, &error));
    }
    for (int i = 0; i < COUNT; i++) {
      const bool failed = run == 1 && i == 2;
      assert_int_equal(tether_batch_failure(batch, i, &error), failed ? TETHER_FAILED : TETHER_OK);
      uint64_t hash = tether_sim_hash(tether_batch_sim(batch, i));
      if (run == 0) hashes[i] = hash;
      if (!failed) assert_int_equal(hash, hashes[i]);
      assert_true(failed ? out[i] < out[0] : out[i] == out[0]);
    }
    uint8_t mask[COUNT] = {0, 0, 1, 0, 0};
    good(tether_batch_reset(batch, mask, NULL, out, &error));
    for (int round = 0; round < ROUNDS; round++)
      good(tether_batch_step(batch, in, 10, out, &error));
    assert_int_equal(tether_sim_hash(tether_batch_sim(batch, 2)), hashes[2]);
    tether_batch_free(batch);
  }
  tether_scene_free(scene);
}

static size_t memory_in_use(void) {
  struct mallinfo2 about = mallinfo2();
  return about.uordblks + about.hblkhd;
}

static void failures_leave_nothing_behind(void **state) {
  (void)state;
  enum { FAILURES = 300, ALLOWED = 64 << 10 };
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene);
  size_t before = 0;
  for (int i = 0; i < FAILURES; i++) {
    shrink_stack(sim, 10);
    assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_FAILED);
    good(tether_sim_reset(sim, NULL, &error));
    if (i == 10) before = memory_in_use();
  }
  assert_true(memory_in_use() <= before + ALLOWED);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* Whatever else an engine does beside steps. */
static void other_calls_fail_alike(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene);
  tt_error why = {.text = ""};
  tt_engine *engine = tt_sim_engine(sim->sim);
  const uint64_t hash = tether_sim_hash(sim);
  shrink_stack(sim, 0);
  assert_int_equal(tt_engine_place_done(engine, 0.1, &why), TT_FAILED);
  assert_non_null(strstr(why.text, "MuJoCo failed"));
  assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_FAILED);
  good(tether_sim_reset(sim, NULL, &error));
  assert_int_equal(tether_sim_hash(sim), hash);
  shrink_stack(sim, 0);
  tt_engine_reset_robot(engine, 0); /* says it with the next step */
  assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_FAILED);
  assert_null(tt_engine_clone(engine));
  good(tether_sim_reset(sim, NULL, &error));
  assert_int_equal(tether_sim_hash(sim), hash);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* ---- a program that uses MuJoCo beside the library ---- */

static jmp_buf back;
static int theirs;

static void their_error(const char *text) {
  theirs += strcmp(text, "theirs") == 0;
  longjmp(back, 1);
}

static void their_warning(const char *text) { theirs += strcmp(text, "theirs") == 0; }

static int beside_the_library(void) {
  tether_scene *scene;
  tether_sim *sim;
  mju_user_error = their_error;
  mju_user_warning = their_warning;
  if (tether_scene_load("gripper", NULL, 0, &scene, NULL) != TETHER_OK ||
      tether_sim_new(scene, &sim, NULL) != TETHER_OK)
    return 1;
  mju_warning("theirs");
  if (setjmp(back) == 0) mju_error("theirs");
  shrink_stack(sim, 10);
  if (tether_sim_step(sim, 1, NULL) != TETHER_FAILED) return 2;
  if (setjmp(back) == 0) mju_error("theirs");
  tether_sim_free(sim);
  tether_scene_free(scene);
  return theirs == 3 ? 0 : 3;
}

/* In a process of its own and first: the handlers are put in once. */
static void their_handlers_stay_theirs(void **state) {
  (void)state;
  int how;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) _exit(beside_the_library());
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
}

/* MuJoCo's own warnings go to a file in the current folder. */
static void nothing_is_written_where_we_stand(void **state) {
  (void)state;
  const char *settings[] = {"timestep=0.1 s", "io_period=0.1 s"};
  char folder[] = "/tmp/tether-failure-XXXXXX", *here = getcwd(NULL, 0);
  tether_scene *scene;
  tether_sim *sim;
  tether_handle handle;
  double torque = 1e6;
  assert_non_null(mkdtemp(folder));
  good(tether_scene_load("frc2011", settings, 2, &scene, &error));
  good(tether_sim_new(scene, &sim, &error));
  assert_int_equal(chdir(folder), 0);
  good(tether_command_find(sim, "arm.torque", NULL, &handle, &error));
  good(tether_sim_apply(sim, &handle, &torque, 1, &error));
  tether_status status = TETHER_OK;
  for (int i = 0; i < 1000 && status == TETHER_OK; i++) status = tether_sim_step(sim, 1, &error);
  assert_int_equal(status, TETHER_DIVERGED);
  good(tether_sim_reset(sim, NULL, &error));
  shrink_stack(sim, 10);
  assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_FAILED);
  assert_int_equal(chdir(here), 0);
  assert_int_equal(rmdir(folder), 0); /* it is empty */
  free(here);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(their_handlers_stay_theirs),
      cmocka_unit_test(a_failure_anywhere_is_an_error),
      cmocka_unit_test(the_others_of_a_batch_go_on),
      cmocka_unit_test(failures_leave_nothing_behind),
      cmocka_unit_test(other_calls_fail_alike),
      cmocka_unit_test(nothing_is_written_where_we_stand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

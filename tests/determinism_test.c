/* Same inputs, same bits: whole scenes, driven by a script of inputs, in every way that must not matter. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"
#include "base/hash.h"
#include "record/recorder.h"

#define STEPS 100000
#define FEWER 20010 /* where many runs are compared */
#define TIMED 4500  /* steps in real time */
#define RESET_AT 9000
#define CHANGE_EVERY 300 /* steps between inputs */

/* Inputs that depend on the step alone: torques and grips that make the robot drive, turn, lift, grip, collide. */
typedef struct script {
  tt_feed feed;
  int commands[5];
} script;

static uint64_t scramble(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static void drive(tt_feed *feed, tt_sim *sim) {
  script *by = (script *)feed;
  uint64_t step = tt_sim_clock(sim)->step;
  if (step % CHANGE_EVERY) return;
  static const double reach[] = {9, 9, 20, 5, 4.999};
  tt_submission submissions[5];
  for (int i = 0; i < 5; i++) {
    double unit = (double)(scramble(step * 5 + (uint64_t)i + 1) >> 11) * 0x1p-53;
    double value = (2 * unit - 1) * reach[i];
    submissions[i] = (tt_submission){by->commands[i], i == 4 ? floor(fabs(value)) : value};
  }
  tt_entry entry = {
      .kind = TT_ENTRY_COMMANDS, .source = "script", .submissions = submissions, .count = 5};
  assert_int_equal(tt_sim_apply_entry(sim, &entry), TT_OK);
}

typedef struct run {
  tt_scene *scene;
  tt_world *world;
  script script;
} run;

static void start(run *of, const char *const *settings, int setting_count) {
  static const char *const names[] = {"left_track.torque", "right_track.torque", "arm.torque",
                                      "wrist.torque", "grip"};
  tt_error error = {.text = ""};
  if (tt_scene_load(&tt_program_guests, "frc2011", settings, setting_count, &of->scene, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_assembly assembly = {.no_wires = true, .hash_every_tick = true};
  if (tt_assemble(of->scene, &assembly, &of->world, &error) != TT_OK) fail_msg("%s", error.text);
  of->script.feed.apply = drive;
  for (int i = 0; i < 5; i++)
    if (tt_names_find_command(tt_world_names(of->world), names[i], 0, "test",
                              &of->script.commands[i], &error) != TT_OK)
      fail_msg("%s", error.text);
  assert_int_equal(tt_world_set_feed(of->world, &of->script.feed), TT_OK);
}

static void finish(run *of) {
  tt_world_detach(of->world);
  tt_world_free(of->world);
  tt_scene_free(of->scene);
}

static void tick_until(run *of, uint64_t step) {
  tt_error error = {.text = ""};
  while (tt_world_step(of->world) < step)
    if (tt_world_tick(of->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static uint64_t hash_after(uint64_t steps) {
  run one;
  start(&one, NULL, 0);
  tt_world_start(one.world);
  tick_until(&one, steps);
  uint64_t hash = tt_world_hash(one.world);
  finish(&one);
  return hash;
}

/* The hash after `steps` of the one run that all others are compared with, made once. */
static uint64_t reference(uint64_t steps) {
  static struct {
    uint64_t steps, hash;
  } noted[] = {{TIMED, 0}, {RESET_AT, 0}, {FEWER - 30, 0}, {FEWER, 0}, {STEPS, 0}};
  static bool made;
  const size_t count = sizeof noted / sizeof *noted;
  run one;
  if (!made) {
    start(&one, NULL, 0);
    tt_world_start(one.world);
    for (size_t i = 0; i < count; i++) {
      tick_until(&one, noted[i].steps);
      noted[i].hash = tt_world_hash(one.world);
    }
    finish(&one);
    made = true;
  }
  for (size_t i = 0; i < count; i++)
    if (noted[i].steps == steps) return noted[i].hash;
  fail_msg("step %llu was not noted", (unsigned long long)steps);
  return 0;
}

static void two_runs_are_one(void **state) {
  (void)state;
  assert_true(hash_after(STEPS) == reference(STEPS));
  assert_true(reference(FEWER - 30) != reference(FEWER)); /* the hash does see the state */
}

static atomic_bool burning;

static void *burn(void *context) {
  volatile double x = 1;
  while (atomic_load(&burning)) x = x * 1.0000001 + 1e-9;
  return context;
}

static void load_on_both_cores_changes_nothing(void **state) {
  (void)state;
  pthread_t burners[3];
  atomic_store(&burning, true);
  for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&burners[i], NULL, burn, NULL), 0);
  uint64_t hash = hash_after(FEWER);
  atomic_store(&burning, false);
  for (int i = 0; i < 3; i++) pthread_join(burners[i], NULL);
  assert_true(hash == reference(FEWER));
}

static void real_time_and_fast_are_one(void **state) {
  (void)state;
  static const char *const settings[] = {"pace=realtime", "speed=4", "duration=1.5 s"};
  run timed;
  start(&timed, settings, 3);
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_run(timed.world, &error), TT_OK);
  uint64_t steps = tt_world_step(timed.world);
  uint64_t hash = tt_world_hash(timed.world);
  finish(&timed);
  assert_int_equal(steps, TIMED);
  assert_true(hash == reference(TIMED));
}

static void an_observer_changes_nothing(void **state) {
  (void)state;
  char path[] = "/tmp/tether_determinism_XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  run watched;
  start(&watched, NULL, 0);
  tt_recorder *recorder;
  tt_error error = {.text = ""};
  tt_recorder_options options = {.path = path, .run = "{}"};
  if (tt_recorder_open(&options, tt_world_model(watched.world), tt_world_names(watched.world),
                       &recorder, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_world_add_observer(watched.world, tt_recorder_observer(recorder));
  tt_world_add_journal(watched.world, tt_recorder_journal(recorder));
  tt_world_start(watched.world);
  tick_until(&watched, FEWER);
  uint64_t hash = tt_world_hash(watched.world);
  tt_world_detach(watched.world);
  tt_recorder_close(recorder);
  finish(&watched);
  unlink(path);
  assert_true(hash == reference(FEWER));
}

static void a_restored_run_goes_on_as_the_first_did(void **state) {
  (void)state;
  run first, second;
  start(&first, NULL, 0);
  tt_world_start(first.world);
  tick_until(&first, FEWER / 2);
  size_t size = tt_world_state_size(first.world);
  void *saved = malloc(size);
  tt_world_save(first.world, saved);
  uint64_t middle = tt_world_hash(first.world);
  tick_until(&first, FEWER);
  assert_true(tt_world_hash(first.world) == reference(FEWER));
  /* In the same world, and in a fresh one. */
  assert_int_equal(tt_world_restore(first.world, saved, size), TT_OK);
  assert_true(tt_world_hash(first.world) == middle);
  tick_until(&first, FEWER);
  assert_true(tt_world_hash(first.world) == reference(FEWER));
  start(&second, NULL, 0);
  assert_int_equal(tt_world_restore(second.world, saved, size), TT_OK);
  tick_until(&second, FEWER);
  assert_true(tt_world_hash(second.world) == reference(FEWER));
  assert_int_equal(tt_world_restore(second.world, saved, size - 1), TT_INVALID);
  free(saved);
  finish(&first);
  finish(&second);
}

static void a_reset_is_a_fresh_start(void **state) {
  (void)state;
  run one;
  start(&one, NULL, 0);
  tt_world_start(one.world);
  tick_until(&one, RESET_AT);
  tt_world_post(one.world,
                &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"});
  tt_error error = {.text = ""};
  assert_int_equal(tt_world_tick(one.world, &error), TT_OK);
  assert_int_equal(tt_world_step(one.world), 30);
  tick_until(&one, RESET_AT);
  uint64_t hash = tt_world_hash(one.world);
  finish(&one);
  assert_true(hash == reference(RESET_AT));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(two_runs_are_one),
      cmocka_unit_test(load_on_both_cores_changes_nothing),
      cmocka_unit_test(real_time_and_fast_are_one),
      cmocka_unit_test(an_observer_changes_nothing),
      cmocka_unit_test(a_restored_run_goes_on_as_the_first_did),
      cmocka_unit_test(a_reset_is_a_fresh_start),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

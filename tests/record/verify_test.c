/* Random inputs on every scene, kept and run again: identical; and one changed input is found where it acted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/assemble.h"
#include "config/data.h"
#include "config/scene.h"
#include "core/log.h"
#include "record/journal_codec.h"
#include "record/recorder.h"
#include "record/replay.h"

#define TICKS 40

static uint64_t next_random(uint64_t *state) {
  *state += 0x9e3779b97f4a7c15u;
  uint64_t x = *state;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

static double between(uint64_t *state, double lower, double upper) {
  return lower + (upper - lower) * (double)(next_random(state) >> 11) * 0x1p-53;
}

static tt_scene *load(const char *name) {
  tt_scene *scene;
  tt_error error = {.text = ""};
  if (tt_scene_load(name, NULL, 0, &scene, &error) != TT_OK) fail_msg("%s", error.text);
  return scene;
}

/* A fresh world: its model compiled again, or a clone of `physics`, which saves most of the time. */
static tt_world *assemble(const tt_scene *scene, const tt_physics *physics) {
  tt_world *world;
  tt_error error = {.text = ""};
  tt_assembly assembly = {.physics = physics, .no_wires = true, .hash_every_tick = true};
  if (tt_assemble(scene, &assembly, &world, &error) != TT_OK) fail_msg("%s", error.text);
  return world;
}

/* A few commands within their ranges, now and then a reset. */
static void random_inputs(tt_world *world, uint64_t *state) {
  const tt_model *model = tt_world_model(world);
  int count = (int)(next_random(state) % 4);
  for (int i = 0; i < count; i++) {
    int index = (int)(next_random(state) % (uint64_t)model->command_count);
    const tt_command *command = &model->commands[index];
    double lower = command->lower < -5 ? -5 : command->lower;
    double upper = command->upper > 5 ? 5 : command->upper;
    double value = between(state, lower, upper);
    tt_world_post(world, &(tt_mail){TT_MAIL_COMMAND, index, value, "random"});
  }
  if (next_random(state) % 20 == 0) {
    int robot = (int)(next_random(state) % (uint64_t)(model->robot_count + 1)) - 1;
    tt_world_post(world, &(tt_mail){TT_MAIL_RESET, robot, 0, "random"});
  }
}

static void record(const tt_scene *scene, const tt_physics *physics, uint64_t seed,
                   const char *path) {
  tt_world *world = assemble(scene, physics);
  tt_recorder *recorder;
  tt_error error = {.text = ""};
  tt_recorder_options options = {.path = path, .run = "{}"};
  uint64_t state = seed;
  if (tt_recorder_open(&options, tt_world_model(world), tt_world_names(world), &recorder, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_world_add_observer(world, tt_recorder_observer(recorder));
  tt_world_add_journal(world, tt_recorder_journal(recorder));
  tt_world_start(world);
  for (int i = 0; i < TICKS; i++) {
    random_inputs(world, &state);
    if (tt_world_tick(world, &error) != TT_OK) break; /* diverged: the run ends there */
  }
  tt_world_detach(world);
  tt_recorder_close(recorder);
  tt_world_free(world);
}

/* Runs the log again; `name` gets the first signal that differs. */
static tt_replay_result repeat(const tt_scene *scene, const tt_physics *physics,
                               const tt_run_log *log, char *name, size_t size) {
  tt_world *world = assemble(scene, physics);
  tt_replay *replay;
  tt_error error = {.text = ""};
  if (tt_replay_open(log, &replay, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(tt_replay_attach(replay, world), TT_OK);
  tt_world_start(world);
  while (!tt_replay_done(replay) && tt_world_tick(world, &error) == TT_OK) {
  }
  tt_replay_result result = tt_replay_get_result(replay);
  tt_replay_difference found =
      tt_replay_find_difference(replay, tt_world_names(world), tt_world_view(world));
  snprintf(name, size, "%s", !result.identical && found.count ? found.name : "");
  tt_world_detach(world);
  tt_world_free(world);
  tt_replay_close(replay);
  return result;
}

static tt_run_log *open_log(const char *path) {
  tt_run_log *log;
  tt_error error = {.text = ""};
  if (tt_run_log_open(path, &log, &error) != TT_OK) fail_msg("%s", error.text);
  return log;
}

static void check_run(const tt_scene *scene, const tt_physics *recorded, const tt_physics *repeated,
                      uint64_t seed) {
  char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
  close(mkstemp(path));
  record(scene, recorded, seed, path);
  tt_run_log *log = open_log(path);
  tt_replay_result result = repeat(scene, repeated, log, signal, sizeof signal);
  if (!result.identical)
    fail_msg("%s, seed %llu: differs after step %llu (%s) in %s", scene->path,
             (unsigned long long)seed, (unsigned long long)result.first_step, result.reason,
             signal);
  assert_true(result.hashes >= 1);
  tt_run_log_close(log);
  unlink(path);
}

/* Each run in fresh worlds. Most have clones of one model: compiling it again takes longer than the run. */
static void check_scene(const char *name, int runs) {
  tt_scene *scene = load(name);
  tt_world *pattern = assemble(scene, NULL);
  const tt_physics *physics = tt_world_physics(pattern);
  for (int i = 0; i < runs; i++)
    check_run(scene, physics, i == 1 ? NULL : physics, (uint64_t)i + 1);
  tt_world_free(pattern);
  tt_scene_free(scene);
}

static void random_runs_are_identical(void **state) {
  (void)state;
  int runs = getenv("TETHER_LONG") ? 100 : 1;
  char **names = tt_data_list(&tt_data_scene);
  assert_non_null(names);
  assert_non_null(names[0]);
  for (char **name = names; *name; name++) {
    check_scene(*name, runs);
    free(*name);
  }
  free(names);
}

/* ---- one changed input ---- */

/* A run with one input: torque on the arm from the twentieth tick on. */
static void record_one_input(const tt_scene *scene, const tt_physics *physics, const char *path,
                             int *command) {
  tt_world *world = assemble(scene, physics);
  tt_recorder *recorder;
  tt_error error = {.text = ""};
  tt_recorder_options options = {.path = path, .run = "{}"};
  if (tt_recorder_open(&options, tt_world_model(world), tt_world_names(world), &recorder, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_world_add_observer(world, tt_recorder_observer(recorder));
  tt_world_add_journal(world, tt_recorder_journal(recorder));
  assert_int_equal(
      tt_names_find_command(tt_world_names(world), "arm.torque", 0, "test", command, &error),
      TT_OK);
  tt_world_start(world);
  for (int i = 0; i < TICKS; i++) {
    if (i == 20) tt_world_post(world, &(tt_mail){TT_MAIL_COMMAND, *command, 1.5, "test"});
    assert_int_equal(tt_world_tick(world, &error), TT_OK);
  }
  tt_world_detach(world);
  tt_recorder_close(recorder);
  tt_world_free(world);
}

/* Changes the one command of the journal in the file; gives the step at which it took effect. */
static uint64_t change_input(const char *path, double value) {
  tt_run_log *log = open_log(path);
  tt_run_cursor cursor;
  tt_wpilog_record record;
  tt_submission room[16];
  tt_journal_scratch scratch = {.submissions = room, .capacity = 16};
  tt_entry entry;
  uint64_t step = 0;
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next(&cursor, &record) == TT_OK) {
    if (record.entry != tt_run_log_find(log, "/tether/journal")) continue;
    assert_int_equal(tt_journal_decode(record.payload, record.size, &scratch, &entry), TT_OK);
    if (entry.kind != TT_ENTRY_COMMANDS) continue;
    step = entry.step;
    FILE *file = fopen(path, "r+b");
    /* The value is the payload's last eight bytes; records end where the next begins. */
    assert_int_equal(fseek(file, (long)cursor.offset - 8, SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    fclose(file);
    break;
  }
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  return step;
}

static void a_changed_input_is_found(void **state) {
  (void)state;
  char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
  int command;
  close(mkstemp(path));
  tt_scene *scene = load("frc2011");
  tt_world *pattern = assemble(scene, NULL);
  const tt_physics *physics = tt_world_physics(pattern);
  record_one_input(scene, physics, path, &command);
  tt_run_log *log = open_log(path);
  assert_true(repeat(scene, physics, log, signal, sizeof signal).identical);
  tt_run_log_close(log);
  uint64_t step = change_input(path, 1.25);
  assert_int_equal(step, 20 * scene->io_steps);
  log = open_log(path);
  tt_replay_result result = repeat(scene, physics, log, signal, sizeof signal);
  assert_false(result.identical);
  assert_int_equal(result.first_step, 21 * scene->io_steps); /* the end of that I/O period */
  assert_string_equal(signal, "arm.torque");
  tt_run_log_close(log);
  tt_world_free(pattern);
  tt_scene_free(scene);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_runs_are_identical),
      cmocka_unit_test(a_changed_input_is_found),
  };
  tt_log_set_level(TT_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

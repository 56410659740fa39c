/* Random inputs on every scene, kept and run again: identical; and one changed input is found where it acted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "scene/data.h"
#include "scene/scene.h"
#include "base/log.h"
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
  if (tt_scene_load(&tt_program_guests, name, NULL, 0, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  return scene;
}

/* A fresh world: its model compiled again, or a clone of `physics`, which saves most of the time. */
static tt_world *assemble(const tt_scene *scene, const tt_engine *engine) {
  tt_world *world;
  tt_error error = {.text = ""};
  tt_assembly assembly = {.engine = engine, .no_wires = true, .hash_every_tick = true};
  if (tt_assemble(scene, &assembly, &world, &error) != TT_OK) fail_msg("%s", error.text);
  return world;
}

/* What is posted before each tick. */
typedef void post_inputs(tt_world *world, int tick, void *context);

static void post_command(tt_world *world, const char *name, double value) {
  int command;
  tt_error error = {.text = ""};
  if (tt_names_find_command(tt_world_names(world), name, TT_NO_ROBOT, "test", &command, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_world_post(
      world,
      &(tt_mail){.kind = TT_MAIL_COMMAND, .index = command, .value = value, .source = "test"});
}

static void post_reset(tt_world *world, int robot) {
  tt_world_post(world, &(tt_mail){.kind = TT_MAIL_RESET, .index = robot, .source = "test"});
}

/* A few commands within their ranges, now and then a reset. `context`: the state of the random numbers. */
static void random_inputs(tt_world *world, int tick, void *context) {
  (void)tick;
  uint64_t *state = context;
  const tt_model *model = tt_world_model(world);
  int count = (int)(next_random(state) % 4);
  for (int i = 0; i < count; i++) {
    int index = (int)(next_random(state) % (uint64_t)model->command_count);
    const tt_command *command = &model->commands[index];
    double lower = command->lower < -5 ? -5 : command->lower;
    double upper = command->upper > 5 ? 5 : command->upper;
    double value = between(state, lower, upper);
    tt_world_post(
        world,
        &(tt_mail){.kind = TT_MAIL_COMMAND, .index = index, .value = value, .source = "random"});
  }
  if (next_random(state) % 20 == 0)
    post_reset(world, (int)(next_random(state) % (uint64_t)(model->robot_count + 1)) - 1);
}

/* `before`, which may be NULL, sees each view before the recorder does. */
static void record_behind(tt_observer *before, const tt_scene *scene, const tt_engine *engine,
                          const char *path, post_inputs *inputs, void *context) {
  tt_world *world = assemble(scene, engine);
  tt_recorder *recorder;
  tt_error error = {.text = ""};
  tt_recorder_options options = {.path = path, .run = "{}"};
  if (tt_recorder_open(&options, tt_world_model(world), tt_world_names(world), &recorder, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  if (before) tt_world_add_observer(world, before);
  tt_world_add_observer(world, tt_recorder_observer(recorder));
  tt_world_add_journal(world, tt_recorder_journal(recorder));
  tt_world_start(world);
  for (int i = 0; i < TICKS; i++) {
    inputs(world, i, context);
    if (tt_world_tick(world, &error) != TT_OK) break; /* diverged: the run ends there */
  }
  inputs(world, TICKS, context); /* of a world that makes no tick any more */
  tt_world_detach(world);
  tt_recorder_close(recorder);
  tt_world_free(world);
}

static void record(const tt_scene *scene, const tt_engine *engine, const char *path,
                   post_inputs *inputs, void *context) {
  record_behind(NULL, scene, engine, path, inputs, context);
}

/* Runs the log again; `name` gets the first signal that differs. */
static tt_replay_result repeat(const tt_scene *scene, const tt_engine *engine,
                               const tt_run_log *log, char *name, size_t size) {
  tt_world *world = assemble(scene, engine);
  tt_feed *feed;
  tt_observer *observer;
  tt_replay *replay;
  tt_error error = {.text = ""};
  if (tt_replay_open(log, &replay, &error) != TT_OK) fail_msg("%s", error.text);
  if (tt_replay_attach(replay, tt_world_sim(world), &feed, &observer, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_world_set_feed(world, feed), TT_OK);
  assert_int_equal(tt_world_add_observer(world, observer), TT_OK);
  tt_world_start(world);
  while (tt_replay_goes_on(replay) && tt_world_tick(world, &error) == TT_OK) {
  }
  tt_replay_result result = tt_replay_get_result(replay);
  tt_sample_difference found = tt_replay_find_difference(replay, tt_world_view(world));
  if (result.identical)
    snprintf(name, size, "%s", result.samples.name ? result.samples.name : "");
  else
    snprintf(name, size, "%s", found.count ? found.name : "");
  result.samples.name = NULL; /* the world's */
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

/* Records a run and repeats it: the same, bit for bit. Returns its steps. */
static uint64_t check_run(const tt_scene *scene, const tt_engine *recorded,
                          const tt_engine *repeated, post_inputs *inputs, void *context) {
  char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
  close(mkstemp(path));
  record(scene, recorded, path, inputs, context);
  tt_run_log *log = open_log(path);
  tt_replay_result result = repeat(scene, repeated, log, signal, sizeof signal);
  if (result.samples.differing || result.samples.missed)
    fail_msg("%s: %llu values differ, %llu samples are missed, first %s at %g s; the log is %s",
             scene->path, (unsigned long long)result.samples.differing,
             (unsigned long long)result.samples.missed, signal, result.samples.at, path);
  if (!result.identical)
    fail_msg("%s: differs after step %llu (%s) in %s; the log is %s", scene->path,
             (unsigned long long)result.first_step, result.reason, signal, path);
  assert_true(result.hashes >= 1);
  tt_run_log_close(log);
  unlink(path);
  return result.steps;
}

/* Each run in fresh worlds. Most have clones of one model: compiling it again takes longer than the run. */
static void check_scene(const char *name, int runs) {
  tt_scene *scene = load(name);
  tt_world *pattern = assemble(scene, NULL);
  const tt_engine *engine = tt_sim_engine(tt_world_sim(pattern));
  for (int i = 0; i < runs; i++) {
    uint64_t state = (uint64_t)i + 1;
    check_run(scene, engine, i == 1 ? NULL : engine, random_inputs, &state);
  }
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

/* ---- resets ---- */

static const char two_robots[] =
    "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\non_divergence: reset\n"
    "robots:\n"
    "  - {robot: frc2011, name: red, alliance: red, x: -2 m}\n"
    "  - {robot: frc2011, name: blue, alliance: blue, x: 2 m}\n";

static tt_scene *parse(const char *text) {
  tt_scene *scene;
  tt_error error = {.text = ""};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  return scene;
}

/* Two robots, or a robot and the world, in one tick, by command and by mail, in either order. */
static void resets_together(tt_world *world, int tick, void *context) {
  (void)context;
  post_command(world, "red/left_track.torque", 3);
  if (tick == 5) post_command(world, "blue/reset", 1);
  if (tick == 5) post_reset(world, 0);
  if (tick == 9) post_reset(world, 1);
  if (tick == 9) post_command(world, "red/reset", 1);
  if (tick == 13) post_reset(world, 0);
  if (tick == 13) post_reset(world, TT_NO_ROBOT);
  if (tick == 13) post_command(world, "blue/reset", 1);
}

/* Torque without measure; what is commanded after it diverged stands before the reset in the journal. */
static void too_much(tt_world *world, int tick, void *context) {
  uint32_t *epoch = context;
  *epoch = tt_world_view(world)->epoch;
  if (tick == 3) post_command(world, "joint:red/arm.torque", 9e6);
  if (tick > 3) post_command(world, "blue/left_track.torque", 0.1 * tick);
}

static void resets_are_repeated_in_their_order(void **state) {
  (void)state;
  uint32_t epoch = 0;
  tt_scene *scene = parse(two_robots);
  tt_world *pattern = assemble(scene, NULL);
  check_run(scene, tt_sim_engine(tt_world_sim(pattern)), tt_sim_engine(tt_world_sim(pattern)),
            resets_together, NULL);
  check_run(scene, tt_sim_engine(tt_world_sim(pattern)), tt_sim_engine(tt_world_sim(pattern)),
            too_much, &epoch);
  assert_true(epoch >= 1); /* it did diverge */
  tt_world_free(pattern);
  tt_scene_free(scene);
}

/* People reset a paused world, command it and end it. */
static void reset_last(tt_world *world, int tick, void *context) {
  (void)context;
  if (tick < TICKS) return;
  tt_sim_ask_reset(tt_world_sim(world), TT_NO_ROBOT);
  tt_world_apply_resets(world);
  tt_submission torque = {.value = 9e6};
  tt_error error = {.text = ""};
  if (tt_names_find_command(tt_world_names(world), "joint:red/arm.torque", TT_NO_ROBOT, "test",
                            &torque.command, &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_sim_apply(tt_world_sim(world), "test", &torque, 1, NULL), TT_OK);
}

/* No tick follows, which would count, and could even diverge. */
static void a_run_may_end_with_a_reset(void **state) {
  (void)state;
  tt_scene *scene = parse(two_robots);
  tt_world *pattern = assemble(scene, NULL);
  const tt_engine *engine = tt_sim_engine(tt_world_sim(pattern));
  assert_int_equal(check_run(scene, engine, engine, reset_last, NULL), TICKS * scene->io_steps);
  tt_world_free(pattern);
  tt_scene_free(scene);
}

/* ---- one changed input ---- */

/* Torque on the arm from the twentieth tick on. */
static void one_input(tt_world *world, int tick, void *context) {
  (void)context;
  if (tick == 20) post_command(world, "arm.torque", 1.5);
}

/* Changes the one command of the journal in the file to a value of as many bytes; gives the step at which it took effect. */
static uint64_t change_input(const char *path, double value) {
  tt_run_log *log = open_log(path);
  tt_run_cursor cursor;
  tt_wpilog_record record;
  tt_submission room[16];
  tt_journal_scratch scratch = {.submissions = room, .capacity = 16};
  tt_entry entry;
  uint32_t count;
  uint64_t step = 0;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next_kept(&cursor, &record) == TT_OK) {
    const char *name = entries[record.entry].name;
    if (!entries[record.entry].journal) continue;
    assert_int_equal(tt_journal_decode(name, record.payload, record.size, &scratch, &entry), TT_OK);
    if (entry.kind != TT_ENTRY_COMMANDS) continue;
    tt_bytes changed = {0};
    tt_wpilog_record again;
    size_t offset = 0;
    step = entry.step;
    room[0].value = value;
    tt_journal_encode(&changed, record.entry, record.timestamp, &entry);
    assert_int_equal(tt_wpilog_next(changed.data, changed.size, &offset, &again), TT_OK);
    assert_int_equal(again.size, record.size);
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, (long)(record.payload - tt_run_log_data(log)), SEEK_SET), 0);
    assert_int_equal(fwrite(again.payload, again.size, 1, file), 1);
    fclose(file);
    tt_bytes_free(&changed);
    break;
  }
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  return step;
}

static void a_changed_input_is_found(void **state) {
  (void)state;
  char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
  close(mkstemp(path));
  tt_scene *scene = load("frc2011");
  tt_world *pattern = assemble(scene, NULL);
  const tt_engine *engine = tt_sim_engine(tt_world_sim(pattern));
  record(scene, engine, path, one_input, NULL);
  tt_run_log *log = open_log(path);
  assert_true(repeat(scene, engine, log, signal, sizeof signal).identical);
  tt_run_log_close(log);
  uint64_t step = change_input(path, 1.25);
  assert_int_equal(step, 20 * scene->io_steps);
  log = open_log(path);
  tt_replay_result result = repeat(scene, engine, log, signal, sizeof signal);
  assert_false(result.identical);
  assert_int_equal(result.first_step, 21 * scene->io_steps); /* the end of that I/O period */
  assert_string_equal(signal, "arm.torque");
  tt_run_log_close(log);
  tt_world_free(pattern);
  tt_scene_free(scene);
  unlink(path);
}

/* ---- what people look at ---- */

/* Overwrites the first double of each record of the entries whose names begin so; gives how many. */
static int overwrite(const char *path, const char *names, double value) {
  tt_run_log *log = open_log(path);
  tt_run_cursor cursor;
  tt_wpilog_record record;
  uint32_t count;
  const tt_run_entry *entries = tt_run_log_entries(log, &count);
  int changed = 0;
  FILE *file = fopen(path, "r+b");
  assert_true(tt_run_cursor_open(&cursor, log));
  while (tt_run_cursor_next_kept(&cursor, &record) == TT_OK) {
    if (strncmp(entries[record.entry].name, names, strlen(names)) != 0) continue;
    assert_int_equal(fseek(file, (long)(record.payload - tt_run_log_data(log)), SEEK_SET), 0);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    changed++;
  }
  fclose(file);
  tt_run_cursor_close(&cursor);
  tt_run_log_close(log);
  return changed;
}

static void signals_and_poses_that_are_not_those_of_the_run_are_found(void **state) {
  (void)state;
  static const char *const names[] = {"/signals/", "/signals/arm.position", "/signals/chassis.x",
                                      "/poses/chassis"};
  tt_scene *scene = load("frc2011");
  tt_world *pattern = assemble(scene, NULL);
  const tt_engine *engine = tt_sim_engine(tt_world_sim(pattern));
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
    close(mkstemp(path));
    record(scene, engine, path, one_input, NULL);
    tt_run_log *log = open_log(path);
    tt_replay_result result = repeat(scene, engine, log, signal, sizeof signal);
    tt_run_log_close(log);
    assert_true(result.identical);
    assert_int_equal(result.samples.differing + result.samples.missed, 0);
    assert_int_equal(result.samples.samples, TICKS + 1);
    assert_int_equal(result.samples.signals, result.samples.kept);
    assert_true(overwrite(path, names[i], 1234.5) > 0);
    log = open_log(path);
    result = repeat(scene, engine, log, signal, sizeof signal);
    assert_true(result.identical); /* the states and inputs are as they were */
    assert_true(result.samples.differing + result.samples.missed > 0);
    if (*signal) assert_true(result.samples.recorded == 1234.5);
    tt_run_log_close(log);
    unlink(path);
  }
  tt_world_free(pattern);
  tt_scene_free(scene);
}

/* ---- a world that the machine lets wait ---- */

/* Longer than the recorder's writer sleeps: it finds the state hash of a view that is not there yet. */
static void dawdle(tt_observer *observer, const tt_view *view) {
  (void)observer;
  if (view->step % 7 == 0) usleep(120000);
}

static void a_view_that_comes_later_than_its_hash_is_a_sample(void **state) {
  (void)state;
  char path[] = "/tmp/tether_verify_XXXXXX", signal[300];
  close(mkstemp(path));
  tt_observer slow = {.publish = dawdle};
  tt_scene *scene = load("frc2011");
  record_behind(&slow, scene, NULL, path, one_input, NULL);
  tt_run_log *log = open_log(path);
  tt_replay_result result = repeat(scene, NULL, log, signal, sizeof signal);
  assert_true(result.identical);
  assert_int_equal(result.samples.differing + result.samples.missed, 0);
  assert_int_equal(result.samples.samples, TICKS + 1);
  tt_run_log_close(log);
  tt_scene_free(scene);
  unlink(path);
}

#define MANY 2000 /* views, several times as many as wait for a recorder */

typedef struct slow_disk {
  bool realtime, taken;
  atomic_bool published; /* all of them */
} slow_disk;

/* The recorder's thread asks for it when it has written for the first time, and goes on when a disk has taken its time. */
static char *take_time(void *context) {
  slow_disk *disk = context;
  if (!disk->taken && !disk->realtime) usleep(300000);
  while (!disk->taken && disk->realtime && !disk->published) usleep(1000);
  disk->taken = true;
  return strdup("{}");
}

/* How many samples are not kept of a world that publishes as fast as it can. */
static uint64_t lost_of_many(const tt_scene *scene, const char *path, bool realtime) {
  tt_world *world = assemble(scene, NULL);
  slow_disk disk = {.realtime = realtime};
  tt_recorder *recorder;
  tt_error error = {.text = ""};
  tt_recorder_options options = {.path = path,
                                 .run = "{}",
                                 .statistics = take_time,
                                 .statistics_context = &disk,
                                 .realtime = realtime};
  if (tt_recorder_open(&options, tt_world_model(world), tt_world_names(world), &recorder, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  tt_observer *observer = tt_recorder_observer(recorder);
  for (int i = 0; i < MANY; i++) observer->publish(observer, tt_world_view(world));
  disk.published = true;
  uint64_t lost = tt_recorder_lost(recorder);
  tt_recorder_close(recorder);
  tt_world_free(world);
  unlink(path);
  return lost;
}

static void a_world_that_may_wait_loses_no_sample(void **state) {
  (void)state;
  char path[] = "/tmp/tether_verify_XXXXXX";
  close(mkstemp(path));
  tt_scene *scene = load("concept-symmetric");
  assert_int_equal(lost_of_many(scene, path, false), 0);
  assert_true(lost_of_many(scene, path, true) > 0);
  tt_scene_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_runs_are_identical),
      cmocka_unit_test(resets_are_repeated_in_their_order),
      cmocka_unit_test(a_run_may_end_with_a_reset),
      cmocka_unit_test(a_changed_input_is_found),
      cmocka_unit_test(signals_and_poses_that_are_not_those_of_the_run_are_found),
      cmocka_unit_test(a_view_that_comes_later_than_its_hash_is_a_sample),
      cmocka_unit_test(a_world_that_may_wait_loses_no_sample),
  };
  tt_log_set_level(TT_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

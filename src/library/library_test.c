/* library_test.c: the public face, as a program sees it. */
#include "library/library_testing.h"

#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define COMMANDS 10
#define SIGNALS 30

/* Swivels with a velocity that depends on the step. */
static void drive(tether_sim *sim, int steps) {
  tether_handle swivel;
  good(tether_command_find(sim, "swivel.velocity", NULL, &swivel, &error));
  for (int i = 0; i < steps; i++) {
    double value = 0.5 + 0.25 * sin(0.1 * (double)tether_sim_steps(sim));
    good(tether_sim_apply(sim, &swivel, &value, 1, &error));
    good(tether_sim_step(sim, 10, &error));
  }
}

static void scenes_are_listed_by_name(void **state) {
  (void)state;
  char name[64], before[64] = "", few[4];
  bool gripper = false;
  int count = 0;
  for (; tether_scene_name(count, name, sizeof name) == TETHER_OK; count++) {
    tether_scene *scene = load(name);
    assert_string_not_equal(before, name);
    assert_true(tether_scene_timestep(scene) > 0);
    tether_scene_free(scene);
    gripper |= strcmp(name, "gripper") == 0;
    snprintf(before, sizeof before, "%s", name);
  }
  assert_true(gripper && count > 5);
  good(tether_scene_name(0, few, sizeof few));
  assert_int_equal(strlen(few), sizeof few - 1);
  assert_int_equal(tether_scene_name(count, name, sizeof name), TETHER_NOT_FOUND);
  assert_int_equal(tether_scene_name(-1, name, sizeof name), TETHER_INVALID);
  assert_int_equal(tether_scene_name(0, NULL, 4), TETHER_INVALID);
}

static void what_can_be_set_is_listed(void **state) {
  (void)state;
  const char *set = "robots.gripper.x=2 ft";
  tether_scene *scene;
  tether_setting setting;
  char title[128], few[4];
  int found = 0, count = 0;
  good(tether_scene_title("gripper", title, sizeof title, &error));
  assert_non_null(strstr(title, "gripper"));
  good(tether_scene_title("gripper", few, sizeof few, &error));
  assert_int_equal(strlen(few), 3);
  assert_int_equal(tether_scene_title("gripper", NULL, 3, &error), TETHER_INVALID);
  assert_int_equal(tether_scene_title("griper", title, sizeof title, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "gripper"));
  good(tether_scene_load("gripper", &set, 1, &scene, &error));
  for (; tether_scene_setting(scene, count, &setting) == TETHER_OK; count++) {
    if (strcmp(setting.path, "robots.gripper.x") == 0) {
      found++;
      assert_string_equal(setting.value, "2 ft");
      assert_string_equal(setting.initial, "0 m");
      assert_string_equal(setting.unit, "m");
      assert_string_equal(setting.owner, "robots.gripper");
      assert_int_equal(setting.kind, TETHER_SETTING_QUANTITY);
      assert_true(setting.lower == -1e4 && setting.upper == 1e4 && setting.is_known);
    } else if (strcmp(setting.path, "wires.lockstep-tcp.joints") == 0) {
      found++;
      assert_false(setting.is_known);
      assert_string_equal(setting.owner, "wires.lockstep-tcp");
    }
  }
  assert_int_equal(found, 2);
  assert_int_equal(tether_scene_setting(scene, count, &setting), TETHER_NOT_FOUND);
  assert_int_equal(tether_scene_setting(scene, -1, &setting), TETHER_NOT_FOUND);
  assert_int_equal(tether_scene_setting(NULL, 0, &setting), TETHER_INVALID);
  assert_int_equal(tether_scene_setting(scene, 0, NULL), TETHER_INVALID);
  tether_scene_free(scene);
}

/* A program in the place of compile-model that counts how often it is started. */
static void what_was_compiled_is_compiled_once(void **state) {
  (void)state;
  char folder[] = "/tmp/tether-library-XXXXXX", program[64], started[64], script[1024], own[512];
  uint64_t hashes[2];
  struct stat about;
  assert_non_null(mkdtemp(folder));
  snprintf(program, sizeof program, "%s/count", folder);
  snprintf(started, sizeof started, "%s/started", folder);
  ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
  assert_true(length > 0);
  own[length] = '\0';
  *strrchr(own, '/') = '\0';
  snprintf(script, sizeof script, "#!/bin/sh\necho >>%s\nexec %s/libexec/tether/compile-model\n",
           started, own);
  FILE *file = fopen(program, "w");
  assert_true(file && fputs(script, file) >= 0 && fclose(file) == 0);
  assert_int_equal(chmod(program, 0700), 0);
  assert_int_equal(tether_set_compiler(program), TETHER_OK);
  for (int i = 0; i < 2; i++) {
    tether_scene *scene = load("gripper");
    tether_sim *sim = sim_of(scene);
    drive(sim, 20);
    hashes[i] = tether_sim_hash(sim);
    tether_sim_free(sim);
    tether_scene_free(scene);
  }
  assert_int_equal(hashes[0], hashes[1]);
  assert_int_equal(stat(started, &about), 0);
  assert_int_equal(about.st_size, 1);
  assert_int_equal(tether_set_compiler(NULL), TETHER_OK);
  assert_true(unlink(program) == 0 && unlink(started) == 0 && rmdir(folder) == 0);
}

static void a_command_moves_a_joint(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene);
  tether_handle swivel, radians, degrees;
  double one = 1, angle[2];
  good(tether_command_find(sim, "swivel.velocity", NULL, &swivel, &error));
  good(tether_signal_find(sim, "swivel.position", NULL, &radians, &error));
  good(tether_signal_find(sim, "swivel.position", "deg", &degrees, &error));
  good(tether_sim_apply(sim, &swivel, &one, 1, &error));
  good(tether_sim_step(sim, 600, &error));
  good(tether_sim_read(sim, (tether_handle[]){radians, degrees}, angle, 2, &error));
  assert_true(fabs(angle[0] - 1) < 0.05);
  assert_true(fabs(angle[1] - angle[0] * 180 / M_PI) < 1e-9);
  assert_true(fabs(tether_sim_time(sim) - 1) < 1e-12);
  assert_int_equal(tether_sim_steps(sim), 600);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

static void a_sim_goes_on_from_a_saved_state(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *clone;
  tether_scene_free(scene); /* its simulations keep it */
  drive(sim, 20);
  size_t size = tether_sim_state_size(sim);
  void *saved = malloc(size);
  good(tether_sim_save(sim, saved, size, &error));
  good(tether_sim_clone(sim, &clone, &error));
  assert_int_equal(tether_sim_hash(clone), tether_sim_hash(sim));
  drive(sim, 20);
  uint64_t hash = tether_sim_hash(sim);
  drive(clone, 20);
  assert_int_equal(tether_sim_hash(clone), hash);
  good(tether_sim_restore(sim, saved, size, &error));
  drive(sim, 20);
  assert_int_equal(tether_sim_hash(sim), hash);
  assert_int_equal(tether_sim_restore(sim, saved, size - 1, &error), TETHER_INVALID);
  memset(saved, 0, size);
  assert_int_equal(tether_sim_restore(sim, saved, size, &error), TETHER_OTHER_VERSION);
  assert_int_equal(tether_sim_hash(sim), hash);
  good(tether_sim_reset(sim, NULL, &error));
  drive(sim, 40);
  assert_int_equal(tether_sim_hash(sim), hash);
  free(saved);
  tether_sim_free(clone);
  tether_sim_free(sim);
}

/* What a caller sets must reach neither the bits nor what is read; and it must find it as it was. */
static void the_callers_surroundings_are_his(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene);
  drive(sim, 20);
  uint64_t hash = tether_sim_hash(sim);
  tether_sim_free(sim);
  tether_scene_free(scene);
  bool german = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
  fesetround(FE_UPWARD);
  scene = load("gripper");
  sim = sim_of(scene);
  drive(sim, 20);
  assert_int_equal(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  if (german) setlocale(LC_ALL, "C");
  /* The velocities were computed under upward rounding, too: so only the hash of a run without any is compared. */
  tether_sim *calm = sim_of(scene), *upward = sim_of(scene);
  good(tether_sim_step(calm, 100, &error));
  fesetround(FE_UPWARD);
  good(tether_sim_step(upward, 100, &error));
  fesetround(FE_TONEAREST);
  assert_int_equal(tether_sim_hash(calm), tether_sim_hash(upward));
  (void)hash;
  tether_sim_free(calm);
  tether_sim_free(upward);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

static void what_is_wrong_is_named(void **state) {
  (void)state;
  tether_scene *scene;
  tether_sim *sim;
  tether_handle handle;
  double value = NAN;
  assert_int_equal(tether_scene_load("griper", NULL, 0, &scene, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "gripper"));
  const char *settings[] = {"timestp=1 ms"};
  assert_int_equal(tether_scene_load("gripper", settings, 1, &scene, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "timestep"));
  assert_int_equal(tether_scene_load(NULL, NULL, 0, &scene, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_new(NULL, &sim, &error), TETHER_INVALID);
  scene = load("gripper");
  sim = sim_of(scene);
  assert_int_equal(tether_signal_find(sim, "swivel.positon", NULL, &handle, &error),
                   TETHER_NOT_FOUND);
  assert_non_null(strstr(error.text, "swivel.position"));
  assert_int_equal(tether_signal_find(sim, "swivel.position", "kg", &handle, &error),
                   TETHER_NOT_FOUND);
  good(tether_command_find(sim, "swivel.velocity", NULL, &handle, &error));
  uint64_t hash = tether_sim_hash(sim);
  assert_int_equal(tether_sim_apply(sim, &handle, &value, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "swivel"));
  value = 1e9;
  assert_int_equal(tether_sim_apply(sim, &handle, &value, 1, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_read(sim, &handle, &value, 1, &error), TETHER_INVALID);
  handle.index = 1u << 30;
  value = 1;
  assert_int_equal(tether_sim_apply(sim, &handle, &value, 1, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_step(sim, 0, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_hash(sim), hash);
  assert_int_equal(tether_sim_step(NULL, 1, NULL), TETHER_INVALID);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* Their numbers mean something else there. */
static void handles_of_another_scene_are_refused(void **state) {
  (void)state;
  tether_scene *scenes[] = {load("gripper"), load("frc2011"), load("gripper")};
  tether_sim *one = sim_of(scenes[0]), *other = sim_of(scenes[1]), *same = sim_of(scenes[2]);
  tether_handle command, signal, of_value;
  tether_item item;
  double value = 0.1;
  good(tether_command_find(one, "swivel.velocity", NULL, &command, &error));
  good(tether_signal_find(one, "swivel.position", NULL, &signal, &error));
  good(tether_sim_value_item(one, 0, &item));
  good(tether_value_find(one, item.name, NULL, &of_value, &error));
  const uint64_t hash = tether_sim_hash(other);
  assert_int_equal(tether_sim_apply(other, &command, &value, 1, &error), TETHER_INVALID);
  assert_string_equal(error.text, "commands[0]: a handle of another scene");
  assert_int_equal(tether_sim_read_commands(other, &command, &value, 1, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_read(other, &signal, &value, 1, &error), TETHER_INVALID);
  assert_string_equal(error.text, "signals[0]: a handle of another scene");
  assert_int_equal(tether_sim_get_values(other, &of_value, &value, 1, &error), TETHER_INVALID);
  assert_string_equal(error.text, "handles[0]: a handle of another scene");
  assert_int_equal(tether_sim_read(one, &command, &value, 1, &error), TETHER_INVALID);
  assert_string_equal(error.text, "signals[0]: not the handle of a signal");
  assert_int_equal(tether_sim_hash(other), hash);
  good(tether_sim_apply(same, &command, &value, 1, &error));
  good(tether_sim_read(same, &signal, &value, 1, &error));
  tether_sim *const sims[] = {one, other, same};
  for (int i = 0; i < 3; i++) {
    tether_sim_free(sims[i]);
    tether_scene_free(scenes[i]);
  }
}

static int lines;
static void count_line(void *context, int level, const char *line) {
  (void)context;
  assert_true(level <= 2 && *line);
  lines++;
}

/* A simulation driven beyond what can be integrated: nothing is printed, the error says it, and it can begin anew. */
static void one_that_diverges_can_begin_anew(void **state) {
  (void)state;
  const char *settings[] = {"timestep=0.1 s", "io_period=0.1 s"};
  tether_scene *scene;
  tether_handle handle;
  tether_set_log(count_line, NULL);
  good(tether_scene_load("frc2011", settings, 2, &scene, &error));
  tether_sim *sim = sim_of(scene);
  uint64_t hash = tether_sim_hash(sim);
  good(tether_command_find(sim, "arm.torque", NULL, &handle, &error));
  double torque = 1e6;
  good(tether_sim_apply(sim, &handle, &torque, 1, &error));
  tether_status status = TETHER_OK;
  for (int i = 0; i < 1000 && status == TETHER_OK; i++) status = tether_sim_step(sim, 1, &error);
  assert_int_equal(status, TETHER_DIVERGED);
  assert_true(strlen(error.text) > 0);
  assert_int_equal(tether_sim_step(sim, 1, &error), TETHER_DIVERGED);
  good(tether_sim_reset(sim, NULL, &error));
  assert_int_equal(tether_sim_hash(sim), hash);
  good(tether_sim_step(sim, 1, &error));
  tether_set_log(NULL, NULL);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

static void everything_can_be_listed(void **state) {
  (void)state;
  tether_scene *scene = load("frc2011");
  tether_sim *sim = sim_of(scene);
  tether_item item;
  tether_handle handle;
  assert_true(tether_sim_signal_count(sim) > 20);
  for (int i = 0; i < tether_sim_signal_count(sim); i++) {
    good(tether_sim_signal_item(sim, i, &item));
    good(tether_signal_find(sim, item.name, item.unit, &handle, &error));
    assert_int_equal(handle.index, i);
  }
  for (int i = 0; i < tether_sim_command_count(sim); i++) {
    good(tether_sim_command_item(sim, i, &item));
    assert_true(item.lower <= item.upper);
    good(tether_command_find(sim, item.name, item.unit, &handle, &error));
    assert_int_equal(handle.index, i);
  }
  assert_int_equal(tether_sim_signal_item(sim, tether_sim_signal_count(sim), &item),
                   TETHER_NOT_FOUND);
  good(tether_sim_step(sim, 300, &error));
  tether_body body;
  tether_joint joint;
  tether_contact contact;
  for (int i = 0; i < tether_sim_body_count(sim); i++) good(tether_sim_body(sim, i, &body));
  for (int i = 0; i < tether_sim_joint_count(sim); i++) good(tether_sim_joint(sim, i, &joint));
  assert_true(tether_sim_contact_count(sim) > 0); /* it stands on its wheels */
  for (int i = 0; i < tether_sim_contact_count(sim); i++)
    good(tether_sim_contact(sim, i, &contact));
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* One call instead of three: the same bits; and what is wrong in it changes nothing. */
static void an_exchange_is_apply_step_and_read(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *one = sim_of(scene), *other = sim_of(scene);
  tether_handle swivel, base, signals[2];
  double values[2] = {1, -0.5}, read[2], got[2] = {0, 0};
  good(tether_command_find(one, "swivel.velocity", "deg/s", &swivel, &error));
  good(tether_command_find(one, "base.velocity", NULL, &base, &error));
  good(tether_signal_find(one, "swivel.position", "deg", &signals[0], &error));
  good(tether_signal_find(one, "base.velocity", NULL, &signals[1], &error));
  tether_handle both[2] = {swivel, base};
  tether_io ios[2] = {
      {.commands = &swivel, .command_values = &values[0], .command_count = 1},
      {.commands = &base,
       .command_values = &values[1],
       .command_count = 1,
       .signals = signals,
       .signal_values = got,
       .signal_count = 2},
  };
  for (int i = 0; i < 50; i++) {
    values[0] = 10 * sin(0.1 * i);
    good(tether_sim_apply(one, both, values, 2, &error));
    good(tether_sim_step(one, 1 + i % 3, &error));
    good(tether_sim_read(one, signals, read, 2, &error));
    good(tether_sim_exchange(other, ios, 2, 1 + i % 3, &error));
    assert_memory_equal(got, read, sizeof read);
    assert_int_equal(tether_sim_hash(one), tether_sim_hash(other));
  }
  good(tether_sim_read_commands(other, both, read, 2, &error));
  assert_memory_equal(read, values, sizeof read);
  assert_int_equal(tether_sim_read_commands(other, signals, read, 2, &error), TETHER_INVALID);
  uint64_t hash = tether_sim_hash(other);
  values[1] = NAN; /* the first one's command is not applied, either */
  values[0] = 5;
  assert_int_equal(tether_sim_exchange(other, ios, 2, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "base"));
  values[1] = 0;
  ios[1].signals = both;
  assert_int_equal(tether_sim_exchange(other, ios, 2, 1, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_exchange(other, NULL, 2, 1, &error), TETHER_INVALID);
  ios[1].signals = NULL;
  assert_int_equal(tether_sim_exchange(other, ios, 2, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "ios[1]"));
  assert_int_equal(tether_sim_hash(other), hash);
  tether_sim_free(one);
  tether_sim_free(other);
  tether_scene_free(scene);
}

typedef struct asking {
  tether_sim *sim;
  tether_batch *batch;
  int asked, until;
} asking;

/* What is asked about is in use. */
static int enough(void *context) {
  asking *self = context;
  double out[3];
  if (self->sim) assert_int_equal(tether_sim_reset(self->sim, NULL, NULL), TETHER_BUSY);
  if (self->batch) {
    assert_int_equal(tether_batch_reset(self->batch, NULL, NULL, out, NULL), TETHER_BUSY);
    assert_int_equal(tether_batch_step(self->batch, NULL, 1, out, NULL), TETHER_BUSY);
  }
  return ++self->asked >= self->until;
}

/* It stands where it was ended, sensed, and goes on to the same bits. */
static void a_long_step_can_be_ended(void **state) {
  (void)state;
  enum { LONG = 1 << 30 };
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *straight = sim_of(scene);
  asking self = {.sim = sim, .until = 2};
  good(tether_sim_set_interrupt(sim, enough, &self, &error));
  assert_int_equal(tether_sim_step(sim, LONG, &error), TETHER_INTERRUPTED);
  assert_non_null(strstr(error.text, "interrupted after"));
  assert_int_equal(self.asked, 2);
  uint64_t made = tether_sim_steps(sim);
  assert_true(made > 0 && made < LONG);
  assert_true(fabs(tether_sim_time(sim) - (double)made / 600) < 1e-9);
  good(tether_sim_step(straight, (int64_t)made, &error));
  assert_int_equal(tether_sim_hash(sim), tether_sim_hash(straight));
  good(tether_sim_set_interrupt(sim, NULL, NULL, &error));
  good(tether_sim_step(sim, 10, &error));
  assert_int_equal(self.asked, 2);
  tether_sim_free(sim);
  tether_sim_free(straight);

  tether_batch *batch;
  double out[3];
  const char *time[] = {"time"};
  self = (asking){.until = 1};
  good(tether_batch_new(scene, 3, 2, NULL, 0, time, 1, &batch, &error));
  self.batch = batch;
  good(tether_batch_set_interrupt(batch, enough, &self, &error));
  assert_int_equal(tether_batch_step(batch, NULL, LONG, out, &error), TETHER_INTERRUPTED);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(tether_batch_failure(batch, i, &error), TETHER_INTERRUPTED);
    assert_true(tether_batch_failed(batch)[i]);
  }
  good(tether_batch_reset(batch, NULL, NULL, out, &error));
  good(tether_batch_step(batch, NULL, 1, out, &error));
  for (int i = 0; i < 3; i++) assert_false(tether_batch_failed(batch)[i]);
  tether_batch_free(batch);
  tether_scene_free(scene);
}

static const char *const batch_commands[] = {"swivel.velocity", "base.velocity"};
static const char *const batch_signals[] = {"swivel.position", "base.position", "time"};

static double wanted(int sim, int round, int command) {
  return 0.4 * sin(0.3 * sim + 0.2 * round + command);
}

/* Hashes of the simulations of a batch after some rounds. */
static void run_batch(tether_scene *scene, int count, int threads, uint64_t *hashes) {
  tether_batch *batch;
  double *in = calloc((size_t)count * 2, sizeof *in), *out = calloc((size_t)count * 3, sizeof *out);
  good(
      tether_batch_new(scene, count, threads, batch_commands, 2, batch_signals, 3, &batch, &error));
  for (int round = 0; round < 12; round++) {
    for (int i = 0; i < count; i++)
      for (int k = 0; k < 2; k++) in[2 * i + k] = wanted(i, round, k);
    good(tether_batch_step(batch, in, 10, out, &error));
  }
  for (int i = 0; i < count; i++) {
    good(tether_batch_failure(batch, i, &error));
    hashes[i] = tether_sim_hash(tether_batch_sim(batch, i));
    assert_true(fabs(out[3 * i + 2] - 0.2) < 1e-12);
  }
  tether_batch_free(batch);
  free(in);
  free(out);
}

static void a_batchs_bits_depend_on_nothing_else(void **state) {
  (void)state;
  static const int counts[] = {1, 2, 7, 64}, threads[] = {1, 2, 3};
  uint64_t expected[64], hashes[64];
  tether_scene *scene = load("gripper");
  for (int i = 0; i < 64; i++) { /* one by one, without a batch */
    tether_sim *sim = sim_of(scene);
    tether_handle handles[2];
    for (int k = 0; k < 2; k++)
      good(tether_command_find(sim, batch_commands[k], NULL, &handles[k], &error));
    for (int round = 0; round < 12; round++) {
      double values[2] = {wanted(i, round, 0), wanted(i, round, 1)};
      good(tether_sim_apply(sim, handles, values, 2, &error));
      good(tether_sim_step(sim, 10, &error));
    }
    expected[i] = tether_sim_hash(sim);
    tether_sim_free(sim);
  }
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
      run_batch(scene, counts[c], threads[t], hashes);
      for (int i = 0; i < counts[c]; i++) assert_int_equal(hashes[i], expected[i]);
    }
  tether_scene_free(scene);
}

static void one_that_fails_stops_no_other(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_batch *batch;
  double in[3 * 2] = {0.1, 0, NAN, 0, 0.1, 0}, out[3 * 3];
  uint8_t mask[3] = {0, 1, 0};
  good(tether_batch_new(scene, 3, 2, batch_commands, 2, batch_signals, 3, &batch, &error));
  good(tether_batch_step(batch, in, 10, out, &error));
  assert_int_equal(tether_batch_failure(batch, 0, &error), TETHER_OK);
  assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "swivel"));
  assert_int_equal(tether_sim_steps(tether_batch_sim(batch, 1)), 0);
  assert_int_equal(tether_sim_steps(tether_batch_sim(batch, 2)), 10);
  good(tether_batch_reset(batch, mask, NULL, out, &error));
  in[2] = 0.1;
  good(tether_batch_step(batch, in, 10, out, &error));
  assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_OK);
  assert_int_equal(tether_sim_steps(tether_batch_sim(batch, 1)), 10);
  assert_int_equal(tether_sim_steps(tether_batch_sim(batch, 2)), 20);
  pid_t child = fork();
  if (child == 0) {
    bool refused = tether_batch_step(batch, in, 1, out, &error) == TETHER_FAILED;
    bool usable = tether_sim_step(tether_batch_sim(batch, 0), 1, &error) == TETHER_OK;
    _exit(refused && usable ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  tether_batch_free(batch);
  tether_scene_free(scene);
}

/* A step of its own, between those of the batch. */
static void one_that_fails_alone_has_failed_in_its_batch(void **state) {
  (void)state;
  static const char *const settings[] = {"timestep=0.1 s", "io_period=0.1 s"};
  tether_scene *scene;
  tether_batch *batch;
  tether_handle handle;
  double torque = 1e6;
  good(tether_scene_load("frc2011", settings, 2, &scene, &error));
  good(tether_batch_new(scene, 3, 2, NULL, 0, NULL, 0, &batch, &error));
  tether_sim *sim = tether_batch_sim(batch, 1);
  good(tether_command_find(sim, "arm.torque", NULL, &handle, &error));
  for (int way = 0; way < 2; way++) {
    good(tether_sim_apply(sim, &handle, &torque, 1, &error));
    tether_status status = TETHER_OK;
    for (int i = 0; i < 1000 && status == TETHER_OK; i++)
      status = tether_sim_step(sim, 1, way ? NULL : &error);
    assert_int_equal(status, TETHER_DIVERGED);
    assert_memory_equal(tether_batch_failed(batch), ((uint8_t[]){0, 1, 0}), 3);
    assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_DIVERGED);
    assert_non_null(strstr(error.text, "diverged"));
    good(tether_batch_step(batch, NULL, 1, NULL, &error));
    assert_memory_equal(tether_batch_failed(batch), ((uint8_t[]){0, 1, 0}), 3);
    if (way)
      good(tether_sim_reset(sim, NULL, &error));
    else
      good(tether_batch_reset(batch, NULL, NULL, NULL, &error));
    assert_int_equal(tether_batch_failed(batch)[1], 0);
    good(tether_batch_failure(batch, 1, &error));
  }
  tether_batch_free(batch);
  tether_scene_free(scene);
}

/* What two threads try at once. Each is told BUSY, or does it whole. */
typedef struct rival {
  tether_sim *sim;
  tether_batch *batch;
  atomic_bool *done;
  void *state;
  size_t size;
  long busy, others;
} rival;

static void count(rival *by, tether_status status) {
  if (status == TETHER_BUSY)
    by->busy++;
  else if (status != TETHER_OK)
    by->others++;
}

static void *compete(void *untyped) {
  rival *by = untyped;
  tether_error own;
  double in[2 * 2] = {0}, out[2 * 3];
  while (!atomic_load(by->done)) {
    count(by, tether_sim_reset(by->sim, NULL, &own));
    count(by, tether_sim_save(by->sim, by->state, by->size, &own));
    count(by, tether_sim_restore(by->sim, by->state, by->size, &own));
    count(by, tether_sim_step(by->sim, 1, &own));
    count(by, tether_batch_step(by->batch, in, 1, out, &own));
  }
  return NULL;
}

/* While one thread is in a call, the other's is refused and changes nothing. */
static void a_second_thread_is_told_busy(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *alone = sim_of(scene);
  tether_batch *batch;
  tether_error own;
  pthread_t thread;
  atomic_bool done = false;
  double in[2 * 2] = {0}, out[2 * 3];
  good(tether_batch_new(scene, 2, 2, batch_commands, 2, batch_signals, 3, &batch, &error));
  rival by = {.sim = sim,
              .batch = batch,
              .done = &done,
              .size = tether_sim_state_size(sim),
              .state = malloc(tether_sim_state_size(sim))};
  good(tether_sim_save(sim, by.state, by.size, &error));
  assert_int_equal(pthread_create(&thread, NULL, compete, &by), 0);
  rival mine = by;
  for (bool told = false; !told;) { /* until one of the two was refused */
    count(&mine, tether_sim_step(sim, 1000, &own));
    count(&mine, tether_batch_step(batch, in, 100, out, &own));
    /* A simulation of a batch, too: from its other side. */
    count(&mine, tether_sim_step(tether_batch_sim(batch, 1), 10, &own));
    told = mine.busy > 0;
  }
  atomic_store(&done, true);
  pthread_join(thread, NULL);
  assert_int_equal(mine.others + by.others, 0);
  good(tether_sim_reset(sim, NULL, &error));
  good(tether_sim_step(sim, 10, &error));
  good(tether_sim_step(alone, 10, &error));
  assert_int_equal(tether_sim_hash(sim), tether_sim_hash(alone));
  free(by.state);
  tether_batch_free(batch);
  tether_sim_free(sim);
  tether_sim_free(alone);
  tether_scene_free(scene);
}

static void a_batchs_states_go_out_and_in(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_batch *batch;
  double in[3 * 2] = {0.1, 0, 0.2, 0, -0.3, 0.1}, out[3 * 3];
  uint64_t hashes[3];
  good(tether_batch_new(scene, 3, 2, batch_commands, 2, batch_signals, 3, &batch, &error));
  size_t one = tether_sim_state_size(tether_batch_sim(batch, 0)), size = 3 * one;
  unsigned char *states = malloc(size);
  good(tether_batch_step(batch, in, 20, out, &error));
  good(tether_batch_save(batch, states, size, &error));
  good(tether_batch_step(batch, in, 30, out, &error));
  for (int i = 0; i < 3; i++) hashes[i] = tether_sim_hash(tether_batch_sim(batch, i));
  /* All of them again, then one that failed, then each from the first's. */
  good(tether_batch_restore(batch, NULL, states, size, out, &error));
  assert_true(fabs(out[2] - 20 / 600.0) < 1e-12);
  good(tether_batch_step(batch, in, 30, out, &error));
  for (int i = 0; i < 3; i++)
    assert_int_equal(tether_sim_hash(tether_batch_sim(batch, i)), hashes[i]);
  in[2] = NAN;
  good(tether_batch_step(batch, in, 1, out, &error));
  assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_INVALID);
  in[2] = 0.2;
  const uint8_t second[3] = {0, 1, 0};
  good(tether_batch_restore(batch, second, states, size, out, &error));
  assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_OK);
  good(tether_batch_step(batch, in, 30, out, &error));
  assert_int_equal(tether_sim_hash(tether_batch_sim(batch, 1)), hashes[1]);
  for (size_t i = 1; i < 3; i++) memcpy(states + i * one, states, one);
  good(tether_batch_restore(batch, NULL, states, size, NULL, &error));
  assert_int_equal(tether_sim_hash(tether_batch_sim(batch, 2)),
                   tether_sim_hash(tether_batch_sim(batch, 0)));
  /* A row that is none fails its own; the state of another is a state. */
  states[one + 400] ^= 1;
  uint64_t before = tether_sim_hash(tether_batch_sim(batch, 1));
  good(tether_batch_restore(batch, NULL, states, size, NULL, &error));
  assert_int_equal(tether_batch_failure(batch, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "damaged"));
  assert_int_equal(tether_sim_hash(tether_batch_sim(batch, 1)), before);
  assert_int_equal(tether_batch_failure(batch, 2, &error), TETHER_OK);
  assert_int_equal(tether_batch_restore(batch, NULL, states, size - 1, NULL, &error),
                   TETHER_INVALID);
  assert_non_null(strstr(error.text, "size: "));
  assert_int_equal(tether_batch_save(batch, NULL, size, &error), TETHER_INVALID);
  free(states);
  tether_batch_free(batch);
  tether_scene_free(scene);
}

static void a_batch_has_units(void **state) {
  (void)state;
  static const char *const names[] = {"swivel.velocity", "base.velocity"},
                           *const signals[] = {"swivel.position", "time", "swivel.velocity"},
                           *const in_degrees[] = {"deg/s", NULL},
                           *const out_degrees[] = {"deg", "ms", NULL},
                           *const wrong[] = {"deg/s", "V"};
  const double degrees = 180 / 3.14159265358979323846;
  double in[4] = {0.5, 0.1, -0.5, 0}, out[6], si[6];
  tether_scene *scene = load("gripper");
  tether_batch *batch;
  good(tether_batch_new(scene, 2, 1, names, 2, signals, 3, &batch, &error));
  good(tether_batch_step(batch, in, 30, si, &error));
  uint64_t hash = tether_sim_hash(tether_batch_sim(batch, 1));
  good(tether_batch_reset(batch, NULL, NULL, NULL, &error));
  good(tether_batch_set_units(batch, in_degrees, out_degrees, &error));
  in[0] *= degrees;
  in[2] *= degrees;
  good(tether_batch_step(batch, in, 30, out, &error));
  assert_true(fabs(out[3] - si[3] * degrees) < 1e-9 && fabs(out[4] - 50) < 1e-9);
  assert_true(fabs(out[5] - si[5]) < 1e-9);
  /* One that is wrong changes nothing. */
  assert_int_equal(tether_batch_set_units(batch, wrong, NULL, &error), TETHER_NOT_FOUND);
  assert_non_null(strstr(error.text, "base.velocity"));
  good(tether_batch_reset(batch, NULL, NULL, out, &error));
  good(tether_batch_step(batch, in, 30, out, &error));
  assert_true(fabs(out[3] - si[3] * degrees) < 1e-9);
  /* SI again: the same bits. */
  good(tether_batch_set_units(batch, NULL, NULL, &error));
  in[0] = 0.5;
  in[2] = -0.5;
  good(tether_batch_reset(batch, NULL, NULL, NULL, &error));
  good(tether_batch_step(batch, in, 30, out, &error));
  assert_memory_equal(out, si, sizeof si);
  assert_int_equal(tether_sim_hash(tether_batch_sim(batch, 1)), hash);
  assert_int_equal(tether_batch_set_units(NULL, NULL, NULL, &error), TETHER_INVALID);
  tether_batch_free(batch);
  tether_scene_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scenes_are_listed_by_name),
      cmocka_unit_test(what_can_be_set_is_listed),
      cmocka_unit_test(what_was_compiled_is_compiled_once),
      cmocka_unit_test(a_command_moves_a_joint),
      cmocka_unit_test(a_sim_goes_on_from_a_saved_state),
      cmocka_unit_test(the_callers_surroundings_are_his),
      cmocka_unit_test(what_is_wrong_is_named),
      cmocka_unit_test(handles_of_another_scene_are_refused),
      cmocka_unit_test(one_that_diverges_can_begin_anew),
      cmocka_unit_test(everything_can_be_listed),
      cmocka_unit_test(an_exchange_is_apply_step_and_read),
      cmocka_unit_test(a_long_step_can_be_ended),
      cmocka_unit_test(a_batchs_bits_depend_on_nothing_else),
      cmocka_unit_test(one_that_fails_stops_no_other),
      cmocka_unit_test(one_that_fails_alone_has_failed_in_its_batch),
      cmocka_unit_test(a_second_thread_is_told_busy),
      cmocka_unit_test(a_batchs_states_go_out_and_in),
      cmocka_unit_test(a_batch_has_units),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

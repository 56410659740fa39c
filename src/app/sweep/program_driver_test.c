/* program_driver_test.c: programs on the wires of a sweep's runs: what they are told, and how each of them can go wrong. */
#include "app/assemble.h"
#include "app/guests.h"
#include "app/sweep/driver.h"
#include "app/sweep/free_port.h"
#include "app/sweep/network.h"
#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* ThreadSanitizer has a thread of its own, and only a process of one thread may have users of its own. */
#ifdef __has_feature
#define HAS_A_THREAD __has_feature(thread_sanitizer)
#else
#define HAS_A_THREAD 0
#endif

#define LOCKSTEP CLIENTS "lockstep_tcp ${TETHER_LOCKSTEP_TCP##*:}"
#define FLOAT_UDP CLIENTS "float_udp ${TETHER_FLOAT_UDP##*:} ${TETHER_FLOAT_UDP_PEER##*:}"

static char folder[] = "/tmp/tether-program-XXXXXX";
static const char *const no_settings[] = {NULL};

static tt_sweep_plan plan_of(const char *scene, const char *command) {
  return (tt_sweep_plan){.path = "plan.yaml",
                         .folder = folder,
                         .scene = scene,
                         .settings = no_settings,
                         .duration = 1,
                         .timeout = 60,
                         .controller = {.kind = TT_SWEEP_PROGRAM,
                                        .where = "plan.yaml: controller",
                                        .text = command,
                                        .output = 1e6}};
}

/* What a run came to. */
typedef struct outcome {
  tt_status status; /* of the driver's last tick */
  uint64_t steps, hash;
  tt_sweep_row row;
} outcome;

static const tt_sweep_driver_ops *const ops = &tt_sweep_program_driver;

static tt_scene *load(void *self, const tt_sweep_plan *plan) {
  tt_scene *scene;
  tt_error error = {""};
  const char *settings[50], *const *more = ops->settings(self);
  int count = 0;
  for (int i = 0; plan->settings[i]; i++) settings[count++] = plan->settings[i];
  for (int i = 0; more[i]; i++) settings[count++] = more[i];
  if (tt_scene_load(&tt_program_guests, plan->scene, settings, count, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  return scene;
}

static outcome make(void *self, const tt_scene *scene, const tt_sweep_plan *plan,
                    const tt_sweep_run *run) {
  tt_world *world;
  tt_error error = {""};
  outcome came = {0};
  if (tt_assemble(scene, &(tt_assembly){0}, &world, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(ops->begin(self, world, run, &error), TT_OK);
  tt_world_begin(world);
  while (tt_world_view(world)->time < plan->duration - 1e-9 && came.status == TT_OK) {
    came.status = ops->tick(self, &error);
    if (came.status == TT_OK) tt_world_tick(world, &error);
  }
  came.steps = tt_world_step(world);
  came.hash = tt_world_hash(world);
  came.row.status = came.status == TT_OK || came.status == TT_CLOSED ? TT_SWEEP_OK
                    : came.status == TT_FULL                         ? TT_SWEEP_LIMIT
                                                                     : TT_SWEEP_CONTROLLER_FAILED;
  if (came.row.status != TT_SWEEP_OK)
    snprintf(came.row.error, sizeof came.row.error, "%s", error.text);
  ops->end(self, &came.row);
  tt_world_free(world);
  return came;
}

static outcome run_plan(const tt_sweep_plan *plan) {
  void *self;
  tt_error error = {""};
  if (ops->open(plan, &self, &error) != TT_OK) fail_msg("%s", error.text);
  tt_scene *scene = load(self, plan);
  outcome came = make(self, scene, plan, &(tt_sweep_run){.seed = 7});
  tt_scene_free(scene);
  ops->close(self);
  return came;
}

static outcome run_command(const char *command) {
  tt_sweep_plan plan = plan_of("gripper", command);
  return run_plan(&plan);
}

static void expect(const outcome *came, tt_sweep_status status, const char *words) {
  if (came->row.status != status || !strstr(came->row.error, words))
    fail_msg("expected %d, %s\n     got %d, %s", (int)status, words, (int)came->row.status,
             came->row.error);
}

/* --- programs that go well --- */

static void test_the_same_program_gives_the_same_bits(void **state) {
  (void)state;
  tt_sweep_plan plan = plan_of("gripper", LOCKSTEP " 1000");
  outcome one = run_plan(&plan), other = run_plan(&plan);
  expect(&one, TT_SWEEP_OK, "");
  assert_int_equal(one.steps, 600);
  assert_int_equal(one.hash, other.hash);
  plan = plan_of("frc2011", FLOAT_UDP " 5");
  one = run_plan(&plan);
  other = run_plan(&plan);
  expect(&one, TT_SWEEP_OK, "");
  assert_int_equal(one.steps, 3000);
  assert_int_equal(one.hash, other.hash);
}

/* What the wire's faults lose is not waited for, and lost in every run; also for so long that the watchdog acts. */
static void test_an_imperfect_network_gives_the_same_bits(void **state) {
  (void)state;
  const char *const faults[][4] = {
      {"wires.float-udp.faults.loss=0.3", "wires.float-udp.faults.seed=5", NULL},
      {"wires.float-udp.faults.loss=0.3", "wires.float-udp.faults.seed=6", NULL},
      {"wires.float-udp.faults.loss=0.97", "wires.float-udp.faults.seed=5",
       "wires.float-udp.watchdog=0.1 s", NULL},
      {"wires.float-udp.faults.duplicate=0.3", "wires.float-udp.faults.reorder=0.3", NULL}};
  uint64_t hashes[4];
  for (int i = 0; i < 4; i++) {
    tt_sweep_plan plan = plan_of("frc2011", FLOAT_UDP " 5");
    plan.settings = faults[i];
    outcome one = run_plan(&plan), other = run_plan(&plan);
    expect(&one, TT_SWEEP_OK, "");
    assert_int_equal(one.steps, 3000);
    assert_int_equal(one.hash, other.hash);
    hashes[i] = one.hash;
    for (int k = 0; k < i; k++) assert_int_not_equal(one.hash, hashes[k]);
  }
}

/* It ends the run with what it said last; a world that waited for more would wait for ever. */
static void test_a_program_that_ends_by_itself_ends_the_run(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++) {
    outcome came = run_command(LOCKSTEP " 20");
    expect(&came, TT_SWEEP_OK, "");
    assert_int_equal(came.status, TT_CLOSED);
    assert_int_equal(came.steps, 200);
  }
}

static void test_what_it_is_told(void **state) {
  (void)state;
  const tt_sweep_axis axes[] = {{.name = "gain", .where = "axes[0]"},
                                {.name = "way-in", .where = "axes[1]"}};
  tt_sweep_plan plan =
      plan_of("gripper",
              "echo $TETHER_GAIN=$TETHER_SEED '{seed}'={gain} {way-in} \"$TETHER_WAY_IN\" {other} "
              "${TETHER_LOCKSTEP_TCP%:*} $(pwd); exit 1");
  plan.axes = axes;
  plan.axis_count = 2;
  void *self;
  tt_error error = {""};
  if (ops->open(&plan, &self, &error) != TT_OK) fail_msg("%s", error.text);
  tt_scene *scene = load(self, &plan);
  tt_sweep_run run = {.seed = 12,
                      .axes = {{.kind = TT_SWEEP_NUMBER, .number = 0.25},
                               {.kind = TT_SWEEP_TEXT, .text = "it's $(touch here) a | b"}}};
  outcome came = make(self, scene, &plan, &run);
  char words[400];
  snprintf(words, sizeof words,
           "0.25=12 12=0.25 it's $(touch here) a | b it's $(touch here) a | b {other} 127.0.0.1 %s",
           folder);
  expect(&came, TT_SWEEP_CONTROLLER_FAILED, words);
  tt_scene_free(scene);
  ops->close(self);
}

static void test_variables_that_mean_two_things_are_refused(void **state) {
  (void)state;
  const char *const names[] = {"lockstep-tcp", "seed_", "data", "Gain"};
  for (int i = 0; i < 4; i++) {
    const tt_sweep_axis axes[] = {{.name = "gain", .where = "plan.yaml: axes[0]"},
                                  {.name = names[i], .where = "plan.yaml: axes[1]"}};
    tt_sweep_plan plan = plan_of("gripper", "true");
    plan.axes = axes;
    plan.axis_count = 2;
    void *self;
    tt_error error = {""};
    tt_status status = ops->open(&plan, &self, &error);
    if (i == 1) {
      assert_int_equal(status, TT_OK); /* TETHER_SEED_ */
      ops->close(self);
      continue;
    }
    assert_int_equal(status, TT_INVALID);
    assert_non_null(strstr(error.text, "plan.yaml: axes[1].name: the program finds "));
  }
}

static void test_a_wire_that_nobody_can_hold_is_refused(void **state) {
  (void)state;
  tt_sweep_plan plan = plan_of("frc2011-wpilib", "true");
  void *self;
  tt_error error = {""};
  assert_int_equal(ops->open(&plan, &self, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "wires.halsim-ws"));
  assert_non_null(strstr(error.text, "halsim-step"));
}

/* --- programs that go wrong --- */

static void test_failing_programs_are_told_with_their_last_words(void **state) {
  (void)state;
  outcome came = run_command("echo first; echo 'no such file' >&2; exit 3");
  expect(&came, TT_SWEEP_CONTROLLER_FAILED,
         "the program ended with status 3 after 0.000 s: first | no such file");
  came = run_command("kill -SEGV $$");
  expect(&came, TT_SWEEP_CONTROLLER_FAILED, "killed by signal 11 (Segmentation fault)");
  came = run_command("nothing-of-that-name");
  expect(&came, TT_SWEEP_CONTROLLER_FAILED, "not found");
  came = run_command(LOCKSTEP " 20; exit 4");
  expect(&came, TT_SWEEP_CONTROLLER_FAILED, "status 4 after 0.333 s");
  assert_int_equal(came.steps, 200);
}

/* Who changes his user loses his right to write into his own /proc, which who began as one has. */
static void become_nobody(void) {
  if (setresuid(65534, 65534, 65534) != 0 || prctl(PR_SET_DUMPABLE, 1) != 0) _exit(2);
}

/* Whatever is slower than a bomb, the kernel's bound isn't; but root has none, so nobody makes it. */
static void test_a_fork_bomb_is_bounded(void **state) {
  (void)state;
  if (!getenv("TETHER_LONG")) skip();
  pid_t worker = fork();
  if (worker == 0) {
    if (geteuid() == 0) become_nobody();
    outcome came = run_command("bomb() { bomb | bomb & sleep 1; }; bomb; sleep 100");
    bool seen = came.row.status == TT_SWEEP_LIMIT && strstr(came.row.error, "256 processes");
    bool bounded = strstr(came.row.error, "Cannot fork") != NULL;
    if (!seen && !bounded) print_error("%s\n", came.row.error);
    _exit(seen || bounded ? 0 : 1);
  }
  int how;
  waitpid(worker, &how, 0);
  assert_true(WIFEXITED(how));
  assert_int_equal(WEXITSTATUS(how), 0);
}

static void test_who_takes_too_much_is_stopped(void **state) {
  (void)state;
  tt_sweep_plan plan = plan_of("gripper", "yes");
  outcome came = run_plan(&plan);
  expect(&came, TT_SWEEP_LIMIT, "printed more than 1000000 bytes (controller.output): y | y");

  plan = plan_of("gripper", "a=1234567; while :; do a=$a$a; done");
  plan.controller.memory = 64e6;
  came = run_plan(&plan);
  expect(&came, TT_SWEEP_LIMIT, "took more than 64000000 bytes (controller.memory)");

  plan = plan_of("gripper", "i=0; while [ $((i += 1)) -lt 1000 ]; do sleep 100 & done; wait");
  came = run_plan(&plan);
  expect(&came, TT_SWEEP_LIMIT, "had more than 256 processes");
  plan = plan_of("frc2011", "sleep 1000");
  plan.timeout = 0.2;
  came = run_plan(&plan);
  expect(&came, TT_SWEEP_TIMEOUT, "took more than 0.2 s (timeout), and never came to 127.0.0.1:");
  expect(&came, TT_SWEEP_TIMEOUT, "$TETHER_FLOAT_UDP_PEER");
}

/* --- nothing is left --- */

static bool lives(pid_t process) { return kill(process, 0) == 0 || errno != ESRCH; }

/* The numbers of the processes that wrote theirs into the file; waits until there are `count`. */
static void read_numbers(const char *name, int count, pid_t *numbers) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  for (int found = 0; found < count;) {
    found = 0;
    FILE *file = fopen(path, "re");
    while (file && found < count && fscanf(file, "%d", &numbers[found]) == 1) found++;
    if (file) fclose(file);
    if (found < count) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  }
}

#define DAEMON                                                                                     \
  "setsid sh -c 'setsid sh -c \"echo \\$\\$ >>%s; trap : TERM HUP; while :; do sleep 100; done\" " \
  "& "                                                                                             \
  "echo $$ >>%s; sleep 100' >/dev/null 2>&1 & "

static void test_daemons_end_with_the_run(void **state) {
  (void)state;
  char command[1000];
  snprintf(command, sizeof command,
           DAEMON "echo $$ >>%s; until [ $(wc -l <%s) = 3 ]; do sleep 0.01; done; exit 5", "ended",
           "ended", "ended", "ended");
  outcome came = run_command(command);
  expect(&came, TT_SWEEP_CONTROLLER_FAILED, "status 5");
  pid_t numbers[3];
  read_numbers("ended", 3, numbers);
  for (int i = 0; i < 3; i++) assert_false(lives(numbers[i]));
}

/* A process that makes a run, and is killed in the midst of it. */
static void test_daemons_end_with_a_worker_that_is_killed(void **state) {
  (void)state;
  char command[1000];
  snprintf(command, sizeof command, DAEMON "echo $$ >>%s; sleep 1000", "killed", "killed",
           "killed");
  pid_t worker = fork();
  if (worker == 0) {
    run_command(command);
    _exit(1);
  }
  pid_t numbers[3];
  read_numbers("killed", 3, numbers);
  kill(worker, SIGKILL);
  waitpid(worker, NULL, 0);
  for (int i = 0; i < 3; i++)
    while (lives(numbers[i])) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* --- ports --- */

static void test_ports_are_free_and_nobody_elses(void **state) {
  (void)state;
  int port[20], lock[20];
  for (int i = 0; i < 20; i++) {
    assert_int_equal(tt_free_port_take(i % 2, &port[i], &lock[i], NULL), TT_OK);
    assert_false(tt_port_is_taken(i % 2, port[i]));
    for (int k = 0; k < i; k++) assert_int_not_equal(port[i], port[k]);
  }
  for (int i = 0; i < 20; i++) close(lock[i]);
}

/* Two runs at a time of a program that knows one port only. */
static int run_with_fixed_ports(void) {
  tt_sweep_plan plan = plan_of("frc2011", CLIENTS "float_udp 5801 5802 5");
  plan.controller.fixed_ports = true;
  outcome came = run_plan(&plan);
  return came.row.status == TT_SWEEP_OK && came.steps == 3000 ? 0 : 1;
}

static void test_fixed_ports_have_a_network_of_their_own(void **state) {
  (void)state;
  pid_t workers[4];
  tt_error error = {""};
  if (tt_network_try(&error) != TT_OK) {
    print_message("%s\n", error.text);
    assert_non_null(strstr(error.text, "this machine allows no network of its own"));
    skip();
  }
  for (int i = 0; i < 4; i++) {
    workers[i] = fork();
    if (workers[i] != 0) continue;
    if (i % 2 && geteuid() == 0 && !HAS_A_THREAD) become_nobody();
    if (access(CLIENTS "float_udp", X_OK) != 0) {
      print_message("uid %d can't read this folder, and makes no run\n", (int)geteuid());
      _exit(0);
    }
    _exit(run_with_fixed_ports());
  }
  for (int i = 0; i < 4; i++) {
    int how;
    waitpid(workers[i], &how, 0);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
  }
}

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) && chmod(folder, 0755) == 0 ? 0 : -1; /* others run in it, too */
}

static int remove_folder(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_same_program_gives_the_same_bits),
      cmocka_unit_test(test_an_imperfect_network_gives_the_same_bits),
      cmocka_unit_test(test_a_program_that_ends_by_itself_ends_the_run),
      cmocka_unit_test(test_what_it_is_told),
      cmocka_unit_test(test_variables_that_mean_two_things_are_refused),
      cmocka_unit_test(test_a_wire_that_nobody_can_hold_is_refused),
      cmocka_unit_test(test_failing_programs_are_told_with_their_last_words),
      cmocka_unit_test(test_who_takes_too_much_is_stopped),
      cmocka_unit_test(test_a_fork_bomb_is_bounded),
      cmocka_unit_test(test_daemons_end_with_the_run),
      cmocka_unit_test(test_daemons_end_with_a_worker_that_is_killed),
      cmocka_unit_test(test_ports_are_free_and_nobody_elses),
      cmocka_unit_test(test_fixed_ports_have_a_network_of_their_own),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}

/* policy_driver_test.c: controllers of a plan, in Lua and in Python, drive real arms; one that fails costs its own run only. */
#include "app/assemble.h"
#include "app/guests.h"
#include "app/sweep/driver.h"
#include "base/clock.h"
#include "scene/scene.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define TICKS 60

static char folder[] = "/tmp/tether-policy-XXXXXX";
static tt_scene *scene;
static tt_sim *first; /* whose engine others are clones of */
static tt_world *prototype;
static const char *const none[] = {NULL};

static const tt_sweep_axis axes[] = {
    {.name = "gain"}, {.name = "kind"}, {.name = "nothing"}, {.name = "which"}};

static void write_file(const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static const char policies[] =
    "import os, random, signal, subprocess, sys, time\n"
    "import numpy\n"
    "calls = 0\n"
    "def swivel(read, write):\n"
    "    global calls\n"
    "    calls += 1\n"
    "    assert read('kind') == 'slow' and read('nothing') is None\n"
    "    write('swivel.velocity', read('gain') * (0.5 - read('swivel.position')) * 4)\n"
    "    if calls % 2: write('base.velocity', 0.01 * calls)\n"
    "    write('middle.velocity', random.random() + numpy.random.rand() - 1)\n"
    "def any(read, write): globals()[read('which')](read, write)\n"
    "def idle(read, write): pass\n"
    "def reads(read, write): write('swivel.velocity', read('swivel.positon'))\n"
    "def axis(read, write): read('gian')\n"
    "def writes(read, write): write('swivel.veloctiy', 1)\n"
    "def not_a_number(read, write): write('swivel.velocity', float('nan'))\n"
    "def too_fast(read, write): write('swivel.velocity', 1e9)\n"
    "def text(read, write): write('swivel.velocity', 'fast')\n"
    "def raises(read, write):\n"
    "    write('swivel.velocity', 1)\n"
    "    raise RuntimeError('gave\\x1b[31m up')\n"
    "class Odd(Exception):\n"
    "    def __str__(self): raise ValueError\n"
    "def odd(read, write): raise Odd()\n"
    "def deep(read, write): deep(read, write)\n"
    "def leaves(read, write): sys.exit(3)\n"
    "def dies(read, write):\n"
    "    print('these are my last words')\n"
    "    os._exit(7)\n"
    "def killed(read, write): os.kill(os.getpid(), signal.SIGKILL)\n"
    "def kills_python(read, write):\n"
    "    os.kill(os.getppid(), signal.SIGKILL)\n"
    "    time.sleep(60)\n"
    "def hangs(read, write):\n"
    "    print('hanging about', file=sys.stderr)\n"
    "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "    while True: pass\n"
    "def floods(read, write):\n"
    "    while True: os.write(1, b'x' * 65536)\n"
    "def eats(read, write):\n"
    "    kept = []\n"
    "    while True: kept.append(bytearray(1 << 26))\n"
    "def junk(read, write):\n"
    "    import gc, socket\n"
    "    for thing in gc.get_objects():\n"
    "        if isinstance(thing, socket.socket): thing.send(bytes(range(100)))\n"
    "    time.sleep(60)\n"
    "def own_message(read, write, message=b'\\1' + bytes(7 + 800)):\n"
    "    import socket\n"
    "    import gc\n"
    "    for thing in gc.get_objects():\n"
    "        if isinstance(thing, socket.socket): thing.send(message)\n"
    "    time.sleep(60)\n"
    "def leaves_children(read, write):\n"
    "    subprocess.Popen(['sleep', '1000'])\n"
    "    raise RuntimeError('left')\n"
    "def prints(read, write): print(read('time'))\n";

static tt_sweep_plan plan_of(const char *function) {
  return (tt_sweep_plan){.path = "plan.yaml",
                         .folder = folder,
                         .scene = "gripper",
                         .settings = none,
                         .duration = 1,
                         .timeout = 60,
                         .axes = axes,
                         .axis_count = 4,
                         .controller = {.kind = TT_SWEEP_POLICY,
                                        .where = "plan.yaml: controller",
                                        .text = function,
                                        .files = none,
                                        .output = 1e6,
                                        .memory = 1 << 30}};
}

static const char *which = "swivel"; /* policy any() is */

static tt_sweep_run run_of(uint64_t seed) {
  return (tt_sweep_run){.seed = seed,
                        .axes = {{.kind = TT_SWEEP_NUMBER, .number = 1.5},
                                 {.kind = TT_SWEEP_TEXT, .text = "slow"},
                                 {.kind = TT_SWEEP_NULL},
                                 {.kind = TT_SWEEP_TEXT, .text = which}}};
}

static int load_scene(void **state) {
  (void)state;
  tt_error error;
  setenv("PATH", "/usr/bin:/bin", 1); /* whose Python has NumPy */
  assert_non_null(mkdtemp(folder));
  write_file("arm.py", policies);
  write_file("broken.py", "def control(read, write):\n  return (\n");
  write_file("unable.py", "import tether_has_no_such\n");
  write_file("slow.py", "import time\ntime.sleep(1000)\n");
  write_file("arm.lua",
             "function control(read, write)\n"
             "  write('swivel.velocity', read('gain') * (0.5 - read('swivel.position')) * 4)\n"
             "  if read('time') > 10 then error('late') end\n"
             "end\n");
  if (tt_scene_load(&tt_program_guests, "gripper", NULL, 0, &scene, &error) != TT_OK ||
      tt_assemble(scene, &(tt_assembly){.no_wires = true}, &prototype, &error) != TT_OK)
    fail_msg("%s", error.text);
  first = tt_world_sim(prototype);
  return 0;
}

static int free_scene(void **state) {
  (void)state;
  tt_world_free(prototype);
  tt_scene_free(scene);
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

static tt_world *make_world(void) {
  tt_world *world;
  tt_error error;
  const tt_assembly assembly = {.no_wires = true, .engine = tt_sim_engine(first)};
  if (tt_assemble(scene, &assembly, &world, &error) != TT_OK) fail_msg("%s", error.text);
  return world;
}

/* What a run came to. */
typedef struct outcome {
  tt_status status; /* of the driver's last tick */
  uint64_t hash;
  double swivel; /* rad */
  tt_sweep_row row;
} outcome;

static double swivel_of(const tt_world *world) {
  tt_signal signal;
  assert_int_equal(
      tt_names_find_signal(tt_world_names(world), "swivel.position", 0, "", &signal, NULL), TT_OK);
  return tt_signal_read(&signal, tt_world_view(world));
}

static outcome make(const tt_sweep_driver_ops *ops, void *self, uint64_t seed) {
  tt_world *world = make_world();
  tt_sweep_run run = run_of(seed);
  tt_error error = {{0}};
  outcome came = {.status = ops->begin(self, world, &run, &error)};
  if (came.status != TT_OK) fail_msg("%s", error.text);
  for (int i = 0; i < TICKS && came.status == TT_OK; i++) {
    came.status = ops->tick(self, &error);
    if (came.status == TT_OK) assert_int_equal(tt_world_tick(world, NULL), TT_OK);
  }
  if (came.status != TT_OK) {
    came.row.status = came.status == TT_FULL ? TT_SWEEP_LIMIT : TT_SWEEP_CONTROLLER_FAILED;
    snprintf(came.row.error, sizeof came.row.error, "%s", error.text);
  }
  ops->end(self, &came.row);
  came.hash = tt_world_hash(world);
  came.swivel = swivel_of(world);
  tt_world_free(world);
  return came;
}

static void *open_driver(const tt_sweep_driver_ops *ops, const tt_sweep_plan *plan) {
  void *self;
  tt_error error;
  if (ops->open(plan, &self, &error) != TT_OK) fail_msg("%s", error.text);
  return self;
}

static void lua_drives(void **state) {
  (void)state;
  char path[128];
  snprintf(path, sizeof path, "%s/arm.lua", folder);
  tt_sweep_plan plan = plan_of(path);
  plan.controller.kind = TT_SWEEP_LUA;
  void *self = open_driver(&tt_sweep_lua_driver, &plan);
  outcome one = make(&tt_sweep_lua_driver, self, 1), two = make(&tt_sweep_lua_driver, self, 1);
  assert_int_equal(one.row.status, TT_SWEEP_OK);
  assert_true(fabs(one.swivel - 0.5) < 0.05);
  assert_true(one.hash == two.hash);
  tt_sweep_lua_driver.close(self);
  plan.controller.text = "/nowhere/arm.lua";
  tt_error error;
  assert_int_equal(tt_sweep_lua_driver.open(&plan, &self, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "plan.yaml: controller: /nowhere/arm.lua"));
}

/* A run depends on nothing but its seed: not on who was before, nor on which process made it. */
static void a_policy_drives(void **state) {
  (void)state;
  tt_sweep_plan plan = plan_of("arm:swivel");
  void *self = open_driver(&tt_sweep_policy_driver, &plan);
  outcome one = make(&tt_sweep_policy_driver, self, 1);
  if (one.row.status != TT_SWEEP_OK) fail_msg("%s", one.row.error);
  assert_true(fabs(one.swivel - 0.5) < 0.05);
  outcome other = make(&tt_sweep_policy_driver, self, 2);
  outcome again = make(&tt_sweep_policy_driver, self, 1);
  assert_true(one.hash == again.hash);
  assert_true(one.hash != other.hash);
  tt_sweep_policy_driver.close(self);
  self = open_driver(&tt_sweep_policy_driver, &plan);
  assert_true(make(&tt_sweep_policy_driver, self, 1).hash == one.hash);
  tt_sweep_policy_driver.close(self);
}

/* One Python for all of them: each costs its own run only. */
static tt_sweep_plan any_plan;
static void *any_policy;

static void expect(const char *function, tt_sweep_status status, const char *says) {
  tt_error error;
  if (!any_policy) {
    any_plan = plan_of("arm:any");
    if (tt_sweep_policy_driver.open(&any_plan, &any_policy, &error) != TT_OK)
      fail_msg("%s", error.text);
  }
  which = function;
  any_plan.timeout = status == TT_SWEEP_TIMEOUT ? 1 : 60;
  outcome came = make(&tt_sweep_policy_driver, any_policy, 1);
  which = "swivel";
  if (came.row.status != status || !strstr(came.row.error, says))
    fail_msg("%s: %s: '%s', not '%s'", function, tt_sweep_status_name(came.row.status),
             came.row.error, says);
  for (const char *c = came.row.error; *c; c++) assert_true((unsigned char)*c >= ' ');
}

static void failures_say_where(void **state) {
  (void)state;
  expect("idle", TT_SWEEP_OK, "");
  expect("prints", TT_SWEEP_OK, "");
  expect("reads", TT_SWEEP_CONTROLLER_FAILED, "arm.py:13: ");
  expect("reads", TT_SWEEP_CONTROLLER_FAILED, "did you mean 'swivel.position'?");
  expect("axis", TT_SWEEP_CONTROLLER_FAILED, "did you mean 'gain'?");
  expect("writes", TT_SWEEP_CONTROLLER_FAILED, "did you mean 'swivel.velocity'?");
  expect("not_a_number", TT_SWEEP_CONTROLLER_FAILED,
         "arm.py:16: ValueError: write: swivel.velocity: nan is out of its range");
  expect("too_fast", TT_SWEEP_CONTROLLER_FAILED, "give -1e+07 to 1e+07 rad/s");
  expect("text", TT_SWEEP_CONTROLLER_FAILED,
         "arm.py:18: TypeError: write: swivel.velocity: 'fast' is no number; give one, -1e+07 to");
  expect("raises", TT_SWEEP_CONTROLLER_FAILED, "arm.py:21: RuntimeError: gave");
  expect("odd", TT_SWEEP_CONTROLLER_FAILED, "Odd");
  expect("deep", TT_SWEEP_CONTROLLER_FAILED, "RecursionError");
  expect("leaves", TT_SWEEP_CONTROLLER_FAILED, "arm.py:26: it calls sys.exit(3)");
}

static void hostile_policies_end(void **state) {
  (void)state;
  expect("dies", TT_SWEEP_CONTROLLER_FAILED, "ended with status 7: these are my last words");
  expect("killed", TT_SWEEP_CONTROLLER_FAILED, "killed by signal 9");
  expect("kills_python", TT_SWEEP_CONTROLLER_FAILED, "the policy's process is gone");
  expect("hangs", TT_SWEEP_TIMEOUT, "(timeout)");
  expect("floods", TT_SWEEP_LIMIT, "printed more than 1000000 bytes: ");
  expect("eats", TT_SWEEP_LIMIT, "MemoryError: it takes too much memory");
  expect("junk", TT_SWEEP_CONTROLLER_FAILED, "of no kind");
  expect("own_message", TT_SWEEP_CONTROLLER_FAILED, "has 100 numbers, not 0");
}

/* The next run is none the worse, whatever the last one did, and whoever ended Python between two of them. */
static void a_run_costs_itself_only(void **state) {
  (void)state;
  static const char end_children[] =
      "/usr/bin/python3 -c \"import os\n"
      "for p in filter(str.isdigit, os.listdir('/proc')):\n"
      "  try:\n"
      "    state, parent = open('/proc/%%s/stat' %% p).read().rsplit(')')[1].split()[:2]\n"
      "    if parent == '%d' and int(p) not in (os.getpid(), os.getppid()): os.kill(int(p), 9)\n"
      "  except OSError: pass\"";
  char command[sizeof end_children + 16];
  expect("swivel", TT_SWEEP_OK, "");
  uint64_t hash = make(&tt_sweep_policy_driver, any_policy, 1).hash;
  expect("kills_python", TT_SWEEP_CONTROLLER_FAILED, "");
  assert_true(make(&tt_sweep_policy_driver, any_policy, 1).hash == hash);
  snprintf(command, sizeof command, end_children, (int)getpid());
  assert_int_equal(system(command), 0);
  assert_true(make(&tt_sweep_policy_driver, any_policy, 1).hash == hash);
}

static void expect_refused(const char *function, const char *path, double timeout, tt_status status,
                           const char *says) {
  tt_sweep_plan plan = plan_of(function);
  void *self = NULL;
  tt_error error = {{0}};
  char before[4096];
  snprintf(before, sizeof before, "%s", getenv("PATH"));
  if (path) setenv("PATH", path, 1);
  plan.timeout = timeout;
  tt_status came = tt_sweep_policy_driver.open(&plan, &self, &error);
  setenv("PATH", before, 1);
  if (came != status || !strstr(error.text, says))
    fail_msg("%s: %s: '%s', not '%s'", function, tt_status_name(came), error.text, says);
  assert_null(self);
}

static void what_cannot_be_called_is_refused(void **state) {
  (void)state;
  expect_refused("nowhere:control", NULL, 60, TT_INVALID, "No module named 'nowhere'");
  expect_refused("arm:contrl", NULL, 60, TT_INVALID, "arm has no function contrl(read, write)");
  expect_refused("broken:control", NULL, 60, TT_INVALID, "broken.py:2: SyntaxError");
  expect_refused("unable:control", NULL, 60, TT_INVALID, "unable.py:1: ModuleNotFoundError");
  if (getenv("TETHER_LONG"))
    expect_refused("slow:control", NULL, 1, TT_INVALID, "not imported within 60 s");
  expect_refused("arm:idle", "/nowhere", 60, TT_FAILED, "python3 can't be started");
  setenv("PYTHONHOME", "/nowhere", 1);
  expect_refused("arm:idle", NULL, 60, TT_FAILED, "python3 -m tether.sweep_policy ended: ");
  unsetenv("PYTHONHOME");
}

/* Waits until no process below this one is left: it adopts those whose parents are gone. */
static void await_no_children(void) {
  for (int i = 0; i < 3000; i++) {
    if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return;
    usleep(10000);
  }
  fail_msg("something is left");
}

static void nothing_is_left(void **state) {
  (void)state;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  expect("leaves_children", TT_SWEEP_CONTROLLER_FAILED, "left");
  tt_sweep_policy_driver.close(any_policy);
  any_policy = NULL;
  await_no_children();
  /* The worker is killed in the middle of a run that hangs. */
  int told[2];
  assert_int_equal(pipe(told), 0);
  pid_t worker = fork();
  if (worker == 0) {
    tt_sweep_plan plan = plan_of("arm:hangs");
    tt_sweep_run run = run_of(1);
    tt_error error;
    void *self = open_driver(&tt_sweep_policy_driver, &plan);
    tt_sweep_policy_driver.begin(self, prototype, &run, &error);
    _exit(write(told[1], "x", 1) != 1 || tt_sweep_policy_driver.tick(self, &error) != TT_OK);
  }
  char byte;
  close(told[1]);
  assert_int_equal(read(told[0], &byte, 1), 1);
  close(told[0]);
  usleep(50000);
  kill(worker, SIGKILL);
  await_no_children();
}

/* For people: TETHER_MEASURE=1 policy_driver_test. */
static void measure(void **state) {
  (void)state;
  if (!getenv("TETHER_MEASURE")) skip();
  tt_sweep_plan plan = plan_of("arm:swivel");
  void *self = open_driver(&tt_sweep_policy_driver, &plan);
  tt_world *world = make_world();
  tt_sweep_run run = run_of(1);
  tt_sweep_row row = {0};
  tt_error error;
  uint64_t begins = 0, ticks = 0;
  for (int i = 0; i < 100; i++) {
    uint64_t at = tt_monotonic_ns();
    tt_sweep_policy_driver.begin(self, world, &run, &error);
    tt_sweep_policy_driver.tick(self, &error);
    begins += tt_monotonic_ns() - at;
    at = tt_monotonic_ns();
    for (int k = 0; k < 200; k++) tt_sweep_policy_driver.tick(self, &error);
    ticks += tt_monotonic_ns() - at;
    tt_sweep_policy_driver.end(self, &row);
  }
  print_message("%.2f ms a run, %.1f us a tick\n", (double)begins / 100 * 1e-6,
                (double)ticks / 20000 * 1e-3);
  tt_world_free(world);
  tt_sweep_policy_driver.close(self);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lua_drives),
      cmocka_unit_test(a_policy_drives),
      cmocka_unit_test(failures_say_where),
      cmocka_unit_test(hostile_policies_end),
      cmocka_unit_test(a_run_costs_itself_only),
      cmocka_unit_test(what_cannot_be_called_is_refused),
      cmocka_unit_test(nothing_is_left),
      cmocka_unit_test(measure),
  };
  return cmocka_run_group_tests(tests, load_scene, free_scene);
}

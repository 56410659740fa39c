/* compiler_test.c: the program that compiles models, whatever becomes of it and whatever is around. */
#include "base/log.h"
#include "engine/mujoco/compiled.h"
#include "engine/mujoco/compiler.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#define GOOD TETHER_SOURCE_DIR "/src/engine/mujoco/testdata/cart.xml"

static char folder[] = "/tmp/tether-compiler-XXXXXX", real[TT_PATH_SIZE];
static uint64_t good_hash;

static tt_status load(const char *file, uint64_t *hash, tt_error *error) {
  const tt_engine_robot robot = {.name = "r", .model_file = file};
  const tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = NULL;
  physics_compiled_forget_all();
  tt_status status = tt_physics_load(&spec, &p, error);
  assert_true((status == TT_OK) == (p != NULL));
  if (p && hash) *hash = tt_physics_describe(p)->model_hash;
  tt_physics_free(p);
  return status;
}

static void loads(void) {
  tt_error error = {""};
  uint64_t hash = 0;
  if (load(GOOD, &hash, &error) != TT_OK) fail_msg("%s", error.text);
  if (good_hash) assert_true(hash == good_hash);
  good_hash = hash;
}

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static const char *write_file(const char *name, const char *text) {
  const char *path = path_of(name);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  assert_true(fputs(text, f) >= 0);
  fclose(f);
  return path;
}

/* A shell script takes the program's place for so many seconds; loading fails as is said, and with the program itself nothing is
 * lost. */
static void instead_for(double patience, const char *script, tt_status expected, const char *text) {
  const double usual = physics_compiler_patience;
  char whole[8192];
  tt_error error = {""};
  snprintf(whole, sizeof whole, "#!/bin/sh\n%s\n", script);
  const char *path = write_file("instead", whole);
  assert_int_equal(chmod(path, 0700), 0);
  assert_int_equal(tt_mujoco_set_compiler(path), TT_OK);
  physics_compiler_patience = patience;
  tt_status status = load(GOOD, NULL, &error);
  physics_compiler_patience = usual;
  assert_int_equal(tt_mujoco_set_compiler(NULL), TT_OK);
  if (status != expected || !strstr(error.text, text))
    fail_msg("%d, not %d: \"%s\" without \"%s\"", status, expected, error.text, text);
  loads();
}

static void instead(const char *script, tt_status expected, const char *text) {
  instead_for(physics_compiler_patience, script, expected, text);
}

static int count(const char *what) {
  int found = 0;
  DIR *all = opendir(what);
  while (all && readdir(all)) found++;
  if (all) closedir(all);
  return found;
}

static void it_is_found_where_it_belongs(void **state) {
  (void)state;
  tt_error error = {""};
  char *here = getcwd(NULL, 0);
  assert_int_equal(tt_mujoco_set_compiler("compile-model"), TT_INVALID);
  assert_int_equal(tt_mujoco_set_compiler("./compile-model"), TT_INVALID);
  assert_int_equal(tt_mujoco_set_compiler("/nowhere/compile-model"), TT_OK);
  assert_int_equal(load(GOOD, NULL, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "/nowhere/compile-model: "));
  assert_non_null(strstr(error.text, "tether_set_compiler()"));
  assert_int_equal(tt_mujoco_set_compiler(NULL), TT_OK);
  assert_int_equal(chdir("/"), 0);
  loads();
  assert_int_equal(chdir(here), 0);
  free(here);
}

static void whatever_it_does_is_told(void **state) {
  (void)state;
  char script[2 * TT_PATH_SIZE];
  const int files = count("/proc/self/fd");
  instead("exit 0", TT_FAILED, "no compile-model of this version");
  instead("exit 1", TT_FAILED, "no compile-model of this version");
  instead("kill -SEGV $$", TT_FAILED, "ended before it began");
  instead(
      "cat /dev/urandom | head -c 100000 >&3; head -c 100000 /dev/urandom >&4; "
      "head -c 300000 /dev/urandom; head -c 300000 /dev/urandom >&2",
      TT_FAILED, "no compile-model of this version");
  instead(": >&3; truncate -s 0 /proc/self/fd/3", TT_FAILED, "no compile-model of this version");
  instead_for(1, "i=0; while [ $i -lt 2000000 ]; do i=$((i + 1)); done", TT_FAILED,
              "no compile-model of this version"); /* it is slow, but works */
  instead_for(0.5, "exec sleep 1000", TT_INVALID, "nothing has gone on for 0.5 s");
  instead_for(0.5, "exec sleep 1000 >/dev/null 2>&1", TT_INVALID, "nothing has gone on for 0.5 s");
  snprintf(script, sizeof script, "%s; head -c 4000 /dev/urandom >/proc/self/fd/4", real);
  instead(script, TT_FAILED, "cannot be read back");
  snprintf(script, sizeof script, "%s; : >/proc/self/fd/4", real);
  instead(script, TT_FAILED, "cannot be read back");
  snprintf(script, sizeof script, "ulimit -v 1000; exec %s", real);
  instead(script, TT_FAILED, "no compile-model of this version");
  assert_int_equal(count("/proc/self/fd"), files);
  assert_true(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static char heard[4000];

static void hear(void *context, tt_log_level level, const char *text) {
  (void)context;
  if (level == TT_LOG_WARNING) snprintf(heard + strlen(heard), 2000, "%s\n", text);
}

static void it_has_nothing_of_ours(void **state) {
  (void)state;
  enum { OURS = 77 };
  assert_int_equal(dup2(STDIN_FILENO, OURS), OURS); /* not closed on execution */
  heard[0] = '\0';
  setenv("TETHER_SECRET", "1", 1);
  signal(SIGUSR1, SIG_IGN);
  tt_log_set_sink(hear, NULL);
  instead(
      "echo \"warning: files $(ls /proc/$$/fd | tr '\\n' ' ')\"\n"
      "echo \"warning: environment $(tr '\\0' ' ' </proc/$$/environ)\"\n"
      "echo \"warning: ignored $(grep SigIgn /proc/$$/status | cut -c 9-)\"",
      TT_FAILED, "no compile-model");
  tt_log_set_sink(NULL, NULL);
  signal(SIGUSR1, SIG_DFL);
  unsetenv("TETHER_SECRET");
  close(OURS);
  assert_null(strstr(heard, "77"));
  assert_non_null(strstr(heard, "files 0 1 10 2 3 4 ")); /* and the shell's own pipes */
  assert_non_null(strstr(heard, "environment GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \n"));
  unsigned long long ignored = strtoull(strstr(heard, "ignored ") + 8, NULL, 16);
  assert_true((ignored & (1u << (SIGUSR1 - 1) | 1u << (SIGPIPE - 1))) == 0);
}

/* --- whatever is around --- */

static void reap_all(int number) {
  const int before = errno;
  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0) {
  }
  errno = before;
}

static void others_may_have_its_end(void **state) {
  (void)state;
  signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 5; i++) loads();
  instead("exit 1", TT_FAILED, "no compile-model of this version");
  signal(SIGCHLD, reap_all);
  for (int i = 0; i < 5; i++) loads();
  instead("exit 1", TT_FAILED, "no compile-model of this version");
  signal(SIGCHLD, SIG_DFL);
}

static volatile bool stop;

/* Children that keep whatever file was open when they began. */
static void *fork_again_and_again(void *context) {
  pid_t children[40];
  int made = 0;
  for (; made < 40 && !stop; made++) {
    children[made] = fork();
    if (children[made] == 0) {
      sleep(600);
      _exit(0);
    }
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  }
  while (!stop) nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
  for (int i = 0; i < made; i++) {
    kill(children[i], SIGKILL);
    waitpid(children[i], NULL, 0);
  }
  return context;
}

static void *load_some(void *failed) {
  tt_error error = {""};
  uint64_t hash = 0;
  for (int i = 0; i < 3; i++)
    if (load(GOOD, &hash, &error) != TT_OK || hash != good_hash) *(bool *)failed = true;
  return NULL;
}

static void among_many_threads(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS], forks;
  bool failed[THREADS] = {false};
  stop = false;
  assert_int_equal(pthread_create(&forks, NULL, fork_again_and_again, NULL), 0);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, load_some, &failed[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  stop = true;
  pthread_join(forks, NULL);
  for (int i = 0; i < THREADS; i++) assert_false(failed[i]);
}

/* The first child of this process that has compiled for a while, and is behind the arena; or 0. */
static pid_t compiling(void) {
  char path[64], text[512] = "";
  long child = 0;
  snprintf(path, sizeof path, "/proc/self/task/%d/children", getpid());
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  if (fscanf(f, "%ld", &child) != 1) child = 0;
  fclose(f);
  snprintf(path, sizeof path, "/proc/%ld/stat", child);
  f = fopen(path, "r");
  if (f && !fgets(text, sizeof text, f)) text[0] = '\0';
  if (f) fclose(f);
  char *at = strchr(text, ')');
  for (int i = 0; at && i < 12; i++) at = strchr(at + 1, ' '); /* to utime, before stime */
  long user = 0, system = 0;
  if (at && sscanf(at, "%ld %ld", &user, &system) != 2) user = system = 0;
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK) > 0.5 ? (pid_t)child : 0;
}

static void *kill_it(void *context) {
  pid_t child;
  while (!(child = compiling()) && !stop) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (child) kill(child, *(int *)context);
  return NULL;
}

/* A model that takes long, whose compiler somebody ends. */
static void its_death_is_told(void **state) {
  (void)state;
  static const char SLOW[] =
      "<mujoco><worldbody><body><composite type='grid' count='2000 2000 1' spacing='.1'>"
      "<geom size='.01'/></composite></body></worldbody></mujoco>";
  static const struct {
    int number;
    const char *text;
  } ends[] = {{SIGKILL, "slow.xml: broke the compiler of models (Killed)"},
              {SIGSEGV, "slow.xml: broke the compiler of models (Segmentation fault)"},
              {SIGXCPU, "slow.xml: takes more than 10 s to compile"}};
  enum { ENDS = sizeof ends / sizeof *ends };
  for (int i = 0; i < 2 * ENDS - 1; i++) {
    const bool ignored = i >= ENDS;
    int number = ends[i % ENDS].number;
    const char *text = ends[i % ENDS].text;
    pthread_t killer;
    tt_error error = {""};
    stop = false;
    signal(SIGCHLD, ignored ? SIG_IGN : SIG_DFL);
    assert_int_equal(pthread_create(&killer, NULL, kill_it, &number), 0);
    tt_status status = load(write_file("slow.xml", SLOW), NULL, &error);
    stop = true;
    pthread_join(killer, NULL);
    if (ignored && number == SIGKILL) text = "slow.xml: broke the compiler of models (nobody knows";
    assert_int_equal(status, TT_INVALID);
    if (!strstr(error.text, text)) fail_msg("\"%s\" without \"%s\"", error.text, text);
    signal(SIGCHLD, SIG_DFL);
    loads();
  }
}

/* A request comes back as it was, and one that is cut is none. */
static void a_request_is_read_as_it_was_written(void **state) {
  (void)state;
  const tt_engine_gripper gripper = {.name = "g", .site = "s", .reach = 0.25, .where = "w"};
  const tt_engine_measure measure = {
      .name = "width", .value = 0.5, .where = "", .dimension = TT_LENGTH};
  const tt_engine_robot robots[] = {{.name = "a",
                                     .model_file = "a.xml",
                                     .x = 1,
                                     .heading = -2,
                                     .floating = true,
                                     .grippers = &gripper,
                                     .gripper_count = 1,
                                     .measures = &measure,
                                     .measure_count = 1},
                                    {.name = "b", .model_file = "b.urdf"}};
  const char *const search[] = {"/one", "two", NULL};
  const tt_engine_spec spec = {.robots = robots, .robot_count = 2, .search_path = search};
  size_t size;
  tt_engine_spec got;
  const char *where;
  void *bytes = compiler_request(&spec, "/folder", &size);
  assert_non_null(bytes);
  assert_int_equal(compiler_read_request(bytes, size, &got, &where), TT_OK);
  assert_string_equal(where, "/folder");
  assert_null(got.arena_file);
  assert_int_equal(got.robot_count, 2);
  assert_string_equal(got.robots[0].model_file, "a.xml");
  assert_true(got.robots[0].x == 1 && got.robots[0].heading == -2 && got.robots[0].floating);
  assert_string_equal(got.robots[0].grippers[0].site, "s");
  assert_true(got.robots[0].grippers[0].reach == 0.25);
  assert_null(got.robots[0].grippers[1].name);
  assert_string_equal(got.robots[0].measures[0].where, "");
  assert_true(got.robots[0].measures[0].value == 0.5);
  assert_int_equal(got.robots[0].measures[0].dimension, TT_LENGTH);
  assert_string_equal(got.robots[1].name, "b");
  assert_string_equal(got.search_path[1], "two");
  assert_null(got.search_path[2]);
  for (int i = 0; i < 2; i++) {
    free((void *)got.robots[i].grippers);
    free((void *)got.robots[i].measures);
  }
  free((void *)got.robots);
  free((void *)got.search_path);
  free(bytes);
}

static int setup(void **state) {
  (void)state;
  snprintf(real, sizeof real, "%s", physics_compiler());
  if (!mkdtemp(folder)) return -1;
  loads();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unlink(path_of("instead"));
  unlink(path_of("slow.xml"));
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_request_is_read_as_it_was_written),
      cmocka_unit_test(it_is_found_where_it_belongs),
      cmocka_unit_test(whatever_it_does_is_told),
      cmocka_unit_test(it_has_nothing_of_ours),
      cmocka_unit_test(others_may_have_its_end),
      cmocka_unit_test(among_many_threads),
      cmocka_unit_test(its_death_is_told),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

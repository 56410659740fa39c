/* surroundings_test.c: the library inside of somebody else's process. Whatever that has set, a simulation computes the same
 * bits; whatever the library does, the process is as it was. */
#include "library/library_testing.h"

#include <dirent.h>
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

extern char **environ;

static char folder[] = "/tmp/tether-surroundings-XXXXXX";

static tether_sim *sim_by_name(const char *name) {
  tether_scene *scene = load_with(name, "timestep=0.0005 s");
  tether_sim *sim = sim_of(scene);
  tether_scene_free(scene);
  return sim;
}

static void drive(tether_sim *sim) {
  tether_handle arm, left;
  double values[2] = {0.25, -1.5};
  good(tether_command_find(sim, "arm.velocity", NULL, &arm, &error));
  good(tether_command_find(sim, "left_track.torque", NULL, &left, &error));
  good(tether_sim_apply(sim, (tether_handle[]){arm, left}, values, 2, &error));
  good(tether_sim_step(sim, 60, &error));
}

/* Of a simulation made, driven and freed here. */
static uint64_t bits(void) {
  tether_sim *sim = sim_by_name("frc2011");
  drive(sim);
  uint64_t hash = tether_sim_hash(sim);
  tether_sim_free(sim);
  return hash;
}

static uint64_t expected;

static void other_floating_point(void **state) {
  (void)state;
#if defined(__x86_64__)
  const unsigned before = _mm_getcsr();
  static const unsigned others[] = {0x8040 /* FTZ, DAZ */, 0x4000 /* upward */, 0xc040};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    _mm_setcsr((before | others[i]) & ~(unsigned)_MM_EXCEPT_MASK);
    uint64_t hash = bits();
    unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_int_equal(after, (before | others[i]) & ~(unsigned)_MM_EXCEPT_MASK);
    assert_int_equal(hash, expected);
  }
#endif
  fesetround(FE_UPWARD);
  uint64_t hash = bits();
  assert_int_equal(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  assert_int_equal(hash, expected);
}

/* Made here: few machines have it. */
static void german(void) {
  char command[200], text[16];
  snprintf(command, sizeof command, "localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8", folder);
  if (system(command) != 0) fail_msg("%s: is the package locales installed?", command);
  setenv("LOCPATH", folder, 1);
  assert_non_null(setlocale(LC_ALL, "de_DE.UTF-8"));
  snprintf(text, sizeof text, "%g", 0.5);
  assert_string_equal(text, "0,5");
}

static void a_german_locale(void **state) {
  (void)state;
  static const char MODEL[] =
      "<mujoco><option timestep='0.0025'/><worldbody><body><joint/>"
      "<geom size='.125' pos='.5 .5 .5'/></body></worldbody></mujoco>";
  char path[100];
  tether_scene *scene;
  tether_sim *sim;
  double steps[2];
  uint64_t hashes[2];
  snprintf(path, sizeof path, "%s/model.xml", folder);
  FILE *f = fopen(path, "w");
  assert_true(f && fputs(MODEL, f) >= 0 && fclose(f) == 0);
  for (int i = 0; i < 2; i++) {
    if (i == 1) german();
    good(tether_scene_load(path, NULL, 0, &scene, &error));
    good(tether_sim_new(scene, &sim, &error));
    good(tether_sim_step(sim, 60, &error));
    steps[i] = tether_scene_timestep(scene);
    hashes[i] = tether_sim_hash(sim);
    tether_sim_free(sim);
    tether_scene_free(scene);
  }
  assert_true(steps[0] == 0.0025 && steps[1] == 0.0025);
  assert_int_equal(hashes[1], hashes[0]);
  uint64_t hash = bits();
  sim = sim_by_name("frc2011");
  tether_handle duty;
  good(tether_command_find(sim, "arm.duty", NULL, &duty, &error));
  double value = 1.5;
  assert_int_equal(tether_sim_apply(sim, &duty, &value, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "1.5 "));
  tether_sim_free(sim);
  assert_string_equal(setlocale(LC_ALL, NULL), "de_DE.UTF-8");
  setlocale(LC_ALL, "C");
  unsetenv("LOCPATH");
  assert_int_equal(hash, expected);
}

static void ignored_children(void **state) {
  (void)state;
  signal(SIGCHLD, SIG_IGN);
  uint64_t hash = bits();
  assert_true(signal(SIGCHLD, SIG_DFL) == SIG_IGN);
  assert_int_equal(hash, expected);
}

static void after_a_fork(void **state) {
  (void)state;
  tether_sim *sim = sim_by_name("frc2011");
  int how;
  drive(sim);
  pid_t child = fork();
  drive(sim);
  uint64_t hash = tether_sim_hash(sim), other = 0;
  if (child == 0) { /* it goes on, and makes one of its own */
    other = bits();
    FILE *f = fopen("/dev/null", "w");
    if (f) fclose(f);
  }
  char path[100];
  snprintf(path, sizeof path, "%s/hash", folder);
  if (child == 0) {
    FILE *f = fopen(path, "w");
    if (f) fprintf(f, "%llx %llx", (unsigned long long)hash, (unsigned long long)other);
    _exit(f && fclose(f) == 0 ? 0 : 1);
  }
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
  unsigned long long its = 0, own = 0;
  FILE *f = fopen(path, "r");
  assert_true(f && fscanf(f, "%llx %llx", &its, &own) == 2);
  fclose(f);
  assert_true(its == hash && own == expected);
  tether_sim_free(sim);
}

/* A name with a folder and one without both mean what they meant when the scene was loaded. */
static void another_current_folder(void **state) {
  (void)state;
  tether_scene *by_name, *by_path;
  tether_sim *sim;
  char *here = getcwd(NULL, 0);
  assert_int_equal(chdir(TETHER_SOURCE_DIR), 0);
  good(tether_scene_load("gripper", NULL, 0, &by_name, &error));
  good(tether_scene_load("scenes/gripper.yaml", NULL, 0, &by_path, &error));
  assert_int_equal(chdir("/"), 0);
  tether_scene *both[] = {by_name, by_path};
  for (int i = 0; i < 2; i++) {
    good(tether_sim_new(both[i], &sim, &error));
    tether_sim_free(sim);
    tether_scene_free(both[i]);
  }
  assert_int_equal(chdir(here), 0);
  free(here);
}

/* ---- memory ---- */

#ifndef SANITIZED /* which need more than any limit */
static size_t memory_now(void) {
  unsigned long pages = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (f && fscanf(f, "%lu", &pages) != 1) pages = 0;
  if (f) fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return __LINE__;                                                             \
  } while (0)

/* The line of what is not as it should be, or 0. */
static int exhaust(void) {
  enum { MOST = 4000 };
  static tether_sim *sims[MOST];
  tether_status status = TETHER_OK;
  tether_batch *batch;
  int made = 0;
  tether_scene *scene, *another;
  CHECK(tether_scene_load("frc2011", NULL, 0, &scene, NULL) == TETHER_OK);
  CHECK(tether_scene_load("gripper", NULL, 0, &another, NULL) == TETHER_OK);
  CHECK(tether_sim_new(scene, &sims[made++], NULL) == TETHER_OK);
  CHECK(tether_sim_step(sims[0], 30, NULL) == TETHER_OK);
  const struct rlimit limit = {memory_now() + (400u << 20), RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  while (made < MOST && (status = tether_sim_new(scene, &sims[made], &error)) == TETHER_OK) made++;
  CHECK(status == TETHER_NO_MEMORY && error.text[0] && !sims[made]);
  CHECK(tether_sim_clone(sims[0], &sims[made], &error) == TETHER_NO_MEMORY && error.text[0]);
  CHECK(tether_batch_new(scene, 8, 2, NULL, 0, NULL, 0, &batch, &error) != TETHER_OK);
  for (int round = 0; round < 2; round++) /* those that are there go on */
    for (int i = 1; i < made; i++) CHECK(tether_sim_step(sims[i], 15, &error) == TETHER_OK);
  for (int i = 1; i < made; i++) CHECK(tether_sim_hash(sims[i]) == tether_sim_hash(sims[0]));
  for (int i = 1; i < made; i++) tether_sim_free(sims[i]);
  CHECK(tether_sim_new(another, &sims[1], &error) == TETHER_OK); /* compiles in what there is */
  CHECK(tether_sim_step(sims[1], 30, NULL) == TETHER_OK);
  tether_sim_free(sims[0]);
  tether_sim_free(sims[1]);
  tether_scene_free(scene);
  tether_scene_free(another);
  return 0;
}

static void memory_that_runs_out(void **state) {
  (void)state;
  int how;
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) _exit(exhaust() % 256);
  assert_int_equal(waitpid(child, &how, 0), child);
  if (how != 0) fail_msg("line %d mod 256, signal %d", WEXITSTATUS(how), WTERMSIG(how));
}
#endif

/* ---- the process around ---- */

/* All of it that could be changed unseen, as text. */
static char *process(void) {
  char *text, *folder_now = getcwd(NULL, 0);
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "folder %s, locale %s, mask %o, rounding %d\n", folder_now, setlocale(LC_ALL, NULL),
          (unsigned)umask(022), fegetround());
  umask(022);
  free(folder_now);
  for (char **variable = environ; *variable; variable++) fprintf(out, "%s\n", *variable);
  for (int i = 1; i < SIGRTMIN; i++) {
    struct sigaction action;
    if (sigaction(i, NULL, &action) == 0)
      fprintf(out, "signal %d: %p %x\n", i, (void *)(size_t)action.sa_handler,
              (unsigned)action.sa_flags);
  }
  sigset_t blocked;
  sigprocmask(SIG_SETMASK, NULL, &blocked);
  for (int i = 1; i < SIGRTMIN; i++) fprintf(out, "%d", sigismember(&blocked, i));
  for (int i = 0; i < RLIM_NLIMITS; i++) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)i, &limit) == 0)
      fprintf(out, "\nlimit %d: %llu %llu", i, (unsigned long long)limit.rlim_cur,
              (unsigned long long)limit.rlim_max);
  }
  static const char *const counted[] = {"/proc/self/fd", "/proc/self/task"};
  for (int i = 0; i < 2; i++) {
    int entries = 0;
    DIR *all = opendir(counted[i]);
    while (all && readdir(all)) entries++;
    if (all) closedir(all);
    fprintf(out, "\n%s: %d", counted[i], entries);
  }
  fclose(out);
  return text;
}

static void ignore(void *context, int level, const char *line) {
  (void)context, (void)level, (void)line;
}

/* Everything once, what fails too. */
static void use_it(void) {
  tether_scene *scene;
  tether_batch *batch;
  tether_set_log(ignore, NULL);
  assert_int_equal(bits(), expected);
  assert_int_equal(tether_scene_load("nothing", NULL, 0, &scene, &error), TETHER_INVALID);
  good(tether_scene_load("gripper", NULL, 0, &scene, &error));
  good(tether_batch_new(scene, 4, 2, NULL, 0, NULL, 0, &batch, &error));
  good(tether_batch_step(batch, NULL, 10, NULL, &error));
  tether_batch_free(batch);
  tether_scene_free(scene);
  tether_sim *sim = sim_by_name("frc2011");
  tether_handle arm;
  double torque = 1e6;
  good(tether_command_find(sim, "arm.torque", NULL, &arm, &error));
  good(tether_sim_apply(sim, &arm, &torque, 1, &error));
  for (int i = 0; i < 200; i++) tether_sim_step(sim, 10, &error); /* may diverge */
  tether_sim_free(sim);
  tether_set_log(NULL, NULL);
}

static void the_process_is_as_it_was(void **state) {
  (void)state;
  char path[100];
  struct stat about;
  use_it(); /* what is made once is made */
  snprintf(path, sizeof path, "%s/printed", folder);
  fflush(NULL);
  int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
  int printed = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  assert_true(dup2(printed, STDOUT_FILENO) >= 0 && dup2(printed, STDERR_FILENO) >= 0);
  char *before = process();
  use_it();
  char *after = process();
  fflush(NULL);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  assert_int_equal(fstat(printed, &about), 0);
  close(printed);
  close(out);
  close(err);
  assert_int_equal(about.st_size, 0);
  assert_string_equal(after, before);
  assert_true(waitpid(-1, NULL, WNOHANG) < 0); /* no child */
  free(before);
  free(after);
}

static int setup(void **state) {
  (void)state;
  umask(022);
  if (!mkdtemp(folder)) return -1;
  expected = bits();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_process_is_as_it_was),
      cmocka_unit_test(other_floating_point),
      cmocka_unit_test(a_german_locale),
      cmocka_unit_test(ignored_children),
      cmocka_unit_test(after_a_fork),
      cmocka_unit_test(another_current_folder),
#ifndef SANITIZED
      cmocka_unit_test(memory_that_runs_out),
#endif
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

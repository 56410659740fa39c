/* compiled_test.c: what was compiled before is not compiled again, and what changed is. */
#include "base/log.h"
#include "engine/mujoco/compiled.h"
#include "engine/mujoco/compiler.h"

#include <pthread.h>
#include <setjmp.h>
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

static char folder[] = "/tmp/tether-compiled-XXXXXX", real[TT_PATH_SIZE];

static const char *path_of(const char *name) {
  static _Thread_local char paths[4][256];
  static _Thread_local int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void write_file(const char *name, const void *bytes, size_t size) {
  FILE *f = fopen(path_of(name), "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  assert_int_equal(fclose(f), 0);
}

static void write_text(const char *name, const char *text) { write_file(name, text, strlen(text)); }

/* A tetrahedron of this size as a binary STL. */
static void write_mesh(const char *name, float size) {
  static const int corners[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
  const float points[4][3] = {{0, 0, 0}, {size, 0, 0}, {0, size, 0}, {0, 0, size}};
  unsigned char bytes[84 + 4 * 50] = {0};
  bytes[80] = 4;
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      memcpy(bytes + 84 + 50 * i + 12 * (k + 1), points[corners[i][k]], sizeof points[0]);
  write_file(name, bytes, sizeof bytes);
}

/* The program, with a line in a file for each time that it is started. */
static void count_starts(const char *more) {
  char script[2 * TT_PATH_SIZE];
  snprintf(script, sizeof script, "#!/bin/sh\necho >>%s/starts\n%s\nexec %s\n", folder, more, real);
  write_text("count", script);
  assert_int_equal(chmod(path_of("count"), 0700), 0);
  assert_int_equal(tt_mujoco_set_compiler(path_of("count")), TT_OK);
}

static int starts(void) {
  struct stat about;
  return stat(path_of("starts"), &about) == 0 ? (int)about.st_size : 0;
}

/* The hash of the compiled model. */
static uint64_t load_at(const char *name, double x) {
  const tt_engine_robot robot = {.name = "r", .model_file = path_of(name), .x = x};
  const tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_error error = {""};
  tt_physics *p;
  if (tt_physics_load(&spec, &p, &error) != TT_OK) fail_msg("%s", error.text);
  uint64_t hash = tt_physics_describe(p)->model_hash;
  tt_physics_free(p);
  return hash;
}

static uint64_t load(const char *name) { return load_at(name, 0); }

#define MODEL                                                                                      \
  "<mujoco><asset><mesh name='m' file='m.stl'/></asset><worldbody><body><freejoint/>"              \
  "<geom type='mesh' mesh='m'/></body></worldbody><include file='more.xml'/></mujoco>"

static int setup(void **state) {
  physics_compiled_forget_all();
  unlink(path_of("starts"));
  write_text("model.xml", MODEL);
  write_text("more.xml", "<mujoco><option gravity='0 0 -9'/></mujoco>");
  write_mesh("m.stl", 0.1f);
  count_starts("");
  (void)state;
  return 0;
}

static void the_second_is_not_compiled(void **state) {
  (void)state;
  uint64_t fresh = load("model.xml");
  assert_int_equal(starts(), 1);
  for (int i = 0; i < 3; i++) assert_int_equal(load("model.xml"), fresh);
  assert_int_equal(starts(), 1);
  physics_compiled_forget_all();
  assert_int_equal(load("model.xml"), fresh);
  assert_int_equal(starts(), 2);
}

static void what_changed_is_compiled(void **state) {
  (void)state;
  uint64_t first = load("model.xml");
  write_mesh("m.stl", 0.2f);
  uint64_t larger = load("model.xml");
  assert_int_not_equal(larger, first);
  assert_int_equal(starts(), 2);
  write_text("more.xml", "<mujoco><option gravity='0 0 -8'/></mujoco>");
  assert_int_not_equal(load("model.xml"), larger);
  assert_int_equal(starts(), 3);
  assert_int_not_equal(load_at("model.xml", 1), larger); /* another request */
  assert_int_equal(starts(), 4);
  /* All back, and both are known. */
  write_text("more.xml", "<mujoco><option gravity='0 0 -9'/></mujoco>");
  assert_int_equal(load("model.xml"), larger);
  write_mesh("m.stl", 0.1f);
  assert_int_equal(load("model.xml"), first);
  assert_int_equal(starts(), 4);
  /* Another program may compile otherwise. */
  count_starts(":");
  assert_int_equal(load("model.xml"), first);
  assert_int_equal(starts(), 5);
}

static void a_file_that_changes_meanwhile_is_not_kept(void **state) {
  (void)state;
  char more[600];
  snprintf(more, sizeof more, "printf \"<mujoco><option gravity='0 0 -7'/></mujoco>\" >%s/more.xml",
           folder);
  count_starts(more);
  uint64_t changed = load("model.xml");
  write_text("more.xml", "<mujoco><option gravity='0 0 -9'/></mujoco>");
  count_starts("");
  assert_int_not_equal(load("model.xml"), changed);
  assert_int_equal(starts(), 2);
}

static void what_is_no_model_is_not_kept(void **state) {
  (void)state;
  const tt_engine_robot robot = {.name = "r", .model_file = path_of("model.xml")};
  const tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  char script[2 * TT_PATH_SIZE];
  tt_error error;
  tt_physics *p;
  snprintf(
      script, sizeof script,
      "[ $(wc -l <%s/starts) -gt 1 ] || { %s; head -c 4000 /dev/urandom >/proc/self/fd/4; exit; }",
      folder, real);
  count_starts(script);
  assert_int_equal(tt_physics_load(&spec, &p, &error), TT_FAILED);
  load("model.xml");
  assert_int_equal(starts(), 2);
}

static char heard[4000];

static void hear(void *context, tt_log_level level, const char *text) {
  (void)context;
  if (level == TT_LOG_WARNING) snprintf(heard + strlen(heard), 500, "%s\n", text);
}

static void what_was_said_is_said_again(void **state) {
  (void)state;
  count_starts("echo 'warning: mind the gap'; echo 'debug: and more'; echo 'warning: twice'");
  for (int i = 0; i < 2; i++) {
    heard[0] = '\0';
    tt_log_set_sink(hear, NULL);
    load("model.xml");
    tt_log_set_sink(NULL, NULL);
    assert_string_equal(heard, "mind the gap\ntwice\n");
  }
  assert_int_equal(starts(), 1);
}

/* Files of kinds that may name others in ways of their own: nobody here could tell that those changed. */
static void what_cannot_be_told_is_compiled(void **state) {
  (void)state;
  write_text("m.ply",
             "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n"
             "property float z\nelement face 4\nproperty list uchar int vertex_indices\n"
             "end_header\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n");
  write_text("model.urdf",
             "<robot name='r'><link name='l'><inertial><mass value='1'/>"
             "<inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
             "<collision><geometry><mesh filename='m.ply'/></geometry></collision>"
             "</link></robot>");
  uint64_t fresh = load("model.urdf");
  assert_int_equal(load("model.urdf"), fresh);
  assert_int_equal(starts(), 2);
}

/* The least used go first. */
static void there_is_an_end_to_what_is_kept(void **state) {
  (void)state;
  size_t one = 1024;
  for (int before = -1; before != starts(); one *= 2) { /* until it fits */
    physics_compiled_most_bytes = one;
    load("model.xml");
    before = starts();
    load("model.xml");
  }
  assert_true(starts() > 1);
  physics_compiled_most_bytes = 2 * one; /* two to eight */
  const int before = starts();
  for (int i = 0; i < 12; i++) {
    load_at("model.xml", i);
    load("model.xml");
  }
  assert_int_equal(starts() - before, 11); /* at 0 it is the same one */
  load_at("model.xml", 1);
  assert_int_equal(starts() - before, 12);
  physics_compiled_most_bytes = 64 << 20;
}

static void *load_some(void *hash) {
  for (int i = 0; i < 4; i++)
    if (load_at("model.xml", i % 2) == 0) return NULL;
  *(uint64_t *)hash = load("model.xml");
  return NULL;
}

static void any_thread_may_load(void **state) {
  (void)state;
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  uint64_t hashes[THREADS] = {0}, fresh = load("model.xml");
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, load_some, &hashes[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_int_equal(hashes[i], fresh);
  pid_t child = fork();
  if (child == 0) _exit(load("model.xml") == fresh ? 0 : 1);
  int how;
  assert_int_equal(waitpid(child, &how, 0), child);
  assert_int_equal(how, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(the_second_is_not_compiled, setup),
      cmocka_unit_test_setup(what_changed_is_compiled, setup),
      cmocka_unit_test_setup(a_file_that_changes_meanwhile_is_not_kept, setup),
      cmocka_unit_test_setup(what_is_no_model_is_not_kept, setup),
      cmocka_unit_test_setup(what_was_said_is_said_again, setup),
      cmocka_unit_test_setup(what_cannot_be_told_is_compiled, setup),
      cmocka_unit_test_setup(there_is_an_end_to_what_is_kept, setup),
      cmocka_unit_test_setup(any_thread_may_load, setup),
  };
  if (!mkdtemp(folder)) return 1;
  snprintf(real, sizeof real, "%s", physics_compiler());
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) != 0 || failed;
}

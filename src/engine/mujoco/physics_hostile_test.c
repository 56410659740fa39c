/* physics_hostile_test.c: model files made to do harm, and memory that runs out. Whatever they are, loading says what
 * is wrong, nothing is left behind, and the next good model loads as if nothing had been. */
#include "engine/mujoco/physics.h"

#include <mujoco/mujoco.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define GOOD TETHER_SOURCE_DIR "/src/engine/mujoco/testdata/cart.xml"

static char folder[] = "/tmp/tether-hostile-XXXXXX";
static uint64_t good_hash;

static tt_status load(const char *file, tt_physics **p, tt_error *error) {
  const tt_engine_robot robot = {.name = "r", .model_file = file};
  const tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  return tt_physics_load(&spec, p, error);
}

static uint64_t load_good(void) {
  tt_physics *p = NULL;
  tt_error error = {""};
  if (load(GOOD, &p, &error) != TT_OK) fail_msg("%s", error.text);
  uint64_t hash = tt_physics_describe(p)->model_hash;
  tt_physics_free(p);
  return hash;
}

static int setup(void **state) {
  (void)state;
  if (!mkdtemp(folder)) return -1;
  good_hash = load_good();
  return 0;
}

static int teardown(void **state) {
  (void)state;
  char command[128];
  snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command);
}

static const char *write_file(const char *name, const void *bytes, size_t size) {
  static char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, size, f), size);
  fclose(f);
  return path;
}

/* The file is refused and named, and the next good one loads as ever. */
static void refused_file(const char *path) {
  tt_physics *p = NULL;
  tt_error error = {""};
  tt_status status = load(path, &p, &error);
  if (status != TT_INVALID) fail_msg("%s: status %d, \"%s\"", path, (int)status, error.text);
  assert_null(p);
  if (!strstr(error.text, path)) fail_msg("\"%s\" does not name %s", error.text, path);
  assert_true(load_good() == good_hash);
}

static void refused(const char *name, const char *text) {
  refused_file(write_file(name, text, strlen(text)));
}

static void includes_that_never_end(void **state) {
  (void)state;
  refused("loop.xml", "<mujoco><include file='loop.xml'/></mujoco>");
  static const char BACK[] = "<mujoco><include file='a.xml'/></mujoco>";
  write_file("b.xml", BACK, strlen(BACK));
  refused("a.xml", "<mujoco><include file='b.xml'/></mujoco>");
}

static void entities(void **state) {
  (void)state;
  static const char BOMB[] =
      "<!DOCTYPE x [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
      "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;'>"
      "<!ENTITY e '&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;'><!ENTITY f '&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;'>"
      "<!ENTITY g '&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;'><!ENTITY h '&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;'>]>";
  char text[2048];
  snprintf(text, sizeof text, "%s<robot name='r'><link name='&h;'/></robot>", BOMB);
  refused("bomb.urdf", text);
  snprintf(text, sizeof text, "%s<mujoco model='&h;'><worldbody/></mujoco>", BOMB);
  refused("bomb.xml", text);
  refused("file.urdf",
          "<!DOCTYPE x [<!ENTITY f SYSTEM 'file:///etc/passwd'>]><robot name='r'>&f;</robot>");
}

/* The limit is named, and what asks for so much. */
/* Sanitizers end a program that asks for more than there is; here they answer as other allocators do. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "allocator_may_return_null=1"; }

static void sizes_beyond_memory(void **state) {
  (void)state;
  static const char *const SIZES[] = {"nconmax='2000000000'", "njmax='2000000000'", "njmax='30000'",
                                      "nstack='1000000000'"};
  for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
    char text[256];
    snprintf(text, sizeof text,
             "<mujoco><size %s/><worldbody><body><freejoint/><geom size='1'/></body></worldbody>"
             "</mujoco>",
             SIZES[i]);
    tt_physics *p = NULL;
    tt_error error = {""};
    assert_int_equal(load(write_file("memory.xml", text, strlen(text)), &p, &error), TT_INVALID);
    if (!strstr(error.text, "memory.xml: needs more memory than the 6 GiB") ||
        !strstr(error.text, "njmax"))
      fail_msg("%s: %s", SIZES[i], error.text);
  }
}

static void sizes_beyond_reason(void **state) {
  (void)state;
  static const char *const TEXTS[] = {
      "<mujoco><size nconmax='2000000000'/><worldbody><body><freejoint/><geom size='1'/></body>"
      "</worldbody></mujoco>",
      "<mujoco><size njmax='2000000000'/><worldbody><body><freejoint/><geom size='1'/></body>"
      "</worldbody></mujoco>",
      "<mujoco><size nuserdata='2000000000'/><worldbody><body><freejoint/><geom size='1'/></body>"
      "</worldbody></mujoco>",
      "<mujoco><asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>"
      "<worldbody><geom type='hfield' hfield='h'/></worldbody></mujoco>",
      "<mujoco><asset><texture name='t' type='2d' builtin='checker' width='100000' "
      "height='100000'/>"
      "</asset><worldbody><body><geom size='1'/></body></worldbody></mujoco>",
      "<mujoco><worldbody><body><composite type='grid' count='2000 2000 1' spacing='.1'>"
      "<geom size='.01'/></composite></body></worldbody></mujoco>",
  };
  /* The compiler has what this process has of the processor where that is less than ten seconds. */
  struct rlimit usual, less;
  assert_int_equal(getrlimit(RLIMIT_CPU, &usual), 0);
  less = (struct rlimit){.rlim_cur = 2, .rlim_max = usual.rlim_max};
  signal(SIGXCPU, SIG_IGN); /* which is not handed on */
  assert_int_equal(setrlimit(RLIMIT_CPU, &less), 0);
  for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) refused("huge.xml", TEXTS[i]);
  assert_int_equal(setrlimit(RLIMIT_CPU, &usual), 0);
  signal(SIGXCPU, SIG_DFL);
}

/* Deeper than any stack. */
static void nesting_without_end(void **state) {
  (void)state;
  enum { DEPTH = 150000 };
  static const char OPEN[] = "<body><geom size='1'/>", CLOSE[] = "</body>";
  const size_t size = DEPTH * (sizeof OPEN + sizeof CLOSE) + 100;
  char *text = malloc(size), *at = text;
  at = stpcpy(at, "<mujoco><worldbody>");
  for (int i = 0; i < DEPTH; i++) at = stpcpy(at, OPEN);
  for (int i = 0; i < DEPTH; i++) at = stpcpy(at, CLOSE);
  stpcpy(at, "</worldbody></mujoco>");
  refused("deep.xml", text);
  free(text);
}

static void with_mesh(const char *file) {
  char text[512];
  snprintf(text, sizeof text,
           "<mujoco><asset><mesh name='m' file='%s'/></asset><worldbody><body><freejoint/>"
           "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>",
           file);
  refused("mesh.xml", text);
}

static void meshes(void **state) {
  (void)state;
  uint8_t stl[84 + 50 * 4] = {0};
  const uint32_t counts[] = {4, 0, 1, 5, 200000, 0x7fffffff, 0xffffffff};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    memcpy(stl + 80, &counts[i], 4); /* all its vertices are one point */
    write_file("bad.stl", stl, sizeof stl);
    with_mesh("bad.stl");
  }
  for (size_t cut = 0; cut < sizeof stl; cut += 41) {
    write_file("bad.stl", stl, cut);
    with_mesh("bad.stl");
  }
  memset(stl + 84, 0xff, sizeof stl - 84); /* not a number */
  memcpy(stl + 80, &counts[0], 4);
  write_file("bad.stl", stl, sizeof stl);
  with_mesh("bad.stl");
  with_mesh("/etc/passwd");
  with_mesh("/dev/zero");
  with_mesh("../../../../../../etc/shadow");
  static const char OBJ[] = "f 1 2 3\nf 9999999999 1 2\nv nan nan nan\n";
  write_file("bad.obj", OBJ, strlen(OBJ));
  with_mesh("bad.obj");
}

static void pictures(void **state) {
  (void)state;
  uint8_t png[8 + 25] = {0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
  memset(png + 16, 0x7f, 8); /* width and height */
  memcpy(png + 24, (uint8_t[]){8, 2, 0, 0, 0}, 5);
  for (size_t cut = 0; cut <= sizeof png; cut += 3) {
    write_file("bad.png", png, cut);
    refused("picture.xml",
            "<mujoco><asset><texture name='t' type='2d' file='bad.png'/></asset><worldbody><body>"
            "<geom size='1'/></body></worldbody></mujoco>");
  }
}

/* A compiled model under another name, and a good model cut anywhere. */
static void other_bytes(void **state) {
  (void)state;
  char *bytes = calloc(1, 1 << 16);
  FILE *f = fopen(GOOD, "rb");
  size_t size = fread(bytes, 1, 1 << 16, f);
  fclose(f);
  for (size_t cut = 0; cut + 20 < size; cut += size / 12)
    refused_file(write_file("cut.xml", bytes, cut));
  free(bytes);
  uint8_t binary[4096];
  for (size_t i = 0; i < sizeof binary; i++) binary[i] = (uint8_t)(i * 2654435761u >> 13);
  memcpy(binary, (const int[]){54321, 8, 1, 1}, 16);
  refused_file(write_file("binary.xml", binary, sizeof binary));
  refused_file(write_file("binary.mjb", binary, sizeof binary));
}

/* --- memory --- */

static int left, failures; /* as many pieces as there are at a time */

static void *failing_malloc(size_t size) {
  if (--left < 0) {
    failures++;
    return NULL;
  }
  /* As MuJoCo's own: in whole cache lines. */
  return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void counting_free(void *piece) {
  left += piece != NULL;
  free(piece);
}

/* With more and more memory, until it is enough. How often it was not. */
static int load_with_little_memory(void) {
  for (int n = 0; n < 1000; n++) {
    tt_physics *p = NULL;
    tt_error error = {""};
    left = n;
    tt_status status = load(GOOD, &p, &error);
    left = 1 << 30;
    tt_physics_free(p);
    if (status == TT_OK) return n;
    assert_true(error.text[0] != '\0' && p == NULL);
  }
  return -1;
}

static void memory_that_runs_out_while_loading(void **state) {
  (void)state;
  mju_user_malloc = failing_malloc;
  mju_user_free = counting_free;
  assert_true(load_with_little_memory() > 0);
  assert_true(failures > 0);
  mju_user_malloc = NULL;
  mju_user_free = NULL;
  assert_true(load_good() == good_hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(includes_that_never_end),
      cmocka_unit_test(entities),
      cmocka_unit_test(sizes_beyond_memory),
      cmocka_unit_test(sizes_beyond_reason),
      cmocka_unit_test(nesting_without_end),
      cmocka_unit_test(meshes),
      cmocka_unit_test(pictures),
      cmocka_unit_test(other_bytes),
      cmocka_unit_test(memory_that_runs_out_while_loading),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}

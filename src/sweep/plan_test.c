/* plan_test.c: plans from YAML to runs: axes, groups, sampling's shape, identity, what the scene is loaded with. */
#include "app/guests.h"
#include "sweep/plan.h"
#include "sweep/plan_show.h"

#include <glob.h>
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER TETHER_SOURCE_DIR "/src/sweep/testdata"
#define HEAD "scene: sharp\nduration: 2 s\n"

static tt_sweep_plan *load_with(const char *text, const char *setting) {
  tt_sweep_plan *plan;
  tt_error error;
  if (tt_sweep_plan_parse(&tt_program_guests, FOLDER "/plan.yaml", text, strlen(text), &setting,
                          setting ? 1 : 0, &plan, &error) != TT_OK)
    fail_msg("%s", error.text);
  return plan;
}

static tt_sweep_plan *load(const char *text) { return load_with(text, NULL); }

static double value_at(const tt_sweep_plan *plan, uint64_t number, int axis) {
  tt_sweep_run run;
  tt_sweep_plan_run(plan, number, &run);
  assert_int_equal(run.axes[axis].kind, TT_SWEEP_NUMBER);
  return run.axes[axis].number;
}

static const char *text_at(const tt_sweep_plan *plan, uint64_t number, int axis) {
  tt_sweep_run run;
  tt_sweep_plan_run(plan, number, &run);
  assert_int_equal(run.axes[axis].kind, TT_SWEEP_TEXT);
  return run.axes[axis].text;
}

static void id_at(const tt_sweep_plan *plan, uint64_t number, char id[33]) {
  tt_sweep_run run;
  tt_sweep_plan_run(plan, number, &run);
  memcpy(id, run.id, 33);
}

static void assert_near(double value, double wanted) {
  assert_true(fabs(value - wanted) <= 1e-12 * fmax(1, fabs(wanted)));
}

/* --- the plan of the documentation --- */

static const char example[] = HEAD
    "controller: {lua: hold.lua}\n"
    "axes:\n"
    "  - {name: heading, set: robots.sharp.heading, range: [0 deg, 90 deg], count: 4}\n"
    "  - {name: gain, value: [0.2, 0.5, 1.0]}\n"
    "repeat: 5\n"
    "metrics:\n"
    "  - {name: final_y, signal: chassis.y, measure: final}\n"
    "  - {name: top_speed, signal: chassis.vy, measure: greatest}\n";

static void test_the_example(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(example);
  tt_sweep_run run;
  assert_int_equal(tt_sweep_plan_runs(plan), 4 * 3 * 5);
  assert_int_equal(plan->point_count, 12);
  assert_int_equal(plan->axis_count, 2);
  assert_int_equal(plan->metric_count, 2);
  assert_string_equal(plan->axes[0].unit, "rad");
  assert_string_equal(plan->axes[1].unit, "");
  assert_string_equal(plan->metrics[1].name, "top_speed");
  assert_string_equal(plan->metrics[1].unit, "m/s");
  assert_int_equal(plan->controller.kind, TT_SWEEP_LUA);
  assert_string_equal(plan->controller.text, FOLDER "/hold.lua");
  assert_string_equal(plan->output, FOLDER "/plan.sqlite");
  assert_true(plan->scene[0] == '/');
  tt_sweep_plan_run(plan, 17, &run); /* the last axis goes fastest, repeats follow each other */
  assert_int_equal(run.point, 3);
  assert_int_equal(run.seed, 2);
  assert_near(run.axes[0].number, M_PI / 6);
  assert_near(run.axes[1].number, 0.2);
  assert_near(value_at(plan, 59, 0), M_PI / 2); /* both ends are included, exactly */
  assert_near(value_at(plan, 59, 1), 1.0);
  tt_sweep_plan_free(plan);
}

static void test_keys_of_the_command_line(void **state) {
  (void)state;
  tt_sweep_plan *plan = load_with(example, "repeat=2");
  assert_int_equal(tt_sweep_plan_runs(plan), 24);
  assert_non_null(strstr(plan->text, "top_speed"));
  assert_non_null(strstr(plan->text, "# --set repeat=2"));
  tt_sweep_plan_free(plan);
  plan = load_with(example, "set.robots.sharp.x=1 m");
  assert_string_equal(plan->settings[0], "robots.sharp.x=1 m");
  assert_null(plan->settings[1]);
  tt_sweep_plan_free(plan);
}

/* --- axes --- */

static void test_a_plan_without_axes_is_one_point(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(HEAD "repeat: 3\nseed: 7\n");
  tt_sweep_run run;
  assert_int_equal(tt_sweep_plan_runs(plan), 3);
  tt_sweep_plan_run(plan, 2, &run);
  assert_int_equal(run.seed, 9);
  tt_sweep_plan_free(plan);
}

static void test_ranges(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(HEAD
                             "axes:\n"
                             "  - {name: a, range: [1, 1000], count: 4, scale: log}\n"
                             "  - {name: b, range: [0, 10 ms], count: 3}\n");
  assert_near(value_at(plan, 3, 0), 10);
  assert_near(value_at(plan, 6, 0), 100);
  assert_true(value_at(plan, 9, 0) == 1000);
  assert_string_equal(plan->axes[1].unit, "s");
  assert_near(value_at(plan, 1, 1), 0.005);
  assert_true(value_at(plan, 2, 1) == 0.01);
  tt_sweep_plan_free(plan);
  plan = load(HEAD "axes: [{name: a, range: [1e-300, 1e300], count: 3, scale: log}]\n");
  assert_near(value_at(plan, 1, 0), 1); /* from end to end there is no finite factor */
  tt_sweep_plan_free(plan);
}

static void test_axes_that_go_together(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(HEAD
                             "axes:\n"
                             "  - {name: p, value: [1, 2, 3], group: gains}\n"
                             "  - {name: mode, value: [slow, fast]}\n"
                             "  - {name: d, value: [0.1, 0.2, 0.2], group: gains}\n");
  assert_int_equal(tt_sweep_plan_runs(plan), 6);
  for (uint64_t i = 0; i < 6; i++) {
    const double p = value_at(plan, i, 0);
    assert_near(p, (double)(i / 2) + 1);
    assert_near(value_at(plan, i, 2), p < 2 ? 0.1 : 0.2);
    assert_string_equal(text_at(plan, i, 1), i % 2 ? "fast" : "slow");
  }
  tt_sweep_plan_free(plan);
}

static void test_seeds_are_an_axis(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(HEAD
                             "axes: [{name: chance, set: seed, value: [10, 20]}]\n"
                             "repeat: 2\nseed: 100\n");
  static const uint64_t seeds[] = {10, 11, 20, 21};
  for (uint64_t i = 0; i < 4; i++) {
    tt_sweep_run run;
    tt_sweep_plan_run(plan, i, &run);
    assert_int_equal(run.seed, seeds[i]);
  }
  tt_sweep_plan_free(plan);
}

/* --- what the scene is loaded with --- */

static void test_settings_of_a_run(void **state) {
  (void)state;
  tt_sweep_plan *plan =
      load(HEAD
           "set: {robots: {sharp: {y: 1 m}}}\n"
           "axes:\n"
           "  - {name: x, set: robots.sharp.x, range: [0, 30 in], count: 4}\n"
           "  - {name: mass, set: models.sharp.bodies.chassis.mass, value: [20 lb, 30 lb]}\n"
           "  - {name: fine, set: timestep, value: [1/1000 s, 1/3000 s]}\n"
           "  - {name: chance, set: seed, value: [1, 2]}\n"
           "  - {name: gain, value: [1, 2]}\n");
  tt_sweep_run run;
  char texts[256];
  const char *settings[8];
  tt_sweep_plan_run(plan, tt_sweep_plan_runs(plan) - 1, &run);
  int count = tt_sweep_run_settings(plan, &run, texts, sizeof texts, settings, 8);
  assert_int_equal(count, 3);
  assert_string_equal(settings[0], "robots.sharp.y=1 m");
  assert_string_equal(settings[1], "robots.sharp.x=0.762");
  assert_string_equal(settings[2], "timestep=1/3000 s"); /* exact, as it was written */
  assert_near(run.axes[1].number, 30 * 0.45359237);
  assert_string_equal(plan->axes[1].unit, "kg");
  assert_int_equal(tt_sweep_run_settings(plan, &run, texts, 8, settings, 8), -1);
  assert_int_equal(tt_sweep_run_settings(plan, &run, texts, sizeof texts, settings, 2), -1);
  tt_sweep_plan_free(plan);
}

static void test_another_spelling_of_a_path(void **state) {
  (void)state;
  tt_sweep_plan *plan =
      load(HEAD "axes: [{name: turn, set: 'robots[0].heading', value: [0 deg, 90 deg]}]\n");
  assert_string_equal(plan->axes[0].unit, "rad");
  assert_near(value_at(plan, 1, 0), M_PI / 2);
  tt_sweep_plan_free(plan);
}

/* --- sampling --- */

static void test_sampled_points(void **state) {
  static const char *const kinds[] = {"random", "latin-hypercube", "sobol"};
  (void)state;
  for (size_t i = 0; i < 3; i++) {
    char text[512];
    snprintf(text, sizeof text,
             HEAD
             "sampling: %s\nsamples: 64\naxes:\n"
             "  - {name: a, range: [10, 20]}\n"
             "  - {name: b, range: [1, 100], scale: log}\n"
             "  - {name: c, value: [red, blue]}\n"
             "  - {name: n, set: seed, range: [1, 4]}\n",
             kinds[i]);
    tt_sweep_plan *plan = load(text);
    double mean = 0;
    int blue = 0, counts[5] = {0};
    assert_int_equal(tt_sweep_plan_runs(plan), 64);
    for (uint64_t run = 0; run < 64; run++) {
      const double a = value_at(plan, run, 0), b = value_at(plan, run, 1);
      const int n = (int)value_at(plan, run, 3);
      assert_true(a >= 10 && a < 20 && b >= 1 && b <= 100 && n >= 1 && n <= 4);
      mean += a / 64;
      counts[n]++;
      blue += strcmp(text_at(plan, run, 2), "blue") == 0;
    }
    assert_true(fabs(mean - 15) < (i == 0 ? 1.5 : 0.2));
    assert_true(blue > 20 && blue < 44);
    for (int n = 1; n <= 4; n++) assert_true(i == 0 ? counts[n] > 4 : counts[n] == 16);
    tt_sweep_plan_free(plan);
  }
}

/* --- identity --- */

static void test_ids_are_of_what_decides_a_run(void **state) {
  (void)state;
  static const char base[] = HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\n";
  static const struct {
    const char *text;
    bool same_first, same_runs, same_columns;
  } cases[] = {
      {base, true, true, true},
      {"duration: 2000 ms\nscene: sharp\nseed: 3\naxes: [{name: gain, value: [1.0, 2]}]\n", true,
       true, true},
      {HEAD "axes: [{name: gain, value: [1, 2, 3]}]\nseed: 3\n", true, false, true},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\nrepeat: 2\n", true, false, true},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\ntimeout: 5 s\nretries: 2\n", true, true,
       true},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 4\n", false, false, true},
      {HEAD "axes: [{name: gains, value: [1, 2]}]\nseed: 3\n", false, false, false},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\nset: {robots.sharp.x: 1}\n", false,
       false, true},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\ncontroller: {lua: hold.lua}\n", false,
       false, true},
      {"scene: sharp\nduration: 3 s\naxes: [{name: gain, value: [1, 2]}]\nseed: 3\n", false, false,
       true},
      {"scene: gripper\nduration: 2 s\naxes: [{name: gain, value: [1, 2]}]\nseed: 3\n", false,
       false, true},
      {HEAD "axes: [{name: gain, value: [1, 2]}]\nseed: 3\n"
            "metrics: [{name: y, signal: chassis.y, measure: final}]\n",
       false, false, false},
  };
  tt_sweep_plan *plan = load(base);
  char first[33], id[33];
  id_at(plan, 0, first);
  assert_int_equal(strlen(first), 32);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_sweep_plan *other = load(cases[i].text);
    id_at(other, 0, id);
    if (!strcmp(id, first) != cases[i].same_first ||
        !strcmp(other->runs_identity, plan->runs_identity) != cases[i].same_runs ||
        !strcmp(other->columns_identity, plan->columns_identity) != cases[i].same_columns)
      fail_msg("case %zu", i);
    tt_sweep_plan_free(other);
  }
  tt_sweep_plan_free(plan);
}

/** The first run's id of a plan in `folder`, whose controller and scene stand there, too. */
static tt_sweep_plan *load_in(const char *folder) {
  static const char text[] = "scene: ./own.yaml\nduration: 1 s\ncontroller: {lua: own.lua}\n";
  char path[128];
  tt_sweep_plan *plan;
  tt_error error;
  snprintf(path, sizeof path, "%s/plan.yaml", folder);
  if (tt_sweep_plan_parse(&tt_program_guests, path, text, strlen(text), NULL, 0, &plan, &error))
    fail_msg("%s", error.text);
  return plan;
}

static void id_in(const char *folder, char id[33]) {
  tt_sweep_plan *plan = load_in(folder);
  id_at(plan, 0, id);
  tt_sweep_plan_free(plan);
}

static tt_status check_files_in(const tt_sweep_plan *plan, const char *said) {
  tt_error error = {""};
  tt_status status = tt_sweep_plan_check_files(plan, &error);
  if (!strstr(error.text, said)) fail_msg("%s", error.text);
  return status;
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

/* Bytes of the scene and of the controller decide, where they stand does not. */
static void test_ids_follow_files(void **state) {
  static const char scene[] = "robots: [{robot: sharp}]\n", hold[] = "function control() end\n";
  char first[] = "/tmp/plan_test.XXXXXX", second[] = "/tmp/plan_test.XXXXXX";
  char id[33], other[33];
  (void)state;
  assert_true(mkdtemp(first) && mkdtemp(second));
  const char *const folders[] = {first, second};
  for (int i = 0; i < 2; i++) {
    write_file(folders[i], "own.yaml", scene);
    write_file(folders[i], "own.lua", hold);
  }
  id_in(first, id);
  id_in(second, other);
  assert_string_equal(id, other);
  tt_sweep_plan *plan = load_in(second);
  assert_int_equal(check_files_in(plan, ""), TT_OK);
  write_file(second, "own.lua", "function control() local a = 1 end\n");
  assert_int_equal(check_files_in(plan, "own.lua: it has changed"), TT_FAILED);
  id_in(second, other);
  assert_string_not_equal(id, other);
  write_file(second, "own.lua", hold);
  assert_int_equal(check_files_in(plan, ""), TT_OK); /* written anew, and the same */
  write_file(second, "own.yaml", "robots: [{robot: sharp, x: 1}]\n");
  assert_int_equal(check_files_in(plan, "own.yaml: it has changed"), TT_FAILED);
  tt_sweep_plan_free(plan);
  id_in(second, other);
  assert_string_not_equal(id, other);
  for (int i = 0; i < 2; i++) {
    char path[128];
    snprintf(path, sizeof path, "%s/own.yaml", folders[i]);
    unlink(path);
    snprintf(path, sizeof path, "%s/own.lua", folders[i]);
    unlink(path);
    rmdir(folders[i]);
  }
}

/* Of a package, all that Python runs to import it. */
static void test_ids_follow_packages(void **state) {
  static const char text[] = "scene: sharp\nduration: 1 s\ncontroller: {policy: '%s'}\n";
  static const struct {
    const char *policy, *file;
  } cases[] = {{"pk:control", "pk/__init__.py"},
               {"pk.arm:control", "pk/__init__.py"},
               {"pk.arm:control", "pk/arm.py"},
               {"pk.deep:control", "pk/deep/__init__.py"},
               {"pk.deep.arm:control", "pk/deep/__init__.py"}};
  static const char *const files[] = {"pk/__init__.py", "pk/arm.py", "pk/deep/__init__.py",
                                      "pk/deep/arm.py"};
  char folder[] = "/tmp/plan_test.XXXXXX", path[128], plan_text[256], ids[2][33];
  (void)state;
  assert_non_null(mkdtemp(folder));
  static const char *const folders[] = {"pk/deep", "pk", "."};
  for (int i = 1; i >= 0; i--) {
    snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
    assert_int_equal(mkdir(path, 0700), 0);
  }
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) write_file(folder, files[k], "");
    for (int k = 0; k < 2; k++) {
      tt_sweep_plan *plan;
      tt_error error;
      snprintf(plan_text, sizeof plan_text, text, cases[i].policy);
      snprintf(path, sizeof path, "%s/plan.yaml", folder);
      if (tt_sweep_plan_parse(&tt_program_guests, path, plan_text, strlen(plan_text), NULL, 0,
                              &plan, &error))
        fail_msg("%s", error.text);
      id_at(plan, 0, ids[k]);
      tt_sweep_plan_free(plan);
      write_file(folder, cases[i].file, "other = 1\n");
    }
    if (strcmp(ids[0], ids[1]) == 0) fail_msg("%s: %s", cases[i].policy, cases[i].file);
  }
  for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
    snprintf(path, sizeof path, "%s/%s", folder, files[k]);
    unlink(path);
  }
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, folders[i]);
    assert_int_equal(rmdir(i < 2 ? path : folder), 0);
  }
}

static int compare_ids(const void *a, const void *b) { return strcmp(a, b); }

static void test_no_id_stands_twice(void **state) {
  (void)state;
  static const char *const texts[] = {
      HEAD
      "axes:\n  - {name: a, range: [0, 1], count: 10}\n  - {name: b, value: [x, y]}\nrepeat: 20\n",
      HEAD "axes: [{name: a, value: [x, y]}]\nsampling: random\nsamples: 400\n"};
  for (size_t k = 0; k < 2; k++) {
    static char ids[400][33];
    tt_sweep_plan *plan = load(texts[k]);
    assert_int_equal(tt_sweep_plan_runs(plan), 400);
    for (uint64_t i = 0; i < 400; i++) id_at(plan, i, ids[i]);
    qsort(ids, 400, 33, compare_ids);
    for (int i = 1; i < 400; i++) assert_true(strcmp(ids[i - 1], ids[i]) != 0);
    tt_sweep_plan_free(plan);
  }
}

/* --- large plans --- */

static double cpu_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

/* What a plan costs before its first run: its runs' ids have to be known then, to see which are done. */
static void test_large_plans_are_small(void **state) {
#define LINE "  - {name: %c, range: [1, 2]%s}\n"
  static const char *const kinds[] = {"", "sampling: random\nsamples: 100000\n",
                                      "sampling: latin-hypercube\nsamples: 100000\n",
                                      "sampling: sobol\nsamples: 100000\n"};
  (void)state;
  for (size_t i = 0; i < 4; i++) {
    char text[512];
    struct rusage before, after;
    snprintf(text, sizeof text, HEAD "%saxes:\n" LINE LINE LINE, kinds[i], 'a',
             i ? "" : ", count: 100", 'b', i ? "" : ", count: 100", 'c', i ? "" : ", count: 10");
    const double start = cpu_seconds();
    tt_sweep_plan *plan = load(text);
    getrusage(RUSAGE_SELF, &before);
    assert_int_equal(tt_sweep_plan_runs(plan), 100000);
    unsigned char every = 0;
    for (uint64_t number = 0; number < 100000; number++) {
      tt_sweep_run run;
      tt_sweep_plan_run(plan, number, &run);
      every |= (unsigned char)run.id[31];
    }
    assert_true(every != 0);
    getrusage(RUSAGE_SELF, &after);
    print_message("%.3f s\n", cpu_seconds() - start);
    assert_true(after.ru_maxrss - before.ru_maxrss < 1024); /* KiB */
    tt_sweep_plan_free(plan);
  }
}

/* --- programs --- */

static void test_a_program(void **state) {
  (void)state;
  tt_sweep_plan *plan =
      load(HEAD
           "controller: {command: 'python3 arm.py --gain {gain} ${HOME} {seed}', memory: 1e9}\n"
           "axes: [{name: gain, value: [1]}]\n");
  assert_int_equal(plan->controller.kind, TT_SWEEP_PROGRAM);
  assert_string_equal(plan->controller.files[0], FOLDER "/arm.py");
  assert_null(plan->controller.files[1]);
  assert_true(plan->controller.memory == 1e9);
  assert_true(plan->controller.output > 0);
  tt_sweep_plan_free(plan);
  plan = load(HEAD "controller: none\n");
  assert_int_equal(plan->controller.kind, TT_SWEEP_NO_CONTROLLER);
  tt_sweep_plan_free(plan);
  plan = load(HEAD "controller: {policy: 'arm:control'}\n");
  assert_int_equal(plan->controller.kind, TT_SWEEP_POLICY);
  assert_string_equal(plan->controller.text, "arm:control");
  assert_string_equal(plan->controller.files[0], FOLDER "/arm.py");
  tt_sweep_plan_free(plan);
}

static void test_kept_logs(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(HEAD
                             "metrics: [{name: y, signal: chassis.y, measure: final}]\n"
                             "keep: {failures: on, best: 3, worst: 2, metric: y, order: least}\n");
  assert_true(plan->keep.failures && !plan->keep.all && !plan->keep.greatest_is_best);
  assert_int_equal(plan->keep.best, 3);
  assert_int_equal(plan->keep.worst, 2);
  assert_string_equal(plan->keep.folder, FOLDER "/plan-logs");
  tt_sweep_plan_free(plan);
  plan = load(HEAD "keep: failures\n");
  assert_true(plan->keep.failures && !plan->keep.all);
  tt_sweep_plan_free(plan);
  plan = load(HEAD "keep: nothing\n");
  assert_true(!plan->keep.failures && !plan->keep.all);
  tt_sweep_plan_free(plan);
  plan = load(HEAD "output: /tmp/table.sqlite\n");
  assert_string_equal(plan->keep.folder, "/tmp/table-logs");
  tt_sweep_plan_free(plan);
  plan = load(HEAD "output: postgresql://host/base\n");
  assert_string_equal(plan->keep.folder, FOLDER "/plan-logs");
  tt_sweep_plan_free(plan);
}

/* --- plans that come with the program --- */

static void test_ready_plans(void **state) {
  glob_t found;
  (void)state;
  assert_int_equal(glob(TETHER_SOURCE_DIR "/scenes/sweeps/*.yaml", 0, NULL, &found), 0);
  assert_true(found.gl_pathc > 0);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char name[128], output[PATH_MAX];
    tt_sweep_plan *plan;
    tt_error error;
    snprintf(name, sizeof name, "%s", strrchr(found.gl_pathv[i], '/') + 1);
    *strrchr(name, '.') = 0;
    assert_true(tt_sweep_is_plan(name));
    assert_true(tt_sweep_is_plan(found.gl_pathv[i]));
    if (tt_sweep_plan_load(&tt_program_guests, name, NULL, 0, &plan, &error) != TT_OK)
      fail_msg("%s", error.text);
    assert_true(*plan->description && tt_sweep_plan_runs(plan) > 1 && plan->metric_count > 0);
    assert_non_null(getcwd(output, sizeof output)); /* not where the program is installed */
    snprintf(output + strlen(output), sizeof output - strlen(output), "/%s.sqlite", name);
    assert_string_equal(plan->output, output);
    tt_sweep_plan_free(plan);
  }
  globfree(&found);
  assert_false(tt_sweep_is_plan("sharp"));
  assert_false(tt_sweep_is_plan(TETHER_SOURCE_DIR "/scenes/sharp.yaml"));
}

/* --- what is shown --- */

static void test_what_is_shown(void **state) {
  (void)state;
  tt_sweep_plan *plan = load(example);
  char *text;
  size_t size;
  FILE *to = open_memstream(&text, &size);
  tt_sweep_plan_show(plan, to);
  fclose(to);
  assert_non_null(strstr(text, "runs      60: a grid of 12 points, 5 seeds each"));
  assert_non_null(strstr(text, "heading, rad"));
  assert_non_null(strstr(text, "1.5708"));
  assert_non_null(strstr(text, "\n  59   4 "));
  free(text);
  tt_sweep_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_example),
      cmocka_unit_test(test_keys_of_the_command_line),
      cmocka_unit_test(test_a_plan_without_axes_is_one_point),
      cmocka_unit_test(test_ranges),
      cmocka_unit_test(test_axes_that_go_together),
      cmocka_unit_test(test_seeds_are_an_axis),
      cmocka_unit_test(test_settings_of_a_run),
      cmocka_unit_test(test_another_spelling_of_a_path),
      cmocka_unit_test(test_sampled_points),
      cmocka_unit_test(test_ids_are_of_what_decides_a_run),
      cmocka_unit_test(test_ids_follow_files),
      cmocka_unit_test(test_ids_follow_packages),
      cmocka_unit_test(test_no_id_stands_twice),
      cmocka_unit_test(test_large_plans_are_small),
      cmocka_unit_test(test_a_program),
      cmocka_unit_test(test_kept_logs),
      cmocka_unit_test(test_ready_plans),
      cmocka_unit_test(test_what_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* control_attack_test.c: controllers that are out to harm: what one run leaves behind must not reach the next, which would make a row
 * depend on what its worker had run before; and a tick ends soon, whatever it is made to do. */
#include "sweep/control.h"

#include "scene/scene_sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static tt_scene *scene;
static tt_sim *sim;

static int load_scene(void **state) {
  (void)state;
  tt_error error;
  if (tt_scene_load(NULL, "gripper", NULL, 0, &scene, &error) != TT_OK ||
      tt_scene_sim(scene, &(tt_scene_sim_options){0}, &sim, &error) != TT_OK)
    fail_msg("%s", error.text);
  return 0;
}

static int free_scene(void **state) {
  (void)state;
  tt_sim_free(sim);
  tt_scene_free(scene);
  return 0;
}

static tt_control *compile(const char *text) {
  char path[] = "/tmp/control.XXXXXX";
  int file = mkstemp(path);
  tt_control *control;
  tt_error error;
  assert_true(file >= 0);
  assert_int_equal(write(file, text, strlen(text)), strlen(text));
  close(file);
  tt_status status = tt_control_new(path, &control, &error);
  unlink(path);
  if (status != TT_OK) fail_msg("%s", error.text);
  return control;
}

/* How a run of so many ticks ends, and after how many. */
static tt_status run(tt_control *control, int ticks, int *done) {
  tt_error error = {""};
  tt_status status = tt_control_begin(control, sim, NULL, 0, 1, &error);
  for (*done = 0; status == TT_OK && *done < ticks; ++*done)
    status = tt_control_tick(control, &error);
  return status;
}

/* A second run, and one in a worker of its own, end as the first did. */
static void expect_alike(const char *text, int ticks) {
  tt_control *control = compile(text), *other = compile(text);
  int first, second, fresh;
  tt_status one = run(control, ticks, &first), two = run(control, ticks, &second),
            alone = run(other, ticks, &fresh);
  tt_control_free(control);
  tt_control_free(other);
  if (one != two || one != alone || first != second || first != fresh)
    fail_msg("%s\n%s after %d ticks, then %s after %d, alone %s after %d", text,
             tt_status_name(one), first, tt_status_name(two), second, tt_status_name(alone), fresh);
}

static void what_a_run_leaves_does_not_reach_the_next(void **state) {
  (void)state;
  /* Memory that is kept: the next run's file needs more than is left beside it. */
  expect_alike(
      "t = {}\n"
      "local s = 'x'\n"
      "for i = 1, 16 do s = s .. s end\n"
      "for i = 1, 80 do t[i] = s .. i end\n"
      "function control() for i = 1, 10 do t[#t + 1] = s .. #t end end\n",
      15);
  /* Room for calls inside each other: an allocation where it is new, none where it was used before. */
  for (int depth = 5000; depth <= 7000; depth += 250) {
    char text[256];
    snprintf(text, sizeof text,
             "n = 0\n"
             "local function f(k) if k > 0 then return 1 + f(k - 1) end return 0 end\n"
             "function control() f(%d) end\n",
             depth);
    expect_alike(text, 2);
  }
  /* Texts that are there already. */
  expect_alike(
      "local t = {}\n"
      "function control() for i = 1, 17000 do t[i % 2] = 'some text of a length of ' .. i end "
      "end\n",
      3);
}

/* Nearly all that a controller may keep is saved, too, and goes on. */
static void what_may_be_kept_may_be_saved(void **state) {
  (void)state;
  tt_control *control = compile(
      "local list, n = false, 0\n"
      "function control()\n"
      "  for i = 1, 5000 do list, n = {list, i}, n + 1 end\n"
      "  assert(n <= 150000)\n"
      "end\n");
  tt_error error;
  void *saved = NULL;
  size_t size = 0;
  assert_int_equal(tt_control_begin(control, sim, NULL, 0, 1, &error), TT_OK);
  for (int i = 0; i < 29; i++) assert_int_equal(tt_control_tick(control, &error), TT_OK);
  if (tt_control_save(control, &saved, &size, &error) != TT_OK) fail_msg("%s", error.text);
  for (int round = 0; round < 2; round++) {
    if (tt_control_tick(control, &error) != TT_OK) fail_msg("%s", error.text);
    if (tt_control_tick(control, &error) != TT_FAILED)
      fail_msg("%s", error.text); /* one piece too many */
    if (tt_control_restore(control, saved, size, &error) != TT_OK) fail_msg("%s", error.text);
  }
  free(saved);
  tt_control_free(control);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Keeps `kept` small pieces, a few thousand more a tick, and then only makes garbage. The longest tick, s; 0: they were too many. */
static double keep(int kept) {
  char text[512];
  tt_error error;
  snprintf(text, sizeof text,
           "local list, n = false, 0\n"
           "function control()\n"
           "  for i = 1, 5000 do\n"
           "    if n >= %d then break end\n"
           "    list, n = {list, i}, n + 1\n"
           "  end\n"
           "  for i = 1, 5000 do local x = {i} end\n"
           "end\n",
           kept);
  tt_control *control = compile(text);
  tt_status status = tt_control_begin(control, sim, NULL, 0, 1, &error);
  double longest = 0;
  for (int ticks = 0; status == TT_OK && ticks < kept / 5000 + 5; ticks++) {
    double begin = seconds();
    status = tt_control_tick(control, &error);
    double taken = seconds() - begin;
    if (taken > longest) longest = taken;
  }
  tt_control_free(control);
  return status == TT_OK ? longest : 0;
}

/* As much as may be kept is kept: from there on each new piece may have all garbage collected. Long, since how much that is has to be
 * found out. */
static void a_tick_ends_soon_where_memory_is_short(void **state) {
  (void)state;
  int least = 0, most = 1 << 18;
  if (!getenv("TETHER_LONG")) skip();
  while (most - least > 1) {
    int middle = (least + most) / 2;
    if (keep(middle) > 0)
      least = middle;
    else
      most = middle;
  }
  assert_true(least > 100000);
  assert_true(keep(least) < 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_run_leaves_does_not_reach_the_next),
      cmocka_unit_test(what_may_be_kept_may_be_saved),
      cmocka_unit_test(a_tick_ends_soon_where_memory_is_short),
  };
  return cmocka_run_group_tests(tests, load_scene, free_scene);
}

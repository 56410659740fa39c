/* watcher_test.c: a watcher's thread beside a world that ticks: it sees the newest, also while the world rests, and is told what
 * people are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "host/watcher.h"
#include "host/world_testing.h"

#define PATIENCE 20 /* s */

/* Filled by the watcher's thread. */
typedef struct seen {
  atomic_ulong step, shown, turns, told;
} seen;

static void show(void *context, const tt_view *view) {
  seen *seen = context;
  atomic_store(&seen->step, view->total_step);
  atomic_fetch_add(&seen->shown, 1);
}

static void hear(void *context, const tt_told *told) {
  seen *seen = context;
  if (strcmp(told->source, "test") == 0 && strcmp(told->text, "look here") == 0)
    atomic_fetch_add(&seen->told, 1);
}

static void turn(void *context) { atomic_fetch_add(&((seen *)context)->turns, 1); }

static void until(atomic_ulong *what, unsigned long least) {
  const struct timespec a_moment = {.tv_nsec = 1000000};
  for (int left = PATIENCE * 1000; left > 0 && atomic_load(what) < least; left--)
    nanosleep(&a_moment, NULL);
  assert_true(atomic_load(what) >= least);
}

static tt_watcher *watch(testing_world *in, seen *seen) {
  tt_watcher_options options = {
      .name = "test", .period = 0.005, .show = show, .hear = hear, .turn = turn, .context = seen};
  tt_watcher *made = tt_watcher_new(in->world, &options);
  assert_non_null(made);
  assert_int_equal(tt_watcher_start(made, NULL), TT_OK);
  return made;
}

static void it_sees_the_newest_and_hears(void **state) {
  (void)state;
  testing_world in;
  seen seen = {0};
  testing_open(&in,
               "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: frc2011}]\n");
  tt_watcher *watcher = watch(&in, &seen);
  until(&seen.turns, 2);
  assert_int_equal(atomic_load(&seen.shown), 0); /* there was nothing to be seen */
  for (unsigned long tick = 1; tick <= 5; tick++) {
    testing_tick(&in, 3); /* what lies between may be left out */
    until(&seen.step, 30 * tick);
    assert_int_equal(atomic_load(&seen.step), 30 * tick);
  }
  unsigned long shown = atomic_load(&seen.shown);
  until(&seen.shown, shown + 3); /* the world rests */
  assert_int_equal(atomic_load(&seen.step), 150);
  tt_mail mail = {.kind = TT_MAIL_TELL, .source = "test", .text = "look here"};
  assert_int_equal(tt_world_post(in.world, &mail), TT_OK);
  testing_tick(&in, 1);
  until(&seen.told, 1);
  tt_watcher_stop(watcher);
  tt_watcher_stop(watcher); /* again */
  unsigned long turns = atomic_load(&seen.turns);
  testing_tick(&in, 1); /* nobody looks any more */
  assert_int_equal(atomic_load(&seen.turns), turns);
  tt_world_detach(in.world);
  tt_watcher_free(watcher);
  testing_close(&in);
}

static void one_that_was_never_started_ends(void **state) {
  (void)state;
  testing_world in;
  seen seen = {0};
  testing_open(&in, "pace: fast\nrobots: [{robot: frc2011}]\n");
  tt_watcher_options options = {
      .name = "test", .period = 1, .show = show, .turn = turn, .context = &seen};
  tt_watcher *made = tt_watcher_new(in.world, &options);
  assert_non_null(made);
  tt_watcher_stop(made);
  tt_watcher_free(made);
  tt_watcher_stop(NULL);
  tt_watcher_free(NULL);
  testing_close(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_sees_the_newest_and_hears),
      cmocka_unit_test(one_that_was_never_started_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* live_drive_test.c: of several pages the one that commanded last has the command, and what counts is meant for the present
 * world. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/world_testing.h"
#include "web/live_internal.h"

#define PAGES 2

static const char scene[] =
    "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: frc2011}]\n";

typedef struct driven {
  testing_world in;
  tt_live live; /* no more of it than live_drive.c uses */
  tt_live_page pages[PAGES];
  int torque;
} driven;

static int setup(void **state) {
  static driven of;
  of = (driven){0};
  testing_open(&of.in, scene);
  tt_live *live = &of.live;
  live->world = of.in.world;
  live->model = tt_world_model(of.in.world);
  live->latest = tt_view_new(live->model);
  live->wanted = tt_wanted_new(of.in.world, "web");
  live->pages = g_ptr_array_new();
  assert_non_null(live->latest);
  assert_non_null(live->wanted);
  for (int i = 0; i < PAGES; i++) {
    of.pages[i].live = live;
    of.pages[i].commands = g_new0(bool, live->model->command_count);
    g_ptr_array_add(live->pages, &of.pages[i]);
  }
  of.torque = testing_command(&of.in, "left_track.torque");
  *state = &of;
  return 0;
}

static int teardown(void **state) {
  driven *of = *state;
  for (int i = 0; i < PAGES; i++) g_free(of->pages[i].commands);
  g_ptr_array_free(of->live.pages, TRUE);
  tt_wanted_free(of->live.wanted);
  tt_view_free(of->live.latest);
  testing_close(&of->in);
  return 0;
}

static double torque(const driven *of) {
  return testing_value(&of->in, "command:left_track.torque");
}

/* The pages are shown what the world shows. */
static void tick(driven *of) {
  testing_tick(&of->in, 1);
  tt_view_copy(of->live.latest, tt_world_view(of->in.world));
}

static uint64_t present(const driven *of) { return (uint64_t)of->live.latest->epoch + 1; }

static void command(driven *of, int page, double value, uint64_t meant_for) {
  tt_live_order order = {.kind = TT_ORDER_COMMAND};
  order.command.values[0].command = of->torque;
  order.command.values[0].value = value;
  order.command.count = 1;
  order.command.meant_for = meant_for;
  tt_live_page_commands(&of->pages[page], &order);
}

static void reset(driven *of) {
  testing_post(&of->in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  tick(of);
}

static void who_commanded_last_lets_go(void **state) {
  driven *of = *state;
  command(of, 0, 3, present(of));
  command(of, 1, 4, 0);
  tt_live_page_lets_go(&of->pages[0]);
  tt_wanted_post(of->live.wanted);
  tick(of);
  assert_true(torque(of) == 4);
  tt_live_page_lets_go(&of->pages[1]);
  tt_wanted_post(of->live.wanted);
  tick(of);
  assert_true(torque(of) == 0);
}

static void takes_nothing(driven *of, uint64_t meant_for) {
  command(of, 0, 3, present(of));
  command(of, 1, 4, meant_for);
  tick(of);
  assert_true(torque(of) == 3);
  tt_live_page_lets_go(&of->pages[0]);
  tt_wanted_post(of->live.wanted);
  tick(of);
  assert_true(torque(of) == 0);
}

static void hides_no_stop(driven *of, uint64_t meant_for) {
  command(of, 0, 3, present(of));
  tick(of);
  tt_mail nothing = {.kind = TT_MAIL_COMMAND, .index = of->torque, .meant_for = meant_for};
  while (tt_world_post(of->in.world, &nothing) == TT_OK) {
  }
  command(of, 0, 0, present(of));
  command(of, 1, 1, meant_for);
  tick(of);
  assert_true(torque(of) == 3); /* there was no room */
  assert_true(tt_wanted_post(of->live.wanted));
  tick(of);
  assert_true(torque(of) == 0);
}

static void what_was_meant_for_before_a_reset_takes_nothing(void **state) {
  const uint64_t before = present(*state);
  reset(*state);
  takes_nothing(*state, before);
}

static void what_was_meant_for_before_a_reset_hides_no_stop(void **state) {
  const uint64_t before = present(*state);
  reset(*state);
  hides_no_stop(*state, before);
}

/* A scene was chosen, or the program began anew: there the resets are counted from 0 again. */
static void what_was_meant_for_another_world_takes_nothing(void **state) {
  takes_nothing(*state, present(*state) + 5);
}

static void what_was_meant_for_another_world_hides_no_stop(void **state) {
  hides_no_stop(*state, present(*state) + 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(who_commanded_last_lets_go),
      TEST(what_was_meant_for_before_a_reset_takes_nothing),
      TEST(what_was_meant_for_before_a_reset_hides_no_stop),
      TEST(what_was_meant_for_another_world_takes_nothing),
      TEST(what_was_meant_for_another_world_hides_no_stop),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* wanted_test.c: what is commanded from outside arrives, however full the mailbox is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/journal_lines.h"
#include "host/wanted.h"
#include "host/world_testing.h"

static const char scene[] =
    "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: frc2011}]\n";

typedef struct outside {
  testing_world in;
  tt_wanted *wanted;
  int torque, grip; /* the second has no safe value */
} outside;

static int setup(void **state) {
  static outside of;
  testing_open(&of.in, scene);
  of.wanted = tt_wanted_new(of.in.world, "test");
  assert_non_null(of.wanted);
  of.torque = testing_command(&of.in, "left_track.torque");
  of.grip = testing_command(&of.in, "grip");
  *state = &of;
  return 0;
}

static int teardown(void **state) {
  outside *of = *state;
  tt_wanted_free(of->wanted);
  testing_close(&of->in);
  return 0;
}

static double torque(const outside *of) {
  return testing_value(&of->in, "command:left_track.torque");
}

/* Somebody else commands as fast as he can. */
static void fill(const outside *of) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .index = of->torque, .value = 5, .source = "flood"};
  while (tt_world_post(of->in.world, &mail) == TT_OK) {
  }
}

static void what_is_let_go_is_safe_though_the_mailbox_is_full(void **state) {
  outside *of = *state;
  for (int i = 0; i < 3000; i++) {
    tt_wanted_set(of->wanted, of->torque, 5, 0);
    tt_wanted_post(of->wanted);
  }
  tt_wanted_set(of->wanted, of->torque, -3, 0);
  tt_wanted_let_go(of->wanted, of->torque);
  assert_false(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 5);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 0);
}

static void the_newest_counts(void **state) {
  outside *of = *state;
  fill(of);
  for (int i = 0; i < 4; i++) {
    tt_wanted_set(of->wanted, of->torque, i, 0);
    tt_wanted_set(of->wanted, of->grip, i % 2 + 1, 0);
    assert_false(tt_wanted_post(of->wanted));
  }
  testing_tick(&of->in, 1);
  assert_true(tt_wanted_post(of->wanted));
  assert_int_equal(tt_world_waiting_mail(of->in.world), 2);
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 3);
  assert_true(testing_value(&of->in, "command:grip") == 2);
}

static void what_has_no_safe_value_stays(void **state) {
  outside *of = *state;
  tt_wanted_set(of->wanted, of->grip, 2, 0);
  tt_wanted_let_go(of->wanted, of->grip);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(testing_value(&of->in, "command:grip") == 2);
}

static void post_from(const outside *of, const char *source, double number) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .index = of->torque, .value = number};
  snprintf(mail.source, sizeof mail.source, "%s", source);
  assert_int_equal(tt_world_post(of->in.world, &mail), TT_OK);
}

static void what_others_command_since_is_theirs(void **state) {
  outside *of = *state;
  tt_wanted_set(of->wanted, of->torque, 5, 0);
  assert_true(tt_wanted_post(of->wanted));
  post_from(of, "other", 2);
  tt_wanted_let_go(of->wanted, of->torque);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 2);
}

/* What waited and was let go then is never done; the other way round it is. */
static void of_setting_and_letting_go_the_later_counts(void **state) {
  outside *of = *state;
  fill(of);
  tt_wanted_set(of->wanted, of->torque, 3, 0);
  tt_wanted_let_go(of->wanted, of->torque);
  testing_tick(&of->in, 1);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 5); /* is another's still */
  tt_wanted_set(of->wanted, of->torque, 3, 0);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  tt_wanted_let_go(of->wanted, of->torque);
  tt_wanted_set(of->wanted, of->torque, 4, 0);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(torque(of) == 4);
}

/* How far into the journal the command was accepted last from the test; 0: never. */
static size_t accepted(const outside *of, const char *command) {
  const char *text = journal_lines_text(of->in.journal), *last = text;
  char wanted[64];
  snprintf(wanted, sizeof wanted, " commands test %d=", testing_command(&of->in, command));
  for (const char *at = text; (at = strstr(at, wanted)); at++) last = at;
  return (size_t)(last - text);
}

static void set(const outside *of, const char *command, double value) {
  tt_wanted_set(of->wanted, testing_command(&of->in, command), value, 0);
}

static void leave_room(const outside *of, size_t room) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .index = of->grip, .source = "flood"};
  while (tt_world_waiting_mail(of->in.world) + room < 512)
    assert_int_equal(tt_world_post(of->in.world, &mail), TT_OK);
}

/* Of the kinds that hold a joint the one set last is to hold it. */
static void what_was_set_last_is_accepted_last(void **state) {
  outside *of = *state;
  set(of, "left_track.velocity", 0);
  set(of, "left_track.torque", 5);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(accepted(of, "left_track.torque") > accepted(of, "left_track.velocity"));
  set(of, "left_track.duty", 0);
  set(of, "left_track.velocity", 1);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(accepted(of, "left_track.velocity") > accepted(of, "left_track.duty"));
}

static void what_is_set_anew_while_it_waits_is_accepted_last(void **state) {
  outside *of = *state;
  leave_room(of, 0);
  set(of, "left_track.duty", 0.5);
  set(of, "joint:left_wheel.torque", 1);
  set(of, "left_track.velocity", 1);
  set(of, "joint:left_wheel.duty", 0.5);
  set(of, "left_track.duty", 0);
  set(of, "joint:left_wheel.torque", 0);
  assert_false(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(testing_value(&of->in, "command:left_track.velocity") == 1);
  assert_true(accepted(of, "left_track.duty") > accepted(of, "left_track.velocity"));
  assert_true(accepted(of, "joint:left_wheel.torque") > accepted(of, "joint:left_wheel.duty"));
}

static void a_button_is_pressed_before_it_is_let_go_of(void **state) {
  outside *of = *state;
  leave_room(of, 0);
  set(of, "match_timer", 1);
  set(of, "match_timer", 0);
  set(of, "pause", 1); /* is no button */
  set(of, "pause", 0);
  assert_false(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 3);
  assert_true(testing_value(&of->in, "match_time") > 0);
  assert_true(testing_value(&of->in, "command:match_timer") == 0);
  assert_false(testing_journaled(&of->in, "paused"));
  uint32_t epoch = tt_world_view(of->in.world)->epoch;
  set(of, "reset", 1);
  set(of, "reset", 0);
  assert_true(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_int_equal(tt_world_view(of->in.world)->epoch, epoch + 1);
}

static void move(const outside *of, int robot, int stick, double forward) {
  tt_ds_order order = {.kind = TT_DS_JOYSTICK, .robot = robot, .value = stick};
  order.joystick.axis_count = forward != 0;
  order.joystick.axes[0] = forward;
  tt_wanted_stick(of->wanted, &order);
}

static const tt_ds_joystick *stick_of(const outside *of, int stick) {
  return &tt_world_driver_station(of->in.world, 0)->joysticks[stick];
}

/* Who moves one says so only when it changes. */
static void how_a_joystick_stands_arrives_though_the_mailbox_is_full(void **state) {
  outside *of = *state;
  move(of, 0, 0, 1);
  move(of, -1, 5, 0.25);
  assert_true(tt_wanted_post(of->wanted));
  leave_room(of, 0);
  move(of, 0, 0, 0.5);
  move(of, -1, 0, 0);
  move(of, -1, 5, 0.5);
  move(of, 0, 5, 0.75);
  set(of, "left_track.torque", 5);
  assert_false(tt_wanted_post(of->wanted));
  testing_tick(&of->in, 1);
  assert_true(stick_of(of, 0)->axes[0] == 1 && stick_of(of, 5)->axes[0] == 0.25);
  assert_true(tt_wanted_post(of->wanted));
  assert_int_equal(tt_world_waiting_mail(of->in.world), 3);
  testing_tick(&of->in, 1);
  assert_int_equal(stick_of(of, 0)->axis_count, 0);
  assert_true(stick_of(of, 5)->axes[0] == 0.75);
  assert_true(torque(of) == 5);
}

/* Who commands without end, where there is room for one a turn. */
static void everything_has_its_turn(void **state) {
  outside *of = *state;
  static const char *const all[] = {"left_track.torque", "left_track.velocity", "left_track.duty",
                                    "right_track.torque", "grip"};
  enum { COUNT = sizeof all / sizeof *all };
  for (int turn = 0; turn < 6 * COUNT; turn++) {
    for (int i = 0; i < COUNT; i++) set(of, all[i], 1);
    leave_room(of, 1);
    tt_wanted_post(of->wanted);
    testing_tick(&of->in, 1);
  }
  for (int i = 0; i < COUNT; i++) assert_true(accepted(of, all[i]) > 0);
  while (!tt_wanted_post(of->wanted)) testing_tick(&of->in, 1);
  testing_tick(&of->in, 1);
  assert_true(accepted(of, "left_track.duty") > accepted(of, "left_track.velocity"));
  assert_true(accepted(of, "left_track.duty") > accepted(of, "left_track.torque"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(what_is_let_go_is_safe_though_the_mailbox_is_full),
      TEST(the_newest_counts),
      TEST(what_has_no_safe_value_stays),
      TEST(what_others_command_since_is_theirs),
      TEST(what_was_set_last_is_accepted_last),
      TEST(what_is_set_anew_while_it_waits_is_accepted_last),
      TEST(a_button_is_pressed_before_it_is_let_go_of),
      TEST(how_a_joystick_stands_arrives_though_the_mailbox_is_full),
      TEST(everything_has_its_turn),
      TEST(of_setting_and_letting_go_the_later_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* wanted_test.c: what is commanded from outside arrives, however full the mailbox is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

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

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(what_is_let_go_is_safe_though_the_mailbox_is_full),
      TEST(the_newest_counts),
      TEST(what_has_no_safe_value_stays),
      TEST(what_others_command_since_is_theirs),
      TEST(of_setting_and_letting_go_the_later_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

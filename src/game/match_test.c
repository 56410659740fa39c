/* match_test.c: the facts of a match. */
#include "game/match.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_the_clock_stops_at_the_end(void **state) {
  (void)state;
  assert_true(tt_match_time(0) == 0);
  assert_true(tt_match_time(134.9) == 134.9);
  assert_true(tt_match_time(135) == 135);
  assert_true(tt_match_time(1e9) == 135);
}

static void test_periods_follow_each_other(void **state) {
  (void)state;
  static const struct {
    double elapsed;
    tt_match_period period;
    double left;
  } match[] = {{0, TT_PERIOD_AUTONOMOUS, 15}, {14.98, TT_PERIOD_AUTONOMOUS, 15 - 14.98},
               {15, TT_PERIOD_PAUSE, 0},      {17.98, TT_PERIOD_PAUSE, 0},
               {18, TT_PERIOD_TELEOP, 135},   {152.5, TT_PERIOD_TELEOP, 0.5},
               {153, TT_PERIOD_OVER, 0},      {1e9, TT_PERIOD_OVER, 0}};
  for (size_t i = 0; i < sizeof match / sizeof *match; i++) {
    double left;
    assert_int_equal(tt_match_period_at(&tt_practice_match, match[i].elapsed, &left),
                     match[i].period);
    assert_true(left == match[i].left);
  }
}

static void test_a_period_may_be_left_out(void **state) {
  (void)state;
  const tt_match_timing driven = {.autonomous = 0, .pause = 0, .teleop = 10};
  double left;
  assert_int_equal(tt_match_period_at(&driven, 0, &left), TT_PERIOD_TELEOP);
  assert_true(left == 10);
}

static void test_alliances_are_read_as_they_are_named(void **state) {
  (void)state;
  tt_alliance read = TT_ALLIANCE_NONE;
  for (int i = TT_ALLIANCE_NONE; i <= TT_ALLIANCE_BLUE; i++) {
    assert_true(tt_alliance_read(tt_alliance_name((tt_alliance)i), &read));
    assert_int_equal(read, i);
  }
  static const char *const wrong[] = {"Red", "red ", "re", "green", "none"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(tt_alliance_read(wrong[i], &read));
  assert_int_equal(read, TT_ALLIANCE_BLUE);
}

static void test_nothing_is_no_kind_of_piece(void **state) {
  (void)state;
  assert_false(tt_is_piece_kind(0));
  assert_true(tt_is_piece_kind(1));
  assert_true(tt_is_piece_kind(4));
  assert_false(tt_is_piece_kind(5));
  assert_false(tt_is_piece_kind(-1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_clock_stops_at_the_end),
      cmocka_unit_test(test_periods_follow_each_other),
      cmocka_unit_test(test_a_period_may_be_left_out),
      cmocka_unit_test(test_alliances_are_read_as_they_are_named),
      cmocka_unit_test(test_nothing_is_no_kind_of_piece),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

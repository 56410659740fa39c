/* The schedule of ticks, on a made-up clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/pace.h"

#define MS 1000000u

static void the_schedule_does_not_drift(void **state) {
  (void)state;
  tt_pacer pacer;
  uint64_t start = 5 * MS;
  tt_pacer_start(&pacer, 1.0 / 60, 1, true, start);
  for (int i = 0; i < 216000; i++) tt_pacer_tick(&pacer, tt_pacer_due(&pacer), true);
  assert_int_equal(tt_pacer_due(&pacer), start + 3600000ull * MS);
  assert_int_equal(pacer.late_ticks, 0);
}

static void speed_divides_the_tick(void **state) {
  (void)state;
  tt_pacer pacer;
  tt_pacer_start(&pacer, 0.01, 4, true, 0);
  tt_pacer_tick(&pacer, 0, true);
  assert_int_equal(tt_pacer_due(&pacer), 2500000);
}

static void a_late_tick_is_counted_and_caught_up(void **state) {
  (void)state;
  tt_pacer pacer;
  tt_pacer_start(&pacer, 0.01, 1, true, 0);
  tt_pacer_tick(&pacer, 999999, true);
  assert_int_equal(pacer.late_ticks, 0);
  tt_pacer_tick(&pacer, 11 * MS + 1, true);
  assert_int_equal(pacer.late_ticks, 1);
  assert_int_equal(tt_pacer_due(&pacer), 20 * MS);
}

static void who_is_behind_has_ticks_that_are_due(void **state) {
  (void)state;
  tt_pacer pacer = {.speed = 0};
  assert_false(tt_pacer_is_behind(&pacer, 1, 5 * MS)); /* there is no schedule yet */
  tt_pacer_start(&pacer, 0.01, 1, true, 0);
  tt_pacer_tick(&pacer, 0, true);
  assert_false(tt_pacer_is_behind(&pacer, 1, 10 * MS - 1));
  assert_true(tt_pacer_is_behind(&pacer, 1, 10 * MS));
  assert_false(tt_pacer_is_behind(&pacer, 2, 20 * MS - 1));
  assert_true(tt_pacer_is_behind(&pacer, 2, 20 * MS));
}

static void a_slipping_schedule_starts_anew(void **state) {
  (void)state;
  tt_pacer pacer;
  tt_pacer_start(&pacer, 0.01, 1, false, 0);
  tt_pacer_tick(&pacer, 5 * MS, true);
  assert_int_equal(pacer.late_ticks, 1);
  assert_int_equal(tt_pacer_due(&pacer), 15 * MS);
}

static void a_sleeping_machine_does_not_race_afterwards(void **state) {
  (void)state;
  tt_pacer pacer;
  tt_pacer_start(&pacer, 0.01, 1, true, 0);
  tt_pacer_tick(&pacer, 60000ull * MS, true);
  assert_int_equal(tt_pacer_due(&pacer), 60010ull * MS);
}

static void the_factor_is_what_was_simulated_over_what_passed(void **state) {
  (void)state;
  tt_pacer pacer;
  tt_pacer_start(&pacer, 0.01, 1, true, 0);
  uint64_t now = 0;
  for (int i = 0; i < 2000; i++) tt_pacer_tick(&pacer, now += 5 * MS, false);
  double factor = tt_pacer_factor(&pacer, now);
  assert_true(factor > 1.95 && factor < 2.05);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_schedule_does_not_drift),
      cmocka_unit_test(speed_divides_the_tick),
      cmocka_unit_test(a_late_tick_is_counted_and_caught_up),
      cmocka_unit_test(who_is_behind_has_ticks_that_are_due),
      cmocka_unit_test(a_slipping_schedule_starts_anew),
      cmocka_unit_test(a_sleeping_machine_does_not_race_afterwards),
      cmocka_unit_test(the_factor_is_what_was_simulated_over_what_passed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

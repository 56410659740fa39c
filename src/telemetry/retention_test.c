/* The clock by which values grow old: jumps ahead and back, short and long, and a start with a wrong clock. */
#include "telemetry/retention.h"

#include "base/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000)
#define DAY (86400 * SECOND)
#define START (20000 * DAY)

/** A machine: the time that passed, and what the clock on the wall is wrong by. */
typedef struct machine {
  tt_retention retention;
  int64_t passed, wrong, newest;
} machine;

/** Looks every half minute for so long. */
static void run(machine *on, int64_t duration) {
  for (int64_t end = on->passed + duration; on->passed <= end; on->passed += 30 * SECOND)
    tt_retention_look(&on->retention, START + on->passed + on->wrong, on->passed, on->newest);
  on->passed -= 30 * SECOND;
}

static void assert_now(const machine *on, int64_t expected) {
  assert_int_equal(on->retention.now, START + expected);
}

static void test_a_clock_that_is_right(void **state) {
  (void)state;
  machine on = {.newest = TT_RETENTION_NOTHING};
  run(&on, DAY);
  assert_now(&on, on.passed);
  for (int i = 0; i < 100; i++) {  // kept right by somebody
    on.wrong += i % 3 ? 20 * SECOND : -30 * SECOND;
    run(&on, 60 * SECOND);
    assert_now(&on, on.passed + on.wrong);
  }
}

static void test_half_a_minute_ahead(void **state) {
  (void)state;
  machine on = {.newest = TT_RETENTION_NOTHING};
  run(&on, 3600 * SECOND);
  on.wrong = 35 * DAY;
  run(&on, 30 * SECOND);
  assert_now(&on, on.passed);
  assert_int_equal(on.retention.ahead, 35 * DAY);
  on.wrong = 0;
  run(&on, 3600 * SECOND);
  assert_now(&on, on.passed);
  assert_int_equal(on.retention.ahead, 0);
}

/** Each jump has to stay for a day of its own. */
static void test_again_and_again(void **state) {
  (void)state;
  machine on = {.newest = TT_RETENTION_NOTHING};
  run(&on, 600 * SECOND);
  for (int i = 0; i < 40; i++) {
    on.wrong = i % 2 ? 35 * DAY : 36 * DAY;
    run(&on, 3600 * SECOND);
  }
  assert_now(&on, on.passed);
}

/** What was wrong and was set right: a day later it is followed. */
static void test_it_stays(void **state) {
  (void)state;
  machine on = {.wrong = -1000 * DAY, .newest = TT_RETENTION_NOTHING};
  run(&on, 600 * SECOND);
  assert_now(&on, on.passed + on.wrong);
  on.wrong = 0;
  run(&on, DAY - 60 * SECOND);
  assert_now(&on, on.passed - 1000 * DAY);
  run(&on, 120 * SECOND);
  assert_now(&on, on.passed);
}

static void test_back(void **state) {
  (void)state;
  machine on = {.newest = TT_RETENTION_NOTHING};
  run(&on, 600 * SECOND);
  on.wrong = -35 * DAY;
  run(&on, 60 * SECOND);
  assert_now(&on, on.passed - 35 * DAY);  // less is old
  on.wrong = 0;
  run(&on, 3600 * SECOND);
  assert_now(&on, on.passed - 35 * DAY);
  run(&on, DAY);
  assert_now(&on, on.passed);
}

/** Begun while the clock is wrong, there is no time that passed to hold it against, but what is stored. */
static void test_wrong_from_the_beginning(void **state) {
  (void)state;
  machine on = {.wrong = 35 * DAY, .newest = START - 5 * SECOND};
  run(&on, 30 * SECOND);
  assert_now(&on, on.passed - 5 * SECOND);
  on.wrong = 0;
  run(&on, 30 * SECOND);
  assert_now(&on, on.passed);
  machine late = {.wrong = 35 * DAY, .newest = TT_RETENTION_NOTHING};  // the database was away
  run(&late, 600 * SECOND);
  late.newest = START - 5 * SECOND;
  run(&late, 60 * SECOND);
  assert_now(&late, late.passed - 5 * SECOND);
  machine behind = {.newest = START + 35 * DAY};  // stored while it was
  run(&behind, 30 * SECOND);
  assert_now(&behind, behind.passed);
}

int main(void) {
  tt_log_set_level(TT_LOG_ERROR);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_clock_that_is_right),
      cmocka_unit_test(test_half_a_minute_ahead),
      cmocka_unit_test(test_again_and_again),
      cmocka_unit_test(test_it_stays),
      cmocka_unit_test(test_back),
      cmocka_unit_test(test_wrong_from_the_beginning),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

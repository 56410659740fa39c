/* device_clock_test.c: devices with bad clocks behind a bad network, on a clock of the test's own. */
#include "telemetry/device_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND 1000000LL
#define LATE SECOND
#define YEAR (365 * 86400 * SECOND)
#define START (56 * YEAR)

/** Uniform in [0, 1), the same on every run. */
static double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / 9007199254740992.0;
}

/** A device whose clock is `offset` off and runs `drift` too fast. */
typedef struct world {
  tt_device_time time;
  int64_t offset; /**< device = true + offset + drift × true */
  double drift;
  uint64_t random;
  int64_t smallest_delay, worst; /**< µs */
  int jumps;
} world;

static int64_t device_clock_at(const world *world, int64_t now) {
  int64_t device = now + world->offset + (int64_t)(world->drift * (double)(now - START));
  return device / 1000 * 1000;  // devices say milliseconds
}

static tt_boot *send(world *world, int64_t now, int64_t delay, bool *again) {
  int64_t device = device_clock_at(world, now), offset;
  tt_timed_message message = {.transmitted = device,
                              .last_sample = device,
                              .hash = (uint64_t)now * 2654435761u + 1,
                              .received = now + delay};
  tt_boot *boot;
  bool widened;
  if (tt_device_time_place(&world->time, &message, LATE, &boot, &offset, &widened, again) ==
      TT_PLACED_JUMP) {
    world->jumps++;
  }
  int64_t error = llabs(device + offset - now);
  if (error > world->worst) world->worst = error;
  assert_true(boot->offset_low <= offset && offset <= boot->offset_high);
  return boot;
}

/** `seconds` of messages at `rate`, delayed at random; errors are looked at once `settle` s have passed. */
static void run(world *world, int64_t start, double seconds, double rate, double max_delay,
                double settle) {
  bool again;
  world->worst = 0;
  for (int i = 0; i < (int)(seconds * rate); i++) {
    int64_t now = start + (int64_t)(i / rate * 1e6);
    if (i == (int)(settle * rate)) world->worst = 0;
    send(world, now, (int64_t)(next_random(&world->random) * max_delay * 1e6), &again);
  }
}

static world *new_world(int64_t offset, double drift) {
  world *made = calloc(1, sizeof *made);
  assert_non_null(made);
  made->offset = offset;
  made->drift = drift;
  made->random = 42;
  return made;
}

static void test_years_off_drift_and_random_delays(void **state) {
  (void)state;
  const int64_t offsets[] = {-START, -30 * YEAR, 3 * YEAR, 0};
  const double drifts[] = {0, 100e-6, -100e-6};
  for (size_t o = 0; o < 4; o++) {
    for (size_t d = 0; d < 3; d++) {
      world *world = new_world(offsets[o], drifts[d]);
      run(world, START, 300, 50, 0.5, 10);
      if (world->worst > 5000)
        fail_msg("offset %zu, drift %zu: off by %lld us", o, d, (long long)world->worst);
      assert_int_equal(world->jumps, 0);
      free(world);
    }
  }
}

static void test_the_first_delay_is_soon_forgotten(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  send(world, START, 400000, &again);
  send(world, START + 20000, 1000, &again);
  world->worst = 0;
  send(world, START + 40000, 300000, &again);
  assert_true(world->worst <= 2000);
  free(world);
}

static void test_a_jump_back_begins_an_epoch(void **state) {
  (void)state;
  const int64_t back[] = {2 * SECOND, 3600 * SECOND, 100 * SECOND};
  for (size_t i = 0; i < 3; i++) {
    world *world = new_world(-START + 10 * SECOND, 0);
    run(world, START, 30, 50, 0.5, 5);
    assert_int_equal(world->jumps, 0);
    world->offset -= back[i];
    run(world, START + 30 * SECOND, 30, 50, 0.5, 10);
    assert_int_equal(world->jumps, 1);
    assert_true(world->worst <= 5000);
    assert_int_equal(world->time.boots[0].epoch, 1);
    free(world);
  }
}

static void test_a_small_jump_on_one_connection(void **state) {
  (void)state;
  world *world = new_world(0, 0);
  tt_boot *boot;
  int64_t offset;
  bool widened, again;
  const int64_t times[] = {1000, 1100, 1200, 900, 1000, 1100};
  const int epochs[] = {0, 0, 0, 1, 1, 1};
  for (int i = 0; i < 6; i++) {
    tt_timed_message message = {.transmitted = times[i] * 1000,
                                .last_sample = times[i] * 1000,
                                .hash = (uint64_t)i + 1,
                                .received = START + i * 100000,
                                .after_previous = i > 0,
                                .previous = i ? times[i - 1] * 1000 : 0};
    tt_device_time_place(&world->time, &message, LATE, &boot, &offset, &widened, &again);
    assert_int_equal(boot->epoch, epochs[i]);
    assert_false(again);
  }
  free(world);
}

static void test_sent_again_is_no_jump(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int i = 0; i < 100; i++) send(world, START + i * SECOND / 10, 1000, &again);
  // The same bytes, eight seconds later.
  tt_boot *boot = send(world, START + 20 * SECOND / 10, 8 * SECOND, &again);
  assert_true(again);
  assert_int_equal(boot->epoch, 0);
  assert_int_equal(world->jumps, 0);
  world->worst = 0;
  send(world, START + 11 * SECOND, 1000, &again);
  assert_false(again);
  assert_true(world->worst <= 2000);
  free(world);
}

static void test_news_that_waited_for_a_connection(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  bool again;
  for (int i = 0; i < 100; i++) send(world, START + i * SECOND / 10, 1000, &again);
  // Ten seconds without connection; then what was kept meanwhile comes at once.
  world->worst = 0;
  for (int i = 0; i < 100; i++) {
    int64_t now = START + 10 * SECOND + i * SECOND / 10;
    send(world, now, START + 20 * SECOND - now, &again);
  }
  assert_int_equal(world->jumps, 0);
  assert_true(world->worst <= 2000);
  free(world);
}

static void test_a_restored_device_goes_on(void **state) {
  (void)state;
  world *world = new_world(-START, 0);
  tt_boot range = {
      .epoch = 3, .anchor = START, .offset_low = START - 50000, .offset_high = START + 50000};
  tt_device_time_restore(&world->time, &range, 10 * SECOND, START + 1000);
  tt_device_time_restore_seen(&world->time, 3, 9 * SECOND);
  bool again;
  tt_boot *boot =
      send(world, START + 9 * SECOND, 60 * SECOND, &again);  // not acknowledged, so it comes again
  assert_true(again);
  assert_int_equal(boot->epoch, 3);
  boot = send(world, START + 70 * SECOND, 1000, &again);
  assert_int_equal(boot->epoch, 3);
  assert_false(again);
  world->offset = -START - 65 * SECOND;  // it starts anew, at 7 s
  boot = send(world, START + 72 * SECOND, 1000, &again);
  assert_int_equal(boot->epoch, 4);
  assert_false(again);
  free(world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_years_off_drift_and_random_delays),
      cmocka_unit_test(test_the_first_delay_is_soon_forgotten),
      cmocka_unit_test(test_a_jump_back_begins_an_epoch),
      cmocka_unit_test(test_a_small_jump_on_one_connection),
      cmocka_unit_test(test_sent_again_is_no_jump),
      cmocka_unit_test(test_news_that_waited_for_a_connection),
      cmocka_unit_test(test_a_restored_device_goes_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

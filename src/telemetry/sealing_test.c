/* sealing_test.c: what people are told of a large store; and days that are packed in steps, not oftener than they should be. */
#include "telemetry/sealing.h"

#include "base/clock.h"
#include "store/store_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DAY INT64_C(86400000000)

static void test_advice(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  tt_store_state large = {.bytes = TT_SEALING_LARGE}, small = {.bytes = TT_SEALING_LARGE - 1};
  assert_non_null(tt_sealing_advice(store, &large, 0));
  assert_null(tt_sealing_advice(store, &large, DAY));
  assert_null(tt_sealing_advice(store, &small, 0));
  store->close(store);
}

static void test_steps(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  tt_sealing sealing = {0};
  tt_testing_write(store, tt_testing_batch());  // of the first day there is
  tt_sealing_tend(&sealing, store, 0, 3 * DAY);
  assert_int_equal(sealing.values, 0);  // nobody asked
  sealing.next = 0;
  tt_sealing_tend(&sealing, store, 3 * DAY, 3 * DAY);  // too early
  assert_false(sealing.under_way);
  sealing.next = 0;
  const int64_t begun = tt_monotonic_us();
  tt_sealing_tend(&sealing, store, DAY, 3 * DAY);
  assert_true(sealing.next >= begun + 100000);
  const int64_t next = sealing.next;
  tt_sealing_tend(&sealing, store, DAY, 3 * DAY);  // not yet
  assert_int_equal(sealing.next, next);
  while (sealing.under_way) {
    sealing.next = 0;
    tt_sealing_tend(&sealing, store, DAY, 3 * DAY);
  }
  const tt_store_sealing undo = {.undo = true, .before = INT64_MAX, .budget = INT64_MAX};
  tt_store_sealed unsealed;
  tt_error error;
  assert_int_equal(store->seal(store, &undo, &unsealed, &error), TT_OK);
  assert_int_equal(unsealed.values, 3);  // all had been packed
  store->close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_advice, tt_testing_clean),
      cmocka_unit_test_setup(test_steps, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

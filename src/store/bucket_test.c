/* bucket_test.c: what a bucket says of its numbers. */
#include "store/bucket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_a_bucket_begins_at_a_multiple_of_its_length(void **state) {
  (void)state;
  assert_int_equal(tt_bucket_start(TT_BUCKET_SECOND, 1999999), 1000000);
  assert_int_equal(tt_bucket_start(TT_BUCKET_SECOND, 2000000), 2000000);
  assert_int_equal(tt_bucket_start(TT_BUCKET_MINUTE, 119999999), 60000000);
  assert_int_equal(tt_bucket_start(TT_BUCKET_DAY, -1), -86400000000);  // before 1970
  assert_int_equal(tt_bucket_start(TT_BUCKET_HOUR, INT64_MIN), INT64_MIN);
}

static void test_numbers_in_any_order(void **state) {
  (void)state;
  tt_bucket bucket = {0};
  tt_bucket_add(&bucket, 20, 3);
  tt_bucket_add(&bucket, 10, -1);
  tt_bucket_add(&bucket, 20, 2.5);  // of one time, what comes last
  assert_int_equal(bucket.count, 3);
  assert_true(bucket.least == -1 && bucket.greatest == 3 && bucket.sum == 4.5);
  assert_true(bucket.last == 2.5 && bucket.last_time == 20);
}

static void test_merging_is_as_adding_all(void **state) {
  (void)state;
  tt_bucket early = {.start = 100}, late = {.start = 200}, whole = {0};
  tt_bucket_add(&early, 110, 7);
  tt_bucket_add(&late, 210, -7);
  const tt_bucket empty = {.start = 300};
  tt_bucket_merge(&whole, &late);
  tt_bucket_merge(&whole, &early);
  tt_bucket_merge(&whole, &empty);
  assert_int_equal(whole.start, 200);
  assert_int_equal(whole.count, 2);
  assert_true(whole.least == -7 && whole.greatest == 7 && whole.sum == 0 && whole.last == -7);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_bucket_begins_at_a_multiple_of_its_length),
      cmocka_unit_test(test_numbers_in_any_order),
      cmocka_unit_test(test_merging_is_as_adding_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

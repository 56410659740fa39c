/* passed_test.c: what of a batch its devices may have sent again, beside what the store has of a log. */
#include "store/passed.h"

#include "store/store_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static tt_store_batch *batch;

static int set_up(void **state) {
  (void)state;
  batch = tt_store_batch_new();
  return !batch;
}

static int tear_down(void **state) {
  (void)state;
  tt_store_batch_free(batch);
  return 0;
}

/** A message of a device, `after` and `place` as tt_store_sample has them. */
static void add(int device, int64_t after, int64_t place, uint32_t flags) {
  tt_store_sample *sample = tt_testing_add_sample(batch, device, 0, place, place);
  sample->after = after;
  sample->place = place;
  sample->flags = flags;
}

/** What is unsure of the batch must read like `expected`: 1 or 0 for each sample. The store has `place` of device 4. */
static void expect_unsure(int64_t place, const char *expected) {
  tt_map passed = {0};
  tt_list unsure = TT_LIST(char, NULL);
  bool any;
  if (place) assert_true(tt_map_put(&passed, (tt_map_key){4, 0}, place));
  assert_true(tt_store_find_unsure(batch, &passed, &unsure, &any));
  assert_int_equal(unsure.len, strlen(expected));
  for (uint32_t i = 0; i < unsure.len; i++)
    assert_int_equal(tt_list_at(&unsure, char, i), expected[i] - '0');
  assert_int_equal(any, strchr(expected, '1') != NULL);
  tt_map_clear(&passed);
  tt_list_free(&unsure);
}

static void test_the_store_is_asked_of_each_device_once(void **state) {
  (void)state;
  tt_list devices = TT_LIST(int32_t, NULL);
  add(4, 0, 0, TT_SAMPLE_UNSURE);
  assert_true(tt_store_passed_devices(batch, &devices));
  assert_int_equal(devices.len, 0); /* nothing is of a log */
  add(7, 1, 2, 0);
  add(4, 2, 3, 0);
  assert_true(tt_store_passed_devices(batch, &devices));
  assert_int_equal(devices.len, 2);
  assert_int_equal(tt_list_at(&devices, int32_t, 0), 4);
  assert_int_equal(tt_list_at(&devices, int32_t, 1), 7);
  tt_list_free(&devices);
}

static void test_what_the_store_has_overtakes_what_stands_before_it(void **state) {
  (void)state;
  add(4, 10, 11, 0);
  add(4, 11, 12, 0);
  add(7, 1, 11, 0); /* of another device */
  expect_unsure(0, "000");
  expect_unsure(11, "100");
  expect_unsure(30, "110");
}

static void test_a_batch_overtakes_itself(void **state) {
  (void)state;
  add(4, 10, 20, TT_SAMPLE_UNSURE);
  add(4, 15, 16, 0);
  add(4, 20, 21, 0);
  expect_unsure(0, "110");
}

static void test_what_is_of_no_log_is_not_overtaken(void **state) {
  (void)state;
  add(4, 0, 0, 0);
  add(4, 0, 0, TT_SAMPLE_UNSURE);
  expect_unsure(30, "01");
}

static void test_the_furthest_is_kept_of_each_device(void **state) {
  (void)state;
  tt_list passed = TT_LIST(tt_store_passed, NULL);
  add(4, 0, 5, TT_SAMPLE_UNSURE);
  add(7, 0, 6, 0);
  add(4, 5, 9, TT_SAMPLE_UNSURE);
  add(4, 6, 7, TT_SAMPLE_UNSURE);
  add(4, 9, 12, 0);
  add(8, 0, 0, TT_SAMPLE_UNSURE);
  add(9, 0, 3, TT_SAMPLE_UNSURE);
  assert_true(tt_store_find_passed(batch, &passed));
  assert_int_equal(passed.len, 2);
  assert_int_equal(tt_list_at(&passed, tt_store_passed, 0).device, 4);
  assert_int_equal(tt_list_at(&passed, tt_store_passed, 0).place, 9);
  assert_int_equal(tt_list_at(&passed, tt_store_passed, 1).device, 9);
  assert_int_equal(tt_list_at(&passed, tt_store_passed, 1).place, 3);
  tt_list_free(&passed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_the_store_is_asked_of_each_device_once, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_what_the_store_has_overtakes_what_stands_before_it,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_batch_overtakes_itself, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_what_is_of_no_log_is_not_overtaken, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_the_furthest_is_kept_of_each_device, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

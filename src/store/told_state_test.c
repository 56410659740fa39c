/* told_state_test.c: what a store's writer tells of it, and who asks hears. */
#include "store/told_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void a_reason_stands_until_all_is_well(void **state) {
  (void)state;
  tt_told_state told;
  tt_store_state heard;
  char text[400];
  tt_told_state_init(&told);
  tt_told_state_get(&told, &heard);
  assert_true(!heard.degraded && !*heard.reason && !heard.spools);
  tt_told_state_set(&told, "the server is away");
  tt_told_state_get(&told, &heard);
  assert_true(heard.degraded);
  assert_string_equal(heard.reason, "the server is away");
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = 0;
  tt_told_state_set(&told, text);
  tt_told_state_get(&told, &heard);
  assert_int_equal(strlen(heard.reason), sizeof heard.reason - 1);
  tt_told_state_set(&told, NULL);
  tt_told_state_get(&told, &heard);
  assert_true(!heard.degraded && !*heard.reason);
  tt_told_state_clear(&told);
}

static void numbers_of_a_spool_are_told_with_it(void **state) {
  (void)state;
  tt_told_state told;
  tt_store_state heard;
  tt_told_state_init(&told);
  tt_told_state_set_spooled(
      &told, "away",
      &(tt_store_state){.spools = true, .spooled_bytes = 7, .spool_lost_samples = 3});
  tt_told_state_get(&told, &heard);
  assert_true(heard.degraded && heard.spools);
  assert_string_equal(heard.reason, "away");
  assert_int_equal(heard.spooled_bytes, 7);
  assert_int_equal(heard.spool_lost_samples, 3);
  tt_told_state_set(&told, NULL);
  tt_told_state_get(&told, &heard);
  assert_true(!heard.degraded && heard.spooled_bytes == 7);
  tt_told_state_clear(&told);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reason_stands_until_all_is_well),
      cmocka_unit_test(numbers_of_a_spool_are_told_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* list_test.c: arrays that grow, and numbers by numbers. */
#include "store/list.h"
#include "store/map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int ended;
static void end_item(void *item) { ended += *(int *)item; }

static void assert_holds(const tt_list *list, const int *items, uint32_t count) {
  assert_int_equal(list->len, count);
  for (uint32_t i = 0; i < count; i++) assert_int_equal(tt_list_at(list, int, i), items[i]);
}

static void test_items_are_kept_in_their_order(void **state) {
  (void)state;
  tt_list list = TT_LIST(int, NULL);
  for (int i = 0; i < 1000; i++) assert_true(tt_list_add(&list, &i, 1));
  assert_int_equal(list.len, 1000);
  for (int i = 0; i < 1000; i++) assert_int_equal(tt_list_at(&list, int, i), i);
  tt_list_cut(&list, 3);
  assert_holds(&list, (const int[]){0, 1, 2}, 3);
  tt_list_cut(&list, 5);
  assert_holds(&list, (const int[]){0, 1, 2}, 3);
  tt_list_remove(&list, 0);
  assert_holds(&list, (const int[]){2, 1}, 2);
  tt_list_remove(&list, 1);
  assert_holds(&list, (const int[]){2}, 1);
  assert_true(tt_list_fill(&list, 3));
  assert_holds(&list, (const int[]){2, 0, 0}, 3);
  assert_true(tt_list_fill(&list, 1));
  assert_int_equal(list.len, 3);
  tt_list_free(&list);
  assert_null(list.data);
  assert_int_equal(list.len, 0);
}

static void test_what_goes_is_ended_once(void **state) {
  (void)state;
  tt_list list = TT_LIST(int, end_item);
  ended = 0;
  tt_list_add(&list, (const int[]){1, 10, 100, 1000}, 4);
  tt_list_remove(&list, 1);
  assert_int_equal(ended, 10);
  tt_list_cut(&list, 1);
  assert_int_equal(ended, 1110);
  tt_list_free(&list);
  assert_int_equal(ended, 1111);
}

static void test_text_ends_with_a_zero_that_is_not_counted(void **state) {
  (void)state;
  tt_list text = TT_LIST(char, NULL);
  assert_true(tt_list_print(&text, "%s %d", "a", 1));
  assert_string_equal(text.data, "a 1");
  assert_true(tt_list_print(&text, "%0500d", 7));
  assert_int_equal(text.len, 503);
  assert_int_equal(strlen(text.data), 503);
  tt_list_free(&text);
}

/** What is too much is not there, and the list says so until it is emptied. */
static void test_what_does_not_fit_is_said(void **state) {
  (void)state;
  tt_list list = TT_LIST(int, NULL);
  const int one = 1;
  assert_true(tt_list_add(&list, &one, 1));
  assert_false(tt_list_reserve(&list, UINT32_MAX));
  assert_false(list.failed);
  assert_false(tt_list_add(&list, &one, UINT32_MAX));
  assert_true(list.failed);
  assert_false(tt_list_add(&list, &one, 1));
  assert_holds(&list, &one, 1);
  tt_list_cut(&list, 0);
  assert_false(list.failed);
  assert_true(tt_list_add(&list, &one, 1));
  tt_list_free(&list);
}

static void test_a_map_finds_what_was_put(void **state) {
  (void)state;
  tt_map map = {0};
  assert_null(tt_map_get(&map, (tt_map_key){0, 0}));
  for (int64_t i = 0; i < 2000; i++) assert_true(tt_map_put(&map, (tt_map_key){i, -i}, i * i));
  assert_int_equal(map.count, 2000);
  for (int64_t i = 0; i < 2000; i++) {
    assert_int_equal(*tt_map_get(&map, (tt_map_key){i, -i}), i * i);
    if (i) assert_null(tt_map_get(&map, (tt_map_key){-i, i}));
  }
  assert_true(tt_map_put(&map, (tt_map_key){5, -5}, 7));
  assert_int_equal(map.count, 2000);
  *tt_map_get(&map, (tt_map_key){5, -5}) += 1;
  assert_int_equal(*tt_map_get(&map, (tt_map_key){5, -5}), 8);
  tt_map_clear(&map);
  assert_null(tt_map_get(&map, (tt_map_key){5, -5}));
  tt_map_clear(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_items_are_kept_in_their_order),
      cmocka_unit_test(test_what_goes_is_ended_once),
      cmocka_unit_test(test_text_ends_with_a_zero_that_is_not_counted),
      cmocka_unit_test(test_what_does_not_fit_is_said),
      cmocka_unit_test(test_a_map_finds_what_was_put),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* settings_test.c: what people set holds over what a database says, and the later over the earlier. */
#include "store/spool/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static tt_store_batch *settings;

static int begin(void **state) {
  (void)state;
  settings = tt_store_batch_new();
  return settings ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  tt_store_batch_free(settings);
  return 0;
}

/** A batch that says this of a device; whether people set it. */
static bool note(const char *identifier, const char *name, tt_name_state state) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, identifier, name, state);
  assert_true(tt_spool_note_settings(settings, batch));
  const bool set = tt_spool_has_settings(batch);
  tt_store_batch_free(batch);
  return set;
}

/** What is told of a device of which the database says this. */
static void expect(const char *identifier, const char *said, bool said_removed, const char *name,
                   bool removed) {
  const char *told = tt_spool_set_name(&settings->devices, identifier, said, &said_removed);
  assert_int_equal(!told, !name);
  if (name) assert_string_equal(told, name);
  assert_int_equal(said_removed, removed);
}

static void test_names(void **state) {
  (void)state;
  assert_false(note("A", NULL, TT_NAME_USED));
  expect("A", "old", true, "old", true);
  assert_true(note("A", "one", TT_NAME_KNOWN));
  expect("A", "old", true, "one", true);
  expect("A", NULL, false, "one", false);
  expect("B", "one", false, NULL, false);  // which A has taken
  expect("B", "two", true, "two", true);
  assert_true(note("B", "one", TT_NAME_USED));
  expect("A", "old", false, NULL, false);
  expect("B", NULL, true, "one", false);
  assert_true(note("B", "", TT_NAME_KNOWN));
  expect("B", "old", true, NULL, false);
  assert_false(note("B", NULL, TT_NAME_KNOWN));
  expect("B", "old", true, NULL, false);
  assert_int_equal(settings->devices.len, 2);
}

static void test_removed_names(void **state) {
  (void)state;
  assert_true(note("A", NULL, TT_NAME_REMOVED));
  expect("A", "old", false, "old", true);
  assert_false(note("A", NULL, TT_NAME_USED));
  expect("A", "old", true, "old", false);
  assert_true(note("A", "new", TT_NAME_REMOVED));
  expect("A", "old", false, "new", true);
}

static void add(tt_list *handlings, const char *pattern, double scale, bool removed) {
  const tt_handling handling = {.pattern = (char *)pattern, .scale = scale, .removed = removed};
  assert_true(tt_store_add_handling(handlings, &handling));
}

static void test_handlings(void **state) {
  (void)state;
  tt_list told = tt_handling_list();
  add(&told, "A", 1, false);
  add(&told, "B", 2, false);
  add(&told, "C", 3, false);
  for (int turn = 0; turn < 2; turn++) {
    tt_store_batch *batch = tt_store_batch_new();
    add(&batch->handlings, "B", turn ? 5 : 4, false);
    add(&batch->handlings, "C", 0, true);
    add(&batch->handlings, "D", 6, !turn);
    assert_true(tt_spool_has_settings(batch));
    assert_true(tt_spool_note_settings(settings, batch));
    tt_store_batch_free(batch);
  }
  tt_list all = tt_spool_set_handlings(&settings->handlings, &told);
  double sum = 0;
  for (uint32_t i = 0; i < all.len; i++) sum += tt_list_at(&all, tt_handling, i).scale;
  assert_int_equal(all.len, 3);
  assert_true(sum == 1 + 5 + 6);
  tt_list_free(&all);
  tt_list_free(&told);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_names, begin, end),
      cmocka_unit_test_setup_teardown(test_removed_names, begin, end),
      cmocka_unit_test_setup_teardown(test_handlings, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

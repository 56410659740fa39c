/* store_test.c: what every store must do: keep, tell, read and remove. */
#include "store/store_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_what_is_written_is_read(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  tt_testing_assert_loads(store, "");
  tt_testing_write(store, tt_testing_batch());
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1);
  tt_testing_assert_reads(store, 1, 0, "80050 80050 0=-0.10000000000000001\n");
  tt_testing_assert_reads(store, 1, 1, "");
  char *text = tt_testing_read(store, 0, 0, 81001, 90000, NULL, 0);
  assert_string_equal(text, "");
  g_free(text);
  int only[] = {1};
  text = tt_testing_read(store, 0, 0, 81000, 81000, only, 1);
  assert_string_equal(text, "80000 81000 1='Left & <\"ü\">'\n");
  g_free(text);
  store->close(store);
}

static void test_everything_is_there_again(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  tt_handling handling = {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5, 0.1, 60};
  tt_store_add_handling(&batch->handlings, &handling);
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 0, 0, 5555, 800, 1050, "");  // wider below; the anchor stays
  tt_testing_add_epoch(batch, 0, 1, 7, 0, 10, "");
  tt_testing_add_sample(batch, 0, 1, 3, 10);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_add_sample(batch, 0, 1, 4, 11);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_write(store, batch);
  store->close(store);
  store = tt_testing_open();
  tt_testing_assert_loads(
      store,
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading -\n"
      "handling Input.* 3 1 V 2 0.5 0.1 60\n"
      "epoch 0 0 1000 800 1100 0 '' | 1 80000 81000\nepoch 0 1 7 0 10 1 '' | 1 4 11\n"
      "epoch 1 0 0 -50 50 100 'start 7' | 1 80050 80050\n");
  batch = tt_store_batch_new();
  tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", "");  // takes the name away
  tt_testing_add_name(&batch->devices, 1, "ROBO2", NULL);                   // leaves it
  tt_handling removed = {"Input.*", true, 0, 0, NULL, 1, 0, 0, 0};
  tt_store_add_handling(&batch->handlings, &removed);
  tt_testing_write(store, batch);
  store->close(store);
  store = tt_testing_open();
  char *text = tt_testing_load(store);
  assert_non_null(strstr(text, "device 1 ROBO2 Red\nattribute 0 Output.drive.velocity -\n"));
  assert_null(strstr(text, "handling"));
  g_free(text);
  store->close(store);
}

static void add_pair(tt_store_batch *batch, int device, int attribute) {
  const tt_store_pair pair = {device, attribute};
  tt_list_add(&batch->pairs, &pair, 1);
}

static void write_name(tt_store *store, bool device, int index, const char *identifier,
                       const char *name, tt_name_state state) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(device ? &batch->devices : &batch->attributes, index, identifier, name, state);
  tt_testing_write(store, batch);
}

/** What is loaded of names and pairs. */
static void assert_names(const char *expected) {
  tt_store *store = tt_testing_open();
  char *text = tt_testing_load(store), *end = strstr(text, "epoch");
  if (end) *end = 0;
  assert_string_equal(text, expected);
  g_free(text);
  store->close(store);
}

static void test_names_are_removed_until_they_are_used(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  add_pair(batch, 0, 0);
  add_pair(batch, 0, 1);
  add_pair(batch, 1, 0);
  add_pair(batch, 1, 0);
  tt_testing_write(store, batch);
  store->close(store);
  assert_names(
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading -\n"
      "pair 0 0\npair 0 1\npair 1 0\n");
  store = tt_testing_open();
  g_free(tt_testing_load(store));
  write_name(store, false, 0, "Output.drive.velocity", "", TT_NAME_REMOVED);
  write_name(store, true, 1, "ROBO2", NULL, TT_NAME_KNOWN);
  store->close(store);
  const char *removed =
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity - removed\nattribute 1 Output.turn.heading -\npair 0 1\n";
  assert_names(removed);
  store = tt_testing_open();
  g_free(tt_testing_load(store));
  write_name(store, false, 0, "Output.drive.velocity", NULL, TT_NAME_KNOWN);
  store->close(store);
  assert_names(removed);
  store = tt_testing_open();
  g_free(tt_testing_load(store));
  write_name(store, false, 0, "Output.drive.velocity", NULL, TT_NAME_USED);
  write_name(store, true, 0, "ROBO1", "", TT_NAME_REMOVED);
  store->close(store);
  assert_names(
      "device 0 ROBO1 - removed\ndevice 1 ROBO2 Red\n"
      "attribute 0 Output.drive.velocity -\nattribute 1 Output.turn.heading -\n");
}

static bool holds(tt_store *store, int device, int attribute) {
  tt_store_reader *reader;
  tt_error error;
  bool held;
  if (store->open_reader(store, &reader, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(reader->holds(reader, device, attribute, &held, &error), TT_OK);
  reader->close(reader);
  return held;
}

static void test_it_is_known_whether_a_value_is_left(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  assert_true(holds(store, 0, 1));
  assert_false(holds(store, 1, 1));
  tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  int removed;
  tt_error error;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_false(holds(store, 0, 1));
  assert_true(holds(store, 0, 0));
  store->close(store);
}

static void test_an_epoch_is_another_life(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "");
  tt_testing_add_sample(batch, 0, 1, 80000, 82000);
  tt_testing_add_value(batch, 0, NULL, 7);
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1);
  tt_testing_assert_reads(store, 0, 1, "80000 82000 0=7\n");
  store->close(store);
}

static void test_order_and_many(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_testing_batch();
  GString *expected = g_string_new(TT_TESTING_ROBO1);
  for (int i = 5000; i > 0; i--) {
    tt_testing_add_sample(batch, 0, 0, 90000 + i, 91000 + i);
    tt_testing_add_value(batch, 0, NULL, i);
    tt_testing_add_value(batch, 1, "x", 0);
  }
  for (int i = 1; i <= 5000; i++) {
    g_string_append_printf(expected, "%d %d 0=%d 1='x'\n", 90000 + i, 91000 + i, i);
  }
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 0, 0, expected->str);
  g_string_free(expected, TRUE);
  store->close(store);
}

static void test_old_values_are_removed(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  int removed;
  tt_error error;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
  tt_testing_assert_reads(store, 0, 0, "80000 81000 0=50.25\n");
  purge.attribute = 0;
  purge.before = 80900;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 0);
  purge.before = 90000;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_OK);
  assert_int_equal(removed, 1);
  tt_testing_assert_reads(store, 0, 0, "");
  store->close(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_what_is_written_is_read, tt_testing_clean),
      cmocka_unit_test_setup(test_everything_is_there_again, tt_testing_clean),
      cmocka_unit_test_setup(test_names_are_removed_until_they_are_used, tt_testing_clean),
      cmocka_unit_test_setup(test_it_is_known_whether_a_value_is_left, tt_testing_clean),
      cmocka_unit_test_setup(test_an_epoch_is_another_life, tt_testing_clean),
      cmocka_unit_test_setup(test_order_and_many, tt_testing_clean),
      cmocka_unit_test_setup(test_old_values_are_removed, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

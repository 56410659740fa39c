/* conformance_records.c: what every store must do: keep, tell, read and remove. */
#include "store/conformance.h"

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

/** What a collector that is slow to write says of a name at once. */
static void test_of_facts_of_one_batch_the_last_counts(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, "ROBO1", "", TT_NAME_REMOVED);
  tt_store_add_name(&batch->devices, 0, "ROBO1", NULL, TT_NAME_USED);
  tt_testing_add_name(&batch->devices, 1, "ROBO2", "Blue");
  tt_testing_add_name(&batch->devices, 1, "ROBO2", "Red");  // as it was
  tt_testing_add_name(&batch->devices, 2, "ROBO3", "Green");
  tt_testing_add_name(&batch->devices, 2, "ROBO3", "");
  tt_store_add_name(&batch->attributes, 1, "Output.turn.heading", NULL, TT_NAME_USED);
  tt_store_add_name(&batch->attributes, 1, "Output.turn.heading", "", TT_NAME_REMOVED);
  add_pair(batch, 0, 0);
  tt_testing_write(store, batch);
  store->close(store);
  assert_names(
      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\ndevice 2 ROBO3 -\n"
      "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading - removed\n"
      "pair 0 0\n");
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
  const tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  tt_testing_purge(store, &purge);
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

static void test_late_samples_stand_where_they_belong(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  static const int times[] = {90000, 70000, 85000, -5, 80000, 85000};
  for (int i = 0; i < 6; i++) {
    tt_store_batch *batch = tt_store_batch_new();
    tt_testing_add_sample(batch, 0, 0, times[i], times[i] + 1000);
    tt_testing_add_value(batch, 0, NULL, i);
    tt_testing_write(store, batch);
  }
  tt_testing_assert_reads(store, 0, 0,
                          "-5 995 0=3\n70000 71000 0=1\n" TT_TESTING_ROBO1
                          "80000 81000 0=4\n85000 86000 0=2\n85000 86000 0=5\n90000 91000 0=0\n");
  char *text = tt_testing_read(store, 0, 0, 71000, 80999, NULL, 0);
  assert_string_equal(text, "70000 71000 0=1\n");
  g_free(text);
  store->close(store);
}

/** What is loaded of names and handling. */
static void assert_settings(const char *expected) {
  tt_store *store = tt_testing_open();
  char *text = tt_testing_load(store), *end = strstr(text, "epoch");
  if (end) *end = 0;
  assert_string_equal(text, expected);
  g_free(text);
  store->close(store);
}

static void test_names_and_handling_change(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 1, "ROBO2", "");
  tt_testing_add_name(&batch->devices, 0, "ROBO1", "Red");  // which the other one had
  tt_testing_add_name(&batch->attributes, 0, "Output.drive.velocity", "Pace");
  const tt_handling handlings[] = {
      {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5, 0.1, 60},
      {"Output.?", false, TT_VALUE_AUTO, TT_MODE_IGNORE, NULL, 1, 0, 0, 0}};
  for (int i = 0; i < 2; i++) tt_store_add_handling(&batch->handlings, &handlings[i]);
  tt_testing_write(store, batch);
  batch = tt_store_batch_new();
  const tt_handling changed = {"Input.*", false, TT_VALUE_TEXT, TT_MODE_FORWARD, NULL, 1, 0, 0, 0};
  const tt_handling removed = {"Output.?", true, 0, 0, NULL, 1, 0, 0, 0};
  tt_store_add_handling(&batch->handlings, &changed);
  tt_store_add_handling(&batch->handlings, &removed);
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1);
  store->close(store);
  assert_settings(
      "device 0 ROBO1 Red\ndevice 1 ROBO2 -\n"
      "attribute 0 Output.drive.velocity Pace\nattribute 1 Output.turn.heading -\n"
      "handling Input.* 2 2 - 1 0 0 0\n");
}

static void test_old_values_are_removed(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  tt_store_purge purge = {.device = 0, .attribute = 1, .before = 90000, .limit = 100};
  assert_int_equal(tt_testing_purge(store, &purge), 1);
  tt_testing_assert_reads(store, 0, 0, "80000 81000 0=50.25\n");
  purge.attribute = 0;
  purge.before = 80900;
  assert_int_equal(tt_testing_purge(store, &purge), 0);
  purge.before = 90000;
  assert_int_equal(tt_testing_purge(store, &purge), 1);
  tt_testing_assert_reads(store, 0, 0, "");
  store->close(store);
}

const tt_store_case tt_store_records_cases[] = {
    {"what is written is read", test_what_is_written_is_read, TT_STORE_READS, NULL},
    {"everything is there again", test_everything_is_there_again, TT_STORE_READS, NULL},
    {"names are removed until they are used", test_names_are_removed_until_they_are_used,
     TT_STORE_READS, NULL},
    {"of facts of one batch the last counts", test_of_facts_of_one_batch_the_last_counts,
     TT_STORE_READS, NULL},
    {"it is known whether a value is left", test_it_is_known_whether_a_value_is_left,
     TT_STORE_READS | TT_STORE_PURGES, NULL},
    {"an epoch is another life", test_an_epoch_is_another_life, TT_STORE_READS, NULL},
    {"order and many", test_order_and_many, TT_STORE_READS, NULL},
    {"late samples stand where they belong", test_late_samples_stand_where_they_belong,
     TT_STORE_READS, NULL},
    {"names and handling change", test_names_and_handling_change, TT_STORE_READS, NULL},
    {"old values are removed", test_old_values_are_removed, TT_STORE_READS | TT_STORE_PURGES, NULL},
    {0},
};

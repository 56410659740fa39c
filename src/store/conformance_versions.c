/* conformance_versions.c: databases of programs before and after this one. */
#include "store/conformance.h"

/** What the databases hold that tt_store_place.make_older makes. */
static tt_store_batch *older_content(void) {
  tt_store_batch *batch = tt_testing_batch();
  const tt_handling handling = {"Input.*", false, TT_VALUE_FLAG, TT_MODE_STORE, "V", 2, 0.5,
                                0.1,       60};
  tt_store_add_handling(&batch->handlings, &handling);
  tt_store_add_name(&batch->attributes, 2, "Input.battery.level", NULL, TT_NAME_REMOVED);
  static const tt_store_pair pairs[] = {{0, 0}, {0, 1}, {1, 0}};
  tt_list_add(&batch->pairs, pairs, 3);
  tt_testing_add_epoch(batch, 0, 1, 2000, 1900, 2100, "second");
  tt_testing_add_sample(batch, 0, 1, 80000, 82000);
  tt_testing_add_value(batch, 0, NULL, 7);
  tt_testing_add_sample(batch, 0, 1, 80000, 82001);
  tt_testing_add_value(batch, 0, NULL, 8);
  tt_testing_add_sample(batch, 0, 1, 80000, 82002)->seq = 12;
  tt_testing_add_value(batch, 0, NULL, 7);
  tt_testing_add_value(batch, 1, "numbered", 0);
  return batch;
}

static void assert_older_content(tt_store *store) {
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1);
  tt_testing_assert_reads(store, 0, 1,
                          "80000 82000 0=7\n80000 82001 0=8\n80000 82002 #12 0=7 1='numbered'\n");
  tt_testing_assert_reads(store, 1, 0, "80050 80050 0=-0.10000000000000001\n");
}

static void test_an_older_one_is_upgraded(void **state) {
  (void)state;
  assert_true(tt_testing_place()->make_older(tt_testing_url()));
  tt_store *store = tt_testing_open();
  char *told = tt_testing_load(store);
  // Of two records of one moment either may be told as the newest.
  char *newest = strstr(told, "80000 82000\nepoch 1");
  if (newest) newest[strlen("80000 8200")] = '2';
  assert_string_equal(told,
                      "device 0 ROBO1 -\ndevice 1 ROBO2 Red\n"
                      "attribute 0 Output.drive.velocity Speed\nattribute 1 Output.turn.heading -\n"
                      "attribute 2 Input.battery.level - removed\n"
                      "pair 0 0\npair 0 1\npair 1 0\nhandling Input.* 3 1 V 2 0.5 0.1 60\n"
                      "epoch 0 0 1000 900 1100 0 '' | 1 80000 81000\n"
                      "epoch 0 1 2000 1900 2100 1 'second' | 1 80000 82002\n"
                      "epoch 1 0 0 -50 50 100 'start 7' | 1 80050 80050\n");
  g_free(told);
  assert_older_content(store);
  tt_testing_write(store, older_content());  // all is there already
  assert_older_content(store);
  store->close(store);
  store = tt_testing_open();  // it is one of this version now
  g_free(tt_testing_load(store));
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 1, 0, 0, -50, 50, "start 7");
  tt_testing_add_sample(batch, 1, 0, 80060, 80060);
  tt_testing_add_value(batch, 1, "new", 0);
  tt_testing_write(store, batch);
  tt_testing_assert_reads(store, 1, 0, "80050 80050 0=-0.10000000000000001\n80060 80060 1='new'\n");
  store->close(store);
}

static const tt_store_backend *backend(void) {
  const tt_store_backend *found;
  tt_error error;
  if (tt_store_backend_of(tt_testing_url(), &found, &error) != TT_OK) fail_msg("%s", error.text);
  return found;
}

static tt_status open_reader(tt_error *error) {
  const tt_store_options options = {.url = tt_testing_url()};
  tt_store_reader *reader;
  return backend()->open_reader(&options, &reader, error);
}

static void test_readers_leave_an_older_one_as_it_is(void **state) {
  (void)state;
  assert_true(tt_testing_place()->make_older(tt_testing_url()));
  tt_error error;
  for (int turn = 0; turn < 2; turn++) {
    assert_int_equal(open_reader(&error), TT_VERSION);
    assert_non_null(strstr(error.text, "older"));
  }
}

static void test_a_newer_one_is_refused(void **state) {
  (void)state;
  tt_store *store = tt_testing_open();
  store->close(store);
  assert_true(tt_testing_place()->make_newer(tt_testing_url()));
  const tt_store_options options = {
      .url = tt_testing_url(), .spool = tt_testing_spool(), .spool_limit = 1 << 20};
  tt_error error;
  assert_int_equal(tt_store_open(&options, &store, &error), TT_VERSION);
  assert_non_null(strstr(error.text, "newer"));
  if (!(backend()->abilities & TT_STORE_READS)) return;
  assert_int_equal(open_reader(&error), TT_VERSION);
  assert_non_null(strstr(error.text, "newer"));
}

static bool can_be_older(const tt_store_place *place) { return place->make_older; }
static bool can_be_newer(const tt_store_place *place) { return place->make_newer; }

const tt_store_case tt_store_versions_cases[] = {
    {"an older one is upgraded", test_an_older_one_is_upgraded, TT_STORE_READS, can_be_older},
    {"readers leave an older one as it is", test_readers_leave_an_older_one_as_it_is,
     TT_STORE_READS, can_be_older},
    {"a newer one is refused", test_a_newer_one_is_refused, 0, can_be_newer},
    {0},
};

/* epochs_test.c: what a program remembers of devices that begin epochs again and again. Needs what
 * tests/telemetry/store_clickhouse_test.py gives; without it all is skipped. */
#include "store/clickhouse/internal.h"
#include "store/clickhouse/servers_testing.h"
#include "store/conformance.h"

#include <stdio.h>

#define BATCHES 30
#define EPOCHS 5000 /* that a batch begins */
/** Epochs that are remembered at most: those of some batches. */
#define MOST (20 * EPOCHS)

/** Epochs of a batch, each with a sample, and one of the first of all, which goes on. */
static tt_store_batch *batch_of(int number, int64_t low) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 0, "ROBO1", NULL);
  tt_testing_add_name(&batch->attributes, 0, "S.d.a", NULL);
  tt_testing_add_epoch(batch, 0, 0, 1000, low, 1000, "");
  tt_testing_add_sample(batch, 0, 0, number, number + 1000);
  tt_testing_add_value(batch, 0, NULL, number);
  for (int i = 1; i <= EPOCHS; i++) {
    const int epoch = EPOCHS * number + i;
    tt_testing_add_epoch(batch, 0, epoch, 1000, 1000, 1000, "");
    tt_testing_add_sample(batch, 0, epoch, 1, 1001);
    tt_testing_add_value(batch, 0, NULL, epoch);
  }
  return batch;
}

static void assert_stored(tt_store *store) {
  GString *expected = g_string_new(NULL);
  for (int i = 0; i < BATCHES; i++)
    g_string_append_printf(expected, "%d %d 0=%d\n", i, i + 1000, i);
  tt_testing_assert_reads(store, 0, 0, expected->str);
  g_string_free(expected, TRUE);
  tt_testing_assert_reads(store, 0, 7, "1 1001 0=7\n");
  assert_int_equal(servers_ask(servers_one(), "SELECT toInt64(uniqExact(key)) FROM tether.boot"),
                   BATCHES * EPOCHS + 1);
  assert_int_equal(
      servers_ask(servers_one(), "SELECT min(offset_low) FROM tether.boot WHERE key = 0"), 800);
}

static void test_epochs_that_are_over_are_forgotten(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one());
  const tt_clickhouse *inner = (const tt_clickhouse *)store;
  for (int i = 0; i < BATCHES; i++) {
    tt_testing_write(store, batch_of(i, i == BATCHES / 2 ? 800 : 900));
    assert_in_range(inner->known.epochs.count, 1, MOST);
    assert_in_range(inner->ranges.count, 1, MOST);
    assert_int_equal(inner->boots.len, inner->ranges.count);
  }
  assert_stored(store);
  store->close(store);
}

/** So it is with batches of others, and with what others write. */
static void test_epochs_of_others_are_forgotten(void **state) {
  (void)state;
  tt_store *store = tt_testing_open_url(servers_one()), *other = tt_testing_open_url(servers_one());
  const tt_clickhouse *inner = (const tt_clickhouse *)store, *beside = (const tt_clickhouse *)other;
  tt_error error;
  for (int i = 0; i < BATCHES; i++) {
    tt_store_batch *batch = batch_of(i, i == BATCHES / 2 ? 800 : 900);
    if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
    tt_store_batch_free(batch);
    assert_int_equal(inner->known.epochs.count, 0);
    assert_in_range(inner->ranges.count, 1, MOST);
  }
  const int64_t end = tt_monotonic_us() + 60 * SECOND;
  while (!strstr(tt_testing_told(), "device 0 ROBO1") && tt_monotonic_us() < end) {
    other->tend(other);
    g_usleep(10000);
  }
  assert_non_null(strstr(tt_testing_told(), "epoch 0 150000 "));
  assert_int_equal(beside->known.epochs.count, 0);
  assert_stored(other);
  other->close(other);
  store->close(store);
}

int main(void) {
  if (!servers_one()) {
    puts("skipped: needs TETHER_TEST_CLICKHOUSE");
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_epochs_that_are_over_are_forgotten, servers_clean),
      cmocka_unit_test_setup(test_epochs_of_others_are_forgotten, servers_clean)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

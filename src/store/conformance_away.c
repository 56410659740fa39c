/* conformance_away.c: stores that may be away, with the spool around them, and stores that several write to. */
#include "store/conformance.h"

#include "base/clock.h"

#include <unistd.h>

#define PATIENCE 30000000 /* µs */

static void cut(bool away) { assert_true(tt_testing_place()->cut(tt_testing_url(), away)); }

static tt_store_state state_of(tt_store *store) {
  tt_store_state now;
  store->state(store, &now);
  return now;
}

/** Until all that waited is written. */
static void catch_up(tt_store *store) {
  const int64_t end = tt_monotonic_us() + PATIENCE;
  while (state_of(store).degraded && tt_monotonic_us() < end) {
    if (!store->tend(store)) usleep(10000);
  }
  const tt_store_state now = state_of(store);
  if (now.degraded) fail_msg("%s", now.reason);
  assert_int_equal(now.spooled_bytes, 0);
}

/** With a name, an epoch and a sample that nobody has heard of. */
static tt_store_batch *news(void) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_name(&batch->devices, 2, "ROBO3", "Late");
  tt_testing_add_name(&batch->attributes, 2, "Input.battery.level", NULL);
  tt_testing_add_epoch(batch, 2, 0, 5, 5, 5, "");
  tt_testing_add_sample(batch, 2, 0, 10, 15);
  tt_testing_add_value(batch, 2, NULL, 12.5);
  tt_testing_add_sample(batch, 0, 0, 80001, 81001);
  tt_testing_add_value(batch, 2, "low", 0);
  return batch;
}

static void assert_all(tt_store *store) {
  tt_testing_assert_reads(store, 0, 0, TT_TESTING_ROBO1 "80001 81001 2='low'\n");
  tt_testing_assert_reads(store, 1, 0, "80050 80050 0=-0.10000000000000001\n");
  tt_testing_assert_reads(store, 2, 0, "10 15 2=12.5\n11 16 2=1\n");
}

static void write_one_more(tt_store *store) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 2, 0, 5, 5, 5, "");
  tt_testing_add_sample(batch, 2, 0, 11, 16);
  tt_testing_add_value(batch, 2, NULL, 1);
  tt_testing_write(store, batch);
}

/** Open, loaded, and with tt_testing_batch() in it. */
static tt_store *open_filled(void) {
  tt_store *store = tt_testing_open();
  g_free(tt_testing_load(store));
  tt_testing_write(store, tt_testing_batch());
  return store;
}

static void test_what_comes_while_it_is_away(void **state) {
  (void)state;
  tt_store *store = open_filled();
  cut(true);
  tt_testing_write(store, news());
  assert_true(state_of(store).degraded);
  assert_true(state_of(store).spooled_bytes > 0);
  write_one_more(store);
  tt_testing_write(store, news());  // once more
  cut(false);
  catch_up(store);
  assert_all(store);
  tt_testing_write(store, news());
  write_one_more(store);
  assert_all(store);
  store->close(store);
}

static void test_what_waits_is_told(void **state) {
  (void)state;
  tt_store *store = open_filled();
  cut(true);
  tt_testing_write(store, news());
  tt_store_batch *unnamed = tt_store_batch_new();
  tt_testing_add_name(&unnamed->devices, 1, "ROBO2", "");
  tt_testing_write(store, unnamed);
  store->close(store);
  store = tt_testing_open();  // it is away still
  char *told = tt_testing_load_away(store);
  static const char *const lines[] = {"ROBO3 Late\n",       "ROBO1 -\n",
                                      "ROBO2 -\n",          "Input.battery.level -\n",
                                      "spooled 1 200 10\n", "spooled 0 0 80001\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    if (!strstr(told, lines[i])) fail_msg("no '%s' in\n%s", lines[i], told);
  g_free(told);
  store->close(store);
  cut(false);
  store = tt_testing_open();
  g_free(tt_testing_load(store));  // which writes it first
  assert_int_equal(state_of(store).spooled_bytes, 0);
  write_one_more(store);
  assert_all(store);
  store->close(store);
}

static void add_many(tt_store_batch *batch, int number) {
  for (int i = 0; i < 1000; i++) {
    tt_testing_add_sample(batch, 2, 0, 1000 * number + i, 1000 * number + i);
    tt_testing_add_value(batch, 2, NULL, i);
  }
}

/** Names change with every batch, so that none may pass what waits. */
static tt_status write_many(tt_store *store, int number) {
  tt_error error;
  tt_store_batch *batch = news();
  add_many(batch, number);
  tt_status status = store->write(store, batch, &error);
  tt_store_batch_free(batch);
  return status;
}

static void test_a_spool_that_is_full(void **state) {
  (void)state;
  tt_store *store = open_filled();
  cut(true);
  int count = 1;
  while (count < 100 && write_many(store, count) == TT_OK) count++;
  assert_true(count > 5 && count < 100);
  cut(false);
  const int64_t end = tt_monotonic_us() + PATIENCE;
  while (write_many(store, count) != TT_OK && tt_monotonic_us() < end) usleep(10000);
  catch_up(store);
  for (int i = 1; i <= count; i++) {
    char *text = tt_testing_read(store, 2, 0, 1000 * i, 1000 * i + 999, NULL, 0);
    int lines = 0;
    for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
    assert_int_equal(lines, 1000);
    g_free(text);
  }
  store->close(store);
}

/** More than a catalogue keeps without looking for those that may go. */
#define MANY_EPOCHS 5000

/** A device's clock says anything, and so it begins an epoch with each message; the batch has a sample of one from before, too. */
static void test_many_epochs_when_it_is_back(void **state) {
  (void)state;
  tt_store *store = open_filled();
  cut(true);
  tt_testing_write(store, news());
  cut(false);
  catch_up(store);
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_sample(batch, 2, 0, 11, 16);
  tt_testing_add_value(batch, 2, NULL, 1);
  for (int number = 1; number <= MANY_EPOCHS; number++)
    tt_testing_add_epoch(batch, 2, number, 5, 5, 5, "");
  tt_testing_add_sample(batch, 2, MANY_EPOCHS, 12, 17);
  tt_testing_add_value(batch, 2, NULL, 2);
  tt_testing_write(store, batch);
  assert_all(store);
  tt_testing_assert_reads(store, 2, MANY_EPOCHS, "12 17 2=2\n");
  store->close(store);
}

/* --- several at once --- */

static void test_others_are_heard_of(void **state) {
  (void)state;
  tt_store *one = tt_testing_open(), *other = tt_testing_open_beside();
  g_free(tt_testing_load(one));
  g_free(tt_testing_load(other));
  tt_testing_write(one, tt_testing_batch());
  const int64_t end = tt_monotonic_us() + PATIENCE;
  const char *told = tt_testing_told();
  while (!strstr(told, "device 1 ROBO2 Red") && tt_monotonic_us() < end) {
    if (!other->tend(other)) usleep(10000);
    told = tt_testing_told();
  }
  assert_non_null(strstr(told, "device 0 ROBO1 -"));
  assert_non_null(strstr(told, "device 1 ROBO2 Red"));
  assert_non_null(strstr(told, "attribute 0 Output.drive.velocity Speed"));
  tt_testing_assert_reads(other, 0, 0, TT_TESTING_ROBO1);
  tt_store_batch *batch = tt_store_batch_new();
  tt_testing_add_epoch(batch, 0, 0, 1000, 900, 1100, "");
  tt_testing_add_sample(batch, 0, 0, 80000, 81000);  // which the first one has
  tt_testing_add_value(batch, 0, NULL, 50.25);
  tt_testing_add_sample(batch, 0, 0, 80002, 81002);
  tt_testing_add_value(batch, 0, NULL, 2);
  tt_testing_write(other, batch);
  tt_testing_assert_reads(one, 0, 0, TT_TESTING_ROBO1 "80002 81002 0=2\n");
  other->close(other);
  one->close(one);
}

static bool can_be_away(const tt_store_place *place) { return place->cut; }

const tt_store_case tt_store_away_cases[] = {
    {"what comes while it is away", test_what_comes_while_it_is_away,
     TT_STORE_READS | TT_STORE_REMOTE, can_be_away},
    {"what waits is told", test_what_waits_is_told, TT_STORE_READS | TT_STORE_REMOTE, can_be_away},
    {"a spool that is full", test_a_spool_that_is_full, TT_STORE_READS | TT_STORE_REMOTE,
     can_be_away},
    {"many epochs when it is back", test_many_epochs_when_it_is_back,
     TT_STORE_READS | TT_STORE_REMOTE, can_be_away},
    {"others are heard of", test_others_are_heard_of, TT_STORE_READS | TT_STORE_SHARED, NULL},
    {0},
};

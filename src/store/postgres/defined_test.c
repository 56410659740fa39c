/* defined_test.c: a writer remembers what is defined, and other writers change it meanwhile. Needs TETHER_TEST_POSTGRES, as
 * conformance_test.c; without it all is skipped. */
#include "store/store_testing.h"

#include <libpq-fe.h>
#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DROP                                                                                       \
  "SET client_min_messages = error; SET lock_timeout = '10s'; DROP SCHEMA IF EXISTS tether "       \
  "CASCADE"

static const char *url(void) { return g_getenv("TETHER_TEST_POSTGRES"); }

static PGconn *connect(void) {
  PGconn *connection = PQconnectdb(url());
  if (PQstatus(connection) != CONNECTION_OK) fail_msg("%s", PQerrorMessage(connection));
  return connection;
}

static void execute(PGconn *connection, const char *sql) {
  PGresult *result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    fail_msg("%s", PQerrorMessage(connection));
  PQclear(result);
}

static bool clean(const char *database) {
  (void)database;
  PGconn *connection = connect();
  execute(connection, DROP);
  PQfinish(connection);
  return true;
}

/** Without a spool, as a writer of a log has it. */
static tt_store *open_store(void) {
  const tt_store_options options = {.url = url()};
  tt_store *store;
  tt_error error;
  if (tt_store_open(&options, &store, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

/** As messages of a log have it: all that it uses is said in it. `number` is of the device and its epoch's key, `time` of the sample. */
static tt_store_batch *message(const char *device, int number, tt_name_state state, int64_t low,
                               int64_t time) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, device, NULL, state);
  tt_store_add_name(&batch->attributes, 0, "speed", NULL, TT_NAME_KNOWN);
  tt_testing_add_epoch(batch, 0, 0, 1000, low, 1100, "");
  tt_list_at(&batch->epochs, tt_store_epoch, 0).key = number;
  tt_testing_add_sample(batch, 0, 0, time, time + 1000);
  tt_testing_add_value(batch, 0, NULL, (double)time);
  return batch;
}

static tt_status try_write(tt_store *store, tt_store_batch *batch, tt_error *error) {
  tt_status status = store->write_foreign(store, batch, error);
  tt_store_batch_free(batch);
  return status;
}

static void write_message(tt_store *store, tt_store_batch *batch) {
  tt_error error;
  if (try_write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
}

/** Names and epochs as a reader hears them, and records of a device. */
static void assert_stored(const char *const *told, int device, const char *records) {
  char *said;
  tt_store_reader *reader = tt_testing_open_alone(&said);
  for (; *told; told++)
    if (!strstr(said, *told)) fail_msg("no '%s' in\n%s", *told, said);
  const tt_store_range range = {device,    0,    INT64_MIN, INT64_MAX, INT64_MIN,
                                INT64_MAX, NULL, 0,         false};
  char *text = tt_testing_read_range(reader, &range);
  assert_string_equal(text, records);
  g_free(text);
  g_free(said);
  reader->close(reader);
}

/** While somebody else stores, too, what defines nothing is stored; what does waits. */
static void test_what_is_known_waits_for_nobody(void **state) {
  (void)state;
  tt_store *store = open_store();
  PGconn *other = connect();
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  execute(other, "SET lock_timeout = '10s'; BEGIN; SELECT pg_advisory_xact_lock_shared(7602)");
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 2));
  write_message(store, message("A", 1, TT_NAME_KNOWN, 800, 3));
  write_message(store, message("A", 1, TT_NAME_KNOWN, 850, 4));
  execute(other, "COMMIT");
  assert_stored((const char *[]){"device 0 A -\n", "epoch 0 0 1000 800 1100 1 ''", NULL}, 0,
                "1 1001 0=1\n2 1002 0=2\n3 1003 0=3\n4 1004 0=4\n");
  PQfinish(other);
  store->close(store);
}

/** The range of an epoch grows with every message: a batch of several has it more than once. */
static void test_an_epoch_that_grows_twice_in_a_batch(void **state) {
  (void)state;
  tt_store *store = open_store();
  write_message(store, message("A", 0, TT_NAME_KNOWN, 900, 1));
  tt_store_batch *batch = message("A", 0, TT_NAME_KNOWN, 700, 2);
  tt_testing_add_epoch(batch, 0, 0, 1000, 700, 1300, "");
  tt_testing_add_epoch(batch, 0, 0, 1000, 800, 1200, "");
  write_message(store, batch);
  assert_stored((const char *[]){"device 0 A -\n", "epoch 0 0 1000 700 1300 0 ''", NULL}, 0,
                "1 1001 0=1\n2 1002 0=2\n");
  store->close(store);
}

static void test_another_removes_renames_and_widens(void **state) {
  (void)state;
  tt_store *store = open_store(), *other = open_store();
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  tt_store_batch *batch = message("A", 1, TT_NAME_REMOVED, 700, 2);
  tt_list_at(&batch->attributes, tt_store_name, 0).name = strdup("Pace");
  write_message(other, batch);
  write_message(store, message("A", 1, TT_NAME_KNOWN, 800, 3));
  assert_stored((const char *[]){"device 0 A - removed\n", "attribute 0 speed Pace\n",
                                 "epoch 0 0 1000 700 1100 1 ''", NULL},
                0, "1 1001 0=1\n2 1002 0=2\n3 1003 0=3\n");
  write_message(store, message("A", 1, TT_NAME_USED, 800, 4));
  assert_stored((const char *[]){"device 0 A -\n", "attribute 0 speed Pace\n", NULL}, 0,
                "1 1001 0=1\n2 1002 0=2\n3 1003 0=3\n4 1004 0=4\n");
  other->close(other);
  store->close(store);
}

/** A value that is there ends the transaction in which a device was defined. */
static void test_what_was_rolled_back_is_not_known(void **state) {
  (void)state;
  tt_store *store = open_store();
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  tt_store_batch *batch = message("A", 1, TT_NAME_KNOWN, 900, 1);
  tt_store_add_name(&batch->devices, 1, "B", NULL, TT_NAME_KNOWN);
  tt_testing_add_epoch(batch, 1, 0, 1000, 900, 1100, "");
  tt_testing_add_sample(batch, 1, 0, 5, 1005);
  tt_testing_add_value(batch, 0, NULL, 5);
  write_message(store, batch);
  write_message(store, message("B", 100, TT_NAME_KNOWN, 900, 6));
  assert_stored(
      (const char *[]){"device 0 A -\n", "device 1 B -\n", "epoch 1 0 1000 900 1100 100", NULL}, 1,
      "5 1005 0=5\n6 1006 0=6\n");
  store->close(store);
}

static int64_t ask(const char *sql) {
  PGconn *connection = connect();
  PGresult *result = PQexec(connection, sql);
  if (PQresultStatus(result) != PGRES_TUPLES_OK) fail_msg("%s", PQerrorMessage(connection));
  const int64_t answer = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
  PQclear(result);
  PQfinish(connection);
  return answer;
}

/** A sample of now and one that is there already, which ends the transaction in which today's partition was made. */
static void test_a_partition_that_was_rolled_back_is_made_again(void **state) {
  (void)state;
  tt_store *store = open_store();
  const int64_t now = g_get_real_time();
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  tt_store_batch *batch = message("A", 1, TT_NAME_KNOWN, 900, 1);
  tt_testing_add_sample(batch, 0, 0, now, now + 1000);
  tt_testing_add_value(batch, 0, NULL, 5);
  write_message(store, batch);
  assert_int_equal(ask("SELECT count(*) FROM tether.value"), 2);
  assert_int_equal(ask("SELECT count(*) FROM tether.value_other"), 1);
  store->close(store);
}

/* --- by chance --- */

#define DEVICES 3
#define EPOCHS 2 /* of a device */
#define TIMES 30
#define BATCHES 120

/** What was sent, by device and epoch. */
typedef struct sent {
  bool samples[DEVICES][EPOCHS][TIMES];
  int64_t low[DEVICES][EPOCHS], high[DEVICES][EPOCHS];
} sent;

/** A message of one of the devices: what it says of its epoch, whose range may grow, and a sample, which may have been sent before. */
static void add_message(tt_store_batch *batch, GRand *chance, sent *all) {
  const int device = g_rand_int_range(chance, 0, DEVICES);
  const int epoch = g_rand_int_range(chance, 0, EPOCHS);
  const int time = g_rand_int_range(chance, 0, TIMES);
  const int64_t low = 1000 - g_rand_int_range(chance, 0, 500);
  const int64_t high = 1000 + g_rand_int_range(chance, 0, 500);
  tt_testing_add_epoch(batch, device, epoch, 1000, low, high, "");
  tt_list_at(&batch->epochs, tt_store_epoch, batch->epochs.len - 1).key = 10 * device + epoch;
  tt_testing_add_sample(batch, device, epoch, time, time + 1000);
  tt_testing_add_value(batch, 0, NULL, time);
  all->samples[device][epoch][time] = true;
  if (low < all->low[device][epoch]) all->low[device][epoch] = low;
  if (high > all->high[device][epoch]) all->high[device][epoch] = high;
}

static tt_store_batch *random_batch(GRand *chance, sent *all) {
  static const char *const names[DEVICES] = {"A", "B", "C"};
  tt_store_batch *batch = tt_store_batch_new();
  for (int i = 0; i < DEVICES; i++)
    tt_store_add_name(&batch->devices, i, names[i], NULL,
                      g_rand_int_range(chance, 0, 10) ? TT_NAME_KNOWN : TT_NAME_USED);
  tt_store_add_name(&batch->attributes, 0, "speed", NULL, TT_NAME_KNOWN);
  for (int left = g_rand_int_range(chance, 1, 8); left; left--) add_message(batch, chance, all);
  return batch;
}

/** Tries until it is stored, where its connection was ended. */
static void write_after_an_end(tt_store *store, tt_store_batch *batch) {
  const int64_t end = g_get_monotonic_time() + 60000000;
  tt_error error;
  tt_status status;
  while ((status = store->write_foreign(store, batch, &error)) != TT_OK &&
         g_get_monotonic_time() < end)
    g_usleep(20000);
  tt_store_batch_free(batch);
  if (status != TT_OK) fail_msg("%s", error.text);
}

static void assert_sent(const sent *all) {
  char sql[256];
  int64_t values = 0;
  for (int i = 0; i < DEVICES * EPOCHS; i++) {
    const int device = i / EPOCHS, epoch = i % EPOCHS;
    for (int time = 0; time < TIMES; time++) values += all->samples[device][epoch][time];
    snprintf(sql, sizeof sql,
             "SELECT offset_high - 10000 * offset_low FROM tether.boot WHERE key = %d",
             10 * device + epoch);
    assert_int_equal(ask(sql), all->high[device][epoch] - 10000 * all->low[device][epoch]);
  }
  assert_int_equal(ask("SELECT count(*) FROM tether.any_value"), values);
  assert_int_equal(
      ask("SELECT count(*) FROM tether.any_value v JOIN tether.boot b USING (device, epoch)"
          " WHERE v.number = v.device_time AND b.key / 10 ="
          " (SELECT ascii(identifier) - 65 FROM tether.device d WHERE d.id = b.device)"),
      values);
}

#define OTHERS                                                                                     \
  "FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"   \
  " AND pid <> pg_backend_pid()"

static void end_connections(void) {
  ask("SELECT count(pg_terminate_backend(pid)) " OTHERS);
  while (ask("SELECT count(*) " OTHERS)) g_usleep(1000);
}

/** Two writers, each message by either, some more than once, in batches of several; now and then all connections end. */
static void test_what_two_writers_are_told_by_chance(void **state) {
  (void)state;
  tt_store *stores[] = {open_store(), open_store()};
  GRand *chance = g_rand_new_with_seed(18);
  sent all = {0};
  for (int i = 0; i < DEVICES * EPOCHS; i++)
    all.low[i / EPOCHS][i % EPOCHS] = all.high[i / EPOCHS][i % EPOCHS] = 1000;
  bool ended[2] = {false};
  for (int i = 0; i < BATCHES; i++) {
    const int which = g_rand_int_range(chance, 0, 2);
    (ended[which] ? write_after_an_end : write_message)(stores[which], random_batch(chance, &all));
    ended[which] = false;
    if (i % 50 != 40) continue;
    ended[0] = ended[1] = true;
    end_connections();
  }
  assert_sent(&all);
  g_rand_free(chance);
  for (int i = 0; i < 2; i++) stores[i]->close(stores[i]);
}

/** A statement that took too long waits no more for what others hold, so that those who try again don't queue behind it. */
static void test_what_is_given_up_ends_at_the_server(void **state) {
  (void)state;
  tt_store *store = open_store();
  PGconn *other = connect();
  tt_error error;
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  execute(other, "BEGIN; SELECT pg_advisory_xact_lock(7602)");
  store->hurry(store);  // not for long
  assert_int_equal(try_write(store, message("B", 2, TT_NAME_KNOWN, 900, 1), &error), TT_FAILED);
  const int64_t end = g_get_monotonic_time() + 20000000;
  while (ask("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"))
    if (g_get_monotonic_time() < end)
      g_usleep(20000);
    else
      fail_msg("it is still waited for");
  execute(other, "COMMIT");
  PQfinish(other);
  store->close(store);
}

/** Tables that were removed or restored give other ids: what was known of the old ones is not true of them. */
static void test_other_tables_are_other_names(void **state) {
  (void)state;
  tt_store *store = open_store();
  write_message(store, message("A", 1, TT_NAME_KNOWN, 900, 1));
  write_message(store, message("B", 2, TT_NAME_KNOWN, 900, 1));
  clean(NULL);
  tt_store *other = open_store();
  write_message(other, message("C", 3, TT_NAME_KNOWN, 900, 1));
  tt_error error;
  assert_int_equal(try_write(store, message("A", 1, TT_NAME_KNOWN, 900, 2), &error), TT_FAILED);
  for (int64_t end = g_get_monotonic_time() + 10000000; g_get_monotonic_time() < end;) {
    if (try_write(store, message("A", 1, TT_NAME_KNOWN, 900, 2), &error) == TT_OK) break;
    g_usleep(50000);
  }
  write_message(store, message("B", 2, TT_NAME_KNOWN, 900, 2));
  assert_stored((const char *[]){"device 0 C -\n", "device 1 A -\n", "device 2 B -\n", NULL}, 0,
                "1 1001 0=1\n");
  assert_stored((const char *[]){"epoch 1 0 1000 900 1100 1 ''", NULL}, 1, "2 1002 0=2\n");
  assert_stored((const char *[]){"epoch 2 0 1000 900 1100 2 ''", NULL}, 2, "2 1002 0=2\n");
  other->close(other);
  store->close(store);
}

int main(void) {
  static const tt_store_place place = {.url = url, .clean = clean};
  if (!url()) {
    puts("skipped: needs TETHER_TEST_POSTGRES");
    return 0;
  }
  const tt_store_backend *backend;
  tt_error error;
  if (tt_store_backend_of(url(), &backend, &error) != TT_OK) return 1;
  tt_testing_at(backend, &place);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_what_is_known_waits_for_nobody, tt_testing_clean),
      cmocka_unit_test_setup(test_an_epoch_that_grows_twice_in_a_batch, tt_testing_clean),
      cmocka_unit_test_setup(test_another_removes_renames_and_widens, tt_testing_clean),
      cmocka_unit_test_setup(test_what_was_rolled_back_is_not_known, tt_testing_clean),
      cmocka_unit_test_setup(test_a_partition_that_was_rolled_back_is_made_again, tt_testing_clean),
      cmocka_unit_test_setup(test_what_two_writers_are_told_by_chance, tt_testing_clean),
      cmocka_unit_test_setup(test_what_is_given_up_ends_at_the_server, tt_testing_clean),
      cmocka_unit_test_setup(test_other_tables_are_other_names, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

/* repeats_test.c: what it costs to look for messages that may have been sent again. Needs TETHER_TEST_POSTGRES, as
 * conformance_test.c; without it all is skipped. */
#include "store/store_testing.h"

#include <libpq-fe.h>
#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/** Starts of a device, at most as many as are looked through, and moments after each. */
#define EPOCHS 60
#define TIMES 50

static const char *url(void) { return g_getenv("TETHER_TEST_POSTGRES"); }

/** A number; 0 where there is none to read. */
static int64_t ask(const char *sql) {
  PGconn *connection = PQconnectdb(url());
  PGresult *result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    fail_msg("%s", PQerrorMessage(connection));
  const int64_t answer =
      status == PGRES_TUPLES_OK ? strtoll(PQgetvalue(result, 0, 0), NULL, 10) : 0;
  PQclear(result);
  PQfinish(connection);
  return answer;
}

static bool clean(const char *database) {
  (void)database;
  ask("SET client_min_messages = error; SET lock_timeout = '10s';"
      "DROP SCHEMA IF EXISTS tether CASCADE");
  return true;
}

/** What was done with the values' indexes until now. A connection tells it when it ends. */
static int64_t count(const char *what) {
  char sql[200];
  while (
      ask("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
          " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"))
    g_usleep(1000);
  snprintf(sql, sizeof sql,
           "SELECT sum(%s) FROM pg_stat_user_indexes WHERE schemaname = 'tether'"
           " AND relname LIKE '%%value%%'",
           what);
  return ask(sql);
}

/** Entries that were read. */
static int64_t count_read(void) { return count("idx_tup_read"); }

/** Questions. */
static int64_t count_scans(void) { return count("idx_scan"); }

/** Of a device that was started so often: the same moments each time, the first `times` of them, and other values. */
static void write_epoch(tt_store *store, int number, int times, int attributes, uint32_t flags) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_error error;
  tt_store_add_name(&batch->devices, 0, "A", NULL, TT_NAME_KNOWN);
  for (int i = 0; i < attributes; i++) {
    char name[16];
    snprintf(name, sizeof name, "speed%d", i);
    tt_store_add_name(&batch->attributes, i, name, NULL, TT_NAME_KNOWN);
  }
  tt_testing_add_epoch(batch, 0, number, 1000, 900, 1100, "");
  tt_list_at(&batch->epochs, tt_store_epoch, 0).key = number;
  for (int time = 0; time < times; time++) {
    tt_testing_add_sample(batch, 0, number, time, time + 1000)->flags = flags;
    for (int i = 0; i < attributes; i++) tt_testing_add_value(batch, i, NULL, number);
  }
  if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static tt_store *open_store(void) {
  tt_store *store;
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = url()}, &store, &error) != TT_OK)
    fail_msg("%s", error.text);
  return store;
}

/** In each epoch for what was sent alone: the server has no figures yet of how long they are, and would go through all of them. */
static void test_only_its_moment_is_looked_for(void **state) {
  (void)state;
  tt_store *store = open_store();
  for (int i = 0; i < EPOCHS; i++) write_epoch(store, i, TIMES, 1, 0);
  store->close(store);
  const int64_t before = count_read();
  store = open_store();
  write_epoch(store, EPOCHS, 1, 1, TT_SAMPLE_UNSURE);
  store->close(store);
  assert_in_range(count_read() - before, 1, 4 * EPOCHS);
  assert_int_equal(ask("SELECT count(*) FROM tether.any_value"), EPOCHS * TIMES + 1);
}

/** Where the first value of a message does not stand, no other is looked for: a writer that is slow gets all of them again, and would be
 *  slower still. */
static void test_the_first_value_is_looked_for(void **state) {
  (void)state;
  enum { ATTRIBUTES = 20 };
  tt_store *store = open_store();
  for (int i = 0; i < EPOCHS; i++) write_epoch(store, i, 1, ATTRIBUTES, 0);
  store->close(store);
  const int64_t before = count_scans();
  store = open_store();
  write_epoch(store, EPOCHS, 1, ATTRIBUTES, TT_SAMPLE_UNSURE);
  store->close(store);
  assert_in_range(count_scans() - before, EPOCHS, 4 * EPOCHS);
  assert_int_equal(ask("SELECT count(*) FROM tether.any_value"), (EPOCHS + 1) * ATTRIBUTES);
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
      cmocka_unit_test_setup(test_only_its_moment_is_looked_for, tt_testing_clean),
      cmocka_unit_test_setup(test_the_first_value_is_looked_for, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

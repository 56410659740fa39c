/* slow_test.c: a server that needs longer for a batch than it is waited for, and readers for whom it would wait. Needs
 * TETHER_TEST_POSTGRES, as conformance_test.c, and TETHER_TEST_POSTGRES_TCP, the same server by TCP; without them all is skipped. */
#include "store/postgres/internal.h"
#include "store/store_testing.h"

#include <libpq-fe.h>
#include <stdio.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** Values that no buffers between here and the server hold. */
#define VALUES 400000
#define END (g_get_monotonic_time() + 60 * G_USEC_PER_SEC)

static const char *url(void) { return g_getenv("TETHER_TEST_POSTGRES"); }

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

/** Each batch takes so long, however small it is. */
static void slow_down(const char *seconds) {
  char *sql = g_strdup_printf(
      "SET client_min_messages = error; CREATE OR REPLACE FUNCTION tether.slow() RETURNS trigger "
      "LANGUAGE plpgsql AS"
      " $$ BEGIN PERFORM pg_sleep(%s); RETURN NULL; END $$;"
      "DROP TRIGGER IF EXISTS slow ON tether.value;"
      "CREATE TRIGGER slow BEFORE INSERT ON tether.value EXECUTE FUNCTION tether.slow()",
      seconds);
  ask(sql);
  g_free(sql);
}

static tt_store *open_at(const char *at) {
  tt_store *store;
  tt_error error;
  if (tt_store_open(&(tt_store_options){.url = at}, &store, &error) != TT_OK)
    fail_msg("%s", error.text);
  return store;
}

static tt_store_batch *new_batch(int from, int count) {
  tt_store_batch *batch = tt_store_batch_new();
  tt_store_add_name(&batch->devices, 0, "A", NULL, TT_NAME_KNOWN);
  tt_store_add_name(&batch->attributes, 0, "speed", NULL, TT_NAME_KNOWN);
  tt_testing_add_epoch(batch, 0, 1, 1000, 900, 1100, "");
  tt_list_at(&batch->epochs, tt_store_epoch, 0).key = 1;
  for (int time = from; time < from + count; time++) {
    tt_testing_add_sample(batch, 0, 1, time, time + 1000);
    tt_testing_add_value(batch, 0, NULL, time);
  }
  return batch;
}

/** How often it was tried until it was stored. */
static int write_until_stored(tt_store *store, int from, int count) {
  tt_store_batch *batch = new_batch(from, count);
  tt_error error;
  int tries = 1;
  for (const int64_t end = END; store->write_foreign(store, batch, &error) != TT_OK; tries++) {
    if (g_get_monotonic_time() > end) fail_msg("%s", error.text);
    g_usleep(20000);
  }
  tt_store_batch_free(batch);
  return tries;
}

/** What had no time has more the next time, and what comes behind it at once; later less again. */
static void test_a_batch_that_takes_longer_than_it_is_waited_for(void **state) {
  (void)state;
  tt_store *store = open_at(url());
  const tt_postgres *of = (const tt_postgres *)store;
  write_until_stored(store, 0, 1);
  slow_down("2");
  tt_postgres_patience = SECOND / 4;
  const int tries = write_until_stored(store, 1, 10);
  assert_true(tries > 3);  // of two of them nothing but that it is connected again
  assert_true(of->slow * tt_postgres_patience >= 2 * SECOND);
  bool at_once = false;  // one of three is, also where the machine stands still for some seconds
  for (int from = 11; from < 41 && !at_once; from += 10)
    at_once = write_until_stored(store, from, 10) == 1;
  assert_true(at_once);
  slow_down("0");
  int64_t end = END;
  for (int i = 41; of->slow > 1 && g_get_monotonic_time() < end; i++)
    write_until_stored(store, i, 1);
  assert_int_equal(of->slow, 1);
  tt_postgres_patience = STATEMENT_DEADLINE;
  store->close(store);
  assert_true(ask("SELECT count(*) FROM tether.value") >= 21);
  assert_int_equal(ask("SELECT count(*) - count(DISTINCT device_time) FROM tether.value"), 0);
}

/** Who does not take what it is sent is no machine that has gone. */
static void test_a_server_that_takes_nothing_for_a_while(void **state) {
  (void)state;
  char *at = g_strconcat(g_getenv("TETHER_TEST_POSTGRES_TCP"), "?tcp_user_timeout=200", NULL);
  tt_store *store = open_at(at);
  write_until_stored(store, 0, 1);
  slow_down("2");
  assert_true(write_until_stored(store, 1, VALUES) > 1);
  store->close(store);
  g_free(at);
  assert_int_equal(ask("SELECT count(*) FROM tether.value"), 1 + VALUES);
}

static gpointer hurry_once_it_is_written(gpointer store) {
  while (!ask("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"))
    g_usleep(20000);
  ((tt_store *)store)->hurry(store);
  return NULL;
}

/** A program that is to end does not wait until a slow server has stored what is on its way. */
static void test_who_hurries_waits_for_no_slow_server(void **state) {
  (void)state;
  tt_store *store = open_at(url());
  write_until_stored(store, 0, 1);
  slow_down("9");
  GThread *other = g_thread_new("hurry", hurry_once_it_is_written, store);
  tt_store_batch *batch = new_batch(1, 1);
  tt_error error;
  assert_int_equal(store->write_foreign(store, batch, &error), TT_FAILED);
  g_thread_join(other);
  tt_store_batch_free(batch);
  store->close(store);
}

/** Of a device whose clock stands so many days from now. */
static tt_store_batch *batch_of_day(int day) {
  tt_store_batch *batch = new_batch(0, 1);
  tt_store_epoch *epoch = &tt_list_at(&batch->epochs, tt_store_epoch, 0);
  epoch->key = epoch->number = 100 + day;
  epoch->anchor = tt_wall_us() + day * DAY;
  tt_list_at(&batch->samples, tt_store_sample, 0).epoch = epoch->number;
  return batch;
}

static void write_day(tt_store *store, int day) {
  tt_store_batch *batch = batch_of_day(day);
  tt_error error;
  if (store->write_foreign(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  tt_store_batch_free(batch);
}

static int64_t partitions(void) {
  return ask("SELECT count(*) FROM pg_inherits WHERE inhparent = 'tether.value'::regclass");
}

/** Such as pg_dump over midnight: nothing that is stored waits until it ends, nor does anybody else who reads. */
static void test_who_reads_for_long_stops_nobody(void **state) {
  (void)state;
  tt_store *store = open_at(url());
  const int64_t before = partitions();
  write_day(store, -2);
  assert_int_equal(partitions(), before + 1);
  PGconn *reader = PQconnectdb(url());
  PQclear(PQexec(reader, "BEGIN; SELECT FROM tether.value LIMIT 0"));
  assert_int_equal(PQtransactionStatus(reader), PQTRANS_INTRANS);
  write_day(store, 0);
  assert_int_equal(partitions(), before + 1);
  assert_int_equal(ask("SET lock_timeout = '10s'; SELECT count(*) FROM tether.value"), 2);
  assert_int_equal(ask("SELECT count(*) FROM tether.value_other"), 1);
  // That of tomorrow is made today, as soon as nobody reads.
  tt_store_state said;
  store->tend(store);
  store->state(store, &said);
  assert_null(said.degraded);
  assert_int_equal(partitions(), before + 1);
  PQfinish(reader);
  ((tt_postgres *)store)->next_partition = 0;
  for (const int64_t end = END; partitions() == before + 1; g_usleep(20000)) {
    store->tend(store);
    if (g_get_monotonic_time() > end) fail_msg("tomorrow has no partition");
    ((tt_postgres *)store)->next_partition = 0;
  }
  write_day(store, 1);
  assert_int_equal(partitions(), before + 2);
  assert_int_equal(ask("SELECT count(*) FROM tether.value_other"), 1);
  store->close(store);
}

static tt_store *open_with(const tt_store_batch *batch) {
  tt_store *store = open_at(url());
  tt_error error;
  if (store->write(store, batch, &error) != TT_OK) fail_msg("%s", error.text);
  return store;
}

/** Somebody who locks a table for long: what is old is not taken for removed, and it is said that the database is away. */
static void test_a_purge_that_takes_longer_than_it_is_waited_for(void **state) {
  (void)state;
  const tt_store_purge purge = {.device = 0, .attribute = 0, .before = 500000, .limit = 100};
  tt_store_batch *batch = new_batch(0, 10);
  tt_store *store = open_with(batch);
  tt_error error;
  tt_store_state said;
  int removed;
  PGconn *other = PQconnectdb(url());
  PQclear(PQexec(other, "BEGIN; LOCK TABLE tether.value IN ACCESS EXCLUSIVE MODE"));
  assert_int_equal(PQtransactionStatus(other), PQTRANS_INTRANS);
  tt_postgres_patience = SECOND / 4;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_FAILED);
  store->state(store, &said);
  assert_true(said.degraded);
  assert_string_equal(said.reason, error.text);
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_AGAIN);
  tt_postgres_patience = STATEMENT_DEADLINE;
  PQfinish(other);
  for (const int64_t end = END; said.degraded; g_usleep(20000)) {
    store->tend(store);
    store->state(store, &said);
    if (g_get_monotonic_time() > end) fail_msg("%s", said.reason);
  }
  assert_int_equal(tt_testing_purge(store, &purge), 10);
  tt_store_batch_free(batch);
  store->close(store);
}

/** Such as who may not: what comes in has nothing to do with that. */
static void test_a_purge_that_is_refused_disconnects_nobody(void **state) {
  (void)state;
  const tt_store_purge purge = {.device = 0, .attribute = 0, .before = 500000, .limit = 100};
  tt_store_batch *batch = new_batch(0, 10);
  tt_store *store = open_with(batch);
  tt_error error;
  tt_store_state said;
  int removed;
  ask("CREATE FUNCTION tether.refuse() RETURNS trigger LANGUAGE plpgsql AS"
      " $$ BEGIN RAISE 'nobody may'; END $$;"
      "CREATE TRIGGER refuse BEFORE DELETE ON tether.value FOR EACH ROW"
      " EXECUTE FUNCTION tether.refuse()");
  const tt_postgres_link *link = ((tt_postgres *)store)->link;
  assert_int_equal(store->purge(store, &purge, &removed, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "nobody may"));
  assert_ptr_equal(((tt_postgres *)store)->link, link);
  store->state(store, &said);
  assert_false(said.degraded);
  assert_int_equal(store->write(store, batch, &error), TT_OK);
  ask("DROP TRIGGER refuse ON tether.value");
  assert_int_equal(tt_testing_purge(store, &purge), 10);
  tt_store_batch_free(batch);
  store->close(store);
}

int main(void) {
  static const tt_store_place place = {.url = url, .clean = clean};
  if (!url() || !g_getenv("TETHER_TEST_POSTGRES_TCP")) {
    puts("skipped: needs TETHER_TEST_POSTGRES");
    return 0;
  }
  const tt_store_backend *backend;
  tt_error error;
  if (tt_store_backend_of(url(), &backend, &error) != TT_OK) return 1;
  tt_testing_at(backend, &place);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_batch_that_takes_longer_than_it_is_waited_for,
                             tt_testing_clean),
      cmocka_unit_test_setup(test_a_server_that_takes_nothing_for_a_while, tt_testing_clean),
      cmocka_unit_test_setup(test_who_hurries_waits_for_no_slow_server, tt_testing_clean),
      cmocka_unit_test_setup(test_who_reads_for_long_stops_nobody, tt_testing_clean),
      cmocka_unit_test_setup(test_a_purge_that_takes_longer_than_it_is_waited_for,
                             tt_testing_clean),
      cmocka_unit_test_setup(test_a_purge_that_is_refused_disconnects_nobody, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

/* schema_test.c: files of older and newer programs, and what is no database. */
#include "store/store_testing.h"

#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** A file with the content of a dump of tests/telemetry. */
static void make_older(const char *dump) {
  char *sql;
  sqlite3 *db;
  char *path = g_build_filename(TETHER_SOURCE_DIR "/tests/telemetry", dump, NULL);
  assert_true(g_file_get_contents(path, &sql, NULL, NULL));
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  g_free(sql);
  g_free(path);
}

static int count_rows(void *context, int columns, char **values, char **names) {
  (void)columns, (void)values, (void)names;
  ++*(int *)context;
  return 0;
}

static void assert_view_has(int rows) {
  sqlite3 *db;
  int count = 0;
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "SELECT * FROM telemetry", count_rows, &count, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(count, rows);
}

/** Hours of which buckets are to be made. */
static void assert_marked(int hours) {
  sqlite3 *db;
  int count = 0;
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "SELECT * FROM stale", count_rows, &count, NULL), SQLITE_OK);
  sqlite3_close(db);
  assert_int_equal(count, hours);
}

static bool add_count(void *context, int attribute, const tt_bucket *bucket) {
  (void)attribute;
  *(uint64_t *)context += bucket->count;
  return true;
}

static void assert_numbers_in_hours(tt_store *store, uint64_t numbers) {
  const tt_store_bucket_query query = {.size = TT_BUCKET_HOUR, .from = INT64_MIN, .to = INT64_MAX};
  uint64_t count = 0;
  tt_store_reader *reader;
  tt_error error;
  assert_int_equal(store->open_reader(store, &reader, &error), TT_OK);
  assert_int_equal(reader->buckets(reader, &query, add_count, &count, &error), TT_OK);
  reader->close(reader);
  assert_int_equal(count, numbers);
}

static int add_line(void *context, int columns, char **values, char **names) {
  (void)names;
  g_string_append_printf(context, "%s\n", values[columns - 1]);
  return 0;
}

/** Starts of one name are found without those of others, however many a device has. */
static void assert_starts_are_found(void) {
  sqlite3 *db;
  GString *plan = g_string_new(NULL);
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db,
                                "EXPLAIN QUERY PLAN SELECT epoch FROM boot WHERE device = 1"
                                " AND boot = 'a' AND epoch <> 3 ORDER BY epoch DESC LIMIT 64",
                                add_line, plan, NULL),
                   SQLITE_OK);
  sqlite3_close(db);
  assert_non_null(strstr(plan->str, "(device=? AND boot=?)"));
  assert_null(strstr(plan->str, "TEMP B-TREE"));
  g_string_free(plan, TRUE);
}

static void test_a_newer_one_is_refused(void **state) {
  (void)state;
  tt_store *made = tt_testing_open();
  made->close(made);
  sqlite3 *db;
  assert_starts_are_found();
  assert_int_equal(sqlite3_open(tt_testing_file(), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = tt_testing_url()};
  assert_int_equal(tt_store_open(&options, &store, &error), TT_VERSION);
  assert_non_null(strstr(error.text, "newer Tether"));
}

static void test_schema_1_is_upgraded(void **state) {
  (void)state;
  make_older("schema_1.sql");
  tt_store *store = tt_testing_open();
  tt_testing_assert_loads(store,
                          "device 0 OLD -\nattribute 0 Output.drive.velocity -\npair 0 0\n"
                          "epoch 0 0 0 -50 50 0 '' | 1 5 5\n");
  tt_testing_assert_reads(store, 0, 0, "5 5 0=42\n");
  assert_marked(1);
  assert_numbers_in_hours(store, 1);
  for (int i = 0; i < 20; i++) {
    store->tend(store);
    g_usleep(1000);
  }
  assert_numbers_in_hours(store, 1);
  store->close(store);
  assert_view_has(1);
  assert_starts_are_found();
}

static void test_schema_2_is_upgraded(void **state) {
  (void)state;
  make_older("schema_2.sql");
  tt_store *store = tt_testing_open();
  assert_marked(1);
  assert_numbers_in_hours(store, 3);
  char *text = tt_testing_load(store);
  assert_non_null(strstr(text,
                         "attribute 0 S.d.n Number\nattribute 1 S.d.t -\n"
                         "pair 0 0\npair 0 1\nhandling S.x.* 0 0 V 2 0 0 0\nepoch 0 0 "));
  g_free(text);
  tt_store_batch *batch = tt_store_batch_new();  // what was stored then, and something new
  tt_testing_add_sample(batch, 0, 0, 1000000, 0);
  tt_testing_add_value(batch, 0, NULL, 1);
  tt_testing_add_value(batch, 1, "new", 0);
  tt_testing_write(store, batch);
  text = tt_testing_read(store, 0, 0, INT64_MIN, INT64_MAX, NULL, 0);
  char **lines = g_strsplit(text, "\n", -1);
  assert_int_equal(g_strv_length(lines), 4);
  assert_true(g_str_has_suffix(lines[0], " 0=1 1='one'"));
  assert_string_equal(lines[1], "1000000 0 1='new'");
  assert_true(g_str_has_suffix(lines[2], " 0=2 1='two'"));
  g_strfreev(lines);
  g_free(text);
  store->close(store);
  assert_view_has(6);
}

static void test_not_ours(void **state) {
  (void)state;
  assert_true(g_file_set_contents(
      tt_testing_file(), "this is a letter, not a database, and long enough to tell", -1, NULL));
  tt_store *store;
  tt_error error;
  tt_store_options options = {.url = tt_testing_url()};
  assert_int_equal(tt_store_open(&options, &store, &error), TT_FAILED);
  assert_non_null(strstr(error.text, tt_testing_file()));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_a_newer_one_is_refused, tt_testing_clean),
      cmocka_unit_test_setup(test_schema_1_is_upgraded, tt_testing_clean),
      cmocka_unit_test_setup(test_schema_2_is_upgraded, tt_testing_clean),
      cmocka_unit_test_setup(test_not_ours, tt_testing_clean),
  };
  return cmocka_run_group_tests(tests, tt_testing_begin, tt_testing_end);
}

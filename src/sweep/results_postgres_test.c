/* results_postgres_test.c: a table in PostgreSQL. Needs TETHER_TEST_POSTGRES, the URL of a database in which the schema
 * `sweep_trial` may be dropped (tests/telemetry/store_postgres_test.py gives one); without it all is skipped. */
#include "sweep/results_testing.h"

#include <glib.h>
#include <libpq-fe.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *url(void) { return g_getenv("TETHER_TEST_POSTGRES"); }

/** What a statement answers, of one row and column, "" if nothing; to be freed. */
static char *ask(const char *sql) {
  PGconn *connection = PQconnectdb(url());
  PGresult *result = PQexec(connection, sql);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
    fail_msg("%s", PQerrorMessage(connection));
  char *text = g_strdup(PQntuples(result) ? PQgetvalue(result, 0, 0) : "");
  PQclear(result);
  PQfinish(connection);
  return text;
}

static void assert_asked(const char *sql, const char *expected) {
  char *text = ask(sql);
  assert_string_equal(text, expected);
  g_free(text);
}

static int begin(void **state) {
  (void)state;
  if (url())
    g_free(ask("SET client_min_messages = error; DROP SCHEMA IF EXISTS sweep_trial CASCADE"));
  return 0;
}

static void assert_refused(const tt_sweep_plan *plan, bool extend, tt_status expected,
                           const char *said) {
  const tt_sweep_results_options options = {.output = url(), .extend = extend};
  tt_sweep_results *results;
  tt_error error;
  assert_int_equal(tt_sweep_results_open(plan, &options, &results, &error), expected);
  if (!strstr(error.text, said)) fail_msg("'%s' has no '%s'", error.text, said);
}

/** The same table as CSV, from SQLite or PostgreSQL; to be freed. */
static char *make_csv(const tt_sweep_plan *plan, const char *output, uint64_t first, uint64_t end) {
  char path[4096], *text;
  tt_error error;
  snprintf(path, sizeof path, "%s/table.csv", testing_folder());
  tt_sweep_results *results = testing_open(plan, output, NULL);
  testing_add(plan, results, first, end, "here\t\\");
  if (tt_sweep_results_csv(results, path, &error) != TT_OK) fail_msg("%s", error.text);
  testing_finish(results);
  assert_true(g_file_get_contents(path, &text, NULL, NULL));
  return text;
}

static void test_the_same_table_as_in_a_file(void **state) {
  (void)state;
  if (!url()) skip();
  char path[4096];
  tt_sweep_plan *plan = testing_plan(testing_folder(), 500, 3, NULL);
  snprintf(path, sizeof path, "%s/same.sqlite", testing_folder());
  char *expected = make_csv(plan, path, 0, 2500), *is = make_csv(plan, url(), 0, 2500);
  assert_string_equal(is, expected);
  g_free(is);
  is = make_csv(plan, url(), 1000, 3000);  // resumed
  g_free(expected);
  expected = make_csv(plan, path, 0, 3000);
  assert_string_equal(is, expected);
  g_free(is);
  g_free(expected);
  assert_asked(
      "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position)"
      " FROM information_schema.columns WHERE table_schema = 'sweep_trial' AND"
      " table_name = 'run'",
      "id text, run bigint, seed bigint, status text, error text, hash text,"
      " simulated_time double precision, wall_time double precision, host text,"
      " gain double precision, mode text, final_y double precision,"
      " top_speed double precision, success double precision");
  assert_asked(
      "SELECT string_agg(name || role, ' ') FROM sweep_trial.run_column"
      " WHERE role <> 'run'",
      "gainaxis modeaxis final_ymetric top_speedmetric successmetric");
  tt_sweep_plan_free(plan);
}

static void test_a_second_sweep_is_refused(void **state) {
  (void)state;
  if (!url()) skip();
  char said[60];
  tt_error error;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  tt_sweep_results *results = testing_open(plan, url(), NULL);
  assert_string_equal(tt_sweep_results_name(results), "postgresql: schema sweep_trial");
  testing_add(plan, results, 0, 5, "here");
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_OK);
  testing_add(plan, results, 5, 7, "here");
  snprintf(said, sizeof said, "(tether sweep, process %d on ", getpid());
  assert_refused(plan, false, TT_FAILED, said);
  tt_sweep_results_close(results);
  results = testing_open(plan, url(), NULL);
  assert_int_equal(tt_sweep_results_count(results), 5);
  tt_sweep_results_close(results);
  tt_sweep_plan_free(plan);
}

static void test_a_changed_plan(void **state) {
  (void)state;
  if (!url()) skip();
  tt_sweep_plan *small = testing_plan(testing_folder(), 600, 2, NULL);
  tt_sweep_plan *large = testing_plan(testing_folder(), 700, 3, NULL);
  const tt_sweep_results_options options = {.output = url(), .extend = true};
  tt_sweep_results *results = testing_open(small, url(), NULL);
  tt_error error;
  testing_add(small, results, 0, 2400, "first");
  testing_finish(results);
  assert_refused(large, false, TT_INVALID, "--extend");
  assert_int_equal(tt_sweep_results_open(large, &options, &results, &error), TT_OK);
  assert_int_equal(tt_sweep_results_count(results), 2400);
  testing_add(large, results, 0, 4200, "later");
  testing_finish(results);
  assert_asked(
      "SELECT string_agg(t, ' ') FROM (SELECT host || count(*) || ',' ||"
      " count(DISTINCT id) || ',' || max(run) AS t FROM sweep_trial.run GROUP BY host"
      " ORDER BY host) AS x",
      "first2400,2400,3598 later1800,1800,4199");
  assert_int_equal(tt_sweep_results_open(small, &options, &results, &error), TT_OK);
  assert_int_equal(tt_sweep_results_count(results), 2400);
  testing_finish(results);
  assert_asked("SELECT count(*) || ' ' || count(run) FROM sweep_trial.run", "4200 2400");
  tt_sweep_plan_free(small);
  tt_sweep_plan_free(large);
}

static void test_what_is_not_ours(void **state) {
  (void)state;
  if (!url()) skip();
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  g_free(ask("CREATE SCHEMA sweep_trial; CREATE TABLE sweep_trial.accounts (id integer)"));
  assert_refused(plan, false, TT_INVALID, "schema sweep_trial: is no table of a sweep");
  tt_sweep_plan renamed = *plan;
  renamed.path = "/tmp/a name that is by far too long for a schema of PostgreSQL, by far.yaml";
  assert_refused(&renamed, false, TT_INVALID, "shorter");
  tt_sweep_results *results;
  tt_error error;
  const tt_sweep_results_options nobody = {.output = "postgresql://nobody@/none?host=/nowhere"};
  assert_int_equal(tt_sweep_results_open(plan, &nobody, &results, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "postgresql: "));
  tt_sweep_plan_free(plan);
}

/** On a busy machine it takes the server a while to notice that somebody was killed. */
static void wait_for_nobody(void) {
  bool nobody = false;
  for (int i = 0; i < 6000 && !nobody; i++) {
    char *count =
        ask("SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE"
            " 'tether sweep%'");
    nobody = !strcmp(count, "0");
    g_free(count);
    if (!nobody) usleep(10000);
  }
  assert_true(nobody);
}

static void test_kills(void **state) {
  (void)state;
  if (!url()) skip();
  const int kills = g_getenv("TETHER_LONG") ? 100 : 5;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 2000, 5, NULL);
  uint64_t acknowledged = 0;
  srand(1);
  for (int i = 0; i < kills; i++) {
    int told[2];
    char bytes[4096];
    ssize_t got;
    assert_int_equal(pipe(told), 0);
    const pid_t child = fork();
    if (!child) {
      close(told[0]);
      tt_sweep_results *results = testing_open(plan, url(), NULL);
      tt_error error;
      for (uint64_t k = tt_sweep_results_count(results); k < 20000; k += 3) {
        testing_add(plan, results, k, k + 3, "here");
        if (tt_sweep_results_commit(results, &error) != TT_OK || write(told[1], "...", 3) != 3)
          _exit(1);
      }
      _exit(0);
    }
    close(told[1]);
    got = read(told[0], bytes, 3);
    assert_true(got == 3);
    acknowledged += 3;
    usleep((useconds_t)(rand() % 30000));
    kill(child, SIGKILL);
    while ((got = read(told[0], bytes, sizeof bytes)) > 0) acknowledged += (uint64_t)got;
    close(told[0]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    wait_for_nobody();
  }
  tt_sweep_results *results = testing_open(plan, url(), NULL);
  const uint64_t kept = tt_sweep_results_count(results);
  assert_true(kept >= acknowledged && kept <= acknowledged + 3 * (uint64_t)kills);
  for (uint64_t i = 0; i < kept; i++) assert_true(tt_sweep_results_has(results, i));
  tt_sweep_results_close(results);
  assert_asked("SELECT count(*) = count(DISTINCT id) FROM sweep_trial.run", "t");
  tt_sweep_plan_free(plan);
}

static void cut_connections(void) {
  g_free(ask(
      "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name LIKE"
      " 'tether sweep%'"));
}

static void test_a_connection_that_is_lost(void **state) {
  (void)state;
  if (!url()) skip();
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  tt_sweep_results *results = testing_open(plan, url(), NULL);
  tt_error error;
  testing_add(plan, results, 0, 2, "here");
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_OK);
  cut_connections();
  testing_add(plan, results, 2, 4, "here");
  if (tt_sweep_results_commit(results, &error) != TT_OK) fail_msg("%s", error.text);
  assert_asked("SELECT count(*) FROM sweep_trial.run", "4");
  cut_connections();
  testing_add(plan, results, 4, 6, "here");
  tt_sweep_results *other = testing_open(plan, url(), NULL);
  assert_int_equal(tt_sweep_results_commit(results, &error),
                   TT_FAILED);  // somebody else has it now
  assert_non_null(strstr(error.text, "another sweep writes there"));
  tt_sweep_results_close(results);
  testing_finish(other);
  tt_sweep_plan_free(plan);
}

/** What it looks like when the answer to COMMIT is lost. */
static void test_rows_that_are_there_already(void **state) {
  (void)state;
  if (!url()) skip();
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  tt_sweep_results *results = testing_open(plan, url(), NULL);
  tt_error error;
  testing_add(plan, results, 0, 3, "here");
  cut_connections();
  tt_sweep_results *other = testing_open(plan, url(), NULL);
  testing_add(plan, other, 0, 3, "there");
  testing_finish(other);
  if (tt_sweep_results_commit(results, &error) != TT_OK) fail_msg("%s", error.text);
  testing_add(plan, results, 3, 5, "here");
  testing_finish(results);
  assert_asked("SELECT count(*) || ' ' || count(DISTINCT run) FROM sweep_trial.run", "5 5");
  tt_sweep_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_the_same_table_as_in_a_file, begin),
      cmocka_unit_test_setup(test_a_second_sweep_is_refused, begin),
      cmocka_unit_test_setup(test_a_changed_plan, begin),
      cmocka_unit_test_setup(test_what_is_not_ours, begin),
      cmocka_unit_test_setup(test_kills, begin),
      cmocka_unit_test_setup(test_a_connection_that_is_lost, begin),
      cmocka_unit_test_setup(test_rows_that_are_there_already, begin),
  };
  return cmocka_run_group_tests(tests, testing_begin, testing_end);
}

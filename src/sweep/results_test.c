/* results_test.c: a table in a file: what is committed is there, once, whoever comes and goes. */
#include "sweep/results_internal.h"
#include "sweep/results_testing.h"

#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/** A path in the test's folder. */
static char *path_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", testing_folder(), name);
  return path;
}

static void assert_refused(const tt_sweep_plan *plan, const tt_sweep_results_options *options,
                           tt_status expected, const char *said) {
  tt_sweep_results *results;
  tt_error error;
  assert_int_equal(tt_sweep_results_open(plan, options, &results, &error), expected);
  if (!strstr(error.text, said)) fail_msg("'%s' has no '%s'", error.text, said);
}

static void assert_asked(const char *path, const char *sql, const char *expected) {
  char *text = testing_ask(path, sql);
  assert_string_equal(text, expected);
  g_free(text);
}

/* --- rows --- */

static tt_status compare_row(void *context, const tt_sweep_row *row, tt_error *error) {
  const tt_sweep_plan *plan = context;
  tt_sweep_row expected;
  (void)error;
  testing_row(plan, row->run.number, "here", &expected);
  assert_string_equal(row->run.id, expected.run.id);
  assert_int_equal(row->run.seed, expected.run.seed);
  assert_int_equal(row->status, expected.status);
  assert_int_equal(row->hash, expected.hash);
  assert_string_equal(row->host, "here");
  assert_memory_equal(&row->wall_time, &expected.wall_time, sizeof row->wall_time);
  if (*expected.error) assert_string_equal(row->error, "=1+1, \"said\" it\nwith ? bytes and \\N ü");
  for (int i = 0; i < plan->metric_count; i++) {
    assert_int_equal(row->metrics[i].kind, expected.metrics[i].kind);
    expected.metrics[i].number += 0.0;
    assert_memory_equal(&row->metrics[i].number, &expected.metrics[i].number, sizeof(double));
  }
  assert_true(tt_sweep_value_equal(&row->success, &expected.success));
  return TT_OK;
}

static void test_rows_come_back(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 5, 3, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("a.sqlite"), NULL);
  tt_error error;
  char missing[200];
  assert_int_equal(tt_sweep_results_count(results), 0);
  testing_add(plan, results, 20, 30, "here");
  assert_string_equal(tt_sweep_results_missing(results, missing, sizeof missing), "runs 0 to 19");
  testing_add(plan, results, 0, 25, "here");  // which leaves five as they are
  assert_int_equal(tt_sweep_results_count(results), 30);
  assert_string_equal(tt_sweep_results_missing(results, missing, sizeof missing), "");
  if (tt_sweep_results_each(results, compare_row, plan, &error) != TT_OK)
    fail_msg("%s", error.text);
  testing_finish(results);
  char path[4096];
  snprintf(path, sizeof path, "%s", path_of("a.sqlite"));
  assert_asked(path, "SELECT group_concat(name) FROM pragma_table_info('run')",
               "id,run,seed,status,error,hash,simulated_time,wall_time,host,gain,mode,final_y,"
               "top_speed,success");
  assert_asked(path, "SELECT group_concat(name || ' ' || role, ', ') FROM run_column",
               "id run, run run, seed run, status run, error run, hash run, simulated_time run, "
               "wall_time run, host run, gain axis, mode axis, final_y metric, top_speed metric, "
               "success metric");
  assert_asked(path, "SELECT unit FROM run_column WHERE name = 'simulated_time'", "s");
  assert_asked(path, "SELECT unit FROM run_column WHERE name = 'top_speed'", plan->metrics[1].unit);
  assert_asked(path,
               "SELECT count(*), count(DISTINCT run), count(DISTINCT id), min(typeof(gain)),"
               " min(typeof(mode)), count(top_speed), min(top_speed) FROM run",
               "30\t30\t30\treal\ttext\t20\t0.0");
  assert_asked(path, "SELECT value FROM sweep WHERE key = 'runs'", "30");
  assert_false(g_file_test(path_of("a.sqlite-wal"), G_FILE_TEST_EXISTS));
  assert_false(g_file_test(path_of("a.sqlite-lock"), G_FILE_TEST_EXISTS));
  tt_sweep_plan_free(plan);
}

static void test_what_is_missing_is_named(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 10, 5, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("m.sqlite"), NULL);
  char text[200];
  assert_string_equal(tt_sweep_results_missing(results, text, sizeof text), "runs 0 to 99");
  testing_add(plan, results, 1, 99, "here");
  assert_string_equal(tt_sweep_results_missing(results, text, sizeof text), "runs 0 and 99");
  testing_add(plan, results, 99, 100, "here");
  assert_string_equal(tt_sweep_results_missing(results, text, sizeof text), "run 0");
  tt_sweep_results_close(results);
  g_remove(path_of("m.sqlite"));
  results = testing_open(plan, path_of("m.sqlite"), NULL);
  for (uint64_t i = 3; i < 100; i += 10) testing_add(plan, results, i, i + 2, "here");
  assert_string_equal(tt_sweep_results_missing(results, text, sizeof text),
                      "runs 0 to 2, 5 to 12, 15 to 22, 25 to 32, 35 to 42 and 45 more");
  tt_sweep_results_close(results);
  tt_sweep_plan_free(plan);
}

static void test_committed_stays_and_the_rest_goes(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 5, 3, NULL);
  char path[4096];
  snprintf(path, sizeof path, "%s", path_of("b.sqlite"));
  tt_error error;
  tt_sweep_results *results = testing_open(plan, path, NULL);
  testing_add(plan, results, 0, 10, "here");
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_OK);
  assert_asked(path, "SELECT count(*) FROM run", "10");  // a reader beside the writer
  testing_add(plan, results, 10, 20, "here");
  assert_asked(path, "SELECT count(*) FROM run", "10");
  tt_sweep_results_close(results);
  results = testing_open(plan, path, NULL);
  assert_int_equal(tt_sweep_results_count(results), 10);
  assert_true(tt_sweep_results_has(results, 9));
  assert_false(tt_sweep_results_has(results, 10));
  assert_false(tt_sweep_results_has(results, 30));
  testing_finish(results);
  tt_sweep_plan_free(plan);
}

static void test_a_second_sweep_is_refused(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 5, 3, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("c.sqlite"), NULL);
  char said[40];
  snprintf(said, sizeof said, "process %d ", getpid());
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("c.sqlite")}, TT_FAILED, said);
  tt_sweep_results_close(results);
  tt_sweep_results_close(testing_open(plan, path_of("c.sqlite"), NULL));
  tt_sweep_plan_free(plan);
}

static void test_a_table_without_a_file_is_refused(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 2, 1, NULL);
  const tt_sweep_results_options none = {.output = ""}, memory = {.output = ":memory:"};
  assert_refused(plan, &none, TT_INVALID, "'': is no name of a file");
  assert_refused(plan, &memory, TT_INVALID, "':memory:': is no name of a file");
  assert_int_equal(mkfifo(path_of("pipe"), 0600), 0);
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("pipe")}, TT_INVALID,
                 "is a pipe or a device; give a file");
  assert_refused(plan, &(tt_sweep_results_options){.output = testing_folder()}, TT_INVALID,
                 "is a folder; give a file");
  tt_sweep_plan_free(plan);
}

/* --- plans that change --- */

static void test_a_changed_plan(void **state) {
  (void)state;
  tt_sweep_plan *small = testing_plan(testing_folder(), 3, 2, NULL);
  tt_sweep_plan *large = testing_plan(testing_folder(), 4, 3, NULL);
  char path[4096];
  snprintf(path, sizeof path, "%s", path_of("d.sqlite"));
  tt_sweep_results_options options = {.output = path};
  tt_sweep_results *results = testing_open(small, path, NULL);
  tt_error error;
  testing_add(small, results, 0, 12, "first");
  testing_finish(results);
  assert_refused(large, &options, TT_INVALID, "--extend");
  assert_asked(path, "SELECT count(run) FROM run", "12");

  options.extend = true;  // every point has a third run now, and there are two more points
  assert_int_equal(tt_sweep_results_open(large, &options, &results, &error), TT_OK);
  assert_int_equal(tt_sweep_results_count(results), 12);
  assert_true(tt_sweep_results_has(results, 0) && tt_sweep_results_has(results, 4));
  assert_false(tt_sweep_results_has(results, 2) || tt_sweep_results_has(results, 18));
  testing_add(large, results, 0, 24, "later");
  testing_finish(results);
  assert_asked(path, "SELECT host, count(*), count(DISTINCT id), max(run) FROM run GROUP BY 1",
               "12\t12\t16\n12\t12\t23");
  tt_sweep_plan *tiny = testing_plan(testing_folder(), 1, 3, NULL);
  assert_refused(tiny, &(tt_sweep_results_options){.output = path}, TT_INVALID, "trial.yaml");
  assert_int_equal(tt_sweep_results_open(tiny, &options, &results, &error), TT_OK);
  assert_int_equal(tt_sweep_results_count(results), 6);  // all that it has
  testing_finish(results);
  assert_asked(path, "SELECT count(*), count(run), max(run) FROM run", "24\t6\t5");
  assert_int_equal(tt_sweep_results_open(large, &options, &results, &error), TT_OK);
  assert_int_equal(tt_sweep_results_count(results), 24);  // and they are known again
  testing_finish(results);
  assert_asked(path, "SELECT count(*), count(DISTINCT id) FROM run", "24\t24");
  const char *order = "SELECT run, id, seed, gain, mode FROM run ORDER BY run";
  char *dump = testing_ask(path, order);
  results = testing_open(large, path_of("e.sqlite"), NULL);
  testing_add(large, results, 0, 24, "later");
  testing_finish(results);
  char *fresh = testing_ask(path_of("e.sqlite"), order);
  assert_string_equal(dump, fresh);
  g_free(dump);
  g_free(fresh);
  tt_sweep_plan_free(small);
  tt_sweep_plan_free(large);
  tt_sweep_plan_free(tiny);
}

static void test_other_columns_are_another_table(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  char path[4096];
  snprintf(path, sizeof path, "%s", path_of("f.sqlite"));
  tt_sweep_plan changed = *plan;
  strcpy(changed.columns_identity, "00000000000000000000000000000000");
  testing_finish(testing_open(&changed, path, NULL));
  tt_sweep_results *results = testing_open(plan, path, NULL); /* without a row it is anybody's */
  testing_add(plan, results, 0, 1, "here");
  testing_finish(results);
  const tt_sweep_results_options options = {.output = path, .extend = true};
  assert_refused(&changed, &options, TT_INVALID, "axes, metrics or success");
  tt_sweep_plan_free(plan);
}

static void test_names_that_no_table_takes(void **state) {
  (void)state;
  static const char *const names[] = {"id", "RUN", "Wall_Time", "gain", "Y"};
  const tt_sweep_axis axes[] = {{.name = "gain", .where = "p.yaml: axes[0]", .unit = ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const tt_sweep_metric metrics[] = {
        {.name = "y", .where = "p.yaml: metrics[0]", .unit = "m"},
        {.name = names[i], .where = "p.yaml: metrics[1]", .unit = ""}};
    const tt_sweep_plan plan = {
        .axes = axes, .axis_count = 1, .metrics = metrics, .metric_count = 2};
    tt_results_columns columns;
    tt_error error;
    assert_int_equal(tt_results_columns_of(&plan, &columns, &error), TT_INVALID);
    assert_non_null(strstr(error.text, "p.yaml: metrics[1]: '"));
  }
}

/* --- files that are something else --- */

static void test_no_tables_of_ours(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  const char letter[] = "this is a letter, not a database, and long enough to tell that it is none";
  assert_true(g_file_set_contents(path_of("letter"), letter, -1, NULL));
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("letter")}, TT_INVALID,
                 "no table of a sweep");
  char *text;
  assert_true(g_file_get_contents(path_of("letter"), &text, NULL, NULL));
  assert_string_equal(text, letter);
  g_free(text);

  sqlite3 *db;
  assert_int_equal(sqlite3_open(path_of("other.sqlite"), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, "CREATE TABLE run (id)", NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("other.sqlite")}, TT_INVALID,
                 "another program");

  testing_finish(testing_open(plan, path_of("newer.sqlite"), NULL));
  assert_int_equal(sqlite3_open(path_of("newer.sqlite"), &db), SQLITE_OK);
  assert_int_equal(
      sqlite3_exec(db, "UPDATE sweep SET value = 99 WHERE key = 'format'", NULL, NULL, NULL),
      SQLITE_OK);
  sqlite3_close(db);
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("newer.sqlite")}, TT_VERSION,
                 "newer Tether");
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("no/such/folder/x.sqlite")},
                 TT_FAILED, "No such file or directory");
  tt_sweep_plan_free(plan);
}

static void test_a_damaged_file(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 50, 5, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("damaged.sqlite"), NULL);
  testing_add(plan, results, 0, 500, "here");
  testing_finish(results);
  FILE *file = fopen(path_of("damaged.sqlite"), "r+");
  assert_non_null(file);
  for (long page = 5; page < 9; page++) {
    fseek(file, page * 4096, SEEK_SET);
    for (int i = 0; i < 4096; i++) fputc(0x5a, file);
  }
  fclose(file);
  assert_refused(plan, &(tt_sweep_results_options){.output = path_of("damaged.sqlite")}, TT_INVALID,
                 "move it away");
  tt_sweep_plan_free(plan);
}

static void test_a_file_that_goes_away(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 3, 2, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("gone.sqlite"), NULL);
  tt_error error;
  testing_add(plan, results, 0, 2, "here");
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_OK);
  g_remove(path_of("gone.sqlite"));
  testing_add(plan, results, 2, 3, "here");
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_FAILED);
  assert_non_null(strstr(error.text, "removed or replaced"));
  assert_int_equal(tt_sweep_results_commit(results, &error), TT_FAILED);  // and stays so
  tt_sweep_results_close(results);
  tt_sweep_plan_free(plan);
}

/** A disk that takes no more: the limit on a file's size stands for it. */
static void test_a_full_disk(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 200, 5, NULL);
  const pid_t child = fork();
  if (!child) {
    const struct rlimit limit = {200000, 200000};
    signal(SIGXFSZ, SIG_IGN);
    tt_sweep_results *results = testing_open(plan, path_of("full.sqlite"), NULL);
    tt_error error = {""};
    tt_status status = TT_OK;
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 0; i < 2000 && status == TT_OK; i += 50) {
      tt_sweep_row row;
      for (uint64_t k = i; k < i + 50 && status == TT_OK; k++) {
        testing_row(plan, k, "here", &row);
        status = tt_sweep_results_add(results, &row, &error);
      }
      if (status == TT_OK) status = tt_sweep_results_commit(results, &error);
    }
    tt_sweep_results_close(results);
    _exit(status == TT_FAILED && strstr(error.text, "full.sqlite: ") ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  tt_sweep_results *results = testing_open(plan, path_of("full.sqlite"), NULL);
  const uint64_t kept = tt_sweep_results_count(results);
  assert_true(kept >= 50 && kept < 2000 && kept % 50 == 0);
  testing_add(plan, results, 0, 2000, "later");
  testing_finish(results);
  assert_asked(path_of("full.sqlite"), "SELECT count(*), count(DISTINCT id) FROM run",
               "2000\t2000");
  tt_sweep_plan_free(plan);
}

/* --- kill -9 --- */

/** Adds rows and commits them, three at a time, and says so by a byte each. */
static void write_until_killed(const tt_sweep_plan *plan, int told) {
  tt_sweep_results *results = testing_open(plan, path_of("killed.sqlite"), NULL);
  tt_sweep_row row;
  tt_error error;
  for (uint64_t i = 0, added = 0; i < tt_sweep_plan_runs(plan); i++) {
    if (tt_sweep_results_has(results, i)) continue;
    testing_row(plan, i, "here", &row);
    if (tt_sweep_results_add(results, &row, &error) != TT_OK) _exit(1);
    if (++added % 3) continue;
    if (tt_sweep_results_commit(results, &error) != TT_OK || write(told, "...", 3) != 3) _exit(1);
  }
  _exit(0);
}

static void test_kills(void **state) {
  (void)state;
  const int kills = g_getenv("TETHER_LONG") ? 1000 : 30;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 5 * kills, 10, NULL);
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
      write_until_killed(plan, told[1]);
    }
    close(told[1]);
    const int64_t wanted = i % 10 ? rand() % 8 : 0;  // some are killed while they open it
    for (int64_t seen = 0; seen < wanted && (got = read(told[0], bytes, 3)) > 0; seen++)
      acknowledged += (uint64_t)got;
    usleep((useconds_t)(rand() % 3000));
    kill(child, SIGKILL);
    while ((got = read(told[0], bytes, sizeof bytes)) > 0) acknowledged += (uint64_t)got;
    close(told[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
  }
  tt_sweep_results *results = testing_open(plan, path_of("killed.sqlite"), NULL);
  tt_error error;
  const uint64_t kept = tt_sweep_results_count(results);
  assert_true(kept >= acknowledged && kept <= acknowledged + 3 * (uint64_t)kills);
  for (uint64_t i = 0; i < kept; i++) assert_true(tt_sweep_results_has(results, i));
  if (tt_sweep_results_each(results, compare_row, plan, &error) != TT_OK)
    fail_msg("%s", error.text);
  testing_finish(results);
  char *rows =
      testing_ask(path_of("killed.sqlite"), "SELECT count(*) = count(DISTINCT id) FROM run");
  assert_string_equal(rows, "1");
  g_free(rows);
  tt_sweep_plan_free(plan);
}

/* --- CSV --- */

static void test_csv(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 2, 1, NULL);
  tt_sweep_results *results = testing_open(plan, path_of("g.sqlite"), NULL);
  tt_error error;
  char *text;
  tt_sweep_run runs[4];
  for (int i = 0; i < 4; i++) tt_sweep_plan_run(plan, (uint64_t)i, &runs[i]);
  testing_add(plan, results, 2, 4, "here");
  testing_add(plan, results, 0, 1, "@home,");
  if (tt_sweep_results_csv(results, path_of("g.csv"), &error) != TT_OK) fail_msg("%s", error.text);
  char *link = g_strdup(path_of("link.csv")), *aim = g_strdup(path_of("aim.csv"));
  assert_int_equal(symlink(aim, link), 0);
  if (tt_sweep_results_csv(results, link, &error) != TT_OK) fail_msg("%s", error.text);
  tt_sweep_results_close(results);
  assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
  assert_true(g_file_get_contents(aim, &text, NULL, NULL));
  char *through_link = text;
  assert_true(g_file_get_contents(path_of("g.csv"), &text, NULL, NULL));
  assert_string_equal(text, through_link);
  g_free(through_link);
  g_free(link);
  g_free(aim);
  char *expected = g_strdup_printf(
      "id,run,seed,status,error,hash,simulated_time,wall_time,host,gain,mode,final_y,top_speed,"
      "success\r\n"
      "%s,0,7,ok,,f0e1d2c3b4a59687,1,64.25,\"'@home,\",0.1,slow,0.09983341664682815,0,0\r\n"
      "%s,2,7,ok,,d2a5784b1df0c395,1,104.25,here,1.1,slow,0.8912073600614354,,0\r\n"
      "%s,3,7,controller_failed,\"'=1+1, \"\"said\"\" it\nwith ? bytes and \\N ü\","
      "c3874b0ed2965a1c,1,104.25,here,1.1,fast,0.8912073600614354,3,1\r\n",
      runs[0].id, runs[2].id, runs[3].id);
  assert_string_equal(text, expected);
  g_free(text);
  g_free(expected);
  assert_false(g_file_test(path_of("g.csv.part"), G_FILE_TEST_EXISTS));
  tt_sweep_plan_free(plan);
}

/* --- many rows --- */

static void test_many_rows_are_resumed_quickly(void **state) {
  (void)state;
  if (!g_getenv("TETHER_LONG")) skip();
  tt_sweep_plan *plan = testing_plan(testing_folder(), 1000, 50, NULL);
  const gint64 began = g_get_monotonic_time();
  tt_sweep_results *results = testing_open(plan, path_of("many.sqlite"), NULL);
  testing_add(plan, results, 0, 100000, "here");
  testing_finish(results);
  const gint64 written = g_get_monotonic_time();
  results = testing_open(plan, path_of("many.sqlite"), NULL);
  assert_int_equal(tt_sweep_results_count(results), 100000);
  const gint64 opened = g_get_monotonic_time();
  tt_sweep_results_close(results);
  print_message("100,000 rows: written in %.2f s, opened again in %.3f s\n",
                (double)(written - began) / 1e6, (double)(opened - written) / 1e6);
  assert_true(opened - written < 2000000);
  tt_sweep_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_come_back),
      cmocka_unit_test(test_what_is_missing_is_named),
      cmocka_unit_test(test_committed_stays_and_the_rest_goes),
      cmocka_unit_test(test_a_second_sweep_is_refused),
      cmocka_unit_test(test_a_table_without_a_file_is_refused),
      cmocka_unit_test(test_a_changed_plan),
      cmocka_unit_test(test_other_columns_are_another_table),
      cmocka_unit_test(test_names_that_no_table_takes),
      cmocka_unit_test(test_no_tables_of_ours),
      cmocka_unit_test(test_a_damaged_file),
      cmocka_unit_test(test_a_file_that_goes_away),
      cmocka_unit_test(test_a_full_disk),
      cmocka_unit_test(test_kills),
      cmocka_unit_test(test_csv),
      cmocka_unit_test(test_many_rows_are_resumed_quickly),
  };
  return cmocka_run_group_tests(tests, testing_begin, testing_end);
}

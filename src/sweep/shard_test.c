/* shard_test.c: shards in any order, doubled, torn or missing, against the table of one sweep. */
#include "base/bytes.h"
#include "sweep/results_testing.h"
#include "sweep/rows_file.h"
#include "sweep/rows_folder.h"
#include "sweep/shard.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *path_of(const char *name) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s", testing_folder(), name);
  return path;
}

static void test_what_a_shard_is_called(void **state) {
  (void)state;
  static const char *const wrong[] = {
      "",     "3",     "0/3",   "4/3",  "3/0",  "-1/3", " 1/3",
      "1/3x", "1/ 3x", "1/ 40", "1/-3", "1/+3", "a/b",  "99999999999/99999999999"};
  tt_sweep_shard shard;
  tt_error error;
  assert_int_equal(tt_sweep_shard_read("3/10", &shard, &error), TT_OK);
  assert_int_equal(shard.number, 3);
  assert_int_equal(shard.count, 10);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(tt_sweep_shard_read(wrong[i], &shard, &error), TT_USAGE);
  assert_non_null(strstr(error.text, "3/10"));
}

static void test_shards_have_every_run_once(void **state) {
  (void)state;
  static const uint64_t runs[] = {0, 1, 7, 100, TT_SWEEP_MAX_RUNS};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    for (unsigned count = 1; count < 300; count += 13) {
      uint64_t expected = 0, first, end;
      for (unsigned k = 1; k <= count; k++) {
        tt_sweep_shard_range(&(tt_sweep_shard){k, count}, runs[i], &first, &end);
        assert_int_equal(first, expected);
        assert_true(end >= first && end - first <= runs[i] / count + 1);
        expected = end;
      }
      assert_int_equal(expected, runs[i]);
    }
  }
}

/** What one sweep makes. */
static char *make_table(const tt_sweep_plan *plan) {
  g_remove(path_of("whole.sqlite"));
  tt_sweep_results *results = testing_open(plan, path_of("whole.sqlite"), NULL);
  testing_add(plan, results, 0, tt_sweep_plan_runs(plan), "here");
  testing_finish(results);
  return testing_dump(path_of("whole.sqlite"));
}

static void make_shard(const tt_sweep_plan *plan, const char *folder, unsigned number,
                       unsigned count) {
  uint64_t first, end;
  char host[20];
  snprintf(host, sizeof host, "node%u", number);
  tt_sweep_shard_range(&(tt_sweep_shard){number, count}, tt_sweep_plan_runs(plan), &first, &end);
  tt_sweep_results *results = testing_open(plan, NULL, folder);
  for (uint64_t i = end; i > first; i--) testing_add(plan, results, i - 1, i, host);
  testing_finish(results);
}

/** Merges a folder into a new table. */
static tt_sweep_collected collect(const tt_sweep_plan *plan, const char *folder, char **dump,
                                  char *missing, size_t size) {
  tt_sweep_collector *collector;
  tt_error error;
  g_remove(path_of("merged.sqlite"));
  tt_sweep_results *results = testing_open(plan, path_of("merged.sqlite"), NULL);
  if (tt_sweep_collector_open(plan, folder, &collector, &error) != TT_OK)
    fail_msg("%s", error.text);
  if (tt_sweep_collect(collector, results, &error) != TT_OK) fail_msg("%s", error.text);
  const tt_sweep_collected said = tt_sweep_collector_said(collector);
  if (tt_sweep_collect(collector, results, &error) != TT_OK) fail_msg("%s", error.text);
  assert_int_equal(tt_sweep_collector_said(collector).files, said.files);  // each is read once
  tt_sweep_collector_close(collector);
  tt_sweep_results_missing(results, missing, size);
  testing_finish(results);
  *dump = testing_dump(path_of("merged.sqlite"));
  return said;
}

static void test_shards_make_the_same_table(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 11, 3, NULL);
  char *whole = make_table(plan);
  static const unsigned counts[] = {1, 2, 7, 100};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    char folder[4096], missing[200], *dump;
    snprintf(folder, sizeof folder, "%s/rows%u", testing_folder(), counts[i]);
    for (unsigned k = counts[i]; k >= 1; k--) make_shard(plan, folder, k, counts[i]);
    make_shard(plan, folder, 1, 1);  // finds all there, and makes nothing
    const tt_sweep_collected said = collect(plan, folder, &dump, missing, sizeof missing);
    assert_string_equal(dump, whole);
    assert_string_equal(missing, "");
    assert_int_equal(said.rows, 66);
    assert_int_equal(said.twice + said.torn + said.others, 0);
    assert_int_equal(said.files, counts[i] < 66 ? counts[i] : 66);
    g_free(dump);
  }
  g_free(whole);
  tt_sweep_plan_free(plan);
}

static tt_status any_row(void *context, const tt_sweep_row *row, tt_error *error) {
  (void)context, (void)row, (void)error;
  return TT_OK;
}

/** A shard of many reads the files that can have its rows, of whatever division, and no others. */
static void test_a_shard_reads_what_concerns_it(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 11, 3, NULL);
  const uint64_t runs = tt_sweep_plan_runs(plan);
  char folder[4096], name[4200];
  snprintf(folder, sizeof folder, "%s/concerns", testing_folder());
  tt_sweep_results_options options = {.output = folder, .shards = true};
  tt_error error = {""};
  for (unsigned count = 2; count <= 3; count++) {  // all rows twice, in two divisions
    for (unsigned k = 1; k <= count; k++) {
      const tt_sweep_shard shard = {k, count};
      uint64_t first, end;
      tt_sweep_results *results;
      options.shard = k;
      options.shard_count = count;
      assert_int_equal(tt_sweep_results_open(plan, &options, &results, &error), TT_OK);
      tt_sweep_shard_range(&shard, runs, &first, &end);
      for (uint64_t i = first; i < end; i++)
        assert_int_equal(tt_sweep_results_has(results, i), count == 3);
      if (count == 2) testing_add(plan, results, first, end, "here");
      testing_finish(results);
    }
  }
  snprintf(name, sizeof name, "%s/1-of-66-1.rows",
           folder);  // nobody but the first of three sees that it is torn
  assert_true(g_file_set_contents(name, "torn", -1, NULL));
  tt_rows_folder first = {.plan = plan, .path = folder, .end = 22},
                 last = {.plan = plan, .path = folder, .first = 44, .end = 66};
  assert_int_equal(tt_rows_folder_read(&first, any_row, NULL, &error), TT_OK);
  assert_int_equal(tt_rows_folder_read(&last, any_row, NULL, &error), TT_OK);
  assert_int_equal(first.said.torn, 1);
  assert_int_equal(last.said.torn, 0);
  assert_int_equal(first.said.files, 1);
  assert_int_equal(last.said.files, 1);
  tt_rows_folder_clear(&first);
  tt_rows_folder_clear(&last);
  tt_sweep_plan_free(plan);
}

static void copy(const char *from, const char *to, gsize cut, int changed) {
  char *bytes;
  gsize size;
  assert_true(g_file_get_contents(from, &bytes, &size, NULL));
  if (changed >= 0) bytes[(gsize)changed % size] ^= 1;
  assert_true(g_file_set_contents(to, bytes, (gssize)(cut < size ? cut : size), NULL));
  g_free(bytes);
}

/** The only file of a folder. */
static char *first_file(const char *folder) {
  GDir *opened = g_dir_open(folder, 0, NULL);
  assert_non_null(opened);
  char *path = g_build_filename(folder, g_dir_read_name(opened), NULL);
  g_dir_close(opened);
  return path;
}

static void test_doubled_torn_foreign_and_missing(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 5, 2, NULL);
  tt_sweep_plan *other = testing_plan(testing_folder(), 6, 2, NULL);
  char a[4096], b[4096], mixed[4096], missing[200], *whole, *dump;
  snprintf(a, sizeof a, "%s/a", testing_folder());
  snprintf(b, sizeof b, "%s/b", testing_folder());
  snprintf(mixed, sizeof mixed, "%s/mixed", testing_folder());
  make_shard(plan, a, 1, 2);
  make_shard(plan, b, 2, 2);
  make_shard(other, mixed, 1, 1);
  char *first = first_file(a), *second = first_file(b), *to;
#define IN(name) (to = g_build_filename(mixed, name, NULL))
  copy(first, IN("one.rows"), SIZE_MAX, -1);
  g_free(to);
  copy(first, IN("two.rows"), SIZE_MAX, -1);
  g_free(to);
  copy(second, IN("torn.rows"), 400, -1);
  g_free(to);
  copy(second, IN("changed.rows"), SIZE_MAX, 500);
  g_free(to);
  copy(second, IN(".half-written.rows"), SIZE_MAX, -1);
  g_free(to);
  copy(second, IN("a letter.txt"), SIZE_MAX, -1);
  g_free(to);
  assert_true(g_file_set_contents(IN("empty.rows"), "", 0, NULL));
  g_free(to);
  tt_sweep_collected said = collect(plan, mixed, &dump, missing, sizeof missing);
  g_free(dump);
  assert_int_equal(said.rows, 10);
  assert_int_equal(said.twice, 10);
  assert_int_equal(said.torn, 3);
  assert_int_equal(said.others, 1);
  assert_string_equal(missing, "runs 10 to 19");
  make_shard(plan, mixed, 1, 1);  // started again, it makes what is missing and no more
  said = collect(plan, mixed, &dump, missing, sizeof missing);
  whole = make_table(plan);
  assert_string_equal(dump, whole);
  assert_int_equal(said.twice, 10);
  assert_string_equal(missing, "");
  g_free(first);
  g_free(second);
  g_free(whole);
  g_free(dump);
  tt_sweep_plan_free(plan);
  tt_sweep_plan_free(other);
}

static tt_status count_row(void *context, const tt_sweep_row *row, tt_error *error) {
  (void)row, (void)error;
  ++*(int *)context;
  return TT_OK;
}

static void test_every_byte_counts(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 2, 1, NULL);
  tt_bytes bytes = {0};
  tt_sweep_row row;
  tt_error error;
  int rows = 0;
  tt_rows_begin(&bytes, plan);
  for (uint64_t i = 0; i < 4; i++) {
    testing_row(plan, i, "node", &row);
    tt_rows_add(&bytes, plan, &row);
  }
  tt_rows_end(&bytes);
  assert_int_equal(tt_rows_decode(plan, bytes.data, bytes.size, count_row, &rows, &error), TT_OK);
  assert_int_equal(rows, 4);
  for (size_t size = 0; size < bytes.size; size++)
    assert_int_not_equal(tt_rows_decode(plan, bytes.data, size, count_row, &rows, &error), TT_OK);
  for (size_t i = 0; i < bytes.size; i++) {
    bytes.data[i] ^= 0x10;
    assert_int_not_equal(tt_rows_decode(plan, bytes.data, bytes.size, count_row, &rows, &error),
                         TT_OK);
    bytes.data[i] ^= 0x10;
  }
  assert_int_equal(rows, 4);
  tt_bytes_free(&bytes);
  tt_sweep_plan_free(plan);
}

static void test_many_rows_are_merged_quickly(void **state) {
  (void)state;
  if (!g_getenv("TETHER_LONG")) skip();
  tt_sweep_plan *plan = testing_plan(testing_folder(), 1000, 50, NULL);
  char folder[4096], missing[200], *dump;
  snprintf(folder, sizeof folder, "%s/many", testing_folder());
  const gint64 began = g_get_monotonic_time();
  for (unsigned k = 1; k <= 100; k++) make_shard(plan, folder, k, 100);
  const gint64 written = g_get_monotonic_time();
  const tt_sweep_collected said = collect(plan, folder, &dump, missing, sizeof missing);
  const gint64 merged = g_get_monotonic_time();
  assert_int_equal(said.rows, 100000);
  print_message("100,000 rows in 100 shards: written in %.2f s, merged in %.2f s\n",
                (double)(written - began) / 1e6, (double)(merged - written) / 1e6);
  g_free(dump);
  tt_sweep_plan_free(plan);
}

static void test_a_folder_that_is_none(void **state) {
  (void)state;
  tt_sweep_plan *plan = testing_plan(testing_folder(), 2, 1, NULL);
  tt_sweep_collector *collector;
  tt_sweep_results *results;
  tt_error error;
  assert_int_equal(tt_sweep_collector_open(plan, path_of("nowhere"), &collector, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "nowhere"));
  const tt_sweep_results_options options = {.output = path_of("no/where"), .shards = true};
  assert_int_equal(tt_sweep_results_open(plan, &options, &results, &error), TT_FAILED);
  results = testing_open(plan, NULL, path_of("shard"));
  assert_int_equal(tt_sweep_results_csv(results, "-", &error), TT_INVALID);
  assert_non_null(strstr(error.text, "--collect"));
  tt_sweep_results_close(results);
  tt_sweep_plan_free(plan);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_a_shard_is_called),
      cmocka_unit_test(test_shards_have_every_run_once),
      cmocka_unit_test(test_shards_make_the_same_table),
      cmocka_unit_test(test_a_shard_reads_what_concerns_it),
      cmocka_unit_test(test_doubled_torn_foreign_and_missing),
      cmocka_unit_test(test_every_byte_counts),
      cmocka_unit_test(test_a_folder_that_is_none),
      cmocka_unit_test(test_many_rows_are_merged_quickly),
  };
  return cmocka_run_group_tests(tests, testing_begin, testing_end);
}

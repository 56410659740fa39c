/* asked_test.c: what of devices' epochs stands in a condition. */
#include "store/clickhouse/internal.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void add(tt_list *boots, int64_t key, int64_t low, int64_t high) {
  const tt_clickhouse_boot boot = {.device = 1,
                                   .epoch = {.key = key, .offset_low = low, .offset_high = high}};
  tt_list_add(boots, &boot, 1);
}

static void assert_times(const tt_list *boots, int64_t from, int64_t to, const char *expected) {
  tt_list sql = TT_LIST(char, NULL);
  tt_clickhouse_print_times(boots, from, to, &sql);
  tt_list_add(&sql, "", 1);
  assert_false(sql.failed);
  assert_string_equal((const char *)sql.data, expected);
  tt_list_free(&sql);
}

static void test_each_of_few_epochs_has_its_times(void **state) {
  (void)state;
  tt_list boots = TT_LIST(tt_clickhouse_boot, NULL);
  assert_times(&boots, INT64_MIN, INT64_MAX, " AND (0)");
  add(&boots, 7, 500, 510);
  add(&boots, 8, 100, 120);
  assert_times(&boots, 1000, 2000,
               " AND (0 OR (epoch IN (8) AND device_time >= 880 AND device_time <= 1900)"
               " OR (epoch IN (7) AND device_time >= 490 AND device_time <= 1500))"
               " AND device_time + time_offset >= 1000 AND device_time + time_offset <= 2000");
  assert_times(&boots, 1000, INT64_MAX,
               " AND (0 OR (epoch IN (8) AND device_time >= 880)"
               " OR (epoch IN (7) AND device_time >= 490)) AND device_time + time_offset >= 1000");
  assert_times(&boots, INT64_MIN, INT64_MAX, " AND (0 OR (epoch IN (8)) OR (epoch IN (7)))");
  tt_list_free(&boots);
}

/** The server's time grows with the square of the parts: there are never many, and each is as wide as its epochs. */
static void test_many_epochs_share_few_parts(void **state) {
  (void)state;
  tt_list boots = TT_LIST(tt_clickhouse_boot, NULL);
  for (int i = 0; i < 700; i++) add(&boots, 5000 + i, i * 10, i == 3 ? 100000 : i * 10 + 5);
  tt_list sql = TT_LIST(char, NULL);
  tt_clickhouse_print_times(&boots, 200000, 300000, &sql);
  tt_list_add(&sql, "", 1);
  assert_false(sql.failed);
  int parts = 0, keys = 0;
  for (const char *at = sql.data; (at = strstr(at, "epoch IN (")); parts++) {
    at += strlen("epoch IN (");
    int64_t first = 0, last = 0, high, low;
    for (char *end = NULL; !end || *end == ','; keys++) {
      last = strtoll(end ? end + 1 : at, &end, 10);
      if (!first) first = last;
      at = end;
    }
    assert_int_equal(
        sscanf(at, ") AND device_time >= %" SCNd64 " AND device_time <= %" SCNd64, &high, &low), 2);
    assert_int_equal(200000 - high,
                     first <= 5003 && last >= 5003 ? 100000 : (last - 5000) * 10 + 5);
    assert_int_equal(300000 - low, (first - 5000) * 10);
  }
  assert_int_equal(keys, 700);
  assert_in_range(parts, 1, 16);
  tt_list_free(&sql);
  tt_list_free(&boots);
}

static void assert_since(const tt_list *since, bool all, const char *expected) {
  tt_list sql = TT_LIST(char, NULL);
  tt_clickhouse_print_since(since, all, &sql);
  assert_false(sql.failed);
  assert_string_equal((const char *)sql.data, expected);
  tt_list_free(&sql);
}

/** Each epoch has its own bound; one key that two devices have the earlier of two, and their times are told apart behind it. */
static void test_devices_are_asked_for_together(void **state) {
  (void)state;
  tt_list one = TT_LIST(tt_clickhouse_boot, NULL), other = TT_LIST(tt_clickhouse_boot, NULL);
  tt_list since = TT_LIST(tt_clickhouse_since, NULL);
  add(&one, 7, 500, 510);
  add(&one, 8, 100, 120);
  add(&other, 9, -HOUR, -HOUR);
  add(&other, 7, 0, 0);
  tt_list_add(&since, &(tt_clickhouse_since){1, one, 2000}, 1);
  tt_list_add(&since, &(tt_clickhouse_since){2, other, 3000}, 1);
  assert_since(
      &since, false,
      " PREWHERE device IN (1, 2) AND indexHint(0 OR (epoch IN (7, 8) AND device_time >= 1490)"
      " OR (epoch IN (9) AND device_time >= 3600003000))"
      " AND device_time >= transform(epoch, CAST('[7, 8, 9]' AS Array(Int64)),"
      " CAST('[1490, 1880, 3600003000]' AS Array(Int64)), toInt64(9223372036854775807))"
      " WHERE device_time + time_offset >= transform(device, CAST('[1, 2]' AS Array(UInt64)),"
      " CAST('[2000, 3000]' AS Array(Int64)), toInt64(9223372036854775807))");
  assert_since(&since, true, " PREWHERE device IN (1, 2) AND epoch IN (7, 8, 9)");
  tt_list_free(&since);
  tt_list_free(&one);
  tt_list_free(&other);
}

static void test_many_devices_share_few_parts(void **state) {
  (void)state;
  tt_list boots[500], since = TT_LIST(tt_clickhouse_since, NULL), sql = TT_LIST(char, NULL);
  for (int i = 0; i < 500; i++) {
    boots[i] = TT_LIST(tt_clickhouse_boot, NULL);
    for (int e = 0; e < 3; e++) add(&boots[i], i * 3 + e, -i * HOUR, -i * HOUR - e * SECOND);
    tt_list_add(&since, &(tt_clickhouse_since){(uint64_t)i, boots[i], 0}, 1);
  }
  tt_clickhouse_print_since(&since, false, &sql);
  assert_false(sql.failed);
  int parts = 0;
  for (const char *at = sql.data; (at = strstr(at, " OR ")); at++) parts++;
  assert_in_range(parts, 8, 16);
  for (int i = 0; i < 500; i++) tt_list_free(&boots[i]);
  tt_list_free(&since);
  tt_list_free(&sql);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_of_few_epochs_has_its_times),
                                     cmocka_unit_test(test_many_epochs_share_few_parts),
                                     cmocka_unit_test(test_devices_are_asked_for_together),
                                     cmocka_unit_test(test_many_devices_share_few_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

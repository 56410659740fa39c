/* rows_test.c: fields of RowBinary, blocks of Native, URLs, and statements, also those for servers that are newer than any
 * that is tested with. */
#include "store/clickhouse/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- rows --- */

static tt_list bytes_of(const void *bytes, size_t size) {
  tt_list list = TT_LIST(char, NULL);
  assert_true(tt_list_add(&list, bytes, size));
  return list;
}

static void test_fields_of_a_row(void **state) {
  (void)state;
  static const char answer[] =
      "\x07"
      "\xfe\xff\xff\xff"
      "\x01\0\0\0\0\0\0\x80"
      "\0\0\0\0\0\0\xf8\x3f"
      "\x05"
      "Gr\xc3\xbcn"
      "\0";
  tt_list list = bytes_of(answer, sizeof answer - 1), texts = TT_LIST(char, NULL);
  tt_clickhouse_rows rows = tt_clickhouse_rows_of(&list);
  assert_int_equal(tt_clickhouse_get_byte(&rows), 7);
  assert_int_equal(tt_clickhouse_get_int(&rows), -2);
  assert_true(tt_clickhouse_get_long(&rows) == INT64_MIN + 1);
  assert_true(tt_clickhouse_get_double(&rows) == 1.5);
  const uint32_t first = tt_clickhouse_get_text(&rows, &texts);
  const uint32_t second = tt_clickhouse_get_text(&rows, &texts);
  const char *text = texts.data;
  assert_string_equal(text + first, "Grün");
  assert_string_equal(text + second, "");
  assert_false(tt_clickhouse_has_row(&rows));
  assert_false(rows.failed);
  tt_list_free(&list);
  tt_list_free(&texts);
}

/** Cut off anywhere, too long a text, a text with a 0, a size without end: refused, and nothing is read beyond. */
static void test_answers_that_are_none(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
  } texts[] = {{"\x03"
                "ab",
                3},
               {"\x03"
                "a\0b",
                4},
               {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 10},
               {"\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 9},
               {"\x80", 1}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    tt_list list = bytes_of(texts[i].bytes, texts[i].size), into = TT_LIST(char, NULL);
    tt_clickhouse_rows rows = tt_clickhouse_rows_of(&list);
    tt_clickhouse_get_text(&rows, &into);
    assert_true(rows.failed);
    assert_false(tt_clickhouse_has_row(&rows));
    assert_int_equal(tt_clickhouse_get_long(&rows), 0);
    tt_error error;
    assert_int_equal(tt_clickhouse_check(&rows, &error), TT_FAILED);
    tt_list_free(&list);
    tt_list_free(&into);
  }
  for (size_t size = 0; size < 8; size++) {
    tt_list list = bytes_of("1234567", size);
    tt_clickhouse_rows rows = tt_clickhouse_rows_of(&list);
    assert_int_equal(tt_clickhouse_get_unsigned(&rows), 0);
    assert_true(rows.failed);
    tt_list_free(&list);
  }
}

static void test_a_block(void **state) {
  (void)state;
  static const char *const columns[] = {"a", "UInt8", "b", "String", NULL};
  static const char expected[] =
      "\x02\x02"
      "\x01"
      "a\x05"
      "UInt8"
      "\x01\x02"
      "\x01"
      "b\x06"
      "String"
      "\x02xy\0";
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  tt_list out = TT_LIST(char, NULL);
  for (uint8_t row = 1; row < 3; row++) {
    tt_clickhouse_put_byte(&block, 0, row);
    tt_clickhouse_put_text(&block, 1, row == 1 ? "xy" : "");
    block.rows++;
  }
  assert_true(tt_clickhouse_block_print(&block, &out));
  assert_int_equal(out.len, sizeof expected - 1);
  assert_memory_equal(out.data, expected, out.len);
  tt_clickhouse_block_free(&block);
  tt_list_free(&out);
}

/** A column of several rows at once is the same as one after the other, also where the memory was used before. */
static void test_a_block_of_repeated_numbers(void **state) {
  (void)state;
  static const char *const columns[] = {"a", "UInt64", "b", "Int64", NULL};
  tt_clickhouse_block block = tt_clickhouse_block_of(columns);
  tt_list one = TT_LIST(char, NULL), other = TT_LIST(char, NULL);
  for (uint32_t rows = 0; rows < 40; rows += 13) {
    tt_clickhouse_block_clear(&block);
    for (uint32_t i = 0; i < rows; i++) {
      tt_clickhouse_put_unsigned(&block, 0, UINT64_C(0x8877665544332211));
      tt_clickhouse_put_long(&block, 1, -2);
    }
    block.rows = rows;
    tt_list_cut(&one, 0);
    assert_true(tt_clickhouse_block_print(&block, &one));
    tt_clickhouse_block_clear(&block);
    tt_clickhouse_put_unsigned_times(&block, 0, UINT64_C(0x8877665544332211), rows);
    tt_clickhouse_put_long_times(&block, 1, -2, rows);
    block.rows = rows;
    tt_list_cut(&other, 0);
    assert_true(tt_clickhouse_block_print(&block, &other));
    assert_int_equal(one.len, other.len);
    assert_memory_equal(one.data, other.data, one.len);
  }
  tt_clickhouse_block_free(&block);
  tt_list_free(&one);
  tt_list_free(&other);
}

/* --- URLs --- */

static void test_a_url(void **state) {
  (void)state;
  tt_clickhouse_address address;
  tt_error error;
  assert_int_equal(tt_clickhouse_address_parse("clickhouse://h", &address, &error), TT_OK);
  assert_int_equal(address.shard_count, 1);
  assert_int_equal(address.shards[0].port, 8123);
  assert_int_equal(address.shards[0].native, 9000);
  assert_string_equal(address.database, "tether");
  assert_string_equal(address.user, "");
  tt_clickhouse_address_clear(&address);
  assert_int_equal(
      tt_clickhouse_address_parse(
          "clickhouse://me:p%40ss%3A@a.b,[::1]:81,c:7/db?tls=yes&ca=/x%20y&native=1,2,3", &address,
          &error),
      TT_OK);
  assert_string_equal(address.user, "me");
  assert_string_equal(address.password, "p@ss:");
  assert_int_equal(address.shard_count, 3);
  assert_string_equal(address.shards[1].host, "[::1]");
  assert_int_equal(address.shards[0].port, 8443);
  assert_int_equal(address.shards[1].port, 81);
  assert_int_equal(address.shards[2].native, 3);
  assert_string_equal(address.ca, "/x y");
  assert_true(address.tls);
  tt_clickhouse_address_clear(&address);
}

static void test_urls_that_are_none(void **state) {
  (void)state;
  static const char *const urls[] = {"clickhouse:",
                                     "clickhouse://",
                                     "clickhouse:///db",
                                     "clickhouse://h:0",
                                     "clickhouse://h:65536",
                                     "clickhouse://h:8x",
                                     "clickhouse://a,,b",
                                     "clickhouse://h/d-b",
                                     "clickhouse://h/1",
                                     "clickhouse://h/d'b",
                                     "clickhouse://h'/db",
                                     "clickhouse://u%4@h/db",
                                     "clickhouse://h/db?tls=perhaps",
                                     "clickhouse://h/db?ca=",
                                     "clickhouse://h/db?native=1,2",
                                     "clickhouse://h/db?native=none",
                                     "clickhouse://h/db?x=y"};
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    tt_clickhouse_address address;
    tt_error error;
    if (tt_clickhouse_address_parse(urls[i], &address, &error) != TT_INVALID)
      fail_msg("%s", urls[i]);
    tt_clickhouse_address_clear(&address);
  }
}

/* --- statements --- */

static void assert_table(const tt_clickhouse_abilities *abilities, const char *expected) {
  tt_list sql = TT_LIST(char, NULL);
  tt_clickhouse_print_value_table(abilities, &sql);
  assert_string_equal(sql.data, expected);
  tt_list_free(&sql);
}

#define KEY                                                                                        \
  ") ENGINE = ReplacingMergeTree(rank) ORDER BY (device, epoch, device_time, attribute, seq,"      \
  " is_text, number, text) PRIMARY KEY (device, epoch, device_time)"

static void test_the_table_of_values(void **state) {
  (void)state;
  assert_table(
      &(tt_clickhouse_abilities){0},
      "CREATE TABLE IF NOT EXISTS stored_value (device UInt64, epoch Int64, device_time Int64,"
      " attribute UInt64, seq Int64, is_text UInt8, number Float64, text String,"
      " time_offset Int64, rank UInt64" KEY);
  assert_table(&(tt_clickhouse_abilities){.codecs = true, .syncs = true},
               "CREATE TABLE IF NOT EXISTS stored_value (device UInt64 CODEC(Delta, ZSTD),"
               " epoch Int64 CODEC(Delta, ZSTD), device_time Int64 CODEC(Delta, ZSTD),"
               " attribute UInt64 CODEC(Delta, ZSTD), seq Int64 CODEC(Delta, ZSTD), is_text UInt8 "
               "CODEC(ZSTD),"
               " number Float64 CODEC(Gorilla, ZSTD), text String CODEC(ZSTD),"
               " time_offset Int64 CODEC(Delta, ZSTD), rank UInt64 CODEC(Delta, ZSTD)" KEY
               " SETTINGS fsync_after_insert = 1, fsync_part_directory = 1");
}

static void assert_values(const char *url, const char *expected) {
  tt_clickhouse_address address;
  tt_error error;
  tt_list sql = TT_LIST(char, NULL);
  assert_int_equal(tt_clickhouse_address_parse(url, &address, &error), TT_OK);
  tt_clickhouse_print_values(&(tt_clickhouse_source){NULL, &address}, &sql);
  assert_string_equal(sql.data, expected);
  tt_clickhouse_address_clear(&address);
  tt_list_free(&sql);
}

static void test_values_of_all_shards(void **state) {
  (void)state;
  assert_values("clickhouse://h/db", "stored_value");
  assert_values("clickhouse://a,b:1/db", "remote('a:9000,b:9000', 'db', 'stored_value')");
  assert_values("clickhouse://me:it%27s%5C@a,b/db?native=1,2",
                "remote('a:1,b:2', 'db', 'stored_value', 'me', 'it\\'s\\\\')");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_fields_of_a_row),
                                     cmocka_unit_test(test_answers_that_are_none),
                                     cmocka_unit_test(test_a_block),
                                     cmocka_unit_test(test_a_block_of_repeated_numbers),
                                     cmocka_unit_test(test_a_url),
                                     cmocka_unit_test(test_urls_that_are_none),
                                     cmocka_unit_test(test_the_table_of_values),
                                     cmocka_unit_test(test_values_of_all_shards)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

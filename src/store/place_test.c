/* place_test.c: which URLs mean the same store, and what of them is told. */
#include "store/place.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_told_without_secrets(void **state) {
  (void)state;
  static const char *const urls[][3] = {
      {"nats", "nats://me:pa@ss/w@a:4222,b/season?ca=/x", "nats://a:4222,b/season"},
      {"nats", "nats://a", "nats://a/"},
      {"clickhouse", "clickhouse://a/season/", "clickhouse://a/season"},
      {"postgresql", "postgres://me@/x?host=/run/p&password=secret&port=5",
       "postgresql:///x?host=/run/p&port=5"},
  };
  for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
    char *place = tt_store_place(urls[i][0], urls[i][1]);
    assert_string_equal(place, urls[i][2]);
    free(place);
  }
}

static void test_the_same_where_one_server_is(void **state) {
  (void)state;
  assert_true(tt_store_is_place("nats://a,b/season", "nats://c,b/season"));
  assert_true(tt_store_is_place("postgresql:///x?host=/run/p", "postgresql:///x?host=/run/p"));
  assert_false(tt_store_is_place("nats://a,b/season", "nats://a,b/test"));
  assert_false(tt_store_is_place("nats://a,b/season", "nats://ab,c/season"));
  assert_false(tt_store_is_place("nats://a/season", "clickhouse://a/season"));
  assert_false(tt_store_is_place("postgresql:///x?host=/run/p", "postgresql:///x?host=/run/q"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_told_without_secrets),
      cmocka_unit_test(test_the_same_where_one_server_is),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

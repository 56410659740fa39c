/* broker_test.c: URLs of NATS and tokens of subjects; what a server says is tests/telemetry/fleet_down_test.py's. */
#include "broker/broker.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_one_server(void **state) {
  (void)state;
  tt_nats_address address;
  tt_error error;
  assert_int_equal(tt_nats_address_parse("nats://127.0.0.1", &address, &error), TT_OK);
  assert_int_equal(address.count, 1);
  assert_string_equal(address.each[0], "nats://127.0.0.1");
  assert_string_equal(address.name, "tether");
  assert_int_equal(address.replicas, 1);
  assert_null(address.user);
  tt_nats_address_clear(&address);
}

static void test_all_of_it(void **state) {
  (void)state;
  tt_nats_address address;
  tt_error error;
  const char *url =
      "nats://ann:p%40s:s@[::1]:4222,b:4223,c/season?replicas=3&ca=/a/b.pem&cert=c&key=k";
  assert_int_equal(tt_nats_address_parse(url, &address, &error), TT_OK);
  assert_int_equal(address.count, 3);
  assert_string_equal(address.each[0], "nats://[::1]:4222");
  assert_string_equal(address.each[2], "nats://c");
  assert_string_equal(address.servers, "[::1]:4222,b:4223,c");  // a password is for no log
  assert_string_equal(address.user, "ann");
  assert_string_equal(address.password, "p@s:s");
  assert_string_equal(address.name, "season");
  assert_int_equal(address.replicas, 3);
  assert_string_equal(address.ca, "/a/b.pem");
  assert_null(address.creds);
  tt_nats_address_clear(&address);
}

static void test_what_is_wrong_is_said(void **state) {
  (void)state;
  const char *const cases[][2] = {
      {"nats://", "no server is named"},
      {"100.host", "begins with nats://"},
      {"http://a:100@h", "begins with nats://"},
      {"nats:///name", "no server is named"},
      {"nats://ann@h", "USER:PASSWORD@HOST"},
      {"nats://:p@h", "USER:PASSWORD@HOST"},
      {"nats://ann:100%@h", "a % is %25"},
      {"nats://h/a.b", "no name of a stream"},
      {"nats://h?replicas=2", "none of replicas=1, 3 or 5"},
      {"nats://h?cert=c", "belong together"},
      {"nats://a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "at most 16 servers"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_nats_address address;
    tt_error error;
    assert_int_equal(tt_nats_address_parse(cases[i][0], &address, &error), TT_INVALID);
    if (!strstr(error.text, cases[i][1])) fail_msg("%s: %s", cases[i][0], error.text);
    assert_null(strstr(error.text, "100"));
    tt_nats_address_clear(&address);
  }
}

static void assert_reads(const char *token, const char *expected) {
  char identifier[16];
  const bool read = tt_nats_read_token(token, strlen(token), identifier, sizeof identifier);
  assert_int_equal(read, expected != NULL);
  if (expected) assert_string_equal(identifier, expected);
}

static void test_tokens(void **state) {
  (void)state;
  char token[32];
  assert_true(tt_nats_print_token(token, sizeof token, '%', "a.b c"));
  assert_string_equal(token, "a%2Eb%20c");
  assert_true(tt_nats_print_token(token, sizeof token, '=', "ö"));
  assert_string_equal(token, "=C3=B6");
  assert_false(tt_nats_print_token(token, 8, '%', "a.b.c"));
  assert_reads("a%2Eb%20c", "a.b c");
  assert_reads("%c3%B6", "ö");
  assert_reads("ö", "ö");
  assert_reads("ROBO-1_a", "ROBO-1_a");
  assert_reads("0123456789abcde", "0123456789abcde");
  assert_reads("0123456789abcdef", NULL);
  assert_reads("", NULL);
  assert_reads("%", NULL);
  assert_reads("a%2", NULL);
  assert_reads("a%00", NULL);
  assert_reads("%zz", NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one_server),
      cmocka_unit_test(test_all_of_it),
      cmocka_unit_test(test_what_is_wrong_is_said),
      cmocka_unit_test(test_tokens),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* address_test.c: addresses read and written, and who may be spoken to. */
#include "net/internal.h"
#include "net/net_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void addresses_are_read_and_written(void **state) {
  (void)state;
  const char *same[] = {"127.0.0.1:5801", "[::1]:0", "10.1.2.3:65535"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    tt_address address = address_of(same[i]);
    char text[TT_ADDRESS_TEXT];
    tt_address_format(&address, text);
    assert_string_equal(text, same[i]);
  }
  tt_address local = address_of("localhost:80"), same_local = address_of("127.0.0.1:80");
  assert_true(tt_address_equal(&local, &same_local));
}

static void bad_addresses_are_refused_with_the_remedy(void **state) {
  (void)state;
  const char *bad[] = {"",
                       "5801",
                       "127.0.0.1",
                       "127.0.0.1:",
                       "127.0.0.1:65536",
                       "127.0.0.1:-1",
                       "example:80",
                       "127.0.0.1:80x",
                       "::1:80",
                       "[::1:80",
                       "256.0.0.1:80",
                       "127.0.0.1: 80",
                       ":80",
                       "[]:80",
                       "127.0.0.1:080000"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tt_error error = {""};
    assert_int_equal(tt_address_check(bad[i], NULL, &error), TT_INVALID);
    assert_non_null(strstr(error.text, "write it like"));
  }
}

static void a_public_address_needs_a_list(void **state) {
  (void)state;
  tt_error error = {""};
  tt_allow nobody = {0};
  assert_int_equal(tt_address_check("0.0.0.0:5801", &nobody, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "allow: ["));
  assert_int_equal(tt_address_check("[::]:5801", &nobody, &error), TT_INVALID);
  assert_int_equal(tt_address_check("127.0.0.1:5801", &nobody, NULL), TT_OK);
  assert_int_equal(tt_address_check("[::1]:5801", &nobody, NULL), TT_OK);
  const char *networks[] = {"10.0.0.0/8"};
  assert_int_equal(tt_address_check("0.0.0.0:5801", &(tt_allow){networks, 1}, NULL), TT_OK);
  const char *nonsense[] = {"10.0.0.0/33"};
  assert_int_equal(tt_address_check("0.0.0.0:5801", &(tt_allow){nonsense, 1}, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "10.0.0.0/33"));
}

static void networks_contain_what_they_should(void **state) {
  (void)state;
  const char *networks[] = {"10.1.0.0/16", "192.168.1.7", "fd00::/8", "172.16.0.0/12"};
  tt_allowed allowed;
  tt_address bound = address_of("0.0.0.0:1");
  assert_int_equal(tt_allowed_open(&(tt_allow){networks, 4}, &bound, &allowed, NULL), TT_OK);
  const struct {
    const char *address;
    bool in;
  } cases[] = {{"10.1.255.1:1", true},        {"10.2.0.1:1", false},
               {"192.168.1.7:1", true},       {"192.168.1.8:1", false},
               {"[fd12::1]:1", true},         {"[fe80::1]:1", false},
               {"172.31.0.1:1", true},        {"172.32.0.1:1", false},
               {"[::ffff:10.1.0.1]:1", true}, {"[::ffff:10.2.0.1]:1", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tt_address peer = address_of(cases[i].address);
    assert_int_equal(tt_allowed_has(&allowed, &peer), cases[i].in);
  }
  tt_allowed_close(&allowed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(addresses_are_read_and_written),
      NET_TEST(bad_addresses_are_refused_with_the_remedy),
      NET_TEST(a_public_address_needs_a_list),
      NET_TEST(networks_contain_what_they_should),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* net_test.c: real sockets on 127.0.0.1. */
#include "net/faults.h"
#include "net/internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

static void addresses_are_read_and_written(void **state) {
  (void)state;
  const char *good[] = {"127.0.0.1:5801", "[::1]:0", "10.1.2.3:65535"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    tt_address address;
    char text[TT_ADDRESS_TEXT];
    assert_int_equal(tt_address_parse(good[i], &address, NULL), TT_OK);
    tt_address_format(&address, text);
    assert_string_equal(text, good[i]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(addresses_are_read_and_written),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

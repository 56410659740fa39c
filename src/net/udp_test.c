/* udp_test.c: datagrams over real loopback: order, floods, strangers. */
#include "base/clock.h"
#include "base/log.h"
#include "net/internal.h"
#include "net/net_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static void udp_goes_both_ways(void **state) {
  heard a = {0}, b = {.accept = true};
  tt_udp *one = open_udp(*state, tt_udp_options_default(), &a);
  tt_udp_options options = tt_udp_options_default();
  options.peer = "sender";
  tt_udp *other = open_udp(*state, options, &b);
  assert_int_equal(tt_udp_send(other, "x", 1), TT_CLOSED); /* nobody has spoken yet */
  assert_int_equal(tt_udp_send_to(one, "hello", 5, tt_udp_address(other)), TT_OK);
  poll_until(*state, &b.count, 1);
  assert_int_equal(b.last_size, 5);
  assert_string_equal(b.last_peer, tt_udp_address(one));
  assert_int_equal(tt_udp_send(other, "back", 4), TT_OK);
  poll_until(*state, &a.count, 1);
  assert_int_equal(a.last_size, 4);
  tt_udp_close(one);
  tt_udp_close(other);
}

static void everything_that_arrived_comes_in_one_poll_in_order(void **state) {
  heard h = {0};
  tt_udp *udp = open_udp(*state, tt_udp_options_default(), &h);
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  for (uint8_t i = 0; i < 100; i++) assert_int_equal(send(s, &i, 1, 0), 1);
  assert_true(tt_net_poll(*state, 0));
  assert_int_equal(h.count, 100);
  for (uint8_t i = 0; i < 100; i++) assert_int_equal(h.first[i], i);
  assert_false(tt_net_poll(*state, 0));
  close(s);
}

typedef struct said {
  int count;
  char last[300];
} said;

static void keep(void *context, tt_log_level level, const char *text) {
  said *to = context;
  (void)level;
  to->count++;
  snprintf(to->last, sizeof to->last, "%s", text);
}

/* Once, with the remedy: what never leaves would otherwise look like a peer that is silent. */
static void what_cannot_leave_is_said(void **state) {
  static const struct {
    const char *peer, *remedy;
  } cases[] = {{"192.0.2.1:5802", "bind an address that does"},
               {"[::1]:5802", "both IPv4 or both IPv6"}};
  for (int watched = 0; watched < 2; watched++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      heard h = {0};
      said told = {0};
      tt_udp_options options = tt_udp_options_default();
      options.peer = cases[i].peer;
      options.watch_peer = watched;
      tt_udp *udp = open_udp(*state, options, &h);
      tt_log_divert(keep, &told);
      for (int n = 0; n < 5; n++) assert_int_equal(tt_udp_send(udp, "x", 1), TT_FAILED);
      tt_log_divert(NULL, NULL);
      assert_int_equal(told.count, 1);
      assert_non_null(strstr(told.last, cases[i].peer));
      assert_non_null(strstr(told.last, cases[i].remedy));
      tt_udp_close(udp);
    }
}

static void of_a_flood_the_newest_are_kept(void **state) {
  heard h = {0};
  tt_udp_options options = tt_udp_options_default();
  options.drain_limit = 8;
  tt_udp *udp = open_udp(*state, options, &h);
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  for (uint8_t i = 0; i < 21; i++) assert_int_equal(send(s, &i, 1, 0), 1);
  assert_true(tt_net_poll(*state, 0));
  assert_int_equal(h.count, 8);
  for (uint8_t i = 0; i < 8; i++) assert_int_equal(h.first[i], 13 + i);
  assert_int_equal(tt_udp_overflowed(udp), 13);
  close(s);
}

static void long_datagrams_are_marked(void **state) {
  heard h = {0};
  tt_udp_options options = tt_udp_options_default();
  options.max_datagram = 24;
  tt_udp *udp = open_udp(*state, options, &h);
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  uint8_t bytes[1400] = {0};
  const size_t sizes[] = {0, 1, 24, 25, 1400};
  for (size_t i = 0; i < 5; i++) assert_int_equal(send(s, bytes, sizes[i], 0), (ssize_t)sizes[i]);
  poll_until(*state, &h.count, 5);
  assert_int_equal(h.truncated, 2);
  assert_int_equal(h.last_size, 24);
  close(s);
}

static void a_port_in_use_is_named(void **state) {
  heard h = {0}, other = {0};
  tt_udp *udp = open_udp(*state, tt_udp_options_default(), &h);
  tt_udp_options options = tt_udp_options_default();
  options.bind = tt_udp_address(udp);
  options.on_datagram = hear;
  tt_error error;
  assert_int_equal(tt_udp_open(*state, &options, &other.udp, &error), TT_FAILED);
  assert_non_null(strstr(error.text, tt_udp_address(udp)));
  assert_non_null(strstr(error.text, "in use"));
}

static void strangers_are_refused(void **state) {
  heard h = {0};
  tt_udp_options options = tt_udp_options_default();
  const char *networks[] = {"127.0.0.2/32"};
  options.allow = (tt_allow){networks, 1};
  tt_udp *udp = open_udp(*state, options, &h);
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  assert_int_equal(send(s, "x", 1, 0), 1);
  poll_until(*state, &h.refused, 1);
  assert_int_equal(h.count, 0);
  close(s);
}

static void a_port_where_nobody_is_is_told(void **state) {
  heard h = {0}, there = {0};
  tt_udp *other = open_udp(*state, tt_udp_options_default(), &there);
  char address[TT_ADDRESS_TEXT];
  snprintf(address, sizeof address, "%s", tt_udp_address(other));
  tt_udp_options options = tt_udp_options_default();
  options.peer = address;
  options.watch_peer = true;
  tt_udp *udp = open_udp(*state, options, &h);
  assert_int_equal(tt_udp_send(udp, "x", 1), TT_OK);
  poll_until(*state, &there.count, 1);
  assert_true(tt_udp_unreached(udp) == 0);
  tt_udp_close(other);
  for (uint64_t i = 1; i <= 1000; i++) { /* more than would fit where errors wait */
    assert_int_equal(tt_udp_send(udp, "x", 1), TT_OK);
    uint64_t end = tt_monotonic_ns() + PATIENCE;
    while (tt_udp_unreached(udp) < i && tt_monotonic_ns() < end) tt_net_poll(*state, 1000000);
    assert_true(tt_udp_unreached(udp) == i);
  }
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp)); /* and it still hears */
  assert_int_equal(send(s, "x", 1, 0), 1);
  poll_until(*state, &h.count, 1);
  close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(udp_goes_both_ways),
      NET_TEST(everything_that_arrived_comes_in_one_poll_in_order),
      NET_TEST(what_cannot_leave_is_said),
      NET_TEST(of_a_flood_the_newest_are_kept),
      NET_TEST(long_datagrams_are_marked),
      NET_TEST(a_port_in_use_is_named),
      NET_TEST(strangers_are_refused),
      NET_TEST(a_port_where_nobody_is_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* faults_test.c: faults that a seed repeats: loss, duplicates, delay, another order. */
#include "net/faults.h"
#include "net/internal.h"
#include "net/net_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct fate {
  double at;
  uint8_t id;
} fate;

/* Sends `count` datagrams, one each 10 ms, and notes what comes out when. */
static int fates(const tt_faults *faults, int count, fate *out, int capacity) {
  tt_fault_line line;
  assert_int_equal(tt_fault_line_open(&line, faults, 0, NULL), TT_OK);
  tt_address peer = address_of("127.0.0.1:1");
  int got = 0;
  for (int tick = 0; tick < count + 300; tick++) {
    double time = tick * 0.01;
    uint8_t id = (uint8_t)tick;
    if (tick < count) tt_fault_line_put(&line, time, &id, 1, false, &peer);
    tt_flight flight;
    while (tt_fault_line_take(&line, time, &flight)) {
      assert_true(got < capacity);
      out[got++] = (fate){time, flight.bytes[0]};
      free(flight.bytes);
    }
  }
  tt_fault_line_close(&line);
  return got;
}

static void the_same_seed_has_the_same_faults(void **state) {
  (void)state;
  tt_faults faults = {
      .loss = 0.2, .duplicate = 0.1, .reorder = 0.1, .delay = 0.005, .jitter = 0.03, .seed = 7};
  fate a[1024], b[1024];
  int n = fates(&faults, 200, a, 1024);
  assert_int_equal(fates(&faults, 200, b, 1024), n);
  for (int i = 0; i < n; i++) {
    assert_true(a[i].at == b[i].at);
    assert_int_equal(a[i].id, b[i].id);
  }
  faults.seed = 8;
  int m = fates(&faults, 200, b, 1024);
  bool differs = m != n;
  for (int i = 0; i < n && i < m; i++) differs = differs || a[i].id != b[i].id;
  assert_true(differs);
}

static void loss_and_duplication_have_their_rates(void **state) {
  (void)state;
  static fate out[8192];
  int n = fates(&(tt_faults){.loss = 0.1, .seed = 1}, 4000, out, 8192);
  assert_in_range(n, 3500, 3700);
  n = fates(&(tt_faults){.duplicate = 0.1, .seed = 1}, 4000, out, 8192);
  assert_in_range(n, 4300, 4500);
  assert_int_equal(fates(&(tt_faults){.loss = 1, .seed = 1}, 100, out, 8192), 0);
}

static void delay_and_jitter_are_simulated_time(void **state) {
  (void)state;
  static fate out[1024];
  int n = fates(&(tt_faults){.delay = 0.1, .jitter = 0.05, .seed = 3}, 100, out, 1024);
  assert_int_equal(n, 100);
  for (int i = 0; i < n; i++) {
    double late = out[i].at - out[i].id * 0.01;
    assert_true(late >= 0.1 - 1e-9 && late <= 0.16 + 1e-9); /* found at the next 10 ms */
  }
}

static void reordering_swaps_neighbours_and_loses_nothing(void **state) {
  (void)state;
  static fate out[1024];
  int n = fates(&(tt_faults){.reorder = 0.3, .seed = 5}, 200, out, 1024);
  assert_int_equal(n, 200);
  int swaps = 0;
  for (int i = 1; i < n; i++) swaps += out[i].id < out[i - 1].id;
  assert_in_range(swaps, 20, 100);
}

static void faults_work_in_both_directions_of_an_endpoint(void **state) {
  heard near = {0}, far = {0};
  tt_udp *plain = open_udp(*state, tt_udp_options_default(), &far);
  tt_udp_options options = tt_udp_options_default();
  options.peer = tt_udp_address(plain);
  options.faults = (tt_faults){.delay = 0.05};
  tt_udp *udp = open_udp(*state, options, &near);
  tt_udp_advance(udp, 1);
  assert_int_equal(tt_udp_send(udp, "x", 1), TT_OK);
  assert_int_equal(tt_udp_send_to(plain, "y", 1, tt_udp_address(udp)), TT_OK);
  tt_net_poll(*state, 0);
  tt_udp_advance(udp, 1.04);
  tt_net_poll(*state, 0);
  assert_int_equal(near.count + far.count, 0);
  tt_udp_advance(udp, 0); /* a reset of the world: what is under way stays under way */
  assert_int_equal(near.count, 0);
  tt_udp_advance(udp, 0.02);
  assert_int_equal(near.count, 1);
  poll_until(*state, &far.count, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(the_same_seed_has_the_same_faults),
      NET_TEST(loss_and_duplication_have_their_rates),
      NET_TEST(delay_and_jitter_are_simulated_time),
      NET_TEST(reordering_swaps_neighbours_and_loses_nothing),
      NET_TEST(faults_work_in_both_directions_of_an_endpoint),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* net_test.c: waiting: as long as asked, spun or slept through, and ended by what comes. */
#include "base/clock.h"
#include "net/internal.h"
#include "net/net_testing.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static void waiting_lasts_as_long_as_asked(void **state) {
  for (int i = 0; i < 12; i++) { /* spinning at first, asleep when that was in vain */
    uint64_t start = tt_monotonic_ns();
    assert_false(tt_net_poll(*state, 2000000));
    assert_true(tt_monotonic_ns() - start >= 2000000);
  }
  assert_int_equal(((tt_net *)*state)->spin, 0);
}

static void *wake(void *net) {
  usleep(20000);
  tt_net_wake(net);
  return NULL;
}

static void another_thread_wakes_a_sleeper(void **state) {
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    uint64_t start = tt_monotonic_ns();
    pthread_create(&thread, NULL, wake, *state);
    assert_false(tt_net_poll(*state, PATIENCE));
    assert_true(tt_monotonic_ns() - start < PATIENCE / 2);
    pthread_join(thread, NULL);
  }
}

static void *send_later(void *context) {
  usleep(20000);
  int s = *(int *)context;
  return send(s, "x", 1, 0) == 1 ? NULL : context;
}

static void a_datagram_wakes_a_sleeper(void **state) {
  heard h = {0};
  tt_udp *udp = open_udp(*state, tt_udp_options_default(), &h);
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  pthread_t thread;
  pthread_create(&thread, NULL, send_later, &s);
  assert_true(tt_net_poll(*state, PATIENCE));
  assert_int_equal(h.count, 1);
  pthread_join(thread, NULL);
  close(s);
}

static void the_spin_grows_back_when_answers_come_in_time(void **state) {
  tt_net *net = *state;
  heard h = {0};
  tt_udp *udp = open_udp(net, tt_udp_options_default(), &h);
  tt_net_set_spin(net, PATIENCE); /* any answer is in time, however busy the machine */
  net->spin = 0;
  int s = plain_socket(SOCK_DGRAM, tt_udp_address(udp));
  pthread_t thread;
  pthread_create(&thread, NULL, send_later, &s);
  assert_true(tt_net_poll(net, PATIENCE));
  assert_int_equal(net->spin, PATIENCE);
  pthread_join(thread, NULL);
  close(s);
}

static uint64_t own_cpu_time(void) {
  struct timespec used;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* CPU time of a wait of 20 ms that may spin all the time. */
static uint64_t cost_of_waiting(tt_net *net) {
  tt_net_set_spin(net, PATIENCE);
  uint64_t before = own_cpu_time();
  tt_net_poll(net, 20000000);
  return own_cpu_time() - before;
}

static void where_many_spin_all_sleep(void **state) {
  tt_net *others[64];
  int count = ((tt_net *)*state)->cores < 64 ? ((tt_net *)*state)->cores : 64;
  for (int i = 0; i < count; i++) {
    others[i] = tt_net_new();
    assert_non_null(others[i]);
    cost_of_waiting(others[i]);
  }
  assert_true(cost_of_waiting(*state) < 10000000);
  for (int i = 0; i < count; i++) tt_net_free(others[i]);
  tt_net_set_spin(*state, 0);
  tt_net_poll(*state, 1000);
  assert_false(((tt_net *)*state)->spins);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(waiting_lasts_as_long_as_asked),
      NET_TEST(the_spin_grows_back_when_answers_come_in_time),
      NET_TEST(where_many_spin_all_sleep),
      NET_TEST(another_thread_wakes_a_sleeper),
      NET_TEST(a_datagram_wakes_a_sleeper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

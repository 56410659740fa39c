#include "net/net_testing.h"

#include "base/clock.h"
#include "net/socket_testing.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <cmocka.h>

int net_setup(void **state) {
  *state = tt_net_new();
  return *state ? 0 : -1;
}

int net_teardown(void **state) {
  tt_net_free(*state);
  return 0;
}

void poll_until(tt_net *net, const int *what, int least) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (*what < least && tt_monotonic_ns() < end) tt_net_poll(net, 10000000);
  assert_true(*what >= least);
}

tt_address address_of(const char *text) {
  tt_address address;
  assert_int_equal(tt_address_parse(text, &address, NULL), TT_OK);
  return address;
}

int plain_socket(int type, const char *address) {
  tt_address to = address_of(address);
  int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  assert_true(s >= 0);
  assert_int_equal(connect_to(s, &to.any, tt_address_size(&to)), 0);
  return s;
}

void receive_exactly(int s, void *bytes, size_t size) {
  struct timeval patience = {.tv_sec = 10};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  assert_int_equal(receive_whole(s, bytes, size), (ssize_t)size);
}

void hear(void *context, const uint8_t *bytes, size_t size, bool truncated, const char *peer) {
  heard *heard = context;
  if (heard->count < 1024) heard->first[heard->count] = size ? bytes[0] : 0;
  heard->count++;
  heard->truncated += truncated;
  heard->last_size = size;
  snprintf(heard->last_peer, sizeof heard->last_peer, "%s", peer);
  if (heard->accept) tt_udp_accept_peer(heard->udp);
}

static void hear_refused(void *context, const uint8_t *bytes, size_t size, const char *peer) {
  (void)bytes, (void)size, (void)peer;
  ((heard *)context)->refused++;
}

tt_udp *open_udp(tt_net *net, tt_udp_options options, heard *heard) {
  tt_error error = {""};
  if (!options.bind) options.bind = "127.0.0.1:0";
  options.on_datagram = hear;
  options.on_refused = hear_refused;
  options.context = heard;
  if (tt_udp_open(net, &options, &heard->udp, &error) != TT_OK) fail_msg("%s", error.text);
  return heard->udp;
}

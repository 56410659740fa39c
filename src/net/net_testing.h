/* net_testing.h: what the tests of sockets share. */
#ifndef TT_NET_TESTING_H
#define TT_NET_TESTING_H

#include "net/internal.h"

#include <stdbool.h>
#include <stdint.h>

#define SECOND 1000000000u
#define PATIENCE (10 * (uint64_t)SECOND)

/** A test whose `*state` is a fresh tt_net. */
#define NET_TEST(name) cmocka_unit_test_setup_teardown(name, net_setup, net_teardown)
int net_setup(void **state);
int net_teardown(void **state);

/** Polls until `*what` reaches `least`. */
void poll_until(tt_net *net, const int *what, int least);
tt_address address_of(const char *text);
/** A plain socket that sends to `address` (and, for TCP, is connected to it). */
int plain_socket(int type, const char *address);
void receive_exactly(int s, void *bytes, size_t size);

/** What an endpoint heard. */
typedef struct heard {
  tt_udp *udp;
  int count, truncated, refused;
  bool accept;
  uint8_t first[1024]; /* first byte of each datagram */
  size_t last_size;
  char last_peer[TT_ADDRESS_TEXT];
} heard;
/** A tt_udp's on_datagram, whose context is a heard. */
void hear(void *context, const uint8_t *bytes, size_t size, bool truncated, const char *peer);
/** Opens an endpoint that hears, on a free port unless `options` say otherwise. */
tt_udp *open_udp(tt_net *net, tt_udp_options options, heard *heard);

#endif

/* net_test.c: the sockets of a world, over real loopback. The other side is a plain socket or a second tt_net. */
#include "net/faults.h"
#include "net/internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#define SECOND 1000000000u
#define PATIENCE (10 * (uint64_t)SECOND)

/* --- what the tests share --- */

static int setup(void **state) {
  *state = tt_net_new();
  return *state ? 0 : -1;
}

static int teardown(void **state) {
  tt_net_free(*state);
  return 0;
}

/* Polls until `*what` reaches `least`. */
static void poll_until(tt_net *net, const int *what, int least) {
  uint64_t end = tt_net_now() + PATIENCE;
  while (*what < least && tt_net_now() < end) tt_net_poll(net, 10000000);
  assert_true(*what >= least);
}

static tt_address address_of(const char *text) {
  tt_address address;
  assert_int_equal(tt_address_parse(text, &address, NULL), TT_OK);
  return address;
}

/* A plain socket that sends to `address` (and, for TCP, is connected to it). */
static int plain_socket(int type, const char *address) {
  tt_address to = address_of(address);
  int s = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  assert_true(s >= 0);
  assert_int_equal(connect(s, &to.any, tt_address_size(&to)), 0);
  return s;
}

static void receive_exactly(int s, void *bytes, size_t size) {
  struct timeval patience = {.tv_sec = 10};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  assert_int_equal(recv(s, bytes, size, MSG_WAITALL), (ssize_t)size);
}

/* What an endpoint heard. */
typedef struct heard {
  tt_udp *udp;
  int count, truncated, refused;
  bool accept;
  uint8_t first[1024]; /* first byte of each datagram */
  size_t last_size;
  char last_peer[TT_ADDRESS_TEXT];
} heard;

static void hear(void *context, const uint8_t *bytes, size_t size, bool truncated,
                 const char *peer) {
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

static tt_udp *open_udp(tt_net *net, tt_udp_options options, heard *heard) {
  tt_error error = {""};
  if (!options.bind) options.bind = "127.0.0.1:0";
  options.on_datagram = hear;
  options.on_refused = hear_refused;
  options.context = heard;
  if (tt_udp_open(net, &options, &heard->udp, &error) != TT_OK) fail_msg("%s", error.text);
  return heard->udp;
}

/* --- addresses --- */

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

/* --- UDP --- */

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

/* --- faults --- */

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

/* --- TCP --- */

typedef struct peer {
  tt_tcp *tcp;
  int opened, closed;
  int bytes;
  uint8_t data[1 << 16];
  char reason[128];
  bool echo;
} peer;

static void peer_open(void *context, tt_tcp *tcp) {
  peer *peer = context;
  peer->tcp = tcp;
  peer->opened++;
}

static void peer_data(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  peer *peer = context;
  for (size_t i = 0; i < size; i++, peer->bytes++)
    peer->data[peer->bytes % (int)sizeof peer->data] = bytes[i];
  if (peer->echo) tt_tcp_send(tcp, bytes, size);
}

static void peer_close(void *context, tt_tcp *tcp, const char *reason) {
  peer *peer = context;
  (void)tcp;
  peer->tcp = NULL;
  peer->closed++;
  snprintf(peer->reason, sizeof peer->reason, "%s", reason);
}

static tt_tcp_options options_of(peer *peer) {
  tt_tcp_options options = tt_tcp_options_default();
  options.address = "127.0.0.1:0";
  options.handler =
      (tt_tcp_handler){.on_open = peer_open, .on_data = peer_data, .on_close = peer_close};
  options.context = peer;
  return options;
}

static tt_tcp_server *listen_with(tt_net *net, const tt_tcp_options *options) {
  tt_tcp_server *server;
  tt_error error = {""};
  if (tt_tcp_listen(net, options, &server, &error) != TT_OK) fail_msg("%s", error.text);
  return server;
}

static void tcp_echoes_and_sees_the_end(void **state) {
  peer server_side = {.echo = true};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  assert_int_equal(send(s, "ping", 4, 0), 4);
  poll_until(*state, &server_side.bytes, 4);
  char back[4];
  receive_exactly(s, back, 4);
  assert_memory_equal(back, "ping", 4);
  close(s);
  poll_until(*state, &server_side.closed, 1);
  assert_string_equal(server_side.reason, "closed by peer");
}

static void a_reset_is_told_apart(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  struct linger hard = {.l_onoff = 1};
  setsockopt(s, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close(s);
  poll_until(*state, &server_side.closed, 1);
  assert_string_equal(server_side.reason, "reset by peer");
}

static void connections_are_tuned(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.dead_after = 6;
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  /* The server's end is the youngest descriptor after ours that has the option: look for it. */
  int found = 0;
  for (int fd = 3; fd < 256; fd++) {
    tt_address name = {0};
    socklen_t size = sizeof name;
    if (fd == s || getpeername(fd, &name.any, &size) != 0) continue;
    int no_delay = 0, timeout = 0, alive = 0;
    size = sizeof(int);
    getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
    getsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, &size);
    getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &alive, &size);
    found += no_delay && alive && timeout == 6000;
  }
  assert_int_equal(found, 1);
  close(s);
}

static void beyond_the_cap_connections_are_refused(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.max_connections = 2;
  tt_tcp_server *server = listen_with(*state, &options);
  int s[5];
  for (int i = 0; i < 5; i++) s[i] = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 2);
  while (tt_tcp_server_refused(server) < 3) tt_net_poll(*state, 1000000);
  assert_int_equal(server_side.opened, 2);
  char byte;
  assert_int_equal(recv(s[4], &byte, 1, 0), 0); /* closed at once */
  close(s[0]);
  poll_until(*state, &server_side.closed, 1);
  int again =
      plain_socket(SOCK_STREAM, tt_tcp_server_address(server)); /* the place is free again */
  poll_until(*state, &server_side.opened, 3);
  close(again);
  for (int i = 1; i < 5; i++) close(s[i]);
}

static void without_descriptors_connections_are_refused_and_the_server_lives(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  struct rlimit before, none;
  getrlimit(RLIMIT_NOFILE, &before);
  none = before;
  none.rlim_cur = (rlim_t)s + 1; /* all below are taken */
  setrlimit(RLIMIT_NOFILE, &none);
  while (tt_tcp_server_refused(server) < 1) tt_net_poll(*state, 1000000);
  setrlimit(RLIMIT_NOFILE, &before);
  assert_int_equal(server_side.opened, 0);
  int again = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  close(again);
  close(s);
}

static void a_slow_reader_is_cut(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.max_queued = 100000;
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  static uint8_t block[4096];
  tt_status status = TT_OK;
  for (int i = 0; i < 100000 && status == TT_OK; i++)
    status = tt_tcp_send(server_side.tcp, block, sizeof block);
  assert_int_equal(status, TT_FULL);
  poll_until(*state, &server_side.closed, 1);
  assert_non_null(strstr(server_side.reason, "slow"));
  close(s);
}

static void *read_all(void *context) {
  int s = *(int *)context;
  static uint8_t block[65536];
  size_t total = 0;
  for (ssize_t got; (got = recv(s, block, sizeof block, 0)) > 0;)
    for (ssize_t i = 0; i < got; i++, total++)
      if (block[i] != (uint8_t)(total * 31 >> 3)) return (void *)1;
  return total == 4000000 ? NULL : (void *)1;
}

static void what_the_kernel_does_not_take_goes_later_in_order(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.max_queued = 4000000;
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  uint8_t *bytes = malloc(4000000);
  for (size_t i = 0; i < 4000000; i++) bytes[i] = (uint8_t)(i * 31 >> 3);
  assert_int_equal(tt_tcp_send(server_side.tcp, bytes, 4000000), TT_OK);
  free(bytes);
  assert_true(tt_tcp_queued(server_side.tcp) > 0);
  pthread_t reader;
  pthread_create(&reader, NULL, read_all, &s);
  while (server_side.tcp && tt_tcp_queued(server_side.tcp)) tt_net_poll(*state, 1000000);
  tt_tcp_close(server_side.tcp, "done");
  poll_until(*state, &server_side.closed, 1);
  assert_string_equal(server_side.reason, "done");
  void *wrong;
  pthread_join(reader, &wrong);
  assert_null(wrong);
  close(s);
}

static void a_paused_connection_is_not_read(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 1);
  tt_tcp_pause(server_side.tcp, true);
  assert_int_equal(send(s, "wait", 4, 0), 4);
  for (int i = 0; i < 20; i++) tt_net_poll(*state, 1000000);
  assert_int_equal(server_side.bytes, 0);
  tt_tcp_pause(server_side.tcp, false);
  poll_until(*state, &server_side.bytes, 4);
  close(s);
}

static void a_client_connects_and_reconnects(void **state) {
  peer server_side = {.echo = true}, client_side = {0};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  char address[TT_ADDRESS_TEXT];
  snprintf(address, sizeof address, "%s", tt_tcp_server_address(server));
  tt_tcp_options client_options = options_of(&client_side);
  client_options.address = address;
  client_options.reconnect = 0.01;
  tt_tcp_client *client;
  assert_int_equal(tt_tcp_connect(*state, &client_options, &client, NULL), TT_OK);
  poll_until(*state, &client_side.opened, 1);
  assert_int_equal(tt_tcp_send(client_side.tcp, "ping", 4), TT_OK);
  poll_until(*state, &client_side.bytes, 4);
  tt_tcp_server_close(server);
  poll_until(*state, &client_side.closed, 1);
  for (int i = 0; i < 5; i++) tt_net_poll(*state, 5000000); /* attempts that fail */
  assert_int_equal(client_side.opened, 1);
  options.address = address;
  server = listen_with(*state, &options);
  poll_until(*state, &client_side.opened, 2);
  tt_tcp_client_close(client);
  poll_until(*state, &server_side.closed, 1);
}

static void a_single_attempt_that_fails_is_told(void **state) {
  peer client_side = {0};
  tt_tcp_options nobody = options_of(&client_side);
  tt_tcp_server *server = listen_with(*state, &nobody);
  char address[TT_ADDRESS_TEXT];
  snprintf(address, sizeof address, "%s", tt_tcp_server_address(server));
  tt_tcp_server_close(server);
  nobody.address = address;
  nobody.reconnect = 0;
  tt_tcp_client *client;
  assert_int_equal(tt_tcp_connect(*state, &nobody, &client, NULL), TT_OK);
  poll_until(*state, &client_side.closed, 1);
  assert_non_null(strstr(client_side.reason, "refused"));
  tt_tcp_client_close(client);
}

static void many_connections_are_served(void **state) {
  enum { MANY = 12 }; /* more than are read directly */
  peer server_side = {.echo = true};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  int s[MANY];
  for (int i = 0; i < MANY; i++) s[i] = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, MANY);
  for (int i = 0; i < MANY; i++) assert_int_equal(send(s[i], &i, sizeof i, 0), sizeof i);
  poll_until(*state, &server_side.bytes, MANY * (int)sizeof(int));
  for (int i = 0; i < MANY; i++) {
    int back;
    receive_exactly(s[i], &back, sizeof back);
    assert_int_equal(back, i);
    close(s[i]);
  }
  poll_until(*state, &server_side.closed, MANY);
}

static void close_in_callback(void *context, tt_tcp *tcp, const uint8_t *bytes, size_t size) {
  peer_data(context, tcp, bytes, size);
  tt_tcp_close(tcp, "enough");
  tt_tcp_close(tcp, "twice");
  assert_int_equal(tt_tcp_send(tcp, "x", 1), TT_CLOSED);
}

static void a_connection_may_be_closed_by_its_own_callback(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.handler.on_data = close_in_callback;
  tt_tcp_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  assert_int_equal(send(s, "x", 1, 0), 1);
  poll_until(*state, &server_side.closed, 1);
  assert_string_equal(server_side.reason, "enough");
  assert_int_equal(server_side.closed, 1);
  close(s);
}

/* --- waiting --- */

static void waiting_lasts_as_long_as_asked(void **state) {
  for (int i = 0; i < 12; i++) { /* spinning at first, asleep when that was in vain */
    uint64_t start = tt_net_now();
    assert_false(tt_net_poll(*state, 2000000));
    assert_true(tt_net_now() - start >= 2000000);
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
    uint64_t start = tt_net_now();
    pthread_create(&thread, NULL, wake, *state);
    assert_false(tt_net_poll(*state, PATIENCE));
    assert_true(tt_net_now() - start < PATIENCE / 2);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(addresses_are_read_and_written),
      TEST(bad_addresses_are_refused_with_the_remedy),
      TEST(a_public_address_needs_a_list),
      TEST(networks_contain_what_they_should),
      TEST(udp_goes_both_ways),
      TEST(everything_that_arrived_comes_in_one_poll_in_order),
      TEST(of_a_flood_the_newest_are_kept),
      TEST(long_datagrams_are_marked),
      TEST(a_port_in_use_is_named),
      TEST(strangers_are_refused),
      TEST(the_same_seed_has_the_same_faults),
      TEST(loss_and_duplication_have_their_rates),
      TEST(delay_and_jitter_are_simulated_time),
      TEST(reordering_swaps_neighbours_and_loses_nothing),
      TEST(faults_work_in_both_directions_of_an_endpoint),
      TEST(tcp_echoes_and_sees_the_end),
      TEST(a_reset_is_told_apart),
      TEST(connections_are_tuned),
      TEST(beyond_the_cap_connections_are_refused),
      TEST(without_descriptors_connections_are_refused_and_the_server_lives),
      TEST(a_slow_reader_is_cut),
      TEST(what_the_kernel_does_not_take_goes_later_in_order),
      TEST(a_paused_connection_is_not_read),
      TEST(a_client_connects_and_reconnects),
      TEST(a_single_attempt_that_fails_is_told),
      TEST(many_connections_are_served),
      TEST(a_connection_may_be_closed_by_its_own_callback),
      TEST(waiting_lasts_as_long_as_asked),
      TEST(the_spin_grows_back_when_answers_come_in_time),
      TEST(where_many_spin_all_sleep),
      TEST(another_thread_wakes_a_sleeper),
      TEST(a_datagram_wakes_a_sleeper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

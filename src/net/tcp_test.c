/* tcp_test.c: connections over real loopback; the other side is a plain socket or a second tt_net. */
#include "net/internal.h"
#include "net/net_testing.h"
#include "net/socket_testing.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

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
  assert_int_equal(receive_part(s[4], &byte, 1), 0); /* closed at once */
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

/** Bytes that are sent at a time, until the kernel takes no more: how much that is depends on its other connections. */
#define PART 4000000
#define MOST_PARTS 50

static uint8_t byte_at(size_t place) { return (uint8_t)(place * 31 >> 3); }

typedef struct reading {
  int socket;
  size_t expected;
} reading;

static void *read_all(void *context) {
  const reading *of = context;
  static uint8_t block[65536];
  size_t total = 0;
  for (ssize_t got; (got = receive_part(of->socket, block, sizeof block)) > 0;)
    for (ssize_t i = 0; i < got; i++, total++)
      if (block[i] != byte_at(total)) return (void *)1;
  return total == of->expected ? NULL : (void *)1;
}

/** Sends parts until some of it waits; how many bytes. */
static size_t send_until_it_waits(tt_tcp *tcp) {
  uint8_t *bytes = malloc(PART);
  size_t sent = 0;
  assert_non_null(bytes);
  for (int part = 0; part < MOST_PARTS && !tt_tcp_queued(tcp); part++) {
    for (size_t i = 0; i < PART; i++) bytes[i] = byte_at(sent + i);
    assert_int_equal(tt_tcp_send(tcp, bytes, PART), TT_OK);
    sent += PART;
  }
  free(bytes);
  return sent;
}

static void what_the_kernel_does_not_take_goes_later_in_order(void **state) {
  peer server_side = {0};
  tt_tcp_options options = options_of(&server_side);
  options.max_queued = PART;
  tt_tcp_server *server = listen_with(*state, &options);
  reading of = {.socket = plain_socket(SOCK_STREAM, tt_tcp_server_address(server))};
  poll_until(*state, &server_side.opened, 1);
  of.expected = send_until_it_waits(server_side.tcp);
  assert_true(tt_tcp_queued(server_side.tcp) > 0);
  pthread_t reader;
  pthread_create(&reader, NULL, read_all, &of);
  while (server_side.tcp && tt_tcp_queued(server_side.tcp)) tt_net_poll(*state, 1000000);
  tt_tcp_close(server_side.tcp, "done");
  poll_until(*state, &server_side.closed, 1);
  assert_string_equal(server_side.reason, "done");
  void *wrong;
  pthread_join(reader, &wrong);
  assert_null(wrong);
  close(of.socket);
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
  listen_with(*state, &options);
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

/* Who ends hears nothing more, also of what was closed just before. */
static void ends_are_not_told_to_who_has_ended(void **state) {
  peer server_side = {0}, client_side = {0};
  tt_tcp_options options = options_of(&server_side);
  tt_tcp_server *server = listen_with(*state, &options);
  tt_tcp_options own = options_of(&client_side);
  own.address = tt_tcp_server_address(server);
  tt_tcp_client *client;
  assert_int_equal(tt_tcp_connect(*state, &own, &client, NULL), TT_OK);
  poll_until(*state, &client_side.opened, 1);
  poll_until(*state, &server_side.opened, 1);
  int s = plain_socket(SOCK_STREAM, tt_tcp_server_address(server));
  poll_until(*state, &server_side.opened, 2);
  tt_tcp_close(server_side.tcp, "just before");
  tt_tcp_close(client_side.tcp, "just before");
  tt_tcp_server_close(server);
  tt_tcp_client_close(client);
  for (int turn = 0; turn < 10; turn++) tt_net_poll(*state, 1000000);
  assert_int_equal(server_side.closed + client_side.closed, 0);
  close(s);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(tcp_echoes_and_sees_the_end),
      NET_TEST(a_reset_is_told_apart),
      NET_TEST(connections_are_tuned),
      NET_TEST(beyond_the_cap_connections_are_refused),
      NET_TEST(without_descriptors_connections_are_refused_and_the_server_lives),
      NET_TEST(a_slow_reader_is_cut),
      NET_TEST(what_the_kernel_does_not_take_goes_later_in_order),
      NET_TEST(a_paused_connection_is_not_read),
      NET_TEST(a_client_connects_and_reconnects),
      NET_TEST(a_single_attempt_that_fails_is_told),
      NET_TEST(many_connections_are_served),
      NET_TEST(a_connection_may_be_closed_by_its_own_callback),
      NET_TEST(ends_are_not_told_to_who_has_ended),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

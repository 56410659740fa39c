/* websocket_test.c: connections over real loopback. The other side is a plain socket that speaks the RFC's bytes, or our
 * own client.
 */
#include "base/clock.h"
#include "websocket/websocket.h"

#include "net/net_testing.h"
#include "net/socket_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define REQUEST(path)                                                                              \
  "GET " path                                                                                      \
  " HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                          \
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
#define WELCOME                                                                                    \
  "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"              \
  "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n"

typedef struct side {
  tt_websocket *websocket;
  int opened, closed, messages, requests, code;
  bool text, echo, close_at_once;
  bool slow;  /* it takes 20 ms for a message */
  int answer; /* to requests */
  size_t bytes, size;
  char last[256];
  char reason[160];
  char offered[2][64];
  int offered_count;
  const char *choose;
} side;

static void on_request(void *context, const tt_websocket_request *request,
                       tt_websocket_answer *answer) {
  side *side = context;
  side->requests++;
  assert_int_equal(answer->status, 404);
  side->offered_count = request->protocol_count;
  for (int i = 0; i < request->protocol_count && i < 2; i++)
    snprintf(side->offered[i], sizeof side->offered[i], "%s", request->protocols[i]);
  if (strcmp(request->path, "/here") == 0) answer->status = side->answer;
  answer->protocol = side->choose;
}

static void on_open(void *context, tt_websocket *websocket) {
  side *side = context;
  side->opened++;
  side->websocket = websocket;
  if (side->close_at_once) tt_websocket_close(websocket, 1001, "going");
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  side *side = context;
  side->messages++;
  side->text = text;
  side->size = size;
  side->bytes += size;
  snprintf(side->last, sizeof side->last, "%.*s", (int)(size < 200 ? size : 200),
           (const char *)bytes);
  if (side->slow) usleep(20000);
  if (side->echo) tt_websocket_send(websocket, text, bytes, size);
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  side *side = context;
  if (websocket) side->websocket = NULL;
  side->closed++;
  side->code = code;
  snprintf(side->reason, sizeof side->reason, "%s", reason);
}

static tt_websocket_options options_of(side *side) {
  tt_websocket_options options = tt_websocket_options_default();
  if (!side->answer) side->answer = 101;
  options.address = "127.0.0.1:0";
  options.handler = (tt_websocket_handler){
      .on_request = on_request, .on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = side;
  return options;
}

static tt_websocket_server *listen_with(tt_net *net, const tt_websocket_options *options) {
  tt_websocket_server *server;
  tt_error error = {""};
  if (tt_websocket_listen(net, options, &server, &error) != TT_OK) fail_msg("%s", error.text);
  return server;
}

static tt_websocket_server *listen_as(tt_net *net, side *side) {
  tt_websocket_options options = options_of(side);
  return listen_with(net, &options);
}

static void say(int s, const void *bytes, size_t size) {
  assert_int_equal(send(s, bytes, size, MSG_NOSIGNAL), (ssize_t)size);
}

static void expect(tt_net *net, int s, const void *bytes, size_t size) {
  uint8_t got[1024];
  size_t have = 0;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (have < size && tt_monotonic_ns() < end) {
    tt_net_poll(net, 1000000);
    ssize_t part = recv(s, got + have, size - have, MSG_DONTWAIT);
    if (part == 0) break;
    if (part > 0) have += (size_t)part;
  }
  assert_int_equal(have, size);
  assert_memory_equal(got, bytes, size);
}

static void expect_end(tt_net *net, int s) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  char byte;
  for (;;) {
    tt_net_poll(net, 1000000);
    ssize_t part = recv(s, &byte, 1, MSG_DONTWAIT);
    if (part == 0 || (part < 0 && errno == ECONNRESET)) break;
    assert_true(tt_monotonic_ns() < end);
  }
}

/* A plain socket whose handshake is done. */
static int enter(tt_net *net, const tt_websocket_server *server) {
  int s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, REQUEST("/here"), sizeof REQUEST("/here") - 1);
  expect(net, s, WELCOME, sizeof WELCOME - 1);
  return s;
}

/* A client's frame, masked, as one is written by hand. */
static size_t frame(uint8_t *out, int first, const void *payload, size_t size) {
  static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
  size_t at = 0;
  out[at++] = (uint8_t)first;
  if (size < 126) {
    out[at++] = (uint8_t)(0x80 | size);
  } else {
    out[at++] = 0x80 | 126;
    out[at++] = (uint8_t)(size >> 8);
    out[at++] = (uint8_t)size;
  }
  memcpy(out + at, mask, 4);
  at += 4;
  for (size_t i = 0; i < size; i++) out[at++] = ((const uint8_t *)payload)[i] ^ mask[i % 4];
  return at;
}

static void say_frame(int s, int first, const void *payload, size_t size) {
  uint8_t bytes[70000];
  say(s, bytes, frame(bytes, first, payload, size));
}

static void the_rfcs_bytes(void **state) {
  side server_side = {.echo = true};
  tt_websocket_server *server = listen_as(*state, &server_side);
  int s = enter(*state, server);
  /* section 5.7: a masked "Hello", and its unmasked answer */
  say(s, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11);
  expect(*state, s, "\x81\x05Hello", 7);
  assert_true(server_side.text);
  assert_string_equal(tt_websocket_path(server_side.websocket), "/here");
  assert_string_equal(tt_websocket_protocol(server_side.websocket), "");
  /* a fragmented one, with a ping between its parts */
  say_frame(s, 0x01, "Hel", 3);
  say_frame(s, 0x89, "p", 1);
  say_frame(s, 0x80, "lo", 2);
  expect(*state, s, "\x8a\x01p\x81\x05Hello", 10);
  /* 256 bytes, binary: the longer form of a length */
  uint8_t many[256] = {1, 2, 3}, answer[260] = {0x82, 0x7e, 0x01, 0x00};
  memcpy(answer + 4, many, 256);
  say_frame(s, 0x82, many, 256);
  expect(*state, s, answer, 260);
  assert_false(server_side.text);
  /* goodbye, with its code and reason */
  say_frame(s, 0x88,
            "\x03\xe8"
            "bye",
            5);
  expect(*state, s,
         "\x88\x05\x03\xe8"
         "bye",
         7);
  expect_end(*state, s);
  poll_until(*state, &server_side.closed, 1);
  assert_int_equal(server_side.code, 1000);
  assert_string_equal(server_side.reason, "bye");
  close(s);
}

/* What a peer must not do ends its connection with the code of the RFC. */
static void who_breaks_the_protocol_is_told(void **state) {
  static const struct {
    const char *bytes;
    size_t size;
    int code;
    const char *reason;
  } wrong[] = {
      {"\x81\x05Hello", 7, 1002, "broke the protocol"},                 /* unmasked */
      {"\xf1\x80\x37\xfa\x21\x3d", 6, 1002, "broke the protocol"},      /* reserved bits */
      {"\x83\x80\x37\xfa\x21\x3d", 6, 1002, "broke the protocol"},      /* reserved opcode */
      {"\x80\x80\x37\xfa\x21\x3d", 6, 1002, "broke the protocol"},      /* continues nothing */
      {"\x09\x80\x37\xfa\x21\x3d", 6, 0, "broke the protocol"},         /* a ping in parts */
      {"\x89\xfe\x00\x7e\x37\xfa\x21\x3d", 8, 0, "broke the protocol"}, /* a long ping */
      {"\x81\x82\0\0\0\0\xc3\x28", 8, 1007, "not UTF-8"},               /* broken UTF-8 */
      {"\x82\xfe\x04\x01\0\0\0\0x", 9, 1009, "too long a message"},     /* 1,025 bytes */
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    side server_side = {.echo = true};
    tt_websocket_options options = options_of(&server_side);
    options.max_message = 1024;
    tt_websocket_server *server = listen_with(*state, &options);
    int s = enter(*state, server);
    say(s, wrong[i].bytes, wrong[i].size);
    uint8_t goodbye[4] = {0x88, 0x02, (uint8_t)(wrong[i].code >> 8), (uint8_t)wrong[i].code};
    if (wrong[i].code)
      expect(*state, s, goodbye, 4);
    else /* where the frame itself is impossible, wslay gives no code */
      expect(*state, s, "\x88\x00", 2);
    poll_until(*state, &server_side.closed, 1);
    assert_int_equal(server_side.code, 1006);
    assert_non_null(strstr(server_side.reason, wrong[i].reason));
    assert_int_equal(server_side.messages, 0);
    close(s);
    tt_websocket_server_close(server);
  }
}

static void our_goodbye_is_answered_or_times_out(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  int s = enter(*state, server);
  tt_websocket *websocket = server_side.websocket;
  tt_websocket_close(websocket, 1001, "the world ends");
  assert_int_equal(tt_websocket_send(websocket, true, "x", 1), TT_CLOSED);
  tt_websocket_close(websocket, 1000, "again");
  expect(*state, s, "\x88\x10\x03\xe9the world ends", 18);
  say_frame(s, 0x81, "too late", 8);
  say_frame(s, 0x88, "\x03\xe9", 2);
  expect_end(*state, s);
  poll_until(*state, &server_side.closed, 1);
  assert_int_equal(server_side.code, 1001);
  assert_string_equal(server_side.reason, "the world ends");
  assert_int_equal(server_side.messages, 0);
  close(s);
  /* one that never answers is not waited for */
  s = enter(*state, server);
  tt_websocket_close(server_side.websocket, 1001, "the world ends");
  poll_until(*state, &server_side.closed, 2);
  assert_int_equal(server_side.code, 1006);
  close(s);
}

static void a_long_reason_is_cut_between_characters(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  int s = enter(*state, server);
  char reason[200] = "x";
  for (int i = 1; i < 180; i += 2) memcpy(reason + i, "\xc3\xa4", 3);
  tt_websocket_close(server_side.websocket, 1000, reason);
  expect(*state, s, "\x88\x79\x03\xe8x\xc3\xa4", 7); /* 2 + 119 bytes: 1 + 59 × 2 */
  close(s);
}

static void plain_requests_get_what_the_handler_says(void **state) {
  side server_side = {.answer = 200};
  tt_websocket_server *server = listen_as(*state, &server_side);
#define PLAIN "GET /here HTTP/1.1\r\nHost: a\r\n\r\n"
  int s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, PLAIN, sizeof PLAIN - 1);
  expect(*state, s, "HTTP/1.1 200 OK\r\n", 17);
  expect_end(*state, s);
  close(s);
  server_side.answer = 101; /* somebody who does not ask for it gets no WebSocket */
  s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, PLAIN, sizeof PLAIN - 1);
  expect(*state, s, "HTTP/1.1 426 Upgrade Required\r\n", 31);
  expect_end(*state, s);
  close(s);
  s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, REQUEST("/elsewhere"), sizeof REQUEST("/elsewhere") - 1);
  expect(*state, s, "HTTP/1.1 404 Not Found\r\n", 24);
  close(s);
  s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, "nonsense\r\n\r\n", 12);
  expect(*state, s, "HTTP/1.1 400 Bad Request\r\n", 26);
  close(s);
  assert_int_equal(server_side.opened + server_side.closed, 0);
}

static void a_head_has_limits_of_size_and_time(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_options options = options_of(&server_side);
  options.handshake_timeout = 0.05;
  tt_websocket_server *server = listen_with(*state, &options);
  int s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, "GET / HTTP/1.1\r\n", 16);
  expect_end(*state, s);
  close(s);
  options.handshake_timeout = 60;
  server = listen_with(*state, &options);
  s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  char many[10000];
  memset(many, 'x', sizeof many);
  say(s, many, sizeof many);
  expect_end(*state, s);
  close(s);
  assert_int_equal(server_side.requests, 0);
}

/* Who connects and says nothing, or half of it, takes nobody's place. */
static void who_never_asks_shuts_nobody_out(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_options options = options_of(&server_side);
  options.max_connections = 2;
  options.handshake_timeout = 600;
  tt_websocket_server *server = listen_with(*state, &options);
  int silent[200];
  for (int i = 0; i < 200; i++) {
    silent[i] = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
    if (i % 2) say(silent[i], "GET / HTTP/1.1\r\n", 16);
    tt_net_poll(*state, 0);
  }
  int first = enter(*state, server), second = enter(*state, server);
  assert_int_equal(server_side.opened, 2);
  int third = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(third, REQUEST("/here"), sizeof REQUEST("/here") - 1);
  expect(*state, third, "HTTP/1.1 503 Service Unavailable\r\n", 34);
  expect_end(*state, third);
  expect_end(*state, silent[0]); /* the oldest gave way; the newest may still ask */
  say(silent[198], REQUEST("/elsewhere"), sizeof REQUEST("/elsewhere") - 1);
  expect(*state, silent[198], "HTTP/1.1 404 Not Found\r\n", 24);
  for (int i = 0; i < 200; i++) close(silent[i]);
  close(first), close(second), close(third);
}

/* Any page that a browser has open may come in. */
static void pages_of_other_sites_leave_room_for_others(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  static const char foreign[] =
      "GET /here HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Origin: https://elsewhere.example\r\n"
      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
  int pages[16], own[4];
  for (int i = 0; i < 16; i++) {
    pages[i] = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
    say(pages[i], foreign, sizeof foreign - 1);
    expect(*state, pages[i], i < 12 ? "HTTP/1.1 101" : "HTTP/1.1 503", 12);
  }
  for (int i = 0; i < 4; i++) own[i] = enter(*state, server);
  assert_int_equal(server_side.opened, 16);
  for (int i = 0; i < 16; i++) close(pages[i]);
  for (int i = 0; i < 4; i++) close(own[i]);
}

/* Bytes may come in any portions: a head byte by byte, frames together with it. */
static void portions_do_not_matter(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  uint8_t all[512];
  size_t size = sizeof REQUEST("/here") - 1;
  memcpy(all, REQUEST("/here"), size);
  size += frame(all + size, 0x81, "one", 3);
  size += frame(all + size, 0x81, "two", 3);
  int s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  say(s, all, size);
  poll_until(*state, &server_side.messages, 2);
  assert_string_equal(server_side.last, "two");
  expect(*state, s, WELCOME, sizeof WELCOME - 1);
  close(s);
  poll_until(*state, &server_side.closed, 1);
  assert_int_equal(server_side.code, 1006);
  assert_string_equal(server_side.reason, "closed by peer");
  s = plain_socket(SOCK_STREAM, tt_websocket_server_address(server));
  for (size_t i = 0; i < size; i++) {
    say(s, all + i, 1);
    tt_net_poll(*state, 0);
  }
  poll_until(*state, &server_side.messages, 4);
  close(s);
}

/* Who floods gets a few frames a turn: a turn stays short, others are heard, and nothing is lost. */
static void a_flood_leaves_turns_to_others(void **state) {
  side server_side = {.answer = 101}, quiet_side = {.echo = true};
  tt_websocket_options options = options_of(&server_side);
  options.frames_a_turn = 10;
  tt_websocket_server *server = listen_with(*state, &options);
  tt_websocket_server *quiet_server = listen_as(*state, &quiet_side);
  int quiet = enter(*state, quiet_server);
  int s = enter(*state, server);
  uint8_t flood[2000 * 7];
  size_t size = 0;
  for (int i = 0; i < 2000; i++) size += frame(flood + size, i % 2 ? 0x81 : 0x89, "x", 1);
  say(s, flood, size);
  say_frame(quiet, 0x81, "hello", 5);
  int most = 0, heard_after = -1;
  while (server_side.messages < 1000) {
    int before = server_side.messages;
    tt_net_poll(*state, 10000000);
    if (server_side.messages - before > most) most = server_side.messages - before;
    if (heard_after < 0 && quiet_side.messages > 0) heard_after = server_side.messages;
  }
  /* wslay takes CHUNK bytes at once, 73 frames of 7 bytes; a poll may look twice */
  assert_true(most <= 170);
  assert_true(heard_after >= 0 && heard_after <= 340);
  close(s);
  close(quiet);
}

/* Pongs to one who does not read are no way to fill our memory. */
static void who_pings_and_never_reads_is_cut(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_options options = options_of(&server_side);
  options.max_queued = 10000;
  tt_websocket_server *server = listen_with(*state, &options);
  int s = enter(*state, server);
  uint8_t flood[65536];
  char load[125] = "";
  size_t size = 0;
  while (size + 140 < sizeof flood) size += frame(flood + size, 0x89, load, sizeof load);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (server_side.closed == 0 && tt_monotonic_ns() < end) {
    send(s, flood, size,
         MSG_DONTWAIT |
             MSG_NOSIGNAL); /* parts make frames that are wrong; the queue is full before */
    for (int i = 0; i < 100; i++) tt_net_poll(*state, 0);
  }
  assert_int_equal(server_side.closed, 1);
  close(s);
}

static void slow_readers_are_cut(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_options options = options_of(&server_side);
  options.max_queued = 100000;
  tt_websocket_server *server = listen_with(*state, &options);
  int s = enter(*state, server);
  static const char load[50000];
  tt_status status = TT_OK;
  for (int i = 0; i < 10000 && status == TT_OK; i++)
    status = tt_websocket_send(server_side.websocket, false, load, sizeof load);
  assert_int_equal(status, TT_FULL);
  assert_int_equal(tt_websocket_send(server_side.websocket, false, load, 1), TT_CLOSED);
  poll_until(*state, &server_side.closed, 1);
  assert_non_null(strstr(server_side.reason, "slow"));
  close(s);
}

static void pings_find_out_who_is_gone(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  int s = enter(*state, server);
  tt_websocket_ping(server_side.websocket, 0.02, 0.2);
  expect(*state, s, "\x89\x00", 2);
  uint64_t began = tt_monotonic_ns();
  while (tt_monotonic_ns() - began < 400000000) { /* twice the timeout: who answers stays */
    tt_net_poll(*state, 1000000);
    uint8_t got[64];
    if (recv(s, got, sizeof got, MSG_DONTWAIT) > 0) say_frame(s, 0x8a, "", 0);
  }
  assert_int_equal(server_side.closed, 0);
  poll_until(*state, &server_side.closed, 1);
  assert_non_null(strstr(server_side.reason, "pings"));
  close(s);
}

/* Who is listened to slowly is not silent: what waits here is its own. */
static void whose_messages_wait_here_is_not_gone(void **state) {
  side server_side = {.answer = 101, .slow = true};
  tt_websocket_options options = options_of(&server_side);
  options.frames_a_turn = 1;
  tt_websocket_server *server = listen_with(*state, &options);
  int s = enter(*state, server);
  tt_websocket_ping(server_side.websocket, 0.02, 0.1);
  static char load[100];
  memset(load, 'x', sizeof load);
  for (int i = 0; i < 60; i++) say_frame(s, 0x81, load, sizeof load); /* of 20 ms each, at once */
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (server_side.messages < 60 && !server_side.closed && tt_monotonic_ns() < end)
    tt_net_poll(*state, 1000000);
  assert_int_equal(server_side.messages, 60);
  close(s);
}

static tt_websocket_client *connect_to_server(tt_net *net, side *side,
                                              const tt_websocket_server *server, const char *path,
                                              double reconnect) {
  static char url[256];
  static const char *const protocols[] = {"first", "second"};
  snprintf(url, sizeof url, "ws://%s%s", tt_websocket_server_address(server), path);
  tt_websocket_options options = options_of(side);
  options.url = url;
  options.protocols = protocols;
  options.protocol_count = 2;
  options.reconnect = reconnect;
  tt_websocket_client *client;
  tt_error error = {""};
  if (tt_websocket_connect(net, &options, &client, &error) != TT_OK) fail_msg("%s", error.text);
  return client;
}

static void our_client_and_our_server(void **state) {
  side server_side = {.echo = true, .choose = "second"}, client_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  tt_websocket_client *client = connect_to_server(*state, &client_side, server, "/here", 0.02);
  poll_until(*state, &client_side.opened, 1);
  assert_int_equal(server_side.offered_count, 2);
  assert_string_equal(server_side.offered[0], "first");
  assert_string_equal(tt_websocket_protocol(client_side.websocket), "second");
  static char load[300000];
  memset(load, 'a', sizeof load);
  assert_int_equal(tt_websocket_send(client_side.websocket, true, load, sizeof load), TT_OK);
  poll_until(*state, &client_side.messages, 1);
  assert_int_equal(client_side.size, sizeof load);
  /* the server ends it; the client comes back */
  tt_websocket_close(server_side.websocket, 1012, "restarting");
  poll_until(*state, &client_side.closed, 1);
  assert_int_equal(client_side.code, 1012);
  assert_string_equal(client_side.reason, "restarting");
  poll_until(*state, &client_side.opened, 2);
  poll_until(*state, &server_side.opened, 2);
  tt_websocket_client_close(client);
  poll_until(*state, &server_side.closed, 2);
  assert_int_equal(client_side.closed, 1);
}

static void a_client_hears_why_it_is_refused(void **state) {
  side server_side = {.answer = 101}, client_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  tt_websocket_client *client = connect_to_server(*state, &client_side, server, "/nowhere", 0.01);
  poll_until(*state, &client_side.closed, 2);
  assert_string_equal(client_side.reason, "the server answered 404 Not Found");
  assert_int_equal(client_side.code, 0);
  assert_int_equal(client_side.opened, 0);
  tt_websocket_client_close(client);
  tt_websocket_server_close(server);
  tt_websocket_options options = options_of(&client_side);
  options.url = "wss://127.0.0.1:1/";
  tt_error error = {""};
  assert_int_equal(tt_websocket_connect(*state, &options, &client, &error), TT_INVALID);
  assert_non_null(strstr(error.text, "TLS"));
  options.url = "ws://127.0.0.1:1/"; /* nobody there */
  options.reconnect = 0;
  client_side.closed = 0;
  assert_int_equal(tt_websocket_connect(*state, &options, &client, &error), TT_OK);
  poll_until(*state, &client_side.closed, 1);
}

static void ends_within_callbacks(void **state) {
  side server_side = {.close_at_once = true}, client_side = {.answer = 101};
  tt_websocket_server *server = listen_as(*state, &server_side);
  connect_to_server(*state, &client_side, server, "/here", 0);
  poll_until(*state, &client_side.closed, 1);
  assert_int_equal(client_side.code, 1001);
  /* the loop's end closes what is open; nobody hears of it */
  server_side.close_at_once = false;
  connect_to_server(*state, &client_side, server, "/here", 1);
  poll_until(*state, &server_side.opened, 2);
}

/* A connection that is closed, and has not told it yet, when its server ends. */
static void a_server_may_end_behind_its_connection(void **state) {
  side server_side = {.answer = 101};
  tt_websocket_options options = options_of(&server_side);
  options.max_queued = 1000;
  tt_websocket_server *server = listen_with(*state, &options);
  int s = enter(*state, server);
  static const char much[1 << 20];
  tt_status status = TT_OK;
  while (status == TT_OK)
    status = tt_websocket_send(server_side.websocket, true, much, sizeof much);
  assert_int_equal(status, TT_FULL);
  tt_websocket_server_close(server);
  for (int turn = 0; turn < 10; turn++) tt_net_poll(*state, 1000000);
  assert_int_equal(server_side.closed, 0);
  close(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      NET_TEST(the_rfcs_bytes),
      NET_TEST(who_breaks_the_protocol_is_told),
      NET_TEST(our_goodbye_is_answered_or_times_out),
      NET_TEST(a_long_reason_is_cut_between_characters),
      NET_TEST(plain_requests_get_what_the_handler_says),
      NET_TEST(a_head_has_limits_of_size_and_time),
      NET_TEST(who_never_asks_shuts_nobody_out),
      NET_TEST(pages_of_other_sites_leave_room_for_others),
      NET_TEST(portions_do_not_matter),
      NET_TEST(a_flood_leaves_turns_to_others),
      NET_TEST(who_pings_and_never_reads_is_cut),
      NET_TEST(slow_readers_are_cut),
      NET_TEST(pings_find_out_who_is_gone),
      NET_TEST(whose_messages_wait_here_is_not_gone),
      NET_TEST(our_client_and_our_server),
      NET_TEST(a_client_hears_why_it_is_refused),
      NET_TEST(ends_within_callbacks),
      NET_TEST(a_server_may_end_behind_its_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

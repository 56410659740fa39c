/* link_test.c: who may come to a wire that listens, and a program's first thousand messages, in real time. */
#include "app/assemble.h"
#include "app/guests.h"
#include "base/clock.h"
#include "base/log.h"
#include "host/world.h"
#include "net/net_testing.h"
#include "net/socket_testing.h"
#include "scene/scene.h"
#include "websocket/websocket.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define WIRE(robot)                                                                                \
  "  - halsim-ws:\n      robot: " robot "\n      name: " robot                                     \
  "\n      listen: 127.0.0.1:0\n"                                                                  \
  "      path: /" robot                                                                            \
  "\n"                                                                                             \
  "      devices: [{type: PWM, device: 0, command: left_drive.duty}]\n"
#define SCENE                                                                                      \
  "timestep: 1/1000 s\nrobots:\n  - {robot: sharp-wpilib, name: one, x: -1 m}\n"                   \
  "  - {robot: sharp-wpilib, name: two, x: 1 m}\nwires:\n" WIRE("one") WIRE("two")
#define FLOOD 1500
#define AT_MOST 50000000u /* ns of the world's thread, for all of it */

/* A world in real time, in its own thread. */
typedef struct running {
  tt_scene *scene;
  tt_world *world;
  pthread_t thread;
  char address[64]; /* of its listener */
} running;

static void *run_world(void *context) {
  tt_error error;
  running *running = context;
  tt_status status = tt_world_run(running->world, &error);
  return status == TT_OK ? NULL : context;
}

static int setup(void **state) {
  static running running;
  tt_error error = {""};
  if (tt_scene_parse(&tt_program_guests, "scenes/test.yaml", SCENE, strlen(SCENE), NULL, 0,
                     &running.scene, &error) != TT_OK ||
      tt_assemble(running.scene, &(tt_assembly){.no_wires = false}, &running.world, &error) !=
          TT_OK)
    fail_msg("%s", error.text);
  const tt_wire *wire = tt_world_wire_at(running.world, 0);
  snprintf(running.address, sizeof running.address, "%s", wire->ops->address(wire));
  *strchr(running.address, '/') = '\0';
  assert_int_equal(pthread_create(&running.thread, NULL, run_world, &running), 0);
  *state = &running;
  return 0;
}

static int teardown(void **state) {
  running *running = *state;
  void *failed;
  tt_world_post(running->world, &(tt_mail){.kind = TT_MAIL_QUIT, .source = "test"});
  pthread_join(running->thread, &failed);
  tt_world_free(running->world);
  tt_scene_free(running->scene);
  return failed ? -1 : 0;
}

/* --- programs --- */

typedef struct program {
  tt_websocket *websocket;
  int opened, closed, heard;
} program;

static void on_open(void *context, tt_websocket *websocket) {
  program *program = context;
  program->websocket = websocket;
  program->opened++;
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  (void)websocket;
  (void)text;
  (void)bytes;
  (void)size;
  ((program *)context)->heard++;
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  (void)websocket;
  (void)code;
  (void)reason;
  ((program *)context)->closed++;
}

static tt_websocket_client *join(tt_net *net, const running *at, const char *path,
                                 program *program) {
  tt_websocket_options options = tt_websocket_options_default();
  tt_websocket_client *client;
  char url[128];
  snprintf(url, sizeof url, "ws://%s/%s", at->address, path);
  options.url = url;
  options.reconnect = 0;
  options.max_queued = 8 << 20;
  options.handler =
      (tt_websocket_handler){.on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = program;
  assert_int_equal(tt_websocket_connect(net, &options, &client, NULL), TT_OK);
  return client;
}

static void say(const program *from, const char *text) {
  assert_int_equal(tt_websocket_send(from->websocket, true, text, strlen(text)), TT_OK);
}

/* The wire's statistics, once `received` has come to `least`. */
static tt_wire_stats await_received(tt_net *net, const running *at, int wire, uint64_t least) {
  tt_wire_stats stats;
  tt_wire_state wire_state;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  do {
    tt_net_poll(net, 200000);
    tt_world_get_wire(at->world, wire, &stats, &wire_state);
  } while (stats.received < least && tt_monotonic_ns() < end);
  assert_true(stats.received >= least);
  return stats;
}

static void two_robots_share_an_address(void **state) {
  running *running = *state;
  tt_net *net = tt_net_new();
  program one = {.opened = 0}, two = {.opened = 0};
  join(net, running, "one", &one);
  join(net, running, "two?season=2027", &two);
  poll_until(net, &one.heard, 3);
  poll_until(net, &two.heard, 3);
  say(&two, "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":0.5}}");
  await_received(net, running, 1, 1);
  tt_wire_stats stats;
  tt_wire_state wire_state;
  tt_world_get_wire(running->world, 0, &stats, &wire_state);
  assert_int_equal(stats.received, 0);
  tt_net_free(net);
}

static void a_second_program_is_refused_and_the_first_goes_on(void **state) {
  running *running = *state;
  tt_net *net = tt_net_new();
  program first = {.opened = 0}, second = {.opened = 0}, third = {.opened = 0};
  tt_websocket_client *client = join(net, running, "one", &first);
  poll_until(net, &first.heard, 1);
  join(net, running, "one", &second);
  poll_until(net, &second.closed, 1);
  assert_int_equal(second.opened, 0);
  int heard = first.heard;
  poll_until(net, &first.heard, heard + 5);
  assert_int_equal(first.closed, 0);
  tt_websocket_client_close(client);
  for (int tries = 0; !third.opened && tries < 100;
       tries++) { /* when the first is known to be gone */
    int closed = third.closed;
    join(net, running, "one", &third);
    uint64_t end = tt_monotonic_ns() + PATIENCE;
    while (!third.opened && third.closed == closed && tt_monotonic_ns() < end)
      tt_net_poll(net, 10000000);
  }
  poll_until(net, &third.heard, 1);
  tt_net_free(net);
}

/* The first line of the answer to a request. */
static void expect_answer(const running *at, const char *path, const char *more,
                          const char *status) {
  char request[512], answer[64] = "";
  int s = plain_socket(SOCK_STREAM, at->address);
  int size = snprintf(request, sizeof request,
                      "GET %s HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                      "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                      "%s\r\n",
                      path, more);
  assert_int_equal(send(s, request, (size_t)size, MSG_NOSIGNAL), size);
  receive_whole(s, answer, strlen("HTTP/1.1 404"));
  assert_string_equal(answer + strlen("HTTP/1.1 "), status);
  close(s);
}

static void strangers_are_told_why(void **state) {
  expect_answer(*state, "/three", "", "404");
  expect_answer(*state, "/onetwo", "", "404");
  expect_answer(*state, "/one", "Origin: http://example.com\r\n", "403");
  expect_answer(*state, "/one", "", "101");
}

static void half_a_handshake_harms_nobody(void **state) {
  running *running = *state;
  const char request[] = "GET /one HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n";
  for (size_t cut = 0; cut < sizeof request; cut += 7) {
    int s = plain_socket(SOCK_STREAM, running->address);
    send(s, request, cut, MSG_NOSIGNAL);
    close(s);
  }
  tt_net *net = tt_net_new();
  program one = {.opened = 0};
  join(net, running, "one", &one);
  poll_until(net, &one.heard, 3);
  tt_net_free(net);
}

/* Half a frame, a frame torn apart, a frame that says it is endless: the connection's, not the world's. */
static void half_a_frame_harms_nobody(void **state) {
  static const char *const frames[] = {"\x81", "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff",
                                       "\x81\x85\x01\x02\x03\x04XX", "\xff\xff\xff\xff",
                                       "\x89\x80"};
  running *running = *state;
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    char text[1024];
    int s = plain_socket(SOCK_STREAM, running->address);
    int size =
        snprintf(text, sizeof text,
                 "GET /two HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                 "\r\n%s",
                 frames[i]);
    send(s, text, (size_t)size, MSG_NOSIGNAL);
    close(s);
  }
  tt_net *net = tt_net_new();
  program one = {.opened = 0};
  join(net, running, "one", &one);
  poll_until(net, &one.heard, 3);
  tt_net_free(net);
}

/* --- the flood --- */

/* What the thread of the world has computed, ns: how busy the machine is with other things does not matter. */
static uint64_t worked(const running *at) {
  clockid_t clock;
  struct timespec time;
  assert_int_equal(pthread_getcpuclockid(at->thread, &clock), 0);
  assert_int_equal(clock_gettime(clock, &time), 0);
  return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* What it takes the world to read a program's first messages, ns. */
static uint64_t time_of_flood(const running *at) {
  tt_net *net = tt_net_new();
  program program = {.opened = 0};
  tt_wire_stats stats;
  tt_wire_state wire_state;
  char text[128];
  for (int tries = 0; !program.opened && tries < 100; tries++) { /* the one before may still go */
    int closed = program.closed;
    join(net, at, "one", &program);
    uint64_t end = tt_monotonic_ns() + PATIENCE;
    while (!program.opened && program.closed == closed && tt_monotonic_ns() < end)
      tt_net_poll(net, 10000000);
  }
  poll_until(net, &program.heard, 1);
  tt_world_get_wire(at->world, 0, &stats, &wire_state);
  uint64_t begun = worked(at);
  for (int i = 0; i < FLOOD; i++) {
    snprintf(
        text, sizeof text,
        "{\n\"data\": {\n\"<output\": false\n},\n\"device\": \"%d,%d\",\n\"type\": \"Solenoid\"\n}",
        i / 8 % 63, i % 8);
    say(&program, text);
  }
  await_received(net, at, 0, stats.received + FLOOD);
  uint64_t took = worked(at) - begun;
  tt_net_free(net);
  return took;
}

/* The least of some: caches are cold on a busy machine. */
static void a_flood_at_connection_is_read_at_once(void **state) {
  uint64_t took = UINT64_MAX;
  for (int tries = 0; tries < 20 && took > AT_MOST; tries++) took = time_of_flood(*state);
  print_message("%d messages read in %.1f ms of the world's thread\n", FLOOD, (double)took * 1e-6);
#ifndef TETHER_SANITIZED /* which is several times slower */
  assert_true(took <= AT_MOST);
#endif
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(two_robots_share_an_address), TEST(a_second_program_is_refused_and_the_first_goes_on),
      TEST(strangers_are_told_why),      TEST(half_a_handshake_harms_nobody),
      TEST(half_a_frame_harms_nobody),   TEST(a_flood_at_connection_is_read_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

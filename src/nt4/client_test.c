/* client_test.c: the client over real loopback, beside our own server, and beside one made here whose clock is another. */
#include "base/clock.h"
#include "nt4/client.h"

#include "net/net_testing.h"
#include "nt4/server_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define LATER 5000000000 /* µs: the other server's clock is ahead by */

typedef struct world {
  tt_net *net;
  tt_nt4_server *server;
  tt_nt4_client *client;
  int number, command;
  int written, released;
  double value;
} world;

static bool on_written(void *context, int topic, double value, const char *who) {
  (void)who;
  world *world = context;
  assert_int_equal(topic, world->command);
  world->written++;
  world->value = value;
  return true;
}

static void on_released(void *context, int topic) {
  world *world = context;
  assert_int_equal(topic, world->command);
  world->released++;
}

static void turn(world *world) {
  tt_net_poll(world->net, 1000000);
  if (world->server) tt_nt4_server_flush(world->server);
  if (world->client) tt_nt4_client_flush(world->client);
}

/* Turns until `condition`, which is looked at again and again, holds. */
#define UNTIL(world, condition)                                                                    \
  do {                                                                                             \
    uint64_t end_ = tt_monotonic_ns() + PATIENCE;                                                  \
    while (!(condition) && tt_monotonic_ns() < end_) turn(world);                                  \
    assert_true(condition);                                                                        \
  } while (0)

static void open_server(world *world, const char *address) {
  tt_error error;
  if (tt_nt4_server_open(world->net, address, &(tt_allow){.count = 0}, &world->server, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
}

static void open_client(world *world, const char *address) {
  char url[128];
  snprintf(url, sizeof url, "ws://%s", address);
  assert_int_equal(tt_nt4_client_open(world->net, url, &world->client, NULL), TT_OK);
  tt_nt4_sink *sink = tt_nt4_client_sink(world->client);
  world->number =
      sink->add(sink, &(tt_nt4_spec){.name = "/Tether/number", .type = "double", .unit = "rad"});
  world->command = sink->add(
      sink, &(tt_nt4_spec){.name = "/Tether/command", .type = "double", .writable = true});
  sink->on_written = on_written;
  sink->on_released = on_released;
  sink->context = world;
}

static int setup(void **state) {
  world *made = calloc(1, sizeof *made);
  made->net = tt_net_new();
  *state = made;
  return 0;
}

static int setup_both(void **state) {
  setup(state);
  world *made = *state;
  open_server(made, "127.0.0.1:0");
  open_client(made, tt_nt4_server_address(made->server));
  return 0;
}

static int teardown(void **state) {
  world *world = *state;
  tt_nt4_client_close(world->client);
  tt_nt4_server_close(world->server);
  tt_net_free(world->net);
  free(world);
  return 0;
}

static void set_number(world *world, int topic, double number) {
  tt_nt4_sink *sink = tt_nt4_client_sink(world->client);
  tt_bytes value = {.size = 0};
  tt_nt4_put_double(&value, number);
  sink->set(sink, topic, &value);
  tt_bytes_free(&value);
}

/* What the server has; NAN: nothing. */
static double served(const world *world, const char *name) {
  int index = nt4_find_topic(world->server, name);
  double number = 0;
  if (index < 0 || !world->server->topics[index].version) return -1;
  const tt_bytes *value = &world->server->topics[index].value;
  tt_nt4_message message = {.value = value->data, .value_size = value->size};
  assert_true(tt_nt4_read_number(&message, &number));
  return number;
}

/* A moment at which somebody else writes `name`: the client guesses the server's clock from half of a round trip, so what
 * it wrote may be of a moment that is still to come by as long as that took. */
static int64_t after(const world *world, const char *name) {
  int64_t now = nt4_now(), last = world->server->topics[nt4_find_topic(world->server, name)].time;
  return (now > last ? now : last) + 1000;
}

static void topics_arrive_with_values_and_properties(void **state) {
  world *world = *state;
  set_number(world, world->number, 1.5);
  UNTIL(world, served(world, "/Tether/number") == 1.5);
  const nt4_topic *topic = &world->server->topics[nt4_find_topic(world->server, "/Tether/number")];
  assert_string_equal(topic->type, "double");
  assert_string_equal(json_object_to_json_string_ext(topic->properties, JSON_C_TO_STRING_PLAIN),
                      "{\"unit\":\"rad\"}");
  assert_string_equal(world->server->clients->name, "Tether");
  uint64_t version = topic->version;
  set_number(world, world->number, 1.5); /* nothing new */
  set_number(world, world->command, 7);
  UNTIL(world, served(world, "/Tether/command") == 7);
  assert_int_equal(topic->version, version);
  // The client guesses the server's clock from half a round trip, however long that took.
  assert_true(topic->time <= nt4_now() + 1000000);
}

/* The same with who comes first. */
static void it_waits_for_the_server_and_comes_back(void **state) {
  world *world = *state;
  char address[TT_ADDRESS_TEXT];
  open_server(world, "127.0.0.1:0");
  snprintf(address, sizeof address, "%s", tt_nt4_server_address(world->server));
  tt_nt4_server_close(world->server);
  world->server = NULL;
  open_client(world, address);
  for (int round = 1; round <= 2; round++) {
    set_number(world, world->number, round);
    for (int i = 0; i < 20; i++) turn(world);
    assert_false(tt_nt4_client_is_ready(world->client));
    open_server(world, address);
    UNTIL(world, served(world, "/Tether/number") == round);
    assert_true(tt_nt4_client_is_ready(world->client));
    tt_nt4_server_close(world->server);
    world->server = NULL;
    UNTIL(world, !tt_nt4_client_is_ready(world->client));
  }
}

/* --- another program at the same server --- */

typedef struct other {
  tt_websocket *websocket;
} other;

static void other_opened(void *context, tt_websocket *websocket) {
  ((other *)context)->websocket = websocket;
}

static void other_ignores(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                          size_t size) {
  (void)context, (void)websocket, (void)text, (void)bytes, (void)size;
}

static void other_closed(void *context, tt_websocket *websocket, int code, const char *reason) {
  (void)context, (void)websocket, (void)code, (void)reason;
}

static tt_websocket_client *enter(world *world, other *other) {
  static const char *const protocols[] = {NT4_PROTOCOL_4_0};
  char url[128];
  tt_websocket_client *client;
  snprintf(url, sizeof url, "ws://%s/nt/dashboard", tt_nt4_server_address(world->server));
  tt_websocket_options options = tt_websocket_options_default();
  options.url = url;
  options.protocols = protocols;
  options.protocol_count = 1;
  options.handler = (tt_websocket_handler){
      .on_open = other_opened, .on_message = other_ignores, .on_close = other_closed};
  options.context = other;
  assert_int_equal(tt_websocket_connect(world->net, &options, &client, NULL), TT_OK);
  UNTIL(world, other->websocket);
  return client;
}

static void write_double(const other *by, int64_t time, double number) {
  tt_bytes value = {.size = 0}, frame = {.size = 0};
  tt_nt4_put_double(&value, number);
  tt_nt4_put_message(&frame, &(tt_nt4_message){.id = 3,
                                               .time = time,
                                               .type = TT_NT4_DOUBLE,
                                               .value = value.data,
                                               .value_size = value.size});
  assert_int_equal(tt_websocket_send(by->websocket, false, frame.data, frame.size), TT_OK);
  tt_bytes_free(&value);
  tt_bytes_free(&frame);
}

#define PUBLISH(name)                                                                              \
  "[{\"method\":\"publish\",\"params\":{\"name\":\"" name                                          \
  "\",\"pubuid\":3,\"type\":\"double\",\"properties\":{}}}]"

static void what_others_write_is_heard_until_the_server_goes(void **state) {
  world *world = *state;
  other dashboard = {NULL};
  set_number(world, world->command, 1);
  set_number(world, world->number, 1);
  UNTIL(world, served(world, "/Tether/command") == 1);
  enter(world, &dashboard);
  static const char command[] = PUBLISH("/Tether/command"), number[] = PUBLISH("/Tether/number");
  tt_websocket_send(dashboard.websocket, true, number, sizeof number - 1);
  write_double(&dashboard, after(world, "/Tether/number"), 5); /* not for others to write */
  tt_websocket_send(dashboard.websocket, true, command, sizeof command - 1);
  write_double(&dashboard, after(world, "/Tether/command"), 2.5);
  UNTIL(world, world->written == 1);
  assert_true(world->value == 2.5);
  const int at = nt4_find_topic(world->server, "/Tether/command");
  const uint64_t theirs = world->server->topics[at].version;
  set_number(world, world->command, 2.5); /* the world took it */
  UNTIL(world, world->server->topics[at].version > theirs);
  write_double(&dashboard, after(world, "/Tether/command"), 3.5);
  UNTIL(world, world->written == 2);
  assert_int_equal(world->released, 0);
  tt_nt4_server_close(world->server);
  world->server = NULL;
  UNTIL(world, world->released == 1);
}

/* As long as it is paused, or has not come that far. */
static void what_the_world_still_shows_is_heard(void **state) {
  world *world = *state;
  other dashboard = {NULL};
  set_number(world, world->command, 0);
  UNTIL(world, served(world, "/Tether/command") == 0);
  enter(world, &dashboard);
  static const char command[] = PUBLISH("/Tether/command");
  static const double written[] = {5, 0, 5};
  tt_websocket_send(dashboard.websocket, true, command, sizeof command - 1);
  for (int i = 0; i < 3; i++) {
    write_double(&dashboard, after(world, "/Tether/command"), written[i]);
    UNTIL(world, world->written == i + 1);
    assert_true(world->value == written[i]);
    if (i != 1) continue;
    const int at = nt4_find_topic(world->server, "/Tether/command");
    const uint64_t theirs = world->server->topics[at].version;
    set_number(world, world->command, 5); /* the first: it took that meanwhile */
    UNTIL(world,
          world->server->topics[at].version > theirs); /* or it would be newer than the next */
  }
}

static void what_was_written_before_is_not_heard(void **state) {
  world *world = *state;
  other dashboard = {NULL};
  open_server(world, "127.0.0.1:0");
  enter(world, &dashboard);
  static const char command[] = PUBLISH("/Tether/command");
  tt_websocket_send(dashboard.websocket, true, command, sizeof command - 1);
  write_double(&dashboard, nt4_now(), 9);
  UNTIL(world, served(world, "/Tether/command") == 9);
  open_client(world, tt_nt4_server_address(world->server));
  set_number(world, world->number, 1);
  UNTIL(world, served(world, "/Tether/number") == 1);
  write_double(&dashboard, nt4_now() + 1000, 8);
  UNTIL(world, world->written == 1);
  assert_true(world->value == 8);
}

/* --- a server of 4.0 with a clock of its own, made of bytes that the specification has --- */

typedef struct robot {
  tt_websocket *websocket;
  const char *protocol;
  bool answers; /* with its time */
  int texts, published, closed, pinged;
  int64_t value_time;
  int64_t later;   /* µs: its clock is ahead by */
  double rate;     /* at which it goes; 0: as ours */
  int64_t began;   /* µs of ours: when it was as ours */
  int asked, back; /* questions for its time; values of an earlier time than the one before */
} robot;

static void robot_asked(void *context, const tt_websocket_request *request,
                        tt_websocket_answer *answer) {
  const robot *robot = context;
  assert_string_equal(request->path, "/nt/Tether");
  assert_string_equal(request->protocols[0], NT4_PROTOCOL_4_1);
  answer->status = robot->protocol ? 101 : 404;
  answer->protocol = robot->protocol;
}

/* There is one connection at a time. */
static robot *the_robot;

static void robot_opened(void *context, tt_websocket *websocket) {
  the_robot = context;
  the_robot->websocket = websocket;
  tt_websocket_set_context(websocket, context);
  static const char odd[] =
      "[{\"method\":\"announce\"},3,{\"method\":\"announce\",\"params\":{"
      "\"name\":3,\"id\":\"x\"}}]";
  tt_websocket_send(websocket, true, odd, sizeof odd - 1);
  tt_websocket_send(websocket, true, "{", 1);
  tt_websocket_send(websocket, false, "\x93\x00", 2);
  tt_websocket_send(websocket, false, "\x94\x07\x00\x01\x01", 5);
}

static int64_t clock_of(const robot *robot) {
  int64_t now = nt4_now();
  if (robot->rate > 0) now = robot->began + llround((double)(now - robot->began) * robot->rate);
  return now + robot->later;
}

static void robot_heard(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                        size_t size) {
  robot *robot = context;
  tt_nt4_message message;
  const uint8_t *at = bytes;
  if (text) {
    robot->texts++;
    robot->published += memmem(bytes, size, "\"publish\"", 9) != NULL;
    return;
  }
  while (tt_nt4_read_message(&at, bytes + size, &message) == TT_OK) {
    if (message.id != -1) {
      robot->back += message.time < robot->value_time;
      robot->value_time = message.time;
    }
    if (message.id != -1 || !robot->answers) continue;
    tt_bytes answer = {.size = 0};
    robot->asked++;
    message.time = clock_of(robot);
    tt_nt4_put_message(&answer, &message);
    tt_websocket_send(websocket, false, answer.data, answer.size);
    tt_bytes_free(&answer);
  }
}

static void robot_closed(void *context, tt_websocket *websocket, int code, const char *reason) {
  robot *robot = context;
  (void)websocket, (void)code, (void)reason;
  robot->closed++;
}

static tt_websocket_server *serve(world *world, robot *robot) {
  tt_websocket_server *server;
  tt_websocket_options options = tt_websocket_options_default();
  options.address = "127.0.0.1:0";
  options.handler = (tt_websocket_handler){.on_request = robot_asked,
                                           .on_open = robot_opened,
                                           .on_message = robot_heard,
                                           .on_close = robot_closed};
  options.context = robot;
  assert_int_equal(tt_websocket_listen(world->net, &options, &server, NULL), TT_OK);
  open_client(world, tt_websocket_server_address(server));
  return server;
}

static void values_have_the_servers_time(void **state) {
  world *world = *state;
  robot robot = {.protocol = NT4_PROTOCOL_4_0, .answers = true, .later = LATER};
  serve(world, &robot);
  set_number(world, world->number, 1);
  int64_t before = nt4_now();
  UNTIL(world, robot.value_time);
  int64_t now = nt4_now(), unsure = (now - before) / 2; /* of a clock that was asked once */
  assert_in_range(robot.value_time, before + LATER - unsure, now + LATER + unsure);
  assert_int_equal(robot.published, 1);
  assert_int_equal(robot.closed, 0);
}

/* As of a program whose time is stepped. */
static void a_clock_that_jumps_is_followed(void **state) {
  world *world = *state;
  robot robot = {.protocol = NT4_PROTOCOL_4_0, .answers = true, .later = LATER};
  serve(world, &robot);
  int number = 0;
  set_number(world, world->number, number++);
  UNTIL(world, robot.value_time);
  for (int64_t jump = 2; jump >= 1; jump--) { /* forward, and back */
    robot.later = jump * LATER + LATER / 2;
    uint64_t end = tt_monotonic_ns() + PATIENCE;
    while (llabs(robot.value_time - nt4_now() - robot.later) > LATER / 4 &&
           tt_monotonic_ns() < end) {
      set_number(world, world->number, number++);
      turn(world);
    }
    assert_true(llabs(robot.value_time - nt4_now() - robot.later) <= LATER / 4);
  }
}

/* As of a program whose time is stepped by a world that is faster or slower than real time. */
static void a_clock_of_another_rate_is_asked_often_and_no_value_goes_back(void **state) {
  world *world = *state;
  static const double rates[] = {0.3, 5};
  for (int i = 0; i < 2; i++) {
    robot robot = {
        .protocol = NT4_PROTOCOL_4_0, .answers = true, .rate = rates[i], .began = nt4_now()};
    tt_websocket_server *server = serve(world, &robot);
    int number = 0;
    uint64_t end = tt_monotonic_ns() + PATIENCE;
    while (robot.asked < 100 && tt_monotonic_ns() < end) { /* one a second would be too few */
      set_number(world, world->number, ++number);
      turn(world);
    }
    assert_true(robot.value_time > 0);
    assert_int_equal(robot.back, 0);
    assert_true(robot.asked >= 100);
    tt_nt4_client_close(world->client);
    world->client = NULL;
    tt_websocket_server_close(server);
  }
}

static void a_server_that_falls_silent_is_left(void **state) {
  world *world = *state;
  robot robot = {.protocol = NT4_PROTOCOL_4_0};
  serve(world, &robot);
  set_number(world, world->number, 1);
  UNTIL(world, robot.websocket);
  UNTIL(world, robot.closed);
  assert_int_equal(robot.value_time, 0); /* without a clock nothing is sent */
}

static void who_refuses_is_asked_again(void **state) {
  world *world = *state;
  robot robot = {.protocol = NULL, .answers = true, .later = LATER};
  serve(world, &robot);
  set_number(world, world->number, 1);
  for (int i = 0; i < 20; i++) turn(world);
  robot.protocol = NT4_PROTOCOL_4_1;
  UNTIL(world, robot.value_time);
}

static void urls_are_checked(void **state) {
  (void)state;
  tt_error error;
  assert_int_equal(tt_nt4_client_check("ws://127.0.0.1:5810", &error), TT_OK);
  assert_int_equal(tt_nt4_client_check("ws://127.0.0.1", &error), TT_OK);
  assert_int_equal(tt_nt4_client_check("ws://127.0.0.1:5810/nt/sim", &error), TT_OK);
  static const char *const bad[] = {"127.0.0.1:5810",
                                    "http://127.0.0.1:5810",
                                    "ws://127.0.0.1:5810/nt/",
                                    "ws://127.0.0.1:5810/robot",
                                    "ws://127.0.0.1:5810/nt/a@b",
                                    "ws://127.0.0.1:99999"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_int_equal(tt_nt4_client_check(bad[i], &error), TT_INVALID);
}

int main(void) {
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(topics_arrive_with_values_and_properties, setup_both),
      TEST(it_waits_for_the_server_and_comes_back, setup),
      TEST(what_others_write_is_heard_until_the_server_goes, setup_both),
      TEST(what_the_world_still_shows_is_heard, setup_both),
      TEST(what_was_written_before_is_not_heard, setup),
      TEST(values_have_the_servers_time, setup),
      TEST(a_clock_that_jumps_is_followed, setup),
      TEST(a_clock_of_another_rate_is_asked_often_and_no_value_goes_back, setup),
      TEST(a_server_that_falls_silent_is_left, setup),
      TEST(who_refuses_is_asked_again, setup),
      TEST(urls_are_checked, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* server_test.c: the server over real loopback; clients are our own WebSockets, which say what viewers say. */
#include "base/clock.h"
#include "nt4/server_internal.h"

#include "base/log.h"
#include "net/net_testing.h"
#include "websocket/websocket.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#define V41 "v4.1.networktables.first.wpi.edu"
#define V40 "networktables.first.wpi.edu"

typedef struct viewer {
  tt_websocket *websocket;
  tt_websocket_client *client;
  int opened, closed, texts, values;
  char text[8192];     /* all texts, one behind the other */
  int64_t ids[256];    /* of the values */
  double numbers[256]; /* of those that are doubles */
  tt_nt4_message last;
  int64_t newest; /* time of a value of raw bytes, and what it begins with */
  uint8_t raw[256];
  size_t raw_size;
  char reason[160];
} viewer;

typedef struct world {
  tt_net *net;
  tt_nt4_server *server;
  int number, text;
  int written, released; /* topic, and how often */
  double value;
  viewer viewers[4];
} world;

static int add_topic(tt_nt4_server *server, const char *name, const char *type, const char *unit) {
  tt_nt4_sink *sink = tt_nt4_server_sink(server);
  return sink->add(sink, &(tt_nt4_spec){.name = name, .type = type, .unit = unit});
}

static void set_topic(tt_nt4_server *server, int topic, const tt_bytes *value) {
  tt_nt4_sink *sink = tt_nt4_server_sink(server);
  sink->set(sink, topic, value);
}

static bool is_wanted(tt_nt4_server *server, int topic) {
  const tt_nt4_sink *sink = tt_nt4_server_sink(server);
  return sink->is_wanted(sink, topic);
}

static double number_of(const tt_nt4_message *message) {
  uint64_t bits = 0;
  double value;
  if (message->type != TT_NT4_DOUBLE || message->value_size != 9) return 0;
  for (int i = 1; i < 9; i++) bits = bits << 8 | message->value[i];
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void on_open(void *context, tt_websocket *websocket) {
  viewer *viewer = context;
  viewer->websocket = websocket;
  viewer->opened++;
}

/* Without the head, which is of two bytes where there are few. */
static void keep_raw(viewer *viewer) {
  size_t size = viewer->last.value_size - 2;
  viewer->newest = viewer->last.time;
  viewer->raw_size = size < sizeof viewer->raw ? size : sizeof viewer->raw;
  memcpy(viewer->raw, viewer->last.value + 2, viewer->raw_size);
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  viewer *viewer = context;
  const uint8_t *at = bytes;
  (void)websocket;
  if (text) {
    size_t used = strlen(viewer->text);
    snprintf(viewer->text + used, sizeof viewer->text - used, "%.*s", (int)size,
             (const char *)bytes);
    viewer->texts++;
    return;
  }
  while (tt_nt4_read_message(&at, bytes + size, &viewer->last) == TT_OK) {
    viewer->ids[viewer->values % 256] = viewer->last.id;
    viewer->numbers[viewer->values % 256] = number_of(&viewer->last);
    if (viewer->last.type == TT_NT4_RAW) keep_raw(viewer);
    viewer->values++;
  }
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  viewer *viewer = context;
  (void)websocket, (void)code;
  viewer->closed++;
  snprintf(viewer->reason, sizeof viewer->reason, "%s", reason);
}

/* A client whose loop is `net`. */
static viewer *enter_in(world *world, tt_net *net, int index, const char *path,
                        const char *const *protocols, int count) {
  viewer *viewer = &world->viewers[index];
  char url[256];
  snprintf(url, sizeof url, "ws://%s%s", tt_nt4_server_address(world->server), path);
  tt_websocket_options options = tt_websocket_options_default();
  options.url = url;
  options.protocols = protocols;
  options.protocol_count = count;
  options.reconnect = 0;
  options.handler =
      (tt_websocket_handler){.on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = viewer;
  assert_int_equal(tt_websocket_connect(net, &options, &viewer->client, NULL), TT_OK);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!viewer->opened && !viewer->closed && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    if (net != world->net) tt_net_poll(net, 1000000);
  }
  return viewer;
}

static viewer *enter(world *world, int index, const char *path, const char *const *protocols,
                     int count) {
  return enter_in(world, world->net, index, path, protocols, count);
}

static const char *const v41[] = {V41}, *const v40_first[] = {V40, V41}, *const none[] = {"x"};

static void say(viewer *viewer, const char *text) {
  assert_int_equal(tt_websocket_send(viewer->websocket, true, text, strlen(text)), TT_OK);
}

/* Polls and flushes until `*what` is `least`. */
static void keep_line(void *context, tt_log_level level, const char *text) {
  (void)level;
  snprintf(context, 200, "%s", text);
}

static void until(world *world, const int *what, int least) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (*what < least && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    tt_nt4_server_flush(world->server);
  }
  assert_true(*what >= least);
}

static void take_time(world *world, viewer *viewer) {
  int before = viewer->values;
  tt_websocket_send(viewer->websocket, false, "\x94\xff\x00\x02\x01", 5);
  until(world, &viewer->values, before + 1); /* all that was sent before is done */
}

static void set_number(world *world, double number) {
  tt_bytes value = {.size = 0};
  tt_nt4_put_double(&value, number);
  set_topic(world->server, world->number, &value);
  tt_bytes_free(&value);
}

static double number_at(const world *world, int topic) {
  const tt_bytes *value = &world->server->topics[topic].value;
  double number = 0;
  tt_nt4_message message = {.value = value->data, .value_size = value->size};
  assert_true(tt_nt4_read_number(&message, &number));
  return number;
}

static int setup(void **state) {
  world *made = calloc(1, sizeof *made);
  tt_allow allow = {.count = 0};
  made->net = tt_net_new();
  assert_int_equal(tt_nt4_server_open(made->net, "127.0.0.1:0", &allow, &made->server, NULL),
                   TT_OK);
  made->number = add_topic(made->server, "/Tether/number", "double", "rad");
  made->text = add_topic(made->server, "/other", "string", NULL);
  *state = made;
  return 0;
}

static int teardown(void **state) {
  world *world = *state;
  tt_nt4_server_close(world->server);
  tt_net_free(world->net);
  free(world);
  return 0;
}

#define SUBSCRIBE(topics, uid, options)                                                            \
  "[{\"method\":\"subscribe\",\"params\":{\"topics\":" topics ",\"subuid\":" uid                   \
  ",\"options\":" options "}}]"

static void a_topic_is_announced_before_its_values(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  assert_string_equal(tt_websocket_protocol(viewer->websocket), V41);
  assert_false(is_wanted(world->server, world->number));
  set_number(world, 1);
  say(viewer, SUBSCRIBE("[\"/Tether\"]", "1", "{\"prefix\":true,\"periodic\":0.005}"));
  until(world, &viewer->values, 1);
  assert_string_equal(
      viewer->text,
      "[{\"method\":\"announce\",\"params\":{\"name\":\"\\/Tether\\/number\",\"id\":0,"
      "\"type\":\"double\",\"properties\":{\"unit\":\"rad\"}}}]");
  assert_true(viewer->numbers[0] == 1 && viewer->ids[0] == world->number);
  assert_true(is_wanted(world->server, world->number));
  assert_false(is_wanted(world->server, world->text));
  set_number(world, 1); /* nothing new */
  set_number(world, 2);
  set_number(world, 3); /* the newest only */
  until(world, &viewer->values, 2);
  assert_true(viewer->numbers[1] == 3);
  say(viewer, "[{\"method\":\"unsubscribe\",\"params\":{\"subuid\":1}}]");
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (is_wanted(world->server, world->number) && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  assert_false(is_wanted(world->server, world->number));
}

static void who_asks_for_all_gets_all(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  say(viewer, SUBSCRIBE("[\"\"]", "1", "{\"prefix\":true,\"all\":true,\"periodic\":0.005}"));
  until(world, &viewer->texts, 1);
  for (int i = 1; i <= 100; i++) set_number(world, i);
  until(world, &viewer->values, 100);
  for (int i = 0; i < 100; i++) assert_true(viewer->numbers[i] == i + 1);
}

static void topics_only_means_no_values(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  set_number(world, 1);
  say(viewer, SUBSCRIBE("[\"\"]", "1", "{\"prefix\":true,\"topicsonly\":true}"));
  until(world, &viewer->texts, 1);
  assert_non_null(strstr(viewer->text, "\\/other"));
  assert_false(is_wanted(world->server, world->number));
  for (int i = 0; i < 20; i++) {
    tt_net_poll(world->net, 1000000);
    tt_nt4_server_flush(world->server);
  }
  assert_int_equal(viewer->values, 0);
}

static void the_clock_is_answered_at_once(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  uint64_t before = tt_monotonic_ns() / 1000;
  assert_int_equal(tt_websocket_send(viewer->websocket, false, "\x94\xff\x00\x02\xcd\x30\x39", 7),
                   TT_OK);
  poll_until(world->net, &viewer->values, 1);
  assert_true(viewer->last.id == -1 && viewer->last.type == TT_NT4_INT);
  assert_true((uint64_t)viewer->last.time >= before &&
              (uint64_t)viewer->last.time <= tt_monotonic_ns() / 1000);
}

static void clients_publish_to_each_other(void **state) {
  world *world = *state;
  viewer *one = enter(world, 0, "/nt/one", v41, 1), *two = enter(world, 1, "/nt/two", v41, 1);
  say(two, SUBSCRIBE("[\"/x\"]", "1", "{\"periodic\":0.005}"));
  say(one,
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/"
      "x\",\"pubuid\":9,\"type\":\"double\",\"properties\":{\"a\":1}}}]");
  until(world, &one->texts, 1);
  assert_non_null(strstr(one->text, "\"pubuid\":9"));
  until(world, &two->texts, 1);
  assert_non_null(strstr(two->text, "\"properties\":{\"a\":1}"));
  assert_int_equal(
      tt_websocket_send(one->websocket, false, "\x94\x09\x64\x01\xcb\x3f\xf8\0\0\0\0\0\0", 13),
      TT_OK);
  until(world, &two->values, 1);
  assert_true(two->numbers[0] == 1.5 && two->last.time == 100);
  assert_int_equal(
      tt_websocket_send(one->websocket, false, "\x94\x09\x63\x01\xcb\x40\xf8\0\0\0\0\0\0", 13),
      TT_OK); /* older, by its clock, but said later */
  until(world, &two->values, 2);
  assert_true(two->numbers[1] == 98304 && two->last.time == 99);
  say(one, "[{\"method\":\"setproperties\",\"params\":{\"name\":\"/x\",\"update\":{\"b\":2}}}]");
  until(world, &one->texts, 2);
  assert_non_null(strstr(one->text, "\"ack\":true"));
  until(world, &two->texts, 2);
  assert_non_null(strstr(two->text, "\"update\":{\"b\":2}"));
  assert_int_equal(two->values, 2);
  char line[200] = "";
  tt_log_set_sink(keep_line, line);
  tt_websocket_client_close(one->client);
  until(world, &two->texts, 3);
  tt_log_set_sink(NULL, NULL);
  assert_non_null(strstr(two->text, "unannounce"));
  assert_non_null(strstr(line, "disconnected: ")); /* why what it drove stands still */
}

/* As its publisher 1. */
static void write_number(viewer *who, int64_t time, double number) {
  tt_bytes value = {.size = 0}, bytes = {.size = 0};
  tt_nt4_put_double(&value, number);
  tt_nt4_message message = {
      .id = 1, .time = time, .type = TT_NT4_DOUBLE, .value = value.data, .value_size = value.size};
  tt_nt4_put_message(&bytes, &message);
  assert_int_equal(tt_websocket_send(who->websocket, false, bytes.data, bytes.size), TT_OK);
  tt_bytes_free(&value);
  tt_bytes_free(&bytes);
}

/* The clock of one is ahead of the other's. */
static void older_values_of_others_are_passed_on_and_not_kept(void **state) {
  static const char publish[] =
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":1,\"type\":\"double\"}}]";
  world *world = *state;
  viewer *ahead = enter(world, 0, "/nt/ahead", v41, 1), *behind = enter(world, 1, "/nt/b", v41, 1);
  viewer *all = enter(world, 2, "/nt/all", v41, 1), *late = NULL;
  say(all, SUBSCRIBE("[\"/x\"]", "1", "{\"all\":true,\"periodic\":0.005}"));
  say(behind, SUBSCRIBE("[\"/x\"]", "1", "{\"periodic\":0.005}"));
  say(ahead, publish);
  say(behind, publish);
  write_number(ahead, 1000, 3);
  until(world, &all->values, 1);
  until(world, &behind->values, 1);
  write_number(behind, 100, 4);
  until(world, &all->values, 2);
  assert_true(all->numbers[1] == 4 && all->last.time == 100);
  assert_true(number_at(world, nt4_find_topic(world->server, "/x")) == 3);
  write_number(ahead, 0, 7); /* a default */
  until(world, &all->values, 3);
  write_number(ahead, 200, 5); /* its clock was put right */
  until(world, &all->values, 4);
  assert_true(all->numbers[3] == 5 && all->last.time == 200);
  late = enter(world, 3, "/nt/late", v41, 1);
  say(late, SUBSCRIBE("[\"/x\"]", "1", "{\"periodic\":0.005}"));
  until(world, &late->values, 1);
  assert_true(late->numbers[0] == 5 && late->last.time == 200);
}

static void ours_are_read_only(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  set_number(world, 1);
  say(viewer,
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/Tether/"
      "number\",\"pubuid\":1,\"type\":\"double\"}}]");
  say(viewer, SUBSCRIBE("[\"/Tether/number\"]", "1", "{\"periodic\":0.005}"));
  until(world, &viewer->values, 1);
  assert_int_equal(
      tt_websocket_send(viewer->websocket, false,
                        "\x94\x01\xcf\x7f\xff\xff\xff\xff\xff\xff\xff\x01\xcb\x3f\xf8\0\0\0\0\0\0",
                        21),
      TT_OK);
  say(viewer, SUBSCRIBE("[\"/other\"]", "2", "{}"));
  until(world, &viewer->texts, 2); /* what came before is done */
  set_number(world, 2);
  until(world, &viewer->values, 2);
  assert_true(viewer->numbers[1] == 2);
}

static bool on_written(void *context, int topic, double value, const char *who) {
  (void)who;
  world *world = context;
  world->written += topic == world->number;
  world->value = value;
  return true;
}

static void on_released(void *context, int topic) {
  world *world = context;
  world->released += topic == world->number;
}

static void listen_to_writes(world *world) {
  tt_nt4_sink *sink = tt_nt4_server_sink(world->server);
  sink->on_written = on_written;
  sink->on_released = on_released;
  sink->context = world;
  world->server->topics[world->number].writable = true;
}

/* Those that may be written are heard, as long as who writes is there; the world says what becomes of it. */
static void writable_topics_are_heard(void **state) {
  world *world = *state;
  listen_to_writes(world);
  set_number(world, 1);
  viewer *one = enter(world, 0, "/nt/one", v41, 1), *two = enter(world, 1, "/nt/two", v41, 1);
  static const char publish[] =
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/Tether/"
      "number\",\"pubuid\":1,\"type\":\"double\"}}]";
  say(one, publish);
  say(two, publish);
  tt_websocket_send(one->websocket, false, "\x94\x01\x05\x01\xcb\x3f\xf8\0\0\0\0\0\0", 13);
  until(world, &world->written, 1);
  assert_true(world->value == 1.5);
  tt_websocket_send(one->websocket, false, "\x94\x01\x05\x01\xcb\x7f\xf0\0\0\0\0\0\0", 13);
  tt_websocket_send(one->websocket, false, "\x94\x01\x05\x02\x05", 5); /* a whole number */
  until(world, &world->written, 2);                                    /* infinity was none */
  assert_true(world->value == 5);
  tt_websocket_send(two->websocket, false, "\x94\x01\x05\x02\x07", 5);
  until(world, &world->written, 3);
  tt_websocket_send(one->websocket, false, "\x94\x01\x05\x02\x08", 5);
  until(world, &world->written, 4);
  tt_websocket_client_close(two->client); /* it was not the last that wrote */
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (tt_nt4_server_clients(world->server) == 2 && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  assert_int_equal(world->released, 0);
  world->server->clients->trusted = false; /* as a page of another site */
  tt_websocket_send(one->websocket, false, "\x94\x01\x05\x02\x06", 5);
  say(one, "[{\"method\":\"unpublish\",\"params\":{\"pubuid\":1}}]");
  until(world, &world->released, 1);
  assert_int_equal(world->written, 4);
  assert_true(number_at(world, world->number) == 1);
}

/* A default, or what a client says again that lost its connection, moves no robot. */
static void what_was_written_before_a_client_came_commands_nothing(void **state) {
  world *world = *state;
  listen_to_writes(world);
  viewer *own = enter(world, 0, "/nt/own", v41, 1);
  say(own,
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/Tether/number\",\"pubuid\":1,"
      "\"type\":\"double\"}}]");
  write_number(own, 0, 7);
  write_number(own, 1, 7);
  write_number(own, 5000, 2); /* of a clock of its own */
  until(world, &world->written, 1);
  assert_true(world->value == 2);
  tt_websocket_send(own->websocket, false, "\x94\xff\x00\x02\x05", 5); /* it asks for ours */
  until(world, &own->values, 1);
  int64_t came = world->server->clients->since;
  write_number(own, 0, 7);
  write_number(own, 5000, 7);
  write_number(own, came - 1000000, 7);
  write_number(own, came, 3);
  until(world, &world->written, 2);
  assert_true(world->value == 3);
}

static void who_may_come_in(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/a%20b", v40_first, 2);
  assert_string_equal(tt_websocket_protocol(viewer->websocket), V41); /* our preference */
  assert_int_equal(enter(world, 1, "/nt/", v41, 1)->closed, 1);
  assert_non_null(strstr(world->viewers[1].reason, "404"));
  assert_int_equal(enter(world, 2, "/nt/x", none, 1)->closed, 1);
  assert_non_null(strstr(world->viewers[2].reason, "400"));
  enter(world, 3, "/nt/a%20b", v40_first, 1);
  assert_string_equal(tt_websocket_protocol(world->viewers[3].websocket), V40);
  until(world, &world->viewers[3].opened, 1);
  assert_int_equal(tt_nt4_server_clients(world->server), 2);
}

/* What is answered to a head, as it is, in the first bytes: the status. The socket stays open. */
static int ask(world *world, const char *method, const char *path, const char *more,
               char status[4]) {
  char text[512] = "";
  int size = snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: a\r\n%s\r\n", method, path, more);
  int fd = plain_socket(SOCK_STREAM, tt_nt4_server_address(world->server));
  assert_int_equal(write(fd, text, (size_t)size), size);
  ssize_t got = -1;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (got < 0 && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
  }
  assert_true(got > 12);
  snprintf(status, 4, "%.3s", text + strlen("HTTP/1.1 "));
  return fd;
}

static const char upgrade[] =
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: " V41 "\r\n";

/* A name goes to other clients as text, and into the log. */
static void names_of_clients_are_text(void **state) {
  world *world = *state;
  static const char *const nobody[] = {"/nt/%00", "/nt/?x", "/nt/a%40b"};
  char status[4];
  for (int i = 0; i < 3; i++) {
    close(ask(world, "GET", nobody[i], upgrade, status));
    assert_string_equal(status, "404");
  }
  int fd = ask(world, "GET", "/nt/%c3%bc%ff%0a%1b%zz", upgrade, status);
  assert_string_equal(status, "101");
  assert_string_equal(world->server->clients->name, "\xc3\xbc???%zz");
  close(fd);
}

/* Whoever looks for the server asks for nothing else. */
static void only_get_is_answered(void **state) {
  world *world = *state;
  static const struct {
    const char *method, *path, *status;
  } asked[] = {{"GET", "/", "200"},     {"HEAD", "/", "200"}, {"POST", "/", "404"},
               {"OPTIONS", "/", "404"}, {"GET", "/x", "404"}, {"GET", "/nt/x", "426"}};
  char status[4];
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    close(ask(world, asked[i].method, asked[i].path, "", status));
    assert_string_equal(status, asked[i].status);
  }
}

/* Names of subscriptions are looked at for each topic. */
static void names_subscribed_to_have_a_limit(void **state) {
  world *world = *state;
  static char text[20000];
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  for (int uid = 0; uid < 20; uid++) {
    size_t used =
        (size_t)snprintf(text, sizeof text,
                         "[{\"method\":\"subscribe\",\"params\":{\"subuid\":%d,\"topics\":[", uid);
    for (int i = 0; i < 500; i++)
      used += (size_t)snprintf(text + used, sizeof text - used, "%s\"/%d\"", i ? "," : "", i);
    snprintf(text + used, sizeof text - used, "]}}]");
    say(viewer, text);
  }
  take_time(world, viewer);
  assert_int_equal(world->server->clients->subscription_count, 8);
}

/* What Outline Viewer shows; a prefix that is empty does not mean it. */
static void who_is_there_is_a_topic(void **state) {
  world *world = *state;
  viewer *all = enter(world, 0, "/nt/all", v41, 1);
  say(all, SUBSCRIBE("[\"\"]", "1", "{\"prefix\":true}"));
  viewer *one = enter(world, 1, "/nt/one", v41, 1);
  say(one, SUBSCRIBE("[\"$clients\"]", "1", "{\"periodic\":0.005}"));
  until(world, &one->values, 1);
  assert_int_equal(one->last.type, TT_NT4_RAW);
  assert_true(one->raw_size > 20 && one->raw[0] == 0x92 && one->raw[1] == 0x82);
  assert_non_null(memmem(one->raw, one->raw_size,
                         "\xa2id\xa3one\xa4"
                         "conn",
                         12));
  assert_non_null(memmem(one->raw, one->raw_size,
                         "\xa3"
                         "all",
                         4));
  tt_websocket_client_close(all->client);
  until(world, &one->values, 2);
  assert_true(one->raw[0] == 0x91 && !memmem(one->raw, one->raw_size,
                                             "\xa3"
                                             "all",
                                             4));
  assert_null(strstr(all->text, "$clients"));
}

/* Names that come and go do not use up the room for those of others. */
static void topics_that_are_gone_make_room(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  for (int round = 0; round < 25; round++) {
    for (int i = 0; i < 900; i++) {
      char text[200];
      snprintf(
          text, sizeof text,
          "[{\"method\":\"publish\",\"params\":{\"name\":\"/%d\",\"pubuid\":%d,\"type\":\"int\"}}]",
          round * 900 + i, i);
      say(viewer, text);
      if (i % 30 == 0) tt_net_poll(world->net, 0);
    }
    int before = viewer->texts;
    until(world, &viewer->texts, before + 1);
  }
  viewer->text[0] = '\0';
  say(viewer,
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/"
      "last\",\"pubuid\":5000,\"type\":\"int\"}}]");
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!strstr(viewer->text, "last") && tt_monotonic_ns() < end) {
    viewer->text[0] = '\0';
    tt_net_poll(world->net, 1000000);
  }
  assert_non_null(strstr(viewer->text, "last"));
}

#define BIG 65536  /* bytes of a value */
#define VALUES 400 /* more of them than sockets hold */

/* Nobody reads in the loop apart: what it was sent stays bounded, and its connection. */
static void a_slow_reader_gets_the_newest_later(void **state) {
  world *world = *state;
  static uint8_t big[BIG];
  tt_net *apart = tt_net_new();
  int topic = add_topic(world->server, "/big", "raw", NULL);
  viewer *quick = enter(world, 0, "/nt/quick", v40_first, 1);
  viewer *slow = enter_in(world, apart, 1, "/nt/slow", v40_first, 1);
  say(quick, SUBSCRIBE("[\"/big\"]", "1", "{\"periodic\":0.005}"));
  say(slow, SUBSCRIBE("[\"/big\"]", "1", "{\"all\":true,\"periodic\":0.005}"));
  until(world, &quick->texts, 1);
  nt4_peer *served = world->server->clients;
  while (strcmp(served->name, "slow") != 0) served = served->next;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!served->interest_count && tt_monotonic_ns() < end) tt_net_poll(world->net, 1000000);
  bool filled = false;
  for (int i = 0; i < VALUES; i++) {
    tt_bytes value = {.size = 0};
    big[0] = (uint8_t)i;
    tt_nt4_put_raw(&value, big, sizeof big);
    set_topic(world->server, topic, &value);
    tt_bytes_free(&value);
    tt_net_poll(world->net, 0);
    tt_nt4_server_flush(world->server);
    size_t queued = tt_websocket_queued(served->websocket);
    assert_true(queued < ((size_t)1 << 20) + (size_t)2 * BIG);
    filled |= queued > (size_t)1 << 20;
    assert_true(served->values.capacity <= (size_t)4 * BIG);
  }
  assert_true(filled);
  assert_int_equal(slow->closed, 0);
  int64_t newest = world->server->topics[topic].time;
  while ((slow->newest != newest || quick->newest != newest) && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    tt_net_poll(apart, 0);
    tt_nt4_server_flush(world->server);
  }
  assert_true(slow->newest == newest && quick->newest == newest);
  assert_true(slow->values < VALUES);
  assert_int_equal(slow->closed + quick->closed, 0);
  tt_net_free(apart);
}

/* A number of a publisher that is used again, for the same topic: the topic is made anew. */
static void a_publisher_can_be_replaced(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  static const char publish[] =
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":1,\"type\":\"int\"}}]";
  say(viewer, publish);
  say(viewer, publish);
  say(viewer, SUBSCRIBE("[\"/x\"]", "1", "{}"));
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!world->server->clients->subscription_count && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  assert_int_equal(tt_nt4_server_clients(world->server), 1);
  int topic = nt4_find_topic(world->server, "/x");
  assert_true(topic >= 0);
  assert_int_equal(world->server->topics[topic].publishers, 1);
  assert_true(is_wanted(world->server, topic));
}

static void publish_to(viewer *viewer, const char *name, int uid, const char *properties) {
  static char text[8192];
  snprintf(text, sizeof text,
           "[{\"method\":\"publish\",\"params\":{\"name\":\"%s\",\"pubuid\":%d,\"type\":\"raw\","
           "\"properties\":{%s}}}]",
           name, uid, properties);
  say(viewer, text);
}

static void set_properties_of(viewer *viewer, const char *name, const char *update) {
  static char text[8192];
  snprintf(text, sizeof text,
           "[{\"method\":\"setproperties\",\"params\":{\"name\":\"%s\",\"update\":{%s}}}]", name,
           update);
  say(viewer, text);
}

/* Schemas never change: who left and asks again gets them again. */
static void who_asks_again_gets_the_value_again(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  set_number(world, 4);
  say(viewer, SUBSCRIBE("[\"/Tether/number\"]", "1", "{\"periodic\":0.005}"));
  until(world, &viewer->values, 1);
  say(viewer, "[{\"method\":\"unsubscribe\",\"params\":{\"subuid\":1}}]");
  say(viewer, SUBSCRIBE("[\"/Tether/number\"]", "2", "{\"periodic\":0.005}"));
  until(world, &viewer->values, 2);
  assert_true(viewer->numbers[1] == 4);
}

/* Any page that a browser on this machine has open can connect. */
static void pages_of_other_sites_only_read(void **state) {
  world *world = *state;
  viewer *own = enter(world, 0, "/nt/own", v41, 1), *page = enter(world, 1, "/nt/page", v41, 1);
  world->server->clients->trusted = false;
  assert_string_equal(world->server->clients->name, "page");
  publish_to(own, "/x", 1, "");
  take_time(world, own);
  publish_to(page, "/x", 1, "");
  publish_to(page, "/mine", 2, "");
  set_properties_of(page, "/x", "\"a\":1");
  tt_websocket_send(page->websocket, false, "\x94\x01\x01\x05\xc4\x01z", 7);
  take_time(world, page);
  const nt4_topic *topic = &world->server->topics[nt4_find_topic(world->server, "/x")];
  assert_int_equal(topic->version, 0);
  assert_int_equal(json_object_object_length(topic->properties), 0);
  assert_int_equal(nt4_find_topic(world->server, "/mine"), -1);
  set_number(world, 7);
  say(page, SUBSCRIBE("[\"/Tether/number\"]", "1", "{\"periodic\":0.005}"));
  int before = page->values;
  until(world, &page->values, before + 1);
  assert_true(page->numbers[before] == 7);
}

typedef struct told {
  int lines;
  char last[200];
} told;

static void keep_wrong(void *context, tt_log_level level, const char *text) {
  told *said = context;
  if (level != TT_LOG_WARNING) return;
  said->lines++;
  snprintf(said->last, sizeof said->last, "%s", text);
}

/* Whoever sees nothing come of what it writes looks in the log. */
static void values_of_a_wrong_type_are_told_once(void **state) {
  world *world = *state;
  told said = {.lines = 0};
  viewer *one = enter(world, 0, "/nt/one", v41, 1);
  listen_to_writes(world);
  tt_log_set_sink(keep_wrong, &said);
  publish_to(one, "/Tether/number", 1, "");
  publish_to(one, "/x", 2, "");
  for (int i = 0; i < 3; i++) {
    tt_websocket_send(one->websocket, false, "\x94\x01\x05\x04\xa2hi", 7);
    tt_websocket_send(one->websocket, false, "\x94\x01\x05\x02\x05", 5); /* a number all the same */
    until(world, &world->written, i + 1);
  }
  assert_int_equal(said.lines, 1);
  assert_string_equal(
      said.last,
      "nt4: one writes '/Tether/number' as string, but it is double: such values are left out");
  world->server->wrong = (tt_log_hold){0}; /* a second is over */
  for (int i = 0; i < 2; i++) {
    tt_websocket_send(one->websocket, false, "\x94\x02\x05\x01\xcb\x3f\xf8\0\0\0\0\0\0", 13);
    take_time(world, one);
  }
  tt_log_set_sink(NULL, NULL);
  assert_int_equal(said.lines, 2);
  assert_non_null(strstr(said.last, "nt4: one writes '/x' as double, but it is raw"));
}

#define MUCH ((size_t)1 << 20) /* bytes of a value */

/* What is retained stays when who published it goes, and with it its memory. */
static void what_clients_keep_has_a_limit(void **state) {
  world *world = *state;
  char *value = calloc(1, MUCH + 9);
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  for (int i = 1; i < 100; i++) {
    char name[16];
    snprintf(name, sizeof name, "/%d", i);
    publish_to(viewer, name, i, "\"retained\":true");
    memcpy(value, (char[]){'\x94', (char)i, 1, 5, '\xc6', 0, '\x10', 0, 0}, 9);
    tt_websocket_send(viewer->websocket, false, value, MUCH + 9);
    take_time(world, viewer);
  }
  size_t kept = 0;
  for (int i = 0; i < world->server->topic_count; i++)
    if (!world->server->topics[i].own) kept += world->server->topics[i].value.size;
  assert_int_equal(kept, world->server->kept);
  assert_true(kept <= TT_NT4_MOST_KEPT && kept > TT_NT4_MOST_KEPT / 2);
  /* what is gone makes room, also when it is retained no longer */
  int topic = nt4_find_topic(world->server, "/1");
  say(viewer, "[{\"method\":\"unpublish\",\"params\":{\"pubuid\":1}}]");
  take_time(world, viewer);
  assert_false(world->server->topics[topic].gone);
  set_properties_of(viewer, "/1", "\"retained\":null");
  take_time(world, viewer);
  assert_true(world->server->topics[topic].gone);
  assert_true(world->server->kept < kept);
  free(value);
}

static void properties_have_a_limit(void **state) {
  world *world = *state;
  static char update[3000];
  viewer *viewer = enter(world, 0, "/nt/viewer", v41, 1);
  publish_to(viewer, "/x", 1, "");
  for (int i = 0; i < 20; i++) {
    snprintf(update, sizeof update, "\"%d\":\"%02000d\"", i, i);
    set_properties_of(viewer, "/x", update);
  }
  take_time(world, viewer);
  const nt4_topic *topic = &world->server->topics[nt4_find_topic(world->server, "/x")];
  assert_int_equal(json_object_object_length(topic->properties), 2);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(a_topic_is_announced_before_its_values),
      TEST(who_asks_for_all_gets_all),
      TEST(topics_only_means_no_values),
      TEST(the_clock_is_answered_at_once),
      TEST(clients_publish_to_each_other),
      TEST(older_values_of_others_are_passed_on_and_not_kept),
      TEST(ours_are_read_only),
      TEST(writable_topics_are_heard),
      TEST(what_was_written_before_a_client_came_commands_nothing),
      TEST(who_may_come_in),
      TEST(names_of_clients_are_text),
      TEST(only_get_is_answered),
      TEST(names_subscribed_to_have_a_limit),
      TEST(who_is_there_is_a_topic),
      TEST(topics_that_are_gone_make_room),
      TEST(a_slow_reader_gets_the_newest_later),
      TEST(a_publisher_can_be_replaced),
      TEST(pages_of_other_sites_only_read),
      TEST(values_of_a_wrong_type_are_told_once),
      TEST(what_clients_keep_has_a_limit),
      TEST(properties_have_a_limit),
      TEST(who_asks_again_gets_the_value_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

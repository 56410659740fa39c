/* server_test.c: the server over real loopback; clients are our own WebSockets, which say what Foxglove says. */
#include "base/clock.h"
#include "foxglove/server_internal.h"

#include "base/log.h"
#include "net/net_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct viewer {
  tt_websocket *websocket;
  tt_websocket_client *client;
  int closed, texts, messages, times, answers, plays;
  char text[65536]; /* all texts, one behind the other */
  uint32_t id;      /* of the last message */
  uint64_t time;    /* ns, of the last message or time */
  uint32_t number;  /* four bytes that the last payload begins with */
  char reason[160];
} viewer;

typedef struct world {
  tt_net *net;
  tt_foxglove_server *server;
  int number, kept; /* channels */
  int parameter;
  viewer viewers[3];
  int set, released, calls, played;
  bool stopped; /* takes no parameters */
  double value;
} world;

static const char *why_not(void *context) {
  const world *world = context;
  return world->stopped ? "emergency stop" : NULL;
}

static void on_parameter(void *context, int parameter, double value) {
  world *world = context;
  world->set += parameter == world->parameter;
  world->value = value;
}

static void on_released(void *context, int parameter) {
  world *world = context;
  world->released += parameter == world->parameter;
}

static bool on_call(void *context, int service, const char *json, size_t size, char *text,
                    size_t text_size) {
  world *world = context;
  world->calls++;
  snprintf(text, text_size, "%d: %.*s", service, (int)size, json);
  return size > 2;
}

static void on_playback(void *context, const tt_foxglove_binary *request) {
  world *world = context;
  world->played++;
  tt_foxglove_server_playback(world->server, request->pause, request->time, request->speed,
                              request->seeks, request->id, request->id_size);
}

static void open_with(world *world, bool commands, bool playback) {
  static const char *const origins[] = {"https://viewer.example"};
  tt_foxglove_options options = {.address = "127.0.0.1:0",
                                 .info = "{\"op\":\"serverInfo\"}",
                                 .origins = origins,
                                 .origin_count = 1,
                                 .commands = commands,
                                 .playback = playback,
                                 .handler = {.why_not = why_not,
                                             .on_parameter = on_parameter,
                                             .on_released = on_released,
                                             .on_call = on_call,
                                             .on_playback = on_playback},
                                 .context = world};
  assert_int_equal(tt_foxglove_server_open(world->net, &options, &world->server, NULL), TT_OK);
  world->number = tt_foxglove_add_channel(world->server, "/number", "Number", "{}");
  world->kept = tt_foxglove_add_channel(world->server, "/kept", "Kept", "{}");
  tt_foxglove_add_parameter(world->server, "other", -1, 1);
  world->parameter = tt_foxglove_add_parameter(world->server, "torque", -100, 100);
  tt_foxglove_add_service(world->server, "/step", "{}");
}

static int setup(void **state) {
  world *made = calloc(1, sizeof *made);
  made->net = tt_net_new();
  open_with(made, true, true);
  *state = made;
  return 0;
}

static int setup_read_only(void **state) {
  world *made = calloc(1, sizeof *made);
  made->net = tt_net_new();
  open_with(made, false, false);
  *state = made;
  return 0;
}

static int teardown(void **state) {
  world *world = *state;
  tt_foxglove_server_close(world->server);
  tt_net_free(world->net);
  free(world);
  return 0;
}

/* --- viewers --- */

static void on_open(void *context, tt_websocket *websocket) {
  ((viewer *)context)->websocket = websocket;
}

static uint64_t uint_at(const uint8_t *bytes, size_t size) {
  uint64_t value = 0;
  for (size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
  return value;
}

static void on_message(void *context, tt_websocket *websocket, bool text, const uint8_t *bytes,
                       size_t size) {
  viewer *viewer = context;
  (void)websocket;
  if (text) {
    size_t used = strlen(viewer->text);
    snprintf(viewer->text + used, sizeof viewer->text - used, "%.*s\n", (int)size,
             (const char *)bytes);
    viewer->texts++;
    return;
  }
  switch (bytes[0]) {
    case 1:
      viewer->messages++;
      viewer->id = (uint32_t)uint_at(bytes + 1, 4);
      viewer->time = uint_at(bytes + 5, 8);
      viewer->number = size >= 17 ? (uint32_t)uint_at(bytes + 13, 4) : 0;
      break;
    case 2:
      viewer->times++;
      viewer->time = uint_at(bytes + 1, 8);
      break;
    case 3: viewer->answers++; break;
    case 5: viewer->plays++; break;
    default: fail_msg("opcode %d", bytes[0]);
  }
}

static void on_close(void *context, tt_websocket *websocket, int code, const char *reason) {
  viewer *viewer = context;
  (void)websocket, (void)code;
  viewer->closed++;
  snprintf(viewer->reason, sizeof viewer->reason, "%s", reason);
}

#define SDK "foxglove.sdk.v1"
#define WEBSOCKET "foxglove.websocket.v1"

static viewer *enter_in(world *world, tt_net *net, int index, const char *protocol) {
  static const char *protocols[1];
  viewer *viewer = &world->viewers[index];
  char url[128];
  snprintf(url, sizeof url, "ws://%s", tt_foxglove_server_address(world->server));
  protocols[0] = protocol;
  tt_websocket_options options = tt_websocket_options_default();
  options.url = url;
  options.protocols = protocols;
  options.protocol_count = 1;
  options.reconnect = 0;
  options.handler =
      (tt_websocket_handler){.on_open = on_open, .on_message = on_message, .on_close = on_close};
  options.context = viewer;
  assert_int_equal(tt_websocket_connect(net, &options, &viewer->client, NULL), TT_OK);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!viewer->websocket && !viewer->closed && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    if (net != world->net) tt_net_poll(net, 1000000);
  }
  return viewer;
}

static void keep_line(void *context, tt_log_level level, const char *text) {
  (void)level;
  snprintf(context, 200, "%s", text);
}

static void until(world *world, const int *what, int least) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (*what < least && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    tt_foxglove_flush(world->server);
  }
  assert_true(*what >= least);
}

/* Three texts come first: serverInfo, channels, services. */
static viewer *enter(world *world, int index, const char *protocol) {
  viewer *viewer = enter_in(world, world->net, index, protocol);
  until(world, &viewer->texts, 3);
  return viewer;
}

static void say(viewer *viewer, const char *text) {
  assert_int_equal(tt_websocket_send(viewer->websocket, true, text, strlen(text)), TT_OK);
}

static void say_binary(viewer *viewer, const char *bytes, size_t size) {
  assert_int_equal(tt_websocket_send(viewer->websocket, false, bytes, size), TT_OK);
}

static void publish(world *world, const char *json, bool news) {
  tt_bytes bytes = {.size = 0};
  tt_bytes_append(&bytes, json, strlen(json));
  tt_foxglove_publish(world->server, world->number, news, &bytes);
  tt_bytes_free(&bytes);
}

static void keep(world *world, const char *json) {
  tt_bytes bytes = {.size = 0};
  tt_bytes_append(&bytes, json, strlen(json));
  assert_int_equal(tt_foxglove_keep(world->server, world->kept, &bytes), TT_OK);
  tt_bytes_free(&bytes);
}

/* Whether a text came that has `part`; waits for it. */
static void expect_text(world *world, viewer *viewer, const char *part) {
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!strstr(viewer->text, part) && tt_monotonic_ns() < end) {
    tt_net_poll(world->net, 1000000);
    tt_foxglove_flush(world->server);
  }
  if (!strstr(viewer->text, part)) fail_msg("%s in %s", part, viewer->text);
}

#define SUBSCRIBE "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":9,\"channelId\":0}]}"

static void channels_are_advertised_and_subscribed(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, WEBSOCKET);
  assert_string_equal(tt_websocket_protocol(viewer->websocket), WEBSOCKET);
  assert_true(strncmp(viewer->text, "{\"op\":\"serverInfo\"}\n", 20) == 0);
  assert_non_null(strstr(viewer->text,
                         "{\"id\":0,\"topic\":\"\\/number\",\"encoding\":\"json\","
                         "\"schemaName\":\"Number\",\"schema\":\"{}\","
                         "\"schemaEncoding\":\"jsonschema\"}"));
  assert_non_null(strstr(viewer->text, "\"name\":\"\\/step\""));
  assert_false(tt_foxglove_is_wanted(world->server, world->number, true));
  publish(world, "none", true);
  say(viewer, SUBSCRIBE);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!tt_foxglove_is_wanted(world->server, world->number, false) && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  tt_foxglove_set_time(world->server, 5000000000);
  publish(world, "{\"a\":1}", false); /* no news, but this one has had nothing */
  until(world, &viewer->messages, 1);
  assert_true(viewer->id == 9 && viewer->time == 5000000000);
  assert_false(tt_foxglove_is_wanted(world->server, world->number, false));
  publish(world, "{\"a\":1}", false);
  publish(world, "{\"a\":2}", true);
  until(world, &viewer->messages, 2);
  say(viewer, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[9]}");
  end = tt_monotonic_ns() + PATIENCE;
  while (tt_foxglove_is_wanted(world->server, world->number, true) && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  assert_false(tt_foxglove_is_wanted(world->server, world->number, true));
  assert_int_equal(viewer->messages, 2);
}

static void what_is_kept_reaches_all_and_again(void **state) {
  world *world = *state;
  keep(world, "one.");
  keep(world, "two.");
  viewer *viewer = enter(world, 0, SDK);
  say(viewer, "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":1}]}");
  until(world, &viewer->messages, 2);
  keep(world, "more");
  until(world, &viewer->messages, 3);
  assert_int_equal(viewer->number, uint_at((const uint8_t *)"more", 4));
  tt_foxglove_repeat_kept(world->server);
  until(world, &viewer->messages, 6);
}

static void what_is_wrong_is_told(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, WEBSOCKET);
  say(viewer, "{");
  say(viewer, "{\"op\":\"fly\"}");
  say(viewer, "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":1,\"channelId\":77}]}");
  expect_text(world, viewer, "no such channel");
  say(viewer, SUBSCRIBE);
  say(viewer, SUBSCRIBE);
  expect_text(world, viewer, "already");
  say(viewer, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[8]}");
  expect_text(world, viewer, "no such subscription");
  say_binary(viewer, "\x07", 1);
  say_binary(viewer, "", 0);
  expect_text(world, viewer, "opcode");
  assert_int_equal(viewer->closed, 0);
}

#define SET                                                                                        \
  "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"torque\",\"value\":2.5}],\"id\":\"q\"}"

static void parameters_are_set_and_followed(void **state) {
  world *world = *state;
  viewer *one = enter(world, 0, WEBSOCKET), *two = enter(world, 1, WEBSOCKET);
  tt_foxglove_set_parameter(world->server, world->parameter, 1);
  say(two, "{\"op\":\"getParameters\",\"parameterNames\":[],\"id\":\"all\"}");
  expect_text(world, two, "\"id\":\"all\"");
  expect_text(world, two, "{\"name\":\"torque\",\"value\":1.0,\"type\":\"float64\"}");
  say(two, "{\"op\":\"subscribeParameterUpdates\",\"parameterNames\":[\"torque\"]}");
  say(two, "{\"op\":\"getParameters\",\"parameterNames\":[\"other\"],\"id\":\"then\"}");
  expect_text(world, two, "then");
  say(one, SET);
  until(world, &world->set, 1);
  assert_true(world->value == 2.5);
  expect_text(world, one, "\"id\":\"q\"");
  expect_text(world, two, "\"value\":2.5");
  say(one,
      "{\"op\":\"setParameters\",\"parameters\":[{\"name\":\"torque\"},{\"name\":\"tork\","
      "\"value\":1}]}");
  expect_text(world, one, "finite number");
  expect_text(world, one, "there is no tork");
  assert_int_equal(world->set, 1);
  say(two, SET);
  until(world, &world->set, 2);
  say(one, SET);
  until(world, &world->set, 3);
  tt_websocket_client_close(two->client);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (tt_foxglove_client_count(world->server) == 2 && tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  assert_int_equal(world->released, 0); /* it was not the last that set it */
  char line[200] = "";
  tt_log_set_sink(keep_line, line);
  tt_websocket_client_close(one->client);
  until(world, &world->released, 1);
  tt_log_set_sink(NULL, NULL);
  assert_non_null(strstr(line, "disconnected: "));
}

static void an_emergency_stop_is_told_who_commands(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, WEBSOCKET);
  world->stopped = true;
  say(viewer, SET);
  expect_text(world, viewer, "emergency stop");
  expect_text(world, viewer, "\"value\":0.0,\"type\":\"float64\"}],\"id\":\"q\"");
  assert_int_equal(world->set, 0);
  world->stopped = false;
  say(viewer, SET);
  until(world, &world->set, 1);
}

static void commands_are_published_all_or_none(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, WEBSOCKET);
  say(viewer,
      "{\"op\":\"advertise\",\"channels\":[{\"id\":5,\"topic\":\"/commands\",\"encoding\":"
      "\"json\",\"schemaName\":\"\"},{\"id\":6,\"topic\":\"/else\",\"encoding\":\"cdr\"}]}");
  expect_text(world, viewer, "encoding json");
  say_binary(viewer, "\x01\x05\0\0\0{\"torque\":4,\"tork\":1}", 26);
  expect_text(world, viewer, "/commands: there is no tork");
  say_binary(viewer, "\x01\x05\0\0\0{\"torque\":4,\"other\":2}", 27);
  expect_text(world, viewer, "other: 2 is out of its range; give -1 to 1");
  say(viewer,
      "{\"op\":\"setParameters\",\"id\":\"s\",\"parameters\":[{\"name\":\"torque\","
      "\"value\":1e3}]}");
  expect_text(world, viewer, "torque: 1000 is out of its range; give -100 to 100");
  expect_text(world, viewer, "\"value\":0.0,\"type\":\"float64\"}],\"id\":\"s\"");
  assert_int_equal(world->set, 0);
  say_binary(viewer, "\x01\x05\0\0\0{\"torque\":4}", 17);
  until(world, &world->set, 1);
  assert_true(world->value == 4);
  say(viewer, "{\"op\":\"unadvertise\",\"channelIds\":[5]}");
  say_binary(viewer, "\x01\x05\0\0\0{\"torque\":5}", 17);
  say(viewer, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[8]}");
  expect_text(world, viewer, "no such subscription"); /* what came before is done */
  assert_int_equal(world->set, 1);
}

static void services_and_controls(void **state) {
  world *world = *state;
  viewer *sdk = enter(world, 0, SDK), *plain = enter(world, 1, WEBSOCKET);
  say_binary(sdk, "\x02\0\0\0\0\x07\0\0\0\x04\0\0\0json{\"ticks\":2}", 28);
  until(world, &sdk->answers, 1);
  say_binary(sdk, "\x02\0\0\0\0\x08\0\0\0\x04\0\0\0json{}", 19); /* refused by whoever does it */
  expect_text(world, sdk, "\"op\":\"serviceCallFailure\",\"serviceId\":0,\"callId\":8");
  say_binary(sdk, "\x02\x09\0\0\0\x09\0\0\0\x04\0\0\0json{}", 19);
  expect_text(world, sdk, "no such service");
  assert_int_equal(world->calls, 2);
  say_binary(sdk, "\x03\x01\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\x02\0\0\0id", 21);
  until(world, &sdk->plays, 1);
  assert_int_equal(world->played, 1);
  assert_int_equal(plain->plays, 0); /* it would not know what that is */
}

static void who_may_only_read(void **state) {
  world *world = *state;
  viewer *viewer = enter(world, 0, SDK);
  say(viewer, SET);
  expect_text(world, viewer, "foxglove.commands: on");
  say_binary(viewer, "\x03\x01\0\0\x80\x3f\0\0\0\0\0\0\0\0\0\0\0\0\0", 19);
  expect_text(world, viewer, "Only a kept run");
  assert_int_equal(world->set + world->played, 0);
}

/* As a page of another site has it; one that the scene names is no stranger. */
static void pages_of_other_sites_only_read(void **state) {
  world *world = *state;
  static const char head[] =
      "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: " SDK "\r\nOrigin: %s\r\n\r\n";
  static const char *const origins[] = {"https://evil.example", "https://viewer.example"};
  for (int i = 0; i < 2; i++) {
    char request[512];
    int size = snprintf(request, sizeof request, head, origins[i]);
    int s = plain_socket(SOCK_STREAM, tt_foxglove_server_address(world->server));
    assert_int_equal(send(s, request, (size_t)size, 0), size);
    until(world, &world->server->peer_count, i + 1);
    assert_int_equal(world->server->peers->trusted, i == 1);
  }
  /* a command of the stranger is none */
  foxglove_peer *stranger = world->server->peers->next;
  assert_false(stranger->trusted);
}

static void who_may_come_in(void **state) {
  world *world = *state;
  assert_int_equal(enter_in(world, world->net, 0, "other")->closed, 1);
  assert_non_null(strstr(world->viewers[0].reason, "400"));
}

#define BIG 65536
#define MESSAGES 400 /* more of them than sockets hold */

/* Nobody reads in the loop apart: what it was sent stays bounded, and its connection. */
static void a_slow_reader_loses_messages_and_gets_the_newest(void **state) {
  world *world = *state;
  tt_net *apart = tt_net_new();
  viewer *slow = enter_in(world, apart, 0, SDK), *quick = enter(world, 1, SDK);
  say(slow, SUBSCRIBE);
  say(quick, SUBSCRIBE);
  const foxglove_peer *served = world->server->peers->next;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while ((!served->subscription_count || !world->server->peers->subscription_count) &&
         tt_monotonic_ns() < end)
    tt_net_poll(world->net, 1000000);
  static char big[BIG];
  tt_bytes json = {.size = 0};
  bool filled = false;
  for (uint32_t i = 1; i <= MESSAGES; i++) {
    memcpy(big, &i, sizeof i);
    tt_bytes_cut(&json, 0);
    tt_bytes_append(&json, big, sizeof big);
    tt_foxglove_publish(world->server, world->number, true, &json);
    tt_net_poll(world->net, 0);
    tt_foxglove_flush(world->server);
    size_t queued = tt_websocket_queued(served->websocket);
    assert_true(queued < FOXGLOVE_SLOW_AT + (size_t)2 * BIG);
    filled |= queued > FOXGLOVE_SLOW_AT;
  }
  assert_true(filled);
  while ((slow->number != MESSAGES || quick->number != MESSAGES) && tt_monotonic_ns() < end) {
    tt_foxglove_publish(world->server, world->number, true, &json);
    tt_net_poll(world->net, 1000000);
    tt_net_poll(apart, 0);
  }
  assert_true(slow->number == MESSAGES && quick->number == MESSAGES);
  assert_int_equal(slow->closed + quick->closed, 0);
  tt_bytes_free(&json);
  tt_net_free(apart);
}

int main(void) {
#define TEST(name, setup) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(channels_are_advertised_and_subscribed, setup),
      TEST(what_is_kept_reaches_all_and_again, setup),
      TEST(what_is_wrong_is_told, setup),
      TEST(parameters_are_set_and_followed, setup),
      TEST(an_emergency_stop_is_told_who_commands, setup),
      TEST(commands_are_published_all_or_none, setup),
      TEST(services_and_controls, setup),
      TEST(who_may_only_read, setup_read_only),
      TEST(pages_of_other_sites_only_read, setup),
      TEST(who_may_come_in, setup),
      TEST(a_slow_reader_loses_messages_and_gets_the_newest, setup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

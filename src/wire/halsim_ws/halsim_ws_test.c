/* halsim_ws_test.c: a program at the other end of the wire, in order and out of it, tick by tick. */
#include "base/clock.h"
#include "wire/halsim_ws/halsim_ws_testing.h"

#include "halsim/message.h"
#include "net/net_testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SCENE "sharp-wpilib"
#define SPEED(channel, value)                                                                      \
  "{\"type\":\"PWM\",\"device\":\"" #channel "\",\"data\":{\"<speed\":" #value "}}"
#define ENCODER                                                                                    \
  "{\"type\":\"Encoder\",\"device\":\"0\",\"data\":{\"<channel_a\":0,\"<channel_b\":1,"            \
  "\"<init\":true}}"
#define SETTINGS(...)                                                                              \
  (const char *const[]){__VA_ARGS__},                                                              \
      (int)(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define WATCHDOG_TICKS 50 /* 0.5 s */

static void ticks(tt_rig *rig, int count) {
  for (int i = 0; i < count; i++) tt_rig_tick(rig);
}

static int setup(void **state) {
  static tt_rig rig;
  tt_rig_open(&rig, SCENE, NULL, 0, false);
  tt_rig_connected(&rig);
  *state = &rig;
  return 0;
}

static int teardown(void **state) {
  tt_rig_close(*state);
  return 0;
}

/* --- in order --- */

static void a_speed_drives_and_an_encoder_counts(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, ENCODER);
  tt_rig_say(rig, SPEED(0, 0.5));
  tt_rig_tick(rig);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.5, 1e-12);
  ticks(rig, 50);
  assert_non_null(strstr(rig->program.text, "\"device\":\"0\"}"));
  assert_non_null(strstr(rig->program.text, "\">count\":"));
  assert_true(tt_rig_signal(rig, "left_drive.position") > 1);
}

static void only_changes_leave(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, ENCODER);
  ticks(rig, 100); /* it settles */
  tt_rig_say(rig, SPEED(0, 0));
  uint64_t before = rig->program.frames;
  ticks(rig, 40);
  assert_in_range(rig->program.frames - before, 20, 20); /* the driver station's, every 20 ms */
}

static void the_station_enables_with_every_message(void **state) {
  tt_rig *rig = *state;
  ticks(rig, 2);
  assert_non_null(strstr(rig->program.text, "\">enabled\":true"));
  assert_non_null(strstr(rig->program.text, "\">robotMode\":2"));
  assert_non_null(strstr(rig->program.text, "\">station\":\"red1\""));
}

static void order_station(tt_rig *rig, int kind, int value) {
  tt_mail mail = {.kind = TT_MAIL_STATION, .source = "test"};
  mail.station = (tt_ds_order){.kind = (tt_ds_order_kind)kind, .robot = -1, .value = value};
  tt_world_post(rig->world, &mail);
  ticks(rig, 3);
}

static void what_was_said_before_an_emergency_stop_counts_after_it(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, SPEED(0, 0.5));
  tt_rig_tick(rig);
  order_station(rig, TT_DS_ESTOP, 1);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0, 1e-12);
  assert_non_null(strstr(rig->program.text, "\">estop\":true"));
  order_station(rig, TT_DS_ESTOP, 0);
  order_station(rig, TT_DS_ENABLE, 1);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.5, 1e-12);
}

static void without_its_station_a_program_hears_of_none(void **state) {
  (void)state;
  tt_rig rig;
  tt_rig_open(&rig, SCENE, SETTINGS("wires.halsim-ws.ds=off"), false);
  tt_rig_connected(&rig);
  tt_rig_say(&rig, SPEED(0, 0.5));
  ticks(&rig, 2 * WATCHDOG_TICKS); /* it says nothing, since nothing changes */
  assert_null(rig.program.text ? strstr(rig.program.text, "DriverStation") : NULL);
  assert_float_equal(tt_rig_command(&rig, "left_drive.duty"), 0.5, 1e-12);
  order_station(&rig, TT_DS_ENABLE, 0); /* and so it can't end its outputs itself */
  ticks(&rig, 1);
  tt_rig_say(&rig, SPEED(0, 0.25));
  ticks(&rig, 2);
  assert_float_equal(tt_rig_command(&rig, "left_drive.duty"), 0, 1e-12);
  order_station(&rig, TT_DS_ENABLE, 1);
  ticks(&rig, 2);
  assert_float_equal(tt_rig_command(&rig, "left_drive.duty"), 0.25, 1e-12);
  tt_rig_close(&rig);
}

/* Else it would drive whatever it finds next. */
static void at_the_end_the_program_is_disabled(void **state) {
  tt_rig *rig = *state;
  ticks(rig, 2);
  tt_world_free(rig->world);
  rig->world = NULL;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!rig->program.closed && tt_monotonic_ns() < end) tt_net_poll(rig->program.net, 1000000);
  assert_int_equal(rig->program.closed, 1);
  const char *last = NULL;
  for (const char *at = rig->program.text; (at = strstr(at, "\">enabled\":")); at++) last = at;
  assert_non_null(last);
  assert_memory_equal(last, "\">enabled\":false", 16);
}

static void after_a_reset_the_program_drives_on(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, SPEED(0, 0.5));
  ticks(rig, 5);
  tt_world_post(rig->world,
                &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"});
  ticks(rig, 2);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.5, 1e-12);
}

/* --- it goes, and comes back --- */

/* The program is gone, and the wire knows it. */
static void cut(tt_rig *rig) {
  const tt_wire *wire = tt_rig_wire(rig, 0);
  tt_websocket_server_close(rig->program.server);
  tt_websocket_client_close(rig->program.client);
  rig->program.server = NULL;
  rig->program.client = NULL;
  rig->program.websocket = NULL;
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (wire->stats.peer[0] && tt_monotonic_ns() < end) {
    tt_net_poll(rig->program.net, 0);
    tt_net_poll(wire->net, 1000000);
  }
  assert_string_equal(wire->stats.peer, "");
}

/* Started again. */
static void come_back(tt_rig *rig) {
  char url[128];
  const tt_wire *wire = tt_rig_wire(rig, 0);
  snprintf(url, sizeof url, "ws://%s", wire->ops->address(wire));
  tt_rig_program_connect(&rig->program, url);
  tt_rig_connected(rig);
}

static int setup_listening(void **state) {
  static tt_rig rig;
  tt_rig_open(&rig, SCENE, NULL, 0, true);
  tt_rig_connected(&rig);
  *state = &rig;
  return 0;
}

/* At many moments: in the first burst, while it drives, while it is silent. */
static void a_lost_connection_is_safe_and_comes_back(void **state) {
  tt_rig *rig = *state;
  const tt_wire *wire = tt_rig_wire(rig, 0);
  for (int moment = 0; moment < 8; moment++) {
    tt_rig_say(rig, ENCODER);
    tt_rig_say(rig, SPEED(0, 0.5));
    tt_rig_say(rig, SPEED(1, 0.5));
    ticks(rig, 1 + 2 * moment);
    assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.5, 1e-12);
    cut(rig);
    ticks(rig, WATCHDOG_TICKS);
    assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0, 1e-12);
    assert_float_equal(tt_rig_command(rig, "right_drive.duty"), 0, 1e-12);
    assert_int_equal(wire->state, TT_WIRE_SILENT);
    assert_int_equal(wire->stats.watchdog_trips, moment + 1);
    come_back(rig);
    tt_rig_tick(rig);
    assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0, 1e-12); /* it said nothing yet */
  }
}

static void a_new_program_hears_everything(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, ENCODER);
  ticks(rig, 3);
  cut(rig);
  come_back(rig);
  size_t before = rig->program.size;
  tt_rig_say(rig, ENCODER);
  ticks(rig, 3);
  const char *heard = rig->program.text + before;
  assert_non_null(strstr(heard, "\">count\":"));
  assert_non_null(strstr(heard, "\">connected\":true"));
  assert_non_null(strstr(heard, "\">angle_x\":"));
}

static void a_silent_program_is_heard_again_as_it_was(void **state) {
  tt_rig *rig = *state;
  tt_rig_say(rig, SPEED(0, 0.5));
  ticks(rig, 2 * WATCHDOG_TICKS);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0, 1e-12);
  tt_rig_say(rig, "{\"type\":\"DriverStation\",\"device\":\"\",\"data\":{\">new_data\":true}}");
  tt_rig_tick(rig);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.5, 1e-12);
}

static void a_robot_begins_anew_where_the_scene_wants_it(void **state) {
  (void)state;
  tt_rig rig;
  tt_rig_open(&rig, SCENE, SETTINGS("wires.halsim-ws.on_disconnect=reset"), false);
  tt_rig_connected(&rig);
  tt_rig_say(&rig, SPEED(0, 0.5));
  ticks(&rig, 40);
  assert_true(tt_world_step(rig.world) > 100);
  cut(&rig);
  tt_rig_tick(&rig);
  assert_in_range(tt_world_step(rig.world), 0, 20);
  tt_rig_close(&rig);
}

/* --- out of order --- */

static void what_is_wrong_changes_nothing(void **state) {
  tt_rig *rig = *state;
  tt_rig other;
  static const char *const bad[] = {
      "",
      "{",
      "[]",
      "null",
      "{\"type\":\"PWM\"}",
      SPEED(0, 1.5),
      SPEED(0, -1e300),
      SPEED(0, 1e999),
      SPEED(0, NaN),
      SPEED(0, "\"fast\""),
      SPEED(0, [1]),
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":1,\"<speed\":1}}"};
  tt_rig_open(&other, SCENE, NULL, 0, false);
  tt_rig_connected(&other);
  tt_rig_say(rig, SPEED(0, 0.25));
  tt_rig_say(&other, SPEED(0, 0.25));
  int count = (int)(sizeof bad / sizeof *bad);
  for (int i = 0; i < count; i++) {
    tt_rig_say(rig, bad[i]);
    tt_rig_tick(rig);
    tt_rig_say(&other, SPEED(19, 1)); /* nobody's: both are heard of in each tick */
    tt_rig_tick(&other);
  }
  uint64_t dropped = 0;
  for (int i = 0; i < TT_DROP_COUNT; i++) dropped += tt_rig_wire(rig, 0)->stats.dropped[i];
  assert_int_equal(dropped, count);
  assert_true(tt_world_hash(rig->world) == tt_world_hash(other.world));
  tt_rig_close(&other);
}

static void every_prefix_of_a_message_is_refused(void **state) {
  tt_rig *rig = *state;
  char text[] = SPEED(0, 0.5);
  size_t size = strlen(text);
  const tt_wire *wire = tt_rig_wire(rig, 0);
  for (size_t cut_at = 0; cut_at < size; cut_at++) {
    char part[sizeof text];
    snprintf(part, cut_at + 1, "%s", text);
    tt_rig_say(rig, part);
  }
  assert_int_equal(wire->stats.dropped[TT_DROP_SYNTAX], size);
  tt_rig_tick(rig);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0, 1e-12);
  assert_int_equal(wire->state, TT_WIRE_WAITING); /* such a program feeds no watchdog */
}

static void a_binary_message_is_refused(void **state) {
  tt_rig *rig = *state;
  const tt_wire *wire = tt_rig_wire(rig, 0);
  const char text[] = SPEED(0, 0.5);
  tt_websocket_send(rig->program.websocket, false, text, sizeof text - 1);
  tt_rig_pump(rig, &wire->stats.received, 1);
  assert_int_equal(wire->stats.dropped[TT_DROP_SYNTAX], 1);
  assert_non_null(strstr(wire->stats.bad_text, "binary"));
}

static void a_message_without_end_costs_its_connection(void **state) {
  tt_rig *rig = *state;
  size_t size = TT_HALSIM_MOST_BYTES + 1;
  char *text = malloc(size);
  memset(text, ' ', size);
  tt_websocket_send(rig->program.websocket, true, text, size);
  free(text);
  uint64_t end = tt_monotonic_ns() + PATIENCE;
  while (!rig->program.closed && tt_monotonic_ns() < end) {
    tt_net_poll(tt_rig_wire(rig, 0)->net, 0);
    tt_net_poll(rig->program.net, 1000000);
  }
  assert_int_equal(rig->program.code, 1009);
  tt_rig_connected(rig); /* and it may come again */
}

/* Six joysticks with all that they can have, moved: 5 kB. */
static void move_joysticks(tt_rig *rig, int count) {
  for (int i = 0; i < TT_DS_JOYSTICKS; i++) {
    tt_mail mail = {.kind = TT_MAIL_STATION, .source = "test"};
    mail.station = (tt_ds_order){.kind = TT_DS_JOYSTICK, .robot = -1, .value = i};
    tt_ds_joystick *joystick = &mail.station.joystick;
    joystick->axis_count = TT_DS_AXES;
    joystick->button_count = TT_DS_BUTTONS;
    for (int axis = 0; axis < TT_DS_AXES; axis++) joystick->axes[axis] = 1.0 / (3 + count % 100);
    tt_world_post(rig->world, &mail);
  }
}

/* It is cut when so much waits for it that nobody would want it; meanwhile the world goes on as ever. */
static void a_program_that_never_reads_is_cut(void **state) {
  tt_rig *rig = *state;
  const tt_wire *wire = tt_rig_wire(rig, 0);
  tt_error error;
  for (int count = 0; wire->stats.peer[0] && count < 100000; count++) {
    move_joysticks(rig, count);
    assert_int_equal(tt_world_tick(rig->world, &error), TT_OK);
  }
  assert_string_equal(wire->stats.peer, "");
  cut(rig);
  come_back(rig);
  tt_rig_say(rig, SPEED(0, 0.25));
  ticks(rig, 2);
  assert_float_equal(tt_rig_command(rig, "left_drive.duty"), 0.25, 1e-12);
}

/* --- for people --- */

static int explain(tt_rig *rig, const char *text, int size, tt_wire_field *fields) {
  const tt_wire *wire = tt_rig_wire(rig, 0);
  tt_explanation to = {.bytes = (const uint8_t *)text,
                       .size = size,
                       .whole = (int)strlen(text),
                       .fields = fields,
                       .capacity = 4};
  wire->ops->explain(wire, true, &to);
  return to.count;
}

static void a_monitor_shows_device_and_values(void **state) {
  tt_wire_field fields[4];
  const char text[] = "{\"type\":\"PWM\",\"device\":\"3\",\"data\":{\"<raw\":1500,\"<speed\":0.5}}";
  int size = (int)sizeof text - 1;
  assert_int_equal(explain(*state, text, size, fields), 3);
  assert_string_equal(fields[0].value, "PWM 3");
  assert_string_equal(fields[2].name, "<speed");
  assert_string_equal(fields[2].value, "0.5");
  assert_memory_equal(text + fields[2].offset, "\"<speed\"", (size_t)fields[2].size);
  assert_int_equal(explain(*state, text, size - 5, fields), 1); /* its end was not kept */
  assert_false(fields[0].wrong);
  assert_int_equal(explain(*state, "{\"type\":1}", 10, fields), 1);
  assert_true(fields[0].wrong);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_speed_drives_and_an_encoder_counts),
      TEST(only_changes_leave),
      TEST(the_station_enables_with_every_message),
      TEST(what_was_said_before_an_emergency_stop_counts_after_it),
      cmocka_unit_test(without_its_station_a_program_hears_of_none),
      TEST(at_the_end_the_program_is_disabled),
      TEST(after_a_reset_the_program_drives_on),
      cmocka_unit_test_setup_teardown(a_lost_connection_is_safe_and_comes_back, setup_listening,
                                      teardown),
      cmocka_unit_test_setup_teardown(a_new_program_hears_everything, setup_listening, teardown),
      cmocka_unit_test_setup_teardown(a_program_that_never_reads_is_cut, setup_listening, teardown),
      TEST(a_silent_program_is_heard_again_as_it_was),
      cmocka_unit_test(a_robot_begins_anew_where_the_scene_wants_it),
      TEST(what_is_wrong_changes_nothing),
      TEST(every_prefix_of_a_message_is_refused),
      TEST(a_binary_message_is_refused),
      TEST(a_monitor_shows_device_and_values),
      TEST(a_message_without_end_costs_its_connection),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

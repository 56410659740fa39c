/* live_order_test.c: what pages may ask for, and that of a wrong order nothing is taken. */
#include "web/live_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const tt_live_counts counts = {.signals = 20, .commands = 10, .wires = 3, .robots = 2};
static tt_live_order order;
static tt_error error;

static void accept(const char *text) {
  assert_int_equal(tt_live_order_read(text, strlen(text), &counts, &order, &error), TT_OK);
}

static void refuse(const char *text, const char *reason) {
  assert_int_equal(tt_live_order_read(text, strlen(text), &counts, &order, &error), TT_INVALID);
  if (!strstr(error.text, reason)) fail_msg("%s: \"%s\" does not say %s", text, error.text, reason);
}

static void test_orders(void **state) {
  (void)state;
  accept("{\"type\":\"ack\",\"sequence\":7}");
  assert_int_equal(order.sequence, 7);
  accept("{\"type\":\"subscribe\",\"number\":2,\"signals\":[0,19],\"rate\":50}");
  assert_int_equal(order.subscribe.count, 2);
  assert_int_equal(order.subscribe.signals[1], 19);
  accept("{\"type\":\"control\",\"action\":\"speed\",\"value\":0.5}");
  assert_int_equal(order.control.kind, TT_MAIL_SPEED);
  assert_true(order.control.value == 0.5);
  assert_int_equal(order.control.robot, TT_NO_ROBOT);
  accept("{\"type\":\"control\",\"action\":\"reset\",\"robot\":1}");
  assert_int_equal(order.control.robot, 1);
  accept("{\"type\":\"command\",\"values\":[[0,1.5],[9,-2e3]]}");
  assert_int_equal(order.command.count, 2);
  assert_true(order.command.values[1].value == -2e3);
  assert_int_equal(order.command.meant_for, 0);
  accept("{\"type\":\"command\",\"epoch\":4,\"values\":[[0,1.5]]}");
  assert_int_equal(order.command.meant_for, 5);
  accept("{\"type\":\"monitor\",\"wire\":-1}");
  assert_int_equal(order.wire, -1);
  accept("{\"type\":\"phantom\",\"add\":\"a.wpilog\"}");
  assert_string_equal(order.run, "a.wpilog");
}

static void test_joystick(void **state) {
  (void)state;
  accept(
      "{\"type\":\"joystick\",\"core\":\"127.0.0.1:4000\",\"axes\":[0,-1,0.5,9],\"buttons\":[0,1,0,"
      "0],\"start\":true}");
  assert_string_equal(order.joystick.core, "127.0.0.1:4000");
  assert_int_equal(order.joystick.port, 2000);
  assert_int_equal(order.joystick.values[TT_JOYSTICK_LEFT_X + 1], -TT_SHARP_FULL);
  assert_int_equal(order.joystick.values[TT_JOYSTICK_LEFT_X + 3], TT_SHARP_FULL);
  assert_int_equal(order.joystick.values[TT_JOYSTICK_A + 1], 1);
  assert_int_equal(order.joystick.values[TT_JOYSTICK_START], 1);
  accept("{\"type\":\"joystick\",\"core\":\"127.0.0.1:4000\",\"port\":2001}");
  assert_int_equal(order.joystick.port, 2001);
  accept("{\"type\":\"joystick\",\"core\":null}");
  assert_string_equal(order.joystick.core, "");
}

static void test_stations(void **state) {
  (void)state;
  accept("{\"type\":\"station\",\"action\":\"enable\"}");
  assert_int_equal(order.kind, TT_ORDER_STATION);
  assert_int_equal(order.station.kind, TT_DS_ENABLE);
  assert_int_equal(order.station.value, 1);
  assert_int_equal(order.station.robot, -1);
  accept("{\"type\":\"station\",\"action\":\"mode\",\"robot\":1,\"value\":\"test\"}");
  assert_int_equal(order.station.value, TT_MODE_TEST);
  assert_int_equal(order.station.robot, 1);
  accept("{\"type\":\"station\",\"action\":\"place\",\"robot\":0,\"value\":\"blue3\"}");
  assert_int_equal(order.station.value, TT_STATION_BLUE3);
  accept("{\"type\":\"station\",\"action\":\"data\",\"value\":\"LRL\"}");
  assert_string_equal(order.station.text, "LRL");
  assert_true(tt_ds_order_is_good(&order.station, counts.robots));
  refuse("{\"type\":\"station\",\"action\":\"fly\"}", "enable, disable");
  refuse("{\"type\":\"station\",\"action\":\"mode\",\"value\":\"disabled\"}", "autonomous");
  refuse("{\"type\":\"station\",\"action\":\"mode\"}", "autonomous");
  refuse("{\"type\":\"station\",\"action\":\"place\",\"value\":\"red4\"}", "red1");
  refuse("{\"type\":\"station\",\"action\":\"enable\",\"robot\":2}", "no such robot");
  refuse(
      "{\"type\":\"station\",\"action\":\"data\",\"value\":"
      "\"0123456789012345678901234567890123456789012345678901234567890123\"}",
      "63 bytes");
}

static void test_sticks(void **state) {
  (void)state;
  accept(
      "{\"type\":\"stick\",\"robot\":1,\"stick\":5,\"axes\":[-1,0.25],\"buttons\":[0,1,true],"
      "\"povs\":[315,-1]}");
  const tt_ds_joystick *stick = &order.station.joystick;
  assert_int_equal(order.station.kind, TT_DS_JOYSTICK);
  assert_int_equal(order.station.value, 5);
  assert_int_equal(stick->axis_count, 2);
  assert_true(stick->axes[1] == 0.25);
  assert_int_equal(stick->buttons, 6);
  assert_int_equal(stick->button_count, 3);
  assert_int_equal(stick->povs[0], 315);
  assert_int_equal(stick->povs[1], -1);
  assert_true(tt_ds_order_is_good(&order.station, counts.robots));
  accept("{\"type\":\"stick\",\"robot\":0,\"stick\":0}"); /* unplugged */
  assert_int_equal(order.station.joystick.axis_count, 0);
  refuse("{\"type\":\"stick\",\"robot\":0}", "0 to 5");
  refuse("{\"type\":\"stick\",\"robot\":0,\"stick\":6}", "0 to 5");
  refuse("{\"type\":\"stick\",\"robot\":0,\"stick\":0,\"axes\":[1.1]}", "each of axes");
  refuse("{\"type\":\"stick\",\"robot\":0,\"stick\":0,\"povs\":[360]}", "degrees");
  refuse("{\"type\":\"stick\",\"robot\":0,\"stick\":0,\"axes\":[0,0,0,0,0,0,0,0,0,0,0,0,0]}",
         "at most 12");
}

static void test_trials(void **state) {
  (void)state;
  accept("{\"type\":\"trial\",\"action\":\"start\",\"why\":\"hand\",\"driver\":\"Ada\\nL.\"}");
  assert_int_equal(order.kind, TT_ORDER_TRIAL);
  assert_string_equal(order.trial, "started by hand, driver Ada L.");
  accept("{\"type\":\"trial\",\"action\":\"stop\",\"why\":\"x > 1\",\"driver\":\"\",\"time\":2.5}");
  assert_string_equal(order.trial, "stopped by x > 1 after 2.500 s, driver ");
  char text[400] = "{\"type\":\"trial\",\"action\":\"void\",\"why\":\"x";
  for (int i = 0; i < 100; i++) strcat(text, "\xc3\xa4");
  accept(strcat(text, "\"}"));
  assert_int_equal(strlen(order.trial), strlen("void: x") + 88); /* no half of a character */
  refuse("{\"type\":\"trial\",\"action\":\"win\"}", "start, stop or void");
}

static void test_wrong_orders(void **state) {
  (void)state;
  refuse("", "one JSON object");
  refuse("[]", "one JSON object");
  refuse("{\"type\":\"ack\"} {}", "one JSON object");
  refuse("{\"type\":\"ack\",\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", "more than 16 levels");
  refuse("{\"type\":\"ack\xff\"}", "one JSON object");
  refuse("{\"type\":\"ack\",\"type\":\"trial\"}", "byte 14: the key 'type' stands twice");
  refuse("{}", "no such order");
  refuse("{\"type\":\"ack\\u0000\"}", "no such order");
  refuse("{\"type\":\"control\",\"action\":\"fly\"}", "action");
  refuse("{\"type\":\"control\",\"action\":\"reset\",\"robot\":2}", "no such robot");
  refuse("{\"type\":\"control\",\"action\":\"speed\",\"value\":1e999}", "finite number");
  refuse("{\"type\":\"control\",\"action\":\"speed\",\"value\":1e308}", "0.001 to 1000");
  refuse("{\"type\":\"control\",\"action\":\"speed\",\"value\":0}", "0.001 to 1000");
  refuse("{\"type\":\"control\",\"action\":\"step\",\"value\":1e30}", "1,000,000 ticks");
  refuse("{\"type\":\"subscribe\",\"signals\":[20]}", "no such signal");
  refuse("{\"type\":\"subscribe\",\"signals\":[],\"rate\":0}", "rate");
  refuse("{\"type\":\"monitor\",\"wire\":3}", "no such wire");
  refuse("{\"type\":\"command\"}", "values");
  refuse("{\"type\":\"command\",\"epoch\":-1,\"values\":[[0,1]]}", "epoch");
  refuse("{\"type\":\"command\",\"values\":[[0,1],[10,1]]}", "no such command");
  refuse("{\"type\":\"command\",\"values\":[[0,1],[1,\"a\"]]}", "finite number");
  assert_int_equal(order.command.count, 0);
  refuse("{\"type\":\"phantom\",\"remove\":-1}", "add a run");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_orders),   cmocka_unit_test(test_joystick),
      cmocka_unit_test(test_stations), cmocka_unit_test(test_sticks),
      cmocka_unit_test(test_trials),   cmocka_unit_test(test_wrong_orders),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

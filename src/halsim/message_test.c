/* message_test.c: messages as a real program sent them, read and written; and what is none. */
#include "halsim/message.h"
#include "halsim/station.h"

#include <json-c/json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static tt_halsim_value member(const tt_halsim_message *message, const char *key) {
  struct json_object *json;
  assert_true(json_object_object_get_ex(message->data, key, &json));
  return tt_halsim_value_of(key, json);
}

static tt_status read_text(const char *text, tt_halsim_message *message) {
  tt_error error;
  return tt_halsim_read(text, strlen(text), message, &error);
}

static void values_keep_their_sort(void **state) {
  (void)state;
  tt_halsim_message message;
  assert_int_equal(
      read_text("{\n\"data\": {\n\"<init\": true,\n\"<raw\": 1500,\n\"<speed\": -0.5,\n"
                "\"<mode\": \"coast\",\n\"<data\": [],\n\"<bad\": null\n},\n"
                "\"device\": \"3\",\n\"type\": \"PWM\"\n}",
                &message),
      TT_OK);
  assert_string_equal(message.type, "PWM");
  assert_string_equal(message.device, "3");
  tt_halsim_value init = member(&message, "<init"), speed = member(&message, "<speed");
  assert_true(init.sort == TT_HALSIM_FLAG && init.number == 1);
  assert_true(speed.sort == TT_HALSIM_NUMBER && speed.number == -0.5);
  assert_true(member(&message, "<raw").sort == TT_HALSIM_WHOLE);
  assert_true(member(&message, "<raw").number == 1500);
  assert_true(member(&message, "<mode").sort == TT_HALSIM_TEXT);
  assert_true(member(&message, "<data").sort == TT_HALSIM_OTHER);
  assert_true(member(&message, "<bad").sort == TT_HALSIM_NOTHING);
  tt_halsim_message_clear(&message);
}

static void the_largest_number_is_read(void **state) {
  (void)state;
  tt_halsim_message message;
  assert_int_equal(read_text("{\"type\":\"Encoder\",\"device\":\"0\",\"data\":{\">period\":"
                             "1.7976931348623157e+308}}",
                             &message),
                   TT_OK);
  assert_true(member(&message, ">period").number > 1e308);
  tt_halsim_message_clear(&message);
}

/* Which a program says again after every connection: refused, it would never drive. */
static void the_longest_strip_of_lights_is_read(void **state) {
  (void)state;
  static char text[TT_HALSIM_MOST_BYTES];
  size_t size = (size_t)snprintf(text, sizeof text, "{\n\"data\": {\n\"<data\": [\n");
  for (int i = 0; i < 5460; i++)
    size += (size_t)snprintf(text + size, sizeof text - size,
                             "%s{\n\"b\": 255,\n\"g\": 255,\n\"r\": 255\n}", i ? ",\n" : "");
  snprintf(text + size, sizeof text - size,
           "\n]\n},\n\"device\": \"0\",\n\"type\": \"AddressableLED\"\n}");
  tt_halsim_message message;
  assert_int_equal(read_text(text, &message), TT_OK);
  assert_true(member(&message, "<data").sort == TT_HALSIM_OTHER);
  tt_halsim_message_clear(&message);
}

static void what_is_no_message_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "[]",
      "{}",
      "{\"type\":\"PWM\",\"device\":\"0\"}",
      "{\"type\":\"PWM\",\"device\":0,\"data\":{}}",
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":[]}",
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":1e999}}",
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":NaN}}",
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<speed\":1,\"<speed\":2}}",
      "{\"type\":\"\",\"device\":\"0\",\"data\":{}}",
      "{\"type\":\"P\\u0000WM\",\"device\":\"0\",\"data\":{}}",
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{}} {}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tt_halsim_message message;
    assert_int_equal(read_text(bad[i], &message), TT_INVALID);
    assert_null(message.whole);
  }
}

static void what_is_written_reads_the_same(void **state) {
  (void)state;
  static const tt_halsim_value values[] = {
      {.key = ">count", .sort = TT_HALSIM_WHOLE, .number = -1440},
      {.key = ">period", .sort = TT_HALSIM_NUMBER, .number = 0.5},
      {.key = "<>value", .sort = TT_HALSIM_FLAG, .number = 1},
  };
  char text[512];
  size_t size = tt_halsim_write("Encoder", "a\"b/c", values, 3, text, sizeof text);
  assert_string_equal(text,
                      "{\"data\":{\">count\":-1440,\">period\":0.5,\"<>value\":true},"
                      "\"type\":\"Encoder\",\"device\":\"a\\\"b/c\"}");
  assert_int_equal(size, strlen(text));
  tt_halsim_message message;
  assert_int_equal(read_text(text, &message), TT_OK);
  assert_string_equal(message.device, "a\"b/c");
  for (int i = 0; i < 3; i++) {
    tt_halsim_value read = member(&message, values[i].key);
    assert_true(read.sort == values[i].sort && read.number == values[i].number);
  }
  tt_halsim_message_clear(&message);
  assert_int_equal(tt_halsim_write("Encoder", "0", values, 3, text, size - 10), 0);
}

static void a_number_that_is_whole_stays_a_number(void **state) {
  (void)state;
  char text[128];
  tt_halsim_value value = {.key = ">vin_voltage", .sort = TT_HALSIM_NUMBER, .number = 12};
  tt_halsim_write("RoboRIO", "", &value, 1, text, sizeof text);
  assert_non_null(strstr(text, "12.0"));
}

static void prefixes_are_those_of_the_field(void **state) {
  (void)state;
  assert_int_equal(tt_halsim_prefix("<speed"), 1);
  assert_int_equal(tt_halsim_prefix(">count"), 1);
  assert_int_equal(tt_halsim_prefix("<>value"), 2);
  assert_int_equal(tt_halsim_prefix("Yaw"), 0);
  assert_int_equal(tt_halsim_prefix(""), 0);
}

static void a_station_speaks_to_both_seasons(void **state) {
  (void)state;
  tt_driver_station station = {.enabled = true,
                               .mode = TT_MODE_AUTONOMOUS,
                               .station = TT_STATION_BLUE2,
                               .match_time = -1,
                               .game_data = "L\"R"};
  char text[TT_HALSIM_STATION_BYTES];
  assert_true(tt_halsim_write_station(&station, text, sizeof text) > 0);
  tt_halsim_message message;
  assert_int_equal(read_text(text, &message), TT_OK);
  assert_true(member(&message, ">enabled").number == 1);
  assert_true(member(&message, ">autonomous").number == 1);
  assert_true(member(&message, ">test").number == 0);
  assert_true(member(&message, ">robotMode").number == 1);
  assert_true(member(&message, ">match_time").sort == TT_HALSIM_NUMBER);
  assert_true(member(&message, ">new_data").sort == TT_HALSIM_FLAG);
  assert_string_equal(json_object_get_string(member(&message, ">station").json), "blue2");
  assert_string_equal(json_object_get_string(member(&message, ">game_data").json), "L\"R");
  tt_halsim_message_clear(&message);
}

static void a_whole_joystick_has_room(void **state) {
  (void)state;
  tt_ds_joystick joystick = {.axis_count = TT_DS_AXES,
                             .pov_count = TT_DS_POVS,
                             .button_count = TT_DS_BUTTONS,
                             .buttons = 5};
  for (int i = 0; i < TT_DS_AXES; i++) joystick.axes[i] = -1.0 / 3;
  for (int i = 0; i < TT_DS_POVS; i++) joystick.povs[i] = 315;
  char text[TT_HALSIM_STATION_BYTES];
  assert_true(tt_halsim_write_joystick(5, &joystick, text, sizeof text) > 0);
  assert_non_null(strstr(text, "[true,false,true,false"));
  assert_non_null(strstr(text, "\"device\":\"5\""));
  tt_ds_joystick other = joystick;
  assert_true(tt_halsim_same_joystick(&joystick, &other));
  other.axes[11] = 0;
  assert_false(tt_halsim_same_joystick(&joystick, &other));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_keep_their_sort),
      cmocka_unit_test(the_largest_number_is_read),
      cmocka_unit_test(the_longest_strip_of_lights_is_read),
      cmocka_unit_test(what_is_no_message_is_refused),
      cmocka_unit_test(what_is_written_reads_the_same),
      cmocka_unit_test(a_number_that_is_whole_stays_a_number),
      cmocka_unit_test(prefixes_are_those_of_the_field),
      cmocka_unit_test(a_station_speaks_to_both_seasons),
      cmocka_unit_test(a_whole_joystick_has_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

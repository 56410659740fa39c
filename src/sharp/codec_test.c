/* codec_test.c: the JSON messages of joystick, core and vehicle, byte for byte and tolerantly. */
#include "sharp/codec.h"

#include "wire/sharp_json/explain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const joystick_zero =
    "{ 'leftJoystick': [ 0000, 0000 ], 'rightJoystick': [ 0000, 0000 ], 'dpad': [ 0, 0, 0, 0 ], "
    "'buttons': [ 0, 0, 0, 0 ], 'back': 0, 'select': 0, 'start': 0 }";
static const char *const command_zero =
    "{ 'leftDriveMotorSpeed': 0000, 'rightDriveMotorSpeed': 0000, 'elevatorMotorSpeed': 0000, "
    "'back': 0, 'guide': 0, 'start': 0 }";
static const char *const state_zero =
    "{ 'leftDriveEncoder': 0000, 'rightDriveEncoder': 0000, 'elevatorEncoder': 0000 }";

static const tt_sharp_format *const formats[] = {&tt_sharp_joystick_format,
                                                 &tt_sharp_command_format, &tt_sharp_state_format};

static tt_status decode(const tt_sharp_format *format, const char *text, int *values,
                        tt_refusal *fault) {
  return tt_sharp_decode(format, (const uint8_t *)text, strlen(text), values, NULL, fault);
}

static void writes_the_zero_messages_byte_for_byte(void **state) {
  (void)state;
  static const struct {
    const tt_sharp_format *format;
    const char *text;
    size_t size;
  } messages[] = {{&tt_sharp_joystick_format, joystick_zero, 154},
                  {&tt_sharp_command_format, command_zero, 124},
                  {&tt_sharp_state_format, state_zero, 80},
                  {&tt_sharp_heartbeat_format, "{}", 2}};
  for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
    int values[TT_SHARP_MAX_VALUES] = {0};
    char text[TT_SHARP_MAX_TEXT];
    assert_int_equal(tt_sharp_encode(messages[i].format, TT_SHARP_COLUMNS, values, text),
                     messages[i].size);
    assert_string_equal(text, messages[i].text);
  }
}

static void keeps_every_number_in_its_columns(void **state) {
  (void)state;
  const int values[TT_JOYSTICK_VALUES] = {-512, 512, -5, 7, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 1};
  char text[TT_SHARP_MAX_TEXT];
  assert_int_equal(tt_sharp_encode(&tt_sharp_joystick_format, TT_SHARP_COLUMNS, values, text), 154);
  assert_memory_equal(text + 20, "-512", 4);
  assert_memory_equal(text + 26, "0512", 4);
  assert_memory_equal(text + 53, "-005", 4);
  assert_memory_equal(text + 59, "0007", 4);
  static const int columns[] = {77, 80, 83, 86, 104, 107, 110, 113, 126, 139, 151};
  for (int i = 0; i < 11; i++) assert_int_equal(text[columns[i]], '0' + values[4 + i]);

  const int command[TT_SHARP_COMMAND_VALUES] = {-512, 40, -1, 1, 0, 1};
  assert_int_equal(tt_sharp_encode(&tt_sharp_command_format, TT_SHARP_COLUMNS, command, text), 124);
  assert_memory_equal(text + 25, "-512", 4);
  assert_memory_equal(text + 55, "0040", 4);
  assert_memory_equal(text + 83, "-001", 4);
  assert_int_equal(text[97], '1');
  assert_int_equal(text[109], '0');
  assert_int_equal(text[121], '1');

  const int encoders[TT_SHARP_STATE_VALUES] = {1023, 0, 512};
  assert_int_equal(tt_sharp_encode(&tt_sharp_state_format, TT_SHARP_COLUMNS, encoders, text), 80);
  assert_memory_equal(text + 22, "1023", 4);
  assert_memory_equal(text + 49, "0000", 4);
  assert_memory_equal(text + 74, "0512", 4);
}

static void find(const char *text, int whole, tt_wire_field *fields, int count) {
  tt_explanation to = {(const uint8_t *)text, (int)strlen(text), whole, fields, 8, 0};
  tt_sharp_explain(&tt_sharp_command_format, &to);
  assert_int_equal(to.count, count);
}

static void shows_monitors_where_each_number_stands(void **state) {
  (void)state;
  tt_wire_field fields[8];
  const int values[TT_SHARP_COMMAND_VALUES] = {-512, 40, -1, 1, 0, 1};
  char text[TT_SHARP_MAX_TEXT];
  int size = (int)tt_sharp_encode(&tt_sharp_command_format, TT_SHARP_COLUMNS, values, text);
  find(text, size, fields, 6);
  assert_string_equal(fields[0].name, "leftDriveMotorSpeed");
  assert_string_equal(fields[0].value, "-512");
  assert_string_equal(fields[0].unit, "/512");
  assert_int_equal(fields[0].offset, 25);
  assert_int_equal(fields[5].offset, 121);
  assert_int_equal(fields[5].size, 1);
  for (int i = 0; i < 6; i++) assert_false(fields[i].wrong);
}

static void shows_monitors_what_is_wrong_in_which_key(void **state) {
  (void)state;
  tt_wire_field fields[8];
  const char *text = "{\"guide\":2,\"leftDriveMotorSpeed\" : 513, 'back': x, 'start': }";
  find(text, (int)strlen(text), fields, 6);
  assert_string_equal(fields[0].value, "513");
  assert_true(fields[0].wrong);
  assert_int_equal(fields[0].offset, 35);
  assert_string_equal(fields[1].value,
                      "kept"); /* a key that is not there keeps what it said last */
  assert_int_equal(fields[1].size, 0);
  assert_false(fields[1].wrong);
  assert_string_equal(fields[3].value, "x");
  assert_true(fields[3].wrong);
  assert_true(fields[4].wrong);
  assert_string_equal(fields[5].value, "nothing");
  assert_true(fields[5].wrong);
  find("{ 'leftDriveMotorSpeed': 00", 124, fields, 0); /* the rest was not kept */
  find("{ 'leftDriveMotorSpeed': [1", 27, fields, 6);
  assert_true(fields[0].wrong);
}

static void clamps_what_it_sends(void **state) {
  (void)state;
  const int values[TT_SHARP_COMMAND_VALUES] = {100000, -100000, 0, 7, -1, 0};
  char text[TT_SHARP_MAX_TEXT];
  assert_int_equal(tt_sharp_encode(&tt_sharp_command_format, TT_SHARP_COLUMNS, values, text), 124);
  assert_memory_equal(text + 25, "0512", 4);
  assert_memory_equal(text + 55, "-512", 4);
  assert_int_equal(text[97], '1');
  assert_int_equal(text[109], '0');
}

static void sends_proper_json_on_request(void **state) {
  (void)state;
  const int values[TT_SHARP_STATE_VALUES] = {12, 0, 1023};
  char text[TT_SHARP_MAX_TEXT];
  tt_sharp_encode(&tt_sharp_state_format, TT_SHARP_JSON, values, text);
  assert_string_equal(
      text, "{ \"leftDriveEncoder\": 12, \"rightDriveEncoder\": 0, \"elevatorEncoder\": 1023 }");
}

static void knows_the_styles_by_name(void **state) {
  (void)state;
  tt_sharp_style style;
  assert_true(tt_sharp_style_parse("json", &style));
  assert_int_equal(style, TT_SHARP_JSON);
  assert_true(tt_sharp_style_parse("columns", &style));
  assert_int_equal(style, TT_SHARP_COLUMNS);
  assert_false(tt_sharp_style_parse("xml", &style));
}

static void reads_what_it_writes(void **state) {
  (void)state;
  uint32_t random = 1;
  for (int round = 0; round < 300; round++) {
    const tt_sharp_format *format = formats[round % 3];
    int sent[TT_SHARP_MAX_VALUES] = {0}, read[TT_SHARP_MAX_VALUES];
    int index = 0;
    for (int k = 0; k < format->key_count; k++) {
      const tt_sharp_key *key = &format->keys[k];
      for (int i = 0; i < key->count; i++) {
        random = random * 1664525u + 1013904223u;
        sent[index++] = key->lower + (int)((random >> 8) % (uint32_t)(key->upper - key->lower + 1));
      }
    }
    char text[TT_SHARP_MAX_TEXT];
    tt_sharp_encode(format, round % 2 ? TT_SHARP_JSON : TT_SHARP_COLUMNS, sent, text);
    tt_refusal fault;
    memset(read, 0x55, sizeof read);
    assert_int_equal(decode(format, text, read, &fault), TT_OK);
    assert_memory_equal(read, sent, (size_t)format->value_count * sizeof(int));
  }
}

static void reads_any_spacing_order_quotes_and_numbers(void **state) {
  (void)state;
  static const char *const texts[] = {
      "{'leftDriveEncoder':0012,'rightDriveEncoder':0089,'elevatorEncoder':1023}",
      "{\"elevatorEncoder\":1023,\"rightDriveEncoder\":89,\"leftDriveEncoder\":12}",
      " {\n\t'elevatorEncoder' : 1023.0 ,'leftDriveEncoder': 1.2e1, 'rightDriveEncoder':89.4 }\r\n",
      ("{'unknown': {'a': [1, {'b': \"x:':/\\\":\"}]}, 'leftDriveEncoder':12, "
       "'rightDriveEncoder':89, \"elevatorEncoder\":1023, 'note': \"a:b\"}"),
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    int values[3] = {0};
    tt_refusal fault;
    assert_int_equal(decode(&tt_sharp_state_format, texts[i], values, &fault), TT_OK);
    assert_int_equal(values[0], 12);
    assert_int_equal(values[1], 89);
    assert_int_equal(values[2], 1023);
  }
  int values[3];
  tt_refusal fault;
  const char with_nul[] = "{'leftDriveEncoder': 5}";
  assert_int_equal(tt_sharp_decode(&tt_sharp_state_format, (const uint8_t *)with_nul,
                                   sizeof with_nul, values, NULL, &fault),
                   TT_OK);
  assert_int_equal(values[0], 5);
}

static void leading_zeros_are_decimal_and_signs_stand_inside(void **state) {
  (void)state;
  int values[TT_SHARP_COMMAND_VALUES] = {0};
  tt_refusal fault;
  assert_int_equal(
      decode(&tt_sharp_command_format,
             "{'leftDriveMotorSpeed': -012, 'rightDriveMotorSpeed': 0010}", values, &fault),
      TT_OK);
  assert_int_equal(values[0], -12);
  assert_int_equal(values[1], 10);
}

static void missing_keys_keep_their_last_value(void **state) {
  (void)state;
  int values[TT_SHARP_COMMAND_VALUES] = {1, 2, 3, 1, 1, 1};
  tt_refusal fault;
  assert_int_equal(decode(&tt_sharp_command_format, "{'elevatorMotorSpeed': -7}", values, &fault),
                   TT_OK);
  const int expected[] = {1, 2, -7, 1, 1, 1};
  assert_memory_equal(values, expected, sizeof expected);
  assert_int_equal(decode(&tt_sharp_command_format, "{}", values, &fault), TT_OK);
  assert_memory_equal(values, expected, sizeof expected);
}

static void refuses_and_changes_nothing(void **state) {
  (void)state;
  static const struct {
    const char *text;
    tt_drop drop;
    const char *says;
  } bad[] = {
      {"", TT_DROP_SYNTAX, "ends before"},
      {"{ 'leftJoystick': [ 1, 2 ]", TT_DROP_SYNTAX, "ends before"},
      {"nonsense", TT_DROP_SYNTAX, "byte"},
      {"[1, 2]", TT_DROP_SYNTAX, "not a JSON object"},
      {"null ", TT_DROP_SYNTAX, "not a JSON object"},
      {"{'back': 1} x", TT_DROP_SYNTAX, "something follows"},
      {"{'back': 1}{'back': 0}", TT_DROP_SYNTAX, "something follows"},
      {"{'back': 1, 'back': 0}", TT_DROP_SYNTAX, "byte 12: the key 'back' stands twice"},
      {"{'a': {'b': 1}, 'a': 0}", TT_DROP_SYNTAX, "twice"},
      {"{'a': [{'b': 1, 'b': 1}]}", TT_DROP_SYNTAX, "twice"},
      {"{'back': 1 /* set */}", TT_DROP_SYNTAX, "comment"},
      {"{'back': 2}", TT_DROP_RANGE, "back[0] is 2"},
      {"{'back': -1}", TT_DROP_RANGE, "back"},
      {"{'back': '1'}", TT_DROP_SYNTAX, "back[0] is not a number"},
      {"{'back': null}", TT_DROP_SYNTAX, "back"},
      {"{'back': true}", TT_DROP_SYNTAX, "back"},
      {"{'back': 1, 'leftJoystick': [ 1, 513 ]}", TT_DROP_RANGE, "leftJoystick[1] is 513"},
      {"{'leftJoystick': [ 1, -513 ]}", TT_DROP_RANGE, "leftJoystick[1]"},
      {"{'leftJoystick': [ 1, 99999999999999999999999 ]}", TT_DROP_RANGE, "leftJoystick[1]"},
      {"{'leftJoystick': [ 1, NaN ]}", TT_DROP_NON_FINITE, "leftJoystick[1] is nan"},
      {"{'leftJoystick': [ 1, -Infinity ]}", TT_DROP_NON_FINITE, "leftJoystick[1]"},
      {"{'leftJoystick': [ 1, 1e999 ]}", TT_DROP_NON_FINITE, "leftJoystick[1]"},
      {"{'leftJoystick': [ 1 ]}", TT_DROP_SYNTAX, "array of 2"},
      {"{'leftJoystick': [ 1, 2, 3 ]}", TT_DROP_SYNTAX, "array of 2"},
      {"{'leftJoystick': 1}", TT_DROP_SYNTAX, "array of 2"},
      {"{'a': '\xff'}", TT_DROP_SYNTAX, "byte"},
      {"{'a': [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", TT_DROP_SYNTAX, "more than 16 levels"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    int values[TT_JOYSTICK_VALUES], before[TT_JOYSTICK_VALUES];
    memset(values, 0x11, sizeof values);
    memcpy(before, values, sizeof values);
    tt_refusal fault = {0};
    assert_int_equal(decode(&tt_sharp_joystick_format, bad[i].text, values, &fault),
                     TT_BAD_MESSAGE);
    assert_memory_equal(values, before, sizeof values);
    assert_int_equal(fault.drop, bad[i].drop);
    if (strstr(fault.text, bad[i].says) == NULL) {
      fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].text, fault.text, bad[i].says);
    }
  }
}

/** The messages of later programs of the same kind, which call some flags otherwise. */
static void reads_later_names_of_flags(void **state) {
  (void)state;
  int command[TT_SHARP_COMMAND_VALUES] = {0};
  tt_refusal fault;
  assert_int_equal(decode(&tt_sharp_command_format,
                          "{ 'leftDriveMotorSpeed': 0100, 'tubeMotorSpeed': 0000, "
                          "'timerStartStop': 1, 'reset': 0 }",
                          command, &fault),
                   TT_OK);
  assert_int_equal(command[TT_SHARP_START], 1);
  assert_int_equal(command[TT_SHARP_GUIDE], 0);
  assert_int_equal(
      decode(&tt_sharp_command_format, "{'timerStartStop': 0, 'reset': 1}", command, &fault),
      TT_OK);
  assert_int_equal(command[TT_SHARP_START], 0);
  assert_int_equal(command[TT_SHARP_GUIDE], 1);
  int joystick[TT_JOYSTICK_VALUES] = {0};
  assert_int_equal(
      decode(&tt_sharp_joystick_format,
             "{'leftTrigger': 0512, 'a': 1, 'b': 0, 'x': 1, 'y': 1, 'guide': 1}", joystick, &fault),
      TT_OK);
  const int buttons[] = {1, 0, 1, 1};
  assert_memory_equal(&joystick[TT_JOYSTICK_A], buttons, sizeof buttons);
  assert_int_equal(joystick[TT_JOYSTICK_SELECT], 1);
  /* under both names either counts */
  assert_int_equal(decode(&tt_sharp_joystick_format, "{'buttons': [0, 1, 0, 0], 'a': 1, 'x': 0}",
                          joystick, &fault),
                   TT_OK);
  const int both[] = {1, 1, 0, 0};
  assert_memory_equal(&joystick[TT_JOYSTICK_A], both, sizeof both);
  for (int both = 0; both < 8; both++) { /* a flag and its other name: either sets it */
    char text[80];
    snprintf(text, sizeof text, "{'start': %d, 'timerStartStop': %d, 'guide': %d, 'reset': 0}",
             both & 1, both >> 1 & 1, both >> 2);
    assert_int_equal(decode(&tt_sharp_command_format, text, command, &fault), TT_OK);
  }
  assert_int_equal(decode(&tt_sharp_command_format, "{'reset': 2}", command, &fault),
                   TT_BAD_MESSAGE);
  assert_non_null(strstr(fault.text, "reset"));
}

static void names_what_means_nothing(void **state) {
  (void)state;
  static const char text[] = "{'reset': 0, 'outtake': 1, 'start': 0, 'tubeMotorSpeed': 3}";
  int values[TT_SHARP_COMMAND_VALUES] = {0};
  char unknown[TT_SHARP_UNKNOWN_TEXT];
  tt_refusal fault;
  assert_int_equal(tt_sharp_decode(&tt_sharp_command_format, (const uint8_t *)text, sizeof text - 1,
                                   values, unknown, &fault),
                   TT_OK);
  assert_string_equal(unknown, "outtake, tubeMotorSpeed");
  char many[TT_SHARP_MAX_DATAGRAM] = "{'first': 0";
  for (int i = 0; i < 100; i++) sprintf(many + strlen(many), ",'name%d': 0", i);
  strcat(many, "}");
  assert_int_equal(tt_sharp_decode(&tt_sharp_command_format, (const uint8_t *)many, strlen(many),
                                   values, unknown, &fault),
                   TT_OK);
  assert_int_equal(strlen(unknown), TT_SHARP_UNKNOWN_TEXT - 1);
  assert_memory_equal(unknown, "first, name0, name1", 19);
}

static void refuses_every_truncation(void **state) {
  (void)state;
  for (size_t size = 0; size < strlen(joystick_zero); size++) {
    int values[TT_JOYSTICK_VALUES] = {0};
    tt_refusal fault;
    assert_int_equal(tt_sharp_decode(&tt_sharp_joystick_format, (const uint8_t *)joystick_zero,
                                     size, values, NULL, &fault),
                     TT_BAD_MESSAGE);
  }
}

static void refuses_what_is_too_long(void **state) {
  (void)state;
  static uint8_t bytes[TT_SHARP_MAX_DATAGRAM + 1];
  memset(bytes, ' ', sizeof bytes);
  memcpy(bytes, "{}", 2);
  int values[TT_JOYSTICK_VALUES] = {0};
  tt_refusal fault;
  assert_int_equal(
      tt_sharp_decode(&tt_sharp_joystick_format, bytes, sizeof bytes - 1, values, NULL, &fault),
      TT_OK);
  assert_int_equal(
      tt_sharp_decode(&tt_sharp_joystick_format, bytes, sizeof bytes, values, NULL, &fault),
      TT_BAD_MESSAGE);
  assert_int_equal(fault.drop, TT_DROP_LENGTH);
}

static bool memory_is_short;

struct json_tokener *__real_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth);
struct json_tokener *__wrap_json_tokener_new_ex(int depth) {
  return memory_is_short ? NULL : __real_json_tokener_new_ex(depth);
}

static void short_memory_is_a_refusal(void **state) {
  (void)state;
  int values[TT_JOYSTICK_VALUES] = {0};
  tt_refusal fault;
  memory_is_short = true;
  assert_int_equal(decode(&tt_sharp_joystick_format, "{}", values, &fault), TT_BAD_MESSAGE);
  memory_is_short = false;
  assert_int_equal(fault.drop, TT_DROP_OVERFLOW);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes_the_zero_messages_byte_for_byte),
      cmocka_unit_test(keeps_every_number_in_its_columns),
      cmocka_unit_test(shows_monitors_where_each_number_stands),
      cmocka_unit_test(shows_monitors_what_is_wrong_in_which_key),
      cmocka_unit_test(clamps_what_it_sends),
      cmocka_unit_test(sends_proper_json_on_request),
      cmocka_unit_test(knows_the_styles_by_name),
      cmocka_unit_test(reads_what_it_writes),
      cmocka_unit_test(reads_any_spacing_order_quotes_and_numbers),
      cmocka_unit_test(leading_zeros_are_decimal_and_signs_stand_inside),
      cmocka_unit_test(missing_keys_keep_their_last_value),
      cmocka_unit_test(refuses_and_changes_nothing),
      cmocka_unit_test(reads_later_names_of_flags),
      cmocka_unit_test(names_what_means_nothing),
      cmocka_unit_test(refuses_every_truncation),
      cmocka_unit_test(refuses_what_is_too_long),
      cmocka_unit_test(short_memory_is_a_refusal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* json_message_test.c: good messages however they are split, and every kind of bad one. */
#include "telemetry/json_message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "telemetry/message_testing.h"

static void on_message(void *context, const tt_message *message) {
  heard *to = context;
  say(to, "%s %lld '%s' %lld\n", message->device, (long long)message->time, message->boot,
      (long long)message->seq);
  say_samples(to, message);
}

static void feed(heard *to, const tt_message_limits *limits, const char *bytes, size_t size,
                 size_t step) {
  static const tt_message_handler handler = {on_message, on_refused};
  tt_json_parser *parser = tt_json_parser_new(limits, &handler, to);
  assert_non_null(parser);
  forget(to);
  for (size_t at = 0; at < size; at += step)
    tt_json_parser_feed(parser, bytes + at, size - at < step ? size - at : step);
  tt_json_parser_end(parser);
  tt_json_parser_free(parser);
}

static void check(const char *text, const char *expected) {
  static heard to;
  const tt_message_limits limits = tt_message_limits_default();
  feed(&to, &limits, text, strlen(text), strlen(text) + 1);
  assert_string_equal(to.text, expected);
}

#define EXAMPLE                                                                                    \
  "{\"id\": \"1\", \"time\": 123456.5, \"boot\": \"b \\\"{\\\\\", \"seq\": 7,\n"                   \
  " \"sets\": [{\"name\": \"Output\", \"time\": -60, \"values\": {\"drive\": {\"velocity\": "      \
  "50.10}}},\n"                                                                                    \
  "  {\"name\": \"Input\", \"time\": 5, \"values\": {\"pir\": {\"on\": true, \"off\": false},"     \
  " \"n\xc3\xa4me.x\": {\"a\": \"te}xt\", \"b\": -12345678901234567, \"c\": 1e5}}}]}"
#define HEARD                                                                                      \
  "1 123456500 'b \"{\\' 7\n at 123396500\n  Output.drive.velocity=50.10\n at 5000\n"              \
  "  Input.pir.on=1\n  Input.pir.off=0\n  Input.n\xc3\xa4me.x.a=te}xt\n"                           \
  "  Input.n\xc3\xa4me.x.b=-12345678901234567\n  Input.n\xc3\xa4me.x.c=1e5\n"

static void test_every_split(void **state) {
  (void)state;
  static heard to;
  static const char *const texts[] = {EXAMPLE EXAMPLE, "\n" EXAMPLE "\n \n" EXAMPLE "\n",
                                      "[" EXAMPLE ",\n" EXAMPLE "]\n"};
  const tt_message_limits limits = tt_message_limits_default();
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (size_t step = 1; step <= strlen(texts[i]); step++) {
      feed(&to, &limits, texts[i], strlen(texts[i]), step);
      assert_string_equal(to.text, HEARD HEARD);
    }
  }
  check("[]", "");
  check("", "");
  check("{\"id\":\"a\",\"time\":0,\"sets\":[]}", "a 0 '' -1\n");
}

#define GOOD "{\"id\":\"a\",\"time\":1,\"sets\":[]}"

static void test_bad_messages_cost_themselves(void **state) {
  (void)state;
  static const struct {
    const char *message, *why;
  } all[] = {
      {"{}", "1:1 the message has no id, which is a text"},
      {"{\"id\":\"\",\"time\":1,\"sets\":[]}", "1:1 the message has no id, which is a text"},
      {"{\"id\":1,\"time\":1,\"sets\":[]}", "1:1 the message has no id, which is a text"},
      {"{\"id\":\"a\\n\",\"time\":1,\"sets\":[]}", "1:1 id: the id has a control character"},
      {"{\"id\":\"a\\u0000\",\"time\":1,\"sets\":[]}", "1:9 a text with a control character"},
      {"{\"id\":\"a\",\"sets\":[]}", "1:1 the message: no time"},
      {"{\"id\":\"a\",\"time\":\"1\",\"sets\":[]}",
       "1:1 the message.time is a number of milliseconds up to 9000000000000, without an exponent"},
      {"{\"id\":\"a\",\"time\":1e3,\"sets\":[]}",
       "1:1 the message.time is a number of milliseconds up to 9000000000000, without an exponent"},
      {"{\"id\":\"a\",\"time\":1}", "1:1 the message has no sets, which is an array"},
      {"{\"id\":\"a\",\"time\":1,\"boot\":1,\"sets\":[]}", "1:1 boot is a text: put it in quotes"},
      {"{\"id\":\"a\",\"time\":1,\"boot\":\"\",\"sets\":[]}", "1:1 boot: the boot is empty"},
      {"{\"id\":\"a\",\"time\":1,\"seq\":1.5,\"sets\":[]}", "1:1 seq is a whole number"},
      {"{\"id\":\"a\",\"time\":1,\"seq\":-1,\"sets\":[]}",
       "1:1 seq: MESSAGE seq '-1' is no whole number from 0 to 9007199254740992"},
      {"{\"id\":\"a\",\"time\":1,\"ack\":true,\"sets\":[]}",
       "1:1 the message: there is no key 'ack'"},
      {"{\"id\":\"a\",\"time\":1,\n\"id\":\"b\",\"sets\":[]}", "2:1 the key 'id' stands twice"},
      {"{\"id\":\"a\",\"time\":01,\"sets\":[]}", "1:18 number expected"},
      {"{\"id\":\"a\",\n \"time\":1]}", "2:10 object property name separator ',' expected"},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    static heard to;
    char text[400], expected[400];
    const tt_message_limits limits = tt_message_limits_default();
    snprintf(expected, sizeof expected, "refused %s\n", all[i].why);
    feed(&to, &limits, all[i].message, strlen(all[i].message), 3);
    // What json-c says, and where, is its own: that it says so is enough.
    if (strstr(all[i].why, "expected"))
      assert_int_equal(strncmp(to.text, "refused", 7), 0);
    else
      assert_string_equal(to.text, expected);
    snprintf(text, sizeof text, "%s\n%s%s", GOOD, all[i].message, GOOD);
    feed(&to, &limits, text, strlen(text), 5);
    assert_non_null(strstr(to.text, "a 1000 '' -1\nrefused "));
  }
}

static void check_set(const char *set, const char *why) {
  char text[500], expected[300];
  snprintf(text, sizeof text, "{\"id\":\"a\",\"time\":1,\"sets\":[%s]}", set);
  snprintf(expected, sizeof expected, "refused 1:1 %s\n", why);
  check(text, expected);
}

static void test_bad_sets(void **state) {
  (void)state;
  check_set("1", "sets[0] is an object with name, time and values");
  check_set("{\"time\":0,\"values\":{}}", "sets[0]: no name, which is a text");
  check_set("{\"name\":\"a b\",\"time\":0,\"values\":{}}",
            "sets[0]: 'a b' is no name: letters, digits, '_', '-', '.' and ':', a letter first");
  check_set("{\"name\":\"S\",\"values\":{}}", "sets[0]: no time");
  check_set("{\"name\":\"S\",\"time\":0}", "sets[0]: no values, which is an object of data sets");
  check_set("{\"name\":\"S\",\"time\":0,\"values\":{},\"x\":1}", "sets[0]: there is no key 'x'");
  check_set("{\"name\":\"S\",\"time\":0,\"values\":{\"d\":1}}",
            "S.d is an object: a value by each name");
  static const char *const values[] = {"null", "[1]", "{}"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char set[100];
    snprintf(set, sizeof set, "{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{\"v\":%s}}}",
             values[i]);
    check_set(set, "S.d.v: a value is a number, a text, true or false");
  }
  check_set("{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{\"v\":\"\\u0001\"}}}",
            "S.d.v: a text with a control character");
  check_set("{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{\"1v\":1}}}",
            "S.d.1v: '1v' is no name: letters, digits, '_', '-', '.' and ':', a letter first");
  static heard to;
  // Numbers that no reader could keep; NaN is none of JSON's.
  static const char *const numbers[] = {
      "99999999999999999999", "1e999", "-9999999999999999999", "NaN", "0x10", ".5", "+1"};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    char text[200];
    const tt_message_limits limits = tt_message_limits_default();
    snprintf(text, sizeof text,
             "{\"id\":\"a\",\"time\":1,\"sets\":[{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{"
             "\"v\":%s}}}]}",
             numbers[i]);
    feed(&to, &limits, text, strlen(text), 1000);
    if (strncmp(to.text, "refused 1:", 10)) fail_msg("%s: %s", numbers[i], to.text);
  }
}

static void test_whole_numbers_have_64_bits(void **state) {
  (void)state;
  static const struct {
    const char *number;
    bool fits;
  } all[] = {{"-9223372036854775808", true},
             {"18446744073709551615", true},
             {"1, \"t\":\"18446744073709551616\", \"w\":18446744073709551615", true},
             {"-9223372036854775809", false},
             {"18446744073709551616", false},
             {"-9223372036854775808, \"w\":-9223372036854775809", false}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    static heard to;
    char text[200];
    const tt_message_limits limits = tt_message_limits_default();
    snprintf(text, sizeof text,
             "{\"id\":\"a\",\"time\":1,\"sets\":[{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{"
             "\"v\":%s}}}]}",
             all[i].number);
    feed(&to, &limits, text, strlen(text), 1000);
    if (all[i].fits == !strncmp(to.text, "refused", 7)) fail_msg("%s: %s", all[i].number, to.text);
  }
  check(
      "{\"id\":\"a\",\"time\":1,\"sets\":[{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{"
      "\"v\":-9223372036854775808}}}]}",
      "a 1000 '' -1\n at 1000\n  S.d.v=-9223372036854775808\n");
}

static void test_between_messages(void **state) {
  (void)state;
  static const char lost[] =
      "not a message: what comes is one object, several behind one another, or an array of them; "
      "the rest is not read";
  static const struct {
    const char *text, *where;
  } all[] = {{GOOD "," GOOD, "1:30"}, {GOOD "\n  x" GOOD, "2:3"},  {"[" GOOD GOOD "]", "1:31"},
             {"[" GOOD ",]", "1:32"}, {GOOD "[" GOOD "]", "1:30"}, {"[" GOOD "]" GOOD, "1:32"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    char expected[300];
    snprintf(expected, sizeof expected, "a 1000 '' -1\nrefused %s %s\n", all[i].where, lost);
    check(all[i].text, expected);
  }
  check("[" GOOD, "a 1000 '' -1\nrefused 1:31 the array does not end\n");
  check(GOOD "\n" EXAMPLE "{\"id\":",
        "a 1000 '' -1\n" HEARD "refused 4:142 the message does not end\n");
}

static void test_limits(void **state) {
  (void)state;
  static heard to;
  static char text[40000];
  tt_message_limits limits = tt_message_limits_default();
  limits.message_bytes = 1000;
  memset(text, ' ', 5000);
  memcpy(text, "{", 1);
  strcpy(text + 5000, "\"id\":\"{[\"}" GOOD);
  feed(&to, &limits, text, strlen(text), 100);
  assert_string_equal(to.text, "refused 1:1 the message is longer than it may be\na 1000 '' -1\n");
  limits.attributes = 2;
  strcpy(text,
         "{\"id\":\"a\",\"time\":1,\"sets\":[{\"name\":\"S\",\"time\":0,\"values\":{\"d\":{\"u\":1,"
         "\"v\":2,\"w\":3}}}]}");
  feed(&to, &limits, text, strlen(text), 100);
  assert_string_equal(to.text, "refused 1:1 S.d has more than 2 values\n");
  limits = tt_message_limits_default();
  limits.values = 2;
  feed(&to, &limits, text, strlen(text), 100);
  assert_string_equal(to.text, "refused 1:1 S.d.w: more than 2 values in one message\n");
  memset(text, '[', 30000);
  memcpy(text, "{\"a\":", 5);
  memset(text + 30000, ']', 9000);
  text[39000] = 0;
  feed(&to, &limits, text, strlen(text), 100);
  assert_string_equal(to.text, "refused 1:1 the message does not end\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_split),      cmocka_unit_test(test_bad_messages_cost_themselves),
      cmocka_unit_test(test_bad_sets),         cmocka_unit_test(test_whole_numbers_have_64_bits),
      cmocka_unit_test(test_between_messages), cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

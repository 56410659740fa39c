/* json_test.c: one object, whole, each key once; or the byte at which it is refused. */
#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static tt_error reason;

static tt_status read_text(const char *text, tt_json_manner manner) {
  struct json_object *object;
  reason.text[0] = '\0';
  tt_status status = tt_json_read(text, strlen(text), manner, &object, &reason);
  assert_true((status == TT_OK) == (object != NULL));
  json_object_put(object);
  return status;
}

static void refuse(const char *text, tt_json_manner manner, const char *why) {
  assert_int_equal(read_text(text, manner), TT_INVALID);
  assert_string_equal(reason.text, why);
}

static void one_object_is_read(void **state) {
  (void)state;
  static const char *const good[] = {"{}", " {\"a\": 1}\r\n ",
                                     "{\"a\": {\"a\": [{\"a\": 1}, {\"a\": 2}]}, \"b\": \"a\"}",
                                     "{\"a\": \"b\\\"c\", \"b\": \"}{\"}", "{\"a/*\": \"'\"}"};
  for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
    if (read_text(good[i], TT_JSON_STRICT) != TT_OK) fail_msg("%s: %s", good[i], reason.text);
    assert_int_equal(read_text(good[i], TT_JSON_TOLERANT), TT_OK);
  }
  static const char umlaut[] = "{\"M\u00fcller\": \"\u00e9\u20ac\U0001f916\"}";
  assert_int_equal(read_text(umlaut, TT_JSON_STRICT), TT_OK);
  assert_int_equal(read_text(umlaut, TT_JSON_TOLERANT), TT_OK);
  assert_int_equal(read_text("{'a': 007, 'b': '\"'}", TT_JSON_TOLERANT), TT_OK);
  refuse("{'a': 1}", TT_JSON_STRICT, "byte 1: a key stands in double quotes");
}

static void a_key_stands_once(void **state) {
  (void)state;
  static const tt_json_manner manners[] = {TT_JSON_STRICT, TT_JSON_TOLERANT};
  for (size_t i = 0; i < sizeof manners / sizeof *manners; i++) {
    tt_json_manner manner = manners[i];
    refuse("{\"a\":1,\"a\":1}", manner, "byte 7: the key 'a' stands twice");
    refuse("{\"a\":{},\"b\":[],\"a\" \t:1}", manner, "byte 15: the key 'a' stands twice");
    refuse("{\"x\":[{\"b\":1},{\"b\":1,\"\\u0062\":1}]}", manner,
           "byte 21: the key 'b' stands twice");
    refuse("{\"a\":1,\"a\\u0000\":1}", manner, "byte 7: the key 'a' stands twice");
  }
}

static void else_the_byte_is_told(void **state) {
  (void)state;
  refuse("", TT_JSON_STRICT, "byte 0: the text ends before its JSON does");
  refuse("{\"a\": 1", TT_JSON_STRICT, "byte 7: the text ends before its JSON does");
  refuse("[1]", TT_JSON_STRICT, "not a JSON object");
  refuse("null ", TT_JSON_STRICT, "not a JSON object");
  refuse("{} {}", TT_JSON_TOLERANT, "byte 3: something follows the JSON object");
  refuse("{\"a\": 1 /* one */}", TT_JSON_TOLERANT, "byte 8: comments are not read");
  assert_int_equal(read_text("{\"a\": 1 /* one */}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{} {}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{\"a\": \"\xff\"}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{\"a\": \u00fc}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{\"a\": 1,}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{\"a\": True}", TT_JSON_STRICT), TT_INVALID);
  assert_int_equal(read_text("{\"a\": \"\x1f\"}", TT_JSON_STRICT), TT_INVALID);
  refuse("{\"a\": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}", TT_JSON_STRICT,
         "byte 21: more than 16 levels");
}

/* Each takes hundreds of bytes in memory, and two or three in a text. */
static void there_is_an_end_of_objects(void **state) {
  (void)state;
  static char text[3 * TT_JSON_MOST_OBJECTS + 64];
  char reason[64];
  size_t size = (size_t)sprintf(text, "{\"[{\":[0");
  for (int i = 2; i < TT_JSON_MOST_OBJECTS; i++)
    size += (size_t)sprintf(text + size, i % 2 ? ",{}" : ",[]");
  strcpy(text + size, "]}");
  assert_int_equal(read_text(text, TT_JSON_STRICT), TT_OK);
  assert_int_equal(read_text(text, TT_JSON_TOLERANT), TT_OK);
  strcpy(text + size, ",[]]}");
  snprintf(reason, sizeof reason, "byte %zu: more than 32768 objects and arrays", size + 1);
  refuse(text, TT_JSON_STRICT, reason);
  refuse(text, TT_JSON_TOLERANT, reason);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_object_is_read),
      cmocka_unit_test(a_key_stands_once),
      cmocka_unit_test(else_the_byte_is_told),
      cmocka_unit_test(there_is_an_end_of_objects),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

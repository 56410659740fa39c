/* message_test.c: bytes of the specification in both directions; what a client says, and what is wrong with it. */
#include "nt4/control.h"
#include "nt4/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void a_double_is_seventeen_bytes(void **state) {
  (void)state;
  tt_bytes value = {.size = 0}, frame = {.size = 0};
  tt_nt4_put_double(&value, 1.5);
  tt_nt4_put_message(&frame, &(tt_nt4_message){.id = 50,
                                               .time = 120000000,
                                               .type = TT_NT4_DOUBLE,
                                               .value = value.data,
                                               .value_size = value.size});
  static const uint8_t golden[] = {0x94, 0x32, 0xce, 0x07, 0x27, 0x0e, 0x00, 0x01, 0xcb,
                                   0x3f, 0xf8, 0,    0,    0,    0,    0,    0};
  assert_int_equal(frame.size, sizeof golden);
  assert_memory_equal(frame.data, golden, sizeof golden);
  const uint8_t *at = golden;
  tt_nt4_message read;
  assert_int_equal(tt_nt4_read_message(&at, golden + sizeof golden, &read), TT_OK);
  assert_true(read.id == 50 && read.time == 120000000 && read.type == TT_NT4_DOUBLE);
  assert_int_equal(read.value_size, 9);
  assert_int_equal(tt_nt4_read_message(&at, golden + sizeof golden, &read), TT_END);
  tt_bytes_free(&value);
  tt_bytes_free(&frame);
}

static void every_type_comes_back(void **state) {
  (void)state;
  tt_bytes value = {.size = 0}, frame = {.size = 0};
  static const tt_nt4_type types[] = {
      TT_NT4_BOOLEAN,       TT_NT4_INT,          TT_NT4_DOUBLE,       TT_NT4_STRING,   TT_NT4_RAW,
      TT_NT4_BOOLEAN_ARRAY, TT_NT4_DOUBLE_ARRAY, TT_NT4_STRING_ARRAY, TT_NT4_INT_ARRAY};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    value.size = frame.size = 0;
    tt_nt4_type scalar = types[i] % TT_NT4_BOOLEAN_ARRAY;
    if (types[i] >= TT_NT4_BOOLEAN_ARRAY) tt_nt4_put_array(&value, 3);
    for (int n = 0; n < (types[i] >= TT_NT4_BOOLEAN_ARRAY ? 3 : 1); n++) {
      if (scalar == TT_NT4_BOOLEAN) tt_nt4_put_boolean(&value, n == 1);
      if (scalar == TT_NT4_INT) tt_nt4_put_int(&value, n - 70000);
      if (scalar == TT_NT4_DOUBLE) tt_nt4_put_double(&value, 0.1 * n);
      if (scalar == TT_NT4_STRING) tt_nt4_put_text(&value, "text");
      if (scalar == TT_NT4_RAW) tt_nt4_put_raw(&value, "raw", 3);
    }
    tt_nt4_put_message(
        &frame,
        &(tt_nt4_message){
            .id = -1, .time = -5, .type = types[i], .value = value.data, .value_size = value.size});
    const uint8_t *at = frame.data;
    tt_nt4_message read;
    assert_int_equal(tt_nt4_read_message(&at, frame.data + frame.size, &read), TT_OK);
    assert_true(read.id == -1 && read.time == -5 && read.type == types[i]);
    assert_int_equal(read.value_size, value.size);
    assert_memory_equal(read.value, value.data, value.size);
    for (size_t cut = 1; cut < frame.size; cut++) {
      at = frame.data;
      assert_int_equal(tt_nt4_read_message(&at, frame.data + cut, &read), TT_BAD_MESSAGE);
    }
  }
  tt_bytes_free(&value);
  tt_bytes_free(&frame);
}

static void what_is_no_message(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t size;
  } wrong[] = {
      {"\x93\x01\x02\x01", 4},                     /* three elements */
      {"\x94\xc0\x02\x01\x01", 5},                 /* no number for the topic */
      {"\x94\x01\x02\x06\x01", 5},                 /* no such type */
      {"\x94\x01\x02\x00\x01", 5},                 /* a number for a boolean */
      {"\x94\x01\x02\x04\xc4\x01x", 7},            /* raw bytes for a text */
      {"\x94\x01\x02\x05\xc6\xff\xff\xff\xff", 9}, /* longer than the frame */
      {"\x94\x01\x02\x11\xdd\xff\xff\xff\xff\x01", 10},
      {"\x94\x01\xcf\xff\xff\xff\xff\xff\xff\xff\xff\x00\xc2", 13}, /* a time beyond int64 */
      {"\xc1", 1},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    const uint8_t *at = (const uint8_t *)wrong[i].bytes;
    tt_nt4_message read;
    assert_int_equal(tt_nt4_read_message(&at, at + wrong[i].size, &read), TT_BAD_MESSAGE);
  }
}

static void whole_numbers_of_every_size(void **state) {
  (void)state;
  static const int64_t numbers[] = {0,
                                    127,
                                    128,
                                    65536,
                                    INT32_MAX,
                                    (int64_t)INT32_MAX + 1,
                                    INT64_MAX,
                                    -1,
                                    -32,
                                    -33,
                                    -129,
                                    -32769,
                                    INT32_MIN,
                                    (int64_t)INT32_MIN - 1,
                                    -1471936824943668223,
                                    INT64_MIN};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    tt_bytes frame = {.size = 0};
    tt_nt4_put_message(&frame, &(tt_nt4_message){.id = numbers[i],
                                                 .time = numbers[i],
                                                 .type = TT_NT4_BOOLEAN,
                                                 .value = (const uint8_t *)"\xc2",
                                                 .value_size = 1});
    const uint8_t *at = frame.data;
    tt_nt4_message read;
    assert_int_equal(tt_nt4_read_message(&at, frame.data + frame.size, &read), TT_OK);
    assert_true(read.id == numbers[i] && read.time == numbers[i]);
    tt_bytes_free(&frame);
  }
}

static void types_have_numbers(void **state) {
  (void)state;
  assert_int_equal(tt_nt4_type_of("double"), 1);
  assert_int_equal(tt_nt4_type_of("json"), 4);
  assert_int_equal(tt_nt4_type_of("struct:Pose3d[]"), 5);
  assert_int_equal(tt_nt4_type_of("string[]"), 20);
}

static tt_status read_first(const char *text, tt_nt4_request *request, struct json_object **frame) {
  tt_error error;
  assert_int_equal(tt_nt4_read_frame(text, strlen(text), frame, &error), TT_OK);
  return tt_nt4_read_request(*frame, 0, request);
}

static void requests(void **state) {
  (void)state;
  struct json_object *frame;
  tt_nt4_request request;
  assert_int_equal(
      read_first("[{\"method\":\"subscribe\",\"params\":{\"topics\":[\"/a\",\"\"],\"subuid\":7,"
                 "\"options\":{\"periodic\":0.02,\"all\":true,\"prefix\":true}}}]",
                 &request, &frame),
      TT_OK);
  assert_true(request.method == TT_NT4_SUBSCRIBE && request.uid == 7 && request.all &&
              request.prefix && !request.topics_only && request.periodic == 0.02);
  assert_int_equal(json_object_array_length(request.topics), 2);
  json_object_put(frame);
  assert_int_equal(
      read_first("[{\"method\":\"subscribe\",\"params\":{\"topics\":[],\"subuid\":-3.0}}]",
                 &request, &frame),
      TT_OK);
  assert_true(request.uid == -3 && request.periodic == 0.1);
  json_object_put(frame);
  assert_int_equal(
      read_first(
          "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":1,\"type\":\"int\"}}]",
          &request, &frame),
      TT_OK);
  assert_null(request.properties);
  json_object_put(frame);
}

static void requests_that_are_wrong(void **state) {
  (void)state;
  static const char properties_that_are_none[] =
      "[{\"method\":\"publish\",\"params\":"
      "{\"name\":\"/x\",\"pubuid\":1,\"type\":\"int\",\"properties\":4}}]";
  static const char *const wrong[] = {
      "[1]",
      "[{}]",
      "[{\"method\":\"publish\"}]",
      "[{\"method\":\"dance\",\"params\":{}}]",
      "[{\"method\":\"publish\",\"params\":{\"name\":\"\",\"pubuid\":1,\"type\":\"int\"}}]",
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":1.5,\"type\":\"int\"}}]",
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":9e30,\"type\":\"int\"}}]",
      "[{\"method\":\"publish\",\"params\":{\"name\":\"/x\",\"pubuid\":1,\"type\":3}}]",
      properties_that_are_none,
      "[{\"method\":\"subscribe\",\"params\":{\"topics\":\"/x\",\"subuid\":1}}]",
      "[{\"method\":\"subscribe\",\"params\":{\"topics\":[1],\"subuid\":1}}]",
      "[{\"method\":\"setproperties\",\"params\":{\"name\":\"/x\"}}]",
      "[{\"method\":\"unsubscribe\",\"params\":{}}]",
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct json_object *frame;
    tt_nt4_request request;
    assert_int_equal(read_first(wrong[i], &request, &frame), TT_BAD_MESSAGE);
    json_object_put(frame);
  }
  static const char *const frames[] = {"", "{}", "3", "[", "[]]", "[],\"frame\":[]", "[1] 2"};
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    struct json_object *frame;
    tt_error error;
    assert_int_equal(tt_nt4_read_frame(frames[i], strlen(frames[i]), &frame, &error),
                     TT_BAD_MESSAGE);
    assert_null(frame);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_double_is_seventeen_bytes), cmocka_unit_test(every_type_comes_back),
      cmocka_unit_test(what_is_no_message),          cmocka_unit_test(whole_numbers_of_every_size),
      cmocka_unit_test(types_have_numbers),          cmocka_unit_test(requests),
      cmocka_unit_test(requests_that_are_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

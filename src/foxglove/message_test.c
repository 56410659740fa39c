/* message_test.c: golden bytes in both directions, and what is malformed. */
#include "foxglove/message.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static tt_foxglove_request read_good(const char *text) {
  tt_foxglove_request request;
  tt_error why = {""};
  if (tt_foxglove_read_request(text, strlen(text), &request, &why) != TT_OK)
    fail_msg("%s: %s", text, why.text);
  return request;
}

static void requests(void **state) {
  (void)state;
  uint32_t id, channel;
  const char *name, *encoding;
  double value;
  tt_foxglove_request request = read_good(
      "{\"op\":\"subscribe\",\"subscriptions\":[{\"id\":7,\"channelId\":3},"
      "{\"id\":-1,\"channelId\":3},{\"id\":1},[],{\"id\":1.0,\"channelId\":2}]}");
  assert_int_equal(request.op, TT_FOXGLOVE_SUBSCRIBE);
  assert_int_equal(request.count, 5);
  assert_true(tt_foxglove_read_subscription(&request, 0, &id, &channel));
  assert_true(id == 7 && channel == 3);
  for (size_t i = 1; i < 4; i++)
    assert_false(tt_foxglove_read_subscription(&request, i, &id, &channel));
  assert_true(tt_foxglove_read_subscription(&request, 4, &id, &channel));
  json_object_put(request.frame);

  request = read_good("{\"op\":\"unsubscribe\",\"subscriptionIds\":[4294967295,4294967296,0.5]}");
  assert_true(tt_foxglove_read_id(&request, 0, &id) && id == UINT32_MAX);
  assert_false(tt_foxglove_read_id(&request, 1, &id));
  assert_false(tt_foxglove_read_id(&request, 2, &id));
  json_object_put(request.frame);

  request = read_good(
      "{\"op\":\"advertise\",\"channels\":[{\"id\":2,\"topic\":\"/commands\","
      "\"encoding\":\"json\",\"schemaName\":\"\"},{\"id\":3,\"topic\":5}]}");
  assert_true(tt_foxglove_read_channel(&request, 0, &id, &name, &encoding));
  assert_true(id == 2 && !strcmp(name, "/commands") && !strcmp(encoding, "json"));
  assert_false(tt_foxglove_read_channel(&request, 1, &id, &name, &encoding));
  json_object_put(request.frame);

  request = read_good(
      "{\"op\":\"setParameters\",\"id\":\"a\",\"parameters\":[{\"name\":\"x\",\"value\":3},"
      "{\"name\":\"x\"},{\"name\":\"x\",\"value\":\"3\"},{\"name\":\"x\\u0000\",\"value\":3}]}");
  assert_string_equal(request.id, "a");
  assert_true(tt_foxglove_read_parameter(&request, 0, &name, &value) && value == 3);
  for (size_t i = 1; i < 4; i++)
    assert_false(tt_foxglove_read_parameter(&request, i, &name, &value));
  json_object_put(request.frame);

  request = read_good("{\"op\":\"getParameters\",\"parameterNames\":[\"x\",3]}");
  assert_string_equal(request.id, "");
  assert_true(tt_foxglove_read_name(&request, 0, &name));
  assert_false(tt_foxglove_read_name(&request, 1, &name));
  json_object_put(request.frame);
}

static void requests_that_are_wrong(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "[]",
                                    "{}",
                                    "{\"op\":3}",
                                    "{\"op\":\"login\"}",
                                    "{\"op\":\"subscribe\"}",
                                    "{\"op\":\"subscribe\",\"subscriptions\":{}}",
                                    "{\"op\":\"subscribe\",\"subscriptions\":[]"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tt_foxglove_request request;
    tt_error why = {""};
    assert_int_equal(tt_foxglove_read_request(bad[i], strlen(bad[i]), &request, &why),
                     TT_BAD_MESSAGE);
    assert_true(*why.text);
    assert_null(request.frame);
  }
  char many[3 * TT_FOXGLOVE_MOST_ITEMS + 64];
  int used = snprintf(many, sizeof many, "{\"op\":\"unsubscribe\",\"subscriptionIds\":[0");
  for (int i = 0; i < TT_FOXGLOVE_MOST_ITEMS; i++)
    used += snprintf(many + used, sizeof many - (size_t)used, ",1");
  snprintf(many + used, sizeof many - (size_t)used, "]}");
  tt_foxglove_request request;
  assert_int_equal(tt_foxglove_read_request(many, strlen(many), &request, NULL), TT_BAD_MESSAGE);
}

#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1

static void binary_messages_of_clients(void **state) {
  (void)state;
  tt_foxglove_binary message;
  static const char data[] = "\x01\x05\x00\x00\x00{}";
  assert_int_equal(tt_foxglove_read_binary(BYTES(data), &message), TT_OK);
  assert_true(message.kind == TT_FOXGLOVE_MESSAGE && message.channel == 5);
  assert_true(message.payload_size == 2 && !memcmp(message.payload, "{}", 2));
  static const char call[] = "\x02\x01\x00\x00\x00\x07\x00\x00\x00\x04\x00\x00\x00json{}";
  assert_int_equal(tt_foxglove_read_binary(BYTES(call), &message), TT_OK);
  assert_true(message.service == 1 && message.call == 7 && message.encoding_size == 4);
  assert_true(!memcmp(message.encoding, "json", 4) && message.payload_size == 2);
  static const char play[] =
      "\x03\x00\x00\x00\xc0\x3f\x01\x00\xca\x9a\x3b\x00\x00\x00\x00"
      "\x07\x00\x00\x00some-id";
  assert_int_equal(tt_foxglove_read_binary(BYTES(play), &message), TT_OK);
  assert_true(!message.pause && message.speed == 1.5 && message.seeks);
  assert_true(message.time == 1000000000 && message.id_size == 7);
  /* every message that is cut is none */
  for (size_t size = 0; size < sizeof call - 3; size++)
    assert_int_equal(tt_foxglove_read_binary((const uint8_t *)call, size, &message),
                     TT_BAD_MESSAGE);
  for (size_t size = 0; size < sizeof play - 1; size++)
    assert_int_equal(tt_foxglove_read_binary((const uint8_t *)play, size, &message),
                     TT_BAD_MESSAGE);
  static const char infinite[] = "\x03\x00\x00\x00\x80\x7f\x00\0\0\0\0\0\0\0\0\0\0\0\0";
  assert_int_equal(tt_foxglove_read_binary(BYTES(infinite), &message), TT_BAD_MESSAGE);
  static const char command[] = "\x03\x02\x00\x00\x80\x3f\x00\0\0\0\0\0\0\0\0\0\0\0\0";
  assert_int_equal(tt_foxglove_read_binary(BYTES(command), &message), TT_BAD_MESSAGE);
  assert_int_equal(tt_foxglove_read_binary(BYTES("\x09"), &message), TT_BAD_MESSAGE);
}

static void expect(tt_bytes *bytes, const char *text, size_t size) {
  assert_false(bytes->failed);
  assert_int_equal(bytes->size, size);
  assert_memory_equal(bytes->data, text, size);
  tt_bytes_cut(bytes, 0);
}

static void binary_messages_of_a_server(void **state) {
  (void)state;
  tt_bytes bytes = {.size = 0};
  tt_foxglove_put_message(&bytes, 0x01020304, 0x1122334455667788, "{}", 2);
  expect(&bytes, "\x01\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11{}", 15);
  tt_foxglove_put_time(&bytes, 1000000000);
  expect(&bytes, "\x02\x00\xca\x9a\x3b\x00\x00\x00\x00", 9);
  tt_foxglove_put_answer(&bytes, 1, 2, "{}");
  expect(&bytes, "\x03\x01\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00json{}", 19);
  tt_foxglove_put_playback(&bytes, TT_FOXGLOVE_ENDED, 1000000000, 0.5, true, "id", 2);
  expect(&bytes, "\x05\x03\x00\xca\x9a\x3b\x00\x00\x00\x00\x00\x00\x00\x3f\x01\x02\x00\x00\x00id",
         21);
  tt_foxglove_put_playback(&bytes, TT_FOXGLOVE_PAUSED, 0, 1, false, NULL, 0);
  expect(&bytes, "\x05\x01\0\0\0\0\0\0\0\0\x00\x00\x80\x3f\x00\0\0\0\0", 19);
  tt_bytes_free(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(requests),
      cmocka_unit_test(requests_that_are_wrong),
      cmocka_unit_test(binary_messages_of_clients),
      cmocka_unit_test(binary_messages_of_a_server),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

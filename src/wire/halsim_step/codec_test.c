/* codec_test.c: frames of halsim-step byte for byte in both directions, and those that are none. */
#include "wire/halsim_step/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char golden[] =
    "\0\0\0\x9d"
    "{\"type\":\"Step\",\"device\":\"\",\"data\":{\">step\":20000,\">frame\":3}}\n"
    "{\"type\":\"Encoder\",\"device\":\"0\",\"data\":{\">count\":-1440}}\n"
    "{\"type\":\"Gyro\",\"device\":\"G\",\"data\":{}}\n";

static void the_golden_frame_leaves(void **state) {
  (void)state;
  tt_bytes frame = {0};
  tt_step_begin(&frame, 3, 20000);
  static const char encoder[] =
      "{\"type\":\"Encoder\",\"device\":\"0\",\"data\":{\">count\":-1440}}";
  static const char gyro[] = "{\"type\":\"Gyro\",\"device\":\"G\",\"data\":{}}";
  tt_step_add(&frame, encoder, sizeof encoder - 1);
  tt_step_add(&frame, gyro, sizeof gyro - 1);
  assert_true(tt_step_end(&frame));
  assert_int_equal(frame.size, sizeof golden - 1);
  assert_memory_equal(frame.data, golden, frame.size);
  tt_bytes_free(&frame);
}

static void a_frame_comes_in_any_pieces(void **state) {
  (void)state;
  const uint8_t *bytes = (const uint8_t *)golden, *body;
  size_t whole = sizeof golden - 1, body_size, used;
  tt_error error;
  for (size_t size = 0; size < whole; size++)
    assert_int_equal(tt_step_frame(bytes, size, &body, &body_size, &used, &error), TT_AGAIN);
  assert_int_equal(tt_step_frame(bytes, whole, &body, &body_size, &used, &error), TT_OK);
  assert_int_equal(used, whole);
  size_t at = 0, size, lines = 0;
  const char *text;
  while (tt_step_line(body, body_size, &at, &text, &size, &error) == TT_OK) {
    assert_int_equal(text[0], '{');
    assert_int_equal(text[size - 1], '}');
    lines++;
  }
  assert_int_equal(lines, 3);
  at = 0;
  assert_int_equal(tt_step_line(body, 10, &at, &text, &size, &error), TT_INVALID);
}

static void a_frame_that_is_too_long_is_none(void **state) {
  (void)state;
  uint8_t bytes[TT_STEP_LENGTH];
  const uint8_t *body;
  size_t body_size, used;
  tt_error error;
  tt_step_put_length(bytes, TT_STEP_MOST_BYTES);
  assert_int_equal(tt_step_frame(bytes, sizeof bytes, &body, &body_size, &used, &error), TT_AGAIN);
  tt_step_put_length(bytes, TT_STEP_MOST_BYTES + 1);
  assert_int_equal(tt_step_frame(bytes, sizeof bytes, &body, &body_size, &used, &error),
                   TT_INVALID);
  memcpy(bytes, "HTTP", 4);
  assert_int_equal(tt_step_frame(bytes, sizeof bytes, &body, &body_size, &used, &error),
                   TT_INVALID);
}

static void a_frame_that_would_be_too_long_does_not_leave(void **state) {
  (void)state;
  tt_bytes frame = {0};
  static char message[65536];
  memset(message, ' ', sizeof message);
  tt_step_begin(&frame, 0, 20000);
  for (int i = 0; i < 15; i++) tt_step_add(&frame, message, sizeof message);
  assert_true(tt_step_end(&frame));
  tt_step_add(&frame, message, sizeof message);
  assert_false(tt_step_end(&frame));
  frame.failed = true;
  assert_false(tt_step_end(&frame));
  tt_bytes_free(&frame);
}

static tt_status read(const char *text, tt_step_head *head, tt_error *error) {
  tt_halsim_message message;
  assert_int_equal(tt_halsim_read(text, strlen(text), &message, error), TT_OK);
  tt_status status = tt_step_read_head(&message, head, error);
  tt_halsim_message_clear(&message);
  return status;
}

static void heads(void **state) {
  (void)state;
  tt_step_head head;
  tt_error error;
  assert_int_equal(
      read("{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<version\":1,\"<program\":\"java\"}}",
           &head, &error),
      TT_OK);
  assert_int_equal(head.kind, TT_STEP_HELLO);
  assert_int_equal(head.version, 1);
  assert_string_equal(head.text, "java");
  assert_int_equal(
      read("{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<time\":40000}}", &head, &error), TT_OK);
  assert_int_equal(head.kind, TT_STEP_ANSWER);
  assert_int_equal(head.time, 40000);
  assert_int_equal(
      read("{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<trouble\":\"t\"}}", &head, &error),
      TT_OK);
  assert_int_equal(head.kind, TT_STEP_TROUBLE);
  assert_int_equal(
      read("{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<end\":\"e\"}}", &head, &error), TT_OK);
  assert_int_equal(head.kind, TT_STEP_END);
  static const char *const none[] = {
      "{\"type\":\"PWM\",\"device\":\"0\",\"data\":{\"<time\":1}}",
      "{\"type\":\"Step\",\"device\":\"\",\"data\":{}}",
      "{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<time\":-1}}",
      "{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<time\":\"1\"}}",
      "{\"type\":\"Step\",\"device\":\"\",\"data\":{\">step\":1}}",
      "{\"type\":\"Step\",\"device\":\"\",\"data\":{\"<trouble\":5}}",
  };
  for (size_t i = 0; i < sizeof none / sizeof *none; i++)
    assert_int_equal(read(none[i], &head, &error), TT_INVALID);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_golden_frame_leaves),
      cmocka_unit_test(a_frame_comes_in_any_pieces),
      cmocka_unit_test(a_frame_that_is_too_long_is_none),
      cmocka_unit_test(a_frame_that_would_be_too_long_does_not_leave),
      cmocka_unit_test(heads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

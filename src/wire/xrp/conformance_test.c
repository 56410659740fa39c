/* conformance_test.c: xrp passes what every wire has to pass. What is beyond full speed is full speed, as on the real robot. */
#include "wire/conformance_world.h"

#include "wire/xrp/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

static size_t message(uint64_t n, uint8_t *bytes) {
  const tt_xrp_command command = {.number = (uint16_t)n,
                                  .enabled = true,
                                  .motors = {0.3f + 0.1f * (float)(n % 7), -0.5f},
                                  .servos = {0.25f * (float)(n % 3), 0.5f},
                                  .has_servo = 3};
  return tt_xrp_encode_command(&command, bytes);
}

static const tt_conformance_field fields[] = {
    {.name = "motor 0", .offset = 6, .big_endian = true},
    {.name = "motor 1", .offset = 13, .big_endian = true},
    {.name = "motor 2", .offset = 20, .big_endian = true},
    {.name = "motor 3", .offset = 27, .big_endian = true},
    {.name = "servo 4", .offset = 34, .big_endian = true},
    {.name = "servo 5", .offset = 41, .big_endian = true},
};

/* Numbers wrap. */
static bool is_newer(const uint8_t *message, const uint8_t *than) {
  uint16_t ahead = (uint16_t)((message[0] << 8 | message[1]) - (than[0] << 8 | than[1]));
  return ahead != 0 && ahead < 0x8000;
}

static const char *const settings[] = {"wires.xrp.bind=127.0.0.1:0"};
static const tt_conformance wire = {
    .scene = "xrp",
    .settings = settings,
    .setting_count = 1,
    .message = message,
    .fields = fields,
    .field_count = 6,
    .ordered = true,
    .wire = "xrp",
    .is_newer = is_newer,
};

static int number_of_an_answer(int s) {
  uint8_t heard[TT_CONFORMANCE_MESSAGE];
  assert_true(recv(s, heard, sizeof heard, 0) > 2);
  return heard[0] << 8 | heard[1];
}

/* However long nobody was there: a program that has heard 40,000 messages would take small numbers for old ones. */
static void numbers_begin_with_the_first_that_is_heard(void **state) {
  (void)state;
  tt_under_test under;
  tt_error error = {""};
  uint8_t bytes[TT_CONFORMANCE_MESSAGE];
  tt_under_test_open(&under, &wire);
  tt_world_start(under.world);
  int s = tt_under_test_connect(&under, SOCK_DGRAM);
  while (tt_world_view(under.world)->time < 0.5)
    assert_int_equal(tt_world_tick(under.world, &error), TT_OK);
  assert_true(send(s, bytes, message(1, bytes), 0) > 0);
  while (tt_world_view(under.world)->time < 0.6)
    assert_int_equal(tt_world_tick(under.world, &error), TT_OK);
  static const int expected[] = {65533, 65534, 65535, 0};
  for (int i = 0; i < 4; i++) assert_int_equal(number_of_an_answer(s), expected[i]);
  close(s);
  tt_under_test_close(&under);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_begin_with_the_first_that_is_heard)};
  return tt_conformance_datagrams(&wire) + tt_conformance_in_lockstep(&wire) +
         cmocka_run_group_tests(tests, NULL, NULL);
}

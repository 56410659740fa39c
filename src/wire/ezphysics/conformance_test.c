/* conformance_test.c: ezphysics passes what every wire has to pass: in mode step, with the world reset for each peer, and
 * with one joint sent, so that all states have one size. */
#include "wire/conformance_world.h"
#include "wire/ezphysics/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

/* A setting: of all bodies and joints only the tail is told of. */
#define ONE_JOINT                                                                                  \
  "wires.ezphysics.marks=[{body: '*', send: false}, {joint: '*', send: false}, {joint: tail, "     \
  "send: true}]"
#define PACKET (TT_EZ_PACKET_HEADER + TT_EZ_RECV_AXIS_MOTOR_SIZE)

/** A servo command for joints 2 (one axis) and 3 (two axes). */
static size_t message(uint64_t n, uint8_t *bytes) {
  const double velocity[3] = {0.1 * (double)(n % 5 + 1), -0.2, 0}, torque[3] = {20, 20, 20};
  tt_ez_writer writer;
  tt_ez_begin(&writer, bytes, TT_CONFORMANCE_MESSAGE);
  tt_ez_put_motor(&writer, 2, velocity, torque);
  tt_ez_put_motor(&writer, 3, velocity, torque);
  tt_ez_end(&writer);
  return writer.size;
}

#define FLOOD 2000 /* messages */

/* Each of a flood of tiny messages costs its own bytes only, and no period more than it has time for; none is lost. */
static void a_flood_is_taken_a_part_a_period(void **state) {
  (void)state;
  static const char *const settings[] = {"wires.ezphysics.listen=127.0.0.1:0",
                                         "wires.ezphysics.mode=realtime", "pace=fast"};
  const tt_conformance wire = {.scene = "ezphysics", .settings = settings, .setting_count = 3};
  static const uint8_t empty[] = {8, 0, 0, 0, 0, 0, 0, 0};
  tt_under_test under;
  tt_error error = {""};
  tt_under_test_open(&under, &wire);
  const tt_wire_stats *stats = &tt_under_test_wire(&under)->stats;
  tt_world_start(under.world);
  int s = tt_under_test_connect(&under, SOCK_STREAM);
  for (int i = 0; i < FLOOD; i++)
    assert_int_equal(send(s, empty, sizeof empty, 0), (ssize_t)sizeof empty);
  uint8_t last[TT_CONFORMANCE_MESSAGE];
  size_t size = message(1, last);
  assert_int_equal(send(s, last, size, 0), (ssize_t)size);
  uint64_t step = 0, before = 0, most = 0, period = tt_under_test_wire(&under)->period_steps;
  for (; stats->accepted < FLOOD + 1; before = stats->accepted) {
    assert_int_equal(tt_world_tick(under.world, &error), TT_OK);
    if (stats->accepted - before > most) most = stats->accepted - before;
    step = tt_world_step(under.world);
  }
  assert_int_equal(most, 256);
  assert_int_equal(stats->received, FLOOD + 1);
  assert_true(step >= (FLOOD / 256) * period);
  close(s);
  tt_under_test_close(&under);
}

int main(void) {
  static const tt_conformance_field fields[] = {
      {.name = "joint 2", .offset = TT_EZ_HEADER + TT_EZ_PACKET_HEADER, .limited = true},
      {.name = "joint 2", .offset = TT_EZ_HEADER + TT_EZ_PACKET_HEADER + 4, .limited = true},
      {.name = "joint 3", .offset = TT_EZ_HEADER + PACKET + TT_EZ_PACKET_HEADER, .limited = true},
      {.name = "joint 3",
       .offset = TT_EZ_HEADER + PACKET + TT_EZ_PACKET_HEADER + 12,
       .limited = true},
  };
  static const char *const settings[] = {"wires.ezphysics.listen=127.0.0.1:0",
                                         "wires.ezphysics.on_disconnect=reset", ONE_JOINT};
  static const char *const hold[] = {"wires.ezphysics.late=hold", "wires.ezphysics.deadline=20 ms",
                                     "wires.ezphysics.receive_timeout=0 s"};
  const tt_conformance wire = {
      .scene = "ezphysics",
      .settings = settings,
      .setting_count = 3,
      .message = message,
      .fields = fields,
      .field_count = 4,
      .hold_settings = hold,
      .answer_size = TT_EZ_HEADER + 3 * TT_EZ_PACKET_HEADER + TT_EZ_SEND_TIMESTAMP_SIZE +
                     TT_EZ_SEND_JOINTAXIS_SIZE + TT_EZ_SEND_JOINTFEEDBACK_SIZE,
      .bad_numbers_answered = true,
  };
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_flood_is_taken_a_part_a_period)};
  return tt_conformance_stream(&wire) + cmocka_run_group_tests(tests, NULL, NULL);
}

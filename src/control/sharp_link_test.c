/* sharp_link_test.c: a link over real UDP: what it hears, drops and sends, and from which port. */
#include "base/clock.h"
#include "control/sharp_link.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void new_link(tt_net *net, tt_sharp_link *link, const char *peer,
                     const tt_sharp_format *hears) {
  tt_error error;
  *link = (tt_sharp_link){.name = "test", .bind = "127.0.0.1:0", .peer = peer, .hears = hears};
  if (tt_sharp_link_open(link, net, &error) != TT_OK) fail_msg("%s", error.text);
}

/** Serves the sockets until `condition` counts at least `count`. */
static void await(tt_net *net, const uint64_t *counter, uint64_t count) {
  uint64_t end = tt_monotonic_ns() + 5000000000u;
  while (*counter < count && tt_monotonic_ns() < end) tt_net_poll(net, 10000000u);
  assert_true(*counter >= count);
}

static void messages_go_both_ways_from_the_bound_ports(void **state) {
  (void)state;
  tt_net *net = tt_net_new();
  tt_sharp_link vehicle, core;
  new_link(net, &core, "sender", &tt_sharp_state_format);
  new_link(net, &vehicle, tt_udp_address(core.udp), &tt_sharp_command_format);

  const int encoders[TT_SHARP_STATE_VALUES] = {1, 2, 1023};
  tt_sharp_link_send(&core, &tt_sharp_command_format, (int[6]){0});
  assert_int_equal(core.sent, 0); /* nobody is known yet */
  tt_sharp_link_send(&vehicle, &tt_sharp_state_format, encoders);
  await(net, &core.accepted, 1);
  assert_true(core.heard);
  assert_memory_equal(core.values, encoders, sizeof encoders);

  const int command[TT_SHARP_COMMAND_VALUES] = {-512, 512, 0, 1, 0, 1};
  tt_sharp_link_send(&core, &tt_sharp_command_format, command);
  await(net, &vehicle.accepted, 1);
  assert_memory_equal(vehicle.values, command, sizeof command);
  tt_net_free(net);
}

static void bad_datagrams_are_counted_and_change_nothing(void **state) {
  (void)state;
  tt_net *net = tt_net_new();
  tt_sharp_link link, other;
  new_link(net, &link, "sender", &tt_sharp_state_format);
  new_link(net, &other, tt_udp_address(link.udp), &tt_sharp_state_format);
  static char long_text[3000];
  memset(long_text, 'x', sizeof long_text);
  tt_udp_send(other.udp, long_text, sizeof long_text);
  await(net, &link.dropped[TT_DROP_LENGTH], 1);
  tt_udp_send(other.udp, "{'leftDriveEncoder': 5000}", 26);
  await(net, &link.dropped[TT_DROP_RANGE], 1);
  for (int i = 0; i < 3; i++) tt_udp_send(other.udp, "nonsense", 8);
  await(net, &link.dropped[TT_DROP_SYNTAX], 3);
  assert_false(link.heard);
  assert_int_equal(link.accepted, 0);
  tt_udp_send(other.udp, "{'leftDriveEncoder': 500}", 25);
  await(net, &link.accepted, 1);
  assert_int_equal(link.values[0], 500);
  tt_net_free(net);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(messages_go_both_ways_from_the_bound_ports),
      cmocka_unit_test(bad_datagrams_are_counted_and_change_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

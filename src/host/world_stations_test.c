/* What driver stations do to a world: a disabled robot is one whose commands are safe, its others go on; everything stands in
 * the journal. Real scenes, real sockets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "host/journal_lines.h"
#include "host/world_internal.h"
#include "host/world_testing.h"

#define TWO_ROBOTS                                                                                 \
  "timestep: 1/1000 s\n"                                                                           \
  "io_period: 10 ms\n"                                                                             \
  "pace: fast\n"                                                                                   \
  "robots:\n"                                                                                      \
  "  - {robot: frc2011, name: red, alliance: red, x: -2 m}\n"                                      \
  "  - {robot: frc2011, name: blue, alliance: blue, x: 2 m}\n"                                     \
  "wires:\n"                                                                                       \
  "  - float-udp: {name: r, robot: red, bind: '127.0.0.1:0', watchdog: 0,\n"                       \
  "      sensors: [{name: time}], commands: [{name: stamp}, {name: left_track.torque}, {name: "    \
  "grip}, {name: red/reset}]}\n"                                                                   \
  "  - float-udp: {name: b, robot: blue, bind: '127.0.0.1:0', watchdog: 0,\n"                      \
  "      sensors: [{name: time}], commands: [{name: stamp}, {name: left_track.torque}]}\n"

static void open_world(testing_world *made, const char *game) {
  char text[2000];
  snprintf(text, sizeof text, "%s%s", TWO_ROBOTS, game);
  testing_open(made, text);
}

static void order(testing_world *in, tt_ds_order_kind kind, int robot, int value) {
  tt_mail mail = {.kind = TT_MAIL_STATION,
                  .source = "test",
                  .station = {.kind = kind, .robot = robot, .value = value}};
  assert_int_equal(tt_world_post(in->world, &mail), TT_OK);
}

static void drive(testing_world *in, float red, float grip, float blue) {
  const float to_red[] = {in->stamp += 1, red, grip, 0}, to_blue[] = {in->stamp, blue};
  testing_send(in, 0, to_red, 4);
  testing_send(in, 1, to_blue, 2);
}

static void expect(testing_world *in, double red, double grip, double blue) {
  assert_true(testing_value(in, "command:red/left_track.torque") == red);
  assert_true(testing_value(in, "command:red/grip") == grip);
  assert_true(testing_value(in, "command:blue/left_track.torque") == blue);
}

static void robots_begin_enabled(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  assert_true(tt_world_driver_station(in.world, 1)->enabled);
  assert_int_equal(tt_world_driver_station(in.world, 1)->station, TT_STATION_BLUE1);
  drive(&in, 3, 1, 2);
  testing_tick(&in, 1);
  expect(&in, 3, 1, 2);
  testing_close(&in);
}

static void a_disabled_robot_is_safe_and_no_other(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  drive(&in, 3, 1, 2);
  testing_tick(&in, 1);
  order(&in, TT_DS_ENABLE, 0, 0);
  drive(&in, 4, 2, 5);
  testing_tick(&in, 1);
  expect(&in, 0, 1, 5); /* the gripper stays as it was */
  assert_true(testing_journaled(&in, "10 event driver-station red: disabled, teleop\n"));
  assert_true(testing_journaled(&in, "10 safe driver-station "));
  char refused[64]; /* before the journal */
  snprintf(refused, sizeof refused,
           "10 commands r %d=", testing_command(&in, "red/left_track.torque"));
  assert_false(testing_journaled(&in, refused));
  assert_true(testing_journaled(&in, "10 commands b"));
  order(&in, TT_DS_ENABLE, 0, 1);
  testing_tick(&in, 1);
  expect(&in, 0, 1, 5); /* what was said meanwhile is gone */
  drive(&in, 4, 2, 5);
  testing_tick(&in, 1);
  expect(&in, 4, 2, 5);
  testing_close(&in);
}

static void a_disabled_robot_may_be_reset(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "game: {start: disabled}\n");
  assert_false(tt_world_driver_station(in.world, 0)->enabled);
  const float again[] = {1, 3, 0, 1};
  testing_send(&in, 0, again, 4);
  testing_tick(&in, 1);
  expect(&in, 0, 0, 0);
  assert_true(testing_journaled(&in, "reset red"));
  assert_false(tt_world_driver_station(in.world, 0)->enabled); /* drivers are not reset */
  testing_close(&in);
}

static void a_wire_whose_peers_are_told_passes_but_at_an_e_stop(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "game: {start: disabled}\n");
  tt_submission torque = {testing_command(&in, "red/left_track.torque"), 3};
  assert_int_equal(tt_world_apply(in.world, "test", false, &torque, 1, NULL), TT_OK);
  testing_tick(&in, 1);
  expect(&in, 0, 0, 0);
  assert_int_equal(tt_world_apply(in.world, "test", true, &torque, 1, NULL), TT_OK);
  testing_tick(&in, 1);
  expect(&in, 3, 0, 0);
  order(&in, TT_DS_ENABLE, 0, 1);
  order(&in, TT_DS_ESTOP, 0, 1);
  testing_tick(&in, 1);
  expect(&in, 0, 0, 0);
  assert_int_equal(tt_world_apply(in.world, "test", true, &torque, 1, NULL), TT_OK);
  testing_tick(&in, 1);
  expect(&in, 0, 0, 0);
  torque.value = 1e30; /* what is wrong is refused, whoever is disabled */
  assert_int_equal(tt_world_apply(in.world, "test", true, &torque, 1, NULL), TT_BAD_MESSAGE);
  testing_close(&in);
}

static void the_emergency_stop_is_every_robot_s(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  testing_post(&in, TT_MAIL_STOP_ALL, 0, 1);
  testing_tick(&in, 1);
  const tt_driver_station *blue = tt_world_driver_station(in.world, 1);
  assert_true(blue->estop && !blue->enabled);
  testing_post(&in, TT_MAIL_STOP_ALL, 0, 0);
  testing_tick(&in, 1);
  assert_true(blue->enabled && !blue->estop);
  assert_false(testing_journaled(&in, "event driver-station")); /* one sentence was enough */
  testing_close(&in);
}

static void a_match_goes_by_simulated_time(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "game: {start: disabled, autonomous: 50 ms, pause: 20 ms, teleop: 0.1 s}\n");
  const tt_driver_station *red = tt_world_driver_station(in.world, 0);
  testing_tick(&in, 1);
  order(&in, TT_DS_MATCH, -1, 1);
  for (int i = 0; i < 20; i++) { /* somebody who always drives */
    drive(&in, 3, 0, 2);
    testing_tick(&in, 1);
    if (i == 1) assert_true(fabs(red->match_time - 0.03) < 1e-9);
    if (i == 5) expect(&in, 0, 0, 0);
    if (i == 7) expect(&in, 3, 0, 2);
  }
  assert_int_equal(in.world->stations.period, TT_PERIOD_OVER);
  assert_true(!red->enabled && red->match_time == 0);
  expect(&in, 0, 0, 0);
  static const char *const said[] = {
      "10 event driver-station practice match: autonomous for 0.05 s\n",
      "10 event driver-station all robots: enabled, autonomous\n",
      "60 event driver-station practice match: pause of 0.02 s\n",
      "60 event driver-station all robots: disabled, teleop\n",
      "60 safe driver-station ",
      "80 event driver-station practice match: teleop for 0.1 s\n",
      "180 event driver-station practice match: over\n",
      "180 safe driver-station ",
  };
  for (size_t i = 0; i < sizeof said / sizeof *said; i++)
    if (!testing_journaled(&in, said[i])) fail_msg("the journal lacks: %s", said[i]);
  testing_close(&in);
}

/* Also who enables, or begins another one: what drove stands, and whoever drives has to speak again. */
static void who_takes_over_disables_everybody_first(void **state) {
  static const tt_ds_order_kind by[] = {TT_DS_ENABLE, TT_DS_MATCH};
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
    testing_world in;
    open_world(&in, "");
    order(&in, TT_DS_MATCH, -1, 1);
    testing_tick(&in, 1);
    drive(&in, 3, 1, 2);
    testing_tick(&in, 1);
    expect(&in, 3, 1, 2);
    order(&in, by[i], -1, 1);
    testing_tick(&in, 1);
    assert_true(tt_world_driver_station(in.world, 0)->enabled);
    expect(&in, 0, 1, 0);
    assert_true(testing_journaled(&in, "20 event driver-station practice match ended early\n"));
    assert_true(testing_journaled(&in, "20 event driver-station all robots: disabled, teleop\n"));
    testing_close(&in);
  }
  (void)state;
}

static void a_match_that_is_over_does_not_end_early(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "game: {autonomous: 10 ms, pause: 0 s, teleop: 10 ms}\n");
  order(&in, TT_DS_MATCH, -1, 1);
  testing_tick(&in, 4);
  assert_int_equal(in.world->stations.period, TT_PERIOD_OVER);
  order(&in, TT_DS_ENABLE, -1, 1);
  testing_tick(&in, 1);
  assert_true(tt_world_driver_station(in.world, 0)->enabled);
  assert_false(testing_journaled(&in, "ended early"));
  testing_close(&in);
}

static void a_reset_leaves_a_match_alone(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  order(&in, TT_DS_MATCH, -1, 1);
  testing_tick(&in, 10);
  testing_post(&in, TT_MAIL_RESET, TT_NO_ROBOT, 0);
  testing_tick(&in, 1);
  const tt_driver_station *red = tt_world_driver_station(in.world, 0);
  assert_true(fabs(red->match_time - 14.89) < 1e-9 && red->mode == TT_MODE_AUTONOMOUS);
  testing_close(&in);
}

static void an_order_that_is_not_good_changes_nothing(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  order(&in, TT_DS_ENABLE, 7, 0);
  order(&in, TT_DS_MODE, 0, 9);
  testing_tick(&in, 1);
  assert_true(tt_world_driver_station(in.world, 0)->enabled);
  assert_false(testing_journaled(&in, "event"));
  testing_close(&in);
}

/* The first robot's have the names of WPILib's logs; what did not change is not said again. */
static void a_log_has_the_stations_as_flags(void **state) {
  (void)state;
  testing_world in;
  open_world(&in, "");
  tt_world_journal_stations(in.world);
  assert_true(testing_journaled(&in,
                                "0 flag driver-station DS:enabled 1\n"
                                "0 flag driver-station DS:autonomous 0\n"
                                "0 flag driver-station DS:test 0\n"
                                "0 flag driver-station DS:estop 0\n"
                                "0 flag driver-station blue/DS:enabled 1\n"));
  testing_tick(&in, 1);
  order(&in, TT_DS_MODE, 1, TT_MODE_TEST);
  testing_tick(&in, 1);
  assert_true(testing_journaled(&in,
                                "10 flag driver-station blue/DS:enabled 0\n"
                                "10 flag driver-station blue/DS:test 1\n"));
  assert_false(testing_journaled(&in, "10 flag driver-station DS:"));
  testing_post(&in, TT_MAIL_STOP_ALL, 0, 1);
  testing_tick(&in, 1);
  assert_true(testing_journaled(&in,
                                "20 flag driver-station DS:enabled 0\n"
                                "20 flag driver-station DS:estop 1\n"
                                "20 flag driver-station blue/DS:estop 1\n"));
  testing_close(&in);
}

static void other_threads_see_a_copy(void **state) {
  (void)state;
  testing_world in;
  tt_driver_station copy;
  open_world(&in, "game: {start: autonomous}\n");
  tt_world_get_driver_station(in.world, 1, &copy);
  assert_true(copy.enabled && copy.mode == TT_MODE_AUTONOMOUS);
  order(&in, TT_DS_ENABLE, -1, 0);
  testing_tick(&in, 1);
  in.world->shown_at = 0;
  tt_world_show(in.world, tt_monotonic_ns());
  tt_world_get_driver_station(in.world, 1, &copy);
  assert_false(copy.enabled);
  testing_close(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(robots_begin_enabled),
      cmocka_unit_test(a_disabled_robot_is_safe_and_no_other),
      cmocka_unit_test(a_disabled_robot_may_be_reset),
      cmocka_unit_test(a_wire_whose_peers_are_told_passes_but_at_an_e_stop),
      cmocka_unit_test(the_emergency_stop_is_every_robot_s),
      cmocka_unit_test(a_match_goes_by_simulated_time),
      cmocka_unit_test(who_takes_over_disables_everybody_first),
      cmocka_unit_test(a_match_that_is_over_does_not_end_early),
      cmocka_unit_test(a_reset_leaves_a_match_alone),
      cmocka_unit_test(an_order_that_is_not_good_changes_nothing),
      cmocka_unit_test(a_log_has_the_stations_as_flags),
      cmocka_unit_test(other_threads_see_a_copy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

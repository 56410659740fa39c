/* driver_station_test.c: what robots are told, by orders and by the time of a match. */
#include "game/driver_station.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char *const six[] = {"blue", "red", "", "blue", "red", "blue"};

static tt_driver_stations begun(int robots, tt_game_start start) {
  tt_driver_stations made;
  assert_true(tt_driver_stations_init(&made, six, robots, start, &tt_practice_match));
  return made;
}

static void order(tt_driver_stations *to, tt_ds_order_kind kind, int robot, int value) {
  tt_ds_order given = {.kind = kind, .robot = robot, .value = value};
  assert_true(tt_ds_order_is_good(&given, to->count));
  tt_driver_stations_obey(to, &given);
}

static void names_are_read_as_they_are_written(void **state) {
  (void)state;
  tt_robot_mode mode;
  tt_station station;
  for (int i = TT_MODE_AUTONOMOUS; i <= TT_MODE_TEST; i++) {
    assert_true(tt_robot_mode_read(tt_robot_mode_name((tt_robot_mode)i), &mode));
    assert_int_equal(mode, i);
  }
  for (int i = 0; i < TT_STATION_COUNT; i++) {
    assert_true(tt_station_read(tt_station_name((tt_station)i), &station));
    assert_int_equal(station, i);
    assert_int_equal(tt_station_number(station), i % 3 + 1);
  }
  assert_false(tt_robot_mode_read("disabled", &mode));
  assert_false(tt_station_read("red4", &station));
  assert_int_equal(tt_station_alliance(TT_STATION_RED3), TT_ALLIANCE_RED);
  assert_int_equal(tt_station_alliance(TT_STATION_BLUE1), TT_ALLIANCE_BLUE);
}

static void a_scene_begins_as_it_says(void **state) {
  (void)state;
  static const struct {
    tt_game_start start;
    bool enabled;
    tt_robot_mode mode;
  } starts[] = {{TT_START_TELEOP, true, TT_MODE_TELEOP},
                {TT_START_AUTONOMOUS, true, TT_MODE_AUTONOMOUS},
                {TT_START_DISABLED, false, TT_MODE_TELEOP}};
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    tt_driver_stations made = begun(1, starts[i].start);
    assert_int_equal(made.of[0].enabled, starts[i].enabled);
    assert_int_equal(made.of[0].mode, starts[i].mode);
    assert_true(made.of[0].match_time == -1);
    assert_string_equal(made.of[0].game_data, "");
    tt_driver_stations_clear(&made);
  }
}

static void robots_stand_at_their_alliance_s_wall(void **state) {
  (void)state;
  static const tt_station expected[] = {TT_STATION_BLUE1, TT_STATION_RED1, TT_STATION_RED2,
                                        TT_STATION_BLUE2, TT_STATION_RED3, TT_STATION_BLUE3};
  tt_driver_stations made = begun(6, TT_START_TELEOP);
  for (int i = 0; i < 6; i++) assert_int_equal(made.of[i].station, expected[i]);
  order(&made, TT_DS_STATION, 0, TT_STATION_RED3);
  assert_int_equal(made.of[0].station, TT_STATION_RED3);
  assert_int_equal(made.of[3].station, TT_STATION_BLUE2);
  tt_driver_stations_clear(&made);
  made = begun(0, TT_START_TELEOP); /* a scene without robots has one, that nobody reads */
  assert_int_equal(made.count, 1);
  tt_driver_stations_clear(&made);
}

static void one_robot_is_enabled_or_all(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_DISABLED);
  order(&made, TT_DS_ENABLE, 1, 1);
  assert_false(made.of[0].enabled);
  assert_true(made.of[1].enabled);
  order(&made, TT_DS_MODE, 1, TT_MODE_TELEOP); /* it is that already */
  assert_true(made.of[1].enabled);
  order(&made, TT_DS_MODE, -1, TT_MODE_TEST);
  assert_false(made.of[1].enabled);
  assert_int_equal(made.of[0].mode, TT_MODE_TEST);
  order(&made, TT_DS_ENABLE, -1, 1);
  assert_true(made.of[0].enabled && made.of[1].enabled);
  tt_driver_stations_clear(&made);
}

static void an_e_stop_holds_until_it_is_released(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_TELEOP);
  order(&made, TT_DS_ESTOP, 0, 1);
  assert_true(made.of[0].estop && !made.of[0].enabled);
  assert_true(made.of[1].enabled);
  order(&made, TT_DS_ENABLE, -1, 1);
  assert_false(made.of[0].enabled);
  order(&made, TT_DS_ESTOP, 0, 0);
  assert_false(made.of[0].estop || made.of[0].enabled);
  order(&made, TT_DS_ENABLE, 0, 1);
  assert_true(made.of[0].enabled);
  tt_driver_stations_clear(&made);
}

static void the_world_s_stop_leaves_all_as_it_was(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_TELEOP);
  order(&made, TT_DS_ENABLE, 1, 0);
  tt_driver_stations_stop(&made, true);
  for (int i = 0; i < 2; i++) assert_true(made.of[i].estop && !made.of[i].enabled);
  order(&made, TT_DS_ENABLE, 1, 1); /* nobody is enabled meanwhile */
  tt_driver_stations_stop(&made, false);
  assert_true(made.of[0].enabled && !made.of[0].estop);
  assert_false(made.of[1].enabled || made.of[1].estop);
  tt_driver_stations_clear(&made);
}

/* Robots during a match that began `elapsed` s ago. */
static void expect(tt_driver_stations *in, double elapsed, bool enabled, tt_robot_mode mode,
                   double match_time) {
  tt_driver_stations_advance(in, elapsed);
  for (int i = 0; i < in->count; i++) {
    assert_int_equal(in->of[i].enabled, enabled);
    assert_int_equal(in->of[i].mode, mode);
    assert_true(fabs(in->of[i].match_time - match_time) < 1e-12);
  }
}

static void a_match_enables_and_disables_by_simulated_time(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_DISABLED);
  tt_driver_stations_advance(&made, 3);
  assert_int_equal(made.period, TT_PERIOD_NONE);
  order(&made, TT_DS_MATCH, -1, 1);
  expect(&made, 0, true, TT_MODE_AUTONOMOUS, 15);
  expect(&made, 14.98, true, TT_MODE_AUTONOMOUS, 0.02);
  expect(&made, 15, false, TT_MODE_TELEOP, 0);
  expect(&made, 18, true, TT_MODE_TELEOP, 135);
  expect(&made, 152, true, TT_MODE_TELEOP, 1);
  expect(&made, 153, false, TT_MODE_TELEOP, 0);
  assert_int_equal(made.period, TT_PERIOD_OVER);
  order(&made, TT_DS_ENABLE, 0, 1);
  assert_int_equal(made.period, TT_PERIOD_NONE);
  assert_true(made.of[0].enabled && !made.of[1].enabled && made.of[0].match_time == -1);
  tt_driver_stations_clear(&made);
}

static void who_takes_over_by_hand_ends_the_match(void **state) {
  (void)state;
  static const struct {
    tt_ds_order_kind kind;
    int value;
  } orders[] = {{TT_DS_ENABLE, 0}, {TT_DS_MODE, TT_MODE_TEST}, {TT_DS_MATCH, 0}};
  for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
    tt_driver_stations made = begun(2, TT_START_TELEOP);
    order(&made, TT_DS_MATCH, -1, 1);
    tt_driver_stations_advance(&made, 20);
    order(&made, orders[i].kind, orders[i].kind == TT_DS_MATCH ? -1 : 0, orders[i].value);
    assert_int_equal(made.period, TT_PERIOD_NONE);
    assert_false(made.of[0].enabled || made.of[1].enabled);
    assert_true(made.of[1].match_time == -1);
    tt_driver_stations_clear(&made);
  }
}

static void who_is_stopped_in_a_match_is_out_until_its_next_period(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_TELEOP);
  order(&made, TT_DS_MATCH, -1, 1);
  order(&made, TT_DS_ESTOP, 0, 1);
  tt_driver_stations_advance(&made, 1);
  assert_int_equal(made.period, TT_PERIOD_AUTONOMOUS);
  assert_true(!made.of[0].enabled && made.of[1].enabled);
  order(&made, TT_DS_ESTOP, 0, 0);
  tt_driver_stations_advance(&made, 2);
  assert_false(made.of[0].enabled);
  tt_driver_stations_advance(&made, 18);
  assert_true(made.of[0].enabled);
  tt_driver_stations_clear(&made);
}

static void what_is_out_of_range_is_no_order(void **state) {
  (void)state;
  static const tt_ds_order bad[] = {
      {TT_DS_ENABLE, 2, 1, {{0}}},
      {TT_DS_ENABLE, -2, 1, {{0}}},
      {TT_DS_ENABLE, 0, 2, {{0}}},
      {TT_DS_MODE, 0, 0, {{0}}},
      {TT_DS_MODE, 0, 4, {{0}}},
      {TT_DS_STATION, 0, 6, {{0}}},
      {TT_DS_STATION, 0, -1, {{0}}},
      {TT_DS_JOYSTICK, 0, 6, {{0}}},
      {(tt_ds_order_kind)7, 0, 0, {{0}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.axes = {1.01}, .axis_count = 1}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.axes = {NAN}, .axis_count = 1}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.axis_count = 13}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.button_count = 33}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.pov_count = 13}}},
      {TT_DS_JOYSTICK, 0, 0, {.joystick = {.povs = {360}, .pov_count = 1}}},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    assert_false(tt_ds_order_is_good(&bad[i], 2));
  tt_ds_order endless = {.kind = TT_DS_GAME_DATA, .robot = -1};
  memset(endless.text, 'x', sizeof endless.text);
  assert_false(tt_ds_order_is_good(&endless, 2));
}

static void joysticks_and_game_data_reach_their_robot(void **state) {
  (void)state;
  tt_driver_stations made = begun(2, TT_START_TELEOP);
  tt_ds_order stick = {.kind = TT_DS_JOYSTICK,
                       .robot = 1,
                       .value = 5,
                       .joystick = {.axes = {-1, 0.5},
                                    .axis_count = 2,
                                    .buttons = 0x201,
                                    .button_count = 10,
                                    .povs = {315},
                                    .pov_count = 1}};
  assert_true(tt_ds_order_is_good(&stick, 2));
  tt_driver_stations_obey(&made, &stick);
  assert_memory_equal(&made.of[1].joysticks[5], &stick.joystick, sizeof stick.joystick);
  assert_int_equal(made.of[0].joysticks[5].axis_count, 0);
  tt_driver_stations_obey(&made,
                          &(tt_ds_order){.kind = TT_DS_GAME_DATA, .robot = -1, .text = "LRL"});
  assert_string_equal(made.of[0].game_data, "LRL");
  assert_string_equal(made.of[1].game_data, "LRL");
  assert_true(made.of[1].enabled);
  tt_driver_stations_clear(&made);
}

static void people_are_told_what_changed(void **state) {
  (void)state;
  tt_driver_stations made = begun(1, TT_START_TELEOP);
  tt_driver_station before = made.of[0];
  char text[200];
  assert_false(tt_driver_station_tell(&before, &made.of[0], text, sizeof text));
  order(&made, TT_DS_ENABLE, 0, 0);
  order(&made, TT_DS_STATION, 0, TT_STATION_BLUE3);
  tt_driver_stations_obey(&made, &(tt_ds_order){.kind = TT_DS_GAME_DATA, .robot = 0, .text = "R"});
  assert_true(tt_driver_station_tell(&before, &made.of[0], text, sizeof text));
  assert_string_equal(text, "disabled, teleop; at blue3; game data \"R\"");
  before = made.of[0];
  order(&made, TT_DS_ESTOP, 0, 1);
  assert_true(tt_driver_station_tell(&before, &made.of[0], text, sizeof text));
  assert_string_equal(text, "e-stop");
  assert_true(tt_driver_station_tell(&before, &made.of[0], text, 4));
  assert_string_equal(text, "e-s");
  tt_driver_stations_clear(&made);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_are_read_as_they_are_written),
      cmocka_unit_test(a_scene_begins_as_it_says),
      cmocka_unit_test(robots_stand_at_their_alliance_s_wall),
      cmocka_unit_test(one_robot_is_enabled_or_all),
      cmocka_unit_test(an_e_stop_holds_until_it_is_released),
      cmocka_unit_test(the_world_s_stop_leaves_all_as_it_was),
      cmocka_unit_test(a_match_enables_and_disables_by_simulated_time),
      cmocka_unit_test(who_takes_over_by_hand_ends_the_match),
      cmocka_unit_test(who_is_stopped_in_a_match_is_out_until_its_next_period),
      cmocka_unit_test(what_is_out_of_range_is_no_order),
      cmocka_unit_test(joysticks_and_game_data_reach_their_robot),
      cmocka_unit_test(people_are_told_what_changed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

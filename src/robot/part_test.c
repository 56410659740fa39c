/* part_test.c: parts on a bench: what they remember, what grippers hold, and what is wrong with a robot's file. */
#include "robot/part_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* What parts remember and draw is part of the world's state: a restored world goes on as the one that went on. */
static void restored_parts_go_on_alike(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"gyros", BENCH_DRIFTING},
      {"motors", BENCH_TRACK},
      {"lua_sensors", "{name: twice, file: sensors.lua, function: double}"}};
  bench_set_up(&on, parts, 3);
  bench_command(&on, "turntable.torque", 1);
  bench_command(&on, "track.gear", 2);
  bench_command(&on, "track.duty", 1);
  bench_run(&on, 1);
  size_t size = tt_world_state_size(on.world);
  void *saved = malloc(size);
  assert_non_null(saved);
  tt_world_save(on.world, saved);
  bench_run(&on, 1);
  double angle = bench_value(&on, "heading.angle"), speed = bench_value(&on, "flywheel.velocity");
  assert_true(bench_value(&on, "twice") == 2 * speed);
  uint64_t hash = tt_world_hash(on.world);
  bench_run(&on, 1);
  assert_int_equal(tt_world_restore(on.world, saved, size), TT_OK);
  bench_run(&on, 1);
  assert_true(bench_value(&on, "heading.angle") == angle);
  assert_true(bench_value(&on, "flywheel.velocity") == speed);
  assert_true(tt_world_hash(on.world) == hash);
  free(saved);
  bench_tear_down(&on);
}

static void grippers_hold_their_kind(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"grippers", "{site: bench, reach: 0.5 m}"}, 1);
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "grip.held") == 0 && bench_value(&on, "grip.kind") == 0);
  bench_command(&on, "grip", 4); /* there is none of this kind */
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "grip.held") == 0);
  bench_command(&on, "grip", 2);
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "grip.held") == 1 && bench_value(&on, "grip.kind") == 2);
  bench_command(&on, "grip", 3);
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "grip.held") == 1 && bench_value(&on, "grip.kind") == 3);
  bench_command(&on, "grip", 0);
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "grip.held") == 0);
  bench_tear_down(&on);
}

static void mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    bench_part part;
    const char *expected;
  } cases[] = {
      {{"motors", "{name: a, joint: flywhel}"}, "did you mean 'flywheel'?"},
      {{"lua_sensors", "{name: a, file: sensors.lua, function: misnamed}"},
       "sensors.lua:11: robot.yaml: part.function: no signal is called"},
      {{"motors", "{name: a}"}, "give either `joint: name` or `joints: [names]`"},
      {{"motors", "{name: a.b, joint: flywheel}"}, "can't begin a signal's name"},
      {{"motors", "{name: a, joint: flywheel, model: cym}"},
       ".model: 'cym' is not one of none, custom, cim"},
      {{"motors", "{name: a, joint: flywheel, gears: [2]}"},
       ".gears: means nothing without a motor model"},
      {{"motors", "{name: a, joint: flywheel, model: cim, gears: [nan]}"}, ".gears: "},
      {{"motors", "{name: a, joint: flywheel, model: cim, drum_radius: 1 m}"},
       ".drum_radius: is for slide joints"},
      {{"motors", "{name: a, joint: flywheel, model: cim, current_limit: 40 V}"},
       ".current_limit: '40 V'"},
      {{"motors", "{name: a, joints: [flywheel, hoist]}"}, "hinges and slides can't share a motor"},
      {{"motors", "{name: a, joints: [flywheel, flywheel]}"}, "stands there twice"},
      {{"motors", "{name: a, joint: flywheel, model: custom}"},
       "needs stall_torque and free_speed"},
      {{"motors", "{name: a, joint: flywheel, neutral: float}"}, "not one of brake, coast, hold"},
      {{"encoders", "{name: a, signal: flywheel.position}"}, "give one of ticks_per_turn"},
      {{"encoders", "{name: a, signal: flywheel.position, ticks_per_turn: 0}"},
       ".ticks_per_turn: 0 would never count"},
      {{"encoders", "{name: a, signal: rail.position, ticks_per_meter: 0}"},
       ".ticks_per_meter: 0 would never count"},
      {{"encoders", "{name: a, signal: flywheel.velocity, ticks_per_turn: 4}"},
       "is in rad/s, but the encoder"},
      {{"encoders", "{name: a, signal: flywheel.positon, ticks_per_turn: 4}"}, "flywheel.position"},
      {{"encoders", "{name: a, signal: rail.position, from: 0, to: 1, minimum: 0, maximum: 9}"},
       "give a unit"},
      {{"encoders", "{name: a, signal: a.ticks, ticks_per_turn: 4}"}, "is computed later"},
      {{"encoders", "{name: a, signal: real_time_factor, ticks_per_turn: 4}"},
       "is of the wall clock"},
      {{"line_trackers", "{name: a, body: bnch}"}, "did you mean 'bench'?"},
      {{"limit_switches", "{name: a, joint: rail}"}, "give `above`, `below`, or both"},
      {{"limit_switches", "{name: a, joint: rail, above: 3 deg}"}, ".above: '3 deg'"},
      {{"lua_sensors", "{name: a, file: none.lua}"}, "can't open"},
      {{"lua_sensors", "{name: a, file: ../../x.lua}"}, "must lie in the scene's folder"},
      {{"lua_sensors", "{name: a, file: sensors.lua}"}, "defines no function sense(read)"},
      {{"batteries", "{resistance: 20 V}"}, ".resistance: '20 V'"},
      {{"batteries", "{empty: 11 V}"}, ".empty: needs a capacity"},
      {{"batteries", "{brownout: 7 V, recovery: 6 V}"}, ".recovery: "},
      {{"grippers", "{name: other, site: bench}"}, "composed without the gripper 'other'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench on;
    tt_error error = {{0}};
    tt_status status = bench_try(&on, &cases[i].part, 1, &error);
    if (status == TT_OK || !strstr(error.text, cases[i].expected))
      fail_msg("%s\nsays '%s', not '%s'", cases[i].part.yaml, error.text, cases[i].expected);
    on.world = NULL;
    bench_tear_down(&on);
  }
}

static void two_motors_on_a_joint_are_refused(void **state) {
  (void)state;
  static const bench_part parts[] = {
      {"motors", "{name: leader, joints: [second, flywheel], model: cim}"},
      {"motors", "{name: follower, joint: flywheel, model: cim}"}};
  bench on;
  tt_error error = {{0}};
  assert_int_not_equal(bench_try(&on, parts, 2, &error), TT_OK);
  assert_string_equal(
      error.text,
      "robot.yaml: part2.joint: 'flywheel' is driven by the motor 'leader' already, "
      "at robot.yaml: part; motors that share a load are one with `count: 2`");
  on.world = NULL;
  bench_tear_down(&on);
}

static void two_parts_of_one_name_are_refused(void **state) {
  (void)state;
  static const struct {
    bench_part parts[2];
    const char *twin; /* what both have; NULL: they differ in all that they have */
  } cases[] = {
      {{{"motors", "{name: a, joint: flywheel}"}, {"motors", "{name: a, joint: turntable}"}}, "a."},
      {{{"bumpers", "{name: a, body: bench}"},
        {"limit_switches", "{name: a, joint: rail, above: 0 m}"}},
       "a.pressed"},
      {{{"lua_sensors", "{name: a, file: sensors.lua, function: double}"},
        {"lua_sensors", "{name: a, file: sensors.lua, function: double}"}},
       "a"},
      {{{"motors", "{name: a, joint: flywheel}"},
        {"encoders", "{name: a, signal: flywheel.position, ticks_per_turn: 4}"}},
       NULL},
      {{{"motors", "{name: flywheel, joint: flywheel}"}, {"motors", "{name: b, joint: turntable}"}},
       NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench on;
    tt_error error = {{0}};
    char expected[64];
    tt_status status = bench_try(&on, cases[i].parts, 2, &error);
    if (!cases[i].twin) {
      if (status != TT_OK) fail_msg("%s", error.text);
    } else {
      snprintf(expected, sizeof expected, "robot.yaml: part2.name: '%s", cases[i].twin);
      if (status == TT_OK || !strstr(error.text, expected) ||
          !strstr(error.text, "here and at robot.yaml: part;"))
        fail_msg("case %zu says '%s', not '%s'", i, error.text, expected);
      on.world = NULL;
    }
    bench_tear_down(&on);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(restored_parts_go_on_alike),
      cmocka_unit_test(grippers_hold_their_kind),
      cmocka_unit_test(mistakes_are_named),
      cmocka_unit_test(two_motors_on_a_joint_are_refused),
      cmocka_unit_test(two_parts_of_one_name_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

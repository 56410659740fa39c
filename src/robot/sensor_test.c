/* sensor_test.c: surrogate sensors on a bench: encoders, trackers, range finders, switches, gyros, Lua. */
#include "robot/part_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void encoders_count(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"encoders",
       "{name: wraps, signal: flywheel.position, ticks_per_turn: 1024, minimum: 0, maximum: 1023}"},
      {"encoders",
       "{name: stops, signal: rail.position, from: 0 m, to: 0.5 m, minimum: 0, maximum: 1023, "
       "overflow: saturate}"},
      {"encoders", "{name: back, signal: flywheel.position, ticks_per_turn: -360, offset: 10}"},
  };
  bench_set_up(&on, parts, 3);
  assert_true(bench_value(&on, "wraps.ticks") == 0 && bench_value(&on, "back.ticks") == 10);
  bench_command(&on, "flywheel.velocity", -2 * BENCH_PI);
  bench_command(&on, "flywheel.max_torque", 1e4);
  bench_command(&on, "rail.velocity", 0.25);
  bench_command(&on, "rail.max_torque", 1e4);
  bench_run(&on, 1);
  double angle = bench_value(&on, "flywheel.position"), rail = bench_value(&on, "rail.position");
  double ticks = rint(angle / (2 * BENCH_PI) * 1024);
  assert_true(ticks < -900);
  assert_true(bench_value(&on, "wraps.ticks") == ticks + (ticks < -1024 ? 2048 : 1024));
  assert_true(bench_value(&on, "back.ticks") == rint(angle / (2 * BENCH_PI) * -360 + 10));
  assert_true(bench_value(&on, "stops.ticks") == rint(rail / 0.5 * 1023));
  assert_true(fabs(bench_value(&on, "wraps.angle") - remainder(angle, 2 * BENCH_PI)) < 1e-12);
  bench_run(&on, 2);
  assert_true(bench_value(&on, "stops.ticks") == 1023);
  bench_tear_down(&on);
}

static void line_trackers_see_paint(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"line_trackers", "{name: edge, x: -1 m, y: 0.525 m}"}, /* on the edge of the black line */
      {"line_trackers", "{name: black, x: -1 m, y: 0.51 m}"}, /* 15 mm inside it */
      {"line_trackers",
       "{name: grey, x: 0.01 m, y: -1 m, threshold: 0.4}"}, /* on the grey line across */
      {"line_trackers", "{name: floor, x: 1 m, y: -1 m}"},
      {"line_trackers", "{name: beyond, x: 2.3 m, y: 0.9 m}"},
  };
  bench_set_up(&on, parts, 5);
  bench_assert_near(bench_value(&on, "edge.darkness"), 0.5, 1e-9);
  assert_true(bench_value(&on, "black.darkness") == 1 && bench_value(&on, "black.on") == 1);
  bench_assert_near(bench_value(&on, "black.distance"), 0.01, 1e-9);
  assert_true(bench_value(&on, "grey.darkness") == 0.4 && bench_value(&on, "grey.on") == 1);
  assert_true(bench_value(&on, "floor.darkness") == 0 && bench_value(&on, "floor.on") == 0);
  bench_assert_near(bench_value(&on, "floor.distance"), 1, 1e-9);
  bench_assert_near(bench_value(&on, "beyond.distance"), 0.5,
                    1e-9); /* 0.3 past the end, 0.4 aside */
  bench_tear_down(&on);
}

static void range_finders_measure(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"range_finders", "{name: ahead, x: 0.2 m, z: 0.3 m}"},
      {"range_finders", "{name: aslant, z: 0.3 m, yaw: 60 deg}"},
      {"range_finders", "{name: behind, yaw: 180 deg, maximum: 3 m}"},
      {"range_finders", "{name: near, x: 1 m, minimum: 0.2 m}"},
      {"range_finders", "{name: noisy, x: 0.2 m, z: 0.3 m, noise: 10 mm}"},
  };
  bench_set_up(&on, parts, 5);
  bench_assert_near(bench_value(&on, "ahead.distance"), 0.9,
                    1e-6); /* the wall's face is at 1.1 m */
  bench_assert_near(bench_value(&on, "aslant.distance"), 2.2, 1e-6);
  assert_true(bench_value(&on, "behind.distance") == 3);
  assert_true(bench_value(&on, "near.distance") == 0.2);
  double sum = 0, squares = 0;
  for (int i = 0; i < 1000; i++) {
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    double error = bench_value(&on, "noisy.distance") - 0.9;
    sum += error;
    squares += error * error;
  }
  assert_true(fabs(sum / 1000) < 0.001);
  bench_assert_near(sqrt(squares / 1000), 0.01, 0.1);
  bench_tear_down(&on);
}

static void bumpers_and_limit_switches_close(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"bumpers", "{name: front, body: carriage, width: 90 deg, force: 20 N}"},
      {"bumpers", "{name: rear, body: carriage, direction: 180 deg, width: 90 deg}"},
      {"limit_switches", "{name: far, joint: rail, above: 0.5 m}"},
      {"limit_switches", "{name: home, joint: rail, below: 1 mm}"},
  };
  bench_set_up(&on, parts, 4);
  assert_true(bench_value(&on, "home.pressed") == 1 && bench_value(&on, "far.pressed") == 0);
  bench_command(&on, "rail.torque", 30);
  bench_run(&on, 0.3);
  assert_true(bench_value(&on, "front.pressed") == 0 && bench_value(&on, "front.force") == 0);
  bench_run(&on, 5); /* it has come to rest at the wall */
  bench_assert_near(bench_value(&on, "front.force"), 30, 0.02);
  assert_true(bench_value(&on, "front.pressed") == 1);
  assert_true(bench_value(&on, "rear.pressed") == 0);
  assert_true(bench_value(&on, "home.pressed") == 0 && bench_value(&on, "far.pressed") == 1);
  bench_command(&on, "rail.torque", 10); /* lighter than what closes it */
  bench_run(&on, 2);
  bench_assert_near(bench_value(&on, "front.force"), 10, 0.02);
  assert_true(bench_value(&on, "front.pressed") == 0);
  bench_tear_down(&on);
}

static void gyros_drift(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {{"gyros", "{name: exact, body: turntable}"},
                              {"gyros", BENCH_DRIFTING},
                              {"gyros", "{name: aside, body: turntable, axis: x}"}};
  bench_set_up(&on, parts, 3);
  bench_command(&on, "turntable.torque", 1); /* 0.5 rad/s² */
  bench_run(&on, 10);
  bench_assert_near(bench_value(&on, "exact.rate"), 5, 1e-3);
  assert_true(fabs(bench_value(&on, "aside.rate")) < 1e-9);
  bench_assert_near(bench_value(&on, "exact.angle"), bench_value(&on, "turntable.position"), 1e-3);
  double drift = bench_value(&on, "heading.angle") - bench_value(&on, "exact.angle");
  bench_assert_near(drift, 0.1,
                    0.5); /* 0.01 rad/s for 10 s; the noise walks 0.1 × √(10 × 0.01) = 0.03 rad */
  tt_error error;
  assert_int_equal(
      tt_world_post(on.world,
                    &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"}),
      TT_OK);
  assert_int_equal(tt_world_tick(on.world, &error), TT_OK);
  assert_true(fabs(bench_value(&on, "exact.angle")) < 0.1);
  bench_tear_down(&on);
}

static void a_failing_lua_sensor_reads_its_fallback(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"lua_sensors", "{name: fails, file: sensors.lua, function: broken, fallback: 3, unit: ft}"},
      {"lua_sensors", "{name: works, file: sensors.lua, function: double, unit: rpm}"},
  };
  bench_set_up(&on, parts, 2);
  bench_command(&on, "flywheel.torque", 2);
  bench_run(&on, 1);
  bench_assert_near(bench_value(&on, "fails"), 3 * 0.3048, 1e-12);
  bench_assert_near(bench_value(&on, "works"),
                    2 * bench_value(&on, "flywheel.velocity") * BENCH_RPM, 1e-12);
  bench_tear_down(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(encoders_count),
      cmocka_unit_test(line_trackers_see_paint),
      cmocka_unit_test(range_finders_measure),
      cmocka_unit_test(bumpers_and_limit_switches_close),
      cmocka_unit_test(gyros_drift),
      cmocka_unit_test(a_failing_lua_sensor_reads_its_fallback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

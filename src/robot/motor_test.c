/* motor_test.c: motors on a bench: their line, gears, limits, servos, drums. */
#include "robot/part_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void a_motor_follows_its_line(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"motors", BENCH_TRACK}, 1);
  bench_command(&on, "track.duty", 1);
  double before = 0;
  bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
  /* Measured at the flywheel: torque = inertia × acceleration, at the mean speed of the tick. */
  for (int i = 0; i < 1000; i++) {
    before = bench_value(&on, "flywheel.velocity");
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    double after = bench_value(&on, "flywheel.velocity"), mean = (before + after) / 2;
    double line = BENCH_STALL * (1 - mean / BENCH_FREE);
    double torque = 2 * (after - before) / (BENCH_TIMESTEP * BENCH_IO_STEPS);
    if (line > 0.01 * BENCH_STALL) bench_assert_near(torque, line, 0.02);
  }
  bench_assert_near(bench_value(&on, "flywheel.velocity"), BENCH_FREE, 0.02);
  bench_assert_near(bench_value(&on, "track.current"), 2 * 2.7, 0.1);
  bench_assert_near(bench_value(&on, "track.voltage"), 12, 0.02);
  bench_tear_down(&on);
}

/* At 200 : 1 the line damps the pinion 87 times as hard as an explicit step of 1 ms could bear at 2. */
static void a_stiff_line_does_not_ring(void **state) {
  (void)state;
  bench on;
  bench_set_up(
      &on, &(bench_part){"motors", "{name: stiff, joint: pinion, model: cim, gears: [200]}"}, 1);
  bench_command(&on, "stiff.duty", 1);
  double before = 0;
  for (int i = 0; i < 50; i++) {
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    double after = bench_value(&on, "pinion.velocity");
    assert_true(after >= before - 1e-9 && after <= 5310 * BENCH_RPM / 200 * (1 + 1e-9));
    before = after;
  }
  bench_assert_near(before, 5310 * BENCH_RPM / 200, 1e-3);
  bench_command(&on, "stiff.duty", 0);
  bench_run(&on, 0.5);
  assert_true(fabs(bench_value(&on, "pinion.velocity")) < 1e-3);
  bench_tear_down(&on);
}

static void a_stalled_motor_gives_its_stall_torque(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"motors", BENCH_TRACK}, 1);
  bench_command(&on, "track.duty", 0.5);
  tt_error error;
  tt_world_tick(on.world, &error);
  double speed = bench_value(&on, "flywheel.velocity");
  bench_assert_near(2 * speed / (BENCH_TIMESTEP * BENCH_IO_STEPS), BENCH_STALL * 0.5, 0.02);
  bench_assert_near(bench_value(&on, "track.current"), 133,
                    0.03); /* two motors, half the voltage each */
  bench_tear_down(&on);
}

static void torque_is_clipped_by_the_line(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"motors", BENCH_TRACK}, 1);
  bench_command(&on, "track.torque", 20);
  bench_run(&on, 0.5);
  bench_assert_near(bench_value(&on, "track.torque"), 20, 1e-9);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), 20 * 0.5 / 2, 1e-6);
  bench_command(&on, "track.torque", 1000);
  bench_run(&on, 20);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), BENCH_FREE, 0.01);
  bench_command(&on, "track.torque", 0); /* coasts: nothing brakes it */
  bench_run(&on, 1);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), BENCH_FREE, 0.01);
  bench_command(&on, "track.duty", 0); /* shorted: a damper of STALL / FREE */
  double before = bench_value(&on, "flywheel.velocity");
  bench_run(&on, 1);
  bench_assert_near(bench_value(&on, "flywheel.velocity"),
                    before * exp(-BENCH_STALL / BENCH_FREE / 2), 0.03);
  bench_tear_down(&on);
}

static void shifting_changes_the_ratio(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"motors", BENCH_TRACK}, 1);
  assert_true(bench_value(&on, "track.gear") == 1);
  bench_command(&on, "track.gear", 2);
  bench_command(&on, "track.duty", -1);
  bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
  assert_true(bench_value(&on, "track.gear") == 2); /* at once */
  bench_run(&on, 60);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), -5310 * BENCH_RPM / 5, 0.02);
  bench_tear_down(&on);
}

static void a_current_limit_holds(void **state) {
  (void)state;
  bench on;
  bench_set_up(
      &on,
      &(bench_part){"motors",
                    "{name: track, joint: flywheel, model: cim, current_limit: 40 A, gears: [10]}"},
      1);
  bench_command(&on, "track.duty", 1);
  for (int i = 0; i < 200; i++) {
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    assert_true(bench_value(&on, "track.current") <= 40.5);
  }
  bench_command(&on, "track.duty", -1); /* plugging would draw more than twice the stall current */
  for (int i = 0; i < 200; i++) {
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    assert_true(fabs(bench_value(&on, "track.current")) <= 40.5);
  }
  bench_tear_down(&on);
}

static void servos_keep_to_what_the_motor_gives(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on, &(bench_part){"motors", BENCH_TRACK}, 1);
  bench_command(&on, "track.velocity", 10);
  bench_command(&on, "track.max_torque", 30);
  for (int i = 0; i < 100; i++) {
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
    assert_true(fabs(bench_value(&on, "track.torque")) <= 30 + 1e-9);
    assert_true(bench_value(&on, "flywheel.velocity") <= 10 + 1e-6);
  }
  bench_assert_near(bench_value(&on, "flywheel.velocity"), 10, 1e-4);
  bench_command(&on, "track.max_torque", 1e6);
  bench_command(&on, "track.velocity", 1000); /* more than it can: free speed */
  bench_run(&on, 20);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), BENCH_FREE, 0.01);
  bench_tear_down(&on);
}

static void the_last_kind_of_command_holds(void **state) {
  (void)state;
  bench on;
  bench_set_up(
      &on, &(bench_part){"motors", "{name: pair, joints: [flywheel, second], reversed: true}"}, 1);
  bench_command(&on, "pair.torque", 8);
  bench_run(&on, 0.1);
  bench_assert_near(bench_value(&on, "joint:flywheel.torque"), -4,
                    1e-9); /* an equal share, against the joint */
  bench_assert_near(bench_value(&on, "joint:second.torque"), -4, 1e-9);
  bench_assert_near(bench_value(&on, "pair.torque"), 8, 1e-9);
  bench_command(&on, "flywheel.torque", 1); /* the joint's own command takes it over */
  bench_run(&on, 0.1);
  bench_assert_near(bench_value(&on, "joint:flywheel.torque"), 1, 1e-9);
  bench_assert_near(bench_value(&on, "joint:second.torque"), -4, 1e-9);
  bench_command(&on, "pair.velocity", 2);
  bench_run(&on, 5);
  bench_assert_near(bench_value(&on, "flywheel.velocity"), -2, 1e-3);
  bench_assert_near(bench_value(&on, "second.velocity"), -2, 1e-3);
  bench_tear_down(&on);
}

static void a_drum_drives_a_slide_and_can_hold(void **state) {
  (void)state;
  bench on;
  bench_set_up(&on,
               &(bench_part){"motors",
                             "{name: lift, joint: hoist, stall_torque: 9 N·m, free_speed: 500 rpm, "
                             "drum_radius: 0.59 in, neutral: hold}"},
               1);
  bench_command(&on, "lift.duty", 1);
  bench_run(&on, 2);
  bench_assert_near(bench_value(&on, "hoist.velocity"), 500 * BENCH_RPM * 0.59 * 0.0254, 0.02);
  bench_command(&on, "lift.duty", 0);
  bench_run(&on, 0.1);
  assert_true(fabs(bench_value(&on, "hoist.velocity")) < 1e-6);
  bench_tear_down(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_motor_follows_its_line),
      cmocka_unit_test(a_stiff_line_does_not_ring),
      cmocka_unit_test(a_stalled_motor_gives_its_stall_torque),
      cmocka_unit_test(torque_is_clipped_by_the_line),
      cmocka_unit_test(shifting_changes_the_ratio),
      cmocka_unit_test(a_current_limit_holds),
      cmocka_unit_test(servos_keep_to_what_the_motor_gives),
      cmocka_unit_test(the_last_kind_of_command_holds),
      cmocka_unit_test(a_drum_drives_a_slide_and_can_hold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* battery_test.c: a battery and what its motors draw, on a bench. */
#include "robot/part_testing.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

/* Two CIMs on a flywheel of 2 kg·m², which at the first moment stalls them. */
#define STALLED "{name: track, joint: flywheel, model: cim, count: 2, gears: [0.01], battery: 24 V}"
#define STALL_CURRENT (2 * 133.0)

/* V = open_circuit − R I and I = duty² × stall current × V / 12 V: a resistor that is divided by the square of the duty. */
static void a_battery_sags_with_its_motors_current(void **state) {
  (void)state;
  static const double duties[] = {1, 0.5, -0.75};
  for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
    bench on;
    const bench_part parts[] = {
        {"batteries", "{name: battery, open_circuit: 12.6 V, resistance: 15 mΩ, brownout: 0 V}"},
        {"motors", STALLED}};
    bench_set_up(&on, parts, 2);
    bench_assert_near(bench_value(&on, "battery.voltage"), 12.6, 1e-12);
    bench_command(&on, "track.duty", duties[i]);
    bench_run(&on, 0.1);
    double load = duties[i] * duties[i] * STALL_CURRENT / 12; /* A a volt */
    double voltage = 12.6 / (1 + 0.015 * load);
    bench_assert_near(bench_value(&on, "battery.voltage"), voltage, 1e-3);
    bench_assert_near(bench_value(&on, "battery.current"), load * voltage, 1e-3);
    bench_assert_near(bench_value(&on, "track.voltage"), duties[i] * voltage, 1e-3);
    bench_assert_near(bench_value(&on, "track.current"), duties[i] * voltage / 12 * STALL_CURRENT,
                      1e-3);
    assert_true(bench_value(&on, "battery.brownout") == 0);
    bench_tear_down(&on);
  }
}

/* The line of docs/robots.md, with the battery's voltage at duty 1: the free speed is what the battery gives without much load. */
static void a_battery_s_voltage_is_that_of_duty_1(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {{"batteries", "{open_circuit: 9 V}"}, {"motors", BENCH_TRACK}};
  bench_set_up(&on, parts, 2);
  bench_command(&on, "track.duty", 1);
  bench_run(&on, 30);
  double current = 2 * 2.7 * 0.75; /* the free current at three quarters of the free speed */
  bench_assert_near(bench_value(&on, "battery.current"), current, 0.02);
  bench_assert_near(bench_value(&on, "battery.voltage"), 9 - 0.02 * current, 1e-3);
  bench_assert_near(bench_value(&on, "flywheel.velocity"),
                    BENCH_FREE * bench_value(&on, "battery.voltage") / 12, 1e-3);
  bench_command(&on, "track.duty", 0.5); /* it turns faster than that: the motor is a generator */
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "battery.current") < 0);
  assert_true(bench_value(&on, "battery.voltage") > 9);
  bench_tear_down(&on);
}

static void a_motor_s_voltage_may_be_above_its_nominal_one(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {{"batteries", "{open_circuit: 14 V}"}, {"motors", BENCH_TRACK}};
  bench_set_up(&on, parts, 2);
  bench_command(&on, "track.duty", 1);
  bench_run(&on, 30);
  assert_true(bench_value(&on, "battery.voltage") > 13.8);
  bench_assert_near(bench_value(&on, "track.voltage"), bench_value(&on, "battery.voltage"), 0.02);
  bench_tear_down(&on);
}

/* In equal times a constant current takes equal parts of the charge; the open circuit falls with it; at the end there is none. */
static void a_battery_is_used_up(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {{"batteries",
                               "{open_circuit: 12.7 V, resistance: 0 mΩ, capacity: 200 C, empty: "
                               "11.7 V, brownout: 0 V}"},
                              {"motors", STALLED}};
  bench_set_up(&on, parts, 2);
  assert_true(bench_value(&on, "battery.charge") == 1);
  bench_command(&on, "track.duty", 0.5);
  bench_run(&on, 1);
  double drawn = 0.25 * STALL_CURRENT * 12.55 / 12; /* A, in the middle of that second */
  double left = 1 - drawn / 200;
  bench_assert_near(bench_value(&on, "battery.charge"), left, 0.01);
  bench_assert_near(bench_value(&on, "battery.voltage"), 11.7 + bench_value(&on, "battery.charge"),
                    1e-3);
  bench_run(&on, 3);
  assert_true(bench_value(&on, "battery.charge") == 0);
  assert_true(bench_value(&on, "battery.voltage") < 1e-3);
  assert_true(fabs(bench_value(&on, "track.torque")) < 1e-3);
  bench_tear_down(&on);
}

/* As a roboRIO: off below the limit, on again above the recovery; the battery is without a load meanwhile. */
static void a_brown_out_turns_motors_off_until_it_has_recovered(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"batteries", "{resistance: 60 mΩ, brownout: 6.75 V, recovery: 11.9 V}"},
      {"motors", STALLED},
      {"motors", "{name: plain, joint: second, max_torque: 3 N·m}"}};
  bench_set_up(&on, parts, 3);
  bench_command(&on, "track.duty", 1); /* would settle at 12 / (1 + 0.06 × 266 / 12) = 5.2 V */
  bench_command(&on, "plain.duty", 1);
  tt_error error = {{0}};
  bool was_off = false, came_back = false;
  double least = 12;
  for (int i = 0; i < 200; i++) {
    if (tt_world_tick(on.world, &error) != TT_OK) fail_msg("%s", error.text);
    bool off = bench_value(&on, "battery.brownout") == 1;
    double voltage = bench_value(&on, "battery.voltage");
    least = fmin(least, voltage);
    if (off) assert_true(voltage < 11.9);
    if (off && was_off) assert_true(bench_value(&on, "track.torque") <= 0); /* shorted: it brakes */
    if (off && was_off) assert_true(bench_value(&on, "plain.torque") == 0);
    came_back |= was_off && !off;
    was_off = off;
  }
  assert_true(least > 6); /* nothing draws any more once it is below 6.75 V */
  assert_true(came_back);
  bench_tear_down(&on);
}

/* On the bench nothing weighs, so what is held is a flywheel that its gear brings to rest with 1 N·m. */
static void what_a_gear_holds_draws_nothing(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"batteries", "{capacity: 100 C, resistance: 0.1 Ω}"},
      {"motors",
       "{name: track, joint: flywheel, model: cim, gears: [20], neutral: hold, max_torque: 1 N·m}"},
      {"motors", "{name: free, joint: second, model: cim, gears: [20], neutral: coast}"}};
  bench_set_up(&on, parts, 3);
  bench_command(&on, "track.duty", 0.5);
  bench_command(&on, "free.duty", 0.5);
  bench_run(&on, 2);
  assert_true(bench_value(&on, "track.current") > 1 && bench_value(&on, "free.current") > 1);
  bench_command(&on, "track.duty", 0);
  bench_command(&on, "free.duty", 0);
  bench_run(&on, 0.1);
  double charge = bench_value(&on, "battery.charge"), speed = bench_value(&on, "second.velocity");
  assert_true(charge < 1 && speed > 1);
  bench_run(&on, 1);
  bench_assert_near(bench_value(&on, "track.torque"), -1, 1e-9);
  assert_true(bench_value(&on, "track.current") == 0);
  assert_true(bench_value(&on, "free.current") == 0);
  bench_assert_near(bench_value(&on, "free.voltage"), 12 * speed * 20 / (5310 * BENCH_RPM), 1e-6);
  assert_true(bench_value(&on, "battery.current") == 0);
  assert_true(bench_value(&on, "battery.charge") == charge);
  bench_command(&on, "flywheel.torque", -1); /* its joint is driven by somebody else */
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "track.current") < 0);
  bench_tear_down(&on);
}

/* The flywheel that its gear brings to rest would take 36 A, were it by a motor, and more at a lower voltage. */
static void a_brown_out_ends_with_what_gears_hold(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"batteries", "{resistance: 0.15 Ω}"},
      {"motors",
       "{name: arm, joint: flywheel, model: cim, gears: [20], neutral: hold, max_torque: 40 N·m}"},
      {"motors", "{name: other, joint: second, model: cim, count: 2, gears: [0.01]}"}};
  bench_set_up(&on, parts, 3);
  bench_command(&on, "arm.duty", 0.5);
  bench_run(&on, 2);
  bench_command(&on, "arm.duty", 0);
  bench_command(&on, "other.duty", 1);
  for (int i = 0; i < 10 && bench_value(&on, "battery.brownout") == 0; i++)
    bench_run(&on, BENCH_TIMESTEP * BENCH_IO_STEPS);
  assert_true(bench_value(&on, "battery.brownout") == 1);
  assert_true(bench_value(&on, "arm.current") == 0);
  bench_command(&on, "other.duty", 0);
  bench_run(&on, 0.1);
  assert_true(bench_value(&on, "battery.brownout") == 0);
  assert_true(bench_value(&on, "battery.voltage") > 11.9);
  assert_true(bench_value(&on, "arm.torque") < -39); /* still */
  bench_tear_down(&on);
}

static void who_has_no_stall_current_draws_as_an_ideal_motor(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"batteries", "{brownout: 0 V}"},
      {"motors",
       "{name: drive, joint: flywheel, stall_torque: 30 N·m, free_speed: 833 "
       "rpm, gears: [0.001]}"}};
  bench_set_up(&on, parts, 2);
  bench_command(&on, "drive.duty", 1);
  bench_run(&on, 0.1);
  double load = 30 * 833 * BENCH_RPM / 12 / 12; /* A a volt */
  bench_assert_near(bench_value(&on, "battery.voltage"), 12 / (1 + 0.02 * load), 1e-3);
  bench_tear_down(&on);
}

static void a_restored_battery_goes_on_alike(void **state) {
  (void)state;
  bench on;
  const bench_part parts[] = {
      {"batteries", "{open_circuit: 12.7 V, capacity: 18 A·h, empty: 11.8 V}"},
      {"motors", BENCH_TRACK}};
  bench_set_up(&on, parts, 2);
  bench_command(&on, "track.duty", 1);
  bench_run(&on, 0.2);
  size_t size = tt_world_state_size(on.world);
  void *saved = malloc(size);
  tt_world_save(on.world, saved);
  uint64_t there = tt_world_hash(on.world);
  bench_run(&on, 0.5);
  double voltage = bench_value(&on, "battery.voltage");
  uint64_t hash = tt_world_hash(on.world);
  assert_int_equal(tt_world_restore(on.world, saved, size), TT_OK);
  assert_true(tt_world_hash(on.world) == there);
  bench_run(&on, 0.5);
  assert_true(bench_value(&on, "battery.voltage") == voltage);
  assert_true(tt_world_hash(on.world) == hash);
  tt_mail reset = {.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"};
  assert_int_equal(tt_world_post(on.world, &reset), TT_OK);
  bench_run(&on, 0.02);
  assert_true(bench_value(&on, "battery.voltage") == 12.7);
  free(saved);
  bench_tear_down(&on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_battery_sags_with_its_motors_current),
      cmocka_unit_test(a_battery_s_voltage_is_that_of_duty_1),
      cmocka_unit_test(a_motor_s_voltage_may_be_above_its_nominal_one),
      cmocka_unit_test(a_battery_is_used_up),
      cmocka_unit_test(a_brown_out_turns_motors_off_until_it_has_recovered),
      cmocka_unit_test(what_a_gear_holds_draws_nothing),
      cmocka_unit_test(a_brown_out_ends_with_what_gears_hold),
      cmocka_unit_test(who_has_no_stall_current_draws_as_an_ideal_motor),
      cmocka_unit_test(a_restored_battery_goes_on_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sharp_core_test.c: the SHARP control law, period by period, with a vehicle of a few lines at the other end. */
#include "control/sharp_core.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { HALF_A_SECOND = 30 }; /* periods */

/** A core with its input and output, and a simple vehicle: wheels and lift follow their commands. */
typedef struct rig {
  tt_sharp_core core;
  tt_sharp_core_input input;
  tt_sharp_core_output output;
  double wheel[2], wheel_speed[2]; /* ticks, ticks/s */
  double lift, lift_speed;
  double grip[2]; /* how much faster than commanded a wheel spins */
} rig;

static rig new_rig(void) {
  rig rig = {.grip = {1, 1}};
  tt_sharp_core_settings settings = tt_sharp_core_settings_default();
  tt_sharp_core_init(&rig.core, &settings);
  rig.input.joystick_heard = rig.input.vehicle_heard = true;
  return rig;
}

static void step(rig *rig) {
  if (rig->input.vehicle_heard) rig->input.state_time += rig->core.settings.period;
  tt_sharp_core_step(&rig->core, &rig->input, &rig->output);
}

static bool said(const rig *rig, const char *text) {
  for (int i = 0; i < rig->output.note_count; i++) {
    if (strstr(rig->output.notes[i], text) != NULL) return true;
  }
  return false;
}

/** The vehicle lives through one period of the last command, then the core computes the next. */
static void live(rig *rig) {
  const double full = rig->core.settings.full_speed, period = rig->core.settings.period;
  for (int side = 0; side < 2; side++) {
    double wanted = rig->output.command[side] / 512.0 * full * rig->grip[side];
    rig->wheel_speed[side] += (wanted - rig->wheel_speed[side]) * 0.31; /* 45 ms */
    rig->wheel[side] += rig->wheel_speed[side] * period;
    rig->input.state[side] = (int)floor(fmod(rig->wheel[side] + 1024e6, 1024));
  }
  double wanted = rig->output.command[TT_SHARP_ELEVATOR] / 512.0 * 1300;
  rig->lift_speed += (wanted - rig->lift_speed) * 0.45; /* 28 ms */
  rig->lift = fmin(1023, fmax(0, rig->lift + rig->lift_speed * period));
  rig->input.state[TT_SHARP_ELEVATOR_ENCODER] = (int)rig->lift;
  step(rig);
}

static void assert_drives(const rig *rig, int left, int right) {
  assert_int_equal(rig->output.command[TT_SHARP_LEFT_DRIVE], left);
  assert_int_equal(rig->output.command[TT_SHARP_RIGHT_DRIVE], right);
}

static void arcade_mixes_toward_zero_and_clamps(void **state) {
  (void)state;
  static const int cases[][4] = {
      /* left y, right x, left, right */
      {0, 0, 0, 0},        {512, 0, 512, 512},  {-512, 0, -512, -512}, {100, 51, 125, 75},
      {100, -51, 75, 125}, {0, 512, 256, -256}, {512, 512, 512, 256},  {-512, 512, -256, -512},
      {0, 1, 0, 0},        {0, -1, 0, 0},       {400, 300, 512, 250},  {-1, -3, -2, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rig rig = new_rig();
    rig.input.vehicle_heard =
        false; /* without encoders commands pass as they are, in the first period */
    rig.input.joystick[TT_JOYSTICK_LEFT_Y] = cases[i][0];
    rig.input.joystick[TT_JOYSTICK_RIGHT_X] = cases[i][1];
    step(&rig);
    assert_drives(&rig, cases[i][2], cases[i][3]);
  }
}

static void back_pressed_and_released_toggles_tank(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.input.vehicle_heard = false;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 300;
  rig.input.joystick[TT_JOYSTICK_RIGHT_Y] = -200;
  rig.input.joystick[TT_JOYSTICK_BACK] = 1;
  for (int i = 0; i < 20; i++) step(&rig);
  assert_drives(&rig, 300, 300);
  assert_int_equal(rig.output.command[TT_SHARP_BACK], 1);
  rig.input.joystick[TT_JOYSTICK_BACK] = 0;
  step(&rig);
  assert_true(said(&rig, "mode: tank"));
  assert_drives(&rig, 300, -200);
  step(&rig);
  assert_int_equal(rig.output.note_count, 0);
  rig.input.joystick[TT_JOYSTICK_BACK] = 1;
  step(&rig);
  rig.input.joystick[TT_JOYSTICK_BACK] = 0;
  step(&rig);
  assert_true(said(&rig, "mode: arcade"));
}

static void buttons_pass_through_and_select_becomes_guide(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.input.joystick[TT_JOYSTICK_SELECT] = 1;
  step(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_GUIDE], 1);
  assert_int_equal(rig.output.command[TT_SHARP_START], 0);
  rig.input.joystick[TT_JOYSTICK_SELECT] = 0;
  rig.input.joystick[TT_JOYSTICK_START] = 1;
  step(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_GUIDE], 0);
  assert_int_equal(rig.output.command[TT_SHARP_START], 1);
}

static void nothing_moves_before_a_joystick_is_heard(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.input.joystick_heard = false;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
  for (int i = 0; i < 10; i++) {
    step(&rig);
    for (int c = 0; c < TT_SHARP_COMMAND_VALUES; c++) assert_int_equal(rig.output.command[c], 0);
  }
}

static void a_silent_joystick_stops_everything_after_half_a_second(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.input.vehicle_heard = false;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
  rig.input.joystick[TT_JOYSTICK_START] = 1;
  step(&rig);
  assert_true(said(&rig, "joystick heard"));
  rig.input.joystick_heard = false;
  for (int i = 1; i < HALF_A_SECOND; i++) {
    step(&rig);
    assert_drives(&rig, 512, 512);
  }
  step(&rig);
  assert_true(said(&rig, "joystick silent"));
  for (int c = 0; c < TT_SHARP_COMMAND_VALUES; c++) assert_int_equal(rig.output.command[c], 0);
  rig.input.joystick_heard = true;
  step(&rig);
  assert_true(said(&rig, "joystick heard"));
  assert_drives(&rig, 512, 512);
}

static void back_released_by_silence_does_not_toggle(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.input.joystick[TT_JOYSTICK_BACK] = 1;
  step(&rig);
  rig.input.joystick_heard = false;
  for (int i = 0; i < 60; i++) step(&rig);
  rig.input.joystick_heard = true;
  rig.input.joystick[TT_JOYSTICK_BACK] = 0;
  step(&rig);
  assert_false(rig.core.tank);
}

static void the_dpad_moves_the_lift_and_it_is_held_where_it_was_left(void **state) {
  (void)state;
  rig rig = new_rig();
  live(&rig);
  rig.input.joystick[TT_JOYSTICK_UP] = 1;
  for (int i = 0; i < 24; i++) live(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], 384);
  rig.input.joystick[TT_JOYSTICK_UP] = 0;
  live(&rig); /* the core hears of it a period later */
  double left = rig.lift;
  assert_in_range(left, 300, 500);
  for (int i = 0; i < 200; i++) live(&rig);
  assert_in_range(fabs(rig.lift - left), 0, 5);
  double held = rig.lift;
  rig.lift -= 100; /* somebody pushes it down */
  for (int i = 0; i < 200; i++) live(&rig);
  assert_in_range(fabs(rig.lift - held), 0, 5);
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], 0); /* within tolerance it brakes */
  rig.input.joystick[TT_JOYSTICK_DOWN] = 1;
  live(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], -384);
}

static void buttons_take_the_lift_to_its_presets(void **state) {
  (void)state;
  rig rig = new_rig();
  live(&rig);
  static const int order[] = {TT_JOYSTICK_Y, TT_JOYSTICK_B, TT_JOYSTICK_X, TT_JOYSTICK_A};
  for (int i = 0; i < 4; i++) {
    rig.input.joystick[order[i]] = 1;
    for (int k = 0; k < 10; k++) live(&rig);
    rig.input.joystick[order[i]] = 0;
    double highest = 0, lowest = 2000;
    for (int k = 0; k < 250; k++) {
      live(&rig);
      if (k < 150) continue;
      highest = fmax(highest, rig.lift);
      lowest = fmin(lowest, rig.lift);
    }
    int target = rig.core.settings.presets[order[i] - TT_JOYSTICK_A];
    assert_in_range(fabs(rig.lift - target), 0, 4);
    assert_true(highest - lowest < 3);
  }
}

/** What a vehicle reads after its reset. */
static void reset_vehicle(rig *rig) {
  rig->lift = rig->lift_speed = 0;
  for (int side = 0; side < 2; side++) rig->wheel[side] = rig->wheel_speed[side] = 0;
}

/** From now on the lift stays where a vehicle begins. */
static void assert_stays_down(rig *rig) {
  for (int i = 0; i < 100; i++) {
    live(rig);
    assert_true(rig->output.command[TT_SHARP_ELEVATOR] <= 0);
    assert_true(rig->lift < 5);
  }
}

static void after_our_reset_nothing_is_held_from_before(void **state) {
  (void)state;
  for (int late = 1; late < 12; late++) { /* periods until the first state after the reset */
    rig rig = new_rig();
    rig.lift = 500;
    for (int i = 0; i < 20; i++) live(&rig);
    assert_true(rig.core.holding && rig.core.target == 500);
    rig.input.joystick[TT_JOYSTICK_SELECT] = 1;
    for (int i = 0; i < late; i++) live(&rig);
    rig.input.joystick[TT_JOYSTICK_SELECT] = 0;
    reset_vehicle(&rig);
    assert_stays_down(&rig);
    assert_true(rig.core.holding);
  }
}

static void after_anybodys_reset_nothing_is_held_from_before(void **state) {
  (void)state;
  for (int lift = 10; lift < 1000; lift += 30) {
    rig rig = new_rig();
    rig.lift = lift;
    rig.input.joystick[TT_JOYSTICK_LEFT_Y] = lift; /* driving, too */
    for (int i = 0; i < 60; i++) live(&rig);
    reset_vehicle(&rig);
    live(&rig);
    assert_true(said(&rig, "begins anew"));
    rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 0;
    assert_stays_down(&rig);
  }
}

static void a_reset_is_seen_also_where_states_got_lost(void **state) {
  (void)state;
  for (int lost = 1; lost <= 8; lost++) {
    for (int lift = 15; lift < 1000; lift += 30) {
      rig rig = new_rig();
      rig.lift = lift;
      rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
      for (int i = 0; i < 60; i++) live(&rig);
      reset_vehicle(&rig);
      for (int i = 0; i <= lost; i++) {
        rig.input.vehicle_heard = i == lost;
        if (i < lost) rig.input.state_time += rig.core.settings.period;
        live(&rig);
      }
      assert_true(said(&rig, "begins anew"));
      assert_stays_down(&rig);
    }
  }
}

static void no_motion_counts_as_a_reset(void **state) {
  (void)state;
  rig rig = new_rig();
  for (int i = 0; i < 3000; i++) {
    rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512 * (i / 97 % 3 - 1);
    rig.input.joystick[TT_JOYSTICK_RIGHT_X] = 512 * (i / 61 % 3 - 1);
    rig.input.joystick[TT_JOYSTICK_UP] = i / 130 % 3 == 1;
    rig.input.joystick[TT_JOYSTICK_DOWN] = i / 130 % 3 == 2;
    rig.input.vehicle_heard = i % 11 > i / 300 % 5; /* states get lost, one to four in a row */
    if (!rig.input.vehicle_heard) rig.input.state_time += rig.core.settings.period;
    live(&rig);
    assert_false(said(&rig, "begins anew"));
  }
}

static void a_lift_that_comes_down_is_no_reset(void **state) {
  (void)state;
  for (int begin = 300; begin < 340; begin++) { /* so the stop comes at any time of a period */
    rig rig = new_rig();
    rig.lift = begin;
    for (int i = 0; i < 20; i++) live(&rig);
    rig.input.joystick[TT_JOYSTICK_DOWN] = 1;
    for (int i = 0; i < 60; i++) {
      rig.input.vehicle_heard = i % 7 > begin % 3; /* states get lost, up to three in a row */
      if (!rig.input.vehicle_heard) rig.input.state_time += rig.core.settings.period;
      live(&rig);
      assert_false(said(&rig, "begins anew"));
    }
    assert_true(rig.lift == 0);
  }
}

static void a_button_without_preset_does_nothing(void **state) {
  (void)state;
  rig rig = new_rig();
  rig.core.settings.presets[1] = TT_SHARP_NO_PRESET;
  live(&rig);
  rig.input.joystick[TT_JOYSTICK_B] = 1;
  for (int i = 0; i < 50; i++) live(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], 0);
}

static void without_a_vehicle_nothing_is_held_but_driving_goes_on(void **state) {
  (void)state;
  rig rig = new_rig();
  live(&rig);
  rig.input.joystick[TT_JOYSTICK_Y] = 1;
  live(&rig);
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], 512);
  rig.input.vehicle_heard = false;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 200;
  for (int i = 1; i < HALF_A_SECOND; i++) step(&rig);
  assert_false(said(&rig, "vehicle silent"));
  step(&rig);
  assert_true(said(&rig, "vehicle silent"));
  assert_int_equal(rig.output.command[TT_SHARP_ELEVATOR], 0);
  assert_drives(&rig, 200, 200);
  rig.input.vehicle_heard = true;
  live(&rig);
  assert_true(said(&rig, "vehicle heard"));
}

/** Periods until the left drive reaches `target` from now on. */
static int periods_to_reach(rig *rig, int target) {
  for (int i = 1; i < 1000; i++) {
    live(rig);
    if (rig->output.command[TT_SHARP_LEFT_DRIVE] == target) return i;
  }
  return 1000;
}

/** Drives straight until the encoders are known to work. */
static rig rolling_rig(void) {
  rig rig = new_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 100;
  for (int i = 0; i < 100; i++) live(&rig);
  assert_true(rig.core.encoders_alive);
  assert_true(rig.core.slipping == 0);
  return rig;
}

static void working_encoders_limit_the_slew(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.core.settings.slew = 3000;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 300;
  assert_in_range(periods_to_reach(&rig, 300), 4, 5); /* 200 at 50 a period */
  assert_true(rig.core.slipping == 0);
}

static void a_slipping_wheel_tightens_the_limit(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 250;
  rig.grip[0] = 2; /* the left wheel has lost its hold */
  for (int i = 0; i < 40; i++) live(&rig);
  assert_true(rig.core.slipping > 0);
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 450;
  assert_in_range(periods_to_reach(&rig, 450), 14, 18); /* 200 at 13.3 a period */
  rig.grip[0] = 1;
  for (int i = 0; i < 100; i++) live(&rig);
  assert_true(rig.core.slipping == 0);
}

static void wheels_that_run_up_together_stay_near_the_grounds_speed(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] =
      512; /* they follow their commands as if they had no hold */
  for (int i = 1; i <= 20; i++) {
    live(&rig);
    double ground = 100 + rig.core.settings.acceleration * i * rig.core.settings.period;
    assert_true(rig.output.command[TT_SHARP_LEFT_DRIVE] <= ground + rig.core.settings.headroom + 1);
  }
  assert_in_range(periods_to_reach(&rig, 512), 0, 40);
}

static void braking_stays_near_the_grounds_speed(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
  for (int i = 0; i < 100; i++) live(&rig);
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = -512;
  live(&rig);
  assert_drives(&rig, 512 - 200, 512 - 200); /* the slew's */
  live(&rig);
  assert_in_range(rig.output.command[TT_SHARP_LEFT_DRIVE], 250, 280);
  assert_in_range(periods_to_reach(&rig, -512), 40, 120);
}

static void late_and_lost_states_are_no_slip(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
  for (int i = 0; i < 300; i++) {
    rig.input.vehicle_heard = i % 7 > 3; /* 67 ms without one: the wheel turns almost once unseen */
    if (!rig.input.vehicle_heard) rig.input.state_time += rig.core.settings.period;
    live(&rig);
    assert_true(rig.core.slipping == 0);
  }
  assert_drives(&rig, 512, 512);
  assert_true(fabs(rig.core.left.measured - rig.core.settings.full_speed) < 200);
}

static void turning_is_no_slip(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 0;
  rig.input.joystick[TT_JOYSTICK_RIGHT_X] = 512;
  for (int i = 0; i < 60; i++) {
    live(&rig);
    assert_true(rig.core.slipping == 0);
  }
  assert_drives(&rig, 256, -256);
}

static void a_side_of_slower_motors_is_no_slip(void **state) {
  (void)state;
  for (int told = 0; told < 2; told++) {
    rig rig = new_rig();
    rig.grip[1] = 0.7;
    if (told) rig.core.settings.right_full_speed = 0.7 * rig.core.settings.full_speed;
    rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
    for (int i = 0; i < 2 * HALF_A_SECOND; i++) live(&rig);
    assert_int_equal(rig.core.slipping == 0, told);
    assert_drives(&rig, 512, 512);
  }
}

static void traction_control_can_be_switched_off(void **state) {
  (void)state;
  rig rig = rolling_rig();
  rig.core.settings.traction = false;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 512;
  live(&rig);
  assert_drives(&rig, 512, 512);
}

static void encoders_that_stand_still_under_command_are_ignored(void **state) {
  (void)state;
  rig rig = rolling_rig();
  /* from now on the vehicle sends 0000, as the original does */
  rig.input.state[0] = rig.input.state[1] = 0;
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = 120;
  for (int i = 0; i < 40; i++) step(&rig);
  assert_false(rig.core.encoders_alive);
  rig.input.joystick[TT_JOYSTICK_LEFT_Y] = -512;
  step(&rig);
  assert_drives(&rig, -512, -512);
}

static void encoders_count_on_through_their_end(void **state) {
  (void)state;
  rig rig = rolling_rig();
  for (int i = 0; i < 500; i++) {
    live(&rig);
    assert_in_range(rig.core.left.measured, 2000,
                    3500); /* 100/512 of 14217 ticks/s, never a jump */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arcade_mixes_toward_zero_and_clamps),
      cmocka_unit_test(back_pressed_and_released_toggles_tank),
      cmocka_unit_test(buttons_pass_through_and_select_becomes_guide),
      cmocka_unit_test(nothing_moves_before_a_joystick_is_heard),
      cmocka_unit_test(a_silent_joystick_stops_everything_after_half_a_second),
      cmocka_unit_test(back_released_by_silence_does_not_toggle),
      cmocka_unit_test(the_dpad_moves_the_lift_and_it_is_held_where_it_was_left),
      cmocka_unit_test(buttons_take_the_lift_to_its_presets),
      cmocka_unit_test(after_our_reset_nothing_is_held_from_before),
      cmocka_unit_test(after_anybodys_reset_nothing_is_held_from_before),
      cmocka_unit_test(a_reset_is_seen_also_where_states_got_lost),
      cmocka_unit_test(no_motion_counts_as_a_reset),
      cmocka_unit_test(a_lift_that_comes_down_is_no_reset),
      cmocka_unit_test(a_button_without_preset_does_nothing),
      cmocka_unit_test(without_a_vehicle_nothing_is_held_but_driving_goes_on),
      cmocka_unit_test(working_encoders_limit_the_slew),
      cmocka_unit_test(a_slipping_wheel_tightens_the_limit),
      cmocka_unit_test(wheels_that_run_up_together_stay_near_the_grounds_speed),
      cmocka_unit_test(braking_stays_near_the_grounds_speed),
      cmocka_unit_test(late_and_lost_states_are_no_slip),
      cmocka_unit_test(turning_is_no_slip),
      cmocka_unit_test(a_side_of_slower_motors_is_no_slip),
      cmocka_unit_test(traction_control_can_be_switched_off),
      cmocka_unit_test(encoders_that_stand_still_under_command_are_ignored),
      cmocka_unit_test(encoders_count_on_through_their_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

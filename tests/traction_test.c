/* traction_test.c: what traction control does to the real vehicle: the law of `tether core` at 60 commands a second,
 * states every 17 ms, and the robot `sharp` with its tyres on the floor between them. */
#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"
#include "control/sharp_core.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WHEEL_RADIUS 0.0762 /* m */
#define STATE_STEPS 17      /* of 1 ms */
#define SETTLED 0.5         /* s until the driver touches the sticks */

static const char scene_text[] =
    "timestep: 1/1000 s\nio_period: 1 ms\npace: fast\nrobots: [{robot: sharp}]\n";

typedef struct rig {
  tt_scene *scene;
  tt_world *world;
  tt_signal encoders[TT_SHARP_STATE_VALUES], x, speed, heading, wheel;
  int motors[3];
  tt_sharp_core core;
  tt_sharp_core_input input;
  tt_sharp_core_output output;
  double time, next_command; /* s */
} rig;

/** What a drive came to. */
typedef struct drive {
  double time;     /* s from the sticks' first move to the end */
  double rolled;   /* m that the left wheel's tread went */
  double slid;     /* m of that beyond, or short of, the vehicle's own way */
  double at_200ms; /* m/s of the wheel's tread 0.2 s after the start */
  double distance, heading;
} drive;

static tt_signal signal_of(const rig *rig, const char *name) {
  tt_signal signal;
  tt_error error;
  if (tt_names_find_signal(tt_world_names(rig->world), name, 0, "test", &signal, &error) != TT_OK)
    fail_msg("%s", error.text);
  return signal;
}

static int command_of(const rig *rig, const char *name) {
  int command;
  tt_error error;
  if (tt_names_find_command(tt_world_names(rig->world), name, 0, "test", &command, &error) != TT_OK)
    fail_msg("%s", error.text);
  return command;
}

static double value(const rig *rig, const tt_signal *signal) {
  return tt_signal_read(signal, tt_world_view(rig->world));
}

static void begin(rig *rig, bool traction) {
  tt_error error;
  *rig = (struct rig){.time = 0};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", scene_text,
                     strlen(scene_text), NULL, 0, &rig->scene, &error) != TT_OK ||
      tt_assemble(rig->scene, &(tt_assembly){0}, &rig->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  rig->encoders[0] = signal_of(rig, "left_drive_encoder.ticks");
  rig->encoders[1] = signal_of(rig, "right_drive_encoder.ticks");
  rig->encoders[2] = signal_of(rig, "elevator_encoder.ticks");
  rig->x = signal_of(rig, "chassis.x");
  rig->speed = signal_of(rig, "chassis.vx");
  rig->heading = signal_of(rig, "chassis.heading");
  rig->wheel = signal_of(rig, "left_drive.velocity");
  rig->motors[0] = command_of(rig, "left_drive.duty");
  rig->motors[1] = command_of(rig, "right_drive.duty");
  rig->motors[2] = command_of(rig, "elevator.duty");
  tt_sharp_core_settings settings = tt_sharp_core_settings_default();
  settings.traction = traction;
  tt_sharp_core_init(&rig->core, &settings);
  rig->input.joystick_heard = true;
  tt_world_start(rig->world);
}

static void end(rig *rig) {
  tt_world_free(rig->world);
  tt_scene_free(rig->scene);
}

/** The core's periods that lie before the vehicle's present tick; the newest command reaches the motors. */
static void compute_commands(rig *rig) {
  for (; rig->next_command <= rig->time; rig->next_command += rig->core.settings.period) {
    tt_sharp_core_step(&rig->core, &rig->input, &rig->output);
    rig->input.vehicle_heard = false;
  }
  for (int i = 0; i < 3; i++)
    tt_world_post(rig->world, &(tt_mail){.kind = TT_MAIL_COMMAND,
                                         .index = rig->motors[i],
                                         .value = rig->output.command[i] / (double)TT_SHARP_FULL,
                                         .source = "test"});
}

static void send_state(rig *rig) {
  rig->input.vehicle_heard = true;
  for (int i = 0; i < TT_SHARP_STATE_VALUES; i++)
    rig->input.state[i] = (int)value(rig, &rig->encoders[i]);
  rig->input.state_time = rig->time;
}

/** One step of the physics, added to what the drive comes to. */
static void step(rig *rig, drive *drive) {
  tt_error error;
  if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
  double tread = value(rig, &rig->wheel) * WHEEL_RADIUS;
  drive->time += 0.001;
  drive->rolled += fabs(tread) * 0.001;
  drive->slid += fabs(tread - value(rig, &rig->speed)) * 0.001;
  if (fabs(drive->time - 0.2) < 0.0005) drive->at_200ms = tread;
}

/** Drives with the left stick at `y`, the right one at `turn`, for `seconds` or until the vehicle is `distance` further. */
static drive go(rig *rig, int y, int turn, double seconds, double distance) {
  drive drive = {0};
  double from = value(rig, &rig->x);
  rig->input.joystick[TT_JOYSTICK_LEFT_Y] = y;
  rig->input.joystick[TT_JOYSTICK_RIGHT_X] = turn;
  while (drive.time < seconds && value(rig, &rig->x) - from < distance) {
    compute_commands(rig);
    for (int i = 0; i < STATE_STEPS && value(rig, &rig->x) - from < distance; i++)
      step(rig, &drive);
    rig->time += STATE_STEPS * 0.001;
    send_state(rig);
  }
  drive.distance = value(rig, &rig->x) - from;
  drive.heading = value(rig, &rig->heading);
  return drive;
}

static void both(drive (*drive_it)(rig *), drive *without, drive *with) {
  for (int traction = 0; traction < 2; traction++) {
    rig rig;
    begin(&rig, traction);
    go(&rig, 0, 0, SETTLED, 1);
    *(traction ? with : without) = drive_it(&rig);
    end(&rig);
  }
}

static drive launch(rig *rig) { return go(rig, TT_SHARP_FULL, 0, 3, 1.5); }

static void at_full_stick_from_rest_the_wheels_stay_with_the_vehicle(void **state) {
  (void)state;
  drive without, with;
  both(launch, &without, &with);
  print_message(
      "1.5 m from rest: %.3f s instead of %.3f s, treads rolled %.2f m instead of %.2f m, "
      "%.2f m/s instead of %.2f m/s after 0.2 s\n",
      with.time, without.time, with.rolled, without.rolled, with.at_200ms, without.at_200ms);
  assert_true(without.at_200ms > 3.5); /* so that there is something to control */
  assert_true(with.at_200ms < 2);
  assert_true(with.rolled < 1.75 && with.rolled < 0.7 * without.rolled);
  assert_true(with.time < 1.04 * without.time);
}

static drive brake(rig *rig) {
  go(rig, TT_SHARP_FULL, 0, 3, 3);
  return go(rig, 0, 0, 0.8, 20);
}

static void the_wheels_do_not_lock(void **state) {
  (void)state;
  drive without, with;
  both(brake, &without, &with);
  print_message("braking: slid %.2f m instead of %.2f m, way %.2f m instead of %.2f m\n", with.slid,
                without.slid, with.distance, without.distance);
  assert_true(with.slid < 0.5 * without.slid);
  assert_true(with.distance < 1.05 * without.distance);
}

static drive turn(rig *rig) { return go(rig, 0, TT_SHARP_FULL, 0.6, 20); }

static void it_turns_as_before(void **state) {
  (void)state;
  drive without, with;
  both(turn, &without, &with);
  print_message("turning in place for 0.6 s: %.2f rad instead of %.2f rad\n", with.heading,
                without.heading);
  assert_true(without.heading < -1);
  assert_true(fabs(with.heading / without.heading - 1) < 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_full_stick_from_rest_the_wheels_stay_with_the_vehicle),
      cmocka_unit_test(the_wheels_do_not_lock),
      cmocka_unit_test(it_turns_as_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

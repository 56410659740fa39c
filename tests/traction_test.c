/* traction_test.c: what traction control does to the real vehicle: the law of `tether core` at 60 commands a second,
 * states every 17 ms, and the robot `sharp` with its tyres on the floor between them. Both are as an original's file says. */
#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"
#include "control/sharp_config.h"
#include "control/sharp_core.h"
#include "control/sharp_original.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define WHEEL_RADIUS 0.0762 /* m */
#define TRACK 0.6477        /* m */
#define SIDES 2
#define STATE_STEPS 17 /* of 1 ms */
#define SETTLED 0.5    /* s until the driver touches the sticks */

/* An original's file: motors of the same speed on both sides, as `sharp` has them, and others. */
static const char equal_motors[] = "core: {joystickPort: 4000}\n";
#define FASTER 833 /* rpm */
#define SLOWER 600
static const char unequal_motors[] =
    "core: {joystickPort: 4000}\n"
    "sim: {vehicle: {drivetrain: {leftMotorMaxSpeed: 833, rightMotorMaxSpeed: 600}}}\n";

static const char scene_text[] =
    "timestep: 1/1000 s\nio_period: 1 ms\npace: fast\nrobots: [{robot: sharp}]\n";

typedef struct rig {
  tt_scene *scene;
  tt_world *world;
  tt_signal encoders[TT_SHARP_STATE_VALUES], x, vx, vy, heading, yaw_rate, wheels[SIDES];
  int motors[3];
  tt_sharp_core core;
  tt_sharp_core_input input;
  tt_sharp_core_output output;
  double time, next_command; /* s */
} rig;

/** What a drive came to. */
typedef struct drive {
  double time;     /* s from the sticks' first move to the end */
  double rolled;   /* m that a wheel's tread went, on the mean of both sides */
  double slid;     /* m of that beyond, or short of, the ground's way under it */
  double at_200ms; /* m/s of the left wheel's tread 0.2 s after the start */
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

static tt_document *parse(const char *text) {
  tt_document *document;
  tt_error error;
  if (tt_document_parse("robotConfig.yml", text, strlen(text), &document, &error) != TT_OK)
    fail_msg("%s", error.text);
  return document;
}

static tt_sharp_original meaning_of(const char *file, tt_sharp_program program) {
  const tt_sharp_reader reader = {program, 1, "wires.sharp-json"};
  tt_sharp_original meaning;
  tt_error error;
  tt_document *document = parse(file);
  if (tt_sharp_original_read(document, &reader, &meaning, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_document_free(document);
  return meaning;
}

static void open_vehicle(rig *rig, const char *file) {
  tt_error error;
  tt_sharp_original meaning = meaning_of(file, TT_SHARP_PROGRAM_VEHICLE);
  const char *settings[32];
  int count = 0;
  for (int i = 0; i < meaning.count; i++) /* it is driven without its wire */
    if (strncmp(meaning.settings[i], "wires.", 6) != 0) settings[count++] = meaning.settings[i];
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", scene_text,
                     strlen(scene_text), settings, count, &rig->scene, &error) != TT_OK ||
      tt_assemble(rig->scene, &(tt_assembly){0}, &rig->world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_sharp_original_free(&meaning);
}

static tt_sharp_core_settings core_settings(const char *file) {
  tt_error error;
  void *keys;
  tt_sharp_original meaning = meaning_of(file, TT_SHARP_PROGRAM_CORE);
  tt_document *document = parse("{}");
  for (int i = 0; i < meaning.count; i++)
    if (tt_document_set(document, meaning.settings[i], &error) != TT_OK) fail_msg("%s", error.text);
  if (tt_document_read(document, &tt_sharp_core_schema, &keys, &error) != TT_OK ||
      tt_sharp_core_config_check(keys, "core.yaml", &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_sharp_core_settings settings = ((tt_sharp_core_config *)keys)->settings;
  tt_document_release(&tt_sharp_core_schema, keys);
  tt_document_free(document);
  tt_sharp_original_free(&meaning);
  return settings;
}

static void begin(rig *rig, const char *file, bool traction) {
  *rig = (struct rig){.time = 0};
  open_vehicle(rig, file);
  rig->encoders[0] = signal_of(rig, "left_drive_encoder.ticks");
  rig->encoders[1] = signal_of(rig, "right_drive_encoder.ticks");
  rig->encoders[2] = signal_of(rig, "elevator_encoder.ticks");
  rig->x = signal_of(rig, "chassis.x");
  rig->vx = signal_of(rig, "chassis.vx");
  rig->vy = signal_of(rig, "chassis.vy");
  rig->heading = signal_of(rig, "chassis.heading");
  rig->yaw_rate = signal_of(rig, "chassis.yaw_rate");
  rig->wheels[0] = signal_of(rig, "left_drive.velocity");
  rig->wheels[1] = signal_of(rig, "right_drive.velocity");
  rig->motors[0] = command_of(rig, "left_drive.duty");
  rig->motors[1] = command_of(rig, "right_drive.duty");
  rig->motors[2] = command_of(rig, "elevator.duty");
  tt_sharp_core_settings settings = core_settings(file);
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

/** m/s forward of the ground under a side's wheel. */
static double ground_under(const rig *rig, int side) {
  double heading = value(rig, &rig->heading);
  double forward = value(rig, &rig->vx) * cos(heading) + value(rig, &rig->vy) * sin(heading);
  return forward + (side == 0 ? -1 : 1) * value(rig, &rig->yaw_rate) * TRACK / 2;
}

/** One step of the physics, added to what the drive comes to. */
static void step(rig *rig, drive *drive) {
  tt_error error;
  if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
  drive->time += 0.001;
  for (int side = 0; side < SIDES; side++) {
    double tread = value(rig, &rig->wheels[side]) * WHEEL_RADIUS;
    drive->rolled += fabs(tread) * 0.001 / SIDES;
    drive->slid += fabs(tread - ground_under(rig, side)) * 0.001 / SIDES;
    if (side == 0 && fabs(drive->time - 0.2) < 0.0005) drive->at_200ms = tread;
  }
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

static void both(drive (*drive_it)(rig *), const char *file, drive *without, drive *with) {
  for (int traction = 0; traction < 2; traction++) {
    rig rig;
    begin(&rig, file, traction);
    go(&rig, 0, 0, SETTLED, 1);
    *(traction ? with : without) = drive_it(&rig);
    end(&rig);
  }
}

static drive launch(rig *rig) { return go(rig, TT_SHARP_FULL, 0, 3, 1.5); }

static void at_full_stick_from_rest_the_wheels_stay_with_the_vehicle(void **state) {
  (void)state;
  drive without, with;
  both(launch, equal_motors, &without, &with);
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
  both(brake, equal_motors, &without, &with);
  print_message("braking: slid %.2f m instead of %.2f m, way %.2f m instead of %.2f m\n", with.slid,
                without.slid, with.distance, without.distance);
  assert_true(with.slid < 0.5 * without.slid);
  assert_true(with.distance < 1.05 * without.distance);
}

/** Straight on, with sticks that make up for the motors, and both are let go. */
static drive brake_unequal(rig *rig) {
  rig->core.tank = true;
  rig->input.joystick[TT_JOYSTICK_RIGHT_Y] = TT_SHARP_FULL;
  go(rig, TT_SHARP_FULL * SLOWER / FASTER, 0, 3, 3);
  rig->input.joystick[TT_JOYSTICK_RIGHT_Y] = 0;
  return go(rig, 0, 0, 0.8, 20);
}

/** Neither do they roll on: sides that differ as their motors do are no sign of slip. */
static void wheels_of_unequal_motors_do_not_lock_either(void **state) {
  (void)state;
  drive without, with;
  both(brake_unequal, unequal_motors, &without, &with);
  print_message(
      "braking with unequal motors: slid %.2f m instead of %.2f m, way %.2f m instead of %.2f m\n",
      with.slid, without.slid, with.distance, without.distance);
  assert_true(with.slid < 0.5 * without.slid);
  assert_true(with.distance < 1.05 * without.distance);
}

static drive turn(rig *rig) { return go(rig, 0, TT_SHARP_FULL, 0.6, 20); }

static void it_turns_as_before(void **state) {
  (void)state;
  drive without, with;
  both(turn, equal_motors, &without, &with);
  print_message("turning in place for 0.6 s: %.2f rad instead of %.2f rad\n", with.heading,
                without.heading);
  assert_true(without.heading < -1);
  assert_true(fabs(with.heading / without.heading - 1) < 0.1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(at_full_stick_from_rest_the_wheels_stay_with_the_vehicle),
      cmocka_unit_test(the_wheels_do_not_lock),
      cmocka_unit_test(wheels_of_unequal_motors_do_not_lock_either),
      cmocka_unit_test(it_turns_as_before),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

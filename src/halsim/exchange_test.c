/* exchange_test.c: a hand-written robot under a mapping: what a program's values do, and what it is told. */
#include "halsim/exchange.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { LEFT, RIGHT, GRIP, LIFT };
static const tt_body bodies[] = {{.name = "world", .robot = TT_NO_ROBOT},
                                 {.name = "chassis", .robot = 0},
                                 {.name = "wheel", .parent = 1, .robot = 0}};
static const tt_joint joints[] = {
    {.name = "left", .kind = TT_HINGE, .body = 2, .robot = 0, .axis = 0, .axis_count = 1},
    {.name = "lift", .kind = TT_SLIDE, .body = 2, .robot = 0, .axis = 1, .axis_count = 1}};
static const int axis_joint[] = {0, 1};
static const tt_channel channels[] = {
    {.name = "gyro.angle", .dimension = TT_ANGLE, .robot = 0, .part = 0},
    {.name = "gyro.rate", .dimension = TT_ANGULAR_VELOCITY, .robot = 0, .part = 0},
    {.name = "switch.pressed", .robot = 0, .part = 0},
    {.name = "imu.x", .dimension = TT_ACCELERATION, .robot = 0, .part = 0},
    {.name = "imu.y", .dimension = TT_ACCELERATION, .robot = 0, .part = 0},
    {.name = "imu.z", .dimension = TT_ACCELERATION, .robot = 0, .part = 0},
};
enum { ANGLE, RATE, PRESSED, X, Y, Z, CHANNELS };
/* clang-format off */
#define COMMAND(text, what, low, high)                                                             \
  { .name = text, .kind = what, .robot = 0, .lower = low, .upper = high, .part = 0 }
/* clang-format on */
static const tt_command commands[] = {
    COMMAND("left.duty", TT_COMMAND_DUTY, -1, 1), COMMAND("right.duty", TT_COMMAND_DUTY, -1, 1),
    COMMAND("grip", TT_COMMAND_GRIP, 0, 4), COMMAND("lift.duty", TT_COMMAND_DUTY, -1, 1)};
static const tt_robot robots[] = {{.name = "robot", .root_body = 1}};
static const tt_model model = {.bodies = bodies,
                               .joints = joints,
                               .axis_joint = axis_joint,
                               .channels = channels,
                               .commands = commands,
                               .robots = robots,
                               .body_count = 3,
                               .joint_count = 2,
                               .axis_count = 2,
                               .channel_count = CHANNELS,
                               .command_count = 4,
                               .robot_count = 1,
                               .contact_capacity = 1,
                               .timestep_num = 1,
                               .timestep_den = 1000};

/* A robot, its mapping, and what was told last. */
typedef struct bench {
  tt_names *names;
  tt_halsim_map map;
  tt_halsim *halsim;
  tt_view *view;
  int messages;
  char told[2048]; /* "TYPE DEVICE KEY=VALUE KEY=VALUE; …" */
} bench;

static bench at;

static void open_bench(tt_halsim_entry *entries, unsigned count) {
  tt_error error = {.text = ""};
  at = (bench){.names = tt_names_new(&model), .view = tt_view_new(&model)};
  if (tt_halsim_entries_check(entries, count, "here", &error) != TT_OK ||
      tt_halsim_map_resolve(entries, count, at.names, &model, 0, "here", &at.map, &error) != TT_OK)
    fail_msg("%s", error.text);
  at.halsim = tt_halsim_new(&at.map);
}

static int close_bench(void **state) {
  (void)state;
  tt_halsim_free(at.halsim);
  tt_halsim_map_clear(&at.map);
  tt_names_free(at.names);
  tt_view_free(at.view);
  return 0;
}
#define OPEN(...)                                                                                  \
  tt_halsim_entry entries[] = {__VA_ARGS__};                                                       \
  open_bench(entries, sizeof entries / sizeof *entries)

static tt_status say(const char *type, const char *device, const char *key, tt_halsim_sort sort,
                     double number) {
  tt_halsim_fault fault;
  tt_halsim_value value = {.key = key, .sort = sort, .number = number};
  return tt_halsim_hear(at.halsim, type, device, &value, 1, &fault);
}
#define SAY(type, device, key, number)                                                             \
  assert_int_equal(say(type, device, key, TT_HALSIM_NUMBER, number), TT_OK)
#define SAY_FLAG(type, device, key, number)                                                        \
  assert_int_equal(say(type, device, key, TT_HALSIM_FLAG, number), TT_OK)

static void expect_submitted(int command, double value) {
  tt_submission submissions[16];
  assert_int_equal(tt_halsim_take(at.halsim, submissions), 1);
  assert_int_equal(submissions[0].command, command);
  assert_float_equal(submissions[0].value, value, 1e-9);
}

static void expect_nothing_submitted(void) {
  tt_submission submissions[16];
  assert_int_equal(tt_halsim_take(at.halsim, submissions), 0);
}

static void on_told(void *context, const char *type, const char *device,
                    const tt_halsim_value *values, int count) {
  (void)context;
  size_t end = strlen(at.told);
  end += (size_t)snprintf(at.told + end, sizeof at.told - end, "%s %s", type, device);
  for (int i = 0; i < count; i++)
    end += (size_t)snprintf(at.told + end, sizeof at.told - end, " %s=%.6g", values[i].key,
                            values[i].number);
  snprintf(at.told + end, sizeof at.told - end, "; ");
  at.messages++;
}

/* The first value, exactly. */
static void on_count(void *context, const char *type, const char *device,
                     const tt_halsim_value *values, int count) {
  (void)type;
  (void)device;
  (void)count;
  snprintf(context, 64, "%.0f", values[0].number);
}

static void expect_told(const char *text) {
  at.told[0] = '\0';
  at.messages = 0;
  tt_halsim_tell(at.halsim, at.view, 0.01, on_told, NULL);
  assert_string_equal(at.told, text);
}

/* --- motors --- */

static void a_motor_obeys_its_speed(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "0", .command = "left.duty"},
       {.type = "PWM", .device = "1", .command = "right.duty", .inverted = true});
  SAY("PWM", "0", "<speed", 0.5);
  expect_submitted(LEFT, 0.5);
  expect_nothing_submitted();
  SAY("PWM", "1", "<speed", 0.25);
  expect_submitted(RIGHT, -0.25);
  SAY("PWM", "2", "<speed", 1);
  SAY("PWM", "0", "<position", 0.7);
  SAY("PWM", "0", ">speed", 0.7); /* an echo */
  expect_nothing_submitted();
}

static void a_pulse_counts_where_no_speed_comes(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "0", .command = "left.duty"});
  SAY("PWM", "0", "<raw", 2000);
  expect_submitted(LEFT, 1);
  SAY("PWM", "0", "<raw", 0);
  expect_submitted(LEFT, 0);
  SAY("PWM", "0", "<raw", 1250);
  expect_submitted(LEFT, -0.5);
  SAY("PWM", "0", "<speed", 0.1);
  expect_submitted(LEFT, 0.1);
  SAY("PWM", "0", "<raw", 2000);
  expect_nothing_submitted();
}

static void a_motor_of_2027_is_the_same_motor(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "3", .command = "left.duty"});
  SAY("SimDevice", "PWMMotorController[3]", "<Throttle", -1);
  expect_submitted(LEFT, -1);
  SAY("PWM", "3", "<raw", 2000);
  expect_nothing_submitted();
  tt_halsim_stranger stranger;
  assert_false(tt_halsim_next_stranger(at.halsim, &stranger));
}

static void what_is_out_of_range_changes_nothing(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "0", .command = "left.duty"});
  tt_halsim_fault fault;
  const tt_halsim_value values[] = {{.key = "<raw", .sort = TT_HALSIM_WHOLE, .number = 1500},
                                    {.key = "<speed", .sort = TT_HALSIM_NUMBER, .number = 1.5}};
  assert_int_equal(tt_halsim_hear(at.halsim, "PWM", "0", values, 2, &fault), TT_BAD_MESSAGE);
  assert_int_equal(fault.drop, TT_DROP_RANGE);
  assert_non_null(strstr(fault.text, "speed"));
  assert_int_equal(say("PWM", "0", "<speed", TT_HALSIM_TEXT, 0), TT_BAD_MESSAGE);
  expect_nothing_submitted();
  SAY("PWM", "0", "<speed", 1.0000001); /* rounding */
  expect_submitted(LEFT, 1);
}

static void everything_comes_again_on_demand(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "0", .command = "left.duty"},
       {.type = "Solenoid", .device = "0,1", .command = "grip"});
  SAY("PWM", "0", "<speed", 0.5);
  expect_submitted(LEFT, 0.5);
  tt_halsim_repeat(at.halsim);
  expect_submitted(LEFT, 0.5); /* the solenoid was not heard of */
  tt_halsim_forget(at.halsim);
  tt_halsim_repeat(at.halsim);
  expect_nothing_submitted();
}

static void solenoids_and_relays_switch(void **state) {
  (void)state;
  double half = 0.5;
  OPEN({.type = "Solenoid", .device = "0,1", .command = "grip", .given_scale = &half},
       {.type = "Relay", .device = "0", .command = "lift.duty"},
       {.type = "DIO", .device = "7", .command = "right.duty", .inverted = true});
  SAY_FLAG("Solenoid", "0,1", "<output", 1);
  expect_submitted(GRIP, 2);
  SAY_FLAG("Relay", "0", "<fwd", 1);
  expect_submitted(LIFT, 1);
  SAY_FLAG("Relay", "0", "<rev", 1);
  expect_submitted(LIFT, 0);
  SAY_FLAG("Relay", "0", "<fwd", 0);
  expect_submitted(LIFT, -1);
  SAY_FLAG("DIO", "7", "<>value", 0);
  expect_submitted(RIGHT, 1);
}

static void other_motors_are_known_by_their_keys(void **state) {
  (void)state;
  OPEN({.type = "CANMotor", .device = "Talon FX (v6)[3]", .command = "left.duty"},
       {.type = "CANMotor", .device = "Talon SRX[4]", .command = "right.duty"},
       {.type = "SimDevice",
        .device = "SPARK MAX [1]",
        .key = "Applied Output",
        .command = "lift.duty"});
  SAY("CANMotor", "Talon FX (v6)[3]", "<dutyCycle", 0.5);
  expect_submitted(LEFT, 0.5);
  SAY("CANMotor", "Talon SRX[4]", "<percentOutput", -0.5);
  expect_submitted(RIGHT, -0.5);
  SAY("SimDevice", "SPARK MAX [1]", "<>Applied Output", 0.25);
  expect_submitted(LIFT, 0.25);
}

/* --- sensors --- */

static void make_encoder(const char *device, int a, int b, bool reversed) {
  tt_halsim_fault fault;
  const tt_halsim_value values[] = {
      {.key = "<channel_a", .sort = TT_HALSIM_WHOLE, .number = a},
      {.key = "<channel_b", .sort = TT_HALSIM_WHOLE, .number = b},
      {.key = "<init", .sort = TT_HALSIM_FLAG, .number = 1},
      {.key = "<reverse_direction", .sort = TT_HALSIM_FLAG, .number = reversed}};
  assert_int_equal(tt_halsim_hear(at.halsim, "Encoder", device, values, 4, &fault), TT_OK);
}

static void an_encoder_is_found_by_its_channels(void **state) {
  (void)state;
  double ticks = 1440;
  OPEN({.type = "Encoder", .device = "0,1", .signal = "left.position", .given_scale = &ticks});
  at.view->joint_position[0] = M_PI;
  at.view->joint_velocity[0] = 2 * M_PI;
  expect_told(""); /* the program has none yet */
  make_encoder("5", 0, 1, false);
  expect_told("Encoder 5 >count=720 >period=0.000694444; ");
  expect_told(""); /* nothing changed */
  at.view->joint_velocity[0] = 0;
  expect_told("Encoder 5 >period=1e+09; ");
}

static void each_step_of_a_large_count_is_told(void **state) {
  (void)state;
  double ticks = 1440;
  OPEN({.type = "Encoder", .device = "0,1", .signal = "left.position", .given_scale = &ticks});
  make_encoder("0", 0, 1, false);
  for (int i = 5000000; i <= 5000001; i++) {
    char text[64] = "";
    at.view->joint_position[0] = i / ticks * 2 * M_PI;
    tt_halsim_tell(at.halsim, at.view, 0.01, on_count, text);
    assert_int_equal(strtol(text, NULL, 10), i);
  }
}

static void a_channel_beyond_any_is_none(void **state) {
  (void)state;
  OPEN({.type = "Encoder", .device = "0,1", .signal = "left.position"});
  SAY("Encoder", "0", "<channel_a", 1e300);
  SAY("Encoder", "0", "<channel_b", -1e300);
  SAY_FLAG("Encoder", "0", "<init", 1);
  expect_told("");
}

static void directions_add_up(void **state) {
  (void)state;
  double ticks = 1440;
  OPEN({.type = "Encoder",
        .device = "2,3",
        .signal = "left",
        .given_scale = &ticks,
        .inverted = true});
  at.view->joint_position[0] = M_PI;
  make_encoder("0", 2, 3, false);
  expect_told("Encoder 0 >count=-720 >period=1e+09; ");
  make_encoder("0", 2, 3, true); /* setReverseDirection(true) */
  expect_told("Encoder 0 >count=720; ");
  make_encoder("0", 3, 2, true); /* its channels are swapped, too */
  expect_told("Encoder 0 >count=-720; ");
}

static void a_gyro_turns_clockwise_and_goes_on(void **state) {
  (void)state;
  OPEN({.type = "Gyro", .device = "ADXRS450[0]", .signal = "chassis.heading"},
       {.type = "Gyro", .device = "XRPGyro", .signal = "gyro"});
  double *rotation = at.view->body_rotation[1];
  for (int i = 0; i <= 4; i++) { /* 400 deg to the left */
    double half = i * M_PI / 3.6;
    rotation[0] = cos(half);
    rotation[3] = sin(half);
    at.told[0] = '\0';
    tt_halsim_tell(at.halsim, at.view, 0.01, on_told, NULL);
  }
  assert_string_equal(at.told, "Gyro ADXRS450[0] >angle_x=-400; ");
  at.view->channels[ANGLE] = 1;
  at.view->channels[RATE] = -M_PI;
  expect_told("Gyro XRPGyro >angle_z=57.2958 >rate_z=-180; ");
}

static void other_sensors_have_their_units(void **state) {
  (void)state;
  OPEN({.type = "Accel", .device = "BuiltInAccel", .signal = "imu"},
       {.type = "DIO", .device = "9", .signal = "switch.pressed", .inverted = true},
       {.type = "DutyCycle", .device = "DutyCycleEncoder[4]", .signal = "left.position"},
       {.type = "SimDevice", .device = "Ultrasonic[5]", .signal = "lift.position"});
  at.view->channels[Y] = -9.80665;
  at.view->joint_position[0] = M_PI;
  at.view->joint_position[1] = 0.0254;
  expect_told(
      "Accel BuiltInAccel >x=0 >y=-1 >z=0; DIO 9 <>value=1; "
      "DutyCycle DutyCycleEncoder[4] >Position=0.5 >Connected=1; "
      "SimDevice Ultrasonic[5] >Range (in)=1 >Range Valid=1; ");
  tt_halsim_forget(at.halsim); /* another program: everything */
  at.told[0] = '\0';
  at.messages = 0;
  tt_halsim_tell(at.halsim, at.view, 0.01, on_told, NULL);
  assert_int_equal(at.messages, 4);
}

static void a_sim_device_is_told_as_it_tells(void **state) {
  (void)state;
  OPEN({.type = "SimDevice",
        .device = "navX-Sensor[0]",
        .key = "Fused",
        .signal = "left.position",
        .unit = "deg"},
       {.type = "SimDevice", .device = "Thing", .key = "On", .signal = "switch.pressed"});
  SAY("SimDevice", "navX-Sensor[0]", "<>Fused", 0);
  SAY_FLAG("SimDevice", "Thing", ">On", 0);
  at.view->joint_position[0] = M_PI;
  at.view->channels[PRESSED] = 0.7;
  expect_told("SimDevice navX-Sensor[0] <>Fused=180; SimDevice Thing >On=1; ");
}

static void what_has_no_rate_is_differentiated(void **state) {
  (void)state;
  OPEN({.type = "CANEncoder",
        .device = "Talon FX (v6)[3]/Rotor Sensor",
        .signal = "imu.x",
        .unit = "m/s²"});
  expect_told("CANEncoder Talon FX (v6)[3]/Rotor Sensor >rawPositionInput=0 >velocity=0; ");
  at.view->channels[X] = 1;
  expect_told("CANEncoder Talon FX (v6)[3]/Rotor Sensor >rawPositionInput=1 >velocity=100; ");
}

/* --- what nobody mapped --- */

static void a_stranger_comes_with_its_line(void **state) {
  (void)state;
  OPEN({.type = "PWM", .device = "0", .command = "left.duty"},
       {.type = "PWM", .device = "1", .command = "none"});
  SAY_FLAG("PWM", "0", "<init", 1);
  SAY_FLAG("PWM", "1", "<init", 1);
  SAY_FLAG("PWM", "2", "<init", 0);
  SAY_FLAG("PWM", "5", "<init", 1);
  SAY_FLAG("PWM", "5", "<init", 1);
  SAY_FLAG("DIO", "6", "<init", 1);
  make_encoder("0", 6, 7, false);
  SAY_FLAG("Solenoid", "0,3", "<output", 0);
  SAY("Joystick", "0", "<rumble_left", 0);
  SAY("SimDevice", "Mystery", "<>Level", 0);
  static const char *const lines[] = {
      "- {type: PWM, device: \"5\", command: right.duty}",
      "- {type: Encoder, device: \"6,7\", signal: left.position}",
      "- {type: SimDevice, device: \"Mystery\", key: KEY, signal: none}"};
  for (int i = 0; i < 3; i++) {
    tt_halsim_stranger stranger;
    char text[300];
    assert_true(tt_halsim_next_stranger(at.halsim, &stranger));
    tt_halsim_propose(at.halsim, &stranger, at.names, &model, 0, text, sizeof text);
    assert_string_equal(text, lines[i]);
  }
  tt_halsim_stranger stranger;
  assert_false(tt_halsim_next_stranger(at.halsim, &stranger));
}

/* --- the list --- */

static void expect_refused(tt_halsim_entry *entries, unsigned count, const char *part) {
  tt_error error = {.text = ""};
  tt_names *names = tt_names_new(&model);
  tt_halsim_map map;
  tt_status status = tt_halsim_entries_check(entries, count, "here", &error);
  if (status == TT_OK)
    status = tt_halsim_map_resolve(entries, count, names, &model, 0, "here", &map, &error);
  assert_int_equal(status, TT_INVALID);
  if (!strstr(error.text, part)) fail_msg("'%s' does not say '%s'", error.text, part);
  for (unsigned i = 0; i < count; i++)
    if (!entries[i].device[0]) free(entries[i].device);
  tt_names_free(names);
}
#define REFUSED(part, ...)                                                                         \
  do {                                                                                             \
    tt_halsim_entry entries[] = {__VA_ARGS__};                                                     \
    expect_refused(entries, sizeof entries / sizeof *entries, part);                               \
  } while (0)

/* A program hears of one driver station: it could not end its outputs for another robot that is disabled. */
static void a_program_drives_one_robot(void **state) {
  (void)state;
  static const tt_robot two[] = {{.name = "red", .root_body = 1}, {.name = "blue", .root_body = 2}};
  tt_model many = model;
  many.robots = two;
  many.robot_count = 2;
  tt_halsim_entry entry = {.type = "PWM", .device = "0", .command = "left.duty"};
  tt_names *names = tt_names_new(&many);
  tt_error error;
  tt_halsim_map map;
  assert_int_equal(
      tt_halsim_map_resolve(&entry, 1, names, &many, TT_NO_ROBOT, "here", &map, &error),
      TT_INVALID);
  assert_non_null(strstr(error.text, "here: a robot program drives one robot"));
  assert_non_null(strstr(error.text, "`robot: red`"));
  assert_int_equal(tt_halsim_map_resolve(&entry, 1, names, &model, TT_NO_ROBOT, "here", &map, NULL),
                   TT_OK);
  tt_halsim_map_clear(&map);
  tt_names_free(names);
}

static void a_wrong_line_is_refused_with_its_remedy(void **state) {
  (void)state;
  double zero = 0;
  REFUSED("either a command", {.type = "PWM", .device = "0"});
  REFUSED("either a command", {.type = "PWM", .device = "0", .command = "x", .signal = "y"});
  REFUSED("name one with `key`", {.type = "SimDevice", .device = "X", .command = "left.duty"});
  REFUSED("did you mean 'PWM'", {.type = "pwm", .device = "0", .command = "left.duty"});
  REFUSED("there are: PWM, DIO", {.type = "Motor", .device = "0", .command = "left.duty"});
  static char *const channels_wrong[] = {
      "left", NULL, "-1", "07", "0,1", " 1", "99999999999999999999"};
  for (size_t i = 0; i < sizeof channels_wrong / sizeof *channels_wrong; i++)
    REFUSED("is not the device of a PWM, which is a channel",
            {.type = "PWM", .device = channels_wrong[i], .command = "left.duty"});
  REFUSED("its channels, \"0,1\"", {.type = "Encoder", .device = "0;1", .signal = "left"});
  REFUSED("module and channel", {.type = "Solenoid", .device = "1", .command = "grip"});
  REFUSED("is what the program gives: give a command",
          {.type = "PWM", .device = "0", .signal = "left.position"});
  REFUSED("is what the program reads: give a signal",
          {.type = "Encoder", .device = "0,1", .command = "left.duty"});
  REFUSED("there is no unit", {.type = "AI", .device = "0", .signal = "x", .unit = "volts"});
  REFUSED("scale not 0", {.type = "AI", .device = "0", .signal = "x", .given_scale = &zero});
  REFUSED("devices[1]: PWM 0 stands in the list twice",
          {.type = "PWM", .device = "0", .command = "left.duty"},
          {.type = "PWM", .device = "0", .command = "right.duty"});
  REFUSED("here.devices[0]", {.type = "PWM", .device = "0", .command = "left.dutty"});
  REFUSED("does not measure", {.type = "Encoder", .device = "0,1", .signal = "lift.position"});
}

#define TEST(name) cmocka_unit_test_teardown(name, close_bench)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(a_motor_obeys_its_speed),
      TEST(a_pulse_counts_where_no_speed_comes),
      TEST(a_motor_of_2027_is_the_same_motor),
      TEST(what_is_out_of_range_changes_nothing),
      TEST(everything_comes_again_on_demand),
      TEST(solenoids_and_relays_switch),
      TEST(other_motors_are_known_by_their_keys),
      TEST(an_encoder_is_found_by_its_channels),
      TEST(each_step_of_a_large_count_is_told),
      TEST(a_channel_beyond_any_is_none),
      TEST(directions_add_up),
      TEST(a_gyro_turns_clockwise_and_goes_on),
      TEST(other_sensors_have_their_units),
      TEST(a_sim_device_is_told_as_it_tells),
      TEST(what_has_no_rate_is_differentiated),
      TEST(a_stranger_comes_with_its_line),
      cmocka_unit_test(a_program_drives_one_robot),
      cmocka_unit_test(a_wrong_line_is_refused_with_its_remedy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

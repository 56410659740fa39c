/* sharp_original_test.c: config/robotConfig.yml in the shapes that it had, as settings of core, joystick and vehicle. */
#include "control/sharp_config.h"
#include "control/sharp_original.h"
#include "scene/stranger.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* With the lift, one player, the vehicle's constants under sim. */
static const char early[] =
    "joystick: {ip: \"127.0.0.1\", port: 2000}\n"
    "core: {ip: \"127.0.0.1\", joystickPort: 4000, vehiclePort: 6000}\n"
    "sim:\n"
    "  ip: \"127.0.0.1\"\n"
    "  port: 8000\n"
    "  constants:\n"
    "    drivetrain: {width: 27.5, depth: 28.3, widthChannel: 0.5, heightChannel: 0.5, wheelBase: "
    "18,\n"
    "                 wheelRadius: 3.0, wheelWidth: 1.0, motor: {maxSpeed: 833}}\n"
    "    elevator: {belt: {radius: 0.79, length: 24}, motor: {radius: 0.59, maxSpeed: 500}}\n"
    "  initialState: {drivetrain: {x: 0, y: -197.0, theta: 90}, elevator: {carriagePos: 0}}\n";

/* With players, a weight, a speed a side. */
static const char late[] =
    "players:\n"
    "  - {team: \"1\", alliance: \"Blue\", initialPosition: {x: 0.0, y: -197.0, theta: 90.0}}\n"
    "  - {team: \"2\", alliance: \"Red\", initialPosition: {x: 10.0, y: 197.0, theta: -90.0}}\n"
    "joystick: {ip: 127.0.0.1, port: 2000}\n"
    "core: {ip: 10.0.0.7, joystickPort: 4000, simPort: 6000}\n"
    "sim:\n"
    "  comms: {ip: 127.0.0.1, corePort: 8000, simViewPort: 10000}\n"
    "  field: {exteriorWall: [{x: 1, y: 2}, {x: 3, y: 4}]}\n"
    "  vehicle:\n"
    "    weight: 154\n"
    "    drivetrain: {wheelTrack: 22, wheelRadius: 4.0, leftMotorMaxSpeed: 600, "
    "rightMotorMaxSpeed: 500}\n"
    "simView: {ip: 127.0.0.1, port: 12000}\n";

static tt_document *parse(const char *text) {
  tt_document *document;
  tt_error error = {""};
  if (tt_document_parse("robotConfig.yml", text, strlen(text), &document, &error) != TT_OK)
    fail_msg("%s", error.text);
  return document;
}

static tt_sharp_original read_as(const char *text, tt_sharp_program program, int player) {
  tt_sharp_original original;
  tt_error error = {""};
  tt_document *document = parse(text);
  assert_true(tt_stranger_is_original(document));
  const tt_sharp_reader reader = {program, player, "wires.red1.sharp-json"};
  if (tt_sharp_original_read(document, &reader, &original, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_document_free(document);
  return original;
}

static const char *setting(const tt_sharp_original *original, const char *path) {
  size_t size = strlen(path);
  for (int i = 0; i < original->count; i++)
    if (strncmp(original->settings[i], path, size) == 0 && original->settings[i][size] == '=')
      return original->settings[i] + size + 1;
  return NULL;
}

static void assert_setting(const tt_sharp_original *original, const char *path, const char *value) {
  const char *found = setting(original, path);
  if (found == NULL) fail_msg("nothing sets %s", path);
  assert_string_equal(found, value);
}

static void the_early_file_is_the_vehicle_that_sharp_is(void **state) {
  (void)state;
  static const char *const expected[][2] = {
      {"wires.red1.sharp-json.bind", "127.0.0.1:8000"},
      {"wires.red1.sharp-json.peer", "127.0.0.1:6000"},
      {"robots[0].measures.width.value", "27.5 in"},
      {"robots[0].measures.depth.value", "28.3 in"},
      {"robots[0].measures.track.value", "25.5 in"},
      {"robots[0].measures.wheel_radius.value", "3 in"},
      {"robots[0].measures.lift_travel.value", "24 in"},
      {"robots[0].encoders.elevator_encoder.to", "24 in"},
      {"robots[0].motors.left_drive.free_speed", "833 rpm"},
      {"robots[0].motors.right_drive.free_speed", "833 rpm"},
      {"robots[0].motors.elevator.free_speed", "500 rpm"},
      {"robots[0].motors.elevator.drum_radius", "0.59 in"},
      {"robots[0].x", "0 in"},
      {"robots[0].y", "-197 in"},
      {"robots[0].heading", "90 deg"},
  };
  tt_sharp_original original = read_as(early, TT_SHARP_PROGRAM_VEHICLE, 1);
  assert_int_equal(original.count, (int)(sizeof expected / sizeof *expected));
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
    assert_setting(&original, expected[i][0], expected[i][1]);
  assert_string_equal(original.unused,
                      "sim.constants.drivetrain.heightChannel, sim.constants.drivetrain.wheelBase, "
                      "sim.constants.elevator.belt.radius, sim.initialState.elevator");
  tt_sharp_original_free(&original);
}

/** The settings of the early file, whose motors are equal, leave a core as it is without them. */
static void the_early_file_is_the_core_that_ours_is(void **state) {
  (void)state;
  tt_sharp_original original = read_as(early, TT_SHARP_PROGRAM_CORE, 1);
  tt_document *document = parse("{}");
  void *keys;
  tt_error error = {""};
  assert_null(setting(&original, "traction.left_full_speed")); /* so that full_speed is for both */
  for (int i = 0; i < original.count; i++)
    if (tt_document_set(document, original.settings[i], &error) != TT_OK)
      fail_msg("%s", error.text);
  if (tt_document_read(document, &tt_sharp_core_schema, &keys, &error) != TT_OK ||
      tt_sharp_core_config_check(keys, "t.yaml", &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_sharp_core_config *config = keys;
  tt_sharp_core_settings own = tt_sharp_core_settings_default();
  assert_string_equal(config->joystick.bind, "127.0.0.1:4000");
  assert_string_equal(config->joystick.peer, "127.0.0.1:2000");
  assert_string_equal(config->vehicle.bind, "127.0.0.1:6000");
  assert_string_equal(config->vehicle.peer, "127.0.0.1:8000");
  assert_true(fabs(config->settings.full_speed - own.full_speed) < 0.001);
  assert_true(fabs(config->settings.acceleration - own.acceleration) < 0.001);
  assert_true(fabs(config->settings.headroom - own.headroom) < 0.001);
  tt_document_release(&tt_sharp_core_schema, keys);
  tt_document_free(document);
  tt_sharp_original_free(&original);
}

static void the_late_file_too(void **state) {
  (void)state;
  tt_sharp_original original = read_as(late, TT_SHARP_PROGRAM_VEHICLE, 1);
  assert_setting(&original, "wires.red1.sharp-json.bind", "127.0.0.1:8000");
  assert_setting(&original, "wires.red1.sharp-json.peer", "10.0.0.7:6000");
  assert_setting(&original, "robots[0].measures.mass.value", "154 lb");
  assert_setting(&original, "robots[0].measures.track.value", "22 in");
  assert_setting(&original, "robots[0].motors.left_drive.free_speed", "600 rpm");
  assert_setting(&original, "robots[0].motors.right_drive.free_speed", "500 rpm");
  assert_setting(&original, "robots[0].alliance", "blue");
  assert_null(setting(&original, "robots[0].measures.lift_travel.value"));
  assert_string_equal(original.unused, "players[].team, sim.comms.simViewPort, sim.field, simView");
  tt_sharp_original_free(&original);

  original = read_as(late, TT_SHARP_PROGRAM_CORE, 1);
  assert_setting(&original, "joystick.bind", "10.0.0.7:4000");
  assert_setting(&original, "allow", "[127.0.0.1/32, 127.0.0.1/32]"); /* a public address */
  assert_true(fabs(atof(setting(&original, "traction.full_speed")) - 10240) < 0.01);
  assert_true(fabs(atof(setting(&original, "traction.left_full_speed")) - 10240) < 0.01);
  assert_true(fabs(atof(setting(&original, "traction.right_full_speed")) - 8533.333) < 0.01);
  assert_true(fabs(atof(setting(&original, "traction.headroom")) - 240 * 154 * 4 / (106.483 * 3)) <
              0.01);
  tt_sharp_original_free(&original);

  original = read_as(late, TT_SHARP_PROGRAM_JOYSTICK, 2); /* ports ten higher */
  assert_setting(&original, "bind", "127.0.0.1:2010");
  assert_setting(&original, "peer", "10.0.0.7:4010");
  tt_sharp_original_free(&original);

  original = read_as(late, TT_SHARP_PROGRAM_VEHICLE, 2);
  assert_setting(&original, "robots[0].x", "10 in");
  assert_setting(&original, "robots[0].alliance", "red");
  tt_sharp_original_free(&original);
}

static void localhost_may_speak_to_a_public_address(void **state) {
  (void)state;
  tt_sharp_original original = read_as(
      "joystick: {ip: localhost, port: 2000}\n"
      "core: {ip: 10.0.0.7, joystickPort: 4000, simPort: 6000}\n"
      "sim:\n"
      "  comms: {ip: 10.0.0.9, corePort: 8000}\n",
      TT_SHARP_PROGRAM_CORE, 1);
  assert_setting(&original, "allow", "[127.0.0.1/32, 10.0.0.9/32]");
  tt_sharp_original_free(&original);
}

static void what_is_wrong_is_told_with_line_and_key(void **state) {
  (void)state;
  static const struct {
    const char *text, *says;
  } bad[] = {
      {"core:\n  joystickPort: x\n", "robotConfig.yml:2: core.joystickPort: 'x' is no port"},
      {"core:\n  joystickPort: 70000\n", "core.joystickPort: '70000' is no port"},
      {"core: {joystickPort: 4000,\n  ip: nowhere}\n", ":2: core.ip: 'nowhere' is no address"},
      {"core: {joystickPort: 4000}\nsim: {constants: {drivetrain: {wheelRadius: .nan}}}\n",
       "sim.constants.drivetrain.wheelRadius: '.nan' is no radius in inches; give 0.1 to 100"},
      {"core: {joystickPort: 4000}\nsim:\n  vehicle: {weight: 0}\n",
       "robotConfig.yml:3: sim.vehicle.weight: '0' is no weight in pounds; give 1 to 100000"},
      {"core: {joystickPort: 4000}\nsim: {vehicle: {weight: -5}}\n",
       "sim.vehicle.weight: '-5' is no weight in pounds"},
      {"core: {joystickPort: 4000}\nsim: {constants: {elevator: {motor: {radius: 0}}}}\n",
       "sim.constants.elevator.motor.radius: '0' is no radius in inches"},
      {"core: {joystickPort: 4000}\nsim: {constants: {elevator: {belt: {length: 0}}}}\n",
       "sim.constants.elevator.belt.length: '0' is no length in inches"},
      {"core: {joystickPort: 4000}\nsim: {constants: {drivetrain: {depth: 0}}}\n",
       "sim.constants.drivetrain.depth: '0' is no length in inches"},
      {"core: {joystickPort: 4000}\nsim: {vehicle: {drivetrain: {leftMotorMaxSpeed: 0}}}\n",
       "sim.vehicle.drivetrain.leftMotorMaxSpeed: '0' is no speed in turns a minute"},
      {"core: {joystickPort: 4000}\n"
       "sim: {constants: {drivetrain: {width: 5, widthChannel: 2, wheelWidth: 1}}}\n",
       ":2: sim.constants.drivetrain.width: '5' leaves no track between channels of 2 in and "
       "wheels "
       "of 1 in; give more"},
      {"core: {joystickPort: 4000}\nplayers: [{alliance: Green}]\n",
       "players[].alliance: 'Green' is no alliance"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tt_sharp_original original;
    tt_error error = {""};
    tt_document *document = parse(bad[i].text);
    const tt_sharp_reader vehicle = {TT_SHARP_PROGRAM_VEHICLE, 1, "wires.sharp-json"};
    assert_int_equal(tt_sharp_original_read(document, &vehicle, &original, &error), TT_INVALID);
    if (strstr(error.text, bad[i].says) == NULL)
      fail_msg("'%s' does not say '%s'", error.text, bad[i].says);
    tt_sharp_original_free(&original);
    tt_document_free(document);
  }
}

static void our_own_files_are_none_of_theirs(void **state) {
  (void)state;
  static const char *const ours[] = {"joystick: {bind: '127.0.0.1:0'}\n", "core: 5\n",
                                     "core: {joystickPort: }\n"};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
    tt_document *document = parse(ours[i]);
    assert_false(tt_stranger_is_original(document));
    tt_document_free(document);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_early_file_is_the_vehicle_that_sharp_is),
      cmocka_unit_test(the_early_file_is_the_core_that_ours_is),
      cmocka_unit_test(the_late_file_too),
      cmocka_unit_test(localhost_may_speak_to_a_public_address),
      cmocka_unit_test(what_is_wrong_is_told_with_line_and_key),
      cmocka_unit_test(our_own_files_are_none_of_theirs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

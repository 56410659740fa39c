/* client_test.c: what stands in a client: the order of the wire's arrays, under names that every language takes. */
#include "app/assemble.h"
#include "app/guests.h"
#include "client/client.h"
#include "client/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_names(const char *name, const char *shown, const char *identifier) {
  char made[TT_CLIENT_NAME];
  tt_client_shown(name, made);
  assert_string_equal(made, shown);
  tt_client_identifier(name, made);
  assert_string_equal(made, identifier);
}

static void test_names(void **state) {
  (void)state;
  check_names("arm.position", "arm.position", "arm_position");
  check_names("red1/Left-Wheel", "red1/Left-Wheel", "red1_left_wheel");
  check_names("class", "class", "class_");
  check_names("s6_addr", "s6_addr", "s6_addr_"); /* a macro of <arpa/inet.h> */
  check_names("numbers", "numbers", "numbers_");
  check_names("2nd", "2nd", "n2nd");
  check_names("*/ x(\"\\u002a\"); //", "_/_x___u002a_____/", "n_x_u002a");
  check_names("", "", "n");
}

static char *make(const char *wires, const char *language) {
  char text[600];
  tt_scene *scene = NULL;
  tt_world *world = NULL;
  tt_client client;
  tt_error error = {""};
  const int size = snprintf(text, sizeof text, "robots: [{robot: gripper}]\nwires: [%s]\n", wires);
  if (tt_scene_parse(&tt_program_guests, "a.yaml", text, (size_t)size, NULL, 0, &scene, &error) !=
          TT_OK ||
      tt_assemble(scene, &(tt_assembly){.check_only = true}, &world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_status status = tt_client_make(scene, "a", tt_world_wire_at(world, 0), &scene->wires[0],
                                    language, &client, &error);
  char *made = status == TT_OK ? strdup(client.text) : NULL;
  if (status == TT_OK) {
    assert_non_null(strstr(client.start, client.file));
    assert_null(strchr(client.text, '@'));
    assert_null(strchr(client.start, '@'));
  } else {
    assert_int_equal(status, TT_NOT_FOUND);
    assert_true(strlen(error.text) > 0);
  }
  tt_client_clear(&client);
  tt_world_free(world);
  tt_scene_free(scene);
  return made;
}

static void expect(const char *wires, const char *language, const char *part) {
  char *text = make(wires, language);
  assert_non_null(text);
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
  free(text);
}

/* Each number at its place; what nobody sets is 0; equal names get numbers. */
static void test_order(void **state) {
  (void)state;
  static const char wire[] =
      "{float-udp: {sensors: [none, {name: swivel.position, unit: deg}, time, swivel.position], "
      "commands: [{name: swivel.torque, unit: in·lbf}, none, stamp]}}";
  expect(wire, "python", "self.swivel_position = numbers[1]  # swivel.position deg\n");
  expect(wire, "python", "self.time = numbers[2]  # time s\n");
  expect(wire, "python", "self.swivel_position_2 = numbers[3]  # swivel.position rad\n");
  expect(wire, "python", "        commands.swivel_torque,\n        0,\n        stamp,\n");
  expect(wire, "c", "float swivel_torque; /* swivel.torque in-lbf */\n");
  expect(wire, "c", "enum { SENSORS = 4, COMMANDS = 3 }");
  expect(wire, "cpp", "    swivel_position = numbers[1];\n");
  expect(wire, "java", "public final class DriveFloatUdp {\n");
  expect(wire, "java", "      commands.swivel_torque,\n      0,\n      stamp,\n");
}

/* Joints as they are listed, or all of the robot in the order of its model. */
static void test_joints(void **state) {
  (void)state;
  expect("{lockstep-tcp: {joints: [wrist, swivel]}}", "python",
         "self.swivel = numbers[1]  # swivel rad\n");
  expect("{lockstep-tcp: {joints: [wrist, swivel]}}", "c", "enum { JOINTS = 2 };");
  expect("{lockstep-tcp: {}}", "python", "self.swivel = numbers[0]  # swivel rad\n");
  expect("{lockstep-tcp: {}}", "java", "JOINTS = 10;");
}

static void test_addresses(void **state) {
  (void)state;
  expect("{lockstep-tcp: {listen: '[::1]:18555'}}", "java", "\"[::1]:18555\"");
  expect("{lockstep-tcp: {listen: '[::1]:18555'}}", "python", "\"[::1]:18555\"");
  expect("{lockstep-tcp: {listen: '[::]:18555', allow: ['::1']}}", "python", "\"127.0.0.1:18555\"");
  expect("{lockstep-tcp: {listen: '0.0.0.0:18555', allow: [127.0.0.1]}}", "python",
         "\"127.0.0.1:18555\"");
}

static void test_what_there_is_not(void **state) {
  (void)state;
  assert_null(make("{float-udp: {sensors: [time]}}", "cobol"));
  assert_null(make("{float-udp: {sensors: [none]}}", "python"));
  assert_null(make("{ezphysics: {}}", "python"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names), cmocka_unit_test(test_order), cmocka_unit_test(test_joints),
      cmocka_unit_test(test_addresses), cmocka_unit_test(test_what_there_is_not)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

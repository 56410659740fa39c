/* assemble_test.c: a scene becomes a world, or an error with its place. */
#include "app/guests.h"
#include "app/assemble.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define PLACE TETHER_SOURCE_DIR "/tests/scenes/good/made.yaml" /* what files are relative to */

static tt_status assemble(const char *text, const char *setting, tt_scene **scene, tt_world **world,
                          tt_error *error) {
  const char *settings[] = {setting};
  tt_status status = tt_scene_parse(&tt_program_guests, PLACE, text, strlen(text), settings,
                                    setting ? 1 : 0, scene, error);
  if (status != TT_OK) fail_msg("%s", error->text);
  return tt_assemble(*scene, &(tt_assembly){.check_only = true}, world, error);
}

static const char one_robot[] =
    "arena: field/arena.yaml\n"
    "timestep: 1/3000 s\n"
    "robots: [{robot: bot/robot.yaml, name: red1}]\n"
    "wires:\n"
    "  - float-udp:\n"
    "      bind: 127.0.0.1:0\n"
    "      sensors: [time, arm.position]\n"
    "      commands: [stamp, arm.torque]\n";

static void test_world(void **state) {
  (void)state;
  tt_scene *scene;
  tt_world *world;
  tt_error error = {""};
  if (assemble(one_robot, NULL, &scene, &world, &error) != TT_OK) fail_msg("%s", error.text);
  const tt_model *model = tt_world_model(world);
  assert_int_equal(model->timestep_den, 3000);
  assert_int_equal(model->robot_count, 1);
  assert_string_equal(model->robots[0].name, "red1");
  int arm = -1, ball = -1;
  for (int i = 0; i < model->joint_count; i++) {
    if (!strcmp(model->joints[i].name, "arm")) arm = i;
  }
  for (int i = 0; i < model->body_count; i++) {
    if (!strcmp(model->bodies[i].name, "ball")) ball = i;
  }
  assert_true(arm >= 0 && ball >= 0);
  assert_true(model->joints[arm].max_torque == 5);
  assert_int_equal(model->bodies[ball].piece, 2);
  assert_int_equal(tt_world_wire_count(world), 1);
  tt_world_free(world);
  tt_scene_free(scene);
}

static void fails(const char *text, const char *setting, const char *expected) {
  tt_scene *scene;
  tt_world *world;
  tt_error error = {""};
  tt_status status = assemble(text, setting, &scene, &world, &error);
  assert_null(world);
  assert_int_equal(status, TT_INVALID);
  if (!strstr(error.text, expected)) fail_msg("expected %s\n  got %s", expected, error.text);
  tt_scene_free(scene);
}

static void test_errors_have_their_place(void **state) {
  (void)state;
  fails(one_robot, "wires.float-udp.sensors=[arm.positon]", "--set wires.float-udp.sensors: ");
  fails(
      "robots: [{robot: bot/robot.yaml}]\n"
      "wires:\n"
      "  - float-udp:\n"
      "      bind: 127.0.0.1:0\n"
      "      sensors:\n"
      "        - time\n"
      "        - arm.positon\n",
      NULL, "made.yaml:7: wires.float-udp.sensors[1]");
  fails(
      "robots: [{robot: bot/robot.yaml}]\n"
      "wires:\n"
      "  - float-udp:\n"
      "      bind: 127.0.0.1:0\n"
      "      commands: [stamp, arm.trque]\n",
      NULL, "did you mean");
  fails("robots: [{robot: ../bad/files/joint_unknown.yaml}]\n", NULL,
        "joint_unknown.yaml:3: joints[0]: the model has no joint 'arn'; did you mean 'arm'?");
  fails("robots: [{robot: ../bad/files/site_unknown.yaml}]\n", NULL,
        "site_unknown.yaml:3: grippers[0].site: the robot has no site or body 'hnad'; did you mean "
        "'hand'?");
  fails("robots: [{robot: ../bad/files/body_unknown.yaml}]\n", NULL,
        "body_unknown.yaml:3: gyros[0].body: the robot has no body 'nowhere'; there are: chassis, "
        "arm");
  fails("robots: [{robot: ../bad/files/surface_unknown.yaml}]\n", NULL,
        "surface_unknown.yaml:4: bodies[1].name: the model has no body 'chasis'; did you mean "
        "'chassis'?");
  fails("arena: ../bad/files/piece_unknown.yaml\n", NULL,
        "piece_unknown.yaml:4: pieces[1].body: the arena has no body 'bal'; did you mean 'ball'?");
}

static void test_several_robots(void **state) {
  (void)state;
  tt_scene *scene;
  tt_world *world;
  tt_error error = {""};
  static const char text[] =
      "robots:\n"
      "  - {robot: bot/robot.yaml, name: a}\n"
      "  - {robot: bot/robot.yaml, name: b, y: 2 m}\n"
      "wires:\n"
      "  - float-udp: {robot: b, bind: '127.0.0.1:0', sensors: [arm.position, a/arm.position]}\n";
  if (assemble(text, NULL, &scene, &world, &error) != TT_OK) fail_msg("%s", error.text);
  const tt_model *model = tt_world_model(world);
  assert_int_equal(model->robot_count, 2);
  int limited = 0;
  for (int i = 0; i < model->joint_count; i++) limited += model->joints[i].max_torque == 5;
  assert_int_equal(limited, 2);
  tt_world_free(world);
  tt_scene_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_world),
      cmocka_unit_test(test_errors_have_their_place),
      cmocka_unit_test(test_several_robots),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

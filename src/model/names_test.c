/* Names of a hand-written model: what exists, what wins, what is refused, what is suggested. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "model/signal.h"

static const tt_body bodies[] = {
    {.name = "world", .robot = TT_NO_ROBOT},
    {.name = "red/chassis", .robot = 0},
    {.name = "red/arm", .parent = 1, .robot = 0},
    {.name = "blue/chassis", .robot = 1},
};
static const tt_joint joints[] = {
    {.name = "red/arm", .kind = TT_HINGE, .body = 2, .robot = 0, .axis = 0, .axis_count = 1},
    {.name = "blue/ball", .kind = TT_BALL, .body = 3, .robot = 1, .axis = 1, .axis_count = 3},
    {.name = "blue/lift", .kind = TT_SLIDE, .body = 3, .robot = 1, .axis = 4, .axis_count = 1},
    {.name = "base", .kind = TT_HINGE, .body = 2, .robot = 0, .axis = 5, .axis_count = 1},
    {.name = "red_base", .kind = TT_HINGE, .body = 2, .robot = 0, .axis = 6, .axis_count = 1},
};
static const int axis_joint[] = {0, 1, 1, 1, 2, 3, 4};
static const tt_channel channels[] = {
    {.name = "red/grip.held", .robot = 0, .part = 0},
    {.name = "red/arm.position", .dimension = TT_ANGLE, .robot = 0, .part = TT_NO_PART},
};
static const tt_command commands[] = {
    {.name = "red/arm.torque",
     .kind = TT_COMMAND_TORQUE,
     .dimension = TT_TORQUE,
     .robot = 0,
     .part = TT_NO_PART},
    {.name = "red/arm.torque",
     .kind = TT_COMMAND_TORQUE,
     .dimension = TT_TORQUE,
     .robot = 0,
     .part = 0},
    {.name = "red/grip", .kind = TT_COMMAND_GRIP, .robot = 0, .part = 1},
    {.name = "reset", .kind = TT_COMMAND_RESET, .robot = TT_NO_ROBOT, .part = TT_NO_PART},
    {.name = "red/reset", .kind = TT_COMMAND_RESET, .robot = 0, .part = TT_NO_PART},
};
static const tt_robot robots[] = {{.name = "red", .root_body = 1},
                                  {.name = "blue", .root_body = 3}};

static const tt_model model = {
    .bodies = bodies,
    .joints = joints,
    .axis_joint = axis_joint,
    .channels = channels,
    .commands = commands,
    .robots = robots,
    .body_count = 4,
    .joint_count = 5,
    .axis_count = 7,
    .channel_count = 2,
    .command_count = 5,
    .robot_count = 2,
    .contact_capacity = 2,
    .timestep_num = 1,
    .timestep_den = 3000,
};

static int make_names(void **state) {
  *state = tt_names_new(&model);
  return *state ? 0 : -1;
}

static int free_names(void **state) {
  tt_names_free(*state);
  return 0;
}

static tt_signal find(void **state, const char *name, int robot) {
  tt_signal signal;
  tt_error error = {.text = ""};
  if (tt_names_find_signal(*state, name, robot, "here", &signal, &error) != TT_OK)
    fail_msg("%s", error.text);
  return signal;
}

static void joints_and_bodies_own_their_scalars(void **state) {
  tt_signal lift = find(state, "blue/lift.velocity", TT_NO_ROBOT);
  assert_int_equal(lift.source, TT_SIGNAL_JOINT_VELOCITY);
  assert_int_equal(lift.index, 4);
  assert_int_equal(lift.dimension, TT_VELOCITY);
  assert_int_equal(find(state, "blue/ball.position.z", TT_NO_ROBOT).index, 3);
  assert_int_equal(find(state, "blue/chassis.yaw_rate", TT_NO_ROBOT).source,
                   TT_SIGNAL_BODY_YAW_RATE);
  assert_int_equal(find(state, "time", TT_NO_ROBOT).dimension, TT_TIME);
}

static void a_robot_may_leave_its_own_name_out(void **state) {
  assert_int_equal(find(state, "chassis.x", 0).index, 1);
  assert_int_equal(find(state, "chassis.x", 1).index, 3);
  assert_int_equal(find(state, "body:chassis.x", 1).index, 3);
  assert_int_equal(find(state, "red/chassis.x", 1).index, 1);
  int command;
  tt_error error;
  assert_int_equal(tt_names_find_command(*state, "reset", 0, "here", &command, &error), TT_OK);
  assert_int_equal(command, 4);
  assert_int_equal(tt_names_find_command(*state, "reset", 1, "here", &command, &error), TT_OK);
  assert_int_equal(command, 3);
}

static void a_name_with_two_meanings_is_refused_with_both(void **state) {
  tt_signal signal;
  tt_error error;
  assert_int_equal(tt_names_find_signal(*state, "red/arm.position", TT_NO_ROBOT,
                                        "scene.yaml: sensors[2]", &signal, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "scene.yaml: sensors[2]"));
  assert_non_null(strstr(error.text, "joint:red/arm.position"));
  assert_non_null(strstr(error.text, "sensor:red/arm.position"));
  assert_int_equal(find(state, "joint:arm.position", 0).source, TT_SIGNAL_JOINT_POSITION);
  assert_int_equal(find(state, "sensor:arm.position", 0).source, TT_SIGNAL_CHANNEL);
}

static void what_a_robot_file_declares_wins_the_short_name(void **state) {
  int command;
  tt_error error;
  assert_int_equal(tt_names_find_command(*state, "arm.torque", 0, "here", &command, &error), TT_OK);
  assert_int_equal(command, 1);
  assert_int_equal(tt_names_find_command(*state, "joint:arm.torque", 0, "here", &command, &error),
                   TT_OK);
  assert_int_equal(command, 0);
  assert_string_equal(tt_names_command(*state, 0), "joint:red/arm.torque");
  assert_string_equal(tt_names_command(*state, 1), "red/arm.torque");
}

static void the_nearest_name_is_suggested(void **state) {
  tt_signal signal;
  tt_error error;
  assert_int_equal(tt_names_find_signal(*state, "chasis.heading", 0, "here", &signal, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "did you mean 'red/chassis.heading'?"));
  assert_int_equal(tt_names_find_signal(*state, "zzzzzzzzzzzz", 0, "here", &signal, &error),
                   TT_INVALID);
  assert_null(strstr(error.text, "did you mean"));
  // Nearer than a name that looks like the robot's own "red/base.velocty".
  assert_int_equal(tt_names_find_signal(*state, "base.velocty", 0, "here", &signal, &error),
                   TT_INVALID);
  assert_non_null(strstr(error.text, "did you mean 'base.velocity'?"));
}

static void every_listed_name_leads_to_its_signal(void **state) {
  int count;
  const tt_signal_entry *list = tt_names_signals(*state, &count);
  assert_true(count > 60);
  for (int i = 0; i < count; i++) {
    tt_signal signal = find(state, list[i].name, TT_NO_ROBOT);
    assert_memory_equal(&signal, &list[i].signal, sizeof signal);
  }
  assert_int_equal(list[count - 1].signal.source, TT_SIGNAL_COMMAND);
}

static void headings_and_yaw_rates_come_from_the_rotation(void **state) {
  tt_view *view = tt_view_new(&model);
  double half = 0.4;
  view->body_rotation[1][0] = cos(half);
  view->body_rotation[1][3] = sin(half);
  view->body_spin[1][2] = -0.75;
  tt_signal heading = find(state, "red/chassis.heading", TT_NO_ROBOT);
  tt_signal yaw_rate = find(state, "red/chassis.yaw_rate", TT_NO_ROBOT);
  assert_true(fabs(tt_signal_read(&heading, view) - 2 * half) < 1e-12);
  assert_true(fabs(tt_signal_read(&yaw_rate, view) + 0.75) < 1e-12);
  /* Lying on its back (turned about x by 180°), its own z axis points down. */
  view->body_rotation[1][0] = 0;
  view->body_rotation[1][1] = 1;
  view->body_rotation[1][3] = 0;
  assert_true(fabs(tt_signal_read(&yaw_rate, view) - 0.75) < 1e-12);
  tt_view_free(view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(joints_and_bodies_own_their_scalars, make_names, free_names),
      cmocka_unit_test_setup_teardown(a_robot_may_leave_its_own_name_out, make_names, free_names),
      cmocka_unit_test_setup_teardown(a_name_with_two_meanings_is_refused_with_both, make_names,
                                      free_names),
      cmocka_unit_test_setup_teardown(what_a_robot_file_declares_wins_the_short_name, make_names,
                                      free_names),
      cmocka_unit_test_setup_teardown(the_nearest_name_is_suggested, make_names, free_names),
      cmocka_unit_test_setup_teardown(every_listed_name_leads_to_its_signal, make_names,
                                      free_names),
      cmocka_unit_test_setup_teardown(headings_and_yaw_rates_come_from_the_rotation, make_names,
                                      free_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

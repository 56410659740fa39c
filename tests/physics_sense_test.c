/* physics_sense_test.c: the ready scenes obey mechanics. No sockets: commands come through the mailbox.
 *
 * What single rooms show is not repeated: each joint of the arm alone and the servo's limit (physics_servo_test.c), a hanging
 * chain's joint forces (physics_step_test.c), the line of every motor (motor_test.c).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "app/guests.h"
#include "app/assemble.h"
#include "scene/scene.h"

#define IN_LBF 0.1129848290276167 /* N·m */
#define G 9.81
#define RADIUS 0.0762 /* m, of a wheel */

typedef struct rig {
  tt_scene *scene;
  tt_world *world;
} rig;

#define assert_close(value, expected, tolerance)                                                   \
  do {                                                                                             \
    double v_ = (value), e_ = (expected);                                                          \
    if (!(fabs(v_ - e_) <= (tolerance))) fail_msg(#value " is %.9g, not %.9g", v_, e_);            \
  } while (0)

static rig open_text(const char *text) {
  rig made = {0};
  tt_error error = {.text = ""};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &made.scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  if (tt_assemble(made.scene, &(tt_assembly){.no_wires = true}, &made.world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_world_start(made.world);
  return made;
}

/* A robot of the 2011 field at rest in its middle, between pieces. */
#define ON_THE_FIELD(robot)                                                                        \
  "arena: frc2011\ntimestep: 1/3000 s\nio_period: 10 ms\npace: fast\n"                             \
  "robots: [{robot: " robot ", name: r, x: -3.6 m, y: -0.95 m}]\nwires: []\n"

static void end(rig *rig) {
  tt_world_free(rig->world);
  tt_scene_free(rig->scene);
}

static void tick(rig *rig, int count) {
  tt_error error = {.text = ""};
  for (int i = 0; i < count; i++)
    if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static double value(const rig *rig, const char *name) {
  tt_signal signal;
  tt_error error = {.text = ""};
  if (tt_names_find_signal(tt_world_names(rig->world), name, TT_NO_ROBOT, "test", &signal,
                           &error) != TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(rig->world));
}

static void order(rig *rig, const char *name, double number) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .value = number, .source = "test"};
  tt_error error = {.text = ""};
  if (tt_names_find_command(tt_world_names(rig->world), name, TT_NO_ROBOT, "test", &mail.index,
                            &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_world_post(rig->world, &mail), TT_OK);
}

static void both_tracks(rig *rig, double left, double right) {
  order(rig, "left_track.torque", left * IN_LBF);
  order(rig, "right_track.torque", right * IN_LBF);
}

static double mass_of(const rig *rig, int robot) {
  const tt_model *model = tt_world_model(rig->world);
  double mass = 0;
  for (int i = 0; i < model->body_count; i++)
    if (model->bodies[i].robot == robot) mass += model->bodies[i].mass;
  return mass;
}

static void hold_the_arm(rig *rig) {
  order(rig, "arm.velocity", 0);
  order(rig, "wrist.velocity", 0);
}

/* --- the robot of 2011 --- */

/* F = m a with the wheels' inertia (0.012 kg·m² a side) and the rolling resistance that the model documents: 0.4 N·m
 * a side and 0.01 N·m·s/rad. */
static void equal_torques_accelerate_as_mass_says(void **state) {
  (void)state;
  rig rig = open_text(ON_THE_FIELD("frc2011"));
  hold_the_arm(&rig);
  tick(&rig, 50);
  double mass = mass_of(&rig, 0);
  assert_close(mass, 54.4, 0.05);
  both_tracks(&rig, 50, 50);
  tick(&rig, 10);
  double begin = value(&rig, "chassis.vx");
  double spin = value(&rig, "left_wheel.velocity");
  tick(&rig, 50);
  double acceleration = (value(&rig, "chassis.vx") - begin) / 0.5;
  spin = (spin + value(&rig, "left_wheel.velocity")) / 2;
  double force = 2 * (50 * IN_LBF - 0.4 - 0.01 * spin) / RADIUS;
  double expected = force / (mass + 2 * 0.012 / (RADIUS * RADIUS));
  assert_close(acceleration, expected, 0.05 * expected);
  end(&rig);
}

static void opposite_torques_turn_right_handed(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    rig rig = open_text(ON_THE_FIELD("frc2011"));
    hold_the_arm(&rig);
    tick(&rig, 50);
    double x = value(&rig, "chassis.x"), y = value(&rig, "chassis.y");
    both_tracks(&rig, -60 * sign, 60 * sign);
    tick(&rig, 60);
    assert_true(sign * value(&rig, "chassis.yaw_rate") > 0.3);
    assert_true(sign * value(&rig, "chassis.heading") > 0.05);
    assert_true(hypot(value(&rig, "chassis.x") - x, value(&rig, "chassis.y") - y) < 0.1);
    end(&rig);
  }
}

static void the_unpowered_arm_droops_and_positive_is_down(void **state) {
  (void)state;
  double free_fall, pushed;
  rig rig = open_text(ON_THE_FIELD("frc2011"));
  tick(&rig, 20);
  free_fall = value(&rig, "arm.position");
  assert_true(free_fall > 0.1);
  assert_true(value(&rig, "hand.z") < 1.06 - 0.1);
  end(&rig);
  rig = open_text(ON_THE_FIELD("frc2011"));
  order(&rig, "arm.torque", 5);
  tick(&rig, 20);
  pushed = value(&rig, "arm.position");
  assert_true(pushed > free_fall + 0.02);
  end(&rig);
}

static void two_hundred_and_fifty_inch_pounds_lift_a_tube(void **state) {
  (void)state;
  rig rig = open_text(
      "arena: frc2011\ntimestep: 1/3000 s\nio_period: 10 ms\npace: fast\n"
      "robots: [{robot: frc2011, name: r, x: -1.15 m, y: 1.9 m}]\nwires: []\n");
  order(&rig, "arm.velocity", 1);
  order(&rig, "wrist.velocity", 0);
  for (int i = 0; i < 300 && value(&rig, "grip.held") == 0; i++) {
    order(&rig, "grip", 1);
    if (value(&rig, "arm.position") > 0.95) order(&rig, "arm.velocity", 0);
    tick(&rig, 1);
  }
  assert_true(value(&rig, "grip.held") == 1);
  double low = value(&rig, "circle2.z");
  order(&rig, "arm.torque", -250 * IN_LBF);
  tick(&rig, 100);
  assert_true(value(&rig, "arm.position") < 0);
  assert_true(value(&rig, "circle2.z") > low + 0.7);
  assert_true(value(&rig, "grip.held") == 1);
  /* Let go, it falls at g. */
  tick(&rig, 40);
  order(&rig, "grip", 0);
  tick(&rig, 3);
  double speed = value(&rig, "circle2.vz"), height = value(&rig, "circle2.z");
  tick(&rig, 10);
  assert_close(value(&rig, "circle2.vz"), speed - 0.1 * G, 0.02 * 0.1 * G);
  assert_close(value(&rig, "circle2.z"), height + speed * 0.1 - G * 0.005, 0.002);
  end(&rig);
}

/* Free speed and stall torque of the scene's motors, from the line of two CIMs in first gear: free 5310 rpm / 12.75;
 * stalled, the current limit of 40 A a motor leaves 2.42 × 40 / 133 N·m each. */
static void motors_reach_free_speed_and_stall_torque(void **state) {
  (void)state;
  rig rig = open_text(
      "timestep: 1/3000 s\nio_period: 1/3000 s\npace: fast\n"
      "robots: [{robot: frc2011-motors, name: r, z: 2 m}]\nwires: []\n");
  double free_speed = 5310 * 2 * M_PI / 60 / 12.75;
  double limited = 2 * 12.75 * 0.85 * 2.42 * 40 / 133;
  order(&rig, "left_track.duty", 1);
  tick(&rig, 1);
  assert_close(value(&rig, "left_track.torque"), limited, 0.01 * limited);
  double stall = 2 * 12.75 * 0.85 * 2.42;
  /* The frictions that the model documents, 0.4 N·m and 0.01 N·m·s/rad, hold against it. */
  double least = stall / (stall / free_speed + 0.01);
  least -= 0.4 / (stall / free_speed + 0.01);
  double fastest = 0;
  for (int i = 0; i < 1650; i++) { /* in the air until it lands */
    tick(&rig, 1);
    fastest = fmax(fastest, value(&rig, "left_wheel.velocity"));
  }
  assert_close(fastest, free_speed, 0.03 * free_speed);
  assert_close(fastest, least, 0.02 * least);
  end(&rig);
}

/* --- contacts, joints, free bodies --- */

/* Forces on the robot at rest add up to its weight, which they only can if those inside it (own contacts, joints) cancel;
 * what a joint does to a child it does to the parent the other way round. */
static void forces_inside_a_robot_cancel(void **state) {
  (void)state;
  const char *text =
      "arena: ezphysics\ntimestep: 1/500 s\nio_period: 10 ms\npace: lockstep\n"
      "robots: [{robot: creature}]\nwires: [{ezphysics: {listen: '127.0.0.1:0'}}]\n";
  rig rig = open_text(text);
  tick(&rig, 500);
  const tt_model *model = tt_world_model(rig.world);
  const tt_view *view = tt_world_view(rig.world);
  double up = 0;
  int links = 0;
  for (int b = 1; b < model->body_count; b++) {
    if (model->bodies[b].robot != 0) continue;
    up += view->body_force[b][2];
    const tt_feedback *link = &view->feedback[b];
    links += fabs(link->force[2]) > 1e-3;
    for (int k = 0; k < 3; k++) assert_close(link->force[k], -link->parent_force[k], 1e-9);
  }
  assert_true(links >= 8);
  double weight = mass_of(&rig, 0) * G;
  assert_close(up, weight, 0.02 * weight);
  end(&rig);
}

static void contact_forces_are_opposite_and_carry_the_weight(void **state) {
  (void)state;
  rig rig = open_text(ON_THE_FIELD("frc2011"));
  hold_the_arm(&rig);
  tick(&rig, 200);
  const tt_view *view = tt_world_view(rig.world);
  const tt_model *model = tt_world_model(rig.world);
  double up = 0;
  for (int i = 0; i < view->contact_count; i++) {
    const tt_contact *contact = &view->contacts[i];
    int one = model->bodies[contact->body1].robot, other = model->bodies[contact->body2].robot;
    assert_true(contact->body1 != contact->body2);
    if ((one == 0) == (other == 0)) continue;
    up += (other == 0 ? 1 : -1) *
          contact->force[2]; /* as it acts on body 2; on body 1 the opposite */
  }
  double weight = mass_of(&rig, 0) * G;
  assert_close(up, weight, 0.02 * weight);
  end(&rig);
}

static void a_free_bodys_velocity_integrates_to_its_position(void **state) {
  (void)state;
  rig rig = open_text(ON_THE_FIELD("frc2011"));
  hold_the_arm(&rig);
  both_tracks(&rig, 40, 55);
  double x = value(&rig, "chassis.x"), y = value(&rig, "chassis.y"), heading = 0;
  double vx = value(&rig, "chassis.vx"), vy = value(&rig, "chassis.vy"), rate = 0;
  for (int i = 0; i < 100; i++) {
    tick(&rig, 1);
    x += 0.005 * (vx + value(&rig, "chassis.vx"));
    y += 0.005 * (vy + value(&rig, "chassis.vy"));
    heading += 0.005 * (rate + value(&rig, "chassis.yaw_rate"));
    vx = value(&rig, "chassis.vx");
    vy = value(&rig, "chassis.vy");
    rate = value(&rig, "chassis.yaw_rate");
  }
  assert_true(hypot(vx, vy) > 0.5);
  assert_close(x, value(&rig, "chassis.x"), 0.01);
  assert_close(y, value(&rig, "chassis.y"), 0.01);
  assert_close(heading, value(&rig, "chassis.heading"), 0.01);
  end(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_torques_accelerate_as_mass_says),
      cmocka_unit_test(opposite_torques_turn_right_handed),
      cmocka_unit_test(the_unpowered_arm_droops_and_positive_is_down),
      cmocka_unit_test(two_hundred_and_fifty_inch_pounds_lift_a_tube),
      cmocka_unit_test(motors_reach_free_speed_and_stall_torque),
      cmocka_unit_test(forces_inside_a_robot_cancel),
      cmocka_unit_test(contact_forces_are_opposite_and_carry_the_weight),
      cmocka_unit_test(a_free_bodys_velocity_integrates_to_its_position),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

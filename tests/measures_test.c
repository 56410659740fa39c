/* measures_test.c: the measures of the robot `sharp` and the keys of its file, set from outside, in the world that they
 * make. */
#include "app/assemble.h"
#include "app/guests.h"
#include "scene/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char scene_text[] =
    "timestep: 1/1000 s\nio_period: 10 ms\npace: fast\nrobots: [{robot: sharp}]\n";

typedef struct rig {
  tt_scene *scene;
  tt_world *world;
} rig;

static rig open_rig(const char *const *settings, int count) {
  rig made;
  tt_error error = {""};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", scene_text,
                     strlen(scene_text), settings, count, &made.scene, &error) != TT_OK ||
      tt_assemble(made.scene, &(tt_assembly){0}, &made.world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_world_start(made.world);
  return made;
}

static void close_rig(rig *rig) {
  tt_world_free(rig->world);
  tt_scene_free(rig->scene);
}

static double value(const rig *rig, const char *name) {
  tt_signal signal;
  tt_error error;
  if (tt_names_find_signal(tt_world_names(rig->world), name, 0, "test", &signal, &error) != TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(rig->world));
}

/** Drives with these duties (drive, elevator). */
static void drive(rig *rig, double duty, double lift, int ticks) {
  static const char *const names[] = {"left_drive.duty", "right_drive.duty", "elevator.duty"};
  tt_error error;
  for (int i = 0; i < 3; i++) {
    int command;
    assert_int_equal(
        tt_names_find_command(tt_world_names(rig->world), names[i], 0, "test", &command, &error),
        TT_OK);
    tt_world_post(rig->world, &(tt_mail){.kind = TT_MAIL_COMMAND,
                                         .index = command,
                                         .value = i < 2 ? duty : lift,
                                         .source = "test"});
  }
  for (int i = 0; i < ticks; i++)
    if (tt_world_tick(rig->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static double mass(const rig *rig) {
  const tt_model *model = tt_world_model(rig->world);
  double sum = 0;
  for (int i = 1; i < model->body_count; i++)
    if (model->bodies[i].robot == 0) sum += model->bodies[i].mass;
  return sum;
}

/** The size of a shape by its name, m. */
static const double *size_of(const rig *rig, const char *name) {
  const tt_scenery *scenery = tt_world_scenery(rig->world);
  for (int i = 0; i < scenery->shape_count; i++)
    if (strcmp(scenery->shapes[i].name, name) == 0) return scenery->shapes[i].size;
  fail_msg("no shape %s", name);
  return NULL;
}

static void the_files_own_measures_change_nothing(void **state) {
  (void)state;
  static const char *const none[] = {"robots.sharp.measures=[]"};
  rig with = open_rig(NULL, 0), without = open_rig(none, 1);
  assert_true(fabs(mass(&with) - 48.3) < 1e-9);
  drive(&with, 0.5, 0.5, 50);
  drive(&without, 0.5, 0.5, 50);
  assert_true(tt_world_hash(with.world) == tt_world_hash(without.world));
  close_rig(&with);
  close_rig(&without);
}

static void measures_and_motors_reach_the_vehicle(void **state) {
  (void)state;
  static const char *const settings[] = {
      "robots.sharp.measures.width.value=32 in",
      "robots.sharp.measures.depth.value=30 in",
      "robots.sharp.measures.track.value=29 in",
      "robots.sharp.measures.wheel_radius.value=4 in",
      "robots.sharp.measures.lift_travel.value=12 in",
      "robots.sharp.measures.mass.value=130 lb",
      "robots.sharp.motors.left_drive.free_speed=300 rpm",
      "robots.sharp.motors.right_drive.free_speed=300 rpm",
      "robots.sharp.encoders.elevator_encoder.to=12 in",
  };
  rig rig = open_rig(settings, sizeof settings / sizeof *settings);
  assert_true(fabs(mass(&rig) - 130 * 0.45359237) < 1e-6);
  assert_true(fabs(size_of(&rig, "sharp/frame_solid")[0] - 15 * 0.0254) < 1e-6);
  assert_true(fabs(size_of(&rig, "sharp/left_tread")[0] - 4 * 0.0254) < 1e-6);
  drive(&rig, 0, 1, 100);
  assert_true(fabs(value(&rig, "left_wheels.y") - 14.5 * 0.0254) < 1e-3);
  assert_true(fabs(value(&rig, "left_wheels.z") - 4 * 0.0254) < 2e-3);
  assert_true(fabs(value(&rig, "elevator.position") - 12 * 0.0254) < 2e-3);
  assert_true(value(&rig, "elevator_encoder.ticks") >= 1022);
  drive(&rig, 1, 0, 200);
  double fastest = 300 / 60.0 * 2 * 3.14159265358979 * 4 * 0.0254; /* m/s */
  assert_true(value(&rig, "chassis.vx") > 0.9 * fastest);
  assert_true(value(&rig, "chassis.vx") < fastest);
  close_rig(&rig);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_files_own_measures_change_nothing),
      cmocka_unit_test(measures_and_motors_reach_the_vehicle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

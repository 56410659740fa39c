/* What joints say of bodies is what physics says: on every scene, and on a model with every kind of joint. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "app/assemble.h"
#include "app/guests.h"
#include "scene/data.h"
#include "scene/scene.h"
#include "model/kinematics.h"
#include "base/log.h"

#define TICKS (40 / TETHER_FEWER)

static double next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

/* Commands within their ranges that let things move. */
static void post_inputs(tt_world *world, uint64_t *state) {
  const tt_model *model = tt_world_model(world);
  for (int i = 0; i < 8; i++) {
    int index = (int)(next_random(state) * model->command_count);
    const tt_command *command = &model->commands[index];
    double lower = fmax(command->lower, -4), upper = fmin(command->upper, 4);
    if (command->kind == TT_COMMAND_RESET || command->kind == TT_COMMAND_PAUSE) continue;
    tt_world_post(world, &(tt_mail){.kind = TT_MAIL_COMMAND,
                                    .index = index,
                                    .value = lower + (upper - lower) * next_random(state),
                                    .source = "test"});
  }
}

static double worst(const double *a, const double *b, int count) {
  double most = 0;
  for (int i = 0; i < count; i++) most = fmax(most, fabs(a[i] - b[i]));
  return most;
}

/* Forgets what follows from joints, and makes it again. */
static void check_view(const tt_scene *scene, const tt_view *view, tt_view *again) {
  const tt_model *model = view->model;
  tt_view_copy(again, view);
  for (int b = 1; b < model->body_count; b++) {
    if (model->bodies[b].own) continue;
    memset(again->body_position[b], 0x55, 3 * sizeof(double));
    memset(again->body_rotation[b], 0x55, 4 * sizeof(double));
    memset(again->body_velocity[b], 0x55, 3 * sizeof(double));
    memset(again->body_spin[b], 0x55, 3 * sizeof(double));
  }
  tt_kinematics(again);
  for (int b = 1; b < model->body_count; b++) {
    double error = worst(view->body_position[b], again->body_position[b], 3);
    error = fmax(error, worst(view->body_rotation[b], again->body_rotation[b], 4));
    error = fmax(error, worst(view->body_velocity[b], again->body_velocity[b], 3));
    error = fmax(error, worst(view->body_spin[b], again->body_spin[b], 3));
    if (!(error < 1e-9))
      fail_msg("%s: %s is off by %g at %g s", scene->path, model->bodies[b].name, error,
               view->time);
  }
}

static void check_scene(tt_scene *scene) {
  tt_world *world;
  tt_error error = {.text = ""};
  uint64_t state = 1;
  if (tt_assemble(scene, &(tt_assembly){.no_wires = true}, &world, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_view *again = tt_view_new(tt_world_model(world));
  tt_world_start(world);
  for (int i = 0; i < TICKS; i++) {
    post_inputs(world, &state);
    check_view(scene, tt_world_view(world), again);
    if (tt_world_tick(world, &error) != TT_OK) break; /* it diverged */
  }
  tt_view_free(again);
  tt_world_free(world);
}

static void every_scene(void **state) {
  (void)state;
  char **names = tt_data_list(&tt_data_scene);
  assert_non_null(names);
  for (char **name = names; *name; name++) {
    tt_scene *scene;
    tt_error error = {.text = ""};
    if (tt_scene_load(&tt_program_guests, *name, NULL, 0, &scene, &error) != TT_OK)
      fail_msg("%s", error.text);
    check_scene(scene);
    tt_scene_free(scene);
    free(*name);
  }
  free(names);
}

/* Anchors off the origin, several joints a body, references, a ball, a turned base, something that floats. */
static const char model_text[] =
    "<mujoco><compiler angle='radian'/><worldbody>"
    "<body name='base' pos='1 2 1' quat='0.8 0.2 0.4 0.4'>"
    "<joint name='a' type='slide' axis='1 0 1' ref='0.2'/>"
    "<joint name='b' type='hinge' axis='0 1 0' pos='0.1 0.2 0.3' ref='0.5'/>"
    "<joint name='c' type='hinge' axis='1 1 0' pos='-0.2 0 0.1'/><geom size='0.1'/>"
    "<body name='plate' pos='0.3 0 0.2' quat='0.5 0.5 -0.5 0.5'><geom size='0.05'/>"
    "<body name='ball' pos='0 0.4 0'><joint name='d' type='ball' pos='0 0.1 0'/>"
    "<geom size='0.06'/>"
    "<body name='tip' pos='0.2 0 0'><joint name='e' type='slide' axis='0 0 1'/>"
    "<geom size='0.04'/></body></body></body></body>"
    "<body name='loose' pos='3 0 2'><freejoint/><geom size='0.1'/>"
    "<body name='rotor' pos='0 0 0.2'><joint name='f' axis='0 0 1'/><geom size='0.02'/></body>"
    "</body></worldbody></mujoco>";

static void every_kind_of_joint(void **state) {
  (void)state;
  char folder[] = "/tmp/tether_kinematics_XXXXXX", path[64], text[200];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/robot.xml", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(model_text, file);
  fclose(file);
  snprintf(text, sizeof text,
           "timestep: 1/1000 s\nio_period: 5 ms\npace: fast\n"
           "robots: [{robot: %s, name: r, x: 1 m, heading: 40 deg}]\n",
           path);
  tt_scene *scene;
  tt_error error = {.text = ""};
  if (tt_scene_parse(&tt_program_guests, TETHER_SOURCE_DIR "/scenes/test.yaml", text, strlen(text),
                     NULL, 0, &scene, &error) != TT_OK)
    fail_msg("%s", error.text);
  check_scene(scene);
  tt_scene_free(scene);
  unlink(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_kind_of_joint),
      cmocka_unit_test(every_scene),
  };
  tt_log_set_level(TT_LOG_ERROR);
  return cmocka_run_group_tests(tests, NULL, NULL);
}

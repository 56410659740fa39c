/* Values of a model that are changed after compiling: as if the file had said so, in one simulation alone, and back. */
#include "base/hash.h"
#include "engine/mujoco/physics_internal.h"
#include "engine/mujoco/physics_testing.h"

#include <unistd.h>

static int index_of(const tt_physics *p, const char *name) {
  for (int i = 0; i < p->fixed->value_count; i++)
    if (strcmp(p->fixed->values[i].name, name) == 0) return i;
  fail_msg("no value %s", name);
  return -1;
}

static void set(tt_physics *p, const char *name, double value) {
  double values[256];
  tt_error error = {""};
  assert_true(p->fixed->value_count < 256);
  memcpy(values, p->values, sizeof(double) * (size_t)p->fixed->value_count);
  values[index_of(p, name)] = value;
  if (tt_physics_set_values(p, values, &error) != TT_OK) fail_msg("%s", error.text);
}

/* The cart with one text of its file replaced. */
static tt_physics *load_changed(const char *old, const char *new) {
  char text[16384], path[] = "/tmp/tether-values-XXXXXX.xml";
  FILE *file = fopen(DATA "cart.xml", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  char *at = strstr(text, old);
  assert_non_null(at);
  int made = mkstemps(path, 4);
  file = fdopen(made, "w");
  fprintf(file, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
  fclose(file);
  tt_physics *p = load_robot(path, NULL, 1000);
  unlink(path);
  return p;
}

static void compare(const char *array, const double *a, const double *b, int count) {
  for (int i = 0; i < count; i++)
    if (!(fabs(a[i] - b[i]) <= 1e-9 * fabs(b[i]) + 1e-12))
      fail_msg("%s[%d] is %.12g, not %.12g", array, i, a[i], b[i]);
}

static void as_compiled(const char *name, double value, const char *old, const char *new) {
  tt_physics *p = load_robot(DATA "cart.xml", NULL, 1000), *wanted = load_changed(old, new);
  inputs in = {0};
  in.drives[axis_named(p, "arm")] = (tt_drive){TT_DRIVE_TORQUE, 7, 0, 0};
  in.controls[0] = 0.7;
  set(p, name, value);
  const mjModel *m = p->model;
#define COMPARE(array, count) compare(#array, m->array, wanted->model->array, (int)(count));
  PHYSICS_CONSTANT_ARRAYS(COMPARE)
#undef COMPARE
  compare("body_mass", m->body_mass, wanted->model->body_mass, m->nbody);
  compare("body_inertia", m->body_inertia, wanted->model->body_inertia, 3 * m->nbody);
  step(p, &in, 200);
  step(wanted, &in, 200);
  for (int i = 0; i < m->nq; i++) assert_close(p->qpos[i], wanted->qpos[i], 1e-7);
  tt_physics_free(p);
  tt_physics_free(wanted);
}

static void values_do_what_the_file_would(void **state) {
  (void)state;
  as_compiled("models.robot.bodies.chassis.mass", 80, "mass=\"40\"", "mass=\"80\"");
  as_compiled("models.robot.actuators.winch.gear", 20, "gear=\"10\"", "gear=\"20\"");
  as_compiled("models.robot.joints.arm.damping", 3, "range=\"-1.2 1.2\"",
              "range=\"-1.2 1.2\" damping=\"3\"");
  as_compiled("models.robot.joints.arm.stiffness", 50, "range=\"-1.2 1.2\"",
              "range=\"-1.2 1.2\" stiffness=\"50\"");
  as_compiled("models.robot.joints.arm.friction", 4, "range=\"-1.2 1.2\"",
              "range=\"-1.2 1.2\" frictionloss=\"4\"");
  as_compiled("models.robot.joints.arm.armature", 0.5, "range=\"-1.2 1.2\"",
              "range=\"-1.2 1.2\" armature=\"0.5\"");
}

static uint64_t shared_hash(const tt_physics *p) {
  return tt_hash_bytes(TT_HASH_START, p->fixed->model->buffer, (size_t)p->fixed->model->nbuffer);
}

static void other_simulations_notice_nothing(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000), *other = tt_physics_clone(p);
  const uint64_t shared = shared_hash(p);
  inputs in = {0};
  in.drives[axis_named(p, "a/left_front")] = (tt_drive){TT_DRIVE_TORQUE, 3, 0, 0};
  step(other, &in, 100);
  const uint64_t hash = tt_physics_hash(other);
  tt_physics_reset(other);
  set(p, "models.a.bodies.chassis.mass", 60);
  set(p, "models.arena.bodies.ball.friction", 0.01);
  set(p, "models.a.bodies.fl.friction", 3);
  assert_close(p->model->geom_friction[3 * p->model->body_geomadr[body_named(p, "a/fl")]], 3, 0);
  assert_int_equal(p->model->geom_priority[p->model->body_geomadr[body_named(p, "a/fl")]],
                   p->fixed->surface_priority);
  step(p, &in, 100);
  step(other, &in, 100);
  assert_true(tt_physics_hash(other) == hash);
  assert_true(tt_physics_hash(p) != hash);
  assert_true(shared_hash(p) == shared);
  tt_physics_reset(p); /* leaves values as they are */
  assert_close(p->model->body_mass[body_named(p, "a/chassis")], 60, 0);
  set(p, "models.a.bodies.chassis.mass", 40);
  set(p, "models.arena.bodies.ball.friction",
      p->fixed->values[index_of(p, "models.arena.bodies.ball.friction")].own);
  set(p, "models.a.bodies.fl.friction", TT_AS_MODELLED);
  tt_physics_reset(p);
  step(p, &in, 100);
  assert_true(tt_physics_hash(p) == hash);
  tt_physics_free(p);
  tt_physics_free(other);
}

/* A body far from all others is left out of the search for contacts; its friction is set none the less. */
static void friction_of_what_is_left_out_is_set(void **state) {
  (void)state;
  tt_physics *p = load_field(2, true, 1000);
  const int ball = body_named(p, "ball"), geom = p->model->body_geomadr[ball];
  p->model->body_geomnum[ball] = 0; /* as culling does */
  set(p, "models.arena.bodies.ball.friction", 0.25);
  assert_close(p->model->geom_friction[3 * geom], 0.25, 0);
  assert_int_equal(p->model->geom_priority[geom], p->fixed->surface_priority);
  tt_physics_free(p);
}

/* A slope of 20 degrees, on which things slide whose friction is less than 0.364. */
static const char SLOPE[] =
    "<mujoco><option gravity='3.3552 0 -9.2184'/><worldbody><body name='box' pos='0 0 0.0999'>"
    "<freejoint/><geom type='box' pos='0 0 0.1' size='0.2 0.2 0.1' friction='0.3'/>"
    "<geom type='box' size='0.2 0.2 0.1' mass='2' friction='0.2'/></body></worldbody></mujoco>";

static double slid(tt_physics *p, double friction) {
  inputs in = {0};
  set(p, "models.r.bodies.box.friction", friction);
  tt_physics_reset(p);
  step(p, &in, 1000);
  return p->data->qpos[0];
}

/* Set to the number that one of its geoms has, it counts as set: of all geoms, and over the floor's, which is 1. */
static void friction_of_the_models_own_number_is_set(void **state) {
  (void)state;
  char path[] = "/tmp/tether-test-XXXXXX.xml";
  FILE *f = fdopen(mkstemps(path, 4), "w");
  fputs(SLOPE, f);
  fclose(f);
  const tt_engine_robot robot = {.name = "r", .model_file = path};
  const tt_engine_spec spec = {
      .robots = &robot, .robot_count = 1, .timestep_num = 1, .timestep_den = 1000};
  tt_physics *p = load_spec(&spec);
  remove(path);
  const tt_value *value = &p->fixed->values[index_of(p, "models.r.bodies.box.friction")];
  assert_close(value->own, TT_AS_MODELLED, 0);
  assert_close(value->modelled, 0.3, 0);
  const double frictions[] = {0.19, 0.2, 0.25, 0.3};
  for (size_t i = 0; i < sizeof frictions / sizeof *frictions; i++) {
    const double way = 0.5 * (3.3552 - frictions[i] * 9.2184);
    assert_close(slid(p, frictions[i]), way, 0.03 * way);
    assert_close(slid(p, TT_AS_MODELLED), 0, 0.01);
  }
  assert_close(slid(p, 1), 0, 0.01);
  tt_physics_free(p);
}

static void constants_are_kept(void **state) {
  (void)state;
  tt_physics *p = load_robot(DATA "cart.xml", NULL, 1000);
  for (int i = 0; i < 200; i++) set(p, "models.robot.bodies.chassis.mass", 41 + i);
  const double constant = p->model->body_invweight0[2 * body_named(p, "chassis")];
  const void *newest = p->fixed->constants;
  set(p, "models.robot.joints.arm.damping", 1); /* no constant follows from it */
  set(p, "models.robot.bodies.chassis.mass", 239);
  set(p, "models.robot.bodies.chassis.mass", 240);
  assert_ptr_equal(p->fixed->constants, newest);
  assert_close(p->model->body_invweight0[2 * body_named(p, "chassis")], constant, 0);
  assert_close(p->model->dof_damping[p->fixed->axis_dof[axis_named(p, "arm")]], 1, 0);
  tt_physics_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_do_what_the_file_would),
      cmocka_unit_test(other_simulations_notice_nothing),
      cmocka_unit_test(friction_of_what_is_left_out_is_set),
      cmocka_unit_test(friction_of_the_models_own_number_is_set),
      cmocka_unit_test(constants_are_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* values_test.c: values of the models, as a program sees them. */
#include "engine/mujoco/physics_internal.h"
#include "library/library.h"
#include "library/library_testing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void set(tether_sim *sim, const char *name, const char *unit, double value) {
  tether_handle handle;
  good(tether_value_find(sim, name, unit, &handle, &error));
  good(tether_sim_set_values(sim, &handle, &value, 1, &error));
}

static double get(const tether_sim *sim, const char *name) {
  tether_handle handle;
  double value;
  good(tether_value_find(sim, name, NULL, &handle, &error));
  good(tether_sim_get_values(sim, &handle, &value, 1, &error));
  return value;
}

/* Swings for some steps; where it is then. */
static uint64_t swing(tether_sim *sim, int steps) {
  tether_handle torque;
  double value = 20;
  good(tether_command_find(sim, "base.torque", NULL, &torque, &error));
  good(tether_sim_apply(sim, &torque, &value, 1, &error));
  good(tether_sim_step(sim, steps, &error));
  return tether_sim_hash(sim);
}

#define MASS "models.gripper.bodies.forearm.mass"
#define DAMPING "models.gripper.joints.base.damping"

static void all_of_them_are_listed(void **state) {
  (void)state;
  tether_scene *scene = load("frc2011-sensors");
  tether_sim *sim = sim_of(scene);
  tether_item item;
  int seen = 0;
  for (int i = 0; tether_sim_value_item(sim, i, &item) == TETHER_OK; i++, seen++) {
    tether_handle handle;
    assert_int_equal(strncmp(item.name, "models.", 7), 0);
    assert_true(item.lower < item.upper);
    good(tether_value_find(sim, item.name, item.unit, &handle, &error));
    const double present = get(sim, item.name);
    assert_true(isfinite(present));
  }
  assert_int_equal(seen, tether_sim_value_count(sim));
  assert_true(seen > 50);
  assert_true(get(sim, "models.frc2011-sensors.gyros.gyro.noise") >= 0);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

static void a_setting_is_a_value_that_it_begins_with(void **state) {
  (void)state;
  tether_scene *plain = load("gripper"), *heavy = load_with("gripper", MASS "=20 lb");
  tether_sim *first = sim_of(plain), *second = sim_of(heavy);
  assert_true(fabs(get(second, MASS) - 20 * 0.45359237) < 1e-12);
  assert_true(get(first, MASS) < 5);
  assert_true(tether_sim_hash(first) != tether_sim_hash(second));
  set(first, MASS, "lb", 20);
  assert_true(tether_sim_hash(first) == tether_sim_hash(second));
  assert_true(swing(first, 100) == swing(second, 100));
  tether_sim_free(first);
  tether_sim_free(second);
  tether_scene_free(plain);
  tether_scene_free(heavy);
}

static void resets_leave_them_and_states_have_them(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *other = sim_of(scene), *clone;
  const double own = get(sim, MASS), damping = get(sim, DAMPING);
  const size_t size = tether_sim_state_size(sim);
  void *saved = malloc(size);
  const uint64_t plain = swing(other, 50);
  set(sim, MASS, NULL, 9);
  set(sim, DAMPING, NULL, 30);
  const uint64_t heavy = swing(sim, 50);
  assert_true(heavy != plain);
  good(tether_sim_reset(sim, NULL, &error));
  assert_true(get(sim, MASS) == 9);
  assert_true(swing(sim, 50) == heavy);
  good(tether_sim_save(sim, saved, size, &error));
  good(tether_sim_clone(sim, &clone, &error));
  const uint64_t later = swing(sim, 50);
  assert_true(swing(clone, 50) == later);
  good(tether_sim_restore(other, saved, size, &error));
  assert_true(get(other, MASS) == 9 && get(other, DAMPING) == 30);
  assert_true(swing(other, 50) == later);
  /* The model's own again: as if nothing had been. */
  set(other, MASS, NULL, own);
  set(other, DAMPING, NULL, damping);
  good(tether_sim_reset(other, NULL, &error));
  assert_true(swing(other, 50) == plain);
  /* A state that is not one changes none. */
  ((char *)saved)[size - 1] ^= 1;
  memset((char *)saved + 56, 0xff, 8); /* the first value: not a number */
  const uint64_t before = tether_sim_hash(other);
  assert_int_equal(tether_sim_restore(other, saved, size, &error), TETHER_INVALID);
  assert_true(tether_sim_hash(other) == before);
  free(saved);
  tether_sim_free(sim);
  tether_sim_free(other);
  tether_sim_free(clone);
  tether_scene_free(scene);
}

/* As version 3 wrote them: no values, other magic. */
static void older_states_have_those_of_the_scene(void **state) {
  (void)state;
  tether_scene *scene = load_with("gripper", MASS "=7");
  tether_sim *sim = sim_of(scene), *other = sim_of(scene);
  const size_t head = 7 * sizeof(uint64_t),
               values = sizeof(double) * (size_t)tether_sim_value_count(sim),
               size = tt_sim_state_size(sim->sim);
  unsigned char *saved = malloc(size);
  swing(sim, 50);
  tt_sim_save(sim->sim, saved);
  memcpy(saved, "TETTS03", 8);
  memmove(saved + head, saved + head + values, size - head - values);
  set(other, MASS, NULL, 3);
  assert_int_equal(tt_sim_restore(other->sim, saved, size - values, NULL), TT_OK);
  assert_true(get(other, MASS) == 7);
  assert_true(swing(sim, 50) == swing(other, 50));
  free(saved);
  tether_sim_free(sim);
  tether_sim_free(other);
  tether_scene_free(scene);
}

#define FRICTION "models.gripper.bodies.forearm.friction"

static double modelled_friction(const tether_sim *sim) {
  int index, count;
  assert_int_equal(tt_sim_find_value(sim->sim, FRICTION, "", &index, NULL), TT_OK);
  return tt_sim_values(sim->sim, &count)[index].modelled;
}

static void friction_can_be_unset(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene);
  tether_handle handle;
  const double negative = -0.5;
  const uint64_t unset = tether_sim_hash(sim);
  assert_true(get(sim, FRICTION) == -1);
  set(sim, FRICTION, NULL, modelled_friction(sim));
  assert_true(get(sim, FRICTION) == modelled_friction(sim));
  assert_true(tether_sim_hash(sim) != unset);
  set(sim, FRICTION, NULL, -1);
  assert_true(tether_sim_hash(sim) == unset);
  good(tether_value_find(sim, FRICTION, NULL, &handle, &error));
  assert_int_equal(tether_sim_set_values(sim, &handle, &negative, 1, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, "0 to 100, or -1 for what the model says"));
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* Version 5 wrote the model's own number for a friction that is not set. */
static void frictions_of_older_states_are_unset(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *other = sim_of(scene);
  const size_t size = tt_sim_state_size(sim->sim);
  unsigned char *saved = malloc(size);
  set(sim, FRICTION, NULL, modelled_friction(sim));
  tt_sim_save(sim->sim, saved);
  assert_int_equal(tt_sim_restore(other->sim, saved, size, NULL), TT_OK);
  assert_true(get(other, FRICTION) == modelled_friction(sim));
  memcpy(saved, "TETTS05", 8);
  assert_int_equal(tt_sim_restore(other->sim, saved, size, NULL), TT_OK);
  assert_true(get(other, FRICTION) == -1);
  free(saved);
  tether_sim_free(sim);
  tether_sim_free(other);
  tether_scene_free(scene);
}

static void one_of_a_batch_is_changed_alone(void **state) {
  (void)state;
  enum { COUNT = 4 };
  static const char *const commands[] = {"base.torque"}, *const signals[] = {"base.position"};
  double in[COUNT] = {20, 20, 20, 20}, out[COUNT];
  tether_scene *scene = load("gripper");
  tether_batch *batch;
  good(tether_batch_new(scene, COUNT, 2, commands, 1, signals, 1, &batch, &error));
  set(tether_batch_sim(batch, 2), MASS, NULL, 9);
  for (int i = 0; i < 10; i++) good(tether_batch_step(batch, in, 10, out, &error));
  assert_true(out[0] == out[1] && out[0] == out[3]);
  assert_true(out[2] != out[0]);
  good(tether_batch_reset(batch, NULL, NULL, NULL, &error));
  assert_true(get(tether_batch_sim(batch, 2), MASS) == 9);
  tether_batch_free(batch);
  tether_scene_free(scene);
}

static void noise_is_a_value_too(void **state) {
  (void)state;
  tether_scene *scene = load("frc2011-sensors");
  tether_sim *sim = sim_of(scene);
  tether_handle rate;
  double quiet, loud;
  set(sim, "models.frc2011-sensors.gyros.gyro.noise", NULL, 0);
  set(sim, "models.frc2011-sensors.gyros.gyro.bias", NULL, 0);
  good(tether_signal_find(sim, "gyro.rate", NULL, &rate, &error));
  good(tether_sim_step(sim, 1, &error));
  good(tether_sim_read(sim, &rate, &quiet, 1, &error));
  set(sim, "models.frc2011-sensors.gyros.gyro.bias", "rad/s", 100);
  good(tether_sim_step(sim, 1, &error));
  good(tether_sim_read(sim, &rate, &loud, 1, &error));
  assert_true(fabs(quiet) < 1 && loud > 99);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

/* MuJoCo gives up over new values: an error, and after a reset the old ones hold. */
static void a_failure_leaves_the_old_ones(void **state) {
  (void)state;
  tether_scene *scene = load("gripper");
  tether_sim *sim = sim_of(scene), *other = sim_of(scene);
  tether_handle handle;
  const double own = get(sim, MASS), heavy = 50;
  const uint64_t plain = swing(other, 50);
  good(tether_value_find(sim, MASS, NULL, &handle, &error));
  ((tt_physics *)tt_sim_engine(sim->sim))->data->nstack = 0;
  assert_int_equal(tether_sim_set_values(sim, &handle, &heavy, 1, &error), TETHER_FAILED);
  assert_non_null(strstr(error.text, "MuJoCo failed"));
  good(tether_sim_reset(sim, NULL, &error));
  assert_true(get(sim, MASS) == own);
  assert_true(swing(sim, 50) == plain);
  tether_sim_free(sim);
  tether_sim_free(other);
  tether_scene_free(scene);
}

/* Twice the gear: the same voltage turns the wheels half as fast. */
static void a_motors_gear_is_a_value(void **state) {
  (void)state;
  static const char name[] = "models.frc2011.motors.wrist.gear";
  tether_scene *scene = load("frc2011-motors");
  tether_sim *sim = sim_of(scene);
  tether_handle duty, speed;
  double half = 0.5, speeds[2];
  good(tether_command_find(sim, "wrist.duty", NULL, &duty, &error));
  good(tether_signal_find(sim, "wrist.velocity", NULL, &speed, &error));
  const double gear = get(sim, name);
  for (int i = 0; i < 2; i++) {
    set(sim, name, NULL, gear * (1 + i));
    good(tether_sim_reset(sim, NULL, &error));
    good(tether_sim_apply(sim, &duty, &half, 1, &error));
    good(tether_sim_step(sim, 300, &error));
    good(tether_sim_read(sim, &speed, &speeds[i], 1, &error));
  }
  assert_true(fabs(speeds[0]) > 0.01);
  assert_true(fabs(speeds[1] / speeds[0] - 0.5) < 0.1);
  tether_sim_free(sim);
  tether_scene_free(scene);
}

static void what_is_wrong_is_refused(void **state) {
  (void)state;
  tether_scene *scene = load("gripper"), *bad;
  tether_sim *sim = sim_of(scene);
  tether_handle handle, command, both[2];
  const uint64_t hash = tether_sim_hash(sim);
  double values[] = {9, -1}, nan = NAN;
  assert_int_equal(
      tether_value_find(sim, "models.gripper.bodies.forarm.mass", NULL, &handle, &error),
      TETHER_NOT_FOUND);
  assert_non_null(strstr(error.text, "did you mean '" MASS "'"));
  assert_int_equal(tether_value_find(sim, MASS, "m", &handle, &error), TETHER_NOT_FOUND);
  good(tether_value_find(sim, MASS, NULL, &both[0], &error));
  good(tether_value_find(sim, DAMPING, NULL, &both[1], &error));
  assert_int_equal(tether_sim_set_values(sim, both, values, 2, &error), TETHER_INVALID);
  assert_non_null(strstr(error.text, DAMPING ": -1 is out of its range"));
  assert_int_equal(tether_sim_set_values(sim, both, &nan, 1, &error), TETHER_INVALID);
  good(tether_command_find(sim, "base.torque", NULL, &command, &error));
  assert_int_equal(tether_sim_set_values(sim, &command, values, 1, &error), TETHER_INVALID);
  assert_int_equal(tether_sim_apply(sim, both, values, 1, &error), TETHER_INVALID);
  assert_true(tether_sim_hash(sim) == hash);
  static const char *const wrong[] = {"models.gripper=3", "models=[1]"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    tether_status status = tether_scene_load("gripper", &wrong[i], 1, &bad, &error);
    if (status == TETHER_OK) {
      tether_sim *none;
      status = tether_sim_new(bad, &none, &error);
      tether_scene_free(bad);
    }
    assert_int_equal(status, TETHER_INVALID);
    assert_non_null(strstr(error.text, "models"));
  }
  tether_sim_free(sim);
  tether_scene_free(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_of_them_are_listed),
      cmocka_unit_test(a_setting_is_a_value_that_it_begins_with),
      cmocka_unit_test(resets_leave_them_and_states_have_them),
      cmocka_unit_test(older_states_have_those_of_the_scene),
      cmocka_unit_test(friction_can_be_unset),
      cmocka_unit_test(frictions_of_older_states_are_unset),
      cmocka_unit_test(one_of_a_batch_is_changed_alone),
      cmocka_unit_test(noise_is_a_value_too),
      cmocka_unit_test(a_failure_leaves_the_old_ones),
      cmocka_unit_test(a_motors_gear_is_a_value),
      cmocka_unit_test(what_is_wrong_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* metric_sim_test.c: metrics of a real simulation: work of a force, a fall onto the floor. */
#include "sweep/metric_testing.h"

#include "scene/scene_sim.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define STEPS 10 /* a tick */
#define TICKS 100

static tt_scene *scene;
static tt_sim *sim;
static double tick; /* s */

static int load_scene(void **state) {
  (void)state;
  tt_error error;
  if (tt_scene_load(NULL, TETHER_SOURCE_DIR "/src/sweep/testdata/rig.xml", NULL, 0, &scene,
                    &error) != TT_OK ||
      tt_scene_sim(scene, &(tt_scene_sim_options){0}, &sim, &error) != TT_OK)
    fail_msg("%s", error.text);
  tick = STEPS * tt_model_timestep(tt_sim_model(sim));
  return 0;
}

static int free_scene(void **state) {
  (void)state;
  tt_sim_free(sim);
  tt_scene_free(scene);
  return 0;
}

static void apply(const char *command, double value) {
  tt_submission submission = {.value = value};
  tt_error error;
  if (tt_names_find_command(tt_sim_names(sim), command, TT_NO_ROBOT, "test", &submission.command,
                            &error) != TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_sim_apply(sim, "test", &submission, 1, NULL), TT_OK);
}

/* From the initial state; `force` on the cart, turned round in the middle. */
static void run(const char *yaml, double force, tt_sweep_value *values) {
  testing_plan plan;
  tt_error error;
  if (testing_plan_open(yaml, "/", tt_sim_names(sim), tick, &plan, &error) != TT_OK)
    fail_msg("%s", error.text);
  tt_metrics_begin(plan.metrics);
  tt_sim_reset(sim, TT_NO_ROBOT);
  tt_sim_sense(sim);
  assert_int_equal(tt_metrics_sample(plan.metrics, tt_sim_view(sim), &error), TT_OK);
  for (int k = 0; k < TICKS; k++) {
    apply("rail.torque", k < TICKS / 2 ? force : -force);
    for (int i = 0; i < STEPS; i++)
      if (tt_sim_step(sim, i == STEPS - 1, &error) != TT_OK) fail_msg("%s", error.text);
    tt_sim_sense(sim);
    assert_int_equal(tt_metrics_sample(plan.metrics, tt_sim_view(sim), &error), TT_OK);
  }
  assert_int_equal(tt_metrics_end(plan.metrics, values, &error), TT_OK);
  testing_plan_clear(&plan);
}

static void near(const tt_sweep_value *value, double expected, double tolerance) {
  assert_int_equal(value->kind, TT_SWEEP_NUMBER);
  if (!(fabs(value->number - expected) <= tolerance))
    fail_msg("%.12g instead of %.12g ± %g", value->number, expected, tolerance);
}

/* The force speeds the cart up, then stops it: it does the same work twice. */
static void energy_is_the_work_done(void **state) {
  (void)state;
  tt_sweep_value values[4];
  const double force = 3, mass = 2, half = TICKS / 2 * tick, speed = force / mass * half;
  run("[{name: work, measure: energy}, {name: top, measure: greatest, signal: rail.velocity},"
      " {name: way, measure: integral, signal: rail.velocity},"
      " {name: end, measure: final, signal: cart.x}]",
      force, values);
  near(&values[0], 2 * mass * speed * speed / 2, 1e-9);
  near(&values[1], speed, 1e-9);
  near(&values[2], force / mass * half * half, 1e-9);
  /* The engine's steps are of first order: the way is that of the speed after each. */
  near(&values[3], force / mass * half * half, speed * tick / STEPS);
}

static void a_fall_ends_on_the_floor(void **state) {
  (void)state;
  const double fall = sqrt(2 * 0.25 / 9.81), end = TICKS * tick;
  tt_sweep_value values[5];
  run("[{name: down, measure: event_time, when: ball.z < 5 cm},"
      " {name: touching, measure: contacts, between: [ball, world], count: ticks},"
      " {name: hits, measure: contacts, between: [ball]},"
      " {name: cart, measure: contacts, between: [ball, cart]},"
      " {name: low, measure: time_below, signal: ball.z, threshold: 0.175 m}]",
      0, values);
  assert_true(end > 2 * fall);
  near(&values[0], fall + tick / 2, tick / 2 + 1e-3 /* steps of first order */);
  near(&values[1], (end - fall) / tick, 1.5);
  near(&values[2], 1, 0);
  near(&values[3], 0, 0);
  near(&values[4], end - sqrt(2 * 0.125 / 9.81), 1e-3);
}

/* What a metric costs of each tick; by hand, with TETHER_LONG=1. */
static void a_metric_takes_nanoseconds(void **state) {
  (void)state;
  static const char *const kinds[] = {
      "measure: final, signal: rail.position",
      "measure: rms, signal: ball.heading",
      "measure: overshoot, signal: rail.position, target: 1 m",
      "measure: rise_time, signal: rail.position, target: 1 m",
      "measure: settling_time, signal: rail.position, target: 1 m",
      "measure: least, distance: {of: ball, to: cart}",
      "measure: energy",
      "measure: contacts",
      "measure: event_time, when: rail.position > 45 m and abs(rail.velocity) < 0.1 m/s",
  };
  if (!getenv("TETHER_LONG")) skip();
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char yaml[256];
    testing_plan plan;
    tt_error error;
    struct timespec begin, end;
    const int count = 10000000;
    snprintf(yaml, sizeof yaml, "[{name: m, %s}]", kinds[i]);
    assert_int_equal(testing_plan_open(yaml, "/", tt_sim_names(sim), tick, &plan, &error), TT_OK);
    tt_metrics_begin(plan.metrics);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (int k = 0; k < count; k++) tt_metrics_sample(plan.metrics, tt_sim_view(sim), &error);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    print_message(
        "%5.1f ns a tick: %s\n",
        ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / count,
        kinds[i]);
    testing_plan_clear(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(energy_is_the_work_done),
      cmocka_unit_test(a_fall_ends_on_the_floor),
      cmocka_unit_test(a_metric_takes_nanoseconds),
  };
  return cmocka_run_group_tests(tests, load_scene, free_scene);
}

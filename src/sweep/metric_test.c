/* metric_test.c: each measure against its closed form, within what the tick allows; what is never reached is nothing; mistakes. */
#include "sweep/metric_testing.h"

#include "sweep/metric_keys.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PI 3.14159265358979323846
#define TICK 0.01

static char folder[] = "/tmp/metric.XXXXXX"; /* of Lua files */

static tt_names *names;
static tt_view *view;

static int begin_all(void **state) {
  (void)state;
  names = tt_names_new(testing_model());
  view = tt_view_new(testing_model());
  return !names || !view || !mkdtemp(folder);
}

static int end_all(void **state) {
  (void)state;
  tt_view_free(view);
  tt_names_free(names);
  return rmdir(folder);
}

static void open_plan(const char *yaml, testing_plan *plan) {
  tt_error error;
  if (testing_plan_open(yaml, folder, names, TICK, plan, &error) != TT_OK)
    fail_msg("%s\n%s", yaml, error.text);
  tt_metrics_begin(plan->metrics);
}

static void sample(const testing_plan *plan) {
  assert_int_equal(tt_metrics_sample(plan->metrics, view, NULL), TT_OK);
}

static void end(const testing_plan *plan, tt_sweep_value *values) {
  tt_error error;
  if (tt_metrics_end(plan->metrics, values, &error) != TT_OK) fail_msg("%s", error.text);
}

/* ---- the quantity red1/arm.position as a function of time ---- */

typedef double function(double t);

/* Measures it over `ticks` ticks, twice: a second run is as the first. */
static void run(const char *yaml, function *x, int ticks, tt_sweep_value *values) {
  testing_plan plan;
  tt_sweep_value again[TESTING_METRICS];
  open_plan(yaml, &plan);
  for (int round = 0; round < 2; round++) {
    tt_metrics_begin(plan.metrics);
    for (int k = 0; k <= ticks; k++) {
      view->joint_position[0] = x(k * TICK);
      sample(&plan);
    }
    end(&plan, round ? again : values);
  }
  for (int i = 0; i < plan.count; i++) assert_true(tt_sweep_value_equal(&values[i], &again[i]));
  testing_plan_clear(&plan);
}

/* One metric of red1/arm.position; NaN: nothing. */
static double one(const char *keys, function *x, int ticks) {
  char yaml[512];
  tt_sweep_value value;
  snprintf(yaml, sizeof yaml, "[{name: m, signal: red1/arm.position, %s}]", keys);
  run(yaml, x, ticks, &value);
  assert_true(value.kind == TT_SWEEP_NULL ||
              (value.kind == TT_SWEEP_NUMBER && isfinite(value.number)));
  return value.kind == TT_SWEEP_NUMBER ? value.number : NAN;
}

static void near(const char *keys, function *x, int ticks, double expected, double tolerance) {
  double value = one(keys, x, ticks);
  if (!(fabs(value - expected) <= tolerance))
    fail_msg("%s: %.12g instead of %.12g ± %g", keys, value, expected, tolerance);
}

static void is_nothing(const char *keys, function *x, int ticks) {
  double value = one(keys, x, ticks);
  if (!isnan(value)) fail_msg("%s: %.12g instead of nothing", keys, value);
}

#define AMPLITUDE 0.7
#define MIDDLE 0.2
#define OMEGA (2 * PI) /* a period of 100 ticks */
static double sine(double t) { return MIDDLE + AMPLITUDE * sin(OMEGA * t); }
static double ramp(double t) { return 3 * t - 1; }
static double constant(double t) { return 0 * t + 0.25; }
static double huge(double t) { return sin(OMEGA * t) < 0 ? -1.7e308 : 1.7e308; }

static void values_follow_a_sine(void **state) {
  (void)state;
  /* By how much a chord misses the curve, and so a sampled extreme the true one. */
  const double chord = AMPLITUDE * OMEGA * OMEGA * TICK * TICK / 8;
  near("measure: final", sine, 300, MIDDLE, 1e-12);
  near("measure: final", sine, 25, MIDDLE + AMPLITUDE, 1e-12);
  near("measure: least", sine, 307, MIDDLE - AMPLITUDE, chord);
  near("measure: greatest", sine, 307, MIDDLE + AMPLITUDE, chord);
  near("measure: mean", sine, 300, MIDDLE, 1e-12); /* whole periods: the rule is exact */
  near("measure: rms", sine, 300, sqrt(AMPLITUDE * AMPLITUDE / 2 + MIDDLE * MIDDLE), 1e-12);
  near("measure: integral", sine, 50, MIDDLE * 0.5 + 2 * AMPLITUDE / OMEGA,
       0.5 * TICK * TICK * AMPLITUDE * OMEGA * OMEGA / 12);
  /* Half of the amplitude is passed twice a period, where the slope is cos 30° of the greatest. */
  const double slope = AMPLITUDE * OMEGA * cos(PI / 6) - AMPLITUDE * OMEGA * OMEGA * TICK;
  near("measure: time_above, threshold: 0.55", sine, 300, 1, 6 * chord / slope);
  near("measure: time_below, threshold: 0.55 rad", sine, 300, 2, 6 * chord / slope);
  near("measure: time_above, threshold: -200 deg", sine, 300, 3, 1e-12);
  near("measure: time_below, threshold: -200 deg", sine, 300, 0, 0);
}

static void a_ramp_is_measured_exactly(void **state) {
  (void)state;
  near("measure: final", ramp, 100, 2, 1e-12);
  near("measure: least", ramp, 100, -1, 1e-12);
  near("measure: mean", ramp, 100, 0.5, 1e-12);
  near("measure: integral", ramp, 100, 0.5, 1e-12);
  near("measure: time_above, threshold: 0.005", ramp, 100, 1 - 1.005 / 3, 1e-12);
  near("measure: rise_time, target: 2", ramp, 100, 0.8, 1e-12);
  near("measure: rise_time, target: 2, lower: 0, upper: 1", ramp, 101, 1, 1e-12);
  near("measure: rise_time, target: 2, start: 0.5 rad, lower: 0.25, upper: 0.75", ramp, 100, 0.25,
       1e-12);
  near("measure: settling_time, target: 2, band: 0.5", ramp, 100, 2.5 / 3, 1e-12);
  near("measure: settling_time, target: 2.5, band: 0.6", ramp, 110, 2.9 / 3, 1e-12);
  near("measure: overshoot, target: 1.4", ramp, 100, 0.25, 1e-12);
  near("measure: rms", constant, 100, 0.25, 1e-15);
}

/* ---- the answer of a damped oscillator to a step: from start to target ---- */

#define NATURAL 5.0 /* rad/s */
#define DAMPING 0.3
static double start, target;

/* 0 at first, 1 in the end. */
static double unit_step(double t) {
  const double damped = NATURAL * sqrt(1 - DAMPING * DAMPING);
  return 1 - exp(-DAMPING * NATURAL * t) *
                 (cos(damped * t) + DAMPING / sqrt(1 - DAMPING * DAMPING) * sin(damped * t));
}

static double unit_speed(double t) {
  const double root = sqrt(1 - DAMPING * DAMPING);
  return NATURAL / root * exp(-DAMPING * NATURAL * t) * sin(NATURAL * root * t);
}

static double step_response(double t) { return start + (target - start) * unit_step(t); }

/* Where |unit_step − level| passes `band` between t and t + 1 ms, by halving. */
static double refine(double t, double level, double band) {
  double low = t, high = t + 1e-3;
  bool before = fabs(unit_step(low) - level) > band;
  for (int i = 0; i < 60; i++) {
    double middle = (low + high) / 2;
    if ((fabs(unit_step(middle) - level) > band) == before)
      low = middle;
    else
      high = middle;
  }
  return low;
}

static double first_at(double level) {
  double t = 0;
  while (unit_step(t + 1e-3) < level) t += 1e-3;
  return refine(t, 1, 1 - level);
}

static double last_outside(double band) {
  double t = 10;
  while (fabs(unit_step(t) - 1) <= band) t -= 1e-3;
  return refine(t, 1, band);
}

/* How far a crossing of the chord may lie from that of the curve, whose second derivative is below `bend` there. */
static double crossing_error(double t) {
  double bend =
      NATURAL * NATURAL * exp(-DAMPING * NATURAL * (t - TICK)) / sqrt(1 - DAMPING * DAMPING);
  double slope = fabs(unit_speed(t)) - bend * TICK;
  assert_true(slope > 0);
  return bend * TICK * TICK / 8 / slope;
}

static void check_step(double from, double to) {
  char keys[256];
  start = from;
  target = to;
  snprintf(keys, sizeof keys, "measure: overshoot, target: %g", to);
  near(keys, step_response, 1000, exp(-PI * DAMPING / sqrt(1 - DAMPING * DAMPING)),
       NATURAL * NATURAL * TICK * TICK / 8);
  double low = first_at(0.1), high = first_at(0.9);
  snprintf(keys, sizeof keys, "measure: rise_time, target: %g, start: %g", to, from);
  near(keys, step_response, 1000, high - low, crossing_error(low) + crossing_error(high));
  double settled = last_outside(0.05);
  snprintf(keys, sizeof keys, "measure: settling_time, target: %g, band: %.17g", to,
           0.05 * fabs(to - from));
  near(keys, step_response, 1000, settled, crossing_error(settled));
  settled = last_outside(0.02); /* two percent of the way, where no band is given */
  snprintf(keys, sizeof keys, "measure: settling_time, target: %g", to);
  near(keys, step_response, 1000, settled, crossing_error(settled));
}

static void a_damped_step_is_measured_as_its_formulas_say(void **state) {
  (void)state;
  check_step(-0.5, 1.5);
  check_step(2, -1); /* downwards */
}

static double approach(double t) { return 1 - exp(-t); }

static void what_is_never_reached_is_nothing(void **state) {
  (void)state;
  is_nothing("measure: overshoot, target: 1", approach, 500);
  is_nothing("measure: rise_time, target: 1", approach, 100); /* 63 % after a second */
  near("measure: rise_time, target: 1", approach, 500, log(9), TICK * TICK / 8 / 0.1 * 1.1);
  is_nothing("measure: settling_time, target: 1, band: 0.1", approach, 100);
  near("measure: settling_time, target: 1, band: 0.1", approach, 500, log(10),
       TICK * TICK / 8 / 0.1 * 1.1);
  is_nothing("measure: settling_time, target: 0, band: 0.1", approach, 100); /* it went away */
  near("measure: settling_time, target: 0, band: 2", approach, 100, 0, 0);
  is_nothing("measure: overshoot, target: 0.25", constant, 100); /* no way from start to target */
  is_nothing("measure: rise_time, target: 0.25", constant, 100);
  near("measure: settling_time, target: 0.25", constant, 100, 0, 0);
  is_nothing("measure: overshoot, target: 1, start: 0.5", approach, 0);
}

static void a_run_of_no_tick_has_what_its_start_has(void **state) {
  (void)state;
  near("measure: final", constant, 0, 0.25, 0);
  near("measure: least", constant, 0, 0.25, 0);
  near("measure: integral", constant, 0, 0, 0);
  near("measure: time_above, threshold: 0", constant, 0, 0, 0);
  is_nothing("measure: mean", constant, 0);
  is_nothing("measure: rms", constant, 0);
  static const char *const all[] = {"measure: final",
                                    "measure: least",
                                    "measure: integral",
                                    "measure: settling_time, target: 0.25",
                                    "measure: overshoot, target: 0",
                                    "measure: rise_time, target: 1"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    is_nothing(all[i], constant, -1); /* not even a start */
}

static void huge_values_give_a_number_or_nothing(void **state) {
  (void)state;
  near("measure: greatest", huge, 100, 1.7e308, 0);
  is_nothing("measure: rms", huge, 100);
  static const char *const all[] = {"measure: mean",
                                    "measure: integral",
                                    "measure: time_above, threshold: 1e12",
                                    "measure: time_below, threshold: -1e12",
                                    "measure: settling_time, target: 1e12, band: 1e12",
                                    "measure: overshoot, target: -1e12",
                                    "measure: rise_time, target: 1e12",
                                    "measure: overshoot, target: 1e12, start: -1e12"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) one(all[i], huge, 100);
}

/* ---- more than one quantity ---- */

static double near_value(const tt_sweep_value *value) {
  return value->kind == TT_SWEEP_NUMBER ? value->number : NAN;
}

static void distances_are_of_bodies_signals_and_points(void **state) {
  (void)state;
  testing_plan plan;
  tt_sweep_value values[5];
  open_plan(
      "[{name: a, distance: {of: red1/claw, to: big ball}, measure: final},"
      " {name: b, distance: {of: red1/claw, point: [0 m, 0 m]}, measure: greatest},"
      " {name: c, distance: {of: red1/claw, point: [0, 0, 10 mm]}, measure: final},"
      " {name: d, distance: {signals: [red1/claw.x, red1/claw.y], point: [0, 1]}, measure: final},"
      " {name: e, distance: {signals: [red1/claw.x, red1/claw.y, red1/claw.z], to: big ball},"
      "  measure: time_below, threshold: 2 m}]",
      &plan);
  memcpy(view->body_position[4], (double[3]){3, 4, 12}, sizeof(double[3]));
  memcpy(view->body_position[2], (double[3]){6, 8, 0}, sizeof(double[3]));
  sample(&plan);
  memcpy(view->body_position[2], (double[3]){3, 4, 12}, sizeof(double[3]));
  sample(&plan);
  memcpy(view->body_position[2], (double[3]){0, 0, 12}, sizeof(double[3]));
  sample(&plan);
  end(&plan, values);
  assert_true(fabs(values[0].number - 5) < 1e-12);
  assert_true(fabs(values[1].number - 10) < 1e-12);
  assert_true(fabs(values[2].number - 11.99) < 1e-12);
  assert_true(fabs(values[3].number - 1) < 1e-12);
  /* From 13 m to 0, then to 5 m, each in a tick. */
  assert_true(fabs(values[4].number - TICK * (2.0 / 13 + 2.0 / 5)) < 1e-12);
  assert_string_equal(tt_metrics_unit(plan.metrics, 0), "m");
  assert_string_equal(tt_metrics_unit(plan.metrics, 4), "s");
  testing_plan_clear(&plan);
}

static void energy_is_what_torques_moved(void **state) {
  (void)state;
  testing_plan plan;
  tt_sweep_value values[4];
  open_plan(
      "[{name: all, measure: energy}, {name: red, measure: energy, robot: red1},"
      " {name: arm, measure: energy, joints: [red1/arm]},"
      " {name: both, measure: energy, joints: [blue1/arm, red1/arm]}]",
      &plan);
  memset(view->joint_velocity, 0, 5 * sizeof(double));
  memset(view->joint_torque, 0, 5 * sizeof(double));
  for (int k = 0; k <= 100; k++) {
    view->joint_velocity[0] = 2 * k * TICK; /* evenly faster: 1 rad in 1 s */
    view->joint_velocity[1] = -0.5;
    view->joint_velocity[3] = 0.25;
    view->joint_torque[0] = k ? 3 : 1000; /* what stands at the beginning has not acted yet */
    view->joint_torque[1] = 4;
    view->joint_torque[3] = -8;
    sample(&plan);
  }
  end(&plan, values);
  assert_true(fabs(values[0].number - (3 + 2 + 2)) < 1e-12);
  assert_true(fabs(values[1].number - (3 + 2)) < 1e-12);
  assert_true(fabs(values[2].number - 3) < 1e-12);
  assert_true(fabs(values[3].number - (3 + 2)) < 1e-12);
  assert_string_equal(tt_metrics_unit(plan.metrics, 0), "J");
  testing_plan_clear(&plan);
}

static void an_event_has_the_time_of_its_first_tick(void **state) {
  (void)state;
  tt_sweep_value values[3];
  run("[{name: a, measure: event_time, when: red1/arm.position > 45 deg},"
      " {name: b, measure: event_time, when: red1/arm.position > 200 deg},"
      " {name: c, measure: event_time, when: not red1/arm.position > 45 deg}]",
      ramp, 100, values);
  assert_true(fabs(near_value(&values[0]) - 0.6) < 1e-12); /* it is there at 0.595 s */
  assert_int_equal(values[1].kind, TT_SWEEP_NULL);
  assert_true(near_value(&values[2]) == 0);
}

static void touch(const int pairs[][2], int count) {
  for (int i = 0; i < count; i++) {
    view->contacts[i].body1 = pairs[i][0];
    view->contacts[i].body2 = pairs[i][1];
  }
  view->contact_count = count;
}

static void contacts_begin_once_and_last(void **state) {
  (void)state;
  testing_plan plan;
  tt_sweep_value values[7];
  open_plan(
      "[{name: all, measure: contacts}, {name: ticks, measure: contacts, count: ticks},"
      " {name: ball, measure: contacts, between: [big ball]},"
      " {name: gripped, measure: contacts, between: [red1/claw, big ball], count: ticks},"
      " {name: turned, measure: contacts, between: [big ball, red1/claw], count: starts},"
      " {name: robots, measure: contacts, between: [red1, 'robot:blue1']},"
      " {name: floor, measure: contacts, between: [body:world, red1], count: ticks}]",
      &plan);
  for (int round = 0; round < 2; round++) { /* a second run knows nothing of the first */
    tt_metrics_begin(plan.metrics);
    touch(NULL, 0);
    sample(&plan);
    touch((const int[][2]){{4, 2}, {0, 1}, {4, 2}, {2, 4}}, 4); /* several points of one pair */
    sample(&plan);
    touch((const int[][2]){{2, 4}, {1, 3}}, 2);
    sample(&plan);
    touch((const int[][2]){{3, 2}, {1, 3}}, 2);
    sample(&plan);
    touch((const int[][2]){{1, 2}, {2, 4}}, 2);
    sample(&plan);
    touch(NULL, 0);
    sample(&plan);
    end(&plan, values);
    const double expected[] = {6, 4, 2, 3, 2, 2, 1};
    for (int i = 0; i < 7; i++)
      if (near_value(&values[i]) != expected[i])
        fail_msg("%s: %g instead of %g", tt_metric_name(plan.keys[i]), values[i].number,
                 expected[i]);
  }
  testing_plan_clear(&plan);
}

static void units_are_si(void **state) {
  (void)state;
  static const char *const units[] = {"rad", "rad·s", "rad", "m", "N·m·s", "1",
                                      "s",   "s",     "s",   "s", "1"};
  testing_plan plan;
  open_plan(
      "[{name: a, measure: rms, signal: red1/arm.position},"
      " {name: b, measure: integral, signal: red1/arm.position},"
      " {name: c, measure: integral, signal: red1/arm.velocity},"
      " {name: d, measure: integral, signal: red1/claw.vx},"
      " {name: e, measure: integral, signal: red1/arm.torque},"
      " {name: f, measure: overshoot, signal: time, target: 1 s},"
      " {name: g, measure: rise_time, signal: time, target: 1 s},"
      " {name: h, measure: settling_time, signal: time, target: 1 s},"
      " {name: i, measure: event_time, when: time > 1 s},"
      " {name: j, measure: time_above, signal: time, threshold: 1 ms},"
      " {name: k, measure: contacts}]",
      &plan);
  for (int i = 0; i < plan.count; i++)
    assert_string_equal(tt_metrics_unit(plan.metrics, i), units[i]);
  testing_plan_clear(&plan);
}

/* ---- Lua ---- */

static void write_lua(const char *text, char path[256]) {
  snprintf(path, 256, "%s/m.lua", folder);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

#define LUA_KEYS "lua: m.lua, signals: [red1/arm.position, time]"

/* What a function measures of the ramp, 101 samples; NaN and the error otherwise. */
static double lua(const char *text, const char *more, tt_error *error) {
  char path[256], yaml[512];
  testing_plan plan;
  tt_sweep_value values[2] = {0};
  double value = NAN;
  write_lua(text, path);
  snprintf(yaml, sizeof yaml,
           "[{name: a, " LUA_KEYS "%s}, {name: b, signal: time, measure: final}]", more);
  *error = (tt_error){""};
  tt_status status = testing_plan_open(yaml, folder, names, TICK, &plan, error);
  if (status == TT_OK) {
    tt_metrics_begin(plan.metrics);
    for (int k = 0; k <= 100; k++) {
      view->joint_position[0] = ramp(k * TICK);
      sample(&plan);
    }
    status = tt_metrics_end(plan.metrics, values, error);
    assert_int_equal(status == TT_OK, values[0].kind == TT_SWEEP_NUMBER || !*error->text);
    assert_int_equal(status == TT_FULL, strstr(error->text, "it takes too m") != NULL);
    assert_int_equal(values[1].kind, TT_SWEEP_NUMBER); /* others are measured all the same */
    value = near_value(&values[0]);
  }
  testing_plan_clear(&plan);
  unlink(path);
  return value;
}

static void lua_fails(const char *text, const char *more, const char *expected) {
  tt_error error;
  double value = lua(text, more, &error);
  if (!isnan(value) || strncmp(error.text, "plan.yaml", 9) != 0 || !strstr(error.text, expected))
    fail_msg("%s\ngives %g and\n%s\nwithout '%s'", text, value, error.text, expected);
}

static void a_function_in_lua_measures_samples(void **state) {
  (void)state;
  tt_error error;
  /* The greatest step between two samples. */
  double value =
      lua("function measure(read, count, tick)\n"
          "  local most = 0\n"
          "  for k = 2, count do\n"
          "    local x = 'red1/arm.position'\n"
          "    most = math.max(most, (read(x, k) - read(x, k - 1)) / tick)\n"
          "  end\n"
          "  return most\n"
          "end\n",
          ", unit: 1", &error);
  assert_true(fabs(value - 3) < 1e-10);
  assert_true(lua("function f(read, count) return count end", ", function: f", &error) == 101);
  assert_true(fabs(lua("function measure() return 90 end", ", unit: deg", &error) - PI / 2) <
              1e-15);
  assert_true(lua("function measure() return true end", "", &error) == 1);
  assert_true(isnan(lua("function measure() return nil end", "", &error)) && !*error.text);
  assert_true(isnan(lua("function measure() end", "", &error)) && !*error.text);
  /* Nothing survives a call. */
  assert_true(lua("n = 0 function measure() n = n + 1 return n end", "", &error) == 1);
}

static void a_function_in_lua_fails_with_file_and_line(void **state) {
  (void)state;
  lua_fails("function measure(read)\n  return read('nose', 1)\nend", "",
            "m.lua:2: 'nose' is not among the metric's signals");
  lua_fails("function measure(read) return read('time', 0) end", "",
            "m.lua:1: there is no sample 0; there are 1 to 101");
  lua_fails("function measure(read, n) return read('time', n + 1) end", "", "no sample 102");
  lua_fails("function measure(read) return read('time', 1.5) end", "", "m.lua:1: bad argument #2");
  lua_fails("function measure() return {} end", "", "measure() must give a number or nil");
  lua_fails("function measure() return 'x' end", "", "measure() must give a number or nil");
  lua_fails("function measure() return 0/0 end", "", "gave a number that is not finite");
  lua_fails("function measure() return math.random() end", "", "math.random");
  lua_fails("function measure() while true do end end", ", instructions: 10000",
            "it takes too many instructions");
  lua_fails("function measure() local t = {} for i = 1, 1e7 do t[i] = i end end",
            ", memory: 100000", "it takes too much memory");
  lua_fails("function measure() return os.time() end", "", "m.lua:1: attempt to index a nil value");
  lua_fails("function measure( return 1 end", "", "metrics[0].lua: m.lua:1:");
  lua_fails("x = 1", "", "m.lua: it defines no function measure(read, count, tick)");
  lua_fails("error('at once')", "", "at once");
  lua_fails("", ", unit: degrees", "did you mean 'deg'?");
  lua_fails("", ", memory: 5", "memory: give 16384 to");
}

static void samples_for_lua_are_bounded(void **state) {
  (void)state;
  char path[256];
  testing_plan plan;
  tt_sweep_value value;
  tt_error error;
  write_lua("function measure(read, count) return read('time', count) end", path);
  open_plan("[{name: a, " LUA_KEYS "}]", &plan);
  for (int k = 0; k < TT_METRIC_LUA_VALUES / 2; k++) sample(&plan);
  end(&plan, &value);
  assert_int_equal(value.kind, TT_SWEEP_NUMBER);
  sample(&plan); /* one more than there is room for */
  assert_int_equal(tt_metrics_end(plan.metrics, &value, &error), TT_FULL);
  assert_int_equal(value.kind, TT_SWEEP_NULL);
  assert_non_null(strstr(error.text, "more samples than are kept for a function, 1048576 of each"));
  tt_metrics_begin(plan.metrics);
  sample(&plan);
  end(&plan, &value);
  assert_int_equal(value.kind, TT_SWEEP_NUMBER);
  testing_plan_clear(&plan);
  unlink(path);
}

/* ---- mistakes ---- */

static void mistakes_are_told_with_place_and_remedy(void **state) {
  (void)state;
  static const struct {
    const char *keys, *expected;
  } mistakes[] = {
      {"signal: time", "the key 'measure' is missing; for example measure: final"},
      {"signal: time, measure: finl",
       "metrics[0].measure: there is no measure 'finl'; did you mean 'final'?"},
      {"measure: final", "the measure 'final' needs a signal, or a distance"},
      {"measure: final, signal: tme",
       "metrics[0].signal: no signal is called 'tme'; did you mean 'time'?"},
      {"measure: final, signal: time, threshold: 1 s",
       "metrics[0].threshold: the measure 'final' does not take it; it takes: signal, distance"},
      {"measure: time_above, signal: time", "the measure 'time_above' needs the key 'threshold'"},
      {"measure: time_above, signal: time, threshold: 1 m",
       "metrics[0].threshold: '1 m' is not understood"},
      {"measure: time_above, signal: time, threshold: 1e13", "out of range"},
      {"measure: time_above, signal: time, threshold: 1e999", "not understood"},
      {"measure: time_above, signal: time, threshold: nan", "not understood"},
      {"measure: time_above, signal: red1/arm.position, threshold: 10 degrees",
       "did you mean 'deg'?"},
      {"measure: overshoot, signal: time", "the measure 'overshoot' needs the key 'target'"},
      {"measure: overshoot, signal: time, target: 1 s, start: 1000 ms",
       "metrics[0].start: it must differ from target"},
      {"measure: overshoot, signal: time, target: 1 s, band: 1 s",
       "metrics[0].band: the measure 'overshoot' does not take it"},
      {"measure: settling_time, signal: time, target: 1 s, band: -1 s",
       "metrics[0].band: '-1 s' is out of range"},
      {"measure: rise_time, signal: time, target: 1, lower: 0.9, upper: 0.1",
       "lower (0.9) must be less than upper (0.1)"},
      {"measure: rise_time, signal: time, target: 1, lower: 10",
       "metrics[0].lower: 10 is out of range; give 0 to 1"},
      {"measure: final, signal: time, distance: {of: big ball, to: world}",
       "give either a signal or a distance, not both"},
      {"measure: final, distance: {of: big ball}",
       "metrics[0].distance: give either to: BODY, or a point"},
      {"measure: final, distance: {to: big ball}",
       "metrics[0].distance: give either of: BODY, or two or three signals"},
      {"measure: final, distance: {of: big ball, to: world, point: [1, 2]}",
       "give either to: BODY"},
      {"measure: final, distance: {of: big bal, to: world}",
       "metrics[0].distance.of: no body is called 'big bal'; did you mean 'big ball'?"},
      {"measure: final, distance: {of: big ball, to: moon}",
       "metrics[0].distance.to: no body is called 'moon'"},
      {"measure: final, distance: {of: big ball, point: [1, 2 s]}",
       "metrics[0].distance.point[1]: '2 s' is not understood"},
      {"measure: final, distance: {of: big ball, point: [1]}", "1 elements are too few"},
      {"measure: final, distance: {signals: [time, time], point: [1, 2]}",
       "'time' is in s, and no length"},
      {"measure: final, distance: {signals: [red1/claw.x, red1/claw.y], point: [1, 2, 3]}",
       "as many numbers as there are signals, 2"},
      {"measure: final, distance: {off: big ball}", "unknown key 'off'; did you mean 'of'?"},
      {"measure: energy, robot: red",
       "metrics[0].robot: no robot is called 'red'; did you mean 'red1'?"},
      {"measure: energy, robot: red1, joints: [red1/arm]",
       "give either joints or a robot, not both"},
      {"measure: energy, joints: [red1/arn]",
       "metrics[0].joints[0]: no joint that a torque could move is called 'red1/arn'; did you mean "
       "'red1/arm'?"},
      {"measure: energy, joints: [free]", "no joint that a torque could move is called 'free'"},
      {"measure: energy, signal: time",
       "metrics[0].signal: the measure 'energy' does not take it; it takes: joints, robot"},
      {"measure: event_time", "the measure 'event_time' needs the key 'when'"},
      {"measure: event_time, when: time >",
       "metrics[0].when: 'time >', at its end: a value is missing"},
      {"measure: event_time, when: tim > 1 s",
       "metrics[0].when: no signal is called 'tim'; did you mean 'time'?"},
      {"measure: contacts, between: [big bal]",
       "metrics[0].between[0]: no body and no robot is called 'big bal'; did you mean 'big ball'?"},
      {"measure: contacts, between: [red1, 'robot:big ball']",
       "metrics[0].between[1]: no robot is called 'big ball'"},
      {"measure: contacts, between: ['body:red1']", "no body is called 'red1'"},
      {"measure: contacts, between: [a, b, c]", "3 elements are too many"},
      {"measure: contacts, count: sometimes", "'sometimes' is not one of starts, ticks"},
      {"lua: none.lua, signals: [time]", "metrics[0].lua: can't read this file: "},
      {"lua: ., signals: [time]", "metrics[0].lua: can't read this file: "},
      {"lua: none.lua, measure: final, signal: time",
       "metrics[0].lua: the measure 'final' does not take it"},
      {"measure: lua", "the measure 'lua' needs the key 'lua'"},
      {"measure: final, signal: time, speed: 3", "unknown key 'speed'"},
  };
  for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
    char yaml[512];
    testing_plan plan;
    tt_error error = {""};
    snprintf(yaml, sizeof yaml, "[{name: m, %s}]", mistakes[i].keys);
    assert_int_equal(testing_plan_open(yaml, folder, names, TICK, &plan, &error), TT_INVALID);
    assert_null(plan.metrics);
    if (strncmp(error.text, "plan.yaml:", 10) != 0 || !strstr(error.text, mistakes[i].expected))
      fail_msg("%s gives\n%s\nwithout '%s'", yaml, error.text, mistakes[i].expected);
    testing_plan_clear(&plan);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_follow_a_sine),
      cmocka_unit_test(a_ramp_is_measured_exactly),
      cmocka_unit_test(a_damped_step_is_measured_as_its_formulas_say),
      cmocka_unit_test(what_is_never_reached_is_nothing),
      cmocka_unit_test(a_run_of_no_tick_has_what_its_start_has),
      cmocka_unit_test(huge_values_give_a_number_or_nothing),
      cmocka_unit_test(distances_are_of_bodies_signals_and_points),
      cmocka_unit_test(energy_is_what_torques_moved),
      cmocka_unit_test(an_event_has_the_time_of_its_first_tick),
      cmocka_unit_test(contacts_begin_once_and_last),
      cmocka_unit_test(units_are_si),
      cmocka_unit_test(a_function_in_lua_measures_samples),
      cmocka_unit_test(a_function_in_lua_fails_with_file_and_line),
      cmocka_unit_test(samples_for_lua_are_bounded),
      cmocka_unit_test(mistakes_are_told_with_place_and_remedy),
  };
  return cmocka_run_group_tests(tests, begin_all, end_all);
}

/* part_test.c: every part on a bench, in a world with the real physics. */
#include "model/schema.h"
#include "engine/mujoco/mujoco_engine.h"
#include "host/world.h"
#include "robot/robot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PI 3.14159265358979323846
#define RPM (PI / 30)
#define DATA TETHER_SOURCE_DIR "/src/robot/testdata/"
#define PARTS_MAX 8
#define TIMESTEP (1.0 / 1000)
#define IO_STEPS 10

/** A part as its robot file would say it. */
typedef struct element {
  const char *kind, *yaml;
} element;

typedef struct bench {
  void *configs[PARTS_MAX];
  cyaml_schema_value_t schemas[PARTS_MAX];
  tt_world *world;
  int count;
} bench;

static const cyaml_config_t cyaml = {
    .log_fn = NULL, .mem_fn = cyaml_mem, .log_level = CYAML_LOG_ERROR};

static const tt_schema *schema_of(const char *kind) {
  for (const tt_schema *const *schema = tt_part_schemas; *schema; schema++)
    if (strcmp((*schema)->key, kind) == 0) return *schema;
  fail_msg("no schema '%s'", kind);
  return NULL;
}

/* Loads an element, checks it and makes its part, as assembling a scene does. */
static tt_status make_part(bench *made, element from, tt_part **part, tt_error *error) {
  static const tt_painted_line lines[] = {{-2, 0.5, 2, 0.5, 0.05, 1, false},
                                          {0, -2, 0, 2, 0.1, 0.4, true}};
  const tt_schema *schema = schema_of(from.kind);
  cyaml_schema_value_t *value = &made->schemas[made->count];
  *value = (cyaml_schema_value_t){.type = CYAML_MAPPING,
                                  .flags = CYAML_FLAG_POINTER,
                                  .data_size = (uint32_t)schema->size,
                                  .mapping = {.fields = schema->fields}};
  void **config = &made->configs[made->count];
  cyaml_err_t loaded =
      cyaml_load_data((const uint8_t *)from.yaml, strlen(from.yaml), &cyaml, value, config, NULL);
  if (loaded != CYAML_OK) fail_msg("%s: %s", from.yaml, cyaml_strerror(loaded));
  made->count++;
  TT_TRY(schema->check(*config, "robot.yaml: part", error));
  const tt_robot_env env = {
      .where = "robot.yaml: part", .lines = lines, .line_count = 2, .folder = DATA, .seed = 5};
  return tt_robot_part_new(from.kind, *config, &env, part, error);
}

static tt_engine *load_engine(void) {
  static const tt_engine_gripper gripper = {.name = "grip", .site = "bench", .reach = 0.5};
  static const tt_engine_robot robot = {.name = "rig",
                                        .model_file = DATA "rig.xml",
                                        .alliance = "",
                                        .grippers = &gripper,
                                        .gripper_count = 1};
  static const tt_engine_piece pieces[] = {{.body = "piece", .kind = 2},
                                           {.body = "other", .kind = 3}};
  const tt_engine_spec spec = {.arena_file = DATA "wall.xml",
                               .robots = &robot,
                               .robot_count = 1,
                               .pieces = pieces,
                               .piece_count = 2,
                               .timestep_num = 1,
                               .timestep_den = 1000,
                               .contact_capacity = 64};
  tt_engine *engine;
  tt_error error = {{0}};
  if (tt_mujoco_load(&spec, &engine, &error) != TT_OK) fail_msg("%s", error.text);
  return engine;
}

static tt_status set_up_checked(bench *made, const element *elements, int count, tt_error *error) {
  tt_part *parts[PARTS_MAX];
  memset(made, 0, sizeof *made);
  for (int i = 0; i < count; i++) {
    tt_status status = make_part(made, elements[i], &parts[i], error);
    if (status == TT_OK) continue;
    while (i-- > 0) parts[i]->ops->free(parts[i]);
    return status;
  }
  const tt_sim_spec sim_spec = {
      .engine = load_engine(), .dynamics = true, .parts = parts, .part_count = count};
  tt_sim *sim;
  TT_TRY(tt_sim_new(&sim_spec, &sim, error));
  const tt_world_spec spec = {.sim = sim, .io_steps = IO_STEPS, .pace = TT_PACE_FAST, .speed = 1};
  TT_TRY(tt_world_new(&spec, &made->world, error));
  tt_world_start(made->world);
  return TT_OK;
}

static void set_up(bench *made, const element *elements, int count) {
  tt_error error = {{0}};
  if (set_up_checked(made, elements, count, &error) != TT_OK) fail_msg("%s", error.text);
}

static void tear_down(bench *made) {
  tt_world_free(made->world);
  for (int i = 0; i < made->count; i++) cyaml_free(&cyaml, &made->schemas[i], made->configs[i], 0);
}

static double value_of(const bench *on, const char *name) {
  tt_signal signal;
  tt_error error;
  if (tt_names_find_signal(tt_world_names(on->world), name, 0, "test", &signal, &error) != TT_OK)
    fail_msg("%s", error.text);
  return tt_signal_read(&signal, tt_world_view(on->world));
}

static void command(const bench *on, const char *name, double value) {
  tt_mail mail = {.kind = TT_MAIL_COMMAND, .value = value, .source = "test"};
  tt_error error;
  if (tt_names_find_command(tt_world_names(on->world), name, 0, "test", &mail.index, &error) !=
      TT_OK)
    fail_msg("%s", error.text);
  assert_int_equal(tt_world_post(on->world, &mail), TT_OK);
}

static void run(const bench *on, double seconds) {
  tt_error error = {{0}};
  for (int i = 0; i < (int)lrint(seconds / TIMESTEP / IO_STEPS); i++)
    if (tt_world_tick(on->world, &error) != TT_OK) fail_msg("%s", error.text);
}

static void assert_near(double value, double expected, double part) {
  if (fabs(value - expected) > part * fabs(expected))
    fail_msg("%.9g is not %.9g within %g", value, expected, part);
}

/* ---- motors ---- */

#define TRACK                                                                                      \
  "{name: track, joint: flywheel, model: cim, count: 2, gears: [12.75, 5], efficiency: 0.9}"
#define STALL (2.42 * 2 * 12.75 * 0.9)
#define FREE (5310 * RPM / 12.75)

static void a_motor_follows_its_line(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", TRACK}, 1);
  command(&on, "track.duty", 1);
  double before = 0;
  run(&on, TIMESTEP * IO_STEPS);
  /* Measured at the flywheel: torque = inertia × acceleration, at the mean speed of the tick. */
  for (int i = 0; i < 1000; i++) {
    before = value_of(&on, "flywheel.velocity");
    run(&on, TIMESTEP * IO_STEPS);
    double after = value_of(&on, "flywheel.velocity"), mean = (before + after) / 2;
    double line = STALL * (1 - mean / FREE);
    double torque = 2 * (after - before) / (TIMESTEP * IO_STEPS);
    if (line > 0.01 * STALL) assert_near(torque, line, 0.02);
  }
  assert_near(value_of(&on, "flywheel.velocity"), FREE, 0.02);
  assert_near(value_of(&on, "track.current"), 2 * 2.7, 0.1);
  assert_near(value_of(&on, "track.voltage"), 12, 0.02);
  tear_down(&on);
}

/* At 200 : 1 the line damps the pinion 87 times as hard as an explicit step of 1 ms could bear at 2. */
static void a_stiff_line_does_not_ring(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", "{name: stiff, joint: pinion, model: cim, gears: [200]}"}, 1);
  command(&on, "stiff.duty", 1);
  double before = 0;
  for (int i = 0; i < 50; i++) {
    run(&on, TIMESTEP * IO_STEPS);
    double after = value_of(&on, "pinion.velocity");
    assert_true(after >= before - 1e-9 && after <= 5310 * RPM / 200 * (1 + 1e-9));
    before = after;
  }
  assert_near(before, 5310 * RPM / 200, 1e-3);
  command(&on, "stiff.duty", 0);
  run(&on, 0.5);
  assert_true(fabs(value_of(&on, "pinion.velocity")) < 1e-3);
  tear_down(&on);
}

static void a_stalled_motor_gives_its_stall_torque(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", TRACK}, 1);
  command(&on, "track.duty", 0.5);
  tt_error error;
  tt_world_tick(on.world, &error);
  double speed = value_of(&on, "flywheel.velocity");
  assert_near(2 * speed / (TIMESTEP * IO_STEPS), STALL * 0.5, 0.02);
  assert_near(value_of(&on, "track.current"), 133, 0.03); /* two motors, half the voltage each */
  tear_down(&on);
}

static void torque_is_clipped_by_the_line(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", TRACK}, 1);
  command(&on, "track.torque", 20);
  run(&on, 0.5);
  assert_near(value_of(&on, "track.torque"), 20, 1e-9);
  assert_near(value_of(&on, "flywheel.velocity"), 20 * 0.5 / 2, 1e-6);
  command(&on, "track.torque", 1000);
  run(&on, 20);
  assert_near(value_of(&on, "flywheel.velocity"), FREE, 0.01);
  command(&on, "track.torque", 0); /* coasts: nothing brakes it */
  run(&on, 1);
  assert_near(value_of(&on, "flywheel.velocity"), FREE, 0.01);
  command(&on, "track.duty", 0); /* shorted: a damper of STALL / FREE */
  double before = value_of(&on, "flywheel.velocity");
  run(&on, 1);
  assert_near(value_of(&on, "flywheel.velocity"), before * exp(-STALL / FREE / 2), 0.03);
  tear_down(&on);
}

static void shifting_changes_the_ratio(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", TRACK}, 1);
  assert_true(value_of(&on, "track.gear") == 1);
  command(&on, "track.gear", 2);
  command(&on, "track.duty", -1);
  run(&on, TIMESTEP * IO_STEPS);
  assert_true(value_of(&on, "track.gear") == 2); /* at once */
  run(&on, 60);
  assert_near(value_of(&on, "flywheel.velocity"), -5310 * RPM / 5, 0.02);
  tear_down(&on);
}

static void a_current_limit_holds(void **state) {
  (void)state;
  bench on;
  set_up(&on,
         &(element){"motors",
                    "{name: track, joint: flywheel, model: cim, current_limit: 40 A, gears: [10]}"},
         1);
  command(&on, "track.duty", 1);
  for (int i = 0; i < 200; i++) {
    run(&on, TIMESTEP * IO_STEPS);
    assert_true(value_of(&on, "track.current") <= 40.5);
  }
  command(&on, "track.duty", -1); /* plugging would draw more than twice the stall current */
  for (int i = 0; i < 200; i++) {
    run(&on, TIMESTEP * IO_STEPS);
    assert_true(fabs(value_of(&on, "track.current")) <= 40.5);
  }
  tear_down(&on);
}

/* ---- batteries ---- */

/* Two CIMs on a flywheel of 2 kg·m², which at the first moment stalls them. */
#define STALLED "{name: track, joint: flywheel, model: cim, count: 2, gears: [0.01], battery: 24 V}"
#define STALL_CURRENT (2 * 133.0)

/* V = open_circuit − R I and I = duty² × stall current × V / 12 V: a resistor that is divided by the square of the duty. */
static void a_battery_sags_with_its_motors_current(void **state) {
  (void)state;
  static const double duties[] = {1, 0.5, -0.75};
  for (size_t i = 0; i < sizeof duties / sizeof *duties; i++) {
    bench on;
    const element parts[] = {
        {"batteries", "{name: battery, open_circuit: 12.6 V, resistance: 15 mΩ, brownout: 0 V}"},
        {"motors", STALLED}};
    set_up(&on, parts, 2);
    assert_near(value_of(&on, "battery.voltage"), 12.6, 1e-12);
    command(&on, "track.duty", duties[i]);
    run(&on, 0.1);
    double load = duties[i] * duties[i] * STALL_CURRENT / 12; /* A a volt */
    double voltage = 12.6 / (1 + 0.015 * load);
    assert_near(value_of(&on, "battery.voltage"), voltage, 1e-3);
    assert_near(value_of(&on, "battery.current"), load * voltage, 1e-3);
    assert_near(value_of(&on, "track.voltage"), duties[i] * voltage, 1e-3);
    assert_near(value_of(&on, "track.current"), duties[i] * voltage / 12 * STALL_CURRENT, 1e-3);
    assert_true(value_of(&on, "battery.brownout") == 0);
    tear_down(&on);
  }
}

/* The line of docs/robots.md, with the battery's voltage at duty 1: the free speed is what the battery gives without much load. */
static void a_battery_s_voltage_is_that_of_duty_1(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"batteries", "{open_circuit: 9 V}"}, {"motors", TRACK}};
  set_up(&on, parts, 2);
  command(&on, "track.duty", 1);
  run(&on, 30);
  double current = 2 * 2.7 * 0.75; /* the free current at three quarters of the free speed */
  assert_near(value_of(&on, "battery.current"), current, 0.02);
  assert_near(value_of(&on, "battery.voltage"), 9 - 0.02 * current, 1e-3);
  assert_near(value_of(&on, "flywheel.velocity"), FREE * value_of(&on, "battery.voltage") / 12,
              1e-3);
  command(&on, "track.duty", 0.5); /* it turns faster than that: the motor is a generator */
  run(&on, 0.1);
  assert_true(value_of(&on, "battery.current") < 0);
  assert_true(value_of(&on, "battery.voltage") > 9);
  tear_down(&on);
}

/* In equal times a constant current takes equal parts of the charge; the open circuit falls with it; at the end there is none. */
static void a_battery_is_used_up(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"batteries",
                            "{open_circuit: 12.7 V, resistance: 0 mΩ, capacity: 200 C, empty: "
                            "11.7 V, brownout: 0 V}"},
                           {"motors", STALLED}};
  set_up(&on, parts, 2);
  assert_true(value_of(&on, "battery.charge") == 1);
  command(&on, "track.duty", 0.5);
  run(&on, 1);
  double drawn = 0.25 * STALL_CURRENT * 12.55 / 12; /* A, in the middle of that second */
  double left = 1 - drawn / 200;
  assert_near(value_of(&on, "battery.charge"), left, 0.01);
  assert_near(value_of(&on, "battery.voltage"), 11.7 + value_of(&on, "battery.charge"), 1e-3);
  run(&on, 3);
  assert_true(value_of(&on, "battery.charge") == 0);
  assert_true(value_of(&on, "battery.voltage") < 1e-3);
  assert_true(fabs(value_of(&on, "track.torque")) < 1e-3);
  tear_down(&on);
}

/* As a roboRIO: off below the limit, on again above the recovery; the battery is without a load meanwhile. */
static void a_brown_out_turns_motors_off_until_it_has_recovered(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"batteries", "{resistance: 60 mΩ, brownout: 6.75 V, recovery: 11.9 V}"},
                           {"motors", STALLED},
                           {"motors", "{name: plain, joint: second, max_torque: 3 N·m}"}};
  set_up(&on, parts, 3);
  command(&on, "track.duty", 1); /* would settle at 12 / (1 + 0.06 × 266 / 12) = 5.2 V */
  command(&on, "plain.duty", 1);
  tt_error error = {{0}};
  bool was_off = false, came_back = false;
  double least = 12;
  for (int i = 0; i < 200; i++) {
    if (tt_world_tick(on.world, &error) != TT_OK) fail_msg("%s", error.text);
    bool off = value_of(&on, "battery.brownout") == 1;
    double voltage = value_of(&on, "battery.voltage");
    least = fmin(least, voltage);
    if (off) assert_true(voltage < 11.9);
    if (off && was_off) assert_true(value_of(&on, "track.torque") <= 0); /* shorted: it brakes */
    if (off && was_off) assert_true(value_of(&on, "plain.torque") == 0);
    came_back |= was_off && !off;
    was_off = off;
  }
  assert_true(least > 6); /* nothing draws any more once it is below 6.75 V */
  assert_true(came_back);
  tear_down(&on);
}

static void who_has_no_stall_current_draws_as_an_ideal_motor(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"batteries", "{brownout: 0 V}"},
                           {"motors",
                            "{name: drive, joint: flywheel, stall_torque: 30 N·m, free_speed: 833 "
                            "rpm, gears: [0.001]}"}};
  set_up(&on, parts, 2);
  command(&on, "drive.duty", 1);
  run(&on, 0.1);
  double load = 30 * 833 * RPM / 12 / 12; /* A a volt */
  assert_near(value_of(&on, "battery.voltage"), 12 / (1 + 0.02 * load), 1e-3);
  tear_down(&on);
}

static void a_restored_battery_goes_on_alike(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"batteries", "{open_circuit: 12.7 V, capacity: 18 A·h, empty: 11.8 V}"},
                           {"motors", TRACK}};
  set_up(&on, parts, 2);
  command(&on, "track.duty", 1);
  run(&on, 0.2);
  size_t size = tt_world_state_size(on.world);
  void *saved = malloc(size);
  tt_world_save(on.world, saved);
  uint64_t there = tt_world_hash(on.world);
  run(&on, 0.5);
  double voltage = value_of(&on, "battery.voltage");
  uint64_t hash = tt_world_hash(on.world);
  assert_int_equal(tt_world_restore(on.world, saved, size), TT_OK);
  assert_true(tt_world_hash(on.world) == there);
  run(&on, 0.5);
  assert_true(value_of(&on, "battery.voltage") == voltage);
  assert_true(tt_world_hash(on.world) == hash);
  tt_mail reset = {.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"};
  assert_int_equal(tt_world_post(on.world, &reset), TT_OK);
  run(&on, 0.02);
  assert_true(value_of(&on, "battery.voltage") == 12.7);
  free(saved);
  tear_down(&on);
}

static void servos_keep_to_what_the_motor_gives(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", TRACK}, 1);
  command(&on, "track.velocity", 10);
  command(&on, "track.max_torque", 30);
  for (int i = 0; i < 100; i++) {
    run(&on, TIMESTEP * IO_STEPS);
    assert_true(fabs(value_of(&on, "track.torque")) <= 30 + 1e-9);
    assert_true(value_of(&on, "flywheel.velocity") <= 10 + 1e-6);
  }
  assert_near(value_of(&on, "flywheel.velocity"), 10, 1e-4);
  command(&on, "track.max_torque", 1e6);
  command(&on, "track.velocity", 1000); /* more than it can: free speed */
  run(&on, 20);
  assert_near(value_of(&on, "flywheel.velocity"), FREE, 0.01);
  tear_down(&on);
}

static void the_last_kind_of_command_holds(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"motors", "{name: pair, joints: [flywheel, second], reversed: true}"}, 1);
  command(&on, "pair.torque", 8);
  run(&on, 0.1);
  assert_near(value_of(&on, "joint:flywheel.torque"), -4,
              1e-9); /* an equal share, against the joint */
  assert_near(value_of(&on, "joint:second.torque"), -4, 1e-9);
  assert_near(value_of(&on, "pair.torque"), 8, 1e-9);
  command(&on, "flywheel.torque", 1); /* the joint's own command takes it over */
  run(&on, 0.1);
  assert_near(value_of(&on, "joint:flywheel.torque"), 1, 1e-9);
  assert_near(value_of(&on, "joint:second.torque"), -4, 1e-9);
  command(&on, "pair.velocity", 2);
  run(&on, 5);
  assert_near(value_of(&on, "flywheel.velocity"), -2, 1e-3);
  assert_near(value_of(&on, "second.velocity"), -2, 1e-3);
  tear_down(&on);
}

static void a_drum_drives_a_slide_and_can_hold(void **state) {
  (void)state;
  bench on;
  set_up(&on,
         &(element){"motors",
                    "{name: lift, joint: hoist, stall_torque: 9 N·m, free_speed: 500 rpm, "
                    "drum_radius: 0.59 in, neutral: hold}"},
         1);
  command(&on, "lift.duty", 1);
  run(&on, 2);
  assert_near(value_of(&on, "hoist.velocity"), 500 * RPM * 0.59 * 0.0254, 0.02);
  command(&on, "lift.duty", 0);
  run(&on, 0.1);
  assert_true(fabs(value_of(&on, "hoist.velocity")) < 1e-6);
  tear_down(&on);
}

/* ---- sensors ---- */

static void encoders_count(void **state) {
  (void)state;
  bench on;
  const element parts[] = {
      {"encoders",
       "{name: wraps, signal: flywheel.position, ticks_per_turn: 1024, minimum: 0, maximum: 1023}"},
      {"encoders",
       "{name: stops, signal: rail.position, from: 0 m, to: 0.5 m, minimum: 0, maximum: 1023, "
       "overflow: saturate}"},
      {"encoders", "{name: back, signal: flywheel.position, ticks_per_turn: -360, offset: 10}"},
  };
  set_up(&on, parts, 3);
  assert_true(value_of(&on, "wraps.ticks") == 0 && value_of(&on, "back.ticks") == 10);
  command(&on, "flywheel.velocity", -2 * PI);
  command(&on, "flywheel.max_torque", 1e4);
  command(&on, "rail.velocity", 0.25);
  command(&on, "rail.max_torque", 1e4);
  run(&on, 1);
  double angle = value_of(&on, "flywheel.position"), rail = value_of(&on, "rail.position");
  double ticks = rint(angle / (2 * PI) * 1024);
  assert_true(ticks < -900);
  assert_true(value_of(&on, "wraps.ticks") == ticks + (ticks < -1024 ? 2048 : 1024));
  assert_true(value_of(&on, "back.ticks") == rint(angle / (2 * PI) * -360 + 10));
  assert_true(value_of(&on, "stops.ticks") == rint(rail / 0.5 * 1023));
  assert_true(fabs(value_of(&on, "wraps.angle") - remainder(angle, 2 * PI)) < 1e-12);
  run(&on, 2);
  assert_true(value_of(&on, "stops.ticks") == 1023);
  tear_down(&on);
}

static void line_trackers_see_paint(void **state) {
  (void)state;
  bench on;
  const element parts[] = {
      {"line_trackers", "{name: edge, x: -1 m, y: 0.525 m}"}, /* on the edge of the black line */
      {"line_trackers", "{name: black, x: -1 m, y: 0.51 m}"}, /* 15 mm inside it */
      {"line_trackers",
       "{name: grey, x: 0.01 m, y: -1 m, threshold: 0.4}"}, /* on the grey line across */
      {"line_trackers", "{name: floor, x: 1 m, y: -1 m}"},
      {"line_trackers", "{name: beyond, x: 2.3 m, y: 0.9 m}"},
  };
  set_up(&on, parts, 5);
  assert_near(value_of(&on, "edge.darkness"), 0.5, 1e-9);
  assert_true(value_of(&on, "black.darkness") == 1 && value_of(&on, "black.on") == 1);
  assert_near(value_of(&on, "black.distance"), 0.01, 1e-9);
  assert_true(value_of(&on, "grey.darkness") == 0.4 && value_of(&on, "grey.on") == 1);
  assert_true(value_of(&on, "floor.darkness") == 0 && value_of(&on, "floor.on") == 0);
  assert_near(value_of(&on, "floor.distance"), 1, 1e-9);
  assert_near(value_of(&on, "beyond.distance"), 0.5, 1e-9); /* 0.3 past the end, 0.4 aside */
  tear_down(&on);
}

static void range_finders_measure(void **state) {
  (void)state;
  bench on;
  const element parts[] = {
      {"range_finders", "{name: ahead, x: 0.2 m, z: 0.3 m}"},
      {"range_finders", "{name: aslant, z: 0.3 m, yaw: 60 deg}"},
      {"range_finders", "{name: behind, yaw: 180 deg, maximum: 3 m}"},
      {"range_finders", "{name: near, x: 1 m, minimum: 0.2 m}"},
      {"range_finders", "{name: noisy, x: 0.2 m, z: 0.3 m, noise: 10 mm}"},
  };
  set_up(&on, parts, 5);
  assert_near(value_of(&on, "ahead.distance"), 0.9, 1e-6); /* the wall's face is at 1.1 m */
  assert_near(value_of(&on, "aslant.distance"), 2.2, 1e-6);
  assert_true(value_of(&on, "behind.distance") == 3);
  assert_true(value_of(&on, "near.distance") == 0.2);
  double sum = 0, squares = 0;
  for (int i = 0; i < 1000; i++) {
    run(&on, TIMESTEP * IO_STEPS);
    double error = value_of(&on, "noisy.distance") - 0.9;
    sum += error;
    squares += error * error;
  }
  assert_true(fabs(sum / 1000) < 0.001);
  assert_near(sqrt(squares / 1000), 0.01, 0.1);
  tear_down(&on);
}

static void bumpers_and_limit_switches_close(void **state) {
  (void)state;
  bench on;
  const element parts[] = {
      {"bumpers", "{name: front, body: carriage, width: 90 deg, force: 20 N}"},
      {"bumpers", "{name: rear, body: carriage, direction: 180 deg, width: 90 deg}"},
      {"limit_switches", "{name: far, joint: rail, above: 0.5 m}"},
      {"limit_switches", "{name: home, joint: rail, below: 1 mm}"},
  };
  set_up(&on, parts, 4);
  assert_true(value_of(&on, "home.pressed") == 1 && value_of(&on, "far.pressed") == 0);
  command(&on, "rail.torque", 30);
  run(&on, 0.3);
  assert_true(value_of(&on, "front.pressed") == 0 && value_of(&on, "front.force") == 0);
  run(&on, 5); /* it has come to rest at the wall */
  assert_near(value_of(&on, "front.force"), 30, 0.02);
  assert_true(value_of(&on, "front.pressed") == 1);
  assert_true(value_of(&on, "rear.pressed") == 0);
  assert_true(value_of(&on, "home.pressed") == 0 && value_of(&on, "far.pressed") == 1);
  command(&on, "rail.torque", 10); /* lighter than what closes it */
  run(&on, 2);
  assert_near(value_of(&on, "front.force"), 10, 0.02);
  assert_true(value_of(&on, "front.pressed") == 0);
  tear_down(&on);
}

#define DRIFTING "{name: heading, body: turntable, bias: 0.01 rad/s, noise: 0.1 rad/s}"

static void gyros_drift(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"gyros", "{name: exact, body: turntable}"},
                           {"gyros", DRIFTING},
                           {"gyros", "{name: aside, body: turntable, axis: x}"}};
  set_up(&on, parts, 3);
  command(&on, "turntable.torque", 1); /* 0.5 rad/s² */
  run(&on, 10);
  assert_near(value_of(&on, "exact.rate"), 5, 1e-3);
  assert_true(fabs(value_of(&on, "aside.rate")) < 1e-9);
  assert_near(value_of(&on, "exact.angle"), value_of(&on, "turntable.position"), 1e-3);
  double drift = value_of(&on, "heading.angle") - value_of(&on, "exact.angle");
  assert_near(drift, 0.1,
              0.5); /* 0.01 rad/s for 10 s; the noise walks 0.1 × √(10 × 0.01) = 0.03 rad */
  tt_error error;
  assert_int_equal(
      tt_world_post(on.world,
                    &(tt_mail){.kind = TT_MAIL_RESET, .index = TT_NO_ROBOT, .source = "test"}),
      TT_OK);
  assert_int_equal(tt_world_tick(on.world, &error), TT_OK);
  assert_true(fabs(value_of(&on, "exact.angle")) < 0.1);
  tear_down(&on);
}

/* What parts remember and draw is part of the world's state: a restored world goes on as the one that went on. */
static void restored_parts_go_on_alike(void **state) {
  (void)state;
  bench on;
  const element parts[] = {{"gyros", DRIFTING},
                           {"motors", TRACK},
                           {"lua_sensors", "{name: twice, file: sensors.lua, function: double}"}};
  set_up(&on, parts, 3);
  command(&on, "turntable.torque", 1);
  command(&on, "track.gear", 2);
  command(&on, "track.duty", 1);
  run(&on, 1);
  size_t size = tt_world_state_size(on.world);
  void *saved = malloc(size);
  assert_non_null(saved);
  tt_world_save(on.world, saved);
  run(&on, 1);
  double angle = value_of(&on, "heading.angle"), speed = value_of(&on, "flywheel.velocity");
  assert_true(value_of(&on, "twice") == 2 * speed);
  uint64_t hash = tt_world_hash(on.world);
  run(&on, 1);
  assert_int_equal(tt_world_restore(on.world, saved, size), TT_OK);
  run(&on, 1);
  assert_true(value_of(&on, "heading.angle") == angle);
  assert_true(value_of(&on, "flywheel.velocity") == speed);
  assert_true(tt_world_hash(on.world) == hash);
  free(saved);
  tear_down(&on);
}

static void a_failing_lua_sensor_reads_its_fallback(void **state) {
  (void)state;
  bench on;
  const element parts[] = {
      {"lua_sensors", "{name: fails, file: sensors.lua, function: broken, fallback: 3, unit: ft}"},
      {"lua_sensors", "{name: works, file: sensors.lua, function: double, unit: rpm}"},
  };
  set_up(&on, parts, 2);
  command(&on, "flywheel.torque", 2);
  run(&on, 1);
  assert_near(value_of(&on, "fails"), 3 * 0.3048, 1e-12);
  assert_near(value_of(&on, "works"), 2 * value_of(&on, "flywheel.velocity") * RPM, 1e-12);
  tear_down(&on);
}

/* ---- grippers ---- */

static void grippers_hold_their_kind(void **state) {
  (void)state;
  bench on;
  set_up(&on, &(element){"grippers", "{site: bench, reach: 0.5 m}"}, 1);
  run(&on, 0.1);
  assert_true(value_of(&on, "grip.held") == 0 && value_of(&on, "grip.kind") == 0);
  command(&on, "grip", 4); /* there is none of this kind */
  run(&on, 0.1);
  assert_true(value_of(&on, "grip.held") == 0);
  command(&on, "grip", 2);
  run(&on, 0.1);
  assert_true(value_of(&on, "grip.held") == 1 && value_of(&on, "grip.kind") == 2);
  command(&on, "grip", 3);
  run(&on, 0.1);
  assert_true(value_of(&on, "grip.held") == 1 && value_of(&on, "grip.kind") == 3);
  command(&on, "grip", 0);
  run(&on, 0.1);
  assert_true(value_of(&on, "grip.held") == 0);
  tear_down(&on);
}

/* ---- mistakes ---- */

static void mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    element part;
    const char *expected;
  } cases[] = {
      {{"motors", "{name: a, joint: flywhel}"}, "did you mean 'flywheel'?"},
      {{"lua_sensors", "{name: a, file: sensors.lua, function: misnamed}"},
       "sensors.lua:11: robot.yaml: part.function: no signal is called"},
      {{"motors", "{name: a}"}, "give either `joint: name` or `joints: [names]`"},
      {{"motors", "{name: a.b, joint: flywheel}"}, "can't begin a signal's name"},
      {{"motors", "{name: a, joint: flywheel, model: cym}"},
       ".model: 'cym' is not one of none, custom, cim"},
      {{"motors", "{name: a, joint: flywheel, gears: [2]}"},
       ".gears: means nothing without a motor model"},
      {{"motors", "{name: a, joint: flywheel, model: cim, gears: [nan]}"}, ".gears: "},
      {{"motors", "{name: a, joint: flywheel, model: cim, drum_radius: 1 m}"},
       ".drum_radius: is for slide joints"},
      {{"motors", "{name: a, joint: flywheel, model: cim, current_limit: 40 V}"},
       ".current_limit: '40 V'"},
      {{"motors", "{name: a, joints: [flywheel, hoist]}"}, "hinges and slides can't share a motor"},
      {{"motors", "{name: a, joints: [flywheel, flywheel]}"}, "stands there twice"},
      {{"motors", "{name: a, joint: flywheel, model: custom}"},
       "needs stall_torque and free_speed"},
      {{"motors", "{name: a, joint: flywheel, neutral: float}"}, "not one of brake, coast, hold"},
      {{"encoders", "{name: a, signal: flywheel.position}"}, "give one of ticks_per_turn"},
      {{"encoders", "{name: a, signal: flywheel.velocity, ticks_per_turn: 4}"},
       "is in rad/s, but the encoder"},
      {{"encoders", "{name: a, signal: flywheel.positon, ticks_per_turn: 4}"}, "flywheel.position"},
      {{"encoders", "{name: a, signal: rail.position, from: 0, to: 1, minimum: 0, maximum: 9}"},
       "give a unit"},
      {{"encoders", "{name: a, signal: a.ticks, ticks_per_turn: 4}"}, "is computed later"},
      {{"encoders", "{name: a, signal: real_time_factor, ticks_per_turn: 4}"},
       "is of the wall clock"},
      {{"line_trackers", "{name: a, body: bnch}"}, "did you mean 'bench'?"},
      {{"limit_switches", "{name: a, joint: rail}"}, "give `above`, `below`, or both"},
      {{"limit_switches", "{name: a, joint: rail, above: 3 deg}"}, ".above: '3 deg'"},
      {{"lua_sensors", "{name: a, file: none.lua}"}, "can't open"},
      {{"lua_sensors", "{name: a, file: ../../x.lua}"}, "must lie in the scene's folder"},
      {{"lua_sensors", "{name: a, file: sensors.lua}"}, "defines no function sense(read)"},
      {{"batteries", "{resistance: 20 V}"}, ".resistance: '20 V'"},
      {{"batteries", "{empty: 11 V}"}, ".empty: needs a capacity"},
      {{"batteries", "{brownout: 7 V, recovery: 6 V}"}, ".recovery: "},
      {{"grippers", "{name: other, site: bench}"}, "composed without the gripper 'other'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bench on;
    tt_error error = {{0}};
    tt_status status = set_up_checked(&on, &cases[i].part, 1, &error);
    if (status == TT_OK || !strstr(error.text, cases[i].expected))
      fail_msg("%s\nsays '%s', not '%s'", cases[i].part.yaml, error.text, cases[i].expected);
    on.world = NULL;
    tear_down(&on);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_motor_follows_its_line),
      cmocka_unit_test(a_stiff_line_does_not_ring),
      cmocka_unit_test(a_stalled_motor_gives_its_stall_torque),
      cmocka_unit_test(torque_is_clipped_by_the_line),
      cmocka_unit_test(shifting_changes_the_ratio),
      cmocka_unit_test(a_current_limit_holds),
      cmocka_unit_test(a_battery_sags_with_its_motors_current),
      cmocka_unit_test(a_battery_s_voltage_is_that_of_duty_1),
      cmocka_unit_test(a_battery_is_used_up),
      cmocka_unit_test(a_brown_out_turns_motors_off_until_it_has_recovered),
      cmocka_unit_test(who_has_no_stall_current_draws_as_an_ideal_motor),
      cmocka_unit_test(a_restored_battery_goes_on_alike),
      cmocka_unit_test(servos_keep_to_what_the_motor_gives),
      cmocka_unit_test(the_last_kind_of_command_holds),
      cmocka_unit_test(a_drum_drives_a_slide_and_can_hold),
      cmocka_unit_test(encoders_count),
      cmocka_unit_test(line_trackers_see_paint),
      cmocka_unit_test(range_finders_measure),
      cmocka_unit_test(bumpers_and_limit_switches_close),
      cmocka_unit_test(gyros_drift),
      cmocka_unit_test(restored_parts_go_on_alike),
      cmocka_unit_test(a_failing_lua_sensor_reads_its_fallback),
      cmocka_unit_test(grippers_hold_their_kind),
      cmocka_unit_test(mistakes_are_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

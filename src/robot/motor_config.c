/* motor_config.c: what a robot's file says of its motors, and the motors that people buy.
 *
 *   motors:
 *     - name: left_track            # commands left_track.torque, .velocity, .max_torque, .duty (and .gear)
 *       joints: [left_front, left_rear]   # or `joint: arm`; all hinges or all slides
 *       reversed: false             # true: positive means against the joints' axes
 *       model: cim                  # none, custom, or a preset of the table below; default custom where the
 *                                   # line is given, else none
 *       count: 2                    # motors that share the load, default 1
 *       gears: [12.75, 5.1]         # motor turns a joint turn; several: <name>.gear shifts, from 1; default [1]
 *       drum_radius: 0.59 in        # slide joints: of the drum or pinion; default 1 m
 *       efficiency: 0.9             # of the gearbox, 0…1, default 1
 *       current_limit: 40 A         # a motor; default none
 *       battery: 12 V               # what the controller can apply; default the model's nominal voltage
 *       neutral: brake              # at duty 0: brake, coast, hold (a gear that can't be back-driven);
 *                                   # default brake, with model none coast
 *       max_torque: 60 N·m          # limit of velocity servos, and duty 1 with model none;
 *                                   # default: what the motors give at stall, with model none what the joints say
 *       stall_torque: 2.42 N·m      # model custom: one motor's line at nominal_voltage
 *       free_speed: 5310 rpm
 *       stall_current: 133 A        # default: current is neither told nor limited
 *       free_current: 2.7 A
 *       nominal_voltage: 12 V
 */
#include "robot/motor.h"

#include <string.h>

#define RPM (3.14159265358979323846 / 30)

/* As WPILib's DCMotor class gives them (edu.wpi.first.math.system.plant.DCMotor), which has them from the makers'
 * own data: VEX, AndyMark, BaneBots, REV Robotics, CTR Electronics. */
static const struct {
  const char *name;
  motor_line line;
} presets[] = {
    {"cim", {12, 2.42, 133, 2.7, 5310 * RPM}},
    {"mini_cim", {12, 1.41, 89, 3, 5840 * RPM}},
    {"bag", {12, 0.43, 53, 1.8, 13180 * RPM}},
    {"775pro", {12, 0.71, 134, 0.7, 18730 * RPM}},
    {"rs775_125", {12, 0.28, 18, 1.6, 5800 * RPM}},
    {"rs775", {12, 0.72, 97, 2.7, 13050 * RPM}},
    {"rs550", {12, 0.38, 84, 0.4, 19000 * RPM}},
    {"neo", {12, 2.6, 105, 1.8, 5676 * RPM}},
    {"neo_550", {12, 0.97, 100, 1.4, 11000 * RPM}},
    {"falcon_500", {12, 4.69, 257, 1.5, 6380 * RPM}},
    {"kraken_x60", {12, 7.09, 366, 2, 6000 * RPM}},
};
#define PRESET_COUNT (sizeof presets / sizeof *presets)

static const cyaml_schema_value_t number_schema = {CYAML_VALUE_FLOAT(CYAML_FLAG_DEFAULT, double)};

#define TEXT(key)                                                                                  \
  CYAML_FIELD_STRING_PTR(#key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, motor_config, key, 0, 64)
static const cyaml_schema_field_t motor_fields[] = {
    CYAML_FIELD_STRING_PTR("name", CYAML_FLAG_POINTER, motor_config, name, 1, 64),
    TEXT(joint),
    CYAML_FIELD_SEQUENCE("joints", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, motor_config, joints,
                         &tt_string_schema, 1, JOINTS_MAX),
    CYAML_FIELD_BOOL("reversed", CYAML_FLAG_OPTIONAL, motor_config, reversed),
    TEXT(model),
    CYAML_FIELD_UINT_PTR("count", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, motor_config, count),
    CYAML_FIELD_SEQUENCE("gears", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, motor_config, gears,
                         &number_schema, 1, GEARS_MAX),
    CYAML_FIELD_FLOAT_PTR("efficiency", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, motor_config,
                          efficiency),
    TEXT(drum_radius),
    TEXT(current_limit),
    TEXT(battery),
    TEXT(neutral),
    TEXT(max_torque),
    TEXT(stall_torque),
    TEXT(free_speed),
    TEXT(stall_current),
    TEXT(free_current),
    TEXT(nominal_voltage),
    CYAML_FIELD_END,
};
#undef TEXT

static tt_status choose_model(motor_config *config, const char *where, tt_error *error) {
  const char *words[PRESET_COUNT + 3] = {"none", "custom"};
  int chosen;
  for (size_t i = 0; i < PRESET_COUNT; i++) words[i + 2] = presets[i].name;
  TT_TRY(tt_word_check(config->model, "model", where, words,
                       config->stall_torque || config->free_speed, &chosen, error));
  config->has_line = chosen > 0;
  if (chosen > 1) config->line = presets[chosen - 2].line;
  return tt_default_string(&config->model, words[chosen], error);
}

/* Without a model nothing but torque and its limit means anything: say so rather than ignore a key. */
static tt_status refuse_model_keys(const motor_config *config, const char *where, tt_error *error) {
  const struct {
    const char *key;
    const void *value;
  } keys[] = {{"count", config->count},
              {"gears", config->gears},
              {"efficiency", config->efficiency},
              {"drum_radius", config->drum_radius},
              {"battery", config->battery},
              {"current_limit", config->current_limit},
              {"stall_torque", config->stall_torque},
              {"free_speed", config->free_speed},
              {"stall_current", config->stall_current},
              {"free_current", config->free_current},
              {"nominal_voltage", config->nominal_voltage}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (keys[i].value)
      return tt_fail(error, TT_INVALID,
                     "%s.%s: means nothing without a motor model; add `model:` or leave it out",
                     where, keys[i].key);
  return TT_OK;
}

static tt_status check_gears(motor_config *config, const char *where, tt_error *error) {
  config->ratio_count = config->gears ? (int)config->gears_count : 1;
  config->ratios[0] = 1;
  for (unsigned i = 0; config->gears && i < config->gears_count; i++)
    TT_TRY(tt_number_check(&config->gears[i], "gears", where, GEAR_LEAST, GEAR_MOST, 1,
                           &config->ratios[i], error));
  return TT_OK;
}

static tt_status check_line(motor_config *config, const char *where, tt_error *error) {
  motor_line *line = &config->line;
  TT_TRY(tt_quantity_check(config->nominal_voltage, "nominal_voltage", where, TT_VOLTAGE, 0.1, 1e4,
                           line->nominal_voltage > 0 ? line->nominal_voltage : 12,
                           &line->nominal_voltage, error));
  TT_TRY(tt_quantity_check(config->stall_torque, "stall_torque", where, TT_TORQUE, 1e-9, 1e6,
                           line->stall_torque, &line->stall_torque, error));
  TT_TRY(tt_quantity_check(config->free_speed, "free_speed", where, TT_ANGULAR_VELOCITY, 1e-6, 1e6,
                           line->free_speed, &line->free_speed, error));
  TT_TRY(tt_quantity_check(config->stall_current, "stall_current", where, TT_CURRENT, 1e-6, 1e6,
                           line->stall_current, &line->stall_current, error));
  TT_TRY(tt_quantity_check(config->free_current, "free_current", where, TT_CURRENT, 0, 1e6,
                           line->free_current, &line->free_current, error));
  if (line->stall_torque == 0 || line->free_speed == 0)
    return tt_fail(error, TT_INVALID, "%s: model custom needs stall_torque and free_speed", where);
  if (line->free_current > line->stall_current)
    return tt_fail(error, TT_INVALID, "%s.free_current: can't be above stall_current", where);
  double battery;
  TT_TRY(tt_quantity_check(config->battery, "battery", where, TT_VOLTAGE, 0, 1e4,
                           line->nominal_voltage, &battery, error));
  config->full = battery / line->nominal_voltage;
  TT_TRY(tt_quantity_check(config->current_limit, "current_limit", where, TT_CURRENT, 0, 1e6,
                           UNLIMITED, &config->limit, error));
  if (config->current_limit && line->stall_current == 0)
    return tt_fail(error, TT_INVALID, "%s.current_limit: needs stall_current", where);
  TT_TRY(tt_quantity_check(config->drum_radius, "drum_radius", where, TT_LENGTH, 1e-6, 1e3, 1,
                           &config->drum, error));
  TT_TRY(tt_number_check(config->efficiency, "efficiency", where, 1e-3, 1, 1, &config->loss_factor,
                         error));
  const double count = config->count ? *config->count : 0;
  TT_TRY(tt_number_check(config->count ? &count : NULL, "count", where, 1, 100, 1, &config->motors,
                         error));
  return check_gears(config, where, error);
}

static tt_status check_neutral(motor_config *config, const char *where, tt_error *error) {
  static const char *const names[] = {
      [BRAKE] = "brake", [COAST] = "coast", [HOLD] = "hold", [HOLD + 1] = NULL};
  int chosen;
  TT_TRY(tt_word_check(config->neutral, "neutral", where, names, config->has_line ? BRAKE : COAST,
                       &chosen, error));
  config->at_zero = (neutral)chosen;
  return tt_default_string(&config->neutral, names[chosen], error);
}

static tt_status motor_check(void *untyped, const char *where, tt_error *error) {
  motor_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  if (!config->joint == !config->joints)
    return tt_fail(error, TT_INVALID, "%s: give either `joint: name` or `joints: [names]`", where);
  TT_TRY(choose_model(config, where, error));
  TT_TRY(check_neutral(config, where, error));
  tt_key_tell_quantity(where, "max_torque", 0);
  config->ratio_count = 1;
  return config->has_line ? check_line(config, where, error)
                          : refuse_model_keys(config, where, error);
}

const tt_schema tt_motor_schema = {
    .key = "motors", .fields = motor_fields, .size = sizeof(motor_config), .check = motor_check};

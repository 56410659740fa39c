/* motor.c: a named motor on one or several joints, by its torque-speed line or torque directly.
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
 *
 * Signs: positive torque, speed and duty mean the joints' positive direction (`reversed`: the negative one).
 * All values are at the joints: a torque is the sum over them, each taking an equal share.
 *
 * Of one motor, with u the voltage and s the speed, both as parts of the nominal voltage and the free speed:
 * torque = stall_torque (u − s), current = stall_current (u − s) + free_current s. At the joint the speed is
 * divided by the gear ratio, the torque multiplied by gear ratio × count × efficiency. A torque command is
 * clipped to what |u| ≤ battery / nominal_voltage allows at the present speed, and never brakes by itself.
 *
 * The line is a stiff damper where gears are high, so a voltage is not applied as a torque that could overshoot
 * within a step: it is a servo toward the free speed of that voltage, limited to the line's torque.
 */
#include "robot/common.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JOINTS_MAX 16
#define GEARS_MAX 8
#define UNLIMITED 1e30

/** One motor's line. */
typedef struct motor_line {
  double nominal_voltage; /* V */
  double stall_torque;    /* N·m */
  double stall_current;   /* A; 0: unknown */
  double free_current;    /* A */
  double free_speed;      /* rad/s */
} motor_line;

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

typedef enum neutral { BRAKE, COAST, HOLD } neutral;

typedef struct motor_config {
  char *name;
  char *joint;
  char **joints;
  unsigned joints_count;
  bool reversed;
  char *model;
  uint32_t *count;
  double *gears;
  unsigned gears_count;
  double *efficiency;
  char *drum_radius, *current_limit, *battery, *neutral, *max_torque;
  char *stall_torque, *free_speed, *stall_current, *free_current, *nominal_voltage;
  /* Filled by check(): */
  bool has_line;
  motor_line line;
  double motors, loss_factor, drum, limit, full; /* full: greatest u */
  double ratios[GEARS_MAX];
  int ratio_count;
  neutral at_zero;
} motor_config;

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
  bool has_keys = config->stall_torque || config->free_speed;
  TT_TRY(tt_default_string(&config->model, has_keys ? "custom" : "none", error));
  config->has_line = strcmp(config->model, "none") != 0;
  if (!config->has_line || strcmp(config->model, "custom") == 0) return TT_OK;
  char known[256] = "none, custom";
  for (size_t i = 0; i < PRESET_COUNT; i++) {
    if (strcmp(config->model, presets[i].name) == 0) {
      config->line = presets[i].line;
      return TT_OK;
    }
    strcat(strcat(known, ", "), presets[i].name);
  }
  return tt_fail(error, TT_INVALID, "%s.model: '%s' is not one of %s", where, config->model, known);
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
    TT_TRY(tt_robot_check_number(&config->gears[i], "gears", where, 1e-6, 1e6, 1,
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
  TT_TRY(tt_robot_check_number(config->efficiency, "efficiency", where, 1e-3, 1, 1,
                               &config->loss_factor, error));
  config->motors = config->count ? *config->count : 1;
  if (config->motors < 1 || config->motors > 100)
    return tt_fail(error, TT_INVALID, "%s.count: %g motors are out of range; give 1 to 100", where,
                   config->motors);
  return check_gears(config, where, error);
}

static tt_status check_neutral(motor_config *config, const char *where, tt_error *error) {
  static const char *const names[] = {[BRAKE] = "brake", [COAST] = "coast", [HOLD] = "hold"};
  TT_TRY(tt_default_string(&config->neutral, config->has_line ? "brake" : "coast", error));
  for (int i = 0; i < 3; i++) {
    if (strcmp(config->neutral, names[i]) != 0) continue;
    config->at_zero = (neutral)i;
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID, "%s.neutral: '%s' is not one of brake, coast, hold", where,
                 config->neutral);
}

static tt_status motor_check(void *untyped, const char *where, tt_error *error) {
  motor_config *config = untyped;
  TT_TRY(tt_robot_check_name(config->name, where, error));
  if (!config->joint == !config->joints)
    return tt_fail(error, TT_INVALID, "%s: give either `joint: name` or `joints: [names]`", where);
  TT_TRY(choose_model(config, where, error));
  TT_TRY(check_neutral(config, where, error));
  config->ratio_count = 1;
  return config->has_line ? check_line(config, where, error)
                          : refuse_model_keys(config, where, error);
}

const tt_schema tt_motor_schema = {
    .key = "motors", .fields = motor_fields, .size = sizeof(motor_config), .check = motor_check};

typedef struct motor {
  tt_robot_part head;
  int axes[JOINTS_MAX];
  int axis_count;
  bool slide;
  double max_torque;                                    /* N·m or N, all joints together */
  int torque, velocity, max_torque_command, duty, gear; /* command indices; gear −1: one ratio */
  int torque_channel, current_channel, voltage_channel, gear_channel;
} motor;

static const motor_config *config_of(const motor *self) { return self->head.config; }

/** What one joint's share of the motors gives in the gear engaged. */
typedef struct share {
  double stall; /* N·m or N at the joint, nominal voltage */
  double free;  /* rad/s or m/s of the joint, nominal voltage */
} share;

static share share_in_gear(const motor *self, int gear) {
  const motor_config *config = config_of(self);
  double ratio = config->ratios[gear - 1] /
                 (self->slide ? config->drum : 1); /* motor rad a rad or m of the joint */
  return (share){
      .stall = config->line.stall_torque * ratio * config->motors * config->loss_factor /
               self->axis_count,
      .free = config->line.free_speed / ratio,
  };
}

static tt_status find_axes(motor *self, tt_declare *declare, double *joints_max, tt_error *error) {
  const motor_config *config = config_of(self);
  const tt_physics_info *info = tt_physics_describe(declare->physics);
  self->axis_count = config->joint ? 1 : (int)config->joints_count;
  *joints_max = 0;
  for (int i = 0; i < self->axis_count; i++) {
    int joint;
    TT_TRY(tt_robot_find_joint(declare, config->joint ? "joint" : "joints",
                               config->joint ? config->joint : config->joints[i], &joint, error));
    bool slide = info->joints[joint].kind == TT_SLIDE;
    if (i > 0 && slide != self->slide)
      return tt_fail(error, TT_INVALID, "%s.joints: hinges and slides can't share a motor",
                     declare->where);
    self->slide = slide;
    self->axes[i] = info->joints[joint].axis;
    *joints_max += info->joints[joint].max_torque;
    for (int j = 0; j < i; j++)
      if (self->axes[j] == self->axes[i])
        return tt_fail(error, TT_INVALID, "%s.joints: '%s' stands there twice", declare->where,
                       config->joints[i]);
  }
  return TT_OK;
}

static tt_status declare_commands(motor *self, tt_declare *declare, tt_error *error) {
  const tt_part *part = &self->head.part;
  tt_dimension torque = self->slide ? TT_FORCE : TT_TORQUE;
  tt_dimension speed = self->slide ? TT_VELOCITY : TT_ANGULAR_VELOCITY;
  tt_command command = {
      .index = self->axes[0], .lower = -TT_COMMAND_LIMIT, .upper = TT_COMMAND_LIMIT};
  command.kind = TT_COMMAND_TORQUE;
  command.dimension = torque;
  TT_TRY(tt_robot_add_command(declare, part, "torque", command, &self->torque, error));
  command.kind = TT_COMMAND_VELOCITY;
  command.dimension = speed;
  TT_TRY(tt_robot_add_command(declare, part, "velocity", command, &self->velocity, error));
  command.kind = TT_COMMAND_MAX_TORQUE;
  command.dimension = torque;
  command.lower = 0;
  command.safe = NAN;
  TT_TRY(
      tt_robot_add_command(declare, part, "max_torque", command, &self->max_torque_command, error));
  command = (tt_command){.kind = TT_COMMAND_DUTY, .index = self->axes[0], .lower = -1, .upper = 1};
  TT_TRY(tt_robot_add_command(declare, part, "duty", command, &self->duty, error));
  self->gear = -1;
  if (config_of(self)->ratio_count < 2) return TT_OK;
  command = (tt_command){
      .kind = TT_COMMAND_SHIFT, .lower = 1, .upper = config_of(self)->ratio_count, .safe = NAN};
  return tt_robot_add_command(declare, part, "gear", command, &self->gear, error);
}

static tt_status declare_channels(motor *self, tt_declare *declare, tt_error *error) {
  const tt_part *part = &self->head.part;
  self->current_channel = self->voltage_channel = self->gear_channel = -1;
  TT_TRY(tt_robot_add_channel(declare, part, "torque", self->slide ? TT_FORCE : TT_TORQUE,
                              &self->torque_channel, error));
  if (!config_of(self)->has_line) return TT_OK;
  if (config_of(self)->line.stall_current > 0)
    TT_TRY(
        tt_robot_add_channel(declare, part, "current", TT_CURRENT, &self->current_channel, error));
  TT_TRY(tt_robot_add_channel(declare, part, "voltage", TT_VOLTAGE, &self->voltage_channel, error));
  if (self->gear < 0) return TT_OK;
  return tt_robot_add_channel(declare, part, "gear", TT_DIMENSIONLESS, &self->gear_channel, error);
}

static tt_status motor_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  motor *self = (motor *)part;
  const motor_config *config = config_of(self);
  double joints_max;
  TT_TRY(find_axes(self, declare, &joints_max, error));
  if (config->drum_radius && !self->slide)
    return tt_fail(error, TT_INVALID, "%s.drum_radius: is for slide joints only", declare->where);
  /* With several gears the lowest gives most. */
  double most = config->has_line ? 0 : joints_max;
  for (int gear = 1; config->has_line && gear <= config->ratio_count; gear++)
    most = fmax(most, share_in_gear(self, gear).stall * self->axis_count * fmax(config->full, 1));
  TT_TRY(tt_quantity_check(config->max_torque, "max_torque", declare->where,
                           self->slide ? TT_FORCE : TT_TORQUE, 0, TT_COMMAND_LIMIT, most,
                           &self->max_torque, error));
  TT_TRY(declare_commands(self, declare, error));
  return declare_channels(self, declare, error);
}

static int engaged_gear(const motor *self, const double *commands, const uint64_t *accepted) {
  return self->gear >= 0 && accepted[self->gear] ? (int)lrint(commands[self->gear]) : 1;
}

/* The greatest torque, as a part of stall, that the current limit allows toward `sign` at speed `s`. */
static double current_bound(const motor_config *config, double s, double sign) {
  if (config->limit >= UNLIMITED) return UNLIMITED;
  return fmax(0,
              (config->limit - sign * config->line.free_current * s) / config->line.stall_current);
}

/* `u` at the motor: a servo toward its free speed, limited to the torque of the line at speed `s`. */
static tt_drive apply_voltage(const motor_config *config, share at, double u, double s) {
  double torque = fabs(u - s);
  torque = fmin(torque, current_bound(config, s, u > s ? 1 : -1));
  return (tt_drive){
      .kind = TT_DRIVE_VELOCITY, .velocity = u * at.free, .max_torque = torque * at.stall};
}

static tt_drive apply_torque(const motor_config *config, share at, double torque, double s) {
  double sign = torque < 0 ? -1 : 1;
  double wanted = fabs(torque) / at.stall;
  double line = config->full - sign * s; /* what full voltage that way gives */
  if (wanted > line && line > 0) return apply_voltage(config, at, sign * config->full, s);
  wanted = fmin(fmin(wanted, fmax(line, 0)), current_bound(config, s, sign));
  return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = sign * wanted * at.stall};
}

static tt_drive apply_velocity(const motor_config *config, share at, double velocity,
                               double max_torque, double s) {
  double wanted = velocity / at.free;
  double sign = wanted != s ? copysign(1, wanted - s) : copysign(1, s);
  double line = fmin(fmax(config->full - sign * s, 0), current_bound(config, s, sign));
  return (tt_drive){.kind = TT_DRIVE_VELOCITY,
                    .velocity = velocity,
                    .max_torque = fmin(max_torque, line * at.stall)};
}

static tt_drive apply_duty(const motor_config *config, share at, double duty, double hold,
                           double s) {
  if (duty != 0 || config->at_zero == BRAKE)
    return apply_voltage(config, at, duty * config->full, s);
  if (config->at_zero == HOLD) return (tt_drive){.kind = TT_DRIVE_VELOCITY, .max_torque = hold};
  return (tt_drive){.kind = TT_DRIVE_TORQUE};
}

/* Without a motor model: torque directly at the joint. */
static tt_drive apply_duty_directly(const motor_config *config, double duty, double most) {
  if (duty == 0 && config->at_zero != COAST)
    return (tt_drive){.kind = TT_DRIVE_VELOCITY, .max_torque = most};
  return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = duty * most};
}

/* The command of torque, velocity and duty that was accepted last; −1 when none was. */
static int holding_command(const motor *self, const uint64_t *accepted) {
  const int kinds[] = {self->velocity, self->duty,
                       self->torque}; /* of one message the first holds */
  int holds = -1;
  for (int i = 0; i < 3; i++)
    if (accepted[kinds[i]] && (holds < 0 || accepted[kinds[i]] > accepted[holds])) holds = kinds[i];
  return holds;
}

static tt_drive drive_axis(const motor *self, const tt_actuation *actuation, int holds,
                           double speed) {
  const motor_config *config = config_of(self);
  double joints = self->axis_count;
  double value = actuation->commands[holds];
  int limit = self->max_torque_command;
  double max_torque = actuation->accepted[limit] ? actuation->commands[limit] : self->max_torque;
  if (!config->has_line) {
    if (holds == self->torque) return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value / joints};
    if (holds == self->duty) return apply_duty_directly(config, value, self->max_torque / joints);
    return (tt_drive){
        .kind = TT_DRIVE_VELOCITY, .velocity = value, .max_torque = max_torque / joints};
  }
  share at = share_in_gear(self, engaged_gear(self, actuation->commands, actuation->accepted));
  double s = speed / at.free;
  if (holds == self->torque) return apply_torque(config, at, value / joints, s);
  if (holds == self->duty) return apply_duty(config, at, value, self->max_torque / joints, s);
  return apply_velocity(config, at, value, max_torque / joints, s);
}

static void motor_actuate(tt_part *part, tt_actuation *actuation) {
  const motor *self = (const motor *)part;
  int holds = holding_command(self, actuation->accepted);
  if (holds < 0) return;
  double sign = config_of(self)->reversed ? -1 : 1;
  const double *velocities = tt_physics_axis_velocity(actuation->physics);
  for (int i = 0; i < self->axis_count; i++) {
    int axis = self->axes[i];
    /* The joint's own command may hold it. */
    if (actuation->axis_accepted[axis] >= actuation->accepted[holds]) continue;
    tt_drive drive = drive_axis(self, actuation, holds, sign * velocities[axis]);
    drive.torque *= sign;
    drive.velocity *= sign;
    actuation->drives[axis] = drive;
  }
}

/* Current and voltage follow from torque and speed, whoever asked for them. */
static void motor_sense(tt_part *part, const tt_physics *physics, tt_view *view) {
  const motor *self = (const motor *)part;
  const motor_config *config = config_of(self);
  double sign = config->reversed ? -1 : 1;
  const double *torques = tt_physics_axis_torque(physics),
               *velocities = tt_physics_axis_velocity(physics);
  double torque = 0, speed = 0;
  for (int i = 0; i < self->axis_count; i++) {
    torque += sign * torques[self->axes[i]];
    speed += sign * velocities[self->axes[i]] / self->axis_count;
  }
  view->channels[self->torque_channel] = torque;
  if (!config->has_line) return;
  double shift = self->gear >= 0 ? view->commands[self->gear] : 1;
  int gear = shift >= 1 ? (int)lrint(shift) : 1; /* 0: never shifted */
  share at = share_in_gear(self, gear);
  double t = torque / (at.stall * self->axis_count), s = speed / at.free;
  const motor_line *line = &config->line;
  if (self->current_channel >= 0)
    view->channels[self->current_channel] =
        config->motors * (line->stall_current * t + line->free_current * s);
  double u = fmax(-config->full, fmin(t + s, config->full));
  view->channels[self->voltage_channel] = u * line->nominal_voltage;
  if (self->gear_channel >= 0) view->channels[self->gear_channel] = gear;
}

static const tt_part_ops motor_ops = {
    .kind = "motors",
    .declare = motor_declare,
    .actuate = motor_actuate,
    .sense = motor_sense,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_motor_kind = {.ops = &motor_ops, .part_size = sizeof(motor)};

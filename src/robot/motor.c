/* motor.c: a named motor on one or several joints, by its torque-speed line or torque directly; its keys are in
 * motor_config.c.
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
#include "robot/motor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct motor {
  tt_robot_part head;
  int axes[JOINTS_MAX];
  int axis_count;
  bool slide;
  double max_torque;                                    /* N·m or N, all joints together */
  double ratios[GEARS_MAX];                             /* of the gears */
  int torque, velocity, max_torque_command, duty, gear; /* command indices; gear −1: one ratio */
  int torque_channel, current_channel, voltage_channel, gear_channel;
  tt_supply_channels supply; /* −1: no battery, the voltage is constant */
} motor;

static const motor_config *config_of(const motor *self) { return self->head.config; }

/** What one joint's share of the motors gives in the gear engaged. */
typedef struct share {
  double stall; /* N·m or N at the joint, nominal voltage */
  double free;  /* rad/s or m/s of the joint, nominal voltage */
  double full;  /* greatest voltage, as part of the nominal one */
} share;

/* At the motor's own constant voltage: see feed(). */
static share share_in_gear(const motor *self, int gear) {
  const motor_config *config = config_of(self);
  double ratio = self->ratios[gear - 1] /
                 (self->slide ? config->drum : 1); /* motor rad a rad or m of the joint */
  return (share){
      .stall = config->line.stall_torque * ratio * config->motors * config->loss_factor /
               self->axis_count,
      .free = config->line.free_speed / ratio,
      .full = config->full,
  };
}

/* The robot's battery feeds it, where there is one. */
static share feed(const motor *self, share at, const tt_supply *supply) {
  if (supply->is_there) at.full = supply->voltage / config_of(self)->line.nominal_voltage;
  return at;
}

/* Of two drives of an axis a step would take the later one in the file for both. */
static tt_status take_axis(const motor *self, const tt_declare *declare, int index, int axis,
                           tt_error *error) {
  const motor_config *config = config_of(self);
  const tt_part *other = declare->drivers[axis];
  declare->drivers[axis] = &self->head.part;
  if (!other) return TT_OK;
  if (other == &self->head.part)
    return tt_fail(error, TT_INVALID, "%s.joints: '%s' stands there twice", declare->where,
                   config->joints[index]);
  return tt_fail(error, TT_INVALID,
                 "%s.%s: '%s' is driven by the motor '%s' already, at %s; motors that share a load "
                 "are one with `count: 2`",
                 declare->where, config->joint ? "joint" : "joints",
                 config->joint ? config->joint : config->joints[index], other->name, other->where);
}

static tt_status find_axes(motor *self, tt_declare *declare, double *joints_max, tt_error *error) {
  const motor_config *config = config_of(self);
  const tt_mechanism *info = tt_space_mechanism(declare->space);
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
    TT_TRY(take_axis(self, declare, i, self->axes[i], error));
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
  self->supply = *declare->supply;
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

/* What the line gives at most: with several gears the lowest. */
static double strongest(const motor *self) {
  const motor_config *config = config_of(self);
  double most = 0;
  for (int gear = 1; gear <= config->ratio_count; gear++)
    most = fmax(most, share_in_gear(self, gear).stall * self->axis_count * fmax(config->full, 1));
  return most;
}

static tt_status motor_declare(tt_part *part, tt_declare *declare, tt_error *error) {
  motor *self = (motor *)part;
  const motor_config *config = config_of(self);
  double joints_max;
  memcpy(self->ratios, config->ratios, sizeof self->ratios);
  TT_TRY(find_axes(self, declare, &joints_max, error));
  if (config->drum_radius && !self->slide)
    return tt_fail(error, TT_INVALID, "%s.drum_radius: is for slide joints only", declare->where);
  double most = config->has_line ? strongest(self) : joints_max;
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
  double line = at.full - sign * s; /* what full voltage that way gives */
  if (wanted > line && line > 0) return apply_voltage(config, at, sign * at.full, s);
  wanted = fmin(fmin(wanted, fmax(line, 0)), current_bound(config, s, sign));
  return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = sign * wanted * at.stall};
}

static tt_drive apply_velocity(const motor_config *config, share at, double velocity,
                               double max_torque, double s) {
  double wanted = velocity / at.free;
  double sign = wanted != s ? copysign(1, wanted - s) : copysign(1, s);
  double line = fmin(fmax(at.full - sign * s, 0), current_bound(config, s, sign));
  return (tt_drive){.kind = TT_DRIVE_VELOCITY,
                    .velocity = velocity,
                    .max_torque = fmin(max_torque, line * at.stall)};
}

static tt_drive apply_duty(const motor_config *config, share at, double duty, double hold,
                           double s) {
  if (duty != 0 || config->at_zero == BRAKE) return apply_voltage(config, at, duty * at.full, s);
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

/* In a brown-out every motor is one at duty 0, whatever was asked of it. */
static tt_drive drive_axis(const motor *self, const tt_actuation *actuation, int holds,
                           double speed) {
  const motor_config *config = config_of(self);
  const tt_supply *supply = &actuation->supplies[self->head.part.robot];
  double joints = self->axis_count;
  if (supply->off) holds = self->duty;
  double value = supply->off ? 0 : actuation->commands[holds];
  int limit = self->max_torque_command;
  double max_torque = actuation->accepted[limit] ? actuation->commands[limit] : self->max_torque;
  if (!config->has_line) {
    if (holds == self->torque) return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value / joints};
    if (holds == self->duty) return apply_duty_directly(config, value, self->max_torque / joints);
    return (tt_drive){
        .kind = TT_DRIVE_VELOCITY, .velocity = value, .max_torque = max_torque / joints};
  }
  int gear = engaged_gear(self, actuation->commands, actuation->accepted);
  share at = feed(self, share_in_gear(self, gear), supply);
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
  const double *velocities = tt_space_axis_velocity(actuation->space);
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

/** What decides whether a motor is in a circuit. */
typedef struct circuit {
  const double *commands;
  const uint64_t *accepted, *axis_accepted;
  bool off; /* brown-out */
} circuit;

/* An open motor has no current, nor has one whose gear holds the joint by itself, whatever torque that takes. */
static bool is_open(const motor *self, const circuit *at, int axis) {
  int holds = holding_command(self, at->accepted);
  if (holds < 0) return at->axis_accepted[axis] == 0;
  if (at->axis_accepted[axis] >= at->accepted[holds] || config_of(self)->at_zero == BRAKE)
    return false;
  return at->off || (holds == self->duty && at->commands[holds] == 0);
}

/** What it did in the last step. */
typedef struct measured {
  double torque, speed;               /* N·m or N, the sum of all its joints; their mean speed */
  double driven_torque, driven_speed; /* the part of the joints whose motors are in a circuit */
} measured;

static measured measure(const motor *self, const tt_space *space, const circuit *at) {
  double sign = config_of(self)->reversed ? -1 : 1;
  const double *torques = tt_space_axis_torque(space), *velocities = tt_space_axis_velocity(space);
  measured sum = {.torque = 0};
  for (int i = 0; i < self->axis_count; i++) {
    double torque = sign * torques[self->axes[i]];
    double speed = sign * velocities[self->axes[i]] / self->axis_count;
    sum.torque += torque;
    sum.speed += speed;
    if (is_open(self, at, self->axes[i])) continue;
    sum.driven_torque += torque;
    sum.driven_speed += speed;
  }
  return sum;
}

/* The current of one motor that turns all its power into motion but for its windings' resistance. */
static double ideal_stall_current(const motor_line *line) {
  return line->stall_torque * line->free_speed / line->nominal_voltage;
}

/* Power at the motors over the voltage before their controllers. A motor without torque is one that is off. A command that came
 * since counts as if it had been there in the last step. */
static double motor_draws(const tt_part *part, const tt_actuation *actuation, double voltage) {
  const motor *self = (const motor *)part;
  const motor_config *config = config_of(self);
  const motor_line *line = &config->line;
  if (!config->has_line) return 0;
  measured did =
      measure(self, actuation->space,
              &(circuit){actuation->commands, actuation->accepted, actuation->axis_accepted,
                         actuation->supplies[part->robot].off});
  if (did.driven_torque == 0) return 0;
  share at = share_in_gear(self, engaged_gear(self, actuation->commands, actuation->accepted));
  double t = did.driven_torque / (at.stall * self->axis_count), s = did.speed / at.free;
  double most = voltage / line->nominal_voltage;
  double u = fmax(-most, fmin(t + s, most));
  double stall = line->stall_current > 0 ? line->stall_current : ideal_stall_current(line);
  return config->motors * (stall * t + line->free_current * (did.driven_speed / at.free)) * u /
         most;
}

/* Current and voltage follow from torque and speed, whoever asked for them. */
static void motor_sense(tt_part *part, const tt_space *space, tt_view *view) {
  const motor *self = (const motor *)part;
  const motor_config *config = config_of(self);
  bool off = self->supply.off >= 0 && view->channels[self->supply.off] != 0;
  measured did =
      measure(self, space, &(circuit){view->commands, part->accepted, part->axis_accepted, off});
  view->channels[self->torque_channel] = did.torque;
  if (!config->has_line) return;
  double shift = self->gear >= 0 ? view->commands[self->gear] : 1;
  int gear = shift >= 1 ? (int)lrint(shift) : 1; /* 0: never shifted */
  share at = share_in_gear(self, gear);
  double t = did.driven_torque / (at.stall * self->axis_count), s = did.speed / at.free;
  const motor_line *line = &config->line;
  if (self->current_channel >= 0)
    view->channels[self->current_channel] =
        config->motors *
        (line->stall_current * t + line->free_current * (did.driven_speed / at.free));
  double full = self->supply.voltage >= 0
                    ? view->channels[self->supply.voltage] / line->nominal_voltage
                    : config->full;
  double u = fmax(-full, fmin(t + s, full));
  view->channels[self->voltage_channel] = u * line->nominal_voltage;
  if (self->gear_channel >= 0) view->channels[self->gear_channel] = gear;
}

static bool motor_value(const tt_part *part, int index, tt_value *value) {
  static const char *const numbered[GEARS_MAX] = {"gear1", "gear2", "gear3", "gear4",
                                                  "gear5", "gear6", "gear7", "gear8"};
  const motor_config *config = config_of((const motor *)part);
  if (!config->has_line || index >= config->ratio_count) return false;
  *value = (tt_value){.name = config->ratio_count == 1 ? "gear" : numbered[index],
                      .own = config->ratios[index],
                      .lower = GEAR_LEAST,
                      .upper = GEAR_MOST};
  return true;
}

static void motor_set_value(tt_part *part, int index, double value) {
  motor *self = (motor *)part;
  self->ratios[index] = value;
  if (!config_of(self)->max_torque) self->max_torque = strongest(self);
}

static const tt_part_ops motor_ops = {
    .kind = "motors",
    .declare = motor_declare,
    .actuate = motor_actuate,
    .draws = motor_draws,
    .sense = motor_sense,
    .value = motor_value,
    .set_value = motor_set_value,
    .clone = tt_robot_part_clone,
    .free = tt_robot_part_free,
};

const tt_part_kind tt_motor_kind = {.ops = &motor_ops, .part_size = sizeof(motor)};

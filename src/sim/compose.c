#include "sim/compose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a value of the model is set. */
typedef struct value_target {
  int part, own; /* TT_NO_PART: the engine's */
} value_target;

struct tt_composition {
  tt_model model;
  tt_names *names;
  tt_channel *channels;
  tt_command *commands;
  int channel_capacity, command_capacity;
  tt_value *values;
  value_target *value_targets;
  int value_count;
  char **strings; /* every name made here */
  int string_count, string_capacity;
  tt_part *const *parts;
  int part; /* index of the part that declares at present */
};

/* Grows `*list` so that one more fits. */
static bool make_room(void **list, int count, int *capacity, size_t size) {
  if (count < *capacity) return true;
  int larger = *capacity ? 2 * *capacity : 64;
  void *grown = realloc(*list, (size_t)larger * size);
  if (!grown) return false;
  *list = grown;
  *capacity = larger;
  return true;
}

/* "<owner>.<property>", "<robot>/<property>" or "<property>", kept as long as the composition. */
static const char *keep_name(tt_composition *made, const char *owner, const char *separator,
                             const char *property) {
  char *name;
  if (!make_room((void **)&made->strings, made->string_count, &made->string_capacity,
                 sizeof(char *)))
    return NULL;
  if (asprintf(&name, "%s%s%s", owner, separator, property) < 0) return NULL;
  made->strings[made->string_count++] = name;
  return name;
}

/* A robot's own name for something: "<robot>/" goes in front when there are several. */
static const char *keep_robot_name(tt_composition *made, int robot, const char *name) {
  bool prefixed = robot != TT_NO_ROBOT && made->model.robot_count > 1;
  return keep_name(made, prefixed ? made->model.robots[robot].name : "", prefixed ? "/" : "", name);
}

static tt_status add_command(tt_composition *made, tt_command command) {
  if (!command.name || !make_room((void **)&made->commands, made->model.command_count,
                                  &made->command_capacity, sizeof(tt_command)))
    return TT_NOMEM;
  made->commands[made->model.command_count++] = command;
  made->model.commands = made->commands;
  return TT_OK;
}

static tt_status add_channel(tt_composition *made, tt_channel channel) {
  if (!channel.name || !make_room((void **)&made->channels, made->model.channel_count,
                                  &made->channel_capacity, sizeof(tt_channel)))
    return TT_NOMEM;
  made->channels[made->model.channel_count++] = channel;
  made->model.channels = made->channels;
  return TT_OK;
}

/* ---- commands that the simulation itself obeys ---- */

static tt_status add_axis_commands(tt_composition *made, const tt_joint *joint, int component) {
  bool slides = joint->kind == TT_SLIDE;
  const struct {
    const char *property;
    tt_command_kind kind;
    tt_dimension dimension;
    double lower, upper, safe;
  } list[] = {
      {"torque", TT_COMMAND_TORQUE, slides ? TT_FORCE : TT_TORQUE, -TT_COMMAND_LIMIT,
       TT_COMMAND_LIMIT, 0},
      {"velocity", TT_COMMAND_VELOCITY, slides ? TT_VELOCITY : TT_ANGULAR_VELOCITY,
       -TT_COMMAND_LIMIT, TT_COMMAND_LIMIT, 0},
      {"max_torque", TT_COMMAND_MAX_TORQUE, slides ? TT_FORCE : TT_TORQUE, 0, TT_COMMAND_LIMIT,
       NAN},
      {"duty", TT_COMMAND_DUTY, TT_DIMENSIONLESS, -1, 1, 0},
  };
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    char property[24];
    if (joint->axis_count == 1)
      snprintf(property, sizeof property, "%s", list[i].property);
    else
      snprintf(property, sizeof property, "%s.%c", list[i].property, "xyz"[component]);
    TT_TRY(add_command(made, (tt_command){.name = keep_name(made, joint->name, ".", property),
                                          .kind = list[i].kind,
                                          .dimension = list[i].dimension,
                                          .robot = joint->robot,
                                          .index = joint->axis + component,
                                          .lower = list[i].lower,
                                          .upper = list[i].upper,
                                          .safe = list[i].safe,
                                          .part = TT_NO_PART}));
  }
  return TT_OK;
}

static tt_status add_drive_commands(tt_composition *made, const tt_mechanism *info) {
  for (int j = 0; j < info->joint_count; j++)
    for (int k = 0; k < info->joints[j].axis_count; k++)
      TT_TRY(add_axis_commands(made, &info->joints[j], k));
  for (int a = 0; a < info->actuator_count; a++) {
    const tt_actuator *actuator = &info->actuators[a];
    double zero = fmin(fmax(0, actuator->lower), actuator->upper);
    TT_TRY(add_command(made, (tt_command){.name = keep_name(made, actuator->name, "", ""),
                                          .kind = TT_COMMAND_ACTUATOR,
                                          .robot = actuator->robot,
                                          .index = a,
                                          .lower = actuator->lower,
                                          .upper = actuator->upper,
                                          .safe = zero,
                                          .part = TT_NO_PART}));
  }
  return TT_OK;
}

static tt_command placing(const char *name, tt_command_kind kind, tt_dimension dimension, int robot,
                          int index) {
  return (tt_command){.name = name,
                      .kind = kind,
                      .dimension = dimension,
                      .robot = robot,
                      .index = index,
                      .lower = -TT_COMMAND_LIMIT,
                      .upper = TT_COMMAND_LIMIT,
                      .safe = NAN,
                      .part = TT_NO_PART};
}

static tt_status add_place_commands(tt_composition *made, const tt_mechanism *info) {
  static const char *const pose[] = {"x", "y", "heading"};
  static const char *const part[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  for (int r = 0; r < info->robot_count; r++)
    for (int i = 0; i < 3; i++)
      TT_TRY(add_command(made, placing(keep_robot_name(made, r, pose[i]), TT_COMMAND_PLACE,
                                       i < 2 ? TT_LENGTH : TT_ANGLE, r, i)));
  for (int j = 0; j < info->joint_count; j++) {
    const tt_joint *joint = &info->joints[j];
    if (joint->axis_count != 1) continue;
    TT_TRY(add_command(
        made, placing(keep_name(made, joint->name, ".", "position"), TT_COMMAND_PLACE_JOINT,
                      joint->kind == TT_SLIDE ? TT_LENGTH : TT_ANGLE, joint->robot, joint->axis)));
  }
  for (int b = 1; b < info->body_count; b++) {
    if (!info->bodies[b].piece) continue;
    for (int i = 0; i < 7; i++)
      TT_TRY(add_command(
          made, placing(keep_name(made, info->bodies[b].name, ".", part[i]), TT_COMMAND_PLACE_PIECE,
                        i < 3 ? TT_LENGTH : TT_DIMENSIONLESS, TT_NO_ROBOT, b * 7 + i)));
  }
  return TT_OK;
}

static tt_status add_world_commands(tt_composition *made) {
  tt_command flag = {.lower = 0, .upper = 1, .safe = NAN, .robot = TT_NO_ROBOT, .part = TT_NO_PART};
  const struct {
    const char *name;
    tt_command_kind kind;
  } list[] = {{"reset", TT_COMMAND_RESET},
              {"pause", TT_COMMAND_PAUSE},
              {"match_timer", TT_COMMAND_MATCH_TIMER}};
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    flag.name = keep_name(made, list[i].name, "", "");
    flag.kind = list[i].kind;
    TT_TRY(add_command(made, flag));
  }
  flag.kind = TT_COMMAND_RESET;
  for (int r = 0; made->model.robot_count > 1 && r < made->model.robot_count; r++) {
    flag.name = keep_robot_name(made, r, "reset");
    flag.robot = r;
    TT_TRY(add_command(made, flag));
  }
  return TT_OK;
}

/* ---- parts ---- */

static const char *place_of(const tt_part *part) { return part->where ? part->where : part->name; }

/* What two parts of a robot declare would be had of the first alone. A sensor of the model, or a joint's command, may be
 * called the same: the part's goes before it. */
static tt_status refuse_twins(const tt_composition *made, int other, const char *name,
                              tt_error *error) {
  const tt_part *part = made->parts[made->part];
  return tt_fail(error, TT_INVALID,
                 "%s.name: '%s' would have two meanings, here and at %s; give each part a name of "
                 "its own (name: …)",
                 place_of(part), name, place_of(made->parts[other]));
}

static tt_status check_channel(const tt_composition *made, int robot, const char *name,
                               tt_error *error) {
  for (int i = 0; name && i < made->model.channel_count; i++) {
    const tt_channel *channel = &made->channels[i];
    if (channel->part == TT_NO_PART || channel->robot != robot) continue;
    if (strcmp(channel->name, name) == 0) return refuse_twins(made, channel->part, name, error);
  }
  return TT_OK;
}

static tt_status check_command(const tt_composition *made, int robot, const char *name,
                               tt_error *error) {
  for (int i = 0; name && i < made->model.command_count; i++) {
    const tt_command *command = &made->commands[i];
    if (command->part == TT_NO_PART || command->robot != robot) continue;
    if (strcmp(command->name, name) == 0) return refuse_twins(made, command->part, name, error);
  }
  return TT_OK;
}

static tt_status declare_channel(tt_declare *declare, const char *name, tt_dimension dimension,
                                 int *channel, tt_error *error) {
  tt_composition *made = declare->context;
  const char *whole = keep_robot_name(made, declare->robot, name);
  TT_TRY(check_channel(made, declare->robot, whole, error));
  *channel = made->model.channel_count;
  tt_status status = add_channel(
      made,
      (tt_channel){
          .name = whole, .dimension = dimension, .robot = declare->robot, .part = made->part});
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: out of memory", declare->where);
}

static tt_status declare_command(tt_declare *declare, const tt_command *command, int *index,
                                 tt_error *error) {
  tt_composition *made = declare->context;
  tt_command own = *command;
  own.name = keep_robot_name(made, declare->robot, command->name);
  own.robot = declare->robot;
  own.part = made->part;
  TT_TRY(check_command(made, own.robot, own.name, error));
  *index = made->model.command_count;
  tt_status status = add_command(made, own);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s: out of memory", declare->where);
}

static tt_status declare_each(tt_composition *made, tt_engine *engine, tt_part *const *parts,
                              int part_count, const tt_part **drivers, tt_error *error) {
  tt_supply_channels supplies[TT_MAX_ROBOTS];
  for (int i = 0; i < TT_MAX_ROBOTS; i++) supplies[i] = (tt_supply_channels){-1, -1};
  made->parts = parts;
  for (made->part = 0; made->part < part_count; made->part++) {
    tt_part *part = parts[made->part];
    tt_declare declare = {.robot = part->robot,
                          .where = place_of(part),
                          .context = made,
                          .add_channel = declare_channel,
                          .add_command = declare_command,
                          .space = &engine->space,
                          .supply = part->robot >= 0 ? &supplies[part->robot] : NULL,
                          .drivers = drivers};
    TT_TRY(part->ops->declare(part, &declare, error));
  }
  return TT_OK;
}

static tt_status declare_parts(tt_composition *made, tt_engine *engine, tt_part *const *parts,
                               int part_count, tt_error *error) {
  const int axes = tt_space_mechanism(&engine->space)->axis_count;
  const tt_part **drivers = calloc((size_t)axes + 1, sizeof *drivers);
  if (!drivers) return tt_fail(error, TT_NOMEM, "out of memory");
  const tt_status status = declare_each(made, engine, parts, part_count, drivers, error);
  free(drivers);
  return status;
}

static tt_status resolve_parts(const tt_composition *made, tt_part *const *parts, int part_count,
                               tt_error *error) {
  for (int i = 0; i < part_count; i++)
    if (parts[i]->ops->resolve) TT_TRY(parts[i]->ops->resolve(parts[i], made->names, error));
  return TT_OK;
}

/* ---- values ---- */

static const char *keep_value_name(tt_composition *made, const tt_part *part, const char *field) {
  char owner[512];
  snprintf(owner, sizeof owner, "models.%s.%s.%s", made->model.robots[part->robot].name,
           part->ops->kind, part->name);
  return keep_name(made, owner, ".", field);
}

static int count_values(tt_engine *engine, tt_part *const *parts, int part_count) {
  tt_value value;
  int count;
  tt_engine_values(engine, &count);
  for (int i = 0; i < part_count; i++)
    for (int k = 0; parts[i]->ops->value && parts[i]->ops->value(parts[i], k, &value); k++) count++;
  return count;
}

static tt_status list_values(tt_composition *made, tt_engine *engine, tt_part *const *parts,
                             int part_count) {
  const size_t most = (size_t)count_values(engine, parts, part_count) + 1;
  const tt_value *first = tt_engine_values(engine, &made->value_count);
  made->values = calloc(most, sizeof *made->values);
  made->value_targets = calloc(most, sizeof *made->value_targets);
  if (!made->values || !made->value_targets) return TT_NOMEM;
  for (int i = 0; i < made->value_count; i++) {
    made->values[i] = first[i];
    made->value_targets[i].part = TT_NO_PART;
  }
  for (int i = 0; i < part_count; i++) {
    tt_value value = {.name = NULL};
    for (int k = 0; parts[i]->ops->value && parts[i]->ops->value(parts[i], k, &value); k++) {
      value.robot = parts[i]->robot;
      value.name = keep_value_name(made, parts[i], value.name);
      if (!value.name) return TT_NOMEM;
      made->value_targets[made->value_count].part = i;
      made->value_targets[made->value_count].own = k;
      made->values[made->value_count++] = value;
    }
  }
  return TT_OK;
}

/* ---- the whole ---- */

static tt_status describe(tt_composition *made, const tt_mechanism *info) {
  made->model = (tt_model){
      .bodies = info->bodies,
      .joints = info->joints,
      .axis_joint = info->axis_joint,
      .robots = info->robots,
      .body_count = info->body_count,
      .joint_count = info->joint_count,
      .axis_count = info->axis_count,
      .robot_count = info->robot_count,
      .contact_capacity = info->contact_capacity,
      .timestep_num = info->timestep_num,
      .timestep_den = info->timestep_den,
  };
  for (int i = 0; i < info->sensor_count; i++) TT_TRY(add_channel(made, info->sensors[i]));
  return TT_OK;
}

static tt_status compose(tt_composition *made, tt_engine *engine, tt_part *const *parts,
                         int part_count, bool dynamics, tt_error *error) {
  const tt_mechanism *info = tt_engine_mechanism(engine);
  TT_TRY(describe(made, info));
  TT_TRY(dynamics ? add_drive_commands(made, info) : add_place_commands(made, info));
  TT_TRY(declare_parts(made, engine, parts, part_count, error));
  TT_TRY(list_values(made, engine, parts, part_count));
  TT_TRY(add_world_commands(made));
  made->names = tt_names_new(&made->model);
  if (!made->names) return TT_NOMEM;
  return resolve_parts(made, parts, part_count, error);
}

tt_status tt_compose(tt_engine *engine, tt_part *const *parts, int part_count, bool dynamics,
                     tt_composition **composition, tt_error *error) {
  *composition = NULL;
  tt_composition *made = calloc(1, sizeof *made);
  if (!made) return tt_fail(error, TT_NOMEM, "out of memory while naming the world's signals");
  tt_status status = compose(made, engine, parts, part_count, dynamics, error);
  if (status != TT_OK) {
    if (status == TT_NOMEM)
      tt_fail(error, status, "out of memory while naming the world's signals");
    tt_composition_free(made);
    return status;
  }
  *composition = made;
  return TT_OK;
}

void tt_composition_free(tt_composition *composition) {
  if (!composition) return;
  tt_names_free(composition->names);
  for (int i = 0; i < composition->string_count; i++) free(composition->strings[i]);
  free(composition->strings);
  free(composition->channels);
  free(composition->commands);
  free(composition->values);
  free(composition->value_targets);
  free(composition);
}

const tt_model *tt_composition_model(const tt_composition *composition) {
  return &composition->model;
}

const tt_names *tt_composition_names(const tt_composition *composition) {
  return composition->names;
}

const tt_value *tt_composition_values(const tt_composition *composition, int *count) {
  *count = composition->value_count;
  return composition->values;
}

int tt_composition_value_part(const tt_composition *composition, int index, int *own) {
  *own = composition->value_targets[index].own;
  return composition->value_targets[index].part;
}

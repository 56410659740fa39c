/* commands.c: how accepted scalars take effect. Everything that changes a world from outside passes through
 * tt_world_apply(): wires, the mailbox, a replay. */
#include "host/world_internal.h"

#include <math.h>
#include <string.h>

static bool acceptable(const tt_world *world, const tt_submission *submission) {
  if (submission->command < 0 || submission->command >= world->model->command_count) return false;
  const tt_command *command = &world->model->commands[submission->command];
  return isfinite(submission->value) && submission->value >= command->lower &&
         submission->value <= command->upper;
}

static void place(tt_world *world, const tt_command *command) {
  const double *value = &world->commands[command - world->model->commands];
  world->placed = true;
  switch (command->kind) {
    case TT_COMMAND_PLACE: {
      const double *pose = value - command->index; /* x, y, heading stand together */
      tt_physics_place_robot(world->physics, command->robot, pose[0], pose[1], pose[2]);
      break;
    }
    case TT_COMMAND_PLACE_JOINT:
      tt_physics_place_axis(world->physics, command->index, *value);
      break;
    default:
      tt_physics_place_body(world->physics, command->index / 7, value - command->index % 7);
      break;
  }
}

static void obey(tt_world *world, const char *source, const tt_command *command, double value) {
  if (command->part != TT_NO_PART) return; /* the part reads it when it actuates */
  switch (command->kind) {
    case TT_COMMAND_TORQUE:
    case TT_COMMAND_VELOCITY:
    case TT_COMMAND_DUTY: world->axis_accepted[command->index] = world->sequence; break;
    case TT_COMMAND_RESET:
      if (value == 0) break;
      if (command->robot == TT_NO_ROBOT)
        world->reset_world = true;
      else
        world->reset_robot[command->robot] = true;
      break;
    case TT_COMMAND_PAUSE: tt_world_set_paused(world, source, value != 0); break;
    case TT_COMMAND_MATCH_TIMER:
      if (value != 0) world->match_start = world->match_start == TT_NEVER ? world->step : TT_NEVER;
      break;
    case TT_COMMAND_PLACE:
    case TT_COMMAND_PLACE_JOINT:
    case TT_COMMAND_PLACE_PIECE: place(world, command); break;
    case TT_COMMAND_MAX_TORQUE:
    case TT_COMMAND_ACTUATOR:
    case TT_COMMAND_GRIP:
    case TT_COMMAND_SHIFT: break;
  }
}

tt_status tt_world_apply(tt_world *world, const char *source, const tt_submission *submissions,
                         int count, int *bad) {
  for (int i = 0; i < count; i++) {
    if (acceptable(world, &submissions[i])) continue;
    if (bad) *bad = i;
    return TT_BAD_MESSAGE;
  }
  if (world->stopped) return TT_OK; /* heard, but the emergency stop holds */
  if (world->player) return TT_OK;  /* what is shown was decided long ago */
  tt_world_journal(
      world,
      &(tt_entry){
          .kind = TT_ENTRY_COMMANDS, .source = source, .submissions = submissions, .count = count});
  world->sequence++;
  for (int i = 0; i < count; i++) {
    world->commands[submissions[i].command] = submissions[i].value;
    world->accepted[submissions[i].command] = world->sequence;
  }
  for (int i = 0; i < count; i++)
    obey(world, source, &world->model->commands[submissions[i].command], submissions[i].value);
  world->drives_stale = true;
  return TT_OK;
}

void tt_world_make_safe(tt_world *world, const char *source, const int *commands, int count) {
  int made = 0;
  for (int i = 0; i < count; i++) {
    double safe = world->model->commands[commands[i]].safe;
    if (!isnan(safe)) world->scratch[made++] = (tt_submission){commands[i], safe};
  }
  tt_world_journal(
      world,
      &(tt_entry){
          .kind = TT_ENTRY_SAFE, .source = source, .submissions = world->scratch, .count = made});
  tt_world_set_safe(world, world->scratch, made);
}

void tt_world_set_safe(tt_world *world, const tt_submission *submissions, int count) {
  for (int i = 0; i < count; i++) world->commands[submissions[i].command] = submissions[i].value;
  world->drives_stale = true;
}

void tt_world_forget_commands(tt_world *world, int robot) {
  for (int i = 0; i < world->model->command_count; i++) {
    const tt_command *command = &world->model->commands[i];
    if (robot != TT_NO_ROBOT && command->robot != robot) continue;
    world->commands[i] = 0;
    world->accepted[i] = 0;
    bool drives_axis = command->part == TT_NO_PART && command->kind <= TT_COMMAND_DUTY;
    if (drives_axis) world->axis_accepted[command->index] = 0;
  }
  world->drives_stale = true;
}

/* Of torque, velocity and duty the last accepted kind holds the axis. */
static tt_drive drive_of(const tt_world *world, int axis) {
  enum { TORQUE, VELOCITY, MAX_TORQUE, DUTY };
  int first = world->axis_command[axis];
  const double *value = &world->commands[first];
  const uint64_t *accepted = &world->accepted[first];
  if (world->axis_accepted[axis] == 0) return (tt_drive){.kind = TT_DRIVE_NONE};
  double limit = world->model->joints[world->model->axis_joint[axis]].max_torque;
  if (accepted[VELOCITY] == world->axis_accepted[axis])
    return (tt_drive){.kind = TT_DRIVE_VELOCITY,
                      .velocity = value[VELOCITY],
                      .max_torque = accepted[MAX_TORQUE] ? value[MAX_TORQUE] : limit};
  if (accepted[DUTY] == world->axis_accepted[axis])
    return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value[DUTY] * limit};
  return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value[TORQUE]};
}

void tt_world_refresh_drives(tt_world *world) {
  if (!world->drives_stale) return;
  world->drives_stale = false;
  if (!world->spec.dynamics) return;
  for (int axis = 0; axis < world->model->axis_count; axis++)
    world->command_drives[axis] = drive_of(world, axis);
  for (int i = 0; i < world->model->command_count; i++) {
    const tt_command *command = &world->model->commands[i];
    if (command->kind == TT_COMMAND_ACTUATOR && command->part == TT_NO_PART)
      world->controls[command->index] = world->commands[i];
  }
  memcpy(world->drives, world->command_drives,
         (size_t)world->model->axis_count * sizeof *world->drives);
}

/* commands.c: how accepted scalars take effect. Everything that changes a simulation from outside passes through
 * tt_sim_apply(): wires, the mailbox, a replay. */
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

/* ---- resets that were asked for ---- */

void tt_sim_ask_reset(tt_sim *sim, int robot) {
  if (robot == TT_NO_ROBOT)
    sim->reset_world = true;
  else
    sim->reset_robot[robot] = true;
}

bool tt_sim_reset_asked(const tt_sim *sim) {
  if (sim->reset_world) return true;
  for (int r = 0; r < sim->model->robot_count; r++)
    if (sim->reset_robot[r]) return true;
  return false;
}

/* What was asked for is answered by a reset of the same kind. */
void tt_sim_answer_reset(tt_sim *sim, int robot) {
  if (robot == TT_NO_ROBOT) {
    sim->reset_world = false;
    memset(sim->reset_robot, 0, (size_t)sim->model->robot_count * sizeof(bool));
  } else {
    sim->reset_robot[robot] = false;
  }
}

bool tt_sim_take_reset(tt_sim *sim, int *robot) {
  for (*robot = TT_NO_ROBOT; *robot < sim->model->robot_count; (*robot)++) {
    if (!(*robot == TT_NO_ROBOT ? sim->reset_world : sim->reset_robot[*robot])) continue;
    tt_sim_answer_reset(sim, *robot);
    return true;
  }
  return false;
}

/* ---- commands ---- */

static bool acceptable(const tt_sim *sim, const tt_submission *submission) {
  if (submission->command < 0 || submission->command >= sim->model->command_count) return false;
  const tt_command *command = &sim->model->commands[submission->command];
  return isfinite(submission->value) && submission->value >= command->lower &&
         submission->value <= command->upper;
}

/* Of a pose the numbers that were commanded; those that nobody commanded stay (NAN). */
static void commanded_pose(const tt_sim *sim, int first, int count, double *pose) {
  for (int i = 0; i < count; i++)
    pose[i] = sim->accepted[first + i] ? sim->commands[first + i] : NAN;
}

/* A rotation is commanded as a whole: parts of two of them are a third one, and another with every command. */
static void complete_rotation(double quaternion[4]) {
  bool any = false;
  for (int i = 0; i < 4; i++) any = any || !isnan(quaternion[i]);
  for (int i = 0; any && i < 4; i++)
    if (isnan(quaternion[i])) quaternion[i] = 0;
}

static void place(tt_sim *sim, const tt_command *command) {
  const int at = (int)(command - sim->model->commands);
  double pose[7];
  switch (command->kind) {
    case TT_COMMAND_PLACE: /* x, y, heading stand together */
      commanded_pose(sim, at - command->index, 3, pose);
      tt_engine_place_robot(sim->engine, command->robot, pose[0], pose[1], pose[2]);
      break;
    case TT_COMMAND_PLACE_JOINT:
      tt_engine_place_axis(sim->engine, command->index, sim->commands[at]);
      break;
    default:
      commanded_pose(sim, at - command->index % 7, 7, pose);
      complete_rotation(pose + 3);
      tt_engine_place_body(sim->engine, command->index / 7, pose);
      break;
  }
}

static void obey(tt_sim *sim, const char *source, const tt_command *command, double value) {
  if (command->part != TT_NO_PART) return; /* the part reads it when it actuates */
  switch (command->kind) {
    case TT_COMMAND_TORQUE:
    case TT_COMMAND_VELOCITY:
    case TT_COMMAND_DUTY: sim->axis_accepted[command->index] = sim->sequence; break;
    case TT_COMMAND_RESET:
      if (value == 0) break;
      tt_sim_ask_reset(sim, command->robot);
      break;
    case TT_COMMAND_PAUSE:
      if (sim->owner && sim->owner->paused) sim->owner->paused(sim->owner, source, value != 0);
      break;
    case TT_COMMAND_MATCH_TIMER:
      if (value != 0) sim->match_start = sim->match_start == TT_NEVER ? sim->clock.step : TT_NEVER;
      break;
    case TT_COMMAND_PLACE:
    case TT_COMMAND_PLACE_JOINT:
    case TT_COMMAND_PLACE_PIECE: place(sim, command); break;
    case TT_COMMAND_MAX_TORQUE:
    case TT_COMMAND_ACTUATOR:
    case TT_COMMAND_GRIP:
    case TT_COMMAND_SHIFT: break;
  }
}

tt_status tt_sim_check(const tt_sim *sim, const tt_submission *submissions, int count, int *bad) {
  for (int i = 0; i < count; i++) {
    if (acceptable(sim, &submissions[i])) continue;
    if (bad) *bad = i;
    return TT_BAD_MESSAGE;
  }
  return TT_OK;
}

tt_status tt_sim_apply(tt_sim *sim, const char *source, const tt_submission *submissions, int count,
                       int *bad) {
  TT_TRY(tt_sim_check(sim, submissions, count, bad));
  tt_sim_journal(
      sim,
      &(tt_entry){
          .kind = TT_ENTRY_COMMANDS, .source = source, .submissions = submissions, .count = count});
  sim->sequence++;
  for (int i = 0; i < count; i++) {
    sim->commands[submissions[i].command] = submissions[i].value;
    sim->accepted[submissions[i].command] = sim->sequence;
  }
  for (int i = 0; i < count; i++)
    obey(sim, source, &sim->model->commands[submissions[i].command], submissions[i].value);
  sim->drives_stale = true;
  return TT_OK;
}

bool tt_sim_dynamics(const tt_sim *sim) { return sim->dynamics; }

const double *tt_sim_commands(const tt_sim *sim) { return sim->commands; }

void tt_sim_make_safe(tt_sim *sim, const char *source, const int *commands, int count) {
  int made = 0;
  for (int i = 0; i < count; i++) {
    double safe = sim->model->commands[commands[i]].safe;
    if (!isnan(safe)) sim->scratch[made++] = (tt_submission){commands[i], safe};
  }
  tt_sim_journal(
      sim,
      &(tt_entry){
          .kind = TT_ENTRY_SAFE, .source = source, .submissions = sim->scratch, .count = made});
  tt_sim_set_safe(sim, sim->scratch, made);
}

void tt_sim_set_safe(tt_sim *sim, const tt_submission *submissions, int count) {
  for (int i = 0; i < count; i++) sim->commands[submissions[i].command] = submissions[i].value;
  sim->drives_stale = true;
}

void tt_sim_forget_commands(tt_sim *sim, int robot) {
  for (int i = 0; i < sim->model->command_count; i++) {
    const tt_command *command = &sim->model->commands[i];
    if (robot != TT_NO_ROBOT && command->robot != robot) continue;
    sim->commands[i] = 0;
    sim->accepted[i] = 0;
    bool drives_axis = command->part == TT_NO_PART && command->kind <= TT_COMMAND_DUTY;
    if (drives_axis) sim->axis_accepted[command->index] = 0;
  }
  sim->drives_stale = true;
}

/* Of torque, velocity and duty the last accepted kind holds the axis. */
static tt_drive drive_of(const tt_sim *sim, int axis) {
  enum { TORQUE, VELOCITY, MAX_TORQUE, DUTY };
  int first = sim->axis_command[axis];
  const double *value = &sim->commands[first];
  const uint64_t *accepted = &sim->accepted[first];
  if (sim->axis_accepted[axis] == 0) return (tt_drive){.kind = TT_DRIVE_NONE};
  double limit = sim->model->joints[sim->model->axis_joint[axis]].max_torque;
  if (accepted[VELOCITY] == sim->axis_accepted[axis])
    return (tt_drive){.kind = TT_DRIVE_VELOCITY,
                      .velocity = value[VELOCITY],
                      .max_torque = accepted[MAX_TORQUE] ? value[MAX_TORQUE] : limit};
  if (accepted[DUTY] == sim->axis_accepted[axis])
    return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value[DUTY] * limit};
  return (tt_drive){.kind = TT_DRIVE_TORQUE, .torque = value[TORQUE]};
}

void tt_sim_refresh_drives(tt_sim *sim) {
  if (!sim->drives_stale) return;
  sim->drives_stale = false;
  if (!sim->dynamics) return;
  for (int axis = 0; axis < sim->model->axis_count; axis++)
    sim->command_drives[axis] = drive_of(sim, axis);
  int commands = sim->has_actuators ? sim->model->command_count : 0;
  for (int i = 0; i < commands; i++) {
    const tt_command *command = &sim->model->commands[i];
    if (command->kind == TT_COMMAND_ACTUATOR && command->part == TT_NO_PART)
      sim->controls[command->index] = sim->commands[i];
  }
  memcpy(sim->drives, sim->command_drives, (size_t)sim->model->axis_count * sizeof *sim->drives);
}

/* commands.c: how accepted scalars take effect. Everything that changes a simulation from outside passes through
 * tt_sim_apply(): wires, the mailbox, a replay. */
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

static bool acceptable(const tt_sim *sim, const tt_submission *submission) {
  if (submission->command < 0 || submission->command >= sim->model->command_count) return false;
  const tt_command *command = &sim->model->commands[submission->command];
  return isfinite(submission->value) && submission->value >= command->lower &&
         submission->value <= command->upper;
}

static void place(tt_sim *sim, const tt_command *command) {
  const double *value = &sim->commands[command - sim->model->commands];
  switch (command->kind) {
    case TT_COMMAND_PLACE: {
      const double *pose = value - command->index; /* x, y, heading stand together */
      tt_engine_place_robot(sim->engine, command->robot, pose[0], pose[1], pose[2]);
      break;
    }
    case TT_COMMAND_PLACE_JOINT: tt_engine_place_axis(sim->engine, command->index, *value); break;
    default:
      tt_engine_place_body(sim->engine, command->index / 7, value - command->index % 7);
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

tt_status tt_sim_set_values(tt_sim *sim, const char *source, const tt_submission *values, int count,
                            int *bad, tt_error *error) {
  for (int i = 0; i < count; i++) {
    if (tt_sim_value_is_good(sim, values[i].command, values[i].value)) continue;
    if (bad) *bad = i;
    return TT_BAD_MESSAGE;
  }
  memcpy(sim->wanted, sim->values, (size_t)sim->value_count * sizeof *sim->wanted);
  for (int i = 0; i < count; i++) sim->wanted[values[i].command] = values[i].value;
  TT_TRY(tt_sim_put_values(sim, sim->wanted, error));
  tt_sim_journal(
      sim, &(tt_entry){
               .kind = TT_ENTRY_VALUES, .source = source, .submissions = values, .count = count});
  return TT_OK;
}

static bool of_this(const tt_sim *sim, const tt_entry *entry) {
  for (int i = 0; i < entry->count; i++)
    if (entry->submissions[i].command < 0 ||
        entry->submissions[i].command >= sim->model->command_count)
      return false;
  return true;
}

/* That one: what else was asked for has its own entry. */
static void reset_again(tt_sim *sim, int robot) {
  if (sim->owner && sim->owner->reset) {
    sim->owner->reset(sim->owner, robot);
    return;
  }
  tt_sim_reset(sim, robot);
  tt_sim_sense(sim);
  tt_sim_mark(sim);
}

static tt_status restore_again(tt_sim *sim, const tt_entry *entry) {
  TT_TRY(tt_sim_restore(sim, entry->state, entry->state_size, NULL));
  if (sim->owner && sim->owner->restored)
    sim->owner->restored(sim->owner);
  else
    tt_sim_mark(sim);
  return TT_OK;
}

tt_status tt_sim_apply_entry(tt_sim *sim, const tt_entry *entry) {
  switch (entry->kind) {
    case TT_ENTRY_COMMANDS:
      return tt_sim_apply(sim, entry->source, entry->submissions, entry->count, NULL);
    case TT_ENTRY_SAFE:
      if (!of_this(sim, entry)) return TT_BAD_MESSAGE;
      tt_sim_set_safe(sim, entry->submissions, entry->count);
      return TT_OK;
    case TT_ENTRY_RESET:
      if (entry->robot < TT_NO_ROBOT || entry->robot >= sim->model->robot_count)
        return TT_BAD_MESSAGE;
      tt_sim_answer_reset(sim, entry->robot);
      reset_again(sim, entry->robot);
      return TT_OK;
    case TT_ENTRY_SEED: tt_sim_seed(sim, entry->seed); return TT_OK;
    case TT_ENTRY_STATE: return restore_again(sim, entry);
    case TT_ENTRY_VALUES:
      return tt_sim_set_values(sim, entry->source, entry->submissions, entry->count, NULL, NULL);
    case TT_ENTRY_EVENT:
    case TT_ENTRY_HASH: return TT_OK;
  }
  return TT_OK;
}

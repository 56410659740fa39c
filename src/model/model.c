#include "model/model.h"

double tt_model_timestep(const tt_model *model) {
  return (double)model->timestep_num / (double)model->timestep_den;
}

double tt_model_time(const tt_model *model, uint64_t steps) {
  return (double)((long double)steps * model->timestep_num / model->timestep_den);
}

uint64_t tt_model_microseconds(const tt_model *model, uint64_t steps) {
  // Numerator and denominator have up to 40 bits each.
  return (uint64_t)((unsigned __int128)steps * 1000000u * (uint64_t)model->timestep_num /
                    (uint64_t)model->timestep_den);
}

int tt_model_axis_command(const tt_model *model, tt_command_kind kind, int axis) {
  for (int i = 0; i < model->command_count; i++) {
    const tt_command *command = &model->commands[i];
    if (command->part == TT_NO_PART && command->kind == kind && command->index == axis) return i;
  }
  return -1;
}

#include "core/model.h"

double tt_model_timestep(const tt_model *model) {
  return (double)model->timestep_num / (double)model->timestep_den;
}

/* axes.h: the axes of a run as its controller reads them: read("gain"). */
#ifndef TT_APP_SWEEP_AXES_H
#define TT_APP_SWEEP_AXES_H

#include "sweep/control_port.h"
#include "sweep/plan.h"

/** Every axis with its value in a run. Names and texts are the plan's. */
typedef struct tt_sweep_parameters {
  tt_control_parameter list[TT_SWEEP_MAX_AXES];
  int count;
} tt_sweep_parameters;

/** Those of `run`, a run of `plan`. */
static inline void tt_sweep_parameters_set(tt_sweep_parameters *parameters,
                                           const tt_sweep_plan *plan, const tt_sweep_run *run) {
  parameters->count = plan->axis_count;
  for (int i = 0; i < plan->axis_count; i++)
    parameters->list[i] = (tt_control_parameter){plan->axes[i].name, run->axes[i]};
}

#endif

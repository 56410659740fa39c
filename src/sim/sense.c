/* sense.c: the view of a simulation, filled from its present state. */
#include "base/log.h"
#include "game/match.h"
#include "sim/sim_internal.h"

#include <math.h>
#include <string.h>

static double match_time(const tt_sim *sim) {
  if (sim->match_start == TT_NEVER) return 0;
  return tt_match_time(tt_model_time(sim->model, sim->clock.step - sim->match_start));
}

/* What parts compute must be as finite as what the engine computes. */
static void check_channels(tt_sim *sim) {
  for (int i = 0; i < sim->model->channel_count; i++) {
    if (isfinite(sim->view->channels[i])) continue;
    sim->view->channels[i] = 0;
    tt_log_warning("%s: not a finite number; 0 is shown instead", sim->model->channels[i].name);
  }
}

void tt_sim_sense(tt_sim *sim) {
  tt_view *view = sim->view;
  view->step = sim->clock.step;
  view->total_step = sim->clock.total_steps;
  view->epoch = sim->clock.epoch;
  view->time = tt_model_time(sim->model, sim->clock.step);
  view->match_time = match_time(sim);
  tt_engine_view(sim->engine, view);
  memcpy(view->commands, sim->commands, (size_t)sim->model->command_count * sizeof(double));
  for (int i = 0; i < sim->part_count; i++)
    if (sim->parts[i]->ops->sense)
      sim->parts[i]->ops->sense(sim->parts[i], &sim->engine->space, view);
  check_channels(sim);
}

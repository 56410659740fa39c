/* live_source.c: a simulation that steps, driven by wires and pages, or by inputs that were recorded once. */
#include "host/source.h"
#include "host/world_internal.h"

#include <stdlib.h>

typedef struct live {
  tt_source source; /* first */
  tt_world *world;
  tt_sim *sim;
  tt_feed *inputs; /* NULL: wires alone */
} live;

static void feed(tt_source *source) {
  live *self = (live *)source;
  if (self->inputs) self->inputs->apply(self->inputs, self->sim);
}

static bool ends_tick(tt_source *source, bool usual) {
  live *self = (live *)source;
  bool decides = self->inputs && self->inputs->ends_tick;
  return decides ? self->inputs->ends_tick(self->inputs, self->sim, usual) : usual;
}

static tt_status step(tt_source *source, bool last, tt_error *error) {
  return tt_sim_step(((live *)source)->sim, last, error);
}

static void sense(tt_source *source) { tt_sim_sense(((live *)source)->sim); }

static int reset(tt_source *source, int robot) {
  live *self = (live *)source;
  const tt_model *model = tt_sim_model(self->sim);
  tt_sim_reset(self->sim, robot);
  tt_world_forget_senders(self->world, robot);
  tt_world_restart_wires(self->world, robot);
  if (robot == TT_NO_ROBOT)
    tt_world_event(self->world, "world", "reset");
  else
    tt_world_event(self->world, "world", "reset %s", model->robots[robot].name);
  return robot;
}

static bool seek(tt_source *source, double time) {
  (void)source, (void)time;
  return false;
}

static bool follow(tt_source *source) {
  (void)source;
  return false;
}

static void free_live(tt_source *source) { free(source); }

tt_source *tt_fed_source_new(tt_world *world, tt_sim *sim, tt_feed *inputs) {
  live *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  *made = (live){.source = {.clock = tt_sim_clock(sim),
                            .is_live = true,
                            .feed = feed,
                            .ends_tick = ends_tick,
                            .step = step,
                            .sense = sense,
                            .reset = reset,
                            .seek = seek,
                            .follow = follow,
                            .free = free_live},
                 .world = world,
                 .sim = sim,
                 .inputs = inputs};
  return &made->source;
}

tt_source *tt_live_source_new(tt_world *world, tt_sim *sim) {
  return tt_fed_source_new(world, sim, NULL);
}

/* shown_source.c: a kept run, shown at any time of it. No step is made and no command taken; simulated time counts through
 * the resets of the run. */
#include "host/source.h"
#include "host/world_internal.h"

#include <stdlib.h>

typedef struct shown {
  tt_source source; /* first */
  tt_world *world;
  tt_sim *sim; /* whose view is filled; it never steps */
  tt_player *player;
  tt_clock clock;
  size_t next_event; /* the first that nobody heard yet */
} shown;

static void feed(tt_source *source) { (void)source; }

static bool ends_tick(tt_source *source, bool usual) {
  (void)source;
  return usual;
}

static tt_status step(tt_source *source, bool last, tt_error *error) {
  shown *self = (shown *)source;
  (void)last, (void)error;
  if (self->clock.total_steps >= self->player->steps) return TT_OK; /* behind its end is nothing */
  self->clock.step++;
  self->clock.total_steps++;
  return TT_OK;
}

static void sense(tt_source *source) {
  shown *self = (shown *)source;
  tt_view *view = tt_sim_own_view(self->sim);
  view->step = self->clock.step;
  view->total_step = self->clock.total_steps;
  view->epoch = self->clock.epoch;
  view->time = tt_model_time(view->model, self->clock.step);
  view->match_time = 0; /* the player has it, if the run kept it */
  self->player->show(self->player, self->clock.total_steps, view);
}

/* The last tick of the run that ends at `step` or before; its first where that lies before it begins. */
static uint64_t tick_at(const shown *self, uint64_t step) {
  uint64_t tick = self->world->spec.io_steps, first = self->player->first;
  uint64_t at = step - step % tick;
  return at >= first ? at : first + (tick - first % tick) % tick;
}

static bool seek(tt_source *source, double time) {
  shown *self = (shown *)source;
  const tt_player *player = self->player;
  if (!(time >= 0)) return false;
  double wanted = time / tt_model_timestep(tt_sim_model(self->sim)) + 1e-6;
  uint64_t at = wanted < (double)player->steps ? (uint64_t)wanted : player->steps;
  const uint64_t before = self->clock.total_steps, now = tick_at(self, at);
  self->clock.step = self->clock.total_steps = now;
  self->clock.epoch++;            /* for those who watch: what follows does not go on from before */
  self->world->ticks_to_make = 0; /* who goes there is to see it, and no tick behind it */
  self->next_event = 0;
  while (self->next_event < player->event_count &&
         player->events[self->next_event].step < self->clock.step)
    self->next_event++;
  if (now < before) { /* for wires a reset, through which the time of the program goes on */
    self->world->steps_gone_back += before - now;
    tt_world_restart_wires(self->world, TT_NO_ROBOT);
  }
  return true;
}

static int reset(tt_source *source, int robot) {
  (void)robot;
  seek(source, 0);
  return TT_NO_ROBOT;
}

static bool follow(tt_source *source) {
  shown *self = (shown *)source;
  const tt_player *player = self->player;
  for (; self->next_event < player->event_count; self->next_event++) {
    const tt_kept_event *event = &player->events[self->next_event];
    if (event->step > self->clock.total_steps) break;
    tt_world_show_event(self->world, event->step, event->source, event->text);
  }
  return self->clock.total_steps >= player->steps;
}

static void free_shown(tt_source *source) { free(source); }

tt_source *tt_shown_source_new(tt_world *world, tt_sim *sim, tt_player *player) {
  shown *made = calloc(1, sizeof *made);
  if (!made) return NULL;
  *made = (shown){.source = {.feed = feed,
                             .ends_tick = ends_tick,
                             .step = step,
                             .sense = sense,
                             .reset = reset,
                             .seek = seek,
                             .follow = follow,
                             .free = free_shown},
                  .world = world,
                  .sim = sim,
                  .player = player};
  made->source.clock = &made->clock;
  made->clock.step = made->clock.total_steps = tick_at(made, player->first);
  return &made->source;
}

/* world_new.c: makes a world from its parts, and takes it apart. */
#include "host/world_internal.h"

#include <math.h>
#include <stdlib.h>

#define TAPPED_CAPACITY 128

static tt_status open_wire(tt_world *world, int index, const tt_world_wire *spec, tt_error *error) {
  tt_wire_slot *slot = &world->wires[index];
  double timestep = tt_model_timestep(world->model);
  slot->wire = (tt_wire){.ops = spec->ops,
                         .name = spec->name,
                         .where = spec->where,
                         .robot = spec->robot,
                         .period_steps = spec->period_steps,
                         .watchdog = spec->watchdog,
                         .names = tt_sim_names(world->sim),
                         .model = world->model,
                         .net = world->net,
                         .world = world,
                         .check_only = world->spec.check_only,
                         .lockstep = spec->lockstep,
                         .realtime = world->spec.pace == TT_PACE_REALTIME,
                         .late = spec->late,
                         .deadline = spec->deadline};
  slot->deadline_ns = (uint64_t)(spec->deadline * 1e9);
  slot->watchdog_steps = (uint64_t)ceil(spec->watchdog / timestep - 1e-9);
  slot->last_accept_step = TT_NEVER;
  TT_TRY(spec->ops->open(&slot->wire, spec->config, error));
  slot->open = true;
  world->has_timeouts |= spec->ops->poll != NULL;
  return TT_OK;
}

static bool allocate(tt_world *world) {
  size_t wires = (size_t)world->wire_count + 1;
  world->wires = calloc(wires, sizeof *world->wires);
  world->shown_stats = calloc(wires, sizeof *world->shown_stats);
  world->shown_states = calloc(wires, sizeof *world->shown_states);
  world->source = tt_live_source_new(world, world->sim);
  world->mail = tt_queue_new(TT_MAIL_CAPACITY, sizeof(tt_mail));
  world->senders = calloc((size_t)world->model->command_count + 1, sizeof *world->senders);
  world->tapped = tt_queue_new(TAPPED_CAPACITY, sizeof(tt_tapped));
  if (!world->net) {
    world->net = tt_net_new();
    world->owns_net = true;
  }
  return tt_world_open_stations(world) && world->wires && world->shown_stats &&
         world->shown_states && world->source && world->mail && world->senders && world->tapped &&
         world->net;
}

static tt_status build(tt_world *world, const tt_world_spec *spec, tt_error *error) {
  if (!allocate(world)) return tt_fail(error, TT_NOMEM, "out of memory while making a world");
  world->clock = world->source->clock;
  tt_net_set_spin(world->net, spec->pace == TT_PACE_LOCKSTEP ? 200000 : 0);
  for (int i = 0; i < spec->wire_count; i++) TT_TRY(open_wire(world, i, &spec->wires[i], error));
  tt_world_schedule_watchdogs(world);
  tt_world_sense(world);
  return TT_OK;
}

tt_status tt_world_new(const tt_world_spec *spec, tt_world **made, tt_error *error) {
  *made = NULL;
  tt_world *world = calloc(1, sizeof *world);
  if (!world) {
    tt_sim_free(spec->sim);
    return tt_fail(error, TT_NOMEM, "out of memory while making a world");
  }
  world->spec = *spec;
  world->sim = spec->sim;
  world->model = tt_sim_model(world->sim);
  world->view = tt_sim_view(world->sim);
  world->owner = tt_world_as_owner;
  tt_sim_set_owner(world->sim, &world->owner);
  world->net = spec->net;
  world->wire_count = spec->wire_count;
  world->next_trip = TT_NEVER;
  pthread_mutex_init(&world->shown_lock, NULL);
  tt_status status = build(world, spec, error);
  if (status != TT_OK) {
    tt_world_free(world);
    return status;
  }
  *made = world;
  return TT_OK;
}

void tt_world_free(tt_world *world) {
  if (!world) return;
  for (int i = 0; world->wires && i < world->wire_count; i++)
    if (world->wires[i].open) world->wires[i].wire.ops->close(&world->wires[i].wire);
  if (world->owns_net && world->net) tt_net_free(world->net);
  if (world->source) world->source->free(world->source);
  tt_world_close_stations(world);
  tt_queue_free(world->mail);
  tt_queue_free(world->tapped);
  tt_sim_free(world->sim);
  pthread_mutex_destroy(&world->shown_lock);
  free(world->wires);
  free(world->senders);
  free(world->shown_stats);
  free(world->shown_states);
  free(world);
}

/* ---- looking at it ---- */

tt_status tt_world_add_observer(tt_world *world, tt_observer *observer) {
  if (world->observer_count == TT_MAX_SINKS) return TT_FULL;
  world->observers[world->observer_count++] = observer;
  return TT_OK;
}

tt_status tt_world_add_journal(tt_world *world, tt_journal_sink *sink) {
  return tt_sim_add_journal(world->sim, sink);
}

void tt_world_detach(tt_world *world) {
  world->observer_count = 0;
  tt_sim_detach(world->sim);
}

static tt_status take_source(tt_world *world, tt_source *source) {
  if (!source) return TT_NOMEM;
  world->source->free(world->source);
  world->source = source;
  world->clock = source->clock;
  return TT_OK;
}

tt_status tt_world_set_feed(tt_world *world, tt_feed *feed) {
  return take_source(world, tt_fed_source_new(world, world->sim, feed));
}

tt_status tt_world_set_player(tt_world *world, tt_player *player) {
  for (int i = 0; i < world->wire_count; i++) /* a kept run goes on whoever answers, and whatever */
    world->wires[i].wire.lockstep = false;
  return take_source(world, tt_shown_source_new(world, world->sim, player));
}

const tt_model *tt_world_model(const tt_world *world) { return world->model; }

const tt_names *tt_world_names(const tt_world *world) { return tt_sim_names(world->sim); }

const tt_view *tt_world_view(const tt_world *world) { return world->view; }

tt_sim *tt_world_sim(tt_world *world) { return world->sim; }

const tt_scenery *tt_world_scenery(const tt_world *world) { return tt_sim_scenery(world->sim); }

uint64_t tt_world_hash(const tt_world *world) { return tt_sim_hash(world->sim); }

int tt_world_wire_count(const tt_world *world) { return world->wire_count; }

const tt_wire *tt_world_wire_at(const tt_world *world, int index) {
  return &world->wires[index].wire;
}

bool tt_world_paused(const tt_world *world) { return world->paused; }

uint64_t tt_world_step(const tt_world *world) { return world->clock->step; }

bool tt_world_over(const tt_world *world) { return world->quit; }

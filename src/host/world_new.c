/* world_new.c: makes a world from its parts, and takes it apart. */
#include "host/world_internal.h"

#include <math.h>
#include <stdlib.h>

#define MAIL_CAPACITY 1024
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
                         .names = tt_composition_names(world->composition),
                         .model = world->model,
                         .net = world->net,
                         .world = world,
                         .check_only = world->spec.check_only,
                         .lockstep = spec->ops->must_wait != NULL};
  slot->late = spec->late;
  slot->deadline_ns = (uint64_t)(spec->deadline * 1e9);
  slot->watchdog_steps = (uint64_t)ceil(spec->watchdog / timestep - 1e-9);
  slot->last_accept_step = TT_NEVER;
  TT_TRY(spec->ops->open(&slot->wire, spec->config, error));
  slot->open = true;
  return TT_OK;
}

/* The commands of an axis stand together, as compose.c puts them. */
static void find_axis_commands(tt_world *world) {
  for (int i = 0; i < world->model->command_count; i++) {
    const tt_command *command = &world->model->commands[i];
    if (command->kind == TT_COMMAND_TORQUE && command->part == TT_NO_PART)
      world->axis_command[command->index] = i;
  }
}

static bool allocate(tt_world *world) {
  const tt_model *model = world->model;
  size_t axes = (size_t)model->axis_count + 1;
  size_t commands = (size_t)model->command_count + 1;
  size_t wires = (size_t)world->wire_count + 1;
  int actuators = tt_physics_describe(world->physics)->actuator_count;
  world->commands = calloc(commands, sizeof *world->commands);
  world->accepted = calloc(commands, sizeof *world->accepted);
  world->scratch = calloc(commands, sizeof *world->scratch);
  world->part_state = calloc(tt_world_largest_part(world) + 1, 1);
  world->axis_accepted = calloc(axes, sizeof *world->axis_accepted);
  world->axis_command = calloc(axes, sizeof *world->axis_command);
  world->command_drives = calloc(axes, sizeof *world->command_drives);
  world->drives = calloc(axes, sizeof *world->drives);
  world->controls = calloc((size_t)actuators + 1, sizeof *world->controls);
  world->reset_robot = calloc((size_t)model->robot_count + 1, sizeof *world->reset_robot);
  world->wires = calloc(wires, sizeof *world->wires);
  world->shown_stats = calloc(wires, sizeof *world->shown_stats);
  world->shown_states = calloc(wires, sizeof *world->shown_states);
  world->view = tt_view_new(model);
  world->mail = tt_queue_new(MAIL_CAPACITY, sizeof(tt_mail));
  world->tapped = tt_queue_new(TAPPED_CAPACITY, sizeof(tt_tapped));
  if (!world->net) {
    world->net = tt_net_new();
    world->owns_net = true;
  }
  return world->commands && world->accepted && world->scratch && world->part_state &&
         world->axis_accepted && world->axis_command && world->command_drives && world->drives &&
         world->controls && world->reset_robot && world->wires && world->shown_stats &&
         world->shown_states && world->view && world->mail && world->tapped && world->net;
}

static tt_status build(tt_world *world, const tt_world_spec *spec, tt_error *error) {
  world->parts = calloc((size_t)spec->part_count + 1, sizeof *world->parts);
  if (!world->parts) return tt_fail(error, TT_NOMEM, "out of memory while making a world");
  for (int i = 0; i < spec->part_count; i++) {
    world->parts[i] = spec->parts[i];
    world->parts_actuate |= spec->parts[i]->ops->actuate != NULL;
  }
  TT_TRY(tt_compose(spec->physics, spec->parts, spec->part_count, spec->dynamics,
                    &world->composition, error));
  world->model = tt_composition_model(world->composition);
  if (!allocate(world)) return tt_fail(error, TT_NOMEM, "out of memory while making a world");
  find_axis_commands(world);
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
    for (int i = 0; i < spec->part_count; i++) spec->parts[i]->ops->free(spec->parts[i]);
    tt_physics_free(spec->physics);
    return tt_fail(error, TT_NOMEM, "out of memory while making a world");
  }
  world->spec = *spec;
  world->physics = spec->physics;
  world->net = spec->net;
  world->wire_count = spec->wire_count;
  world->match_start = TT_NEVER;
  world->tap = -1;
  world->next_trip = TT_NEVER;
  world->drives_stale = true;
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
  for (int i = 0; i < world->spec.part_count; i++) {
    tt_part *part = world->parts ? world->parts[i] : world->spec.parts[i];
    part->ops->free(part);
  }
  if (world->owns_net && world->net) tt_net_free(world->net);
  tt_view_free(world->view);
  tt_queue_free(world->mail);
  tt_queue_free(world->tapped);
  tt_composition_free(world->composition);
  tt_physics_free(world->physics);
  pthread_mutex_destroy(&world->shown_lock);
  free(world->parts);
  free(world->commands);
  free(world->accepted);
  free(world->scratch);
  free(world->part_state);
  free(world->axis_accepted);
  free(world->axis_command);
  free(world->command_drives);
  free(world->drives);
  free(world->controls);
  free(world->reset_robot);
  free(world->wires);
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
  if (world->sink_count == TT_MAX_SINKS) return TT_FULL;
  world->sinks[world->sink_count++] = sink;
  return TT_OK;
}

void tt_world_flush_journal(tt_world *world) {
  for (int i = 0; i < world->sink_count; i++)
    if (world->sinks[i]->flush) world->sinks[i]->flush(world->sinks[i]);
}

void tt_world_detach(tt_world *world) {
  world->observer_count = 0;
  world->sink_count = 0;
}

const tt_model *tt_world_model(const tt_world *world) { return world->model; }

const tt_names *tt_world_names(const tt_world *world) {
  return tt_composition_names(world->composition);
}

const tt_view *tt_world_view(const tt_world *world) { return world->view; }

tt_physics *tt_world_physics(tt_world *world) { return world->physics; }

const tt_shape *tt_world_shapes(const tt_world *world, int *count) {
  return tt_physics_shapes(world->physics, count);
}

const tt_mesh *tt_world_meshes(const tt_world *world, int *count) {
  return tt_physics_meshes(world->physics, count);
}

const tt_material *tt_world_materials(const tt_world *world, int *count) {
  return tt_physics_materials(world->physics, count);
}

const tt_texture *tt_world_textures(const tt_world *world, int *count) {
  return tt_physics_textures(world->physics, count);
}

bool tt_world_ray(const tt_world *world, int index, tt_ray *ray) {
  int own;
  const tt_ray *rays = tt_physics_rays(world->physics, &own);
  if (index < own) {
    *ray = rays[index];
    return true;
  }
  for (int i = 0, found = own; i < world->spec.part_count; i++) {
    const tt_part *part = world->parts[i];
    if (!part->ops->ray || found++ != index) continue;
    part->ops->ray(part, ray);
    ray->name = part->name;
    return true;
  }
  return false;
}

int tt_world_wire_count(const tt_world *world) { return world->wire_count; }

const tt_wire *tt_world_wire_at(const tt_world *world, int index) {
  return &world->wires[index].wire;
}

bool tt_world_paused(const tt_world *world) { return world->paused; }

uint64_t tt_world_step(const tt_world *world) { return world->step; }

void tt_world_set_player(tt_world *world, tt_player *player) { world->player = player; }

void tt_world_set_feed(tt_world *world, tt_feed *feed) { world->feed = feed; }

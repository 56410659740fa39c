/* sim.c: one simulation: its making, its resets and its step. */
#include "sim/sim_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- reset ---- */

static void reset_parts(tt_sim *sim, int robot) {
  for (int i = 0; i < sim->part_count; i++) {
    tt_part *part = sim->parts[i];
    if ((robot == TT_NO_ROBOT || part->robot == robot) && part->ops->reset) part->ops->reset(part);
  }
}

void tt_sim_reset(tt_sim *sim, int robot) {
  tt_sim_answer_reset(sim, robot);
  tt_sim_journal(sim, &(tt_entry){.kind = TT_ENTRY_RESET, .source = "world", .robot = robot});
  if (robot == TT_NO_ROBOT) {
    tt_engine_reset(sim->engine);
    sim->clock.step = 0;
    sim->clock.epoch++;
    sim->match_start = TT_NEVER;
  } else {
    tt_engine_reset_robot(sim->engine, robot);
  }
  tt_sim_forget_commands(sim, robot);
  reset_parts(sim, robot);
}

void tt_sim_seed(tt_sim *sim, uint64_t seed) {
  tt_sim_journal(sim, &(tt_entry){.kind = TT_ENTRY_SEED, .source = "world", .seed = seed});
  for (int i = 0; i < sim->part_count; i++)
    if (sim->parts[i]->ops->seed) sim->parts[i]->ops->seed(sim->parts[i], seed);
}

/* ---- a step ---- */

static double draw(const tt_actuation *actuation, int robot, double voltage) {
  const tt_sim *sim = actuation->context;
  double sum = 0;
  for (int i = 0; i < sim->part_count; i++) {
    const tt_part *part = sim->parts[i];
    if (part->robot == robot && part->ops->draws) sum += part->ops->draws(part, actuation, voltage);
  }
  return sum;
}

static void actuate(tt_sim *sim) {
  tt_sim_refresh_drives(sim);
  if (!sim->parts_actuate) return;
  memcpy(sim->drives, sim->command_drives, (size_t)sim->model->axis_count * sizeof *sim->drives);
  tt_actuation actuation = {.space = &sim->engine->space,
                            .commands = sim->commands,
                            .accepted = sim->accepted,
                            .axis_accepted = sim->axis_accepted,
                            .drives = sim->drives,
                            .controls = sim->controls,
                            .timestep = tt_model_timestep(sim->model),
                            .step = sim->clock.step,
                            .supplies = sim->supplies,
                            .draw = draw,
                            .context = sim};
  for (int i = 0; i < sim->part_count; i++)
    if (sim->parts[i]->ops->actuate) sim->parts[i]->ops->actuate(sim->parts[i], &actuation);
}

/* Concept mode: no dynamics; time passes and things stand where they were placed. */
static tt_status place(tt_sim *sim, tt_error *error) {
  uint64_t now = sim->clock.total_steps + 1;
  double passed = (double)(now - sim->placed_at) * tt_model_timestep(sim->model);
  TT_TRY(tt_engine_place_done(sim->engine, passed, error));
  sim->placed_at = now;
  return TT_OK;
}

tt_status tt_sim_step(tt_sim *sim, bool last, tt_error *error) {
  actuate(sim);
  if (sim->dynamics)
    TT_TRY(tt_engine_step(sim->engine, sim->drives, sim->controls, last, error));
  else if (last)
    TT_TRY(place(sim, error));
  sim->clock.step++;
  sim->clock.total_steps++;
  return TT_OK;
}

void tt_sim_mark(tt_sim *sim) {
  if (!sim->hash_a_tick || sim->sink_count == 0) return;
  tt_sim_journal(sim,
                 &(tt_entry){.kind = TT_ENTRY_HASH, .source = "world", .hash = tt_sim_hash(sim)});
}

/* ---- making ---- */

/* The commands of an axis stand together, as compose.c puts them. */
static void find_axis_commands(tt_sim *sim) {
  for (int i = 0; i < sim->model->command_count; i++) {
    const tt_command *command = &sim->model->commands[i];
    if (command->kind == TT_COMMAND_TORQUE && command->part == TT_NO_PART)
      sim->axis_command[command->index] = i;
  }
}

static bool allocate(tt_sim *sim) {
  const tt_model *model = sim->model;
  size_t axes = (size_t)model->axis_count + 1;
  size_t commands = (size_t)model->command_count + 1;
  int actuators = tt_engine_mechanism(sim->engine)->actuator_count;
  sim->has_actuators = actuators > 0;
  sim->commands = calloc(commands, sizeof *sim->commands);
  sim->accepted = calloc(commands, sizeof *sim->accepted);
  sim->scratch = calloc(commands, sizeof *sim->scratch);
  sim->axis_accepted = calloc(axes, sizeof *sim->axis_accepted);
  sim->axis_command = calloc(axes, sizeof *sim->axis_command);
  sim->command_drives = calloc(axes, sizeof *sim->command_drives);
  sim->drives = calloc(axes, sizeof *sim->drives);
  sim->supplies = calloc((size_t)model->robot_count + 1, sizeof *sim->supplies);
  sim->controls = calloc((size_t)actuators + 1, sizeof *sim->controls);
  sim->reset_robot = calloc((size_t)model->robot_count + 1, sizeof *sim->reset_robot);
  sim->values = calloc((size_t)sim->value_count + 1, sizeof *sim->values);
  sim->first_values = calloc((size_t)sim->value_count + 1, sizeof *sim->first_values);
  sim->wanted = calloc((size_t)sim->value_count + 1, sizeof *sim->wanted);
  sim->old_values = calloc((size_t)sim->value_count + 1, sizeof *sim->old_values);
  sim->part_state = malloc(tt_sim_largest_part_state(sim) + 1);
  sim->view = tt_view_new(model);
  return sim->commands && sim->accepted && sim->scratch && sim->axis_accepted &&
         sim->axis_command && sim->command_drives && sim->drives && sim->supplies &&
         sim->controls && sim->values && sim->first_values && sim->wanted && sim->old_values &&
         sim->reset_robot && sim->part_state && sim->view;
}

static tt_status build(tt_sim *sim, const tt_sim_spec *spec, tt_error *error) {
  static const char no_memory[] = "out of memory while making a simulation";
  sim->parts = calloc((size_t)spec->part_count + 1, sizeof *sim->parts);
  if (!sim->parts) {
    for (int i = 0; i < spec->part_count; i++) spec->parts[i]->ops->free(spec->parts[i]);
    return tt_fail(error, TT_NOMEM, no_memory);
  }
  sim->part_count = spec->part_count;
  for (int i = 0; i < spec->part_count; i++) {
    sim->parts[i] = spec->parts[i];
    sim->parts_actuate |= spec->parts[i]->ops->actuate != NULL;
  }
  TT_TRY(tt_compose(spec->engine, spec->parts, spec->part_count, spec->dynamics, &sim->composition,
                    error));
  sim->model = tt_composition_model(sim->composition);
  tt_engine_scenery(sim->engine, &sim->scenery);
  const tt_value *values = tt_composition_values(sim->composition, &sim->value_count);
  if (!allocate(sim)) return tt_fail(error, TT_NOMEM, no_memory);
  for (int i = 0; i < sim->part_count; i++) {
    sim->parts[i]->accepted = sim->accepted;
    sim->parts[i]->axis_accepted = sim->axis_accepted;
  }
  for (int i = 0; i < sim->value_count; i++) sim->values[i] = values[i].own;
  tt_sim_settle_values(sim);
  find_axis_commands(sim);
  return TT_OK;
}

tt_status tt_sim_new(const tt_sim_spec *spec, tt_sim **made, tt_error *error) {
  *made = NULL;
  tt_sim *sim = calloc(1, sizeof *sim);
  if (!sim) {
    for (int i = 0; i < spec->part_count; i++) spec->parts[i]->ops->free(spec->parts[i]);
    tt_engine_free(spec->engine);
    return tt_fail(error, TT_NOMEM, "out of memory while making a simulation");
  }
  sim->engine = spec->engine;
  sim->dynamics = spec->dynamics;
  sim->hash_a_tick = spec->hash_a_tick;
  sim->match_start = TT_NEVER;
  sim->drives_stale = true;
  tt_status status = build(sim, spec, error);
  if (status != TT_OK) {
    tt_sim_free(sim);
    return status;
  }
  *made = sim;
  return TT_OK;
}

/* Clones of what `sim` is made of; `*parts` is the caller's. */
static bool clone_insides(const tt_sim *sim, tt_engine **engine, tt_part ***parts, int *count) {
  *engine = tt_engine_clone(sim->engine);
  *parts = calloc((size_t)sim->part_count + 1, sizeof **parts);
  for (*count = 0; *engine && *parts && *count < sim->part_count; (*count)++) {
    const tt_part *from = sim->parts[*count];
    tt_part *part = from->ops->clone(from);
    if (!part) break;
    part->robot = from->robot;
    (*parts)[*count] = part;
  }
  return *engine && *parts && *count == sim->part_count;
}

tt_status tt_sim_clone(const tt_sim *sim, tt_sim **clone, tt_error *error) {
  static const char no_memory[] = "out of memory while cloning a simulation";
  tt_sim_spec spec = {.dynamics = sim->dynamics, .hash_a_tick = sim->hash_a_tick};
  tt_part **parts;
  *clone = NULL;
  if (!clone_insides(sim, &spec.engine, &parts, &spec.part_count)) {
    for (int i = 0; parts && i < spec.part_count; i++) parts[i]->ops->free(parts[i]);
    tt_engine_free(spec.engine);
    free(parts);
    return tt_fail(error, TT_NOMEM, no_memory);
  }
  spec.parts = parts;
  tt_status status = tt_sim_new(&spec, clone, error);
  free(parts);
  TT_TRY(status);
  memcpy((*clone)->first_values, sim->first_values,
         (size_t)sim->value_count * sizeof *sim->first_values);
  void *state = malloc(tt_sim_state_size(sim));
  if (state) {
    tt_sim_save(sim, state);
    status = tt_sim_restore(*clone, state, tt_sim_state_size(sim), NULL);
    free(state);
  }
  if (state && status == TT_OK) return TT_OK;
  tt_sim_free(*clone);
  *clone = NULL;
  return tt_fail(error, state ? status : TT_NOMEM, no_memory);
}

void tt_sim_free(tt_sim *sim) {
  if (!sim) return;
  for (int i = 0; i < sim->part_count; i++) sim->parts[i]->ops->free(sim->parts[i]);
  tt_view_free(sim->view);
  tt_composition_free(sim->composition);
  tt_engine_free(sim->engine);
  free(sim->parts);
  free(sim->commands);
  free(sim->accepted);
  free(sim->scratch);
  free(sim->axis_accepted);
  free(sim->axis_command);
  free(sim->command_drives);
  free(sim->drives);
  free(sim->supplies);
  free(sim->controls);
  free(sim->values);
  free(sim->first_values);
  free(sim->wanted);
  free(sim->old_values);
  free(sim->reset_robot);
  free(sim->part_state);
  free(sim);
}

void tt_sim_set_owner(tt_sim *sim, tt_sim_owner *owner) { sim->owner = owner; }

/* ---- looking at it ---- */

const tt_model *tt_sim_model(const tt_sim *sim) { return sim->model; }

const tt_names *tt_sim_names(const tt_sim *sim) { return tt_composition_names(sim->composition); }

const tt_scenery *tt_sim_scenery(const tt_sim *sim) { return &sim->scenery; }

tt_engine *tt_sim_engine(tt_sim *sim) { return sim->engine; }

const tt_view *tt_sim_view(const tt_sim *sim) { return sim->view; }

tt_view *tt_sim_own_view(tt_sim *sim) { return sim->view; }

const tt_clock *tt_sim_clock(const tt_sim *sim) { return &sim->clock; }

bool tt_sim_ray(const tt_sim *sim, int index, tt_ray *ray) {
  if (index < sim->scenery.ray_count) {
    *ray = sim->scenery.rays[index];
    return true;
  }
  for (int i = 0, found = sim->scenery.ray_count; i < sim->part_count; i++) {
    const tt_part *part = sim->parts[i];
    if (!part->ops->ray || found++ != index) continue;
    part->ops->ray(part, ray);
    ray->name = part->name;
    return true;
  }
  return false;
}

/* state.c: everything that decides a simulation's future, saved, restored and hashed. */
#include "base/hash.h"
#include "sim/sim_internal.h"

#include <string.h>

/* Behind the head stand the values of the model, commands, acceptances, axis acceptances, parts, engine. Version 5 had the
 * model's own number where a friction was not set (TT_AS_MODELLED). Version 4 had no
 * flags, and the engine's feedback where the simulation that reads it has it. Version 3 had no values. Version 2 was a whole
 * world's: one watchdog a wire stood between head and commands. */
#define VERSION_2 0x32305354544554u /* "TETTS02", little-endian */
#define VERSION_3 0x33305354544554u /* "TETTS03" */
#define VERSION_4 0x34305354544554u /* "TETTS04" */
#define VERSION_5 0x35305354544554u /* "TETTS05" */
#define VERSION_6 0x36305354544554u /* "TETTS06" */

typedef struct head {
  uint64_t magic, step, total_steps, match_start, sequence, epoch;
  uint64_t flags; /* of version 2: how many watchdogs there are */
} head;

/* Flags. Above them stand, a bit each, the robots of which a reset was asked for and is not done yet. */
#define HAS_FEEDBACK 1u
#define RESETS_WORLD 2u
#define FIRST_ROBOT 2

#define WATCHDOG_SIZE                                                                              \
  16 /* of each in a state of version 2; host/world_state.c has them behind a state of today */
_Static_assert(sizeof(head) == 56, "the head of saved states, which are kept in files");

typedef struct layout {
  size_t whole, values, watchdogs; /* bytes */
  bool feedback;
} layout;

/* Moves `size` bytes between the simulation and a state; one walk serves saving and restoring, so that they
 * can't disagree. */
typedef struct walk {
  unsigned char *at;
  bool saving;
} walk;

static void move(walk *through, void *value, size_t size) {
  if (through->saving)
    memcpy(through->at, value, size);
  else
    memcpy(value, through->at, size);
  through->at += size;
}

static size_t part_size(const tt_part *part) {
  return part->ops->state_size ? part->ops->state_size(part) : 0;
}

size_t tt_sim_largest_part_state(const tt_sim *sim) {
  size_t largest = 0;
  for (int i = 0; i < sim->part_count; i++)
    if (part_size(sim->parts[i]) > largest) largest = part_size(sim->parts[i]);
  return largest;
}

static void move_parts(tt_sim *sim, walk *through) {
  for (int i = 0; i < sim->part_count; i++) {
    tt_part *part = sim->parts[i];
    if (part_size(part) == 0) continue;
    if (through->saving)
      part->ops->save(part, through->at);
    else
      part->ops->restore(part, through->at);
    through->at += part_size(part);
  }
}

static void move_commands(tt_sim *sim, walk *through) {
  size_t commands = (size_t)sim->model->command_count;
  move(through, sim->commands, commands * sizeof *sim->commands);
  move(through, sim->accepted, commands * sizeof *sim->accepted);
  move(through, sim->axis_accepted, (size_t)sim->model->axis_count * sizeof *sim->axis_accepted);
}

static size_t values_size(const tt_sim *sim) {
  return (size_t)sim->value_count * sizeof *sim->values;
}

static size_t size_with(const tt_sim *sim, bool feedback) {
  size_t size = sizeof(head) + values_size(sim);
  size += (size_t)sim->model->command_count * (sizeof *sim->commands + sizeof *sim->accepted);
  size += (size_t)sim->model->axis_count * sizeof *sim->axis_accepted;
  for (int i = 0; i < sim->part_count; i++) size += part_size(sim->parts[i]);
  return size + tt_engine_state_size(sim->engine, feedback);
}

size_t tt_sim_state_size(const tt_sim *sim) {
  return size_with(sim, tt_engine_feeds_back(sim->engine));
}

static uint64_t flags_of(const tt_sim *sim) {
  uint64_t flags = tt_engine_feeds_back(sim->engine) ? HAS_FEEDBACK : 0;
  if (sim->reset_world) flags |= RESETS_WORLD;
  for (int r = 0; r < sim->model->robot_count; r++)
    if (sim->reset_robot[r]) flags |= UINT64_C(1) << (FIRST_ROBOT + r);
  return flags;
}

static void ask_resets(tt_sim *sim, uint64_t flags) {
  sim->reset_world = flags & RESETS_WORLD;
  for (int r = 0; r < sim->model->robot_count; r++)
    sim->reset_robot[r] = flags >> (FIRST_ROBOT + r) & 1;
}

void tt_sim_save(const tt_sim *sim, void *state) {
  tt_sim *source = (tt_sim *)sim; /* the walk only reads while saving */
  walk through = {.at = state, .saving = true};
  head fixed = {VERSION_6,     sim->clock.step,  sim->clock.total_steps, sim->match_start,
                sim->sequence, sim->clock.epoch, flags_of(sim)};
  move(&through, &fixed, sizeof fixed);
  move(&through, source->values, values_size(sim));
  move_commands(source, &through);
  move_parts(source, &through);
  tt_engine_save(sim->engine, through.at);
}

/* Before version 6 a friction of the model's own number was one that is not set. */
static void renew_values(const tt_sim *sim, double *values) {
  int count;
  const tt_value *known = tt_sim_values(sim, &count);
  for (int i = 0; i < count; i++)
    if (known[i].own < known[i].lower && values[i] == known[i].modelled) values[i] = known[i].own;
}

/* The engine, whose state is the `size` bytes before `end`, with the values that stand at `values`; NULL: those that the scene
 * begins with. Where it fails, nothing has changed. */
static tt_status restore_engine(tt_sim *sim, const void *values, bool old_values,
                                const unsigned char *end, size_t size) {
  memcpy(sim->old_values, sim->values, values_size(sim));
  memcpy(sim->wanted, values ? values : sim->first_values, values_size(sim));
  if (values && old_values) renew_values(sim, sim->wanted);
  TT_TRY(tt_sim_put_values(sim, sim->wanted, NULL));
  tt_status status = tt_engine_restore(sim->engine, end - size, size);
  if (status != TT_OK) tt_sim_put_values(sim, sim->old_values, NULL);
  return status;
}

/* What a head says of the rest. TT_VERSION: it is of none that is known here. */
static tt_status read_head(const tt_sim *sim, head *fixed, layout *of) {
  *of = (layout){.feedback = tt_engine_feeds_back(sim->engine)};
  const bool has_flags = fixed->magic == VERSION_6 || fixed->magic == VERSION_5;
  if (has_flags)
    of->feedback = fixed->flags & HAS_FEEDBACK;
  else if (fixed->magic != VERSION_4 && fixed->magic != VERSION_3 && fixed->magic != VERSION_2)
    return TT_VERSION;
  if (fixed->magic == VERSION_2 && fixed->flags > 1000) return TT_INVALID;
  if (fixed->magic == VERSION_2) of->watchdogs = (size_t)fixed->flags * WATCHDOG_SIZE;
  if (!has_flags) fixed->flags = 0;
  if (has_flags || fixed->magic == VERSION_4) of->values = values_size(sim);
  of->whole = size_with(sim, of->feedback) - values_size(sim) + of->values + of->watchdogs;
  return TT_OK;
}

tt_status tt_sim_restore(tt_sim *sim, const void *state, size_t size, size_t *used) {
  walk through = {.at = (unsigned char *)state, .saving = false};
  head fixed;
  layout of;
  if (size < sizeof fixed) return TT_INVALID;
  move(&through, &fixed, sizeof fixed);
  TT_TRY(read_head(sim, &fixed, &of));
  if (size < of.whole || (!used && size != of.whole)) return TT_INVALID;
  /* First, since it refuses what is of another scene. */
  TT_TRY(restore_engine(sim, of.values ? through.at : NULL, fixed.magic != VERSION_6,
                        (const unsigned char *)state + of.whole,
                        tt_engine_state_size(sim->engine, of.feedback)));
  through.at += of.values;
  tt_sim_journal(
      sim, &(tt_entry){
               .kind = TT_ENTRY_STATE, .source = "world", .state = state, .state_size = of.whole});
  /* A log's time goes on. */
  uint64_t total = sim->sink_count > 0 ? sim->clock.total_steps : fixed.total_steps;
  sim->clock = (tt_clock){fixed.step, total, (uint32_t)fixed.epoch};
  sim->placed_at = total;
  sim->match_start = fixed.match_start;
  sim->sequence = fixed.sequence;
  through.at += of.watchdogs;
  move_commands(sim, &through);
  move_parts(sim, &through);
  ask_resets(sim, fixed.flags);
  if (used) *used = of.whole;
  sim->drives_stale = true;
  tt_sim_sense(sim);
  return TT_OK;
}

uint64_t tt_sim_hash(const tt_sim *sim) {
  uint64_t hash = tt_engine_hash(sim->engine);
  hash =
      tt_hash_bytes(hash, sim->commands, (size_t)sim->model->command_count * sizeof *sim->commands);
  int count;
  const tt_value *values = tt_sim_values(sim, &count);
  for (int i = 0; i < count; i++) { /* none, and the same hash, where all are the model's own */
    if (sim->values[i] == values[i].own) continue;
    hash = tt_hash_bytes(hash, &i, sizeof i);
    hash = tt_hash_bytes(hash, &sim->values[i], sizeof sim->values[i]);
  }
  for (int i = 0; i < sim->part_count; i++) {
    size_t size = part_size(sim->parts[i]);
    if (size == 0) continue;
    sim->parts[i]->ops->save(sim->parts[i], sim->part_state);
    hash = tt_hash_bytes(hash, sim->part_state, size);
  }
  return hash;
}

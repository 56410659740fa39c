/* world_state.c: everything that decides a world's future, saved, restored and hashed. */
#include "base/hash.h"
#include "host/world_internal.h"

#include <string.h>

#define MAGIC 0x32305354544554u /* "TETTS02", little-endian */

/* The fixed part; then one watchdog a wire, commands, acceptances, axis acceptances, parts, physics. */
typedef struct head {
  uint64_t magic, step, total_steps, match_start, sequence, epoch, wires;
} head;

typedef struct watchdog {
  uint64_t last_accept_step, tripped;
} watchdog;

/* Moves `size` bytes between the world and a state; one walk serves saving and restoring, so that they
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

static void move_watchdogs(tt_world *world, walk *through) {
  for (int i = 0; i < world->wire_count; i++) {
    tt_wire_slot *slot = &world->wires[i];
    watchdog saved = {slot->last_accept_step, slot->tripped};
    move(through, &saved, sizeof saved);
    slot->last_accept_step = saved.last_accept_step;
    slot->tripped = saved.tripped != 0;
  }
}

size_t tt_world_largest_part(const tt_world *world) {
  size_t largest = 0;
  for (int i = 0; i < world->spec.part_count; i++)
    if (part_size(world->parts[i]) > largest) largest = part_size(world->parts[i]);
  return largest;
}

static void move_parts(tt_world *world, walk *through) {
  for (int i = 0; i < world->spec.part_count; i++) {
    tt_part *part = world->parts[i];
    if (part_size(part) == 0) continue;
    if (through->saving)
      part->ops->save(part, through->at);
    else
      part->ops->restore(part, through->at);
    through->at += part_size(part);
  }
}

static void move_commands(tt_world *world, walk *through) {
  size_t commands = (size_t)world->model->command_count;
  move(through, world->commands, commands * sizeof *world->commands);
  move(through, world->accepted, commands * sizeof *world->accepted);
  move(through, world->axis_accepted,
       (size_t)world->model->axis_count * sizeof *world->axis_accepted);
}

size_t tt_world_state_size(const tt_world *world) {
  size_t size = sizeof(head) + (size_t)world->wire_count * sizeof(watchdog);
  size += (size_t)world->model->command_count * (sizeof *world->commands + sizeof *world->accepted);
  size += (size_t)world->model->axis_count * sizeof *world->axis_accepted;
  for (int i = 0; i < world->spec.part_count; i++) size += part_size(world->parts[i]);
  return size + tt_physics_state_size(world->physics);
}

void tt_world_save(const tt_world *world, void *state) {
  tt_world *source = (tt_world *)world; /* the walk only reads while saving */
  walk through = {.at = state, .saving = true};
  head fixed = {MAGIC,           world->step,  world->total_steps,         world->match_start,
                world->sequence, world->epoch, (uint64_t)world->wire_count};
  move(&through, &fixed, sizeof fixed);
  move_watchdogs(source, &through);
  move_commands(source, &through);
  move_parts(source, &through);
  tt_physics_save(world->physics, through.at);
}

tt_status tt_world_restore(tt_world *world, const void *state, size_t size) {
  walk through = {.at = (unsigned char *)state, .saving = false};
  head fixed;
  size_t own_watchdogs = (size_t)world->wire_count * sizeof(watchdog);
  if (size < sizeof fixed) return TT_INVALID;
  move(&through, &fixed, sizeof fixed);
  if (fixed.magic != MAGIC) return TT_VERSION;
  /* A replay has no wires: it takes any state of the scene. */
  if (fixed.wires != (uint64_t)world->wire_count && (world->wire_count || fixed.wires > 1000))
    return TT_INVALID;
  size_t watchdogs = (size_t)fixed.wires * sizeof(watchdog);
  if (size != tt_world_state_size(world) - own_watchdogs + watchdogs) return TT_INVALID;
  world->step = fixed.step;
  world->total_steps = fixed.total_steps;
  world->match_start = fixed.match_start;
  world->sequence = fixed.sequence;
  world->epoch = (uint32_t)fixed.epoch;
  if (world->wire_count)
    move_watchdogs(world, &through);
  else
    through.at += watchdogs;
  move_commands(world, &through);
  move_parts(world, &through);
  TT_TRY(tt_physics_restore(world->physics, through.at, tt_physics_state_size(world->physics)));
  world->drives_stale = true;
  tt_world_schedule_watchdogs(world);
  tt_world_sense(world);
  return TT_OK;
}

/* Of what decides the physics' future: its own state, the commands in force, and the parts. Watchdogs and
 * counters are left out, so that a message that changes nothing changes no hash. */
uint64_t tt_world_hash(const tt_world *world) {
  uint64_t hash = tt_physics_hash(world->physics);
  hash = tt_hash_bytes(hash, world->commands,
                       (size_t)world->model->command_count * sizeof *world->commands);
  for (int i = 0; i < world->spec.part_count; i++) {
    size_t size = part_size(world->parts[i]);
    if (size == 0) continue;
    world->parts[i]->ops->save(world->parts[i], world->part_state);
    hash = tt_hash_bytes(hash, world->part_state, size);
  }
  return hash;
}

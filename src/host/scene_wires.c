/* scene_wires.c: the wires: names, robots, policies and periods, which the interval between exchanges follows. */
#include "host/scene_wires.h"

#include "base/nearest.h"
#include "host/wire_keys.h"
#include "scene/load.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-9 /* steps or ticks that a quotient of doubles may be off */

/** The robot that a wire drives: named, the only one, or the whole world. */
static tt_status find_robot(tt_scene_store *store, const tt_wire_common *common,
                            tt_scene_wire *wire) {
  const tt_scene *scene = &store->scene;
  wire->robot = scene->robot_count == 1 ? 0 : TT_NO_ROBOT;
  if (!common->robot) return TT_OK;
  tt_nearest nearest = tt_nearest_start(common->robot);
  for (int i = 0; i < scene->robot_count; i++) {
    wire->robot = i;
    if (!strcmp(scene->robots[i].name, common->robot)) return TT_OK;
    tt_nearest_offer(&nearest, scene->robots[i].name);
  }
  wire->robot = TT_NO_ROBOT;
  if (!strcmp(common->robot, "world")) return TT_OK;
  return tt_fail(store->error, TT_INVALID, "%s.robot: there is no robot '%s' in this scene%s%s%s",
                 wire->where, common->robot,
                 nearest.best ? "; did you mean '" : "; name one of its robots, or world",
                 nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static int wires_of_protocol(const tt_scene_store *store, int protocol) {
  int count = 0, protocols = tt_schema_count(store->guests->wires);
  for (unsigned i = 0; i < store->keys->wires_count; i++) {
    if (store->keys->wires[i * (unsigned)protocols + (unsigned)protocol]) count++;
  }
  return count;
}

/** Its own name, the protocol, or "<robot>.<protocol>" where several have the same. */
static tt_status name_wire(tt_scene_store *store, const tt_wire_common *common,
                           tt_scene_wire *wires, int index) {
  tt_scene_wire *wire = &wires[index];
  bool alone = wires_of_protocol(store, wire->protocol) == 1;
  if (common->name) {
    wire->name = common->name;
  } else if (alone || !common->robot) {
    wire->name = wire->schema->key;
  } else {
    PRINT(store, wire->name, "%s.%s", common->robot, wire->schema->key);
  }
  TT_TRY(tt_load_check_name(store, wire->name, ".", wire->where));
  for (int i = 0; i < index; i++) {
    if (strcmp(wires[i].name, wire->name)) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s: two wires are called '%s'; give each a robot or a name of its own",
                   wire->where, wire->name);
  }
  PRINT(store, wire->where, "%s: wires.%s", store->scene.path, wire->name);
  return TT_OK;
}

static tt_status load_policy(tt_scene_store *store, const tt_wire_common *common,
                             tt_scene_wire *wire) {
  static const char *const words[] = {"wait", "hold", "zero", "eject", NULL};
  int late;
  TT_TRY(tt_quantity_check(common->watchdog, "watchdog", wire->where, TT_TIME, 0, 3600, 0,
                           &wire->watchdog, store->error));
  TT_TRY(tt_quantity_check(common->deadline, "deadline", wire->where, TT_TIME, 0.001, 3600, 1,
                           &wire->deadline, store->error));
  TT_TRY(
      tt_word_check(common->late, "late", wire->where, words, TT_LATE_WAIT, &late, store->error));
  wire->late = (tt_late_policy)late;
  return TT_OK;
}

/** 0: it has no period of its own. */
static tt_status load_period(tt_scene_store *store, const tt_wire_common *common,
                             tt_scene_wire *wire) {
  const char *where;
  PRINT(store, where, "%s.period", wire->where);
  tt_load_tell_time(where, NAN);
  if (common->period) {
    return tt_load_steps(store, common->period, where, &wire->period_steps);
  }
  if (wire->schema->period_steps) wire->period_steps = wire->schema->period_steps(wire->config);
  return TT_OK;
}

static tt_status load_wire(tt_scene_store *store, unsigned index, tt_scene_wire *wires) {
  int protocols = tt_schema_count(store->guests->wires);
  tt_scene_wire *wire = &wires[index];
  void **slots = store->keys->wires + index * (unsigned)protocols;
  while (wire->protocol < protocols - 1 && !slots[wire->protocol]) wire->protocol++;
  void *config = slots[wire->protocol];
  const tt_wire_common *common = config;
  if (!config)
    return tt_fail(store->error, TT_INVALID,
                   "%s: wires[%u] names no protocol; write it as a key, such as `- float-udp:`",
                   store->scene.path, index);
  wire->schema = store->guests->wires[wire->protocol];
  wire->config = config;
  store->scene.reads_forces |= wire->schema->reads_forces;
  PRINT(store, wire->where, "%s: wires[%u]", store->scene.path, index);
  TT_TRY(name_wire(store, common, wires, (int)index));
  if (wire->schema->check) TT_TRY(wire->schema->check(config, wire->where, store->error));
  TT_TRY(find_robot(store, common, wire));
  TT_TRY(load_policy(store, common, wire));
  return load_period(store, common, wire);
}

static double steps_in(const tt_scene *scene, double seconds) {
  return seconds * (double)scene->timestep_den / (double)scene->timestep_num;
}

/** The interval that suits all wires of a scene; 0: none does. */
static uint64_t suiting_io_steps(const tt_scene *scene, const tt_scene_wire *wires) {
  double period = scene->wire_count > 0 ? wires[0].schema->suiting_period : 0;
  for (int i = 1; i < scene->wire_count; i++)
    if (wires[i].schema->suiting_period != period) period = 0;
  return (uint64_t)ceil(steps_in(scene, period) - ROUNDING);
}

/** The interval of a wire that has none of its own: no shorter than suits it. */
static uint64_t default_period_steps(const tt_scene *scene, const tt_scene_wire *wire) {
  double ticks = steps_in(scene, wire->schema->suiting_period) / (double)scene->io_steps;
  return scene->io_steps * (uint64_t)fmax(1, ceil(ticks - ROUNDING));
}

/** The scene's interval, and that of every wire, which is a multiple of it. */
static tt_status settle_periods(tt_scene_store *store, tt_scene_wire *wires) {
  tt_scene *scene = &store->scene;
  for (int i = 0; i < scene->wire_count; i++)
    scene->io_steps = (uint64_t)tt_greatest_common_divisor((int64_t)scene->io_steps,
                                                           (int64_t)wires[i].period_steps);
  if (!scene->io_steps) scene->io_steps = suiting_io_steps(scene, wires);
  TT_TRY(tt_load_io_period(store));
  for (int i = 0; i < scene->wire_count; i++) {
    if (!wires[i].period_steps) wires[i].period_steps = default_period_steps(scene, &wires[i]);
    if (wires[i].period_steps % scene->io_steps == 0) continue;
    return tt_fail(store->error, TT_INVALID,
                   "%s.period: %llu steps are no multiple of the scene's io_period of %llu; leave "
                   "io_period out and it "
                   "follows from the wires",
                   wires[i].where, (unsigned long long)wires[i].period_steps,
                   (unsigned long long)scene->io_steps);
  }
  return TT_OK;
}

/** Which wires the world waits for. A wire that could wait for answers and is told not to wants to be paced by the clock. */
static void settle_waits(const tt_scene *scene, tt_scene_wire *wires, int *waiting, bool *clock) {
  for (int i = 0; i < scene->wire_count; i++) {
    const tt_schema *schema = wires[i].schema;
    tt_waits waits = schema->waits ? schema->waits(wires[i].config) : TT_WAITS_NEVER;
    wires[i].lockstep = waits == TT_WAITS_ALWAYS ||
                        (waits == TT_WAITS_AT_LOCKSTEP && scene->pace == TT_PACE_LOCKSTEP);
    *waiting += wires[i].lockstep;
    *clock |= waits == TT_WAITS_FOR_THE_CLOCK;
  }
}

/** What is delayed in simulated time would never arrive while that stands still. */
static tt_status refuse_delays(const tt_scene_store *store, const tt_scene_wire *wire) {
  const tt_wire_common *common = wire->config;
  tt_faults faults;
  if (!common->faults) return TT_OK;
  TT_TRY(tt_wire_faults_check(common, wire->where, &faults, store->error));
  if (faults.delay == 0 && faults.jitter == 0) return TT_OK;
  return tt_fail(
      store->error, TT_INVALID,
      "%s.faults.%s: simulated time stands still while the world waits in lock-step; give "
      "loss, duplicate or reorder, or another pace",
      wire->where, faults.delay > 0 ? "delay" : "jitter");
}

/** Lock-step without anybody to wait for would be as fast as the machine can, which nobody asked for. */
static tt_status settle_pace(tt_scene_store *store, tt_scene_wire *wires) {
  tt_scene *scene = &store->scene;
  int waiting = 0;
  bool clock = false;
  settle_waits(scene, wires, &waiting, &clock);
  for (int i = 0; i < scene->wire_count; i++)
    if (wires[i].lockstep) TT_TRY(refuse_delays(store, &wires[i]));
  if (scene->pace != TT_PACE_LOCKSTEP || waiting > 0) return TT_OK;
  if (clock) {
    scene->pace = TT_PACE_REALTIME;
    return TT_OK;
  }
  const char *others = scene->wire_count > 0 ? scene->wires[0].schema->key : NULL;
  return tt_fail(
      store->error, TT_INVALID,
      "%s: pace: lockstep waits for the answers of a wire, and %s%s; give `realtime`, or "
      "`fast` for as fast as the machine can",
      scene->path, others ? others : "there is none", others ? " wants none" : "");
}

tt_status tt_load_wires(tt_scene_store *store) {
  tt_scene_wire *wires;
  NEW(store, wires, store->keys->wires_count);
  store->scene.wires = wires;
  for (unsigned i = 0; i < store->keys->wires_count; i++) {
    TT_TRY(load_wire(store, i, wires));
    store->scene.wire_count++;
  }
  TT_TRY(settle_periods(store, wires));
  return settle_pace(store, wires);
}

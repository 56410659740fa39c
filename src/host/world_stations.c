/* world_stations.c: the driver stations of a world's robots: what people order, what the time of a match does, and the gate
 * that commands pass before they are journaled. */
#include "host/world_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE "driver-station"

/* ---- making ---- */

bool tt_world_open_stations(tt_world *world) {
  const tt_model *model = world->model;
  const char *alliances[TT_MAX_ROBOTS];
  for (int i = 0; i < model->robot_count; i++) alliances[i] = model->robots[i].alliance;
  static const tt_match_timing none;
  const tt_world_spec *spec = &world->spec;
  bool given = memcmp(&spec->match, &none, sizeof none) != 0;
  if (!tt_driver_stations_init(&world->stations, alliances, model->robot_count, spec->start,
                               given ? &spec->match : &tt_practice_match))
    return false;
  size_t count = (size_t)world->stations.count;
  world->told = calloc(count, sizeof *world->told);
  world->shown_stations = calloc(count, sizeof *world->shown_stations);
  world->concerned = calloc((size_t)model->command_count + 1, sizeof *world->concerned);
  if (!world->told || !world->shown_stations || !world->concerned) return false;
  memcpy(world->told, world->stations.of, count * sizeof *world->told);
  memcpy(world->shown_stations, world->stations.of, count * sizeof *world->told);
  return true;
}

void tt_world_close_stations(tt_world *world) {
  tt_driver_stations_clear(&world->stations);
  free(world->told);
  free(world->shown_stations);
  free(world->concerned);
}

/* ---- changes ---- */

/* A disabled robot is one whose commands are safe. */
static void make_safe(tt_world *world, int robot) {
  int count = 0;
  for (int i = 0; i < world->model->command_count; i++)
    if (world->model->commands[i].robot == robot) world->concerned[count++] = i;
  tt_sim_make_safe(world->sim, SOURCE, world->concerned, count);
}

static void tell(tt_world *world, int robot, const char *text) {
  if (world->model->robot_count > 1)
    tt_world_event(world, SOURCE, "%s: %s", world->model->robots[robot].name, text);
  else
    tt_world_event(world, SOURCE, "%s", text);
}

/* The same happened to every robot: one sentence is enough. */
static bool tell_all(tt_world *world) {
  char first[200], text[200];
  const tt_driver_stations *stations = &world->stations;
  for (int i = 0; i < stations->count; i++) {
    if (!tt_driver_station_tell(&world->told[i], &stations->of[i], i ? text : first, sizeof text) ||
        (i > 0 && strcmp(first, text) != 0))
      return false;
  }
  tt_world_event(world, SOURCE, "%s%s", stations->count > 1 ? "all robots: " : "", first);
  return true;
}

/* A station's state as WPILib's data logs name it: viewers draw their bands of enabled and autonomous from it. */
#define FLAGS 4
static const char *const flag_names[FLAGS] = {"DS:enabled", "DS:autonomous", "DS:test", "DS:estop"};

static void read_flags(const tt_driver_station *of, bool flags[FLAGS]) {
  flags[0] = of->enabled;
  flags[1] = of->mode == TT_MODE_AUTONOMOUS;
  flags[2] = of->mode == TT_MODE_TEST;
  flags[3] = of->estop;
}

/* Journals what differs from `before`; NULL: everything. Such a log is one robot's: the first has WPILib's names, the others
 * have their own before them. */
static void journal_flags(tt_world *world, int robot, const tt_driver_station *before) {
  bool was[FLAGS], is[FLAGS];
  char name[320];
  read_flags(&world->stations.of[robot], is);
  if (before) read_flags(before, was);
  for (int i = 0; i < FLAGS; i++) {
    if (before && was[i] == is[i]) continue;
    snprintf(name, sizeof name, "%s%s%s", robot ? world->model->robots[robot].name : "",
             robot ? "/" : "", flag_names[i]);
    tt_sim_flag(world->sim, SOURCE, name, is[i]);
  }
}

void tt_world_journal_stations(tt_world *world) {
  if (!world->source->is_live) return;
  for (int i = 0; i < world->model->robot_count; i++) journal_flags(world, i, NULL);
}

void tt_world_begin_stations(tt_world *world) {
  if (!world->source->is_live || world->clock->step == 0) return;
  for (int i = 0; i < world->model->robot_count; i++)
    if (!world->stations.of[i].enabled) make_safe(world, i);
}

/* The changes stand in the journal. */
static void journal_changes(tt_world *world) {
  for (int i = 0; i < world->model->robot_count; i++) journal_flags(world, i, &world->told[i]);
}

/* Of what changed since the last look people are told; robots that were disabled are made safe. */
static void follow_changes(tt_world *world) {
  const tt_driver_stations *stations = &world->stations;
  bool told = tell_all(world);
  journal_changes(world);
  for (int i = 0; i < stations->count; i++) {
    char text[200];
    if (!tt_driver_station_tell(&world->told[i], &stations->of[i], text, sizeof text)) continue;
    if (!told) tell(world, i, text);
    if (world->told[i].enabled && !stations->of[i].enabled) make_safe(world, i);
    world->told[i] = stations->of[i];
  }
}

static void tell_period(tt_world *world) {
  const tt_driver_stations *stations = &world->stations;
  const tt_match_timing *timing = &stations->timing;
  switch (stations->period) {
    case TT_PERIOD_NONE: tt_world_event(world, SOURCE, "practice match ended early"); break;
    case TT_PERIOD_AUTONOMOUS:
      tt_world_event(world, SOURCE, "practice match: autonomous for %g s", timing->autonomous);
      break;
    case TT_PERIOD_PAUSE:
      tt_world_event(world, SOURCE, "practice match: pause of %g s", timing->pause);
      break;
    case TT_PERIOD_TELEOP:
      tt_world_event(world, SOURCE, "practice match: teleop for %g s", timing->teleop);
      break;
    case TT_PERIOD_OVER: tt_world_event(world, SOURCE, "practice match: over"); break;
  }
}

/* By hand, before its time or after it: what drove stands, also where it is to drive at once again. */
static void end_match(tt_world *world) {
  tt_match_period before = world->stations.period;
  tt_driver_stations_end_match(&world->stations);
  if (before != TT_PERIOD_NONE && before != TT_PERIOD_OVER) tell_period(world);
  follow_changes(world);
}

void tt_world_order_station(tt_world *world, const tt_ds_order *order) {
  tt_driver_stations *stations = &world->stations;
  if (!world->source->is_live || !tt_ds_order_is_good(order, stations->count)) return;
  if (tt_ds_order_ends_match(order)) end_match(world);
  if (order->kind == TT_DS_MATCH) world->match_began = world->clock->total_steps;
  tt_driver_stations_obey(stations, order);
  if (stations->period != TT_PERIOD_NONE && order->kind == TT_DS_MATCH) tell_period(world);
  follow_changes(world);
}

void tt_world_advance_match(tt_world *world) {
  tt_driver_stations *stations = &world->stations;
  tt_match_period before = stations->period;
  if (before == TT_PERIOD_NONE) return;
  uint64_t now = world->clock->total_steps;
  uint64_t passed = now > world->match_began ? now - world->match_began : 0;
  tt_driver_stations_advance(stations, tt_model_time(world->model, passed));
  world->period_changed |= stations->period != before;
}

void tt_world_follow_match(tt_world *world) {
  if (!world->period_changed) return;
  world->period_changed = false;
  tell_period(world);
  follow_changes(world);
}

void tt_world_stop_stations(tt_world *world) {
  tt_driver_stations_stop(&world->stations, world->stopped);
  journal_changes(world);
  memcpy(world->told, world->stations.of, (size_t)world->stations.count * sizeof *world->told);
}

/* ---- the gate ---- */

bool tt_world_lets_pass(const tt_world *world, const tt_submission *submission, bool tells_peers) {
  const tt_command *command = &world->model->commands[submission->command];
  if (command->robot == TT_NO_ROBOT || command->kind == TT_COMMAND_RESET) return true;
  const tt_driver_station *station = &world->stations.of[command->robot];
  return station->enabled || (tells_peers && !station->estop);
}

/* ---- for others ---- */

const tt_driver_station *tt_wire_driver_station(const tt_wire *wire) {
  return &wire->world->stations.of[wire->robot == TT_NO_ROBOT ? 0 : wire->robot];
}

const tt_driver_station *tt_world_driver_station(const tt_world *world, int robot) {
  return &world->stations.of[robot];
}

void tt_world_get_driver_station(tt_world *world, int robot, tt_driver_station *station) {
  pthread_mutex_lock(&world->shown_lock);
  *station = world->shown_stations[robot];
  pthread_mutex_unlock(&world->shown_lock);
}

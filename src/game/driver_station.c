/* driver_station.c: see its header. */
#include "game/driver_station.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATIONS_A_WALL 3

/* ---- names ---- */

static const char *const modes[] = {
    [TT_MODE_AUTONOMOUS] = "autonomous", [TT_MODE_TELEOP] = "teleop", [TT_MODE_TEST] = "test"};

static const char *const places[] = {"red1", "red2", "red3", "blue1", "blue2", "blue3"};
_Static_assert(sizeof places / sizeof *places == TT_STATION_COUNT, "every station has a name");

const char *tt_robot_mode_name(tt_robot_mode mode) { return modes[mode]; }

bool tt_robot_mode_read(const char *name, tt_robot_mode *mode) {
  for (int i = TT_MODE_AUTONOMOUS; i <= TT_MODE_TEST; i++) {
    if (strcmp(name, modes[i]) != 0) continue;
    *mode = (tt_robot_mode)i;
    return true;
  }
  return false;
}

const char *tt_station_name(tt_station station) { return places[station]; }

bool tt_station_read(const char *name, tt_station *station) {
  for (int i = 0; i < TT_STATION_COUNT; i++) {
    if (strcmp(name, places[i]) != 0) continue;
    *station = (tt_station)i;
    return true;
  }
  return false;
}

tt_alliance tt_station_alliance(tt_station station) {
  return station < TT_STATION_BLUE1 ? TT_ALLIANCE_RED : TT_ALLIANCE_BLUE;
}

int tt_station_number(tt_station station) { return (int)station % STATIONS_A_WALL + 1; }

/* ---- making ---- */

/* A fourth robot of an alliance shares the last place. */
static void place(tt_driver_stations *stations, const char *const *alliances, int robots) {
  int taken[2] = {0, 0};
  for (int i = 0; i < robots; i++) {
    int blue = strcmp(alliances[i], "blue") == 0;
    int at = taken[blue]++;
    if (at >= STATIONS_A_WALL) at = STATIONS_A_WALL - 1;
    stations->of[i].station = (tt_station)(blue * STATIONS_A_WALL + at);
  }
}

/* What robots are told follows from what was asked for. */
static void settle(tt_driver_stations *stations) {
  for (int i = 0; i < stations->count; i++) {
    tt_driver_station *of = &stations->of[i];
    of->estop = stations->is_stopped || stations->is_held[i];
    of->enabled = stations->is_enabled[i] && !of->estop;
  }
}

static void set_all(tt_driver_stations *stations, bool enabled, tt_robot_mode mode,
                    double match_time) {
  for (int i = 0; i < stations->count; i++) {
    stations->is_enabled[i] = enabled && !stations->is_held[i];
    stations->of[i].mode = mode;
    stations->of[i].match_time = match_time;
  }
  settle(stations);
}

bool tt_driver_stations_init(tt_driver_stations *stations, const char *const *alliances, int robots,
                             tt_game_start start, const tt_match_timing *timing) {
  size_t count = robots > 0 ? (size_t)robots : 1;
  *stations = (tt_driver_stations){.of = calloc(count, sizeof *stations->of),
                                   .is_enabled = calloc(count, sizeof(bool)),
                                   .is_held = calloc(count, sizeof(bool)),
                                   .count = (int)count,
                                   .timing = *timing};
  if (!stations->of || !stations->is_enabled || !stations->is_held) {
    tt_driver_stations_clear(stations);
    return false;
  }
  place(stations, alliances, robots);
  set_all(stations, start != TT_START_DISABLED,
          start == TT_START_AUTONOMOUS ? TT_MODE_AUTONOMOUS : TT_MODE_TELEOP, -1);
  return true;
}

void tt_driver_stations_clear(tt_driver_stations *stations) {
  free(stations->of);
  free(stations->is_enabled);
  free(stations->is_held);
  *stations = (tt_driver_stations){.of = NULL};
}

/* ---- orders ---- */

static bool is_good_joystick(const tt_ds_joystick *joystick) {
  if (joystick->axis_count > TT_DS_AXES || joystick->pov_count > TT_DS_POVS ||
      joystick->button_count > TT_DS_BUTTONS)
    return false;
  for (int i = 0; i < joystick->axis_count; i++)
    if (!(fabs(joystick->axes[i]) <= 1)) return false;
  for (int i = 0; i < joystick->pov_count; i++)
    if (joystick->povs[i] < -1 || joystick->povs[i] >= 360) return false;
  return true;
}

bool tt_ds_order_is_good(const tt_ds_order *order, int robots) {
  static const int least[] = {[TT_DS_MODE] = TT_MODE_AUTONOMOUS, [TT_DS_JOYSTICK] = 0};
  static const int most[] = {[TT_DS_ENABLE] = 1,
                             [TT_DS_MODE] = TT_MODE_TEST,
                             [TT_DS_ESTOP] = 1,
                             [TT_DS_STATION] = TT_STATION_COUNT - 1,
                             [TT_DS_GAME_DATA] = 0,
                             [TT_DS_MATCH] = 1,
                             [TT_DS_JOYSTICK] = TT_DS_JOYSTICKS - 1};
  _Static_assert(sizeof least == sizeof most, "every kind has its range");
  if (order->robot < -1 || order->robot >= robots) return false;
  if ((unsigned)order->kind > TT_DS_JOYSTICK) return false;
  if (order->value < least[order->kind] || order->value > most[order->kind]) return false;
  if (order->kind == TT_DS_GAME_DATA) return memchr(order->text, 0, sizeof order->text) != NULL;
  return order->kind != TT_DS_JOYSTICK || is_good_joystick(&order->joystick);
}

bool tt_ds_order_ends_match(const tt_ds_order *order) {
  return order->kind == TT_DS_ENABLE || order->kind == TT_DS_MODE || order->kind == TT_DS_MATCH;
}

/* Who takes over by hand ends the match: everybody stops first. */
void tt_driver_stations_end_match(tt_driver_stations *stations) {
  if (stations->period == TT_PERIOD_NONE) return;
  stations->period = TT_PERIOD_NONE;
  set_all(stations, false, TT_MODE_TELEOP, -1);
}

static void enter_period(tt_driver_stations *stations, double elapsed) {
  double left;
  stations->period = tt_match_period_at(&stations->timing, elapsed, &left);
  bool drives = stations->period == TT_PERIOD_AUTONOMOUS || stations->period == TT_PERIOD_TELEOP;
  bool alone = stations->period == TT_PERIOD_AUTONOMOUS;
  set_all(stations, drives, alone ? TT_MODE_AUTONOMOUS : TT_MODE_TELEOP, left);
}

static void obey_one(tt_driver_stations *stations, int robot, const tt_ds_order *order) {
  tt_driver_station *of = &stations->of[robot];
  switch (order->kind) {
    case TT_DS_ENABLE:
      if (!of->estop || order->value == 0) stations->is_enabled[robot] = order->value != 0;
      break;
    case TT_DS_MODE:
      if (of->mode != (tt_robot_mode)order->value) stations->is_enabled[robot] = false;
      of->mode = (tt_robot_mode)order->value;
      break;
    case TT_DS_ESTOP:
      stations->is_held[robot] = order->value != 0;
      stations->is_enabled[robot] = false;
      break;
    case TT_DS_STATION: of->station = (tt_station)order->value; break;
    case TT_DS_GAME_DATA: memcpy(of->game_data, order->text, sizeof of->game_data); break;
    case TT_DS_JOYSTICK: of->joysticks[order->value] = order->joystick; break;
    case TT_DS_MATCH: break;
  }
}

void tt_driver_stations_obey(tt_driver_stations *stations, const tt_ds_order *order) {
  if (tt_ds_order_ends_match(order)) tt_driver_stations_end_match(stations);
  if (order->kind == TT_DS_MATCH && order->value != 0) enter_period(stations, 0);
  for (int i = 0; i < stations->count; i++)
    if (order->robot < 0 || order->robot == i) obey_one(stations, i, order);
  settle(stations);
}

void tt_driver_stations_advance(tt_driver_stations *stations, double elapsed) {
  double left;
  if (stations->period == TT_PERIOD_NONE) return;
  if (stations->period != tt_match_period_at(&stations->timing, elapsed, &left))
    enter_period(stations, elapsed);
  else
    for (int i = 0; i < stations->count; i++) stations->of[i].match_time = left;
}

void tt_driver_stations_stop(tt_driver_stations *stations, bool is_stopped) {
  stations->is_stopped = is_stopped;
  settle(stations);
}

/* ---- for people ---- */

bool tt_driver_station_tell(const tt_driver_station *before, const tt_driver_station *after,
                            char *text, size_t size) {
  char parts[4][TT_DS_TEXT + 16];
  int count = 0;
  if (before->estop != after->estop)
    snprintf(parts[count++], sizeof *parts, "%s", after->estop ? "e-stop" : "e-stop released");
  if (before->enabled != after->enabled || before->mode != after->mode)
    snprintf(parts[count++], sizeof *parts, "%s, %s", after->enabled ? "enabled" : "disabled",
             tt_robot_mode_name(after->mode));
  if (before->station != after->station)
    snprintf(parts[count++], sizeof *parts, "at %s", tt_station_name(after->station));
  if (strcmp(before->game_data, after->game_data) != 0)
    snprintf(parts[count++], sizeof *parts, "game data \"%s\"", after->game_data);
  size_t used = 0;
  if (size > 0) text[0] = 0;
  for (int i = 0; i < count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "; " : "", parts[i]);
  return count > 0;
}

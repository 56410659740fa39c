/* driver_station.h: what a driver station tells a robot: enabled, mode, e-stop, place, time of the match, game data,
 * joysticks. One of them for each robot; a match is everybody's.
 *
 * Who only reads needs tt_driver_station. Who decides keeps a tt_driver_stations, gives it orders, and tells it how simulated
 * time goes on; it has no clock of its own. Names and ranges are those of WPILib's DriverStation.
 */
#ifndef TT_GAME_DRIVER_STATION_H
#define TT_GAME_DRIVER_STATION_H

#include "game/match.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TT_DS_JOYSTICKS 6 /**< of a station */
#define TT_DS_AXES 12     /**< of a joystick */
#define TT_DS_BUTTONS 32
#define TT_DS_POVS 12
#define TT_DS_TEXT 64 /**< bytes, with the end of the text */

/** What a robot program runs while it is enabled. The numbers are those of `robotMode` in WPILib 2027. */
typedef enum tt_robot_mode {
  TT_MODE_AUTONOMOUS = 1,
  TT_MODE_TELEOP = 2,
  TT_MODE_TEST = 3,
} tt_robot_mode;

/** A place behind the wall. */
typedef enum tt_station {
  TT_STATION_RED1,
  TT_STATION_RED2,
  TT_STATION_RED3,
  TT_STATION_BLUE1,
  TT_STATION_BLUE2,
  TT_STATION_BLUE3,
  TT_STATION_COUNT,
} tt_station;

/** A joystick or gamepad. Nothing is plugged in where all counts are 0. */
typedef struct tt_ds_joystick {
  double axes[TT_DS_AXES];  /**< −1 … 1; forward is negative, as sticks report it */
  int16_t povs[TT_DS_POVS]; /**< degrees clockwise from forward, 0 … 359, or −1: not pressed */
  uint32_t buttons;         /**< bit 0 is button 1 */
  uint8_t axis_count, pov_count, button_count;
} tt_ds_joystick;

/** What a robot is told: everything here is the present truth, all of it consistent. Plain data, may be copied. */
typedef struct tt_driver_station {
  bool enabled; /**< never with `estop` */
  bool estop;   /**< held until it is released */
  tt_robot_mode mode;
  tt_station station;
  /** s left of the period of a match, 0 in its pause and at its end; −1: no match */
  double match_time;
  char game_data[TT_DS_TEXT]; /**< "" until there is some */
  tt_ds_joystick joysticks[TT_DS_JOYSTICKS];
} tt_driver_station;

/** "autonomous", "teleop", "test". Static. */
const char *tt_robot_mode_name(tt_robot_mode mode);
/** False: there is no such mode; `mode` stays. */
bool tt_robot_mode_read(const char *name, tt_robot_mode *mode);
/** "red1" … "blue3". Static. */
const char *tt_station_name(tt_station station);
/** False: there is no such station; `station` stays. */
bool tt_station_read(const char *name, tt_station *station);
/** Where a driver of a station stands, and where he looks: arena frame. */
typedef struct tt_driver_place {
  tt_station station;
  double x, y;    /**< m */
  double heading; /**< rad */
} tt_driver_place;

/** Whose wall it stands behind. */
tt_alliance tt_station_alliance(tt_station station);
/** Its number at that wall, 1 to 3. */
int tt_station_number(tt_station station);

/** How robots stand when a scene begins. */
typedef enum tt_game_start {
  TT_START_TELEOP, /**< enabled; commands pass */
  TT_START_AUTONOMOUS,
  TT_START_DISABLED, /**< teleop is next */
} tt_game_start;

/** Orders of people. */
typedef enum tt_ds_order_kind {
  TT_DS_ENABLE, /**< `value` 1 enables, 0 disables; ends a match */
  TT_DS_MODE,   /**< `value` is a tt_robot_mode; a new one disables; ends a match */
  TT_DS_ESTOP, /**< `value` 1 holds an e-stop, 0 releases it; the robot is disabled then, in a match until the next period */
  TT_DS_STATION,   /**< `value` is a tt_station */
  TT_DS_GAME_DATA, /**< `text` */
  TT_DS_MATCH,     /**< `value` 1 begins a practice match, 0 ends it; `robot` means nothing */
  TT_DS_JOYSTICK,  /**< joystick number `value`, from 0, is as `joystick` */
} tt_ds_order_kind;

typedef struct tt_ds_order {
  tt_ds_order_kind kind;
  int robot; /**< index, or −1: all */
  int value;
  union {
    char text[TT_DS_TEXT];
    tt_ds_joystick joystick;
  };
} tt_ds_order;

/** Is it whole and in range, for so many robots? What is not must not be obeyed. */
bool tt_ds_order_is_good(const tt_ds_order *order, int robots);

/** The stations of all robots, and their match. To be read; changed by the functions below. */
typedef struct tt_driver_stations {
  tt_driver_station *of; /**< [count] */
  int count;             /**< robots, at least 1 */
  tt_match_period period;
  tt_match_timing timing;
  bool *is_enabled, *is_held; /* [count]: as drivers asked; an e-stop of the robot's own */
  bool is_stopped;            /* all, by an emergency stop of the world */
} tt_driver_stations;

/** `alliances` has "red", "blue" or "" of each robot: they stand at 1 to 3 in that order, those without among the red. False:
 *  out of memory. */
bool tt_driver_stations_init(tt_driver_stations *stations, const char *const *alliances, int robots,
                             tt_game_start start, const tt_match_timing *timing);
void tt_driver_stations_clear(tt_driver_stations *stations);
/** Whether it ends a match that is under way or over, before it is done. */
bool tt_ds_order_ends_match(const tt_ds_order *order);
/** Ends one that is under way or over: all robots are disabled. */
void tt_driver_stations_end_match(tt_driver_stations *stations);
/** Does what is good: see tt_ds_order_is_good(). After TT_DS_MATCH with 1 the match's time is 0. */
void tt_driver_stations_obey(tt_driver_stations *stations, const tt_ds_order *order);
/** The match began `elapsed` s of simulated time ago; nothing where there is none. */
void tt_driver_stations_advance(tt_driver_stations *stations, double elapsed);
/** The emergency stop of the whole world is held, or released: everything is then as it was before. */
void tt_driver_stations_stop(tt_driver_stations *stations, bool is_stopped);

/** What people want to know of a change, for example "enabled, teleop"; false: nothing of that kind changed. */
bool tt_driver_station_tell(const tt_driver_station *before, const tt_driver_station *after,
                            char *text, size_t size);

#endif

/* station.h: what a driver station tells a robot program, as HALSim's messages of both seasons: each program takes what it
 * knows of them.
 */
#ifndef TT_HALSIM_STATION_H
#define TT_HALSIM_STATION_H

#include "game/driver_station.h"

#define TT_HALSIM_STATION_BYTES 1024  /**< of the longest of these messages, with its 0 */
#define TT_HALSIM_STATION_PERIOD 0.02 /**< s between two of them, as real driver stations have it */

/** Mode, place, time, game data, and that there is something new: without that nothing reaches a program.
 *  @return bytes; 0: out of memory, or `capacity` does not suffice */
size_t tt_halsim_write_station(const tt_driver_station *station, char *text, size_t capacity);

/** Joystick `index`, from 0. Leaves before the station's message, which makes it known. */
size_t tt_halsim_write_joystick(int index, const tt_ds_joystick *joystick, char *text,
                                size_t capacity);

/** Whether two joysticks would be told alike. */
bool tt_halsim_same_joystick(const tt_ds_joystick *a, const tt_ds_joystick *b);

/** Does the station no longer keep commands from the robot? `*held` is the caller's: whether it did at the last call. While an
 *  e-stop holds commands change nothing, and whoever disables a robot makes it safe: what a program has said is due again. */
bool tt_halsim_is_let_go(const tt_driver_station *station, bool *held);

#endif

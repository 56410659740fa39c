/* joystick.h: a driver's joystick as numbers, moved by keys, by a gamepad's events or by a script. Pure: no
 * terminal, no device, no clock.
 */
#ifndef TT_CONTROL_JOYSTICK_H
#define TT_CONTROL_JOYSTICK_H

#include "base/status.h"
#include "sharp/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The name of control 0…TT_JOYSTICK_VALUES−1 in scripts: "left_x", "dpad_up", "a", "start". Static. */
const char *tt_joystick_control_name(int control);
/** The control of that name, or −1. */
int tt_joystick_control_find(const char *name);
/** Its least and greatest value: −512…512 of a stick, 0…1 of a button. */
void tt_joystick_control_range(int control, int *lower, int *upper);

/* --- keys: a terminal tells presses and repeats, never releases --- */

/** What a key does while it is held. */
typedef struct tt_joystick_key {
  int key; /**< character, or a value above 255 that the terminal library gives to arrows and the like */
  int control;
  int value;
} tt_joystick_key;

/** Controls that keys hold down at the moment. Zero-initialized: none. */
typedef struct tt_joystick_keys {
  struct {
    int value;
    double until; /**< s, when it counts as released */
    bool held;
  } controls[TT_JOYSTICK_VALUES];
} tt_joystick_keys;

/** A key was pressed, or repeated, at `time` (s, any origin). False when no key of `map` is `key`. */
bool tt_joystick_press(tt_joystick_keys *keys, const tt_joystick_key *map, int map_count, int key,
                       double time);
/** Releases what has not been repeated in time, and writes the controls held into `values`; others are left
 *  as they are. */
void tt_joystick_hold(tt_joystick_keys *keys, double time, int *values);
/** Releases everything. */
void tt_joystick_release(tt_joystick_keys *keys);

/* --- gamepads: events of Linux's evdev --- */

/** The event code that a device's key means: linux/input-event-codes.h has BTN_X for north and BTN_Y for west, and drivers of Xbox pads
 *  name by the letters on it what stands the other way round. `driver`: the kernel's; it and `name` may be NULL. */
int tt_joystick_button(int code, const char *driver, int vendor, const char *name);
/** Applies one event (type, code and value of input_event; range of the axis, ignored for keys) to `values`.
 *  Sticks have forward positive, a dead zone of 5 %. False when the event means nothing here. */
bool tt_joystick_gamepad(int type, int code, int value, int minimum, int maximum, int *values);

/* --- scripts --- */

/** One line of a script. */
typedef struct tt_joystick_event {
  double time; /**< s since the start */
  int control; /**< or TT_JOYSTICK_REPEAT, TT_JOYSTICK_END */
  int value;
} tt_joystick_event;
#define TT_JOYSTICK_REPEAT -1 /**< start over */
#define TT_JOYSTICK_END -2 /**< nothing more; the last event of every script that does not repeat */

#define TT_JOYSTICK_MAX_SCRIPT 1048576 /**< bytes */

typedef struct tt_joystick_script {
  tt_joystick_event *events;
  int count;
  int next;      /**< first event not yet done */
  double origin; /**< s, when the present round began */
} tt_joystick_script;

/** Reads a script: a line an event, `time control value`, separated by blanks, tabs or commas; `time repeat`
 *  starts over; `#` begins a comment; times never decrease. `name` begins errors, "FILE:LINE: …". The caller
 *  frees with tt_joystick_script_free(). */
tt_status tt_joystick_script_parse(const char *name, const char *text, size_t size,
                                   tt_joystick_script *script, tt_error *error);
/** Reads it from a file; blocks on that. TT_INVALID: it can't be read, or as above. TT_NOMEM. */
tt_status tt_joystick_script_load(const char *path, tt_joystick_script *script, tt_error *error);
/** Does everything due at `time` (s since the start) in `values` [TT_JOYSTICK_VALUES]; false once the script has ended. */
bool tt_joystick_script_play(tt_joystick_script *script, double time, int *values);
/** What it holds; the struct is the caller's. */
void tt_joystick_script_free(tt_joystick_script *script);

#endif

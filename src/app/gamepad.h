/* gamepad.h: a real gamepad through Linux's evdev, found when it is plugged in and given up when it is gone. */
#ifndef TT_APP_GAMEPAD_H
#define TT_APP_GAMEPAD_H

#include <stdbool.h>

typedef struct tt_gamepad tt_gamepad;

/** `device`: "auto" takes the first gamepad there is, "off" none, else a path ("/dev/input/event5"). NULL when out
 *  of memory. */
tt_gamepad *tt_gamepad_new(const char *device);
void tt_gamepad_free(tt_gamepad *gamepad);
/** Applies what happened since the last call to `values` (tt_sharp_joystick_value); never blocks. Looks for a
 *  device once a second while there is none; one that goes away releases everything. `time`: s, monotonic. */
void tt_gamepad_read(tt_gamepad *gamepad, double time, int *values);
/** The device's name, or NULL while there is none. Until the next read. */
const char *tt_gamepad_name(const tt_gamepad *gamepad);

#endif

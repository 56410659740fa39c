/* joystick_screen.h: the terminal of `tether joystick`: keys in, live values and the connection sign out. */
#ifndef TT_APP_JOYSTICK_SCREEN_H
#define TT_APP_JOYSTICK_SCREEN_H

#include "control/joystick.h"

/** What the screen shows. */
typedef struct tt_joystick_shown {
  const int *values;   /**< tt_sharp_joystick_value */
  bool connected;      /**< heartbeats arrive */
  const char *address; /**< ours */
  const char *peer;    /**< where we send */
  const char *gamepad; /**< its name, or NULL */
  const char *script;  /**< its file, or NULL */
  uint64_t sent, heartbeats;
} tt_joystick_shown;

/** Takes the terminal over; false when standard output is none. */
bool tt_joystick_screen_open(void);
/** Gives it back as it was. */
void tt_joystick_screen_close(void);
/** Hands every key pressed since the last call to `keys`; false when the driver wants to quit. */
bool tt_joystick_screen_keys(tt_joystick_keys *keys, double time);
void tt_joystick_screen_draw(const tt_joystick_shown *shown);

#endif

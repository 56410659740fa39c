/* sharp_core.h: the control law of the SHARP robot: from the driver's sticks and the vehicle's encoders to motor
 * speeds, one call every period. Pure: no I/O, no clock; time is counted in calls.
 *
 * Numbers are those of the messages (sharp/codec.h): sticks and motor speeds −512…512, encoders
 * 0…1023 ticks.
 */
#ifndef TT_CONTROL_SHARP_CORE_H
#define TT_CONTROL_SHARP_CORE_H

#include "sharp/codec.h"

#include <stdbool.h>

#define TT_SHARP_PRESETS 4    /**< buttons a, b, x, y */
#define TT_SHARP_NO_PRESET -1 /**< the button does nothing */

/** Everything that can be tuned. Default: tt_sharp_core_settings_default(). */
typedef struct tt_sharp_core_settings {
  double period;           /**< s between calls; > 0 */
  double joystick_timeout; /**< s without a joystick message after which everything stops */
  double vehicle_timeout;  /**< s without a state after which encoders count as unknown */
  bool tank;               /**< mode at start: tank instead of arcade */

  double elevator_speed; /**< motor speed while dpad up or down is held, 0…512 */
  double kp;             /**< motor speed per tick of error */
  double ki;             /**< motor speed per tick and second */
  double kd;             /**< motor speed per tick/s of the lift's own movement */
  double integral_limit; /**< most motor speed the integral may ask for */
  double tolerance;  /**< ticks of error within which the motor rests (the lift brakes by itself) */
  double hold_limit; /**< most motor speed the hold may ask for, 0…512 */
  int presets[TT_SHARP_PRESETS]; /**< ticks, or TT_SHARP_NO_PRESET */

  bool traction;        /**< traction control at all */
  double slew;          /**< motor speed per second that a drive command may change by */
  double slew_slipping; /**< the same while a wheel slips */
  double slip;          /**< disagreement, as a part of full speed, that counts as slipping */
  double acceleration;  /**< motor speed per second that the ground can give a wheel's side */
  double headroom;      /**< motor speed that a wheel may be commanded beyond the ground's */
  double slip_hold;     /**< s that the tight limit stays after the last sign of slipping */
  /** ticks/s of a drive encoder at motor speed 512: of the faster side, where they differ */
  double full_speed;
  double left_full_speed, right_full_speed; /**< the same of one side; 0: as `full_speed` */
  double lag;       /**< s, time constant with which wheels follow their commands */
  double smoothing; /**< s, time constant of the filter on encoder speeds */
  /** s of encoders standing still under command after which they count as absent */
  double still_time;
} tt_sharp_core_settings;

/** Those of an empty configuration. */
tt_sharp_core_settings tt_sharp_core_settings_default(void);

/** What was heard since the last call. Values are the newest message's, kept while nothing comes. */
typedef struct tt_sharp_core_input {
  bool joystick_heard;
  int joystick[TT_JOYSTICK_VALUES];
  bool vehicle_heard;
  int state[TT_SHARP_STATE_VALUES];
  double state_time; /**< s, any origin: when the newest state was heard */
} tt_sharp_core_input;

#define TT_SHARP_MAX_NOTES 8

/** What to send, and what to say. */
typedef struct tt_sharp_core_output {
  int command[TT_SHARP_COMMAND_VALUES];
  /** Lines for the log: changes of mode, found and lost partners. Static texts. */
  const char *notes[TT_SHARP_MAX_NOTES];
  int note_count;
} tt_sharp_core_output;

/** One drive side as traction control sees it. */
typedef struct tt_sharp_side {
  double output;   /**< last motor speed sent */
  int encoder;     /**< last reading, ticks */
  double measured; /**< smoothed speed, ticks/s */
  double ground;   /**< speed of the ground under it, as far as it can have changed, ticks/s */
  double follows;  /**< speed the wheel should have by now, ticks/s */
  double expected; /**< the same, smoothed like `measured` */
} tt_sharp_side;

/** State of the law. Start with tt_sharp_core_init(); read freely, write never. */
typedef struct tt_sharp_core {
  tt_sharp_core_settings settings;
  bool tank;
  bool joystick_alive, vehicle_alive;
  double joystick_silence, vehicle_silence; /**< s */
  bool back_held;
  int buttons_held[TT_SHARP_PRESETS];

  bool holding;    /**< the lift has a target */
  double target;   /**< ticks */
  double integral; /**< motor speed */
  /** s for which a reset that we asked for may yet be on its way: nothing is held */
  double resetting;
  bool guide_held;
  double lift;       /**< last elevator reading, ticks */
  double lift_speed; /**< ticks/s, smoothed */
  double lift_asked; /**< greatest motor speed that it was sent of late */

  tt_sharp_side left, right;
  bool encoders_seen;  /**< a first reading of the vehicle is there to take differences from */
  bool ground_known;   /**< a first difference has told the speed of the ground */
  bool encoders_alive; /**< they have not stood still under command, or have moved since */
  double read_time;    /**< s, state_time of the last reading */
  double still;        /**< s standing still under command */
  double slipping;     /**< s that the tight limit still holds; 0: not slipping */
} tt_sharp_core;

/** `settings` must be sane (positive period, finite numbers): loaders check them. */
void tt_sharp_core_init(tt_sharp_core *core, const tt_sharp_core_settings *settings);

/** One period. What is held, and what encoders are compared with, are those of the vehicle as it is: when it was reset, by
 *  us or by anybody, both begin anew from its present state. Until a joystick is heard, and from joystick_timeout after it was last heard, every
 *  command is zero. */
void tt_sharp_core_step(tt_sharp_core *core, const tt_sharp_core_input *input,
                        tt_sharp_core_output *output);

#endif

/* sharp_config.h: the YAML keys of the programs `tether core` and `tether joystick`. Every key has a default; the
 * files robots/sharp/core.yaml and robots/sharp/joystick.yaml show them all.
 */
#ifndef TT_CONTROL_SHARP_CONFIG_H
#define TT_CONTROL_SHARP_CONFIG_H

#include "host/wire_keys.h"
#include "control/sharp_core.h"

/** One side of the core: where it listens and where it sends. */
typedef struct tt_sharp_core_side_keys {
  char *bind, *peer, *timeout;
} tt_sharp_core_side_keys;

/** The core's `elevator`, as docs/core-and-joystick.md has its keys; missing ones are NULL until the check. */
typedef struct tt_sharp_elevator_keys {
  double *speed, *kp, *ki, *kd, *integral_limit, *hold_limit, *tolerance;
  struct tt_sharp_preset_keys {
    int *a, *b, *x, *y;
  } presets;
} tt_sharp_elevator_keys;

/** The same of `traction`. */
typedef struct tt_sharp_traction_keys {
  bool *enabled;
  double *slew, *slew_slipping, *slip, *acceleration, *headroom, *full_speed, *left_full_speed,
      *right_full_speed;
  char *slip_hold, *lag, *smoothing, *still_time;
} tt_sharp_traction_keys;

/** What libcyaml fills, and what check makes of it. Strings are never NULL after the check. */
typedef struct tt_sharp_core_config {
  int *player;
  char *period, *style, *mode;
  tt_sharp_core_side_keys joystick, vehicle;
  tt_sharp_elevator_keys elevator;
  tt_sharp_traction_keys traction;
  char **allow;
  unsigned allow_count;

  tt_sharp_core_settings settings; /**< set by the check */
  tt_sharp_style message_style;    /**< set by the check */
} tt_sharp_core_config;

typedef struct tt_joystick_config {
  int *player;
  char *bind, *peer, *period, *style, *heartbeat_timeout, *gamepad;
  char **allow;
  unsigned allow_count;

  double period_seconds, timeout_seconds; /**< set by the check */
  tt_sharp_style message_style;           /**< set by the check */
} tt_joystick_config;

/** Schemas of the whole files: pointers to mappings, as libcyaml loads them. */
extern const cyaml_schema_value_t tt_sharp_core_schema, tt_joystick_schema;

/** Sets defaults of missing keys and checks the rest; `file` begins errors. TT_INVALID with key and remedy; TT_NOMEM. What
 *  stands in a config is freed by cyaml_free() with its schema, also after a failure. */
tt_status tt_sharp_core_config_check(tt_sharp_core_config *config, const char *file,
                                     tt_error *error);
tt_status tt_joystick_config_check(tt_joystick_config *config, const char *file, tt_error *error);

#endif

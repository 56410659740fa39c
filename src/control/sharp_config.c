/* sharp_config.c: the YAML keys of `tether core` and `tether joystick`. See sharp_config.h. */
#include "control/sharp_config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT(key, type, member)                                                                    \
  CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, 256)
#define NUMBER(key, type, member)                                                                  \
  CYAML_FIELD_FLOAT_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member)
#define WHOLE(key, type, member)                                                                   \
  CYAML_FIELD_INT_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member)
#define SECTION(key, type, member, fields)                                                         \
  CYAML_FIELD_MAPPING(key, CYAML_FLAG_OPTIONAL, type, member, fields)
#define ALLOW(type)                                                                                \
  CYAML_FIELD_SEQUENCE_COUNT("allow", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, allow,       \
                             allow_count, &tt_string_schema, 0, 64)

static const cyaml_schema_field_t side_fields[] = {
    TEXT("bind", tt_sharp_core_side_keys, bind),
    TEXT("peer", tt_sharp_core_side_keys, peer),
    TEXT("timeout", tt_sharp_core_side_keys, timeout),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t preset_fields[] = {
    WHOLE("a", struct tt_sharp_preset_keys, a),
    WHOLE("b", struct tt_sharp_preset_keys, b),
    WHOLE("x", struct tt_sharp_preset_keys, x),
    WHOLE("y", struct tt_sharp_preset_keys, y),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t elevator_fields[] = {
    NUMBER("speed", tt_sharp_elevator_keys, speed),
    NUMBER("kp", tt_sharp_elevator_keys, kp),
    NUMBER("ki", tt_sharp_elevator_keys, ki),
    NUMBER("kd", tt_sharp_elevator_keys, kd),
    NUMBER("integral_limit", tt_sharp_elevator_keys, integral_limit),
    NUMBER("hold_limit", tt_sharp_elevator_keys, hold_limit),
    NUMBER("tolerance", tt_sharp_elevator_keys, tolerance),
    SECTION("presets", tt_sharp_elevator_keys, presets, preset_fields),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t traction_fields[] = {
    CYAML_FIELD_BOOL_PTR("enabled", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                         tt_sharp_traction_keys, enabled),
    NUMBER("slew", tt_sharp_traction_keys, slew),
    NUMBER("slew_slipping", tt_sharp_traction_keys, slew_slipping),
    NUMBER("slip", tt_sharp_traction_keys, slip),
    NUMBER("acceleration", tt_sharp_traction_keys, acceleration),
    NUMBER("headroom", tt_sharp_traction_keys, headroom),
    TEXT("slip_hold", tt_sharp_traction_keys, slip_hold),
    NUMBER("full_speed", tt_sharp_traction_keys, full_speed),
    NUMBER("left_full_speed", tt_sharp_traction_keys, left_full_speed),
    NUMBER("right_full_speed", tt_sharp_traction_keys, right_full_speed),
    TEXT("lag", tt_sharp_traction_keys, lag),
    TEXT("smoothing", tt_sharp_traction_keys, smoothing),
    TEXT("still_time", tt_sharp_traction_keys, still_time),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t core_fields[] = {
    WHOLE("player", tt_sharp_core_config, player),
    TEXT("period", tt_sharp_core_config, period),
    TEXT("style", tt_sharp_core_config, style),
    TEXT("mode", tt_sharp_core_config, mode),
    SECTION("joystick", tt_sharp_core_config, joystick, side_fields),
    SECTION("vehicle", tt_sharp_core_config, vehicle, side_fields),
    SECTION("elevator", tt_sharp_core_config, elevator, elevator_fields),
    SECTION("traction", tt_sharp_core_config, traction, traction_fields),
    ALLOW(tt_sharp_core_config),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t joystick_fields[] = {
    WHOLE("player", tt_joystick_config, player),
    TEXT("bind", tt_joystick_config, bind),
    TEXT("peer", tt_joystick_config, peer),
    TEXT("period", tt_joystick_config, period),
    TEXT("style", tt_joystick_config, style),
    TEXT("heartbeat_timeout", tt_joystick_config, heartbeat_timeout),
    TEXT("gamepad", tt_joystick_config, gamepad),
    ALLOW(tt_joystick_config),
    CYAML_FIELD_END,
};

const cyaml_schema_value_t tt_sharp_core_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tt_sharp_core_config, core_fields),
};
const cyaml_schema_value_t tt_joystick_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tt_joystick_config, joystick_fields),
};

/* --- checks; each leaves a missing key's target as it is --- */

static tt_status check_number(const double *key, const char *name, const char *file, double lower,
                              double upper, double *target, tt_error *error) {
  if (key == NULL) return TT_OK;
  if (!(*key >= lower && *key <= upper)) {
    return tt_fail(error, TT_INVALID, "%s: %s: %g is out of range; give %g to %g", file, name, *key,
                   lower, upper);
  }
  *target = *key;
  return TT_OK;
}

static tt_status check_preset(const int *key, const char *name, const char *file, int *target,
                              tt_error *error) {
  if (key == NULL) return TT_OK;
  if (*key < TT_SHARP_NO_PRESET || *key >= TT_SHARP_TICKS) {
    return tt_fail(error, TT_INVALID,
                   "%s: elevator.presets.%s: %d is no encoder value; give 0 to %d, or %d for none",
                   file, name, *key, TT_SHARP_TICKS - 1, TT_SHARP_NO_PRESET);
  }
  *target = *key;
  return TT_OK;
}

static tt_status check_time(const char *text, const char *section, const char *name,
                            const char *file, double lower, double upper, double *target,
                            tt_error *error) {
  char where[512];
  snprintf(where, sizeof where, "%s: %s", file, section);
  return tt_quantity_check(text, name, where, TT_TIME, lower, upper, *target, target, error);
}

/** A key at the top of the file has no section to name. */
static tt_status check_period(const char *text, const char *file, double *target, tt_error *error) {
  if (text == NULL) return TT_OK;
  if (tt_quantity_parse(text, TT_TIME, target) && *target >= TT_SHARP_PERIOD - 1e-9 && *target <= 1)
    return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: period: '%s' is no time from 1/60 s to 1 s; a core or vehicle that reads one "
                 "message a loop falls behind at more than 60 a second",
                 file, text);
}

static tt_status check_player(const int *key, const char *file, int *player, tt_error *error) {
  *player = key == NULL ? 1 : *key;
  if (*player >= 1 && *player <= TT_MOST_PLAYERS) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: player: %d is no player; give 1 to %d", file, *player,
                 TT_MOST_PLAYERS);
}

static tt_status check_style(char **text, const char *file, tt_sharp_style *style,
                             tt_error *error) {
  TT_TRY(tt_default_string(text, "columns", error));
  if (tt_sharp_style_parse(*text, style)) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: style: '%s' is not one of columns, json", file, *text);
}

static tt_status check_mode(char **text, const char *file, bool *tank, tt_error *error) {
  TT_TRY(tt_default_string(text, "arcade", error));
  *tank = strcmp(*text, "tank") == 0;
  if (*tank || strcmp(*text, "arcade") == 0) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s: mode: '%s' is not one of arcade, tank", file, *text);
}

static tt_status default_address(char **text, int port, int player, tt_error *error) {
  char address[32];
  snprintf(address, sizeof address, "127.0.0.1:%d", port + TT_PORTS_A_PLAYER * (player - 1));
  return tt_default_string(text, address, error);
}

static tt_status check_elevator(const tt_sharp_elevator_keys *keys, const char *file,
                                tt_sharp_core_settings *s, tt_error *error) {
  const double full = TT_SHARP_FULL;
  TT_TRY(check_number(keys->speed, "elevator.speed", file, 0, full, &s->elevator_speed, error));
  TT_TRY(check_number(keys->kp, "elevator.kp", file, 0, 1000, &s->kp, error));
  TT_TRY(check_number(keys->ki, "elevator.ki", file, 0, 1000, &s->ki, error));
  TT_TRY(check_number(keys->kd, "elevator.kd", file, 0, 1000, &s->kd, error));
  TT_TRY(check_number(keys->integral_limit, "elevator.integral_limit", file, 0, full,
                      &s->integral_limit, error));
  TT_TRY(
      check_number(keys->hold_limit, "elevator.hold_limit", file, 0, full, &s->hold_limit, error));
  TT_TRY(check_number(keys->tolerance, "elevator.tolerance", file, 0, TT_SHARP_TICKS, &s->tolerance,
                      error));
  TT_TRY(check_preset(keys->presets.a, "a", file, &s->presets[0], error));
  TT_TRY(check_preset(keys->presets.b, "b", file, &s->presets[1], error));
  TT_TRY(check_preset(keys->presets.x, "x", file, &s->presets[2], error));
  return check_preset(keys->presets.y, "y", file, &s->presets[3], error);
}

static tt_status check_traction(const tt_sharp_traction_keys *keys, const char *file,
                                tt_sharp_core_settings *s, tt_error *error) {
  if (keys->enabled != NULL) s->traction = *keys->enabled;
  TT_TRY(check_number(keys->slew, "traction.slew", file, 1, 1e6, &s->slew, error));
  TT_TRY(check_number(keys->slew_slipping, "traction.slew_slipping", file, 1, 1e6,
                      &s->slew_slipping, error));
  TT_TRY(check_number(keys->slip, "traction.slip", file, 0.001, 10, &s->slip, error));
  TT_TRY(check_number(keys->acceleration, "traction.acceleration", file, 1, 1e6, &s->acceleration,
                      error));
  TT_TRY(check_number(keys->headroom, "traction.headroom", file, 1, 2 * TT_SHARP_FULL, &s->headroom,
                      error));
  TT_TRY(
      check_number(keys->full_speed, "traction.full_speed", file, 1, 1e6, &s->full_speed, error));
  TT_TRY(check_number(keys->left_full_speed, "traction.left_full_speed", file, 1, 1e6,
                      &s->left_full_speed, error));
  TT_TRY(check_number(keys->right_full_speed, "traction.right_full_speed", file, 1, 1e6,
                      &s->right_full_speed, error));
  TT_TRY(check_time(keys->slip_hold, "traction", "slip_hold", file, 0, 10, &s->slip_hold, error));
  TT_TRY(check_time(keys->lag, "traction", "lag", file, 0, 10, &s->lag, error));
  TT_TRY(check_time(keys->smoothing, "traction", "smoothing", file, 0, 10, &s->smoothing, error));
  return check_time(keys->still_time, "traction", "still_time", file, 0, 10, &s->still_time, error);
}

tt_status tt_sharp_core_config_check(tt_sharp_core_config *config, const char *file,
                                     tt_error *error) {
  tt_sharp_core_settings *s = &config->settings;
  *s = tt_sharp_core_settings_default();
  int player;
  TT_TRY(check_player(config->player, file, &player, error));
  TT_TRY(check_period(config->period, file, &s->period, error));
  TT_TRY(check_style(&config->style, file, &config->message_style, error));
  TT_TRY(check_mode(&config->mode, file, &s->tank, error));
  TT_TRY(default_address(&config->joystick.bind, 4000, player, error));
  TT_TRY(default_address(&config->joystick.peer, 2000, player, error));
  TT_TRY(default_address(&config->vehicle.bind, 6000, player, error));
  TT_TRY(default_address(&config->vehicle.peer, 8000, player, error));
  TT_TRY(check_time(config->joystick.timeout, "joystick", "timeout", file, 0.02, 60,
                    &s->joystick_timeout, error));
  TT_TRY(check_time(config->vehicle.timeout, "vehicle", "timeout", file, 0.02, 60,
                    &s->vehicle_timeout, error));
  TT_TRY(check_elevator(&config->elevator, file, s, error));
  return check_traction(&config->traction, file, s, error);
}

tt_status tt_joystick_config_check(tt_joystick_config *config, const char *file, tt_error *error) {
  int player;
  config->period_seconds = TT_SHARP_PERIOD;
  config->timeout_seconds = 0.1;
  TT_TRY(check_player(config->player, file, &player, error));
  TT_TRY(check_period(config->period, file, &config->period_seconds, error));
  TT_TRY(check_style(&config->style, file, &config->message_style, error));
  TT_TRY(default_address(&config->bind, 2000, player, error));
  TT_TRY(default_address(&config->peer, 4000, player, error));
  TT_TRY(tt_default_string(&config->gamepad, "auto", error));
  const char *timeout = config->heartbeat_timeout;
  if (timeout == NULL) return TT_OK;
  if (tt_quantity_parse(timeout, TT_TIME, &config->timeout_seconds) &&
      config->timeout_seconds >= 0.01 && config->timeout_seconds <= 60) {
    return TT_OK;
  }
  return tt_fail(error, TT_INVALID, "%s: heartbeat_timeout: '%s' is no time from 10 ms to 60 s",
                 file, timeout);
}

/* schema.c: the keys of a sharp-json wire and their defaults. */
#include "wire/sharp_json/sharp_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VEHICLE_PORT 8000
#define CORE_PORT 6000
#define STATE_PERIOD 0.017 /* s: whole ms, and not below TT_SHARP_PERIOD */

static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_sharp_json_config),
    CYAML_FIELD_STRING_PTR("bind", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_sharp_json_config,
                           bind, 0, 64),
    CYAML_FIELD_STRING_PTR("peer", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_sharp_json_config,
                           peer, 0, 64),
    CYAML_FIELD_STRING_PTR("style", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_sharp_json_config,
                           style, 0, 16),
    CYAML_FIELD_SEQUENCE_COUNT("commands", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_sharp_json_config, commands, command_count, &tt_name_entry_schema,
                               0, TT_SHARP_MOTORS),
    CYAML_FIELD_SEQUENCE_COUNT("sensors", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_sharp_json_config, sensors, sensor_count, &tt_name_entry_schema,
                               0, TT_SHARP_MOTORS),
    CYAML_FIELD_END,
};

/** The list as the scene has it, or the robot `sharp`'s own names. */
static tt_status check_list(tt_name_entry **entries, unsigned *count, const char *const *names,
                            const char *key, const char *where, tt_error *error) {
  if (*count == 0) {
    *entries = calloc(TT_SHARP_MOTORS, sizeof **entries);
    if (*entries == NULL) return tt_fail(error, TT_NOMEM, "out of memory");
    *count = TT_SHARP_MOTORS;
    for (int i = 0; i < TT_SHARP_MOTORS; i++) {
      TT_TRY(tt_default_string(&(*entries)[i].name, names[i], error));
    }
  }
  if (*count != TT_SHARP_MOTORS) {
    return tt_fail(error, TT_INVALID,
                   "%s.%s: give three names, for left drive, right drive and elevator; `none` for "
                   "what the robot lacks",
                   where, key);
  }
  for (unsigned i = 0; i < *count; i++) {
    char place[512];
    snprintf(place, sizeof place, "%s.%s[%u]", where, key, i);
    TT_TRY(tt_name_entry_check(&(*entries)[i], place, error));
  }
  return TT_OK;
}

static tt_status check_address(const char *address, const char *key, const tt_allow *allow,
                               const char *where, tt_error *error) {
  tt_error reason;
  if (allow == NULL && strcmp(address, "sender") == 0) return TT_OK;
  tt_status status = tt_address_check(address, allow, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s.%s: %s", where, key, reason.text);
}

static tt_status check_addresses(tt_sharp_json_config *config, const char *where, tt_error *error) {
  const tt_allow allow = {(const char *const *)config->common.allow,
                          (int)config->common.allow_count};
  TT_TRY(tt_default_address(&config->common, VEHICLE_PORT, &config->bind, where, error));
  TT_TRY(tt_default_address(&config->common, CORE_PORT, &config->peer, where, error));
  TT_TRY(check_address(config->bind, "bind", &allow, where, error));
  return check_address(config->peer, "peer", NULL, where, error);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  static const char *const commands[] = {"left_drive.duty", "right_drive.duty", "elevator.duty"};
  static const char *const sensors[] = {"left_drive_encoder.ticks", "right_drive_encoder.ticks",
                                        "elevator_encoder.ticks"};
  tt_sharp_json_config *config = untyped;
  TT_TRY(tt_default_string(&config->common.watchdog, "0.5 s", error));
  static const char *const styles[] = {"columns", "json", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->style, "style", where, styles, 0, &chosen, error));
  TT_TRY(tt_default_string(&config->style, styles[chosen], error));
  TT_TRY(check_addresses(config, where, error));
  TT_TRY(check_list(&config->commands, &config->command_count, commands, "commands", where, error));
  TT_TRY(check_list(&config->sensors, &config->sensor_count, sensors, "sensors", where, error));
  tt_faults faults;
  return tt_wire_faults_check(&config->common, where, &faults, error);
}

static tt_waits waits(const void *untyped) {
  (void)untyped;
  return TT_WAITS_AT_LOCKSTEP;
}

static void apart(const void *untyped, tt_wire_apart *apart) {
  const tt_sharp_json_config *config = untyped;
  apart->own = "bind=127.0.0.1:0";
  apart->others[0] = "late=hold"; /* what faults lose is lost */
  if (strcmp(config->peer, "sender") == 0) return;
  apart->peer = "peer";
  apart->peer_at = config->peer;
}

const tt_schema tt_sharp_json_schema = {
    .key = "sharp-json",
    .fields = fields,
    .size = sizeof(tt_sharp_json_config),
    .check = check,
    .suiting_period = STATE_PERIOD,
    .waits = waits,
    .apart = apart,
};

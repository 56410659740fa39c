/* schema.c: the keys of a float-udp wire and their defaults. */
#include "wire/float_udp/codec.h"
#include "wire/float_udp/float_udp.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_BIND 5801
#define DEFAULT_PEER 5802

static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_float_udp_config),
    CYAML_FIELD_STRING_PTR("bind", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_float_udp_config,
                           bind, 0, 64),
    CYAML_FIELD_STRING_PTR("peer", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_float_udp_config,
                           peer, 0, 64),
    CYAML_FIELD_STRING_PTR("time", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_float_udp_config,
                           time, 0, 16),
    CYAML_FIELD_SEQUENCE_COUNT("sensors", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_float_udp_config, sensors, sensor_count, &tt_name_entry_schema, 0,
                               TT_FLOAT_UDP_MAX),
    CYAML_FIELD_SEQUENCE_COUNT("commands", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_float_udp_config, commands, command_count, &tt_name_entry_schema,
                               0, TT_FLOAT_UDP_MAX),
    CYAML_FIELD_END,
};

static tt_status check_list(tt_name_entry *entries, unsigned count, const char *key,
                            const char *where, tt_error *error) {
  char place[512];
  for (unsigned i = 0; i < count; i++) {
    snprintf(place, sizeof place, "%s.%s[%u]", where, key, i);
    TT_TRY(tt_name_entry_check(&entries[i], place, error));
  }
  return TT_OK;
}

static tt_status check_address(const char *address, const char *key, const tt_allow *allow,
                               const char *where, tt_error *error) {
  tt_error reason;
  tt_status status = tt_address_check(address, allow, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s.%s: %s", where, key, reason.text);
}

static tt_status check_time(tt_float_udp_config *config, const char *where, tt_error *error) {
  static const char *const words[] = {"grow", "restart", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->time, "time", where, words, 0, &chosen, error));
  config->time_restarts = chosen == 1;
  return tt_default_string(&config->time, words[chosen], error);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_float_udp_config *config = untyped;
  TT_TRY(tt_default_address(&config->common, DEFAULT_BIND, &config->bind, where, error));
  TT_TRY(tt_default_address(&config->common, DEFAULT_PEER, &config->peer, where, error));
  TT_TRY(tt_default_string(&config->common.watchdog, "0.5 s", error));
  TT_TRY(check_time(config, where, error));
  tt_allow allow = {.cidrs = (const char *const *)config->common.allow,
                    .count = (int)config->common.allow_count};
  TT_TRY(check_address(config->bind, "bind", &allow, where, error));
  if (strcmp(config->peer, "sender") != 0)
    TT_TRY(check_address(config->peer, "peer", NULL, where, error));
  if (config->sensor_count == 0 && config->command_count == 0)
    return tt_fail(error, TT_INVALID,
                   "%s: list the sensors it sends, the commands it takes, or both", where);
  TT_TRY(check_list(config->sensors, config->sensor_count, "sensors", where, error));
  TT_TRY(check_list(config->commands, config->command_count, "commands", where, error));
  tt_faults faults;
  return tt_wire_faults_check(&config->common, where, &faults, error);
}

/** A wire that takes nothing is never answered. */
static tt_waits waits(const void *untyped) {
  const tt_float_udp_config *config = untyped;
  return config->command_count > 0 ? TT_WAITS_AT_LOCKSTEP : TT_WAITS_NEVER;
}

static void apart(const void *untyped, tt_wire_apart *apart) {
  const tt_float_udp_config *config = untyped;
  apart->own = "bind=127.0.0.1:0";
  apart->others[0] = "late=hold"; /* what faults lose is lost */
  if (strcmp(config->peer, "sender") == 0) return;
  apart->peer = "peer";
  apart->peer_at = config->peer;
}

const tt_schema tt_float_udp_schema = {.key = "float-udp",
                                       .fields = fields,
                                       .size = sizeof(tt_float_udp_config),
                                       .check = check,
                                       .waits = waits,
                                       .apart = apart};

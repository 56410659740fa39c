/* schema.c: the keys of an xrp wire and their defaults. */
#include "wire/xrp/codec.h"
#include "wire/xrp/xrp.h"

#include <stdio.h>

#define DEFAULT_BIND 3540
#define PERIOD 0.02 /* s: a program speaks once a loop, and hears as often */

const char *const tt_xrp_list_keys[TT_XRP_LISTS] = {"motors",   "servos", "outputs",
                                                    "encoders", "rates",  "inputs",
                                                    "analogs",  "gyro",   "accelerometer"};

#define LIST(key, kind, longest)                                                                   \
  CYAML_FIELD_SEQUENCE_COUNT(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_xrp_config,         \
                             lists[kind].entries, lists[kind].count, &tt_name_entry_schema, 0,     \
                             longest)
static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_xrp_config),
    CYAML_FIELD_STRING_PTR("bind", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_xrp_config, bind, 0,
                           64),
    LIST("motors", TT_XRP_MOTOR_LIST, TT_XRP_MOTORS),
    LIST("servos", TT_XRP_SERVO_LIST, TT_XRP_SERVOS),
    LIST("outputs", TT_XRP_OUTPUT_LIST, TT_XRP_DIO),
    LIST("encoders", TT_XRP_ENCODER_LIST, TT_XRP_MOTORS),
    LIST("rates", TT_XRP_RATE_LIST, TT_XRP_MOTORS),
    LIST("inputs", TT_XRP_INPUT_LIST, TT_XRP_DIO),
    LIST("analogs", TT_XRP_ANALOG_LIST, TT_XRP_ANALOGS),
    LIST("gyro", TT_XRP_GYRO_LIST, 6),
    LIST("accelerometer", TT_XRP_ACCELEROMETER_LIST, 3),
    CYAML_FIELD_END,
};
#undef LIST

static tt_status check_list(const tt_xrp_list *list, const char *key, const char *where,
                            tt_error *error) {
  char place[512];
  for (unsigned i = 0; i < list->count; i++) {
    snprintf(place, sizeof place, "%s.%s[%u]", where, key, i);
    TT_TRY(tt_name_entry_check(&list->entries[i], place, error));
  }
  return TT_OK;
}

static tt_status check_bind(tt_xrp_config *config, const char *where, tt_error *error) {
  const tt_allow allow = {(const char *const *)config->common.allow,
                          (int)config->common.allow_count};
  tt_error reason;
  TT_TRY(tt_default_address(&config->common, DEFAULT_BIND, &config->bind, where, error));
  tt_status status = tt_address_check(config->bind, &allow, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s.bind: %s", where, reason.text);
}

/* These are sent whole or not at all. */
static tt_status check_whole(const tt_xrp_list *list, unsigned whole, const char *key,
                             const char *where, tt_error *error) {
  if (list->count == 0 || list->count == whole) return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.%s: give %u names, `none` for what the robot lacks", where,
                 key, whole);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_xrp_config *config = untyped;
  unsigned entries = 0;
  TT_TRY(tt_default_string(&config->common.watchdog, "0.5 s", error));
  TT_TRY(check_bind(config, where, error));
  for (int i = 0; i < TT_XRP_LISTS; i++) {
    TT_TRY(check_list(&config->lists[i], tt_xrp_list_keys[i], where, error));
    entries += config->lists[i].count;
  }
  if (entries == 0)
    return tt_fail(error, TT_INVALID,
                   "%s: list what the program drives (motors, servos, outputs), what it hears "
                   "(encoders, analogs, gyro, …), or both",
                   where);
  TT_TRY(check_whole(&config->lists[TT_XRP_GYRO_LIST], 6, "gyro", where, error));
  TT_TRY(check_whole(&config->lists[TT_XRP_ACCELEROMETER_LIST], 3, "accelerometer", where, error));
  tt_faults faults;
  return tt_wire_faults_check(&config->common, where, &faults, error);
}

/** A wire that takes nothing is never answered. */
static tt_waits waits(const void *untyped) {
  const tt_xrp_config *config = untyped;
  unsigned commands = 0;
  for (int i = 0; i < TT_XRP_COMMAND_LISTS; i++) commands += config->lists[i].count;
  return commands > 0 ? TT_WAITS_AT_LOCKSTEP : TT_WAITS_NEVER;
}

static void apart(const void *untyped, tt_wire_apart *apart) {
  (void)untyped;
  *apart = (tt_wire_apart){.own = "bind=127.0.0.1:0", .others = {"late=hold"}};
}

const tt_schema tt_xrp_schema = {.key = "xrp",
                                 .fields = fields,
                                 .size = sizeof(tt_xrp_config),
                                 .check = check,
                                 .suiting_period = PERIOD,
                                 .waits = waits,
                                 .apart = apart};

/* schema.c: the keys of a halsim-step wire and their defaults. */
#include "wire/halsim_step/frame.h"
#include "wire/halsim_step/halsim_step.h"

#include <string.h>

#define PERIOD 0.02 /* s: the loop of TimedRobot */

#define TEXT(name, longest)                                                                        \
  CYAML_FIELD_STRING_PTR(#name, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_step_config,   \
                         name, 0, longest)
static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_halsim_step_config),
    TEXT(listen, 64),
    TEXT(on_disconnect, 16),
    CYAML_FIELD_BOOL_PTR("ds", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_step_config, ds),
    CYAML_FIELD_SEQUENCE_COUNT("devices", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_halsim_step_config, devices, device_count,
                               &tt_halsim_entry_schema, 0, TT_HALSIM_MOST_ENTRIES),
    CYAML_FIELD_END,
};

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_halsim_step_config *config = untyped;
  TT_TRY(tt_default_address(&config->common, TT_STEP_PORT, &config->listen, where, error));
  TT_TRY(tt_default_string(&config->on_disconnect, "reset", error));
  TT_TRY(tt_default_string(&config->common.watchdog, "0 s", error));
  const char *policy = config->on_disconnect;
  if (strcmp(policy, "reset") != 0 && strcmp(policy, "keep") != 0 && strcmp(policy, "exit") != 0)
    return tt_fail(error, TT_INVALID, "%s.on_disconnect: '%s' is not one of reset, keep, exit",
                   where, policy);
  if (config->common.faults)
    return tt_fail(error, TT_INVALID, "%s.faults: TCP loses nothing; faults are for UDP wires",
                   where);
  tt_allow allow = {.cidrs = (const char *const *)config->common.allow,
                    .count = (int)config->common.allow_count};
  tt_error reason;
  tt_status status = tt_address_check(config->listen, &allow, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s.listen: %s", where, reason.text);
  return tt_halsim_entries_check(config->devices, config->device_count, where, error);
}

static tt_waits waits(const void *untyped) {
  (void)untyped;
  return TT_WAITS_ALWAYS;
}

static void apart(const void *untyped, tt_wire_apart *apart) {
  (void)untyped;
  *apart = (tt_wire_apart){.own = "listen=127.0.0.1:0", .others = {"on_disconnect=keep"}};
}

const tt_schema tt_halsim_step_schema = {.key = "halsim-step",
                                         .fields = fields,
                                         .size = sizeof(tt_halsim_step_config),
                                         .check = check,
                                         .suiting_period = PERIOD,
                                         .waits = waits,
                                         .apart = apart};

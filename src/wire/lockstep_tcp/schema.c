/* schema.c: the keys of a lockstep-tcp wire and their defaults. */
#include "wire/lockstep_tcp/codec.h"
#include "wire/lockstep_tcp/lockstep_tcp.h"

#include <string.h>

#define DEFAULT_LISTEN 11235
#define DEFAULT_STEPS 10 /* of 1/600 s make 1/60 s */
#define MOST_STEPS 1000000
#define DEFAULT_WORLDS 16
#define MOST_WORLDS 256

static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_lockstep_tcp_config),
    CYAML_FIELD_STRING_PTR("listen", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                           tt_lockstep_tcp_config, listen, 0, 64),
    CYAML_FIELD_STRING_PTR("on_disconnect", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                           tt_lockstep_tcp_config, on_disconnect, 0, 16),
    CYAML_FIELD_UINT("steps_per_frame", CYAML_FLAG_OPTIONAL, tt_lockstep_tcp_config,
                     steps_per_frame),
    CYAML_FIELD_SEQUENCE_COUNT("joints", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_lockstep_tcp_config, joints, joint_count, &tt_string_schema, 0,
                               TT_LOCKSTEP_MAX),
    CYAML_FIELD_STRING_PTR("worlds", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                           tt_lockstep_tcp_config, worlds, 0, 16),
    CYAML_FIELD_UINT("max_worlds", CYAML_FLAG_OPTIONAL, tt_lockstep_tcp_config, max_worlds),
    CYAML_FIELD_END,
};

static tt_status check_worlds(tt_lockstep_tcp_config *config, const char *where, tt_error *error) {
  static const char *const words[] = {"shared", "per-connection", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->worlds, "worlds", where, words, 0, &chosen, error));
  TT_TRY(tt_default_string(&config->worlds, words[chosen], error));
  return tt_count_check(config->max_worlds, "max_worlds", where, 1, MOST_WORLDS, DEFAULT_WORLDS,
                        &config->max_worlds, error);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_lockstep_tcp_config *config = untyped;
  TT_TRY(tt_default_address(&config->common, DEFAULT_LISTEN, &config->listen, where, error));
  static const char *const policies[] = {"reset", "keep", "exit", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->on_disconnect, "on_disconnect", where, policies, 0, &chosen, error));
  TT_TRY(tt_default_string(&config->on_disconnect, policies[chosen], error));
  TT_TRY(tt_default_string(&config->common.watchdog, "0 s", error));
  TT_TRY(tt_count_check(config->steps_per_frame, "steps_per_frame", where, 1, MOST_STEPS,
                        DEFAULT_STEPS, &config->steps_per_frame, error));
  TT_TRY(check_worlds(config, where, error));
  if (config->common.faults)
    return tt_fail(error, TT_INVALID, "%s.faults: TCP loses nothing; faults are for UDP wires",
                   where);
  tt_allow allow = {.cidrs = (const char *const *)config->common.allow,
                    .count = (int)config->common.allow_count};
  tt_error reason;
  tt_status status = tt_address_check(config->listen, &allow, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s.listen: %s", where, reason.text);
}

static uint64_t period_steps(const void *untyped) {
  const tt_lockstep_tcp_config *config = untyped;
  return config->steps_per_frame;
}

static tt_waits waits(const void *untyped) {
  (void)untyped;
  return TT_WAITS_ALWAYS;
}

static void apart(const void *untyped, tt_wire_apart *apart) {
  (void)untyped;
  *apart = (tt_wire_apart){.own = "listen=127.0.0.1:0",
                           .others = {"on_disconnect=keep", "worlds=shared"}};
}

const tt_schema tt_lockstep_tcp_schema = {.key = "lockstep-tcp",
                                          .fields = fields,
                                          .size = sizeof(tt_lockstep_tcp_config),
                                          .check = check,
                                          .period_steps = period_steps,
                                          .waits = waits,
                                          .apart = apart};

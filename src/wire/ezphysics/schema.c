/* schema.c: the keys of an ezphysics wire and their defaults. */
#include "wire/ezphysics/ezphysics.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_LISTEN 5803
#define MOST_STEPS 1000000
#define MOST_SECONDS 86400

#define TEXT(key, member, max)                                                                     \
  CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ezphysics_config,       \
                         member, 0, max)

static const cyaml_schema_field_t mark_fields[] = {
    CYAML_FIELD_STRING_PTR("body", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ez_mark, body, 1,
                           256),
    CYAML_FIELD_STRING_PTR("joint", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ez_mark, joint, 1,
                           256),
    CYAML_FIELD_BOOL_PTR("send", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ez_mark, send),
    CYAML_FIELD_BOOL_PTR("receive", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ez_mark, receive),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t mark_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, tt_ez_mark, mark_fields),
};

static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_ezphysics_config),
    TEXT("listen", listen, 64),
    TEXT("connect", connect, 64),
    TEXT("mode", mode, 16),
    CYAML_FIELD_UINT("steps", CYAML_FLAG_OPTIONAL, tt_ezphysics_config, steps),
    TEXT("connect_timeout", connect_timeout, 64),
    TEXT("receive_timeout", receive_timeout, 64),
    TEXT("send_timeout", send_timeout, 64),
    TEXT("on_disconnect", on_disconnect, 16),
    CYAML_FIELD_BOOL_PTR("names", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_ezphysics_config,
                         names),
    CYAML_FIELD_SEQUENCE_COUNT("marks", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_ezphysics_config, marks, mark_count, &mark_schema, 0, 1000),
    CYAML_FIELD_END,
};

static tt_status check_address(tt_ezphysics_config *config, const char *where, tt_error *error) {
  const tt_allow allow = {(const char *const *)config->common.allow,
                          (int)config->common.allow_count};
  if (config->listen != NULL && config->connect != NULL) {
    return tt_fail(error, TT_INVALID, "%s: give `listen` or `connect`, not both", where);
  }
  if (config->connect == NULL)
    TT_TRY(tt_default_address(&config->common, DEFAULT_LISTEN, &config->listen, where, error));
  const char *address = config->connect != NULL ? config->connect : config->listen;
  tt_error reason;
  tt_status status = tt_address_check(address, config->connect != NULL ? NULL : &allow, &reason);
  return status == TT_OK ? TT_OK
                         : tt_fail(error, status, "%s.%s: %s", where,
                                   config->connect != NULL ? "connect" : "listen", reason.text);
}

static tt_status check_mode(tt_ezphysics_config *config, const char *where, tt_error *error) {
  static const char *const words[] = {"step", "realtime", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->mode, "mode", where, words, 0, &chosen, error));
  config->checked_mode = chosen == 1 ? TT_EZ_REALTIME : TT_EZ_STEP;
  return tt_default_string(&config->mode, words[chosen], error);
}

static tt_status check_disconnect(tt_ezphysics_config *config, const char *where, tt_error *error) {
  static const char *const words[] = {"keep", "reset", "exit", NULL};
  int chosen;
  TT_TRY(tt_word_check(config->on_disconnect, "on_disconnect", where, words, 0, &chosen, error));
  return tt_default_string(&config->on_disconnect, words[chosen], error);
}

static tt_status check_marks(const tt_ezphysics_config *config, const char *where,
                             tt_error *error) {
  for (unsigned i = 0; i < config->mark_count; i++) {
    const tt_ez_mark *mark = &config->marks[i];
    if ((mark->body == NULL) == (mark->joint == NULL)) {
      return tt_fail(error, TT_INVALID, "%s.marks[%u]: name either a body or a joint", where, i);
    }
    if (mark->body != NULL && mark->receive != NULL) {
      return tt_fail(error, TT_INVALID,
                     "%s.marks[%u].receive: bodies take no commands; only joints do", where, i);
    }
  }
  return TT_OK;
}

static tt_status check_timeouts(tt_ezphysics_config *config, const char *where, tt_error *error) {
  double connect = config->connect != NULL ? 10 : 0;
  TT_TRY(tt_quantity_check(config->connect_timeout, "connect_timeout", where, TT_TIME, 0,
                           MOST_SECONDS, connect, &config->connect_seconds, error));
  TT_TRY(tt_quantity_check(config->receive_timeout, "receive_timeout", where, TT_TIME, 0,
                           MOST_SECONDS, 10, &config->receive_seconds, error));
  return tt_quantity_check(config->send_timeout, "send_timeout", where, TT_TIME, 0, MOST_SECONDS, 5,
                           &config->send_seconds, error);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_ezphysics_config *config = untyped;
  TT_TRY(tt_default_string(&config->common.watchdog, "0.5 s", error));
  TT_TRY(check_address(config, where, error));
  TT_TRY(check_mode(config, where, error));
  TT_TRY(check_disconnect(config, where, error));
  TT_TRY(check_timeouts(config, where, error));
  TT_TRY(tt_count_check(config->steps, "steps", where, 1, MOST_STEPS, 0, &config->steps, error));
  if (config->common.faults != NULL) {
    return tt_fail(error, TT_INVALID, "%s.faults: TCP loses nothing; faults are for UDP wires",
                   where);
  }
  return check_marks(config, where, error);
}

static uint64_t period_steps(const void *untyped) {
  const tt_ezphysics_config *config = untyped;
  return config->steps;
}

static tt_waits waits(const void *untyped) {
  const tt_ezphysics_config *config = untyped;
  return config->checked_mode == TT_EZ_STEP ? TT_WAITS_ALWAYS : TT_WAITS_FOR_THE_CLOCK;
}

/** Its own timeouts would end the run of a program that thinks for long. */
static void apart(const void *untyped, tt_wire_apart *apart) {
  const tt_ezphysics_config *config = untyped;
  *apart = (tt_wire_apart){
      .others = {"mode=step", "on_disconnect=keep", "receive_timeout=0 s", "connect_timeout=0 s"}};
  if (config->connect == NULL) {
    apart->own = "listen=127.0.0.1:0";
    return;
  }
  apart->peer = "connect";
  apart->peer_at = config->connect;
  apart->peer_listens = true;
}

const tt_schema tt_ezphysics_schema = {.key = "ezphysics",
                                       .fields = fields,
                                       .size = sizeof(tt_ezphysics_config),
                                       .check = check,
                                       .period_steps = period_steps,
                                       .waits = waits,
                                       .apart = apart,
                                       .reads_forces = true};

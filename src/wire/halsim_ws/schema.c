/* schema.c: the keys of a halsim-ws wire and their defaults. */
#include "wire/halsim_ws/halsim_ws.h"

#include "websocket/handshake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT 3300
#define PERIOD 0.01 /* s: twice as often as a program looks */

#define TEXT(name, longest)                                                                        \
  CYAML_FIELD_STRING_PTR(#name, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_ws_config,     \
                         name, 0, longest)
static const cyaml_schema_field_t fields[] = {
    TT_WIRE_COMMON_FIELDS(tt_halsim_ws_config),
    TEXT(connect, 256),
    TEXT(listen, 64),
    TEXT(path, 128),
    TEXT(on_disconnect, 16),
    CYAML_FIELD_BOOL_PTR("ds", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_halsim_ws_config, ds),
    CYAML_FIELD_SEQUENCE_COUNT("devices", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL,
                               tt_halsim_ws_config, devices, device_count, &tt_halsim_entry_schema,
                               0, TT_HALSIM_MOST_ENTRIES),
    CYAML_FIELD_END,
};

static tt_status check_listen(tt_halsim_ws_config *config, const char *where, tt_error *error) {
  const tt_allow allow = {(const char *const *)config->common.allow,
                          (int)config->common.allow_count};
  tt_error reason;
  if (config->connect)
    return tt_fail(error, TT_INVALID,
                   "%s: give either `connect`, to a program that listens, or `listen`, for a "
                   "program that connects",
                   where);
  tt_status status = tt_address_check(config->listen, &allow, &reason);
  if (status != TT_OK) return tt_fail(error, status, "%s.listen: %s", where, reason.text);
  TT_TRY(tt_default_string(&config->path, "/wpilibws", error));
  if (config->path[0] == '/') return TT_OK;
  return tt_fail(error, TT_INVALID, "%s.path: '%s' does not begin with '/'", where, config->path);
}

static tt_status check_connect(tt_halsim_ws_config *config, const char *where, tt_error *error) {
  char *address = NULL, url[64];
  tt_error reason;
  tt_handshake_url read;
  if (config->path)
    return tt_fail(error, TT_INVALID,
                   "%s.path: without `listen` the path stands at the end of `connect`", where);
  TT_TRY(tt_default_address(&config->common, PORT, &address, where, error));
  snprintf(url, sizeof url, "ws://%s/wpilibws", address);
  free(address);
  TT_TRY(tt_default_string(&config->connect, url, error));
  tt_status status = tt_handshake_url_read(config->connect, &read, &reason);
  if (status == TT_OK) status = tt_address_check(read.address, NULL, &reason);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "%s.connect: %s", where, reason.text);
}

static tt_status check(void *untyped, const char *where, tt_error *error) {
  tt_halsim_ws_config *config = untyped;
  TT_TRY(tt_default_string(&config->common.watchdog, "0.5 s", error));
  TT_TRY(config->listen ? check_listen(config, where, error) : check_connect(config, where, error));
  TT_TRY(tt_default_string(&config->on_disconnect, "keep", error));
  if (strcmp(config->on_disconnect, "keep") != 0 && strcmp(config->on_disconnect, "reset") != 0)
    return tt_fail(error, TT_INVALID, "%s.on_disconnect: '%s' is not one of keep, reset", where,
                   config->on_disconnect);
  if (config->common.faults)
    return tt_fail(error, TT_INVALID, "%s.faults: TCP loses nothing; faults are for UDP wires",
                   where);
  return tt_halsim_entries_check(config->devices, config->device_count, where, error);
}

/* A program has a clock of its own, and nothing in the protocol could hold it. */
static tt_waits waits(const void *untyped) {
  (void)untyped;
  return TT_WAITS_FOR_THE_CLOCK;
}

const tt_schema tt_halsim_ws_schema = {.key = "halsim-ws",
                                       .fields = fields,
                                       .size = sizeof(tt_halsim_ws_config),
                                       .check = check,
                                       .suiting_period = PERIOD,
                                       .waits = waits};

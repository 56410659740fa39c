/* collect.c: `tether collect`: telemetry without a simulation: devices in, tables and live samples out. */
#include "app/commands/command.h"
#include "app/program_config.h"
#include "app/state_folder.h"
#include "app/telemetry/serving.h"
#include "base/text.h"

#include <stdio.h>

/** A store in the state folder. */
static tt_status default_store(const char *folder, char **url, tt_error *error) {
  const tt_store_backend *backend = tt_store_default_backend();
  if (!backend) return tt_fail(error, TT_INVALID, "set telemetry.store, or give --store URL");
  char path[4200], text[4300];
  snprintf(path, sizeof path, "%s/%s", folder, backend->file);
  snprintf(text, sizeof text, "%s%s", backend->schemes[0], path);
  TT_TRY(tt_state_file(path, error));
  return tt_default_string(url, text, error);
}

/** Sets what nobody set: the port, and files in the state folder. Where the store is a file, what waits in the spool is only
 *  told. */
static tt_status fill_in(tt_telemetry_keys *keys, tt_error *error) {
  char folder[4096], text[4200];
  TT_TRY(tt_default_string(&keys->listen, "127.0.0.1:5804", error));
  if (keys->store && keys->spool) return TT_OK;
  if (!keys->store || tt_store_url_can(keys->store, TT_STORE_REMOTE))
    TT_TRY(tt_state_folder(NULL, "telemetry", folder, sizeof folder, error));
  else if (tt_state_path(NULL, "telemetry", folder, sizeof folder, error) != TT_OK)
    return TT_OK;
  if (!keys->store) TT_TRY(default_store(folder, &keys->store, error));
  snprintf(text, sizeof text, "%s/telemetry.spool", folder);
  return tt_default_string(&keys->spool, text, error);
}

static void say_ready(void *context, tt_telemetry *telemetry, const char *web) {
  (void)context;
  tt_print(stderr, "ready robocar-xml=%s web=%s\n", tt_telemetry_address(telemetry), web);
}

static tt_status serve(tt_serving_keys *keys, const char *path, const char *store,
                       tt_error *error) {
  TT_TRY(tt_serving_check(keys, path, error));
  if (store) TT_TRY(tt_serving_set_store(keys, store, error));
  TT_TRY(fill_in(keys->telemetry, error));
  return tt_serve(&(tt_serving){.keys = keys, .pages = true, .say_ready = say_ready}, error);
}

/** A log is a store from which others store. */
static tt_status check_log(const char *store, const char *log, tt_error *error) {
  if (!log || (!store && tt_store_url_can(log, TT_STORE_FORWARDS))) return TT_OK;
  if (store)
    return tt_fail(error, TT_USAGE,
                   "--log and --store exclude each other: `tether store --log %s --store %s` "
                   "stores what the log has",
                   log, store);
  return tt_fail(error, TT_USAGE, "--log %s: this is no log; docs/fleet.md says which there are",
                 log);
}

static tt_status collect(int argc, char **argv, tt_error *error) {
  const char *store = NULL, *log = NULL;
  const tt_program_option options[] = {{"--store", &store}, {"--log", &log}, {NULL, NULL}};
  tt_program_config file;
  TT_TRY(tt_program_config_load(argc, argv, options, &tt_serving_schema, NULL, &file, error));
  tt_status status = check_log(store, log, error);
  if (status == TT_OK) status = serve(file.keys, file.path, log ? log : store, error);
  if (status != TT_OK) tt_program_config_explain(&file, error);
  tt_program_config_free(&file);
  return status;
}

const tt_app_command tt_app_collect = {
    .name = "collect",
    .usage = "[CONFIG] [--store URL | --log URL] [--set PATH=VALUE]…",
    .summary = "Collects telemetry of robots over TCP, HTTP and WebSocket; keeps it; gives tables",
    .help =
        "  CONFIG               a YAML file with the sections telemetry and web; docs/telemetry.md "
        "lists the keys\n"
        "  --store URL          sqlite:FILE, postgresql://… or clickhouse://…; default: a "
        "file in $XDG_STATE_HOME/tether/telemetry\n"
        "  --log URL            nats://HOST[,HOST…][/STREAM]: into a log, from which `tether "
        "store` "
        "stores\n"
        "  --set PATH=VALUE     change a key, for example --set telemetry.listen=127.0.0.1:0\n",
    .run = collect,
};

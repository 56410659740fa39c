/* collect.c: `tether collect`: telemetry without a simulation: devices in, tables and live samples out. */
#include "app/commands/command.h"
#include "app/program_config.h"
#include "app/state_folder.h"
#include "base/log.h"
#include "base/text.h"
#include "telemetry/service.h"
#include "web/pages.h"
#include "web/section.h"
#include "web/telemetry_routes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct collect_keys {
  tt_telemetry_keys *telemetry;
  tt_web_keys *web;
} collect_keys;

/** Everything that runs. */
typedef struct collect_program {
  tt_telemetry *telemetry;
  tt_web *web;
  tt_telemetry_routes *routes;
} collect_program;

static void block_signals(sigset_t *ends) {
  sigemptyset(ends);
  sigaddset(ends, SIGINT);
  sigaddset(ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, ends, NULL);  // every thread that is started inherits it
  signal(SIGPIPE, SIG_IGN);
}

/** Sets what nobody set: the port, and files in the state folder. */
static tt_status fill_in(tt_telemetry_keys *keys, const char *store, tt_error *error) {
  char folder[4096], text[4200];
  if (store) {
    free(keys->store);
    keys->store = NULL;
    TT_TRY(tt_default_string(&keys->store, store, error));
  }
  TT_TRY(tt_default_string(&keys->listen, "127.0.0.1:5804", error));
  if (keys->store && keys->spool) return TT_OK;
  if (!keys->store || !strncmp(keys->store, "postgres", 8)) {
    TT_TRY(tt_state_folder(NULL, "telemetry", folder, sizeof folder, error));
    snprintf(text, sizeof text, "sqlite:%s/telemetry.sqlite", folder);
    TT_TRY(tt_state_file(text + strlen("sqlite:"), error));
    TT_TRY(tt_default_string(&keys->store, text, error));
    snprintf(text, sizeof text, "%s/telemetry.spool", folder);
    TT_TRY(tt_default_string(&keys->spool, text, error));
  }
  return TT_OK;
}

static void close_all(collect_program *program) {
  tt_telemetry_routes_stop(program->routes);
  if (program->telemetry) tt_telemetry_stop(program->telemetry);
  tt_web_free(program->web);
  tt_telemetry_routes_free(program->routes);
  tt_telemetry_close(program->telemetry);
}

static tt_status open_all(const collect_keys *keys, collect_program *program, tt_error *error) {
  TT_TRY(tt_telemetry_open(keys->telemetry, &program->telemetry, error));
  TT_TRY(tt_web_from_keys(keys->web, &program->web, error));
  tt_pages_add(program->web);
  program->routes =
      tt_telemetry_routes_new(program->web, tt_telemetry_collector(program->telemetry));
  return tt_web_start(program->web, error);
}

static tt_status serve(const collect_keys *keys, tt_error *error) {
  sigset_t ends;
  collect_program program = {NULL, NULL, NULL};
  block_signals(&ends);
  tt_log_start();
  tt_status status = open_all(keys, &program, error);
  if (status == TT_OK) {
    tt_print(stderr, "ready robocar-xml=%s web=%s\n", tt_telemetry_address(program.telemetry),
             tt_web_address(program.web));
    int number;
    sigwait(&ends, &number);
  }
  close_all(&program);
  tt_log_stop();
  return status;
}

/** The same sections as a scene's, from the same declarations. */
static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_MAPPING_PTR("telemetry", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, collect_keys,
                            telemetry, tt_telemetry_fields),
    CYAML_FIELD_MAPPING_PTR("web", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, collect_keys, web,
                            tt_web_fields),
    CYAML_FIELD_END,
};
static const cyaml_schema_value_t schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, collect_keys, fields),
};

static tt_status check(collect_keys *keys, const char *path, const char *store, tt_error *error) {
  char where[4200];
  if (!keys->telemetry) keys->telemetry = calloc(1, sizeof *keys->telemetry);
  if (!keys->web) keys->web = calloc(1, sizeof *keys->web);
  if (!keys->telemetry || !keys->web) return tt_fail(error, TT_NOMEM, "out of memory");
  snprintf(where, sizeof where, "%s: telemetry", path);
  TT_TRY(tt_telemetry_schema.check(keys->telemetry, where, error));
  snprintf(where, sizeof where, "%s: web", path);
  TT_TRY(tt_web_schema.check(keys->web, where, error));
  return fill_in(keys->telemetry, store, error);
}

static tt_status collect(int argc, char **argv, tt_error *error) {
  const char *store = NULL;
  const tt_program_option options[] = {{"--store", &store}, {NULL, NULL}};
  tt_program_config file;
  TT_TRY(tt_program_config_load(argc, argv, options, &schema, NULL, &file, error));
  tt_status status = check(file.keys, file.path, store, error);
  if (status == TT_OK) status = serve(file.keys, error);
  if (status != TT_OK) tt_program_config_explain(&file, error);
  tt_program_config_free(&file);
  return status;
}

const tt_app_command tt_app_collect = {
    .name = "collect",
    .usage = "[CONFIG] [--store URL] [--set PATH=VALUE]…",
    .summary = "Collects telemetry of robots over TCP, HTTP and WebSocket; keeps it; gives tables",
    .help =
        "  CONFIG               a YAML file with the sections telemetry and web; docs/telemetry.md "
        "lists the keys\n"
        "  --store URL          sqlite:FILE or postgresql://…; default: a file in "
        "$XDG_STATE_HOME/tether/telemetry\n"
        "  --set PATH=VALUE     change a key, for example --set telemetry.listen=127.0.0.1:0\n",
    .run = collect,
};

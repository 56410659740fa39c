#include "app/telemetry/serving.h"

#include "app/end_signals.h"
#include "base/log.h"
#include "telemetry/nats/input.h"
#include "web/pages.h"
#include "web/telemetry_routes.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const cyaml_schema_field_t fields[] = {
    CYAML_FIELD_MAPPING_PTR("telemetry", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_serving_keys,
                            telemetry, tt_telemetry_fields),
    CYAML_FIELD_MAPPING_PTR("web", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, tt_serving_keys, web,
                            tt_web_fields),
    CYAML_FIELD_END,
};
const cyaml_schema_value_t tt_serving_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, tt_serving_keys, fields),
};

tt_status tt_serving_check(tt_serving_keys *keys, const char *path, tt_error *error) {
  char where[4200];
  if (!keys->telemetry) keys->telemetry = calloc(1, sizeof *keys->telemetry);
  if (!keys->web) keys->web = calloc(1, sizeof *keys->web);
  if (!keys->telemetry || !keys->web) return tt_fail(error, TT_NOMEM, "out of memory");
  snprintf(where, sizeof where, "%s: telemetry", path);
  TT_TRY(tt_telemetry_schema.check(keys->telemetry, where, error));
  TT_TRY(tt_telemetry_check(keys->telemetry, where, error));
  snprintf(where, sizeof where, "%s: web", path);
  return tt_web_schema.check(keys->web, where, error);
}

tt_status tt_serving_set_store(tt_serving_keys *keys, const char *store, tt_error *error) {
  free(keys->telemetry->store);
  keys->telemetry->store = NULL;
  return tt_default_string(&keys->telemetry->store, store, error);
}

/* --- everything that runs --- */

typedef struct program {
  tt_telemetry *telemetry;
  tt_nats_input *nats;
  tt_web *web;
  tt_telemetry_routes *routes;
} program;

static void block_signals(sigset_t *ends) {
  tt_end_signals_get(ends);
  pthread_sigmask(SIG_BLOCK, ends, NULL);  // every thread that is started inherits it
  signal(SIGPIPE, SIG_IGN);
}

static void close_all(const tt_serving *serving, program *all) {
  tt_nats_input_close(all->nats);
  tt_telemetry_routes_stop(all->routes);
  if (all->telemetry) tt_telemetry_stop(all->telemetry);
  tt_web_free(all->web);
  tt_telemetry_routes_free(all->routes);
  if (all->telemetry && serving->say_end) {
    tt_collector_stats stats;
    tt_collector_get_stats(tt_telemetry_collector(all->telemetry), &stats);
    serving->say_end(serving->context, &stats);
  }
  tt_telemetry_close(all->telemetry);
}

static tt_status open_pages(const tt_serving *serving, program *all, tt_error *error) {
  TT_TRY(tt_web_from_keys(serving->keys->web, &all->web, error));
  tt_pages_add(all->web);
  all->routes = tt_telemetry_routes_new(all->web, tt_telemetry_collector(all->telemetry),
                                        serving->keys->telemetry);
  return tt_web_start(all->web, error);
}

static tt_status open_all(const tt_serving *serving, program *all, tt_error *error) {
  tt_store_log *log = NULL;
  if (serving->open_log) TT_TRY(serving->open_log(serving->context, &log, error));
  const tt_telemetry_keys *keys = serving->keys->telemetry;
  TT_TRY(tt_telemetry_open(keys, log, &all->telemetry, error));
  if (keys->nats)
    TT_TRY(
        tt_nats_input_open(keys->nats, tt_telemetry_collector(all->telemetry), &all->nats, error));
  return serving->pages ? open_pages(serving, all, error) : TT_OK;
}

tt_status tt_serve(const tt_serving *serving, tt_error *error) {
  sigset_t ends;
  program all = {.telemetry = NULL};
  block_signals(&ends);
  tt_log_start();
  tt_status status = open_all(serving, &all, error);
  if (status == TT_OK) {
    serving->say_ready(serving->context, all.telemetry, all.web ? tt_web_address(all.web) : NULL);
    int number;
    sigwait(&ends, &number);
  }
  close_all(serving, &all);
  tt_log_stop();
  return status;
}

/* telemetry.c: telemetry of a running scene: its robots are devices, and real ones may send too. */
#include "app/attach/attach.h"
#include "app/state_folder.h"
#include "base/log.h"
#include "telemetry/nats/input.h"
#include "telemetry/service.h"
#include "telemetry/simulated.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct run_telemetry {
  tt_telemetry *service;
  tt_simulated *simulated;
  tt_nats_input *nats;
} run_telemetry; /* all NULL: the disk is full, nothing is kept */

static void close_telemetry(void *self) {
  run_telemetry *telemetry = self;
  tt_nats_input_close(telemetry->nats);
  tt_simulated_free(telemetry->simulated);
  tt_telemetry_close(telemetry->service);
  free(telemetry);
}

static bool is_remote(const tt_telemetry_keys *keys) {
  return keys->store && tt_store_url_can(keys->store, TT_STORE_REMOTE);
}

/** A database that goes away must not stop the collecting: its spool is in the state folder unless it was placed. Where the store is a
 *  file, what waits there is only told. */
static tt_status open_service(const tt_telemetry_keys *keys, tt_telemetry **service,
                              tt_error *error) {
  char folder[4096], path[4200];
  tt_telemetry_keys placed = *keys;
  if (!keys->spool && keys->store) {
    if (is_remote(keys))
      TT_TRY(tt_state_folder(NULL, "telemetry", folder, sizeof folder, error));
    else if (tt_state_path(NULL, "telemetry", folder, sizeof folder, error) != TT_OK)
      return tt_telemetry_open(keys, NULL, service, error);
    snprintf(path, sizeof path, "%s/run.spool", folder);
    placed.spool = path;
  }
  return tt_telemetry_open(&placed, NULL, service, error);
}

tt_status tt_attach_check_telemetry(const tt_scene *scene, tt_error *error) {
  char where[PATH_MAX + 16];
  bool given;
  const tt_telemetry_keys *keys = tt_scene_section(scene, "telemetry", &given);
  if (!given) return TT_OK;
  snprintf(where, sizeof where, "%s: telemetry", scene->path);
  tt_status status = tt_telemetry_check(keys, where, error);
  if (status != TT_OK) tt_scene_explain(scene, error);
  return status;
}

/** As with the recorder, a disk without room is no reason not to run. Devices that send are not listened to, since nothing could be
 *  acknowledged. */
static tt_status open_telemetry(const tt_attach_context *context, void **self, tt_error *error) {
  bool given;
  const tt_telemetry_keys *keys = tt_scene_section(context->scene, "telemetry", &given);
  if (!given) return TT_OK;
  TT_TRY(tt_attach_check_telemetry(context->scene, error));
  run_telemetry *telemetry = calloc(1, sizeof *telemetry);
  if (!telemetry) return tt_fail(error, TT_NOMEM, "out of memory");
  double interval = 0.1;
  tt_quantity_parse(keys->store_interval, TT_TIME, &interval);  // checked when it was read
  tt_status status = open_service(keys, &telemetry->service, error);
  if (status == TT_FULL && !is_remote(keys)) {
    tt_log_error("telemetry: %s; no telemetry of this run is kept", error->text);
    *self = telemetry;
    return TT_OK;
  }
  const tt_run_reference *run = context->run;
  tt_simulated_options options = {
      .store_interval = interval, .run = run->id[0] ? run->id : NULL, .log = run->file};
  if (status == TT_OK) {
    status = tt_simulated_new(context->world, tt_telemetry_collector(telemetry->service), &options,
                              &telemetry->simulated, error);
  }
  if (status == TT_OK && keys->nats)
    status = tt_nats_input_open(keys->nats, tt_telemetry_collector(telemetry->service),
                                &telemetry->nats, error);
  if (status != TT_OK) {
    close_telemetry(telemetry);
    return status;
  }
  *context->collector = tt_telemetry_collector(telemetry->service);
  *self = telemetry;
  return TT_OK;
}

static tt_status begin_telemetry(void *self, tt_error *error) {
  tt_simulated *simulated = ((run_telemetry *)self)->simulated;
  return simulated ? tt_simulated_begin(simulated, error) : TT_OK;
}

static const char *telemetry_address(void *self) {
  const tt_telemetry *service = ((run_telemetry *)self)->service;
  return service ? tt_telemetry_address(service) : NULL;
}

static size_t telemetry_trouble(void *self, char *text, size_t size) {
  tt_telemetry *service = ((run_telemetry *)self)->service;
  int wrote;
  if (!service) {
    wrote = snprintf(text, size, " | telemetry not kept");
    return MIN((size_t)wrote, size - 1);
  }
  tt_collector_stats stats;
  tt_collector_get_stats(tt_telemetry_collector(service), &stats);
  if (!stats.store_state.degraded) return 0;
  wrote = snprintf(text, size, " | store degraded: %s", stats.store_state.reason);
  return wrote < 0 ? 0 : MIN((size_t)wrote, size - 1);
}

const tt_attachment tt_telemetry_attachment = {.name = "robocar-xml",
                                               .open = open_telemetry,
                                               .begin = begin_telemetry,
                                               .address = telemetry_address,
                                               .trouble = telemetry_trouble,
                                               .close = close_telemetry};

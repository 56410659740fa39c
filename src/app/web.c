/* web.c: the pages of a running scene. Rooms that have pages register their routes here, before the server listens. */
#include "app/attach.h"
#include "web/section.h"
#include "web/telemetry_routes.h"

#include <stdlib.h>

typedef struct run_web {
  tt_web *server;
  tt_telemetry_routes *telemetry; /**< NULL where the scene has none */
} run_web;

static void close_web(void *self) {
  run_web *web = self;
  tt_telemetry_routes_stop(web->telemetry);
  tt_web_free(web->server);
  tt_telemetry_routes_free(web->telemetry);
  free(web);
}

static tt_status open_web(const tt_attach_context *context, void **self, tt_error *error) {
  if (context->options->no_web) return TT_OK;
  run_web *web = calloc(1, sizeof *web);
  if (!web) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status =
      tt_web_from_keys(tt_scene_section(context->scene, "web", NULL), &web->server, error);
  if (status == TT_OK && *context->collector) {
    web->telemetry = tt_telemetry_routes_new(web->server, *context->collector);
  }
  if (status == TT_OK) status = tt_web_start(web->server, error);
  if (status != TT_OK) {
    close_web(web);
    return status;
  }
  *self = web;
  return TT_OK;
}

static const char *web_address(void *self) { return tt_web_address(((run_web *)self)->server); }

const tt_attachment tt_web_attachment = {"web", open_web, web_address, close_web};

/* web.c: the pages of a running scene. Rooms that have pages register their routes here, before the server listens. */
#include "app/attach/attach.h"
#include "app/choice.h"
#include "app/floor_lines.h"
#include "app/attach/draft_data.h"
#include "app/attach/page_data.h"
#include "app/attach/sweep_data.h"
#include "record/run_folder.h"
#include "web/live.h"
#include "web/pages.h"
#include "web/section.h"
#include "web/telemetry_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_web {
  tt_web *server;
  tt_live *live;
  tt_telemetry_routes *telemetry; /**< NULL where the scene has none */
  tt_run_routes *runs;
  tt_draft_routes *drafts; /**< NULL where there is no room for them */
  tt_sweep_data sweeps;
  tt_floor_line *lines;
  tt_web_keys keys; /* the scene's, but for the address */
  char address[TT_SCENE_ADDRESS];
  char scene[128], refused[128];
  tt_error refusal; /**< why `refused` could not be opened */
  char runs_folder[1024];
  char recording[TT_RUN_ID]; /**< id of the run that is being kept; "": none */
} run_web;

static void close_web(void *self) {
  run_web *web = self;
  tt_telemetry_routes_stop(web->telemetry);
  tt_web_free(web->server);
  tt_telemetry_routes_free(web->telemetry);
  tt_run_routes_free(web->runs);
  tt_draft_routes_free(web->drafts);
  tt_sweep_data_clear(&web->sweeps);
  tt_live_close(web->live);
  free(web->lines);
  free(web);
}

/* A scene's name: its file without folder and ending. */
static void name_scene(char name[128], const char *path) {
  const char *slash = strrchr(path, '/');
  snprintf(name, 128, "%s", slash ? slash + 1 : path);
  char *dot = strrchr(name, '.');
  if (dot) *dot = 0;
}

/* What was to run in the place of this scene. */
static void name_refused(run_web *web, tt_scene_choice *choice) {
  char name[TT_SCENE_NAME];
  if (choice && tt_scene_choice_last_refused(choice, name, &web->refusal))
    name_scene(web->refused, name);
}

static tt_status open_live(run_web *web, const tt_attach_context *context, tt_error *error) {
  static const char *const paces[] = {"realtime", "lockstep", "fast"};
  const tt_scene *scene = context->scene;
  double timestep = tt_model_timestep(tt_world_model(context->world));
  web->lines = tt_floor_lines_of(scene);
  if (!web->lines) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = tt_runs_folder(scene, web->runs_folder, sizeof web->runs_folder, error);
  if (status != TT_OK && status != TT_FULL) return status; /* a folder that is not there is empty */
  name_scene(web->scene, scene->path);
  name_refused(web, context->choice);
  tt_kept_run_name(web->runs_folder, context->run->file, web->recording);
  tt_live_options options = {.world = context->world,
                             .scene = web->scene,
                             .description = scene->description,
                             .pace = paces[scene->pace],
                             .timestep = timestep,
                             .tick = timestep * (double)scene->io_steps,
                             .dynamics = scene->dynamics,
                             .kept = context->kept ? context->kept->name : NULL,
                             .kept_duration = context->kept ? context->kept->duration : 0,
                             .recording = web->recording,
                             .refused = web->refused,
                             .refusal = web->refusal.text,
                             .runs = web->runs_folder,
                             .floor = tt_floor_of(scene, web->lines)};
  TT_TRY(tt_live_open(web->server, &options, &web->live, error));
  return tt_world_add_observer(context->world, tt_live_observer(web->live));
}

/* Whatever the scene says, and also where the one before begins anew: open pages stay where they are. */
static const tt_web_keys *take_keys(run_web *web, const tt_attach_context *context) {
  web->keys = *(const tt_web_keys *)tt_scene_section(context->scene, "web", NULL);
  if (context->choice && tt_scene_choice_address(context->choice, web->address))
    web->keys.listen = web->address;
  return &web->keys;
}

static tt_status start(run_web *web, const tt_attach_context *context, tt_error *error) {
  const tt_web_keys *keys = take_keys(web, context);
  TT_TRY(tt_web_from_keys(keys, &web->server, error));
  tt_pages_add(web->server);
  TT_TRY(open_live(web, context, error));
  if (*context->collector)
    web->telemetry = tt_telemetry_routes_new(web->server, *context->collector,
                                             tt_scene_section(context->scene, "telemetry", NULL));
  else
    tt_telemetry_routes_explain(web->server);
  TT_TRY(tt_runs_add_routes(web->server, context, &web->runs, error));
  TT_TRY(tt_draft_data_add(web->server, context->choice, &web->drafts, error));
  TT_TRY(tt_sweep_data_add(web->server, keys, &web->sweeps, error));
  TT_TRY(tt_web_start(web->server, error));
  if (context->choice) tt_scene_choice_stay_at(context->choice, tt_web_address(web->server));
  return TT_OK;
}

static tt_status open_web(const tt_attach_context *context, void **self, tt_error *error) {
  if (context->options->no_web) return TT_OK;
  run_web *web = calloc(1, sizeof *web);
  if (!web) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = start(web, context, error);
  if (status != TT_OK) {
    close_web(web);
    return status;
  }
  *self = web;
  return TT_OK;
}

static const char *web_address(void *self) { return tt_web_address(((run_web *)self)->server); }

const tt_attachment tt_web_attachment = {
    .name = "web", .open = open_web, .address = web_address, .close = close_web, .shows = true};

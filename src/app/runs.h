/* runs.h: kept runs, scenes and trials for the pages of a running scene. */
#ifndef TT_APP_RUNS_H
#define TT_APP_RUNS_H

#include "app/attach.h"
#include "web/run_routes.h"

/** Adds the routes to `web` before it starts. */
tt_status tt_runs_open(tt_web *web, const tt_attach_context *context, tt_run_routes **routes,
                       tt_error *error);
/** The folder that the scene's runs are kept in. */
tt_status tt_runs_folder(const tt_scene *scene, char *path, size_t size, tt_error *error);

#endif

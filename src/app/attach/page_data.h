/* page_data.h: kept runs, scenes, trials and layouts for the pages of a running scene. */
#ifndef TT_APP_ATTACH_PAGE_DATA_H
#define TT_APP_ATTACH_PAGE_DATA_H

#include "app/attach/scene_data.h"
#include "web/run_routes.h"

/** Adds the routes to `web` before it starts. */
tt_status tt_runs_add_routes(tt_web *web, const tt_attach_context *context, tt_run_routes **routes,
                             tt_error *error);
/** The folder that the scene's runs are kept in. */
tt_status tt_runs_folder(const tt_scene *scene, char *path, size_t size, tt_error *error);

#endif

/* page_data.h: kept runs, scenes and trials for the pages of a running scene. */
#ifndef TT_APP_ATTACH_PAGE_DATA_H
#define TT_APP_ATTACH_PAGE_DATA_H

#include "app/attach/attach.h"
#include "web/run_routes.h"

/** What the list of scenes is made from. */
typedef struct tt_scene_list {
  const tt_scene *present;        /**< that runs */
  struct tt_scene_choice *choice; /**< NULL: none can be chosen */
} tt_scene_list;

/** Adds the routes to `web` before it starts. `list` is filled, and must live as long as they. */
tt_status tt_runs_add_routes(tt_web *web, const tt_attach_context *context, tt_scene_list *list,
                             tt_run_routes **routes, tt_error *error);
/** The folder that the scene's runs are kept in. */
tt_status tt_runs_folder(const tt_scene *scene, char *path, size_t size, tt_error *error);

#endif

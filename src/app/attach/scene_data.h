/* scene_data.h: the scenes that pages can choose from, their pictures, and the keys that may stand in one. */
#ifndef TT_APP_ATTACH_SCENE_DATA_H
#define TT_APP_ATTACH_SCENE_DATA_H

#include "app/attach/attach.h"
#include "web/scene_routes.h"

#include <limits.h>

/** What the list of scenes is made from. */
typedef struct tt_scene_list {
  char present[PATH_MAX];         /**< the file that runs; "": it is gone */
  struct tt_scene_choice *choice; /**< outlives the program's requests; NULL: none can be chosen */
  tt_scene_routes_options routes; /**< of tt_scene_data_add() */
} tt_scene_list;

/** GET /api/scenes; free() it. `context` is a tt_scene_list. NULL when out of memory. Any thread. */
char *tt_scene_list_json(void *context);

/** Adds the routes for pictures and keys to `web` before it starts; `list` outlives it. */
void tt_scene_data_add(tt_web *web, tt_scene_list *list);

#endif

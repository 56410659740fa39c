/* draft_data.h: scenes that are being made, for the pages of a running scene. */
#ifndef TT_APP_ATTACH_DRAFT_DATA_H
#define TT_APP_ATTACH_DRAFT_DATA_H

#include "web/draft_routes.h"

struct tt_scene_choice;

/** Adds the routes to `web` before it starts; `choice` (NULL: none can be run) outlives them. tt_draft_routes_free() them after
 *  tt_web_free(); NULL where the disk has no room for drafts: then there are none. */
tt_status tt_draft_data_add(tt_web *web, struct tt_scene_choice *choice, tt_draft_routes **routes,
                            tt_error *error);

#endif

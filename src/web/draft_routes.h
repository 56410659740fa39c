/* draft_routes.h: scenes that are being made, over HTTP, as docs/web.md describes them. */
#ifndef TT_WEB_DRAFT_ROUTES_H
#define TT_WEB_DRAFT_ROUTES_H

#include "draft/drafts.h"
#include "web/server.h"

typedef struct tt_draft_routes_options {
  const char *scenes; /**< folder in which scenes of one's own are saved; it may not exist */
  /** The file of a scene that is listed, by its name; free() it. TT_NOT_FOUND. In a thread of its own. */
  tt_status (*find)(void *context, const char *name, char **path, tt_error *error);
  /** Goes on with the scene in that file. `*denied` beside the status: only who administers may. In a thread of its own. NULL: it
   *  can't be. */
  tt_status (*run)(void *context, const char *path, bool administers, bool *denied,
                   tt_error *error);
  void *context; /**< outlives the server by the length of one call */
} tt_draft_routes_options;

typedef struct tt_draft_routes tt_draft_routes;

/** Adds the routes to `web` before it starts. `drafts` is theirs from here on. */
tt_draft_routes *tt_draft_routes_new(tt_web *web, tt_drafts *drafts,
                                     const tt_draft_routes_options *options);
/** After tt_web_free(). Answers under way keep what they need. */
void tt_draft_routes_free(tt_draft_routes *routes);

#endif

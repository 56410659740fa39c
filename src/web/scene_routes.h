/* scene_routes.h: scenes that are there over HTTP, as docs/web.md describes them: pictures, the keys that may stand in one, and its end. */
#ifndef TT_WEB_SCENE_ROUTES_H
#define TT_WEB_SCENE_ROUTES_H

#include "web/server.h"

typedef struct tt_scene_routes_options {
  /** The picture of a scene, SVG; free()d. TT_NOT_FOUND, or why there is none, as far as its asker may read the scene. In a thread of its
   *  own. */
  tt_status (*picture)(void *context, const char *name, bool administers, char **picture,
                       tt_error *error);
  /** Deletes a scene that was saved from a draft. TT_NOT_FOUND; TT_INVALID: it runs, or, with `*denied`, only who administers may. In a
   *  thread of its own. */
  tt_status (*remove)(void *context, const char *name, bool administers, bool *denied,
                      tt_error *error);
  void *context; /**< outlives the server by the length of one call */
  /** GET /api/schema, kept; NULL: out of memory. In a thread of its own. */
  const char *(*keys)(void);
} tt_scene_routes_options;

/** Adds /api/scenes/ and /api/schema to `web` before it starts. `options` outlives it. */
void tt_scene_routes_add(tt_web *web, const tt_scene_routes_options *options);

#endif

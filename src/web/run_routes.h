/* run_routes.h: kept runs, scenes and trials over HTTP, as docs/web.md describes them. */
#ifndef TT_WEB_RUN_ROUTES_H
#define TT_WEB_RUN_ROUTES_H

#include "web/server.h"

typedef struct tt_run_routes_options {
  const char *runs; /**< folder of kept runs; only these are ever opened. NULL: none are kept */
  const char
      *trials; /**< SQLite file of trials, made when the first is stored. NULL: none are kept */
  /** The list of GET /api/scenes as JSON; free()d. In a thread of its own. */
  char *(*scenes)(void *context);
  void *scenes_context; /**< must outlive the server by the length of one call */
  /** POST /api/scenes: goes on with another scene. In a thread of its own. NULL: it can't be chosen. */
  tt_status (*choose)(void *context, const char *name, tt_error *error);
  void *choose_context; /**< must outlive the program's requests */
} tt_run_routes_options;

typedef struct tt_run_routes tt_run_routes;

/** Adds the routes, before tt_web_start(). Strings are copied. */
tt_run_routes *tt_run_routes_new(tt_web *web, const tt_run_routes_options *options);
/** After tt_web_free(). NULL-safe. */
void tt_run_routes_free(tt_run_routes *routes);

#endif

/* run_routes.h: kept runs, scenes, trials and layouts of plots over HTTP, as docs/web.md describes them. */
#ifndef TT_WEB_RUN_ROUTES_H
#define TT_WEB_RUN_ROUTES_H

#include "web/fork_routes.h"
#include "web/run_library.h"

typedef struct tt_run_routes_options {
  const char *runs; /**< folder of kept runs; only these are ever opened. NULL: none are kept */
  const tt_run_verifier *verifier; /**< NULL: runs are not verified */
  const tt_run_forker *forker; /**< must outlive the program's requests; NULL: runs do not go on */
  const char *recording;       /**< file of the run that is being kept; NULL: none */
  /** SQLite file of trials, made when the first is stored. NULL: none are kept */
  const char *trials;
  const char *layouts; /**< SQLite file of layouts of plots, likewise */
  /** The list of GET /api/scenes as JSON; free()d. In a thread of its own. */
  char *(*scenes)(void *context);
  void *scenes_context;
  /** Frees what `scenes` and the verifier need, once no answer under way does: which may be after tt_run_routes_free(), in any
   *  thread. May be NULL. */
  void (*release)(void *owned);
  void *owned;
  /** POST /api/scenes: goes on with another scene. `*denied` beside the status: only who administers may. In a thread of its own.
   *  NULL: it can't be chosen. */
  tt_status (*choose)(void *context, const char *name, bool administers, bool *denied,
                      tt_error *error);
  void *choose_context; /**< must outlive the program's requests */
} tt_run_routes_options;

typedef struct tt_run_routes tt_run_routes;

/** Adds the routes, before tt_web_start(). Strings are copied. */
tt_run_routes *tt_run_routes_new(tt_web *web, const tt_run_routes_options *options);
/** After tt_web_free(). NULL-safe. */
void tt_run_routes_free(tt_run_routes *routes);

#endif

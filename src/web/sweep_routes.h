/* sweep_routes.h: tables of sweeps over HTTP, and their runs in 3D, as docs/web.md describes them. */
#ifndef TT_WEB_SWEEP_ROUTES_H
#define TT_WEB_SWEEP_ROUTES_H

#include "web/server.h"

#include <json-c/json.h>

#define TT_SWEEP_MOST_SHOWN 2 /**< runs shown at a time: one, and one that races it */

/** Who shows runs in 3D. Any thread. */
typedef struct tt_sweep_shower {
  /** Begins to show `runs` [count] (ids of rows) of a table, or goes on with it; `key` names it. TT_FULL: too many are being made. */
  tt_status (*show)(void *context, const char *table, const char *const *runs, int count,
                    char key[17], tt_error *error);
  /** What became of it, as docs/web.md has it; NULL: there is none of that name. */
  struct json_object *(*tell)(void *context, const char *key);
  void *context;
  /** Frees the context, once no answer under way needs it: which may be after tt_sweep_routes_free(), in any thread. May be NULL. */
  void (*release)(void *context);
} tt_sweep_shower;

typedef struct tt_sweep_routes_options {
  const char *folder;            /**< in which sweeps are noted (sweep/list.h) */
  const tt_sweep_shower *shower; /**< NULL: runs can't be shown */
} tt_sweep_routes_options;

typedef struct tt_sweep_routes tt_sweep_routes;

/** Adds the routes, before tt_web_start(). What `options` points to is copied. */
tt_sweep_routes *tt_sweep_routes_new(tt_web *web, const tt_sweep_routes_options *options);
/** After tt_web_free(). NULL-safe. */
void tt_sweep_routes_free(tt_sweep_routes *routes);

#endif

/* run_worlds.h: `tether run` where every client of the lockstep-tcp wire has a world of its own. */
#ifndef TT_APP_RUN_WORLDS_H
#define TT_APP_RUN_WORLDS_H

#include "scene/scene.h"

#include <stdbool.h>

/** Does a wire of the scene say `worlds: per-connection`? */
bool tt_runs_worlds(const tt_scene *scene);

/** Listens, and runs a world for every client, each in a thread of its own: blocks until `stop_asked`, which must be cheap and
 *  is asked often. TT_INVALID: the scene has other wires, too, or an address is wrong. TT_FAILED: it can't be listened on. */
tt_status tt_run_worlds(const tt_scene *scene, bool (*stop_asked)(void), tt_error *error);

#endif

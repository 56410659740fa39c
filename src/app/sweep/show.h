/* show.h: runs of a sweep in 3D: their logs are made again where they were not kept, and shown by `tether replay`, each show in a
 * process of its own on a port of its own.
 *
 * One thread does it, one show after the other. A few are kept; the oldest makes room. All end with the program, `kill -9` included.
 */
#ifndef TT_APP_SWEEP_SHOW_H
#define TT_APP_SWEEP_SHOW_H

#include "base/status.h"
#include "web/sweep_routes.h"

typedef struct tt_sweep_shows tt_sweep_shows;

/** Logs stand in `folder`; pages are served at `host`, "127.0.0.1". Starts the thread. TT_FAILED. */
tt_status tt_sweep_shows_new(const char *folder, const char *host, tt_sweep_shows **shows,
                             tt_error *error);
/** Ends the thread and all processes. NULL-safe. */
void tt_sweep_shows_free(tt_sweep_shows *shows);
/** What tt_sweep_routes_new() takes; the shows'. */
const tt_sweep_shower *tt_sweep_shows_shower(tt_sweep_shows *shows);

#endif

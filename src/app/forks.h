/* forks.h: kept runs that pages have go on from a moment: the run's inputs are run again up to there by a process of its own, while the
 * world goes on; then the program goes on with the fork, as with a scene that was chosen.
 */
#ifndef TT_APP_FORKS_H
#define TT_APP_FORKS_H

#include "base/status.h"
#include "web/fork_routes.h"

typedef struct tt_forks tt_forks;
struct tt_scene_choice;

/** Lives as long as the program; `choice` outlives it. TT_NOMEM. */
tt_status tt_forks_new(struct tt_scene_choice *choice, tt_forks **forks, tt_error *error);
/** Ends what is under way, and begins nothing any more. The memory stays: an answer under way may still ask. NULL-safe. */
void tt_forks_close(tt_forks *forks);
/** For tt_run_routes_new(); the forks'. */
const tt_run_forker *tt_forks_for_web(const tt_forks *forks);

#endif

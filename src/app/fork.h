/* fork.h: a run that goes on from a moment of a kept one: its scene, taken out of the log, and the state it had then, which its inputs
 * give when they are run again.
 */
#ifndef TT_APP_FORK_H
#define TT_APP_FORK_H

#include "host/world.h"
#include "record/run_log.h"
#include "scene/scene.h"

typedef struct tt_fork tt_fork;

/** Takes the scene of the log at `path` into a temporary folder. What its command line set holds, but for its duration and where it was
 *  kept; then `settings`, PATH=VALUE, which are copied. TT_INVALID: the log does not keep its scene. */
tt_status tt_fork_new(const char *path, double time, const char *const *settings, int count,
                      tt_fork **fork, tt_error *error);
/** Removes the folder. NULL-safe. */
void tt_fork_free(tt_fork *fork);

/** "RUN.wpilog", without its folder. */
const char *tt_fork_run(const tt_fork *fork);
/** The run's id, of its /tether/run; "" where it has none. */
const char *tt_fork_run_id(const tt_fork *fork);
/** The run's time in s at which it goes on: what was asked for, and once its state was computed, the end of the last tick until
 *  then. Another process that computes the state tells it by tt_fork_set_time(). */
double tt_fork_time(const tt_fork *fork);
void tt_fork_set_time(tt_fork *fork, double time);
/** The log. */
const char *tt_fork_log(const tt_fork *fork);
/** The scene's file in the folder; and where tt_fork_compute() is to leave the state. */
const char *tt_fork_scene(const tt_fork *fork);
const char *tt_fork_state(const tt_fork *fork);
/** All settings in their order; the fork's. */
const char *const *tt_fork_settings(const tt_fork *fork, int *count);

/** Its scene had a token, which the log does not keep. */
bool tt_fork_lacks_token(const tt_fork *fork);
/** Those behind the old run's own. */
const char *const *tt_fork_added(const tt_fork *fork, int *count);

/** Loads its scene, with `more` settings behind its own. */
tt_status tt_fork_load(const tt_fork *fork, const char *const *more, int count, tt_scene **scene,
                       tt_error *error);

/** Runs the log's inputs again up to the fork's time, comparing every state, and leaves the state at `path`, for a world of the scene
 *  with its settings. Takes as long as the run, some ten times to a hundred times faster; `show` (may be NULL) is told 0…1.
 *  TT_DIFFERS, TT_VERSION: it can't be run again here; TT_INVALID: with these settings the state fits no more. */
tt_status tt_fork_compute(tt_fork *fork, const char *path, void (*show)(void *context, double done),
                          void *context, tt_error *error);

#endif

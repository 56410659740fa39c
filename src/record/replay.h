/* replay.h: runs a kept run's inputs again through a world, and compares every state hash on the way.
 *
 * The world that is fed has the recorded scene's robots and parts, and no wires: what its controllers and
 * watchdogs did stands in the journal. Where the log's `io_steps` is 0, its ticks are as long as they were recorded.
 */
#ifndef TT_RECORD_REPLAY_H
#define TT_RECORD_REPLAY_H

#include "base/status.h"
#include "model/observer.h"
#include "sim/player.h"
#include "record/run_log.h"
#include "record/sample_check.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_replay tt_replay;

/** TT_INVALID when the log keeps no journal to run again; TT_NOMEM. `log` must outlive the replay. */
tt_status tt_replay_open(const tt_run_log *log, tt_replay **replay, tt_error *error);
void tt_replay_close(tt_replay *replay);

/** The journal's inputs, for tt_world_set_feed(), and who compares what people look at, for tt_world_add_observer(); the
 *  replay becomes one of the journal sinks of `sim`, whose spec must have hash_a_tick. Before the first tick, and once `sim` has the
 *  state that the run began with: resets that are asked for there are the journal's to make. */
tt_status tt_replay_attach(tt_replay *replay, tt_sim *sim, tt_feed **feed, tt_observer **observer,
                           tt_error *error);

/** The last time until `time`, µs of the log, at which a tick of the run ended. False: its ticks are as long as the scene says. Before the
 *  first tick. */
bool tt_replay_find_tick(tt_replay *replay, uint64_t time, uint64_t *found);

/** Does what was done at this step, and tells whether a tick of the run follows: one that ended with a reset has none behind it. */
bool tt_replay_goes_on(tt_replay *replay);
/** Every recorded hash was compared, or a difference was found. */
bool tt_replay_done(const tt_replay *replay);

/** What came out. */
typedef struct tt_replay_result {
  bool identical;        /**< the states; whether people saw them as they were, `samples` says */
  uint64_t hashes;       /**< compared and equal */
  uint64_t total_hashes; /**< in the log */
  uint64_t steps;        /**< up to the last equal hash, counting through resets */
  uint64_t first_step;   /**< step after which the states differ first */
  const char *reason;    /**< what differs, for people; "" when identical */
  /** signals and poses; they count only where the states are identical */
  tt_sample_result samples;
} tt_replay_result;
tt_replay_result tt_replay_get_result(const tt_replay *replay);

/** After a difference of states: which recorded signals are not those of `view`, the world's. */
tt_sample_difference tt_replay_find_difference(const tt_replay *replay, const tt_view *view);

#endif

/* proof.h: what `tether verify` finds out about a kept run, said in lines for people. */
#ifndef TT_APP_PROOF_H
#define TT_APP_PROOF_H

#include "host/world.h"
#include "record/replay.h"

#include <stdio.h>

/** Is the file the one that was written? Says to `out` (NULL: nobody) how much of it was hashed. TT_INVALID: some of it was changed, of
 *  what stands before `until` s of the run; or there is nothing of a run. */
tt_status tt_proof_check_bytes(const char *path, const tt_run_log *log, double until, FILE *out,
                               tt_error *error);
/** Says what a replay that has ended came to. TT_DIFFERS: `world` did not do what the log says; TT_VERSION: nor could it have
 *  been expected to, and why.
 *  @param took s */
tt_status tt_proof_say(const tt_run_log *log, const tt_replay *replay, const tt_world *world,
                       double took, FILE *out, tt_error *error);

#endif

/* slurm.h: a sweep on a cluster: an array of Slurm's whose tasks are shards (sweep/shard.h), waited for until every row is there.
 *
 * Slurm is spoken to through its commands. What a node left that went down is run again by Slurm itself (--requeue); what is missing when
 * the array is over is submitted again. The array's name follows from the plan and the folder, so that whoever comes back to a sweep
 * waits for the array that still runs, and submits no second one.
 */
#ifndef TT_APP_SWEEP_SLURM_H
#define TT_APP_SWEEP_SLURM_H

#include "app/sweep/slurm_submit.h"
#include "sweep/shard.h"

/** Makes the rows that `results` lacks. `turn` is called about every 100 ms, to draw and to look at signals; where it says false the array is
 *  cancelled. TT_OK: all rows are there, or the array is submitted and not waited for; TT_INTERRUPTED: `turn` said false; TT_FAILED: Slurm refuses, or
 *  rows can't be had, with the reason. */
tt_status tt_sweep_slurm(const tt_sweep_plan *plan, const tt_sweep_slurm_options *options,
                         tt_sweep_collector *collector, tt_sweep_results *results,
                         bool (*turn)(void *context), void *context, tt_error *error);

#endif

/* slurm_submit.h: the array of a sweep: how many tasks, what each does, and how it is submitted and cancelled. */
#ifndef TT_APP_SWEEP_SLURM_SUBMIT_H
#define TT_APP_SWEEP_SLURM_SUBMIT_H

#include "app/sweep/call.h"
#include "sweep/plan.h"

#include <limits.h>

typedef struct tt_sweep_slurm_options {
  const char *folder; /**< absolute; every node sees it: rows land here, and what tasks say */
  const char *const *settings; /**< PATH=VALUE of the command line, for the plan; NULL-terminated */
  const char *partition, *time; /**< as sbatch takes them; NULL: the cluster's own */
  int array_limit;              /**< tasks at a time; 0: as many as there is room for */
  int chunk;                    /**< runs of a task; 0: so many that a thousand tasks are enough */
  int jobs;                     /**< cores of a task, and runs that it makes at a time; > 0 */
  bool detach;                  /**< submit, and don't wait */
} tt_sweep_slurm_options;

typedef struct tt_slurm_array {
  const tt_sweep_plan *plan;
  const tt_sweep_slurm_options *options;
  char name[40];         /**< of the job: the same for the same plan and folder */
  char folder[PATH_MAX]; /**< the options' */
  uint32_t count;        /**< tasks, numbered from 1: shards of the plan */
} tt_slurm_array;

/** Runs a command of Slurm's (call.h). TT_FAILED, with a remedy, where it isn't installed. */
tt_status tt_slurm_call(const char *const *words, tt_call *call, tt_error *error);

/** Decides on the number of tasks, and writes what each does into the folder, "task.sh". TT_FAILED: Slurm is not installed or does not
 *  answer, or allows fewer tasks than a chunk makes. Blocks for as long as Slurm takes. */
tt_status tt_slurm_prepare(const tt_sweep_plan *plan, const tt_sweep_slurm_options *options,
                           tt_slurm_array *array, tt_error *error);
/** Submits the tasks that are wanted. TT_FAILED: with Slurm's words and a remedy. Blocks. */
tt_status tt_slurm_submit(const tt_slurm_array *array,
                          bool (*wanted)(const void *context, uint32_t number), const void *context,
                          tt_error *error);
/** Cancels every task that waits or runs; says how to do it where it fails. Blocks. */
void tt_slurm_cancel(const tt_slurm_array *array);

/** The last error that a task told, or else the last line that it said; "" where it said nothing. */
void tt_slurm_last_words(const tt_slurm_array *array, uint32_t number, char *text, size_t size);

#endif

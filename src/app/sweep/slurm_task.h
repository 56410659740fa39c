/* slurm_task.h: what Slurm says of the tasks of an array, and which of them are asked for. */
#ifndef TT_APP_SWEEP_SLURM_TASK_H
#define TT_APP_SWEEP_SLURM_TASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** For `squeue --array --noheader`: columns of these widths, which tt_slurm_task_read() takes apart. */
#define TT_SLURM_TASK_FORMAT                                                                       \
  "--Format=ArrayJobID:16,ArrayTaskID:16,State:16,RestartCnt:16,BatchHost:64,Reason:64"

typedef struct tt_slurm_task {
  uint32_t array;  /**< the job's number */
  uint32_t number; /**< in its array */
  char state[17];  /**< "RUNNING" */
  uint32_t restarts;
  char node[65];   /**< "n/a" before it runs */
  char reason[65]; /**< why it waits, or failed; "None" */
} tt_slurm_task;

/** Takes a line of squeue apart. False: it is none. */
bool tt_slurm_task_read(const char *line, tt_slurm_task *task);
/** Whether it runs no more and will not run again. Of one that is about to end ("COMPLETING") Slurm has not said how. */
bool tt_slurm_task_is_over(const tt_slurm_task *task);

/** Writes numbers as `--array` takes them, "1-3,7", of those below `count` + 1 that `wanted` names, from 1 on. False: `text` has no room. */
bool tt_slurm_array_text(bool (*wanted)(const void *context, uint32_t number), const void *context,
                         uint32_t count, char *text, size_t size);

/** The value of a line "MaxArraySize            = 1001" of `scontrol show config`. False: it is another. */
bool tt_slurm_setting_read(const char *line, const char *name, uint32_t *value);

#endif

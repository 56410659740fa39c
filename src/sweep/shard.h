/* shard.h: a sweep in shards, for launchers of any kind: which runs are whose, and how their rows become one table.
 *
 * A shard opens its results with `shards` (results.h). Its rows land in a folder that all share, as files that get their name
 * when they are whole: after the first second, and then whenever a tenth of the time since it began has gone by, so that a node
 * that dies takes a tenth of its work along at most, and a shard makes tens of files, not thousands. Each has a checksum and
 * says of which plan it is. A shard that is started again makes only what no file of the folder has.
 */
#ifndef TT_SWEEP_SHARD_H
#define TT_SWEEP_SHARD_H

#include "sweep/results.h"

/** The end of each file's name. */
#define TT_SWEEP_ROWS ".rows"

typedef struct tt_sweep_shard {
  unsigned number, count; /**< number from 1 to count */
} tt_sweep_shard;

/** Reads "K/N". TT_USAGE. */
tt_status tt_sweep_shard_read(const char *text, tt_sweep_shard *shard, tt_error *error);
/** Its runs: `first` up to, not with, `end`. Runs that share a compiled model stand together in a plan, and so in a shard. */
void tt_sweep_shard_range(const tt_sweep_shard *shard, uint64_t runs, uint64_t *first,
                          uint64_t *end);

/** Reads the files of a folder as they come. One thread. */
typedef struct tt_sweep_collector tt_sweep_collector;

/** The plan outlives it. TT_INVALID: there is no such folder. */
tt_status tt_sweep_collector_open(const tt_sweep_plan *plan, const char *folder,
                                  tt_sweep_collector **collector, tt_error *error);
/** NULL-safe. */
void tt_sweep_collector_close(tt_sweep_collector *collector);
/** From now on tells of each row that the table did not have; `row` is valid within the call. */
void tt_sweep_collector_watch(tt_sweep_collector *collector,
                              void (*on_row)(void *context, const tt_sweep_row *row),
                              void *context);
/** Adds the rows of all files that have come since the last call, and commits. Files that are torn, or of another plan or
 *  version, are left out and warned of in the log, once. TT_FAILED: the folder can't be read, or the table not be written. */
tt_status tt_sweep_collect(tt_sweep_collector *collector, tt_sweep_results *results,
                           tt_error *error);

/** Of all calls so far. */
typedef struct tt_sweep_collected {
  uint64_t files;  /**< read */
  uint64_t torn;   /**< files that are not whole, or no files of ours */
  uint64_t others; /**< files of another plan or version */
  uint64_t rows;   /**< that the table did not have */
  uint64_t twice;  /**< that it had */
} tt_sweep_collected;
tt_sweep_collected tt_sweep_collector_said(const tt_sweep_collector *collector);

#endif

/* sample_check.h: are a kept run's signals and poses, which people look at, those that its inputs give? */
#ifndef TT_RECORD_SAMPLE_CHECK_H
#define TT_RECORD_SAMPLE_CHECK_H

#include "model/signal.h"
#include "base/status.h"
#include "record/run_log.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tt_sample_check tt_sample_check;

/** What came out so far. */
typedef struct tt_sample_result {
  uint64_t samples;       /**< compared */
  uint64_t values, poses; /**< compared in them */
  int signals, kept;      /**< signals compared, of so many that the log keeps */
  uint64_t missed;        /**< samples of the log that the rerun did not come by */
  uint64_t behind;        /**< samples behind the end of the journal, which nothing can prove */
  uint64_t differing;     /**< values and poses that are not the recorded ones */
  const char *name;       /**< of the first of them; NULL: none. A pose: "/poses/BODY" */
  double at;              /**< s of the run, of the first */
  double recorded, repeated;
} tt_sample_result;

/** @param proved µs: time of the journal's last state hash
 *  @param names of the world that runs again; it and `log` must outlive the check */
tt_status tt_sample_check_open(const tt_run_log *log, const tt_names *names, const tt_model *model,
                               uint64_t proved, tt_sample_check **check, tt_error *error);
void tt_sample_check_close(tt_sample_check *check);
/** A view that the rerun published, each in its turn; compared if the log has a sample of it. */
void tt_sample_check_view(tt_sample_check *check, const tt_view *view);
tt_sample_result tt_sample_check_get(const tt_sample_check *check);

/** One view against the log's sample of it; commands, which are inputs, left out. */
typedef struct tt_sample_difference {
  bool sampled;     /**< the log has a sample of that view: only then the rest says something */
  int count;        /**< signals that differ; 0: the difference hides in what is not a signal */
  const char *name; /**< of the one that differs most for its size; NULL when none does */
  double recorded, repeated;
} tt_sample_difference;
tt_sample_difference tt_sample_check_difference(tt_sample_check *check, const tt_view *view);

#endif

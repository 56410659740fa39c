/* trace.h: signals of a kept run over a stretch of its time: every sample, or of many the least and the greatest of each
 * part. */
#ifndef TT_RECORD_TRACE_H
#define TT_RECORD_TRACE_H

#include "base/bytes.h"
#include "base/status.h"
#include "record/overview.h"
#include "record/run_log.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What is asked for. */
typedef struct tt_trace_wish {
  const char *const *names; /**< of signals, as in the live stream: "x", "command:x" */
  int count;
  double from, to; /**< s of the run, both included; `to` may lie behind its end */
  unsigned points; /**< ≥ 2: of more samples the least and the greatest of each part */
} tt_trace_wish;

/** Rows in order of time. Zero at first; tt_traces_clear() it. */
typedef struct tt_traces {
  size_t rows;
  int count;
  bool thin;      /**< there were more samples than rows: see tt_traces_read() */
  double *times;  /**< [rows] s of the run */
  double *values; /**< [rows × count] a row behind the other, SI; NAN: there was none yet */
} tt_traces;

/** Every sample of the stretch, and a row at each end of it, since values hold from one sample to the next; or of more than
 *  `points` samples two rows a part, where it begins and where it ends, with its least and greatest value in the order in which
 *  they came. Of a long stretch the parts are those of `overview`, which may be NULL: then all of it is read. TT_NOT_FOUND names a
 *  signal that the log does not hold; TT_NOMEM. Many may read one log at a time. */
tt_status tt_traces_read(const tt_run_log *log, const tt_overview *overview,
                         const tt_trace_wish *wish, tt_traces *traces, tt_error *error);
void tt_traces_clear(tt_traces *traces);

/** Appends them as GET /api/runs/ID/signals?format=binary answers. */
void tt_traces_put(const tt_traces *traces, tt_bytes *out);

/** The entry of the signal called `name`, or 0. */
uint32_t tt_run_log_find_signal(const tt_run_log *log, const char *name);

#endif

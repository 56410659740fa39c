#include "app/sweep/local.h"

#include "app/drive.h"
#include "app/sweep/kept.h"
#include "app/sweep/pool.h"
#include "base/clock.h"

#include <sched.h>

#define COMMIT_NS 200000000u

typedef struct job {
  const tt_sweep_local *local;
  tt_sweep_kept *kept;
  uint64_t number;      /* the next */
  uint64_t uncommitted; /* ns: when the first row came that is not durable; 0: none */
  tt_status status;     /* of committing */
  tt_error *error;
} job;

static bool next(void *context, uint64_t *number) {
  job *of = context;
  while (of->number < of->local->end && tt_sweep_results_has(of->local->results, of->number))
    of->number++;
  if (of->number == of->local->end) return false;
  *number = of->number++;
  return true;
}

static bool wants_log(void *context, const tt_sweep_row *row) {
  const job *of = context;
  return of->kept && tt_sweep_kept_wants(of->kept, row);
}

static tt_status done(void *context, const tt_sweep_row *row, const char *log, tt_error *error) {
  job *of = context;
  TT_TRY(tt_sweep_kept_take(of->kept, row, log, error));
  TT_TRY(tt_sweep_results_add(of->local->results, row, error));
  if (!of->uncommitted) of->uncommitted = tt_monotonic_ns();
  tt_sweep_report_row(of->local->report, row);
  return TT_OK;
}

static bool turn(void *context) {
  job *of = context;
  tt_sweep_report_show(of->local->report);
  if (of->uncommitted && tt_monotonic_ns() - of->uncommitted >= COMMIT_NS) {
    of->uncommitted = 0;
    of->status = tt_sweep_results_commit(of->local->results, of->error);
  }
  return of->status == TT_OK && !tt_stop_asked();
}

/* The first error is told. */
static tt_status make_all(job *of) {
  const tt_sweep_local *local = of->local;
  const tt_sweep_work work = {
      .next = next, .wants_log = wants_log, .done = done, .turn = turn, .context = of};
  /* A program may be another the next time; all others give the same run again. */
  const bool at_once = local->plan->keep.all || local->plan->controller.kind == TT_SWEEP_PROGRAM;
  const tt_sweep_pool_options options = {
      .jobs = local->jobs, .log_folder = tt_sweep_kept_folder(of->kept), .records_all = at_once};
  tt_error late;
  tt_status status = tt_sweep_pool_run(local->plan, &options, &work, of->error);
  if (status == TT_OK) status = of->status;
  tt_status finished = tt_sweep_results_finish(local->results, status == TT_OK ? of->error : &late);
  return status == TT_OK ? finished : status;
}

tt_status tt_sweep_run_local(const tt_sweep_local *local, tt_error *error) {
  job of = {.local = local, .number = local->first, .error = error};
  const bool whole = local->first == 0 && local->end == tt_sweep_plan_runs(local->plan);
  TT_TRY(tt_sweep_kept_open(local->plan, whole ? local->results : NULL, local->first, &of.kept,
                            error));
  tt_status status = make_all(&of);
  tt_sweep_kept_close(of.kept);
  if (status != TT_OK || !tt_stop_asked()) return status;
  return tt_fail(error, TT_INTERRUPTED, "interrupted; the same command goes on");
}

int tt_sweep_cores(void) {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

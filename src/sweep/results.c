/* results.c: what every kind of output has in common. */
#include "sweep/results_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const tt_results_backend *backend_of(const tt_sweep_results_options *options) {
  if (options->shards) return &tt_results_folder;
  bool server = !strncmp(options->output, "postgresql://", 13) ||
                !strncmp(options->output, "postgres://", 11);
  return server ? &tt_results_postgres : &tt_results_sqlite;
}

static tt_status check_seeds(const tt_sweep_plan *plan, tt_error *error) {
  if (plan->seed <= (uint64_t)INT64_MAX - (uint64_t)plan->repeat) return TT_OK;
  return tt_fail(error, TT_INVALID,
                 "%s: seed: %" PRIu64 " is too great for a table, whose integers end at %" PRId64,
                 plan->path, plan->seed, INT64_MAX);
}

static tt_status open_output(tt_sweep_results *results, tt_error *error) {
  TT_TRY(check_seeds(results->plan, error));
  TT_TRY(tt_results_columns_of(results->plan, &results->columns, error));
  results->there = calloc(results->runs / 8 + 1, 1);
  if (!results->there) return tt_fail(error, TT_NOMEM, "out of memory");
  return results->backend->open(results, error);
}

tt_status tt_sweep_results_open(const tt_sweep_plan *plan, const tt_sweep_results_options *options,
                                tt_sweep_results **out, tt_error *error) {
  tt_sweep_results *results = calloc(1, sizeof *results);
  if (!results) return tt_fail(error, TT_NOMEM, "out of memory");
  results->plan = plan;
  results->options = *options;
  if (!options->output) results->options.output = plan->output;
  results->name = results->options.output;
  results->runs = tt_sweep_plan_runs(plan);
  results->backend = backend_of(&results->options);
  tt_status status = open_output(results, error);
  results->durable = results->count;
  if (status == TT_OK)
    *out = results;
  else
    tt_sweep_results_close(results);
  return status;
}

void tt_sweep_results_close(tt_sweep_results *results) {
  if (!results) return;
  if (results->self) results->backend->close(results->self);
  free(results->there);
  free(results);
}

const char *tt_sweep_results_name(const tt_sweep_results *results) { return results->name; }

/* --- rows --- */

/** Keeps the first error: what was added before it may not be there, so nothing may be added behind it. */
static tt_status keep(tt_sweep_results *results, tt_status status, const tt_error *trouble,
                      tt_error *error) {
  if (status == TT_OK) return TT_OK;
  results->status = status;
  results->error = *trouble;
  return tt_fail(error, status, "%s", trouble->text);
}

static tt_status check(const tt_sweep_results *results, tt_error *error) {
  return results->status == TT_OK ? TT_OK
                                  : tt_fail(error, results->status, "%s", results->error.text);
}

tt_status tt_sweep_results_add(tt_sweep_results *results, const tt_sweep_row *row,
                               tt_error *error) {
  tt_error trouble;
  TT_TRY(check(results, error));
  if (tt_sweep_results_has(results, row->run.number)) return TT_OK;
  TT_TRY(tt_results_mark(results, row->run.number, error));
  return keep(results, results->backend->add(results->self, row, &trouble), &trouble, error);
}

tt_status tt_sweep_results_commit(tt_sweep_results *results, tt_error *error) {
  tt_error trouble;
  TT_TRY(check(results, error));
  TT_TRY(keep(results, results->backend->commit(results->self, &trouble), &trouble, error));
  results->durable = results->count;
  return TT_OK;
}

tt_status tt_sweep_results_finish(tt_sweep_results *results, tt_error *error) {
  tt_error trouble;
  TT_TRY(tt_sweep_results_commit(results, error));
  return keep(results, results->backend->finish(results->self, &trouble), &trouble, error);
}

typedef struct visitor {
  const tt_sweep_plan *plan;
  tt_results_visit visit;
  void *context;
  tt_sweep_row row;
} visitor;

/** Adds what follows from the plan. */
static tt_status complete(void *context, const tt_sweep_row *row, tt_error *error) {
  visitor *to = context;
  to->row = *row;
  tt_sweep_plan_run(to->plan, row->run.number, &to->row.run);
  return to->visit(to->context, &to->row, error);
}

tt_status tt_sweep_results_each(tt_sweep_results *results, tt_results_visit visit, void *context,
                                tt_error *error) {
  if (!results->backend->each) {
    return tt_fail(error, TT_INVALID,
                   "%s: a shard has only some of the rows; collect the shards first (--collect)",
                   results->options.output);
  }
  TT_TRY(tt_sweep_results_commit(results, error));
  visitor *to = malloc(sizeof *to);
  if (!to) return tt_fail(error, TT_NOMEM, "out of memory");
  *to = (visitor){.plan = results->plan, .visit = visit, .context = context};
  tt_status status = results->backend->each(results->self, complete, to, error);
  free(to);
  return status;
}

#include "sweep/shard.h"

#include "sweep/rows_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct tt_sweep_collector {
  tt_rows_folder files;
  tt_sweep_results *results; /**< during a call */
  void (*watcher)(void *context, const tt_sweep_row *row);
  void *context; /**< the watcher's */
};

tt_status tt_sweep_collector_open(const tt_sweep_plan *plan, const char *folder,
                                  tt_sweep_collector **out, tt_error *error) {
  struct stat about;
  if (stat(folder, &about) || !S_ISDIR(about.st_mode))
    return tt_fail(error, TT_INVALID, "%s: there is no such folder; give that of the shards",
                   folder);
  tt_sweep_collector *collector = calloc(1, sizeof *collector);
  if (!collector) return tt_fail(error, TT_NOMEM, "out of memory");
  collector->files = (tt_rows_folder){.plan = plan, .path = folder};
  *out = collector;
  return TT_OK;
}

void tt_sweep_collector_close(tt_sweep_collector *collector) {
  if (!collector) return;
  tt_rows_folder_clear(&collector->files);
  free(collector);
}

void tt_sweep_collector_watch(tt_sweep_collector *collector,
                              void (*on_row)(void *context, const tt_sweep_row *row),
                              void *context) {
  collector->watcher = on_row;
  collector->context = context;
}

static tt_status on_row(void *context, const tt_sweep_row *row, tt_error *error) {
  tt_sweep_collector *collector = context;
  const bool there = tt_sweep_results_has(collector->results, row->run.number);
  *(there ? &collector->files.said.twice : &collector->files.said.rows) += 1;
  TT_TRY(tt_sweep_results_add(collector->results, row, error));
  if (!there && collector->watcher) collector->watcher(collector->context, row);
  return TT_OK;
}

tt_status tt_sweep_collect(tt_sweep_collector *collector, tt_sweep_results *results,
                           tt_error *error) {
  collector->results = results;
  TT_TRY(tt_rows_folder_read(&collector->files, on_row, collector, error));
  return tt_sweep_results_commit(results, error);
}

tt_sweep_collected tt_sweep_collector_said(const tt_sweep_collector *collector) {
  return collector->files.said;
}

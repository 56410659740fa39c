#include "app/sweep/gather.h"

#include "app/drive.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "PLAN.sqlite" becomes "PLAN.shards". */
static char *beside(const char *file) {
  const char *name = strrchr(file, '/'), *dot = strrchr(file, '.');
  char *folder;
  int stem = dot && (!name || dot > name + 1) ? (int)(dot - file) : (int)strlen(file);
  return asprintf(&folder, "%.*s.shards", stem, file) < 0 ? NULL : folder;
}

/* Frees `path`. */
static char *make_absolute(char *path) {
  char here[PATH_MAX], *absolute;
  if (!path || *path == '/') return path;
  bool made = getcwd(here, sizeof here) && asprintf(&absolute, "%s/%s", here, path) >= 0;
  free(path);
  return made ? absolute : NULL;
}

char *tt_sweep_shards_folder(const tt_sweep_plan *plan, const char *output, const char *folder) {
  if (folder) return make_absolute(strdup(folder));
  return make_absolute(beside(strncmp(output, "postgres", 8) == 0 ? plan->path : output));
}

static void on_row(void *context, const tt_sweep_row *row) { tt_sweep_report_row(context, row); }

static bool turn(void *context) {
  tt_sweep_report_show(context);
  return !tt_stop_asked();
}

static tt_status open_collector(const tt_sweep_gathering *gathering, tt_sweep_collector **collector,
                                tt_error *error) {
  TT_TRY(tt_sweep_collector_open(gathering->plan, gathering->folder, collector, error));
  tt_sweep_collector_watch(*collector, on_row, gathering->report);
  return TT_OK;
}

/* The first error is told. */
static tt_status finish(const tt_sweep_gathering *gathering, tt_status status, tt_error *error) {
  tt_error late;
  tt_status finished = tt_sweep_results_finish(gathering->results, status == TT_OK ? error : &late);
  return status == TT_OK ? finished : status;
}

static tt_status check_whole(const tt_sweep_gathering *gathering, tt_error *error) {
  char missing[300];
  uint64_t runs = tt_sweep_plan_runs(gathering->plan);
  uint64_t left = runs - tt_sweep_results_count(gathering->results);
  if (left == 0) return TT_OK;
  return tt_fail(
      error, TT_FAILED,
      "%s: %" PRIu64 " of %" PRIu64
      " rows are not there: %s; start the shards that should make them again, then collect again",
      gathering->folder, left, runs,
      tt_sweep_results_missing(gathering->results, missing, sizeof missing));
}

tt_status tt_sweep_gather(const tt_sweep_gathering *gathering, tt_error *error) {
  tt_sweep_collector *collector;
  TT_TRY(open_collector(gathering, &collector, error));
  tt_status status = tt_sweep_collect(collector, gathering->results, error);
  tt_sweep_collector_close(collector);
  status = finish(gathering, status, error);
  return status == TT_OK ? check_whole(gathering, error) : status;
}

tt_status tt_sweep_gather_from_slurm(const tt_sweep_gathering *gathering,
                                     const tt_sweep_slurm_options *options, tt_error *error) {
  tt_sweep_collector *collector;
  if (mkdir(gathering->folder, 0777) != 0 && errno != EEXIST)
    return tt_fail(error, TT_FAILED, "%s: can't be made: %s", gathering->folder, strerror(errno));
  TT_TRY(open_collector(gathering, &collector, error));
  tt_status status = tt_sweep_slurm(gathering->plan, options, collector, gathering->results, turn,
                                    gathering->report, error);
  tt_sweep_collector_close(collector);
  return finish(gathering, status, error);
}

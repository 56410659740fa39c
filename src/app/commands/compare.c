/* compare.c: `tether compare`: two kept runs, signal by signal. */
#include "app/commands/command.h"
#include "app/comparison.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "record/run_log.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct compare_job {
  char paths[2][PATH_MAX];
  tt_tolerance *tolerances;
  int tolerance_count;
} compare_job;

static tt_status parse(int argc, char **argv, compare_job *job, tt_error *error) {
  static const struct option options[] = {{"tolerance", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  job->tolerances = calloc((size_t)argc + 1, sizeof *job->tolerances);
  if (!job->tolerances) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (option != 't') return tt_option_refused(option, options, argv[optind - 1], error);
    TT_TRY(tt_tolerance_take(optarg, &job->tolerances[job->tolerance_count++], error));
  }
  if (optind != argc - 2) return tt_fail(error, TT_USAGE, "compare takes two LOGs");
  for (int i = 0; i < 2; i++)
    TT_TRY(tt_log_argument_path(argv[optind + i], job->paths[i], sizeof *job->paths, error));
  return TT_OK;
}

/* What only one of them lasted was compared with nothing. */
static tt_status compare_lengths(const compare_job *job, tt_run_log *const logs[2],
                                 tt_error *error) {
  uint64_t lasted[] = {tt_run_log_duration(logs[0]), tt_run_log_duration(logs[1])};
  int longer = lasted[1] > lasted[0];
  if (lasted[0] == lasted[1]) return TT_OK;
  return tt_fail(error, TT_DIFFERS,
                 "%s goes on for %.3f s more; compared are the first %.3f s of both",
                 job->paths[longer], (double)(lasted[longer] - lasted[!longer]) / 1e6,
                 (double)lasted[!longer] / 1e6);
}

static tt_status compare(const compare_job *job, tt_error *error) {
  tt_run_log *logs[2] = {NULL, NULL};
  tt_status status = TT_OK;
  for (int i = 0; i < 2 && status == TT_OK; i++)
    status = tt_run_log_open(job->paths[i], &logs[i], error);
  if (status == TT_OK)
    status = tt_comparison_say(logs[0], logs[1], job->tolerances, job->tolerance_count, error);
  if (status == TT_OK) status = compare_lengths(job, logs, error);
  for (int i = 0; i < 2; i++) tt_run_log_close(logs[i]);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  compare_job *job = calloc(1, sizeof *job);
  if (!job) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status = parse(argc, argv, job, error);
  if (status == TT_OK) status = compare(job, error);
  free(job->tolerances);
  free(job);
  return status;
}

const tt_app_command tt_app_compare = {
    "compare", "LOG LOG [--tolerance [SIGNAL=]VALUE]…",
    "Compares two kept runs signal by signal; exit status 1 if they differ",
    "  --tolerance [SIGNAL=]VALUE  how far a signal (or all) may be from the first run, SI; "
    "default 0\n",
    run};

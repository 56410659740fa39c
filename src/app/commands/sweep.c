/* sweep.c: `tether sweep`: the runs of a plan, in one table. */
#include "app/commands/command.h"
#include "app/drive.h"
#include "app/guests.h"
#include "app/options.h"
#include "app/sweep/local.h"
#include "app/sweep/only.h"
#include "app/sweep/web.h"
#include "app/sweep/web_process.h"
#include "base/log.h"
#include "base/text.h"
#include "sweep/plan_show.h"
#include "sweep/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_JOBS 1024

typedef struct sweep_job {
  const char *plan_file;
  const char **settings; /* of --set */
  int setting_count;
  const char *output, *only, *record, *csv;
  int jobs;
  const char *web_address; /* NULL: the usual */
  bool dry_run, extend, web;
  tt_sweep_report_kind report;
  tt_sweep_plan *plan;
  tt_sweep_results *results;
} sweep_job;

/* ---- the command line ---- */

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'}, {"jobs", required_argument, NULL, 'j'},
    {"dry-run", no_argument, NULL, 'd'},      {"only", required_argument, NULL, 'y'},
    {"record", required_argument, NULL, 'r'}, {"set", required_argument, NULL, 's'},
    {"extend", no_argument, NULL, 'e'},       {"json", no_argument, NULL, 'J'},
    {"csv", required_argument, NULL, 'c'},    {"quiet", no_argument, NULL, 'q'},
    {"web", optional_argument, NULL, 'w'},    {NULL, 0, NULL, 0}};

static tt_status take_jobs(const char *text, int *jobs, tt_error *error) {
  char *end;
  long count = strtol(text, &end, 10);
  if (end == text || *end || count < 1 || count > MOST_JOBS)
    return tt_fail(error, TT_USAGE, "--jobs %s: give a whole number from 1 to %d", text, MOST_JOBS);
  *jobs = (int)count;
  return TT_OK;
}

static tt_status take(sweep_job *job, int option, const char *text, tt_error *error) {
  switch (option) {
    case 'o': job->output = optarg; return TT_OK;
    case 'j': return take_jobs(optarg, &job->jobs, error);
    case 'd': job->dry_run = true; return TT_OK;
    case 'y': job->only = optarg; return TT_OK;
    case 'r': job->record = optarg; return TT_OK;
    case 's': job->settings[job->setting_count++] = optarg; return TT_OK;
    case 'e': job->extend = true; return TT_OK;
    case 'J': job->report = TT_SWEEP_REPORT_JSON; return TT_OK;
    case 'c': job->csv = optarg; return TT_OK;
    case 'q': job->report = TT_SWEEP_REPORT_NONE; return TT_OK;
    case 'w':
      job->web = true;
      job->web_address = optarg;
      return TT_OK;
    default: return tt_option_refused(option, long_options, text, error);
  }
}

static tt_status parse(int argc, char **argv, sweep_job *job, tt_error *error) {
  optind = 1;
  opterr = 0;
  job->settings = calloc((size_t)argc + 1, sizeof *job->settings);
  if (!job->settings) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int option; (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1;)
    TT_TRY(take(job, option, argv[optind - 1], error));
  if (optind != argc - 1) return tt_fail(error, TT_USAGE, "sweep takes one PLAN");
  if (job->record && !job->only) return tt_fail(error, TT_USAGE, "--record goes with --only");
  job->plan_file = argv[optind];
  return TT_OK;
}

/* ---- what it does ---- */

/* Who looks at the table goes on to, once it is whole. */
static void keep_pages(const sweep_job *job) {
  if (job->report != TT_SWEEP_REPORT_NONE) tt_print(stderr, "the pages stay; Ctrl-C ends them\n");
  while (!tt_stop_asked()) usleep(100000);
}

static tt_status make_table(sweep_job *job, tt_error *error) {
  const tt_sweep_results_options options = {.output = job->output, .extend = job->extend};
  const char *output = job->output ? job->output : job->plan->output;
  const uint64_t runs = tt_sweep_plan_runs(job->plan);
  TT_TRY(tt_sweep_results_open(job->plan, &options, &job->results, error));
  tt_sweep_web_note(output);
  tt_sweep_report report = tt_sweep_report_start(job->plan, job->report, output, runs,
                                                 tt_sweep_results_count(job->results));
  const tt_sweep_local local = {.plan = job->plan,
                                .results = job->results,
                                .end = runs,
                                .jobs = job->jobs,
                                .report = &report};
  tt_status status = tt_sweep_run_local(&local, error);
  if (status == TT_OK && job->csv) status = tt_sweep_results_csv(job->results, job->csv, error);
  tt_sweep_report_end(&report, status == TT_OK);
  return status;
}

static tt_status do_job(sweep_job *job, tt_error *error) {
  TT_TRY(tt_sweep_plan_load(&tt_program_guests, job->plan_file, job->settings, job->setting_count,
                            &job->plan, error));
  if (job->dry_run) return tt_sweep_show(job->plan, job->jobs, error);
  if (job->only)
    return tt_sweep_make_only(job->plan, job->only, job->record,
                              job->report == TT_SWEEP_REPORT_JSON, error);
  if (!job->web) return make_table(job, error);
  tt_sweep_web_process web = {.process = 0};
  TT_TRY(tt_sweep_web_process_start(job->web_address, &web, error));
  tt_print(stderr, "ready web=%s\n", web.address);
  tt_status status = make_table(job, error);
  if (status == TT_OK) keep_pages(job);
  tt_sweep_web_process_stop(&web);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  sweep_job job = {.jobs = tt_sweep_cores()};
  tt_catch_signals();
  tt_log_set_level(TT_LOG_WARNING);
  tt_status status = parse(argc, argv, &job, error);
  if (status == TT_OK) status = do_job(&job, error);
  tt_sweep_results_close(job.results);
  tt_sweep_plan_free(job.plan);
  free(job.settings);
  return status;
}

const tt_app_command tt_app_sweep = {
    "sweep", "PLAN [options]", "Makes the runs of a plan, and one table of them",
    "  --output FILE      the table; default PLAN.sqlite, or what the plan says\n"
    "  --jobs N           how many processes make runs; default: one a core\n"
    "  --dry-run          says what would be made, and in what time, and makes nothing\n"
    "  --only ID          makes this run alone, and shows its row\n"
    "  --record FILE      with --only: keeps it, for verify, replay and compare\n"
    "  --set PATH=VALUE   sets any key of the plan\n"
    "  --extend           adds to a table of an older plan or program\n"
    "  --csv FILE         writes the table as CSV, too; - is standard output\n"
    "  --json             says once a second how far it is, as JSON\n"
    "  --quiet            shows no bar and no summary\n"
    "  --web[=ADDRESS]    serves the page Sweeps meanwhile, and until Ctrl-C\n",
    run};

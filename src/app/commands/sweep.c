/* sweep.c: `tether sweep`: the runs of a plan, in one table. */
#include "app/commands/command.h"
#include "app/drive.h"
#include "app/guests.h"
#include "app/options.h"
#include "app/sweep/gather.h"
#include "app/sweep/kept.h"
#include "app/sweep/local.h"
#include "app/sweep/maker.h"
#include "app/sweep/only.h"
#include "app/sweep/web.h"
#include "app/sweep/web_process.h"
#include "base/log.h"
#include "base/text.h"
#include "sweep/plan_show.h"
#include "sweep/results.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_OPTIONS 32
#define MOST_JOBS 1024
#define MOST_TASKS 4000000 /* that Slurm allows in an array */

typedef struct sweep_job {
  const char *plan_file;
  const char **settings; /* of --set */
  int setting_count;
  const char *output, *only, *record, *csv;
  const char *shards_folder;
  tt_sweep_shard shard;         /* count 0: the whole plan */
  tt_sweep_slurm_options slurm; /* but for what the other options say */
  int jobs;                     /* 0: not given */
  const char *web_address;      /* NULL: the usual */
  bool dry_run, extend, collect, on_slurm, web;
  tt_sweep_report_kind report;
  char given[MOST_OPTIONS + 1]; /* the letters of long_options, each once */
  tt_sweep_plan *plan;
  tt_sweep_results *results;
} sweep_job;

/* ---- the command line ---- */

static const struct option long_options[] = {{"output", required_argument, NULL, 'o'},
                                             {"jobs", required_argument, NULL, 'j'},
                                             {"dry-run", no_argument, NULL, 'd'},
                                             {"only", required_argument, NULL, 'y'},
                                             {"record", required_argument, NULL, 'r'},
                                             {"set", required_argument, NULL, 's'},
                                             {"extend", no_argument, NULL, 'e'},
                                             {"json", no_argument, NULL, 'J'},
                                             {"csv", required_argument, NULL, 'c'},
                                             {"quiet", no_argument, NULL, 'q'},
                                             {"shard", required_argument, NULL, 'k'},
                                             {"shards", required_argument, NULL, 'f'},
                                             {"collect", no_argument, NULL, 'C'},
                                             {"slurm", no_argument, NULL, 'S'},
                                             {"partition", required_argument, NULL, 'p'},
                                             {"array-limit", required_argument, NULL, 'l'},
                                             {"time", required_argument, NULL, 't'},
                                             {"chunk", required_argument, NULL, 'u'},
                                             {"detach", no_argument, NULL, 'D'},
                                             {"web", optional_argument, NULL, 'w'},
                                             {NULL, 0, NULL, 0}};
static_assert(sizeof long_options / sizeof *long_options <= MOST_OPTIONS, "one letter each");

static tt_status take_count(const char *option, const char *text, int most, int *count,
                            tt_error *error) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > most)
    return tt_fail(error, TT_USAGE, "--%s %s: give a whole number from 1 to %d", option, text,
                   most);
  *count = (int)value;
  return TT_OK;
}

static tt_status take(sweep_job *job, int option, const char *text, tt_error *error) {
  switch (option) {
    case 'o': job->output = optarg; return TT_OK;
    case 'j': return take_count("jobs", optarg, MOST_JOBS, &job->jobs, error);
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
    case 'k': return tt_sweep_shard_read(optarg, &job->shard, error);
    case 'f': job->shards_folder = optarg; return TT_OK;
    case 'C': job->collect = true; return TT_OK;
    case 'S': job->on_slurm = true; return TT_OK;
    case 'p': job->slurm.partition = optarg; return TT_OK;
    case 'l': return take_count("array-limit", optarg, MOST_TASKS, &job->slurm.array_limit, error);
    case 't': job->slurm.time = optarg; return TT_OK;
    case 'u': return take_count("chunk", optarg, (int)TT_SWEEP_MAX_RUNS, &job->slurm.chunk, error);
    case 'D': job->slurm.detach = true; return TT_OK;
    default: return tt_option_refused(option, long_options, text, error);
  }
}

static bool is_given(const sweep_job *job, char option) {
  return strchr(job->given, option) != NULL;
}

static const char *name_of(char option) {
  const struct option *at = long_options;
  while (at->name && at->val != option) at++;
  return at->name;
}

/* What an option needs, one of `others`, and what would be left unsaid with it. */
static const struct {
  char option;
  const char *others, *said;
} needed[] =
    {
        {'r', "y", "--only"},  {'f', "kCS", "--shard, --collect or --slurm"},
        {'p', "S", "--slurm"}, {'t', "S", "--slurm"},
        {'l', "S", "--slurm"}, {'u', "S", "--slurm"},
        {'D', "S", "--slurm"},
},
  refused[] = {
      {'y', "dkCScoewj", "makes one run and no table"},
      {'d', "kCScoew", "makes nothing"},
      {'k', "CSocew", "makes no table, only rows that --collect gathers"},
      {'C', "Sj", "makes no run"},
};

static tt_status check_options(const sweep_job *job, tt_error *error) {
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (is_given(job, needed[i].option) && !strpbrk(job->given, needed[i].others))
      return tt_fail(error, TT_USAGE, "--%s goes with %s", name_of(needed[i].option),
                     needed[i].said);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const char *other = strpbrk(job->given, refused[i].others);
    if (other && is_given(job, refused[i].option))
      return tt_fail(error, TT_USAGE, "--%s %s: --%s does not go with it",
                     name_of(refused[i].option), refused[i].said, name_of(*other));
  }
  return TT_OK;
}

static tt_status parse(int argc, char **argv, sweep_job *job, tt_error *error) {
  optind = 1;
  opterr = 0;
  job->settings = calloc((size_t)argc + 1, sizeof *job->settings);
  if (!job->settings) return tt_fail(error, TT_NOMEM, "out of memory");
  for (int option; (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1;) {
    TT_TRY(take(job, option, argv[optind - 1], error));
    if (!is_given(job, (char)option)) job->given[strlen(job->given)] = (char)option;
  }
  if (job->web && argc == 2) return TT_OK;
  if (optind != argc - 1)
    return tt_fail(error, TT_USAGE, "sweep takes one PLAN, or --web alone for the pages");
  job->plan_file = argv[optind];
  return check_options(job, error);
}

/* ---- what it does ---- */

/* Who looks at the table goes on to, once it is whole. */
static void keep_pages(const sweep_job *job) {
  if (job->report != TT_SWEEP_REPORT_NONE) tt_print(stderr, "the pages stay; Ctrl-C ends them\n");
  while (!tt_stop_asked()) usleep(100000);
}

/* Of this process, or of each task. */
static int jobs_here(const sweep_job *job) {
  if (job->jobs) return job->jobs;
  return job->on_slurm ? 1 : tt_sweep_cores();
}

static tt_status make_runs(sweep_job *job, tt_sweep_report *report, uint64_t first, uint64_t end,
                           tt_error *error) {
  const tt_sweep_local local = {.plan = job->plan,
                                .results = job->results,
                                .first = first,
                                .end = end,
                                .jobs = jobs_here(job),
                                .report = report};
  return tt_sweep_run_local(&local, error);
}

/* The rows come from elsewhere. */
static tt_status gather(sweep_job *job, tt_sweep_report *report, const char *folder,
                        tt_error *error) {
  const tt_sweep_gathering gathering = {
      .plan = job->plan, .results = job->results, .report = report, .folder = folder};
  if (job->collect) return tt_sweep_gather(&gathering, error);
  job->slurm.folder = folder;
  job->slurm.settings = job->settings;
  job->slurm.jobs = jobs_here(job);
  return tt_sweep_gather_from_slurm(&gathering, &job->slurm, error);
}

static tt_status on_earlier(void *context, const tt_sweep_row *row, tt_error *error) {
  (void)error;
  tt_sweep_report_earlier(context, row);
  return TT_OK;
}

/* The best is that of all rows, also of those that are there. */
static tt_status report_earlier(const sweep_job *job, tt_sweep_report *report, tt_error *error) {
  const tt_sweep_keep *keep = &job->plan->keep;
  if (keep->best + keep->worst == 0 || job->report == TT_SWEEP_REPORT_NONE) return TT_OK;
  return tt_sweep_results_each(job->results, on_earlier, report, error);
}

/* Nobody makes a run again whose row is there, so that its log stays away until somebody asks for it. */
static tt_status find_missing_logs(const sweep_job *job, tt_sweep_report *report, tt_error *error) {
  tt_sweep_missing_logs missing;
  const char *folder = job->plan->keep.folder;
  TT_TRY(tt_sweep_kept_missing(job->plan, job->results, &missing, error));
  report->logs_missing = missing.count;
  if (missing.count > 0)
    tt_log_warning("keep: %" PRIu64
                   " of the logs that it asks for are not in %s: a run that has a row is not made "
                   "again; make each with --only ID --record %s/ID.wpilog, the first ID is %s",
                   missing.count, folder, folder, missing.first);
  return TT_OK;
}

static tt_status make_table(sweep_job *job, const char *output, const char *folder,
                            tt_error *error) {
  const tt_sweep_results_options options = {.output = job->output, .extend = job->extend};
  const uint64_t runs = tt_sweep_plan_runs(job->plan);
  TT_TRY(tt_sweep_results_open(job->plan, &options, &job->results, error));
  if (job->csv) TT_TRY(tt_sweep_results_check_csv(job->results, job->csv, error));
  if (!job->collect && !job->on_slurm && tt_sweep_results_count(job->results) < runs)
    TT_TRY(tt_sweep_maker_try(job->plan, error));
  tt_sweep_web_note(output);
  tt_sweep_report report =
      tt_sweep_report_start(job->plan, job->report, tt_sweep_results_name(job->results), runs,
                            tt_sweep_results_count(job->results));
  TT_TRY(report_earlier(job, &report, error));
  tt_status status = job->collect || job->on_slurm ? gather(job, &report, folder, error)
                                                   : make_runs(job, &report, 0, runs, error);
  const bool whole = tt_sweep_results_count(job->results) == runs;
  if (status == TT_OK && whole && (job->collect || job->on_slurm))
    status = tt_sweep_kept_settle(job->plan, job->results, error);
  if (status == TT_OK && whole) status = find_missing_logs(job, &report, error);
  if (status == TT_OK && whole && job->csv)
    status = tt_sweep_results_csv(job->results, job->csv, error);
  /* What was added behind the last commit is lost where it could not go on. */
  report.done = status == TT_OK ? report.done : tt_sweep_results_durable(job->results);
  tt_sweep_report_end(&report, report.done == runs);
  return status;
}

static tt_status make_shard(sweep_job *job, const char *folder, tt_error *error) {
  const tt_sweep_results_options options = {.output = folder,
                                            .shards = true,
                                            .shard = job->shard.number,
                                            .shard_count = job->shard.count};
  uint64_t first, end, there = 0;
  tt_sweep_shard_range(&job->shard, tt_sweep_plan_runs(job->plan), &first, &end);
  TT_TRY(tt_sweep_results_open(job->plan, &options, &job->results, error));
  for (uint64_t run = first; run < end; run++) there += tt_sweep_results_has(job->results, run);
  tt_sweep_report report =
      tt_sweep_report_start(job->plan, job->report, folder, end - first, there);
  tt_status status = make_runs(job, &report, first, end, error);
  tt_sweep_report_end(&report, status == TT_OK);
  return status;
}

static tt_status make_rows(sweep_job *job, tt_error *error) {
  const char *output = job->output ? job->output : job->plan->output;
  char *folder = tt_sweep_shards_folder(job->plan, output, job->shards_folder);
  if (!folder) return tt_fail(error, TT_NOMEM, "out of memory");
  tt_status status =
      job->shard.count ? make_shard(job, folder, error) : make_table(job, output, folder, error);
  free(folder);
  return status;
}

/* Of this user's sweeps, while none is made here. */
static tt_status show_pages(const sweep_job *job, tt_error *error) {
  tt_sweep_web_process web = {.process = 0};
  TT_TRY(tt_sweep_web_process_start(job->web_address, &web, error));
  tt_print(stderr, "ready web=%s\n", web.address);
  keep_pages(job);
  tt_sweep_web_process_stop(&web);
  return TT_OK;
}

static tt_status do_job(sweep_job *job, tt_error *error) {
  if (!job->plan_file) return show_pages(job, error);
  TT_TRY(tt_sweep_plan_load(&tt_program_guests, job->plan_file, job->settings, job->setting_count,
                            &job->plan, error));
  const int jobs = job->only || job->collect ? 1 : jobs_here(job);
  TT_TRY(tt_sweep_maker_check(job->plan, jobs, error));
  if (job->dry_run) return tt_sweep_show(job->plan, jobs_here(job), error);
  if (job->only)
    return tt_sweep_make_only(job->plan, job->only, job->record,
                              job->report == TT_SWEEP_REPORT_JSON, error);
  if (!job->web) return make_rows(job, error);
  tt_sweep_web_process web = {.process = 0};
  TT_TRY(tt_sweep_web_process_start(job->web_address, &web, error));
  tt_print(stderr, "ready web=%s\n", web.address);
  tt_status status = make_rows(job, error);
  if (status == TT_OK) keep_pages(job);
  tt_sweep_web_process_stop(&web);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  sweep_job job = {.jobs = 0};
  tt_log_set_level(TT_LOG_WARNING);
  tt_status status = parse(argc, argv, &job, error);
  signal(SIGPIPE, SIG_IGN);
  if (!job.only && !job.dry_run) tt_catch_signals(); /* one run alone may end at once */
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
    "  --web[=ADDRESS]    serves the page Sweeps meanwhile, and until Ctrl-C; without PLAN, too\n"
    "on many machines, which share a folder:\n"
    "  --shard K/N        makes part K of N of the runs, and puts their rows into the folder\n"
    "  --collect          makes the table of what the folder has; exit status 3: rows are missing\n"
    "  --shards FOLDER    which folder; default PLAN.shards, beside the table\n"
    "  --slurm            has Slurm make what is missing, as an array, and waits for it\n"
    "  --chunk N          with --slurm: runs of a task; default: so many that 1,000 tasks are "
    "enough\n"
    "  --partition P      with --slurm: as sbatch has it\n"
    "  --array-limit N    with --slurm: so many tasks at a time\n"
    "  --time T           with --slurm: a task's limit, as sbatch has it\n"
    "  --detach           with --slurm: does not wait; --collect makes the table\n",
    run};

/* copy.c: `tether telemetry copy`: records of one store into another one, of any kind. */
#include "app/options.h"
#include "app/progress.h"
#include "app/telemetry/action.h"
#include "app/telemetry/ending.h"
#include "base/text.h"
#include "store/copy.h"
#include "telemetry/collector.h"
#include "telemetry/table.h"

#include <inttypes.h>
#include <string.h>

#define MOST_DEVICES 1000

typedef struct copy_job {
  const char *from, *to;
  const char *devices[MOST_DEVICES + 1];
  int count;
  tt_copy_options copy;
} copy_job;

static bool show(void *context, double done) {
  tt_progress_show(context, done);
  return !tt_telemetry_is_ended();
}

static tt_status read_time(const char *key, const char *text, int64_t *time, tt_error *error) {
  tt_status status = tt_table_time_parse(key, text, tt_collector_now(), time, error);
  return status == TT_INVALID ? TT_USAGE : status;
}

static tt_status read_options(int argc, char **argv, copy_job *job, tt_error *error) {
  static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"to", required_argument, NULL, 't'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (option == 'd' && job->count < MOST_DEVICES)
      job->devices[job->count++] = optarg;
    else if (option == 'd')
      return tt_fail(error, TT_USAGE, "--device: more than %d", MOST_DEVICES);
    else if (option == 'f')
      TT_TRY(read_time("--from", optarg, &job->copy.from, error));
    else if (option == 't')
      TT_TRY(read_time("--to", optarg, &job->copy.to, error));
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  if (argc - optind != 2) return tt_fail(error, TT_USAGE, "telemetry copy takes FROM and TO");
  job->from = argv[optind];
  job->to = argv[optind + 1];
  if (!strcmp(job->from, job->to))
    return tt_fail(error, TT_USAGE, "telemetry copy: FROM and TO are the same");
  if (job->count) job->copy.devices = job->devices;
  return job->copy.from <= job->copy.to ? TT_OK : tt_fail(error, TT_USAGE, "--from is after --to");
}

static tt_status open_source(const char *url, tt_store_reader **reader, tt_error *error) {
  const tt_store_backend *backend;
  TT_TRY(tt_store_backend_of(url, &backend, error));
  if (!(backend->abilities & TT_STORE_READS))
    return tt_fail(error, TT_INVALID, "%s: nothing can be read from this kind of store", url);
  return backend->open_reader(&(tt_store_options){.url = url}, reader, error);
}

static tt_status copy(copy_job *job, tt_store_reader *from, tt_error *error) {
  tt_store *to;
  tt_copied copied;
  TT_TRY(tt_store_open(&(tt_store_options){.url = job->to}, &to, error));
  tt_progress progress = tt_progress_start("copying");
  job->copy.progress = show;
  job->copy.context = &progress;
  tt_telemetry_catch_end();
  tt_status status = tt_store_copy(from, to, &job->copy, &copied, error);
  tt_progress_end(&progress);
  to->close(to);
  if (status == TT_OK)
    tt_print(stdout, "copied %" PRIu64 " values in %" PRIu64 " records of %" PRIu64 " devices\n",
             copied.values, copied.records, copied.devices);
  if (status == TT_OK && copied.withheld)
    tt_print(stderr,
             "note: retention, min_interval and mode of %" PRIu64
             " patterns are not copied: the target has values of its own; set there what is wanted "
             "(telemetry.attributes)\n",
             copied.withheld);
  return status;
}

static tt_status run(int argc, char **argv, tt_error *error) {
  copy_job job = {.copy = {.from = INT64_MIN, .to = INT64_MAX}};
  tt_store_reader *from;
  TT_TRY(read_options(argc, argv, &job, error));
  TT_TRY(open_source(job.from, &from, error));
  tt_status status = copy(&job, from, error);
  from->close(from);
  return status;
}

const tt_telemetry_action tt_telemetry_copy = {"copy", run};

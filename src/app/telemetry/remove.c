/* remove.c: `tether telemetry remove`: values of a device are removed from a store that no program is writing. */
#include "app/options.h"
#include "app/progress.h"
#include "app/telemetry/action.h"
#include "base/text.h"
#include "telemetry/collector.h"
#include "telemetry/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/** µs between two looks at a signal, and at the progress. */
#define PATIENCE 500000

typedef struct remove_job {
  const char *store;
  tt_removal removal;
  bool yes, name;
} remove_job;

static tt_status read_span(const char *key, const char *text, int64_t *time, tt_error *error) {
  tt_status status = tt_table_time_parse(key, text, tt_collector_now(), time, error);
  return status == TT_INVALID ? TT_USAGE : status;
}

static tt_status read_options(int argc, char **argv, remove_job *job, tt_error *error) {
  static const struct option options[] = {{"device", required_argument, NULL, 'd'},
                                          {"attribute", required_argument, NULL, 'a'},
                                          {"from", required_argument, NULL, 'f'},
                                          {"to", required_argument, NULL, 't'},
                                          {"name", no_argument, NULL, 'n'},
                                          {"yes", no_argument, NULL, 'y'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    switch (option) {
      case 'd': job->removal.device = optarg; break;
      case 'a': job->removal.attribute = optarg; break;
      case 'f': TT_TRY(read_span("--from", optarg, &job->removal.from, error)); break;
      case 't':
        TT_TRY(read_span("--to", optarg, &job->removal.before, error));
        job->removal.before += job->removal.before < INT64_MAX;  // inclusive, as a table's
        break;
      case 'n': job->name = true; break;
      case 'y': job->yes = true; break;
      default: return tt_option_refused(option, options, argv[optind - 1], error);
    }
  }
  if (argc - optind != 1) return tt_fail(error, TT_USAGE, "telemetry remove takes one STORE");
  job->store = argv[optind];
  if (!job->removal.device) return tt_fail(error, TT_USAGE, "telemetry remove takes --device NAME");
  if (job->name &&
      (job->removal.attribute || job->removal.from > INT64_MIN || job->removal.before < INT64_MAX))
    return tt_fail(error, TT_USAGE, "--name removes the whole device; leave the others out");
  return job->removal.from < job->removal.before ? TT_OK
                                                 : tt_fail(error, TT_USAGE, "--from is after --to");
}

/* --- asking --- */

static tt_status confirm(const remove_job *job, tt_error *error) {
  if (job->yes) return TT_OK;
  if (!isatty(STDIN_FILENO))
    return tt_fail(error, TT_USAGE, "nobody is asked here: --yes removes without asking");
  bool span = job->removal.from > INT64_MIN || job->removal.before < INT64_MAX;
  tt_print(stderr, "Remove %s%s of %s%s from %s for good? [y/N] ",
           job->removal.attribute ? job->removal.attribute : "all values",
           span ? " of that span" : "", job->removal.device, job->name ? ", and itself," : "",
           job->store);
  char answer[8] = "";
  if (!fgets(answer, sizeof answer, stdin) || (*answer != 'y' && *answer != 'Y'))
    return tt_fail(error, TT_INTERRUPTED, "nothing was removed");
  return TT_OK;
}

/* --- removing --- */

static tt_status remove_steps(tt_collector *collector, remove_job *job, uint64_t *removed,
                              tt_error *error) {
  tt_progress progress = tt_progress_start("removing");
  tt_status status;
  do {
    char text[64];
    status = tt_collector_remove_values(collector, &job->removal, PATIENCE, error);
    *removed += job->removal.removed;
    snprintf(text, sizeof text, "%" PRIu64 " values", *removed);
    tt_progress_show_text(&progress, 0, text);
    tt_collector_stats stats;
    tt_collector_get_stats(collector, &stats);
    if (status == TT_AGAIN && stats.store_state.degraded && !job->removal.removed) {
      status = tt_fail(error, TT_FAILED, "%s", stats.store_state.reason);
      break;
    }
  } while (status == TT_AGAIN);
  tt_progress_end(&progress);
  return status;
}

static tt_status remove_all(tt_collector *collector, remove_job *job, tt_error *error) {
  uint64_t removed = 0;
  tt_status status = remove_steps(collector, job, &removed, error);
  if (status == TT_OK && job->name)
    status = tt_collector_remove(collector, true, job->removal.device, error);
  if (status == TT_OK || removed) tt_print(stdout, "removed %" PRIu64 " values\n", removed);
  return status;
}

/** Opening a store would make it. */
static tt_status check_store(const tt_store_options *options, tt_error *error) {
  const tt_store_backend *backend;
  tt_store_reader *reader;
  TT_TRY(tt_store_backend_of(options->url, &backend, error));
  if (!(backend->abilities & TT_STORE_PURGES))
    return tt_fail(error, TT_INVALID, "%s: this kind of store removes nothing", options->url);
  tt_status status = backend->open_reader(options, &reader, error);
  if (status == TT_OK) reader->close(reader);
  return status == TT_VERSION ? TT_OK : status;  // it is upgraded, or refused with the reason
}

static tt_status run(int argc, char **argv, tt_error *error) {
  remove_job job = {.removal = {.from = INT64_MIN, .before = INT64_MAX}};
  TT_TRY(read_options(argc, argv, &job, error));
  const tt_store_options options = {.url = job.store};
  TT_TRY(check_store(&options, error));
  TT_TRY(confirm(&job, error));
  tt_collector_options collecting = tt_collector_options_default();
  collecting.untended = true;
  tt_collector *collector;
  TT_TRY(tt_store_open(&options, &collecting.store, error));
  TT_TRY(tt_collector_new(&collecting, &collector, error));
  tt_status status = remove_all(collector, &job, error);
  tt_collector_free(collector);
  return status;
}

const tt_telemetry_action tt_telemetry_remove = {"remove", run};

/* export.c: `tether export`: a kept run as a file that other programs read. */
#include "app/asset_export.h"
#include "app/commands/command.h"
#include "app/end_signals.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "app/progress.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/text.h"
#include "record/export.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef tt_status export_function(const tt_run_log *log, const tt_export_sink *sink);

static const struct {
  const char *name;
  export_function *run;
} formats[] = {
#define FORMAT(name, function) {name, function},
    TT_EXPORT_FORMATS(FORMAT)
#undef FORMAT
};

typedef struct export_job {
  const char *log, *output;
  export_function *format; /* NULL: assets of a scene, which `log` names */
  FILE *file;
  tt_progress progress;
} export_job;

static tt_status choose_format(export_job *job, const char *name, tt_error *error) {
  job->format = NULL;
  if (strcmp(name, "advantagescope") == 0) return TT_OK;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
    if (strcmp(formats[i].name, name) != 0) continue;
    job->format = formats[i].run;
    return TT_OK;
  }
  return tt_fail(error, TT_USAGE,
                 "--format %s: give csv, jsonl, mcap, wpilog, svg, summary or advantagescope",
                 name);
}

static tt_status parse(int argc, char **argv, export_job *job, tt_error *error) {
  static const struct option options[] = {{"format", required_argument, NULL, 'f'},
                                          {"output", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":o:", options, NULL)) != -1;) {
    if (option == 'f')
      TT_TRY(choose_format(job, optarg, error));
    else if (option == 'o')
      job->output = optarg;
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  if (optind != argc - 1) return tt_fail(error, TT_USAGE, "export takes one LOG, or SCENE");
  job->log = argv[optind];
  return TT_OK;
}

/* Names in a run come from files of others. */
static tt_status show_piece(void *context, const void *bytes, size_t size) {
  char *text = strndup(bytes, size);
  if (!text) return TT_NOMEM;
  for (char *line = text, *next; line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    tt_print(((export_job *)context)->file, next ? "%s\n" : "%s", line);
  }
  free(text);
  return TT_OK;
}

static tt_status write_piece(void *context, const void *bytes, size_t size) {
  export_job *job = context;
  return fwrite(bytes, 1, size, job->file) == size ? TT_OK : TT_FAILED;
}

static void show_progress(void *context, double done) {
  tt_progress_show(&((export_job *)context)->progress, done);
}

/* What is written would take the place of what is read. */
static bool is_log(const export_job *job) {
  const tt_file_mark log = tt_file_note(job->log), output = tt_file_note(job->output);
  return output.inode && output.inode == log.inode && output.device == log.device;
}

static tt_status check_output(const export_job *job, bool shown, tt_error *error) {
  if (shown && job->format == tt_export_mcap)
    return tt_fail(error, TT_USAGE, "mcap is not for a terminal: give --output FILE");
  if (job->output && is_log(job))
    return tt_fail(error, TT_USAGE, "%s: is the log itself; give --output another file",
                   job->output);
  return TT_OK;
}

static tt_status write_log(export_job *job, const tt_run_log *log, bool shown, tt_error *error) {
  const tt_export_sink sink = {shown ? show_piece : write_piece, show_progress, job};
  job->progress = tt_progress_start("export");
  tt_status status = job->format(log, &sink);
  tt_progress_end(&job->progress);
  bool flushed = fflush(job->file) == 0;
  if (status == TT_FAILED || !flushed)
    return tt_fail(error, TT_FAILED, "%s: can't write: %s",
                   job->output ? job->output : "standard output", strerror(errno));
  return status == TT_OK ? TT_OK
                         : tt_fail(error, status, "%s: %s", job->log, tt_status_text(status));
}

/* The handler of signals sees it. */
static tt_output_file output;

/* Ends the program as if nothing had caught the signal, but half a file. */
static void leave_no_half(int number) {
  if (!output.in_place) unlink(output.part);
  signal(number, SIG_DFL);
  raise(number);
}

/* But those that who started it wants ignored, as a shell does for what a script runs in the background. */
static void catch_ends(void) {
  struct sigaction interrupt;
  sigaction(SIGINT, NULL, &interrupt);
  tt_end_signals_catch(leave_no_half, 0);
  if (interrupt.sa_handler == SIG_IGN) signal(SIGINT, SIG_IGN);
}

static tt_status write_file(export_job *job, const tt_run_log *log, tt_error *error) {
  bool shown = !job->output && isatty(STDOUT_FILENO);
  TT_TRY(check_output(job, shown, error));
  job->file = stdout;
  if (!job->output) return write_log(job, log, shown, error);
  TT_TRY(tt_output_file_open(job->output, &output, error));
  catch_ends();
  job->file = output.stream;
  return tt_output_file_close(&output, write_log(job, log, shown, error), error);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  export_job job = {.format = tt_export_csv};
  tt_run_log *log;
  char path[PATH_MAX];
  TT_TRY(parse(argc, argv, &job, error));
  if (!job.format) return tt_asset_export(job.log, job.output ? job.output : ".", error);
  TT_TRY(tt_log_argument_path(job.log, path, sizeof path, error));
  job.log = path;
  TT_TRY(tt_run_log_open(job.log, &log, error));
  tt_status status = write_file(&job, log, error);
  tt_run_log_close(log);
  return status;
}

const tt_app_command tt_app_export = {
    "export",
    "LOG|SCENE [--format csv|jsonl|mcap|wpilog|svg|summary|advantagescope] [--output PATH]",
    "Writes a kept run, or how a scene looks, in a format that other programs read",
    "  --format csv      a line a sample, a column a signal (default)\n"
    "  --format jsonl    a line of JSON a record\n"
    "  --format mcap     for Foxglove and PlotJuggler\n"
    "  --format wpilog   with every signal, command and pose, for AdvantageScope\n"
    "  --format svg      a picture of where each robot went\n"
    "  --format summary  duration, distance, top speed, drops, events\n"
    "  --format advantagescope  a scene's robots and arena as 3D models for AdvantageScope: asset "
    "folders\n"
    "  --output PATH     a file instead of standard output; of assets the folder, default here\n",
    run};

/* runs.c: `tether runs`: the kept runs in a terminal. */
#include "app/commands/command.h"
#include "app/log_argument.h"
#include "app/options.h"
#include "app/state_folder.h"
#include "base/json.h"
#include "base/text.h"
#include "record/export.h"
#include "record/run_about.h"
#include "record/run_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct runs_job {
  char folder[1024];
  bool json, names;
  struct json_object *changes; /* of name, tags and note; NULL: none */
  char **runs;                 /* named on the command line */
  int count;
} runs_job;

/* ---- the list ---- */

static tt_status read_facts(const tt_kept_run *run, tt_run_facts *facts) {
  tt_run_log *log;
  TT_TRY(tt_run_log_open(run->path, &log, NULL));
  tt_status status = tt_run_get_facts(log, facts);
  tt_run_log_close(log);
  return status;
}

static int name_length(const tt_kept_run *run) {
  return (int)(strlen(run->id) - strlen(TT_RUN_ENDING));
}

/* With what is in its log, if that is given. */
static void print_json(const tt_kept_run *run, const tt_run_facts *facts, const tt_run_log *log) {
  struct json_object *made = tt_run_facts_json(run, facts);
  if (log) tt_run_add_contents(log, made);
  tt_print(stdout, "%s\n",
           json_object_to_json_string_ext(made,
                                          JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
  json_object_put(made);
}

static void print_line(const tt_kept_run *run, const tt_run_facts *facts, int width) {
  bool growing = tt_run_log_is_growing(run->path);
  tt_print(stdout, "%-*.*s  %9.2f s  %8.1f MB  %s%s%s%s\n", width, name_length(run), run->id,
           facts->duration, (double)facts->size / 1e6, growing ? "recording" : facts->outcome,
           run->pinned ? "  pinned" : "", run->elsewhere ? "  in " : "",
           run->elsewhere ? run->path : "");
}

static void print_run(const runs_job *job, const tt_kept_run *run, int width) {
  tt_run_facts facts;
  if (job->names)
    tt_print(stdout, "%.*s\n", name_length(run), run->id);
  else if (read_facts(run, &facts) != TT_OK)
    tt_print(stderr, "tether: %s: can't be read\n", run->path);
  else if (job->json)
    print_json(run, &facts, NULL);
  else
    print_line(run, &facts, width);
}

static tt_status list(const runs_job *job, tt_error *error) {
  tt_kept_runs runs;
  int width = 0;
  tt_status status = tt_kept_runs_list(job->folder, &runs);
  for (size_t i = 0; i < runs.count; i++)
    if (name_length(&runs.runs[i]) > width) width = name_length(&runs.runs[i]);
  for (size_t i = 0; status == TT_OK && i < runs.count; i++) print_run(job, &runs.runs[i], width);
  tt_kept_runs_free(&runs);
  return status == TT_OK ? TT_OK : tt_fail(error, status, "out of memory");
}

/* ---- one of them ---- */

static tt_status append(void *context, const void *bytes, size_t size) {
  tt_bytes *text = context;
  tt_bytes_append(text, bytes, size);
  return text->failed ? TT_NOMEM : TT_OK;
}

static tt_status print_summary(const tt_kept_run *run, const tt_run_log *log) {
  tt_bytes text = {0};
  tt_status status = tt_export_summary(log, &(tt_export_sink){append, NULL, &text});
  if (status == TT_OK) status = append(&text, "", 1);
  tt_print(stdout, "file: %s\n", run->path);
  tt_print(stdout, "pinned: %s\n", run->pinned ? "true" : "false");
  if (status == TT_OK) tt_print_lines(stdout, "", (const char *)text.data);
  tt_bytes_free(&text);
  return status;
}

static tt_status show(const runs_job *job, const tt_kept_run *run, tt_error *error) {
  tt_run_log *log;
  tt_run_facts facts;
  TT_TRY(tt_run_log_open(run->path, &log, error));
  tt_status status = job->json ? tt_run_get_facts(log, &facts) : print_summary(run, log);
  if (status == TT_OK && job->json) print_json(run, &facts, log);
  tt_run_log_close(log);
  return status == TT_OK ? TT_OK
                         : tt_fail(error, status, "%s: %s", run->path, tt_status_text(status));
}

static tt_status pin(const runs_job *job, const tt_kept_run *run, tt_error *error) {
  return tt_kept_run_pin(job->folder, run->id, true, error);
}

static tt_status unpin(const runs_job *job, const tt_kept_run *run, tt_error *error) {
  return tt_kept_run_pin(job->folder, run->id, false, error);
}

static tt_status set(const runs_job *job, const tt_kept_run *run, tt_error *error) {
  if (!job->changes)
    return tt_fail(error, TT_USAGE, "runs set: give --name, --tag or --note, and what it is to be");
  return tt_run_about_write(run, job->changes, TT_ABOUT_MOST_WAIT, error);
}

static tt_status remove_run(const runs_job *job, const tt_kept_run *run, tt_error *error) {
  TT_TRY(tt_kept_run_remove(job->folder, run->id, error));
  if (run->elsewhere) tt_print(stdout, "no longer in the list; its file stays: %s\n", run->path);
  return TT_OK;
}

static const struct {
  const char *name;
  tt_status (*run)(const runs_job *job, const tt_kept_run *run, tt_error *error);
} actions[] = {
    {"show", show}, {"pin", pin}, {"unpin", unpin}, {"remove", remove_run}, {"set", set}};

/* All that are named, or the first that fails. */
static tt_status act(const runs_job *job, const char *action, tt_error *error) {
  for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
    if (strcmp(actions[i].name, action) != 0) continue;
    if (!job->count) return tt_fail(error, TT_USAGE, "runs %s takes the name of a RUN", action);
    tt_status status = TT_OK;
    for (int k = 0; k < job->count && status == TT_OK; k++) {
      tt_kept_run run;
      status = tt_log_argument_find(job->folder, job->runs[k], &run, error);
      if (status == TT_OK) status = actions[i].run(job, &run, error);
      tt_kept_run_clear(&run);
    }
    return status;
  }
  return tt_fail(error, TT_USAGE, "runs %s: give list, show, set, pin, unpin or remove", action);
}

/* --tag may be given several times; an empty one means none. */
static void take_change(runs_job *job, int option, const char *text) {
  if (!job->changes) job->changes = json_object_new_object();
  if (option != 't') {
    tt_json_add_text(job->changes, option == 'w' ? "name" : "note", text);
    return;
  }
  size_t count;
  struct json_object *tags = tt_json_list(job->changes, "tags", &count);
  if (!tags) tags = tt_json_add_array(job->changes, "tags");
  if (tags && *text) json_object_array_add(tags, json_object_new_string(text));
}

static tt_status read_options(int argc, char **argv, runs_job *job, const char **folder,
                              tt_error *error) {
  static const struct option options[] = {{"json", no_argument, NULL, 'j'},
                                          {"names", no_argument, NULL, 'n'},
                                          {"folder", required_argument, NULL, 'f'},
                                          {"name", required_argument, NULL, 'w'},
                                          {"tag", required_argument, NULL, 't'},
                                          {"note", required_argument, NULL, 'o'},
                                          {NULL, 0, NULL, 0}};
  optind = 1;
  opterr = 0;
  for (int option; (option = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
    if (option == 'j')
      job->json = true;
    else if (option == 'n')
      job->names = true;
    else if (option == 'f')
      *folder = optarg;
    else if (strchr("wto", option))
      take_change(job, option, optarg);
    else
      return tt_option_refused(option, options, argv[optind - 1], error);
  }
  return TT_OK;
}

/* One that somebody names is there; the usual one is made by the first run. */
static tt_status take_folder(runs_job *job, const char *folder, tt_error *error) {
  struct stat about;
  if (stat(folder, &about) != 0)
    return tt_fail(error, TT_INVALID, "--folder %s: %s", folder, strerror(errno));
  if (!S_ISDIR(about.st_mode))
    return tt_fail(error, TT_INVALID, "--folder %s: this is no folder", folder);
  snprintf(job->folder, sizeof job->folder, "%s", folder);
  return TT_OK;
}

static tt_status carry_out(runs_job *job, int argc, char **argv, tt_error *error) {
  const char *folder = NULL;
  TT_TRY(read_options(argc, argv, job, &folder, error));
  const char *action = optind < argc ? argv[optind++] : "list";
  job->runs = argv + optind;
  job->count = argc - optind;
  if (folder)
    TT_TRY(take_folder(job, folder, error));
  else
    TT_TRY(tt_state_folder(NULL, "runs", job->folder, sizeof job->folder, error));
  if (job->changes && strcmp(action, "set") != 0)
    return tt_fail(error, TT_USAGE, "--name, --tag and --note are of runs set");
  if (strcmp(action, "list") != 0) return act(job, action, error);
  if (job->count) return tt_fail(error, TT_USAGE, "runs list takes no RUN");
  return list(job, error);
}

static tt_status run(int argc, char **argv, tt_error *error) {
  runs_job job = {.json = false};
  tt_status status = carry_out(&job, argc, argv, error);
  json_object_put(job.changes);
  return status;
}

const tt_app_command tt_app_runs = {
    "runs", "[list | show RUN… | set RUN… | pin RUN… | unpin RUN… | remove RUN…]",
    "Lists kept runs, the newest first, and what happened in one; names, pins and removes them",
    "A pinned run makes no room for newer ones. Of a run recorded elsewhere (--record FILE) only "
    "its line in the list is\n"
    "removed. RUN is a name of the list.\n"
    "  --json           a line of JSON a run; with show, signals and events with it\n"
    "  --names          only their names\n"
    "  --name TEXT      with set: what the run is called\n"
    "  --tag TEXT       with set: a tag; given again, one more; they take the place of those there "
    "are, \"\" of all\n"
    "  --note TEXT      with set: a note\n"
    "  --folder FOLDER  where the scene's record.folder keeps them\n",
    run};

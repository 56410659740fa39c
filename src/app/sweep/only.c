#include "app/sweep/only.h"

#include "app/sweep/maker.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/scratch.h"
#include "base/text.h"
#include "sweep/plan_show.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one run ---- */

/* The only run whose id begins so. */
static tt_status find_run(const tt_sweep_plan *plan, const char *id, tt_sweep_run *run,
                          tt_error *error) {
  static tt_sweep_run other;
  const uint64_t runs = tt_sweep_plan_runs(plan);
  const size_t length = strlen(id);
  bool found = false;
  for (uint64_t number = 0; number < runs && length > 0; number++) {
    tt_sweep_plan_run(plan, number, &other);
    if (strncmp(other.id, id, length) != 0) continue;
    if (found)
      return tt_fail(error, TT_INVALID,
                     "%s: several runs begin with %s, as %s and %s; give more of the id",
                     plan->path, id, run->id, other.id);
    *run = other;
    found = true;
    if (length + 1 == sizeof run->id) break; /* a whole one, which stands once */
  }
  if (found) return TT_OK;
  return tt_fail(error, TT_NOT_FOUND,
                 "%s: it has no run %s; the column id of its table has those there are", plan->path,
                 id);
}

static struct json_object *json_of(const tt_sweep_value *value) {
  char text[64];
  if (value->kind == TT_SWEEP_TEXT) return json_object_new_string(value->text);
  if (value->kind == TT_SWEEP_NULL) return NULL;
  return json_object_new_double_s(value->number, tt_sweep_value_text(value, text, sizeof text));
}

/* The columns of the table, in its order. */
static struct json_object *describe(const tt_sweep_plan *plan, const tt_sweep_row *row) {
  struct json_object *made = json_object_new_object();
  char hash[17];
  snprintf(hash, sizeof hash, "%016" PRIx64, row->hash);
  tt_json_add_text(made, "id", row->run.id);
  tt_json_add_uint(made, "run", row->run.number);
  tt_json_add_uint(made, "seed", row->run.seed);
  tt_json_add_text(made, "status", tt_sweep_status_name(row->status));
  tt_json_add_text(made, "error", *row->error ? row->error : NULL);
  tt_json_add_text(made, "hash", hash);
  tt_json_add_double(made, "simulated_time", row->simulated_time);
  tt_json_add_double(made, "wall_time", row->wall_time);
  tt_json_add_text(made, "host", row->host);
  for (int i = 0; i < plan->axis_count; i++)
    tt_json_add(made, plan->axes[i].name, json_of(&row->run.axes[i]));
  for (int i = 0; i < plan->metric_count; i++)
    tt_json_add(made, plan->metrics[i].name, json_of(&row->metrics[i]));
  if (plan->success) tt_json_add(made, "success", json_of(&row->success));
  return made;
}

static void print_row(const tt_sweep_plan *plan, const tt_sweep_row *row, bool json) {
  struct json_object *made = describe(plan, row);
  if (json) {
    tt_print(stdout, "%s\n", json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  } else {
    json_object_object_foreach(made, name, value) {
      tt_print(stdout, "%-16s %s\n", name, value ? json_object_get_string(value) : "");
    }
  }
  json_object_put(made);
}

/* A setting of a scene is relative to the scene's folder, a word of the command line to the present one. */
static const char *absolute(const char *path, char *made, size_t size) {
  char here[PATH_MAX];
  if (*path == '/' || !getcwd(here, sizeof here)) return path;
  return snprintf(made, size, "%s/%s", here, path) < (int)size ? made : path;
}

tt_status tt_sweep_make_only(const tt_sweep_plan *plan, const char *id, const char *record,
                             bool json, tt_error *error) {
  static tt_sweep_run run;
  static tt_sweep_row row;
  tt_sweep_maker *maker;
  char path[2 * PATH_MAX];
  TT_TRY(find_run(plan, id, &run, error));
  TT_TRY(tt_sweep_maker_new(plan, &maker, error));
  tt_status status =
      tt_sweep_make(maker, &run, record ? absolute(record, path, sizeof path) : NULL, &row, error);
  tt_sweep_maker_free(maker);
  if (status == TT_OK) print_row(plan, &row, json);
  return status;
}

/* ---- what would be made ---- */

#define LONGEST_TRY 5.0 /* s */

/* s that a run takes; of one that takes long, from its beginning. */
static tt_status time_run(tt_sweep_maker *maker, const tt_sweep_plan *plan, const char *log,
                          double *seconds, tt_error *error) {
  static tt_sweep_run run;
  static tt_sweep_row row;
  const uint64_t started = tt_monotonic_ns();
  tt_sweep_plan_run(plan, 0, &run);
  TT_TRY(tt_sweep_make(maker, &run, log, &row, error));
  *seconds = (double)(tt_monotonic_ns() - started) * 1e-9;
  if (row.status == TT_SWEEP_TIMEOUT && row.simulated_time > 0)
    *seconds = row.wall_time * plan->duration / row.simulated_time;
  return TT_OK;
}

/* Once more, where that does not take long: the first run of all loads and compiles. */
static tt_status try_run(const tt_sweep_plan *plan, const char *log, double *seconds,
                         tt_error *error) {
  tt_sweep_maker *maker;
  TT_TRY(tt_sweep_maker_new(plan, &maker, error));
  tt_sweep_maker_set_timeout(maker, LONGEST_TRY);
  tt_status status = time_run(maker, plan, NULL, seconds, error);
  if (status == TT_OK && (log || *seconds < LONGEST_TRY))
    status = time_run(maker, plan, log, seconds, error);
  tt_sweep_maker_free(maker);
  return status;
}

static double logs_kept(const tt_sweep_plan *plan) {
  const tt_sweep_keep *keep = &plan->keep;
  const double runs = (double)tt_sweep_plan_runs(plan), few = keep->best + keep->worst;
  if (keep->all || keep->failures) return runs; /* at most */
  return few < runs ? few : runs;
}

tt_status tt_sweep_show(const tt_sweep_plan *plan, int jobs, tt_error *error) {
  char log[PATH_MAX], time[40], one[40], size[40];
  tt_scratch scratch = {.folder = ""};
  struct stat about = {.st_size = 0};
  const double logs = logs_kept(plan), runs = (double)tt_sweep_plan_runs(plan);
  double seconds = 0;
  tt_sweep_plan_show(plan, stdout);
  TT_TRY(tt_scratch_open(&scratch, error));
  snprintf(log, sizeof log, "%s/first.wpilog", scratch.folder);
  tt_status status = try_run(plan, logs > 0 ? log : NULL, &seconds, error);
  if (logs > 0 && status == TT_OK) stat(log, &about);
  tt_scratch_close(&scratch);
  TT_TRY(status);
  const double processes = runs < jobs ? runs : jobs;
  tt_print(stdout, "Time: about %s: a run takes %s, and %g are made at a time\n",
           tt_sweep_time_text(seconds * runs / processes, time, sizeof time),
           tt_sweep_time_text(seconds, one, sizeof one), processes);
  if (logs > 0)
    tt_print(stdout, "Logs that are kept: at most %.0f, about %s\n", logs,
             tt_sweep_size_text(logs * (double)about.st_size, size, sizeof size));
  return TT_OK;
}

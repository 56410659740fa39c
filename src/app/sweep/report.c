#include "app/sweep/report.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "sweep/plan_show.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#define SAY_NS 1000000000u

tt_sweep_report tt_sweep_report_start(const tt_sweep_plan *plan, tt_sweep_report_kind kind,
                                      const char *output, uint64_t runs, uint64_t before) {
  const uint64_t now = tt_monotonic_ns();
  return (tt_sweep_report){.plan = plan,
                           .kind = kind,
                           .output = output,
                           .runs = runs,
                           .before = before,
                           .done = before,
                           .started = now,
                           .said = now,
                           .progress = tt_progress_start("sweep")};
}

/* Only a plan that keeps the best says what is good. */
static bool is_better(const tt_sweep_report *report, const tt_sweep_row *row, double *value) {
  const tt_sweep_keep *keep = &report->plan->keep;
  if (keep->best + keep->worst == 0 || row->status != TT_SWEEP_OK) return false;
  const tt_sweep_value *metric = &row->metrics[keep->metric];
  if (metric->kind != TT_SWEEP_NUMBER) return false;
  *value = metric->number;
  if (!report->any_best) return true;
  return keep->greatest_is_best ? *value > report->best : *value < report->best;
}

void tt_sweep_report_earlier(tt_sweep_report *report, const tt_sweep_row *row) {
  double value;
  if (!is_better(report, row, &value)) return;
  report->any_best = true;
  report->best = value;
  memcpy(report->best_id, row->run.id, sizeof report->best_id);
}

void tt_sweep_report_row(tt_sweep_report *report, const tt_sweep_row *row) {
  report->done++;
  report->failed += row->status != TT_SWEEP_OK;
  tt_sweep_report_earlier(report, row);
}

static double seconds(const tt_sweep_report *report) {
  return (double)(tt_monotonic_ns() - report->started) * 1e-9;
}

/* Runs a second since the start, 0 before the first. */
static double rate(const tt_sweep_report *report) {
  const double passed = seconds(report);
  return passed > 0 ? (double)(report->done - report->before) / passed : 0;
}

/* s; below 0: nobody knows yet. */
static double left(const tt_sweep_report *report) {
  const double per_second = rate(report);
  return per_second > 0 ? (double)(report->runs - report->done) / per_second : -1;
}

/* ---- for people ---- */

static void describe(const tt_sweep_report *report, char *text, size_t size) {
  char time[40] = "?", best[160] = "";
  const double to_go = left(report);
  if (report->any_best)
    snprintf(best, sizeof best, ", best %s %.5g",
             report->plan->metrics[report->plan->keep.metric].name, report->best);
  if (to_go >= 0) tt_sweep_time_text(to_go, time, sizeof time);
  snprintf(text, size, "%" PRIu64 "/%" PRIu64 ", %.3g/s, %s to go, %" PRIu64 " failed%s",
           report->done, report->runs, rate(report), time, report->failed, best);
}

static void say_end(const tt_sweep_report *report, bool finished) {
  char time[40];
  tt_print(stderr,
           "%" PRIu64 " of %" PRIu64 " rows in %s, %" PRIu64 " new in %s, %" PRIu64
           " of the new failed%s\n",
           report->done, report->runs, report->output, report->done - report->before,
           tt_sweep_time_text(seconds(report), time, sizeof time), report->failed,
           finished ? "" : "; the same command goes on");
}

/* ---- for programs ---- */

static void say_json(const tt_sweep_report *report, bool last, bool finished) {
  struct json_object *made = json_object_new_object();
  const double to_go = left(report);
  tt_json_add_uint(made, "runs", report->runs);
  tt_json_add_uint(made, "done", report->done);
  tt_json_add_uint(made, "new", report->done - report->before);
  tt_json_add_uint(made, "failed", report->failed);
  tt_json_add_double(made, "rate", rate(report));
  tt_json_add(made, "left", to_go < 0 ? NULL : json_object_new_double(to_go));
  if (report->any_best) {
    struct json_object *best = json_object_new_object();
    tt_json_add_text(best, "id", report->best_id);
    tt_json_add_text(best, "metric", report->plan->metrics[report->plan->keep.metric].name);
    tt_json_add_double(best, "value", report->best);
    tt_json_add(made, "best", best);
  }
  if (last) {
    tt_json_add_bool(made, "finished", finished);
    tt_json_add_uint(made, "logs_missing", report->logs_missing);
    tt_json_add_text(made, "output", report->output);
  }
  tt_print(stdout, "%s\n", json_object_to_json_string_ext(made, JSON_C_TO_STRING_PLAIN));
  fflush(stdout);
  json_object_put(made);
}

/* ---- both ---- */

void tt_sweep_report_show(tt_sweep_report *report) {
  char text[300];
  const uint64_t now = tt_monotonic_ns();
  if (report->kind == TT_SWEEP_REPORT_BAR) {
    describe(report, text, sizeof text);
    tt_progress_show_text(&report->progress,
                          report->runs ? (double)report->done / (double)report->runs : 1, text);
  }
  if (report->kind != TT_SWEEP_REPORT_JSON || now - report->said < SAY_NS) return;
  report->said = now;
  say_json(report, false, false);
}

void tt_sweep_report_end(tt_sweep_report *report, bool finished) {
  tt_progress_end(&report->progress);
  if (report->kind == TT_SWEEP_REPORT_BAR) say_end(report, finished);
  if (report->kind == TT_SWEEP_REPORT_JSON) say_json(report, true, finished);
}

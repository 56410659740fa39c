/* metrics.c */
#include "web/metrics.h"

#include "telemetry/number.h"
#include "web/internal.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND 1e6

/** Who has figures. */
typedef struct tt_web_figures {
  void (*write)(void *context, GString *out);
  void *context;
} tt_web_figures;

void tt_metric_family(GString *out, const char *name, tt_metric_kind kind, const char *help) {
  static const char *const kinds[] = {"counter", "gauge", "summary"};
  g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kinds[kind]);
}

/** As the format has them: no quote, backslash or line end stands for itself. */
static void append_label(GString *out, const tt_metric_label *label) {
  char *valid = g_utf8_make_valid(label->value, -1);
  g_string_append_printf(out, "%s=\"", label->name);
  for (const char *c = valid; *c; c++) {
    if (*c == '\n')
      g_string_append(out, "\\n");
    else if (*c == '"' || *c == '\\')
      g_string_append_printf(out, "\\%c", *c);
    else
      g_string_append_c(out, *c);
  }
  g_string_append_c(out, '"');
  g_free(valid);
}

void tt_metric_sample(GString *out, const char *name, const tt_metric_label *labels, int count,
                      double value) {
  char number[TT_NUMBER_SIZE];
  tt_number_format(number, value);
  g_string_append(out, name);
  for (int i = 0; i < count; i++) {
    g_string_append_c(out, i ? ',' : '{');
    append_label(out, &labels[i]);
  }
  g_string_append_printf(out, "%s %s\n", count ? "}" : "", number);
}

void tt_metric_single(GString *out, const char *name, tt_metric_kind kind, const char *help,
                      double value) {
  tt_metric_family(out, name, kind, help);
  tt_metric_sample(out, name, NULL, 0, value);
}

/* --- program and server --- */

static double resident_bytes(void) {
  unsigned long size, resident = 0;
  FILE *file = fopen("/proc/self/statm", "re");
  if (!file) return 0;
  if (fscanf(file, "%lu %lu", &size, &resident) != 2) resident = 0;
  fclose(file);
  return (double)resident * (double)sysconf(_SC_PAGESIZE);
}

static void write_program(GString *out) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / SECOND;
  const tt_metric_label version = {"version", TETHER_VERSION};
  tt_metric_family(out, "tether_build_info", TT_METRIC_GAUGE, "Which Tether this is; always 1.");
  tt_metric_sample(out, "tether_build_info", &version, 1, 1);
  tt_metric_single(out, "process_cpu_seconds_total", TT_METRIC_COUNTER,
                   "Processor time of all threads, user and system.", seconds);
  tt_metric_single(out, "process_resident_memory_bytes", TT_METRIC_GAUGE, "Memory that is in RAM.",
                   resident_bytes());
}

static void write_server(void *context, GString *out) {
  tt_web_stats stats;
  tt_web_get_stats(context, &stats);
  tt_metric_single(out, "tether_web_requests_total", TT_METRIC_COUNTER, "HTTP requests.",
                   (double)stats.requests);
  tt_metric_single(out, "tether_web_refused_requests_total", TT_METRIC_COUNTER,
                   "Requests refused: access, path, method or size.",
                   (double)stats.refused_requests);
  tt_metric_single(out, "tether_web_refused_connections_total", TT_METRIC_COUNTER,
                   "Connections beyond the limit.", (double)stats.refused_connections);
  tt_metric_single(out, "tether_web_cut_connections_total", TT_METRIC_COUNTER,
                   "Connections cut because they took too long.", (double)stats.cut);
  tt_metric_single(out, "tether_web_connections", TT_METRIC_GAUGE, "Connections that are open.",
                   stats.connections);
}

/* --- a scrape --- */

static void handle_metrics(void *context, const tt_web_request *request) {
  tt_web *web = context;
  GString *out = g_string_sized_new(8192);
  write_program(out);
  for (guint i = 0; i < web->figures->len; i++) {
    const tt_web_figures *figures = &g_array_index(web->figures, tt_web_figures, i);
    figures->write(figures->context, out);
  }
  tt_web_respond(request, 200, "text/plain; version=0.0.4; charset=utf-8", out->str, out->len);
  g_string_free(out, TRUE);
}

void tt_web_add_metrics(tt_web *web, void (*write)(void *context, GString *out), void *context) {
  if (!web->figures) {
    const tt_web_figures own = {write_server, web};
    web->figures = g_array_new(FALSE, FALSE, sizeof(tt_web_figures));
    g_array_append_val(web->figures, own);
    tt_web_add_route(
        web, &(tt_web_route){
                 .path = "/metrics", .watch = "GET", .handle = handle_metrics, .context = web});
  }
  const tt_web_figures added = {write, context};
  g_array_append_val(web->figures, added);
}

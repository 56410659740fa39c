/* telemetry_status.c: how telemetry is, for people and programs (/telemetry/status) and for Prometheus. */
#include "base/json.h"
#include "web/metrics.h"
#include "web/telemetry_routes_internal.h"

/** A figure and what it is called; either name may be NULL. */
typedef struct figure {
  const char *key, *metric;
  tt_metric_kind kind;
  const char *help;
  double value;
} figure;

/* Its versions disagree on braces in macros. */
/* clang-format off */
#define COUNTER(key, metric, help, value) {key, metric, TT_METRIC_COUNTER, help, (double)(value)}
#define GAUGE(key, metric, help, value) {key, metric, TT_METRIC_GAUGE, help, (double)(value)}
/* clang-format on */
#define FIGURES 40

/** Seconds for which something has not worked. */
static double seconds_of(const tt_trouble *trouble) {
  return trouble->since ? (double)(g_get_monotonic_time() - trouble->since) / 1e6 : 0;
}

/** Fills `figures`, of FIGURES items; returns how many there are. */
static int list_figures(const tt_telemetry_routes *routes, const tt_collector_stats *stats,
                        figure *figures) {
  tt_web_stats web;
  tt_web_get_stats(routes->web, &web);
  const tt_store_state *store = &stats->store_state;
  const figure all[] = {
      COUNTER("messages", "tether_telemetry_messages_total", "Messages that were taken.",
              stats->messages),
      COUNTER("refused", "tether_telemetry_refused_messages_total", "Messages that were refused.",
              stats->refused),
      COUNTER("values", "tether_telemetry_values_total", "Values of messages that were taken.",
              stats->values),
      COUNTER("stored_values", "tether_telemetry_stored_values_total", "Values that are durable.",
              stats->stored_values),
      COUNTER("skipped_values", NULL, NULL, stats->skipped_values),
      COUNTER("bad_values", NULL, NULL, stats->bad_values),
      COUNTER("lost_values", NULL, NULL, stats->lost_values),
      COUNTER("batches", "tether_telemetry_batches_total", "Batches that were written.",
              stats->batches),
      GAUGE("queued_bytes", "tether_telemetry_queued_bytes", "What waits for the store, in memory.",
            stats->queued_bytes),
      GAUGE(NULL, "tether_telemetry_lag_seconds",
            "For how long the oldest of it waits to be durable; 0: nothing waits.",
            (double)stats->lag / 1e6),
      GAUGE("clock_ahead_seconds", "tether_telemetry_clock_ahead_seconds",
            "By how much the machine's clock jumped ahead, for which retention waits.",
            stats->clock_ahead / 1000000),
      GAUGE("devices", "tether_telemetry_devices", "Devices that are known.", stats->devices),
      GAUGE("attributes", "tether_telemetry_attributes", "Attributes that are known.",
            stats->attributes),
      GAUGE("live_readers", "tether_telemetry_live_readers", "Readers of live samples.",
            stats->readers),
      GAUGE(NULL, "tether_telemetry_live_queued_samples", "Samples that wait for live readers.",
            stats->live_waiting),
      COUNTER(NULL, "tether_telemetry_live_lost_samples_total",
              "Samples that slow live readers did not get.", stats->live_lost),
      GAUGE("spooled_bytes", "tether_telemetry_spooled_bytes",
            "What waits on disk for the database.", store->spooled_bytes),
      COUNTER("spool_lost_bytes", "tether_telemetry_spool_lost_bytes_total",
              "Of what waited on disk: damaged.", store->spool_lost_bytes),
      COUNTER("spool_lost_samples", "tether_telemetry_spool_lost_samples_total",
              "Of what waited on disk: samples that were damaged.", store->spool_lost_samples),
      GAUGE("store_bytes", "tether_telemetry_store_bytes", "What the store takes.", store->bytes),
      GAUGE(NULL, "tether_telemetry_store_degraded", "1 while the store can't be written.",
            store->degraded || stats->store_trouble.since),
      GAUGE("degraded_seconds", "tether_telemetry_store_degraded_seconds",
            "For how long the store could not be written; 0: it can.",
            seconds_of(&stats->store_trouble)),
      COUNTER("spooled_values", "tether_telemetry_spooled_values_total",
              "Values that were put on disk, to wait for the database.", store->spooled_values),
      GAUGE("web_connections", NULL, NULL, web.connections),
      COUNTER("web_refused_connections", NULL, NULL, web.refused_connections),
      COUNTER("web_cut_connections", NULL, NULL, web.cut),
  };
  _Static_assert(sizeof all / sizeof *all <= FIGURES, "there is room for all");
  memcpy(figures, all, sizeof all);
  return sizeof all / sizeof *all;
}

/** The log that is followed; NULL: none is. */
static struct json_object *describe_log(const tt_collector_stats *stats) {
  if (!stats->follows) return NULL;
  const tt_trouble *trouble = &stats->log_trouble;
  struct json_object *log = json_object_new_object();
  tt_json_add_bool(log, "degraded", trouble->since);
  tt_json_add_text(log, "reason", trouble->since ? trouble->reason : NULL);
  tt_json_add_int(log, "degraded_seconds", (int64_t)seconds_of(trouble));
  tt_json_add_uint(log, "waiting", stats->log.waiting);
  tt_json_add_uint(log, "in_hand", stats->log.in_hand);
  tt_json_add_uint(log, "redelivered", stats->log.redelivered);
  tt_json_add_double(log, "lag_seconds", (double)stats->log_lag / 1e6);
  return log;
}

/** Who takes what devices publish; NULL: nobody looks there. */
static struct json_object *describe_taking(const tt_collector_stats *stats) {
  if (!stats->shares_taking) return NULL;
  struct json_object *taking = json_object_new_object();
  tt_json_add_bool(taking, "takes", stats->takes);
  tt_json_add_text(taking, "taker", *stats->taker ? stats->taker : NULL);
  return taking;
}

void tt_telemetry_status_handle(void *context, const tt_web_request *request) {
  const tt_telemetry_routes *routes = context;
  tt_collector_stats stats;
  figure figures[FIGURES];
  tt_collector_get_stats(routes->collector, &stats);
  const int count = list_figures(routes, &stats, figures);
  struct json_object *object = json_object_new_object();
  tt_json_add_text(object, "store", stats.store);
  const tt_trouble *trouble = &stats.store_trouble;
  bool degraded = stats.store_state.degraded;
  tt_json_add_bool(object, "degraded", degraded || trouble->since);
  tt_json_add_text(object, "reason",
                   degraded         ? stats.store_state.reason
                   : trouble->since ? trouble->reason
                                    : NULL);
  tt_json_add_text(object, "advice", stats.advice);
  for (int i = 0; i < count; i++)
    if (figures[i].key) tt_json_add_int(object, figures[i].key, (int64_t)figures[i].value);
  tt_json_add(object, "log", describe_log(&stats));
  tt_json_add(object, "published", describe_taking(&stats));
  tt_telemetry_names_respond(request, object);
}

/** How far the log is followed. */
static void write_log_metrics(const tt_collector_stats *stats, GString *out) {
  const figure figures[] = {
      GAUGE(NULL, "tether_telemetry_log_degraded", "1 while the log can't be read.",
            stats->log_trouble.since != 0),
      GAUGE(NULL, "tether_telemetry_log_degraded_seconds",
            "For how long the log could not be read; 0: it can.", seconds_of(&stats->log_trouble)),
      GAUGE(NULL, "tether_telemetry_log_waiting_messages",
            "Messages of the log that no writer of this name has taken.", stats->log.waiting),
      GAUGE(NULL, "tether_telemetry_log_taken_messages",
            "Messages of the log that were taken here and are not stored yet.", stats->log.in_hand),
      COUNTER(NULL, "tether_telemetry_log_redelivered_messages_total",
              "Messages of the log that came once more.", stats->log.redelivered),
      GAUGE(NULL, "tether_telemetry_log_lag_seconds",
            "For how long the oldest message that was taken here has been in the log; 0: all is "
            "stored.",
            (double)stats->log_lag / 1e6),
  };
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
    tt_metric_single(out, figures[i].metric, figures[i].kind, figures[i].help, figures[i].value);
}

static void write_write_time(const tt_collector_stats *stats, GString *out) {
  tt_metric_family(out, "tether_telemetry_write_seconds", TT_METRIC_SUMMARY,
                   "Time that the store took for batches, for those it refused, too.");
  tt_metric_sample(out, "tether_telemetry_write_seconds_sum", NULL, 0,
                   (double)stats->write_time / 1e6);
  tt_metric_sample(out, "tether_telemetry_write_seconds_count", NULL, 0, (double)stats->batches);
}

void tt_telemetry_status_write_metrics(void *context, GString *out) {
  static const char dropped[] = "tether_telemetry_dropped_values_total";
  const tt_telemetry_routes *routes = context;
  tt_collector_stats stats;
  figure figures[FIGURES];
  tt_collector_get_stats(routes->collector, &stats);
  const int count = list_figures(routes, &stats, figures);
  for (int i = 0; i < count; i++) {
    const figure *one = &figures[i];
    if (one->metric) tt_metric_single(out, one->metric, one->kind, one->help, one->value);
  }
  write_write_time(&stats, out);
  if (stats.follows) write_log_metrics(&stats, out);
  const struct {
    tt_metric_label reason;
    uint64_t value;
  } drops[] = {{{"reason", "handling"}, stats.skipped_values},
               {{"reason", "type"}, stats.bad_values},
               {{"reason", "overflow"}, stats.lost_values}};
  tt_metric_family(
      out, dropped, TT_METRIC_COUNTER,
      "Values that are not kept: by what is set for them (mode, min_interval), because "
      "they don't fit their type, or because the store was behind.");
  for (size_t i = 0; i < sizeof drops / sizeof *drops; i++)
    tt_metric_sample(out, dropped, &drops[i].reason, 1, (double)drops[i].value);
}

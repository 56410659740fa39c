/* telemetry_influx.c: the paths at which clients of InfluxDB 1.x and 2.x write, and what they ask before they do. */
#include "web/telemetry_formats.h"

#include <string.h>

/** µs that what came may wait to be durable before /health says so. */
#define MOST_LAG 5000000

/** Clients take the header for a sign that this is a server of theirs. */
static void add_version(const tt_web_request *request) {
  SoupMessageHeaders *headers = soup_server_message_get_response_headers(request->message);
  soup_message_headers_replace(headers, "X-Influxdb-Version", TETHER_VERSION);
  soup_message_headers_replace(headers, "X-Influxdb-Build", "Tether");
}

static void begin_write(void *context, const tt_web_request *request) {
  add_version(request);
  tt_upload_begin(context, request, &tt_upload_line);
}

static void handle_write(void *context, const tt_web_request *request) {
  tt_upload_answer(context, request);
}

static void respond(const tt_web_request *request, unsigned status, const char *text) {
  add_version(request);
  if (text)
    tt_web_respond(request, status, "application/json", text, strlen(text));
  else
    soup_server_message_set_status(request->message, status, NULL);
}

/** The value of a key of a query or form, which may be NULL; to be freed; NULL: it has none. */
static char *parameter(const char *form, const char *name) {
  GHashTable *keys = form ? soup_form_decode(form) : NULL;
  char *text = keys ? g_strdup(g_hash_table_lookup(keys, name)) : NULL;
  if (keys) g_hash_table_unref(keys);
  return text;
}

static void handle_ping(void *context, const tt_web_request *request) {
  (void)context;
  char *verbose = parameter(request->query, "verbose");
  const bool wordy = verbose && strcmp(verbose, "false") != 0 && strcmp(verbose, "0") != 0;
  respond(request, wordy ? 200 : 204, wordy ? "{\"version\":\"" TETHER_VERSION "\"}\n" : NULL);
  g_free(verbose);
}

/** Whether devices had better send to another collector: what waits to be durable has waited for long. What is kept in a spool is. */
static bool is_behind(const tt_collector_stats *stats) {
  if (stats->follows) return stats->store_trouble.since || stats->log_trouble.since;
  return stats->lag > MOST_LAG;
}

static void handle_health(void *context, const tt_web_request *request) {
  const tt_telemetry_routes *routes = context;
  tt_collector_stats stats;
  tt_collector_get_stats(routes->collector, &stats);
  if (is_behind(&stats))
    respond(request, 503,
            "{\"name\":\"tether\",\"message\":\"nothing is stored now; /telemetry/status says "
            "why\",\"status\":\"fail\",\"checks\":[],\"version\":\"" TETHER_VERSION "\"}\n");
  else
    respond(request, 200,
            "{\"name\":\"tether\",\"message\":\"ready for queries and writes\",\"status\":\"pass\","
            "\"checks\":[],\"version\":\"" TETHER_VERSION "\"}\n");
}

/** What is asked, to be freed: in the URL, or as a form, which Telegraf and curl send. NULL: nothing is. */
static char *asked(const tt_web_request *request) {
  char *query = parameter(request->query, "q");
  if (query) return query;
  GBytes *body = soup_message_body_flatten(soup_server_message_get_request_body(request->message));
  gsize size;
  const char *text = g_bytes_get_data(body, &size);
  char *form = g_strndup(text ? text : "", size);
  query = parameter(form, "q");
  g_free(form);
  g_bytes_unref(body);
  return query;
}

/** Clients of 1.x make their database before they write; there is nothing to be made. */
static void handle_query(void *context, const tt_web_request *request) {
  (void)context;
  static const char create[] = "CREATE DATABASE ";
  char *query = asked(request);
  if (query && !g_ascii_strncasecmp(query, create, strlen(create)))
    respond(request, 200, "{\"results\":[{\"statement_id\":0}]}\n");
  else
    respond(request, 400,
            "{\"error\":\"queries are not answered; tables are at /telemetry.json and "
            "/telemetry.csv\"}\n");
  g_free(query);
}

void tt_telemetry_influx_add(tt_telemetry_routes *routes) {
  const tt_web_route all[] = {
      {.path = "/write",
       .drive = "POST",
       .handle = handle_write,
       .begin = begin_write,
       .max_body = TT_UPLOAD_MAX},
      {.path = "/api/v2/write",
       .drive = "POST",
       .handle = handle_write,
       .begin = begin_write,
       .max_body = TT_UPLOAD_MAX},
      {.path = "/ping", .watch = "GET", .handle = handle_ping},
      {.path = "/health", .watch = "GET", .handle = handle_health},
      {.path = "/query", .watch = "GET", .drive = "POST", .handle = handle_query},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i];
    route.context = routes;
    tt_web_add_route(routes->web, &route);
  }
}

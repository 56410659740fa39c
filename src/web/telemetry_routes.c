/* telemetry_routes.c: telemetry over HTTP and WebSocket: what is at which path; docs/telemetry.md and /openapi.json
 * describe each.
 */
#include "web/telemetry_routes.h"

#include "base/json.h"
#include "web/pages.h"
#include "web/telemetry_routes_internal.h"

static void serve_page(const tt_web_request *request, const char *name) {
  size_t size;
  const char *type, *bytes = tt_page(name, &size, &type);
  if (bytes) {
    tt_web_respond(request, 200, type, bytes, size);
  } else {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is nothing at this path");
  }
}

static void handle_telemetry(void *context, const tt_web_request *request) {
  if (!tt_upload_answer_post(context, request)) serve_page(request, "telemetry.html");
}

static void handle_status(void *context, const tt_web_request *request) {
  tt_telemetry_routes *routes = context;
  tt_collector_stats stats;
  tt_web_stats web;
  tt_collector_get_stats(routes->collector, &stats);
  tt_web_get_stats(routes->web, &web);
  struct json_object *object = json_object_new_object();
  const struct {
    const char *key;
    uint64_t value;
  } counters[] = {
      {"messages", stats.messages},
      {"refused", stats.refused},
      {"values", stats.values},
      {"stored_values", stats.stored_values},
      {"skipped_values", stats.skipped_values},
      {"bad_values", stats.bad_values},
      {"lost_values", stats.lost_values},
      {"batches", stats.batches},
      {"queued_bytes", stats.queued_bytes},
      {"clock_ahead_seconds", (uint64_t)stats.clock_ahead / 1000000},
      {"devices", (uint64_t)stats.devices},
      {"attributes", (uint64_t)stats.attributes},
      {"live_readers", (uint64_t)stats.readers},
      {"spooled_bytes", stats.store_state.spooled_bytes},
      {"spool_lost_bytes", stats.store_state.spool_lost_bytes},
      {"spool_lost_samples", stats.store_state.spool_lost_samples},
      {"web_connections", (uint64_t)web.connections},
      {"web_refused_connections", web.refused_connections},
      {"web_cut_connections", web.cut},
  };
  tt_json_add_text(object, "store", stats.store);
  tt_json_add_bool(object, "degraded", stats.store_state.degraded);
  tt_json_add_text(object, "reason", stats.store_state.degraded ? stats.store_state.reason : NULL);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    tt_json_add_int(object, counters[i].key, (int64_t)counters[i].value);
  }
  tt_telemetry_names_respond(request, object);
}

static void handle_page(void *context, const tt_web_request *request) {
  (void)context;
  serve_page(request, request->path + 1);
}

/* --- beginning and end --- */

tt_telemetry_routes *tt_telemetry_routes_new(tt_web *web, tt_collector *collector) {
  tt_telemetry_routes *routes = g_new0(tt_telemetry_routes, 1);
  routes->web = web;
  routes->collector = collector;
  routes->waiting = g_ptr_array_new();
  routes->inputs = g_ptr_array_new();
  const tt_web_route all[] = {
      {.path = "/telemetry",
       .methods = "GET POST",
       .handle = handle_telemetry,
       .begin = tt_upload_begin_post,
       .max_body = TT_UPLOAD_MAX},
      {.path = "/telemetry.xml", .methods = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry.csv", .methods = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry.json", .methods = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry/devices",
       .methods = "GET DELETE",
       .handle = tt_telemetry_names_handle_devices},
      {.path = "/telemetry/devices/",
       .methods = "GET PUT DELETE",
       .handle = tt_telemetry_names_handle_devices},
      {.path = "/telemetry/attributes",
       .methods = "GET DELETE",
       .handle = tt_telemetry_names_handle_attributes},
      {.path = "/telemetry/attributes/",
       .methods = "GET PUT DELETE",
       .handle = tt_telemetry_names_handle_attributes},
      {.path = "/telemetry/handling",
       .methods = "GET",
       .handle = tt_telemetry_names_handle_handling},
      {.path = "/telemetry/handling/",
       .methods = "PUT DELETE",
       .handle = tt_telemetry_names_handle_handling},
      {.path = "/telemetry/status", .methods = "GET", .handle = handle_status},
      {.path = "/telemetry.js", .methods = "GET", .handle = handle_page},
      {.path = "/telemetry.css", .methods = "GET", .handle = handle_page},
      {.path = "/telemetry.dtd", .methods = "GET", .handle = handle_page},
      {.path = "/message.dtd", .methods = "GET", .handle = handle_page},
      {.path = "/openapi.json", .methods = "GET", .handle = handle_page},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i];
    route.context = routes;
    tt_web_add_route(web, &route);
  }
  tt_web_add_socket(
      web, &(tt_web_socket_route){"/telemetry/in", tt_upload_open_socket, TT_UPLOAD_MAX, routes});
  tt_web_add_socket(
      web, &(tt_web_socket_route){"/telemetry/live", tt_telemetry_live_open, 1024, routes});
  tt_collector_on_durable(collector, tt_upload_on_durable, routes);
  return routes;
}

static void explain(void *context, const tt_web_request *request) {
  (void)context;
  tt_web_respond_error(request, TT_NOT_FOUND,
                       "no telemetry is collected here: give the scene a telemetry section, or run "
                       "it with --set telemetry.store=sqlite:FILE");
}

void tt_telemetry_routes_explain(tt_web *web) {
  static const char *const paths[] = {"/telemetry", "/telemetry.xml", "/telemetry.csv",
                                      "/telemetry.json", "/telemetry/"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    tt_web_add_route(
        web,
        &(tt_web_route){.path = paths[i], .methods = "GET POST PUT DELETE", .handle = explain});
  }
}

void tt_telemetry_routes_stop(tt_telemetry_routes *routes) {
  if (routes) tt_collector_off_durable(routes->collector, tt_upload_on_durable, routes);
}

void tt_telemetry_routes_free(tt_telemetry_routes *routes) {
  if (!routes) return;
  g_ptr_array_unref(routes->waiting);
  g_ptr_array_unref(routes->inputs);
  g_free(routes);
}

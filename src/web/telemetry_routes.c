/* telemetry_routes.c: telemetry over HTTP and WebSocket: what is at which path; docs/telemetry.md and /openapi.json
 * describe each.
 */
#include "web/telemetry_routes.h"

#include "web/metrics.h"
#include "web/pages.h"
#include "web/telemetry_formats.h"

#include <stdio.h>

static void serve_document(const tt_web_request *request, const char *name) {
  size_t size;
  const char *type, *bytes = tt_page(name, &size, &type);
  if (bytes) {
    tt_web_respond(request, 200, type, bytes, size);
  } else {
    tt_web_respond_error(request, TT_NOT_FOUND, "there is nothing at this path");
  }
}

/** To the page that shows telemetry; relative, for whoever stands in front may have put us below a path. */
static void lead_to_page(const tt_web_request *request) {
  static const char text[] = "The page is #telemetry.\n";
  char *to = g_strconcat("./", request->query ? "?" : "", request->query ? request->query : "",
                         "#telemetry", NULL);
  soup_message_headers_replace(soup_server_message_get_response_headers(request->message),
                               "Location", to);
  tt_web_respond(request, 303, "text/plain; charset=utf-8", text, sizeof text - 1);
  g_free(to);
}

static void begin_telemetry(void *context, const tt_web_request *request) {
  tt_upload_begin(context, request, &tt_upload_xml);
}

static void begin_json(void *context, const tt_web_request *request) {
  tt_upload_begin(context, request, &tt_upload_json);
}

static void handle_json(void *context, const tt_web_request *request) {
  tt_upload_answer(context, request);
}

static void handle_telemetry(void *context, const tt_web_request *request) {
  if (!tt_upload_answer(context, request)) lead_to_page(request);
}

static void handle_document(void *context, const tt_web_request *request) {
  (void)context;
  serve_document(request, request->path + 1);
}

/* --- beginning and end --- */

/** A copy of a list of the section, NULL-terminated. */
static char **copy_list(char *const *list, unsigned count) {
  char **copy = g_new0(char *, count + 1);
  for (unsigned i = 0; i < count; i++) copy[i] = g_strdup(list[i]);
  return copy;
}

tt_telemetry_routes *tt_telemetry_routes_new(tt_web *web, tt_collector *collector,
                                             const tt_telemetry_keys *keys) {
  static char device[] = "device", host[] = "host", *const usual[] = {device, host};
  tt_telemetry_routes *routes = g_new0(tt_telemetry_routes, 1);
  routes->web = web;
  routes->collector = collector;
  routes->device_tags = keys->device_tag_count
                            ? copy_list(keys->device_tags, keys->device_tag_count)
                            : copy_list(usual, 2);
  routes->ignored_tags = copy_list(keys->ignored_tags, keys->ignored_tag_count);
  routes->waiting = g_ptr_array_new();
  routes->inputs = g_ptr_array_new();
  const tt_web_route all[] = {
      {.path = "/telemetry",
       .watch = "GET",
       .drive = "POST",
       .handle = handle_telemetry,
       .begin = begin_telemetry,
       .max_body = TT_UPLOAD_MAX},
      {.path = "/telemetry/json",
       .drive = "POST",
       .handle = handle_json,
       .begin = begin_json,
       .max_body = TT_UPLOAD_MAX},
      {.path = "/telemetry.xml", .watch = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry.csv", .watch = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry.json", .watch = "GET", .handle = tt_tables_handle},
      {.path = "/telemetry/latest.json", .watch = "GET", .handle = tt_tables_handle_latest},
      {.path = "/telemetry/devices",
       .watch = "GET",
       .administer = "DELETE",
       .handle = tt_telemetry_names_handle_devices},
      {.path = "/telemetry/devices/",
       .watch = "GET",
       .administer = "PUT DELETE",
       .handle = tt_telemetry_names_handle_devices},
      {.path = "/telemetry/attributes",
       .watch = "GET",
       .administer = "DELETE",
       .handle = tt_telemetry_names_handle_attributes},
      {.path = "/telemetry/attributes/",
       .watch = "GET",
       .administer = "PUT DELETE",
       .handle = tt_telemetry_names_handle_attributes},
      {.path = "/telemetry/handling", .watch = "GET", .handle = tt_telemetry_names_handle_handling},
      {.path = "/telemetry/handling/",
       .administer = "PUT DELETE",
       .handle = tt_telemetry_names_handle_handling},
      {.path = "/telemetry/status", .watch = "GET", .handle = tt_telemetry_status_handle},
      {.path = "/telemetry.dtd", .watch = "GET", .handle = handle_document},
      {.path = "/message.dtd", .watch = "GET", .handle = handle_document},
      {.path = "/message.schema.json", .watch = "GET", .handle = handle_document},
      {.path = "/openapi.json", .watch = "GET", .handle = handle_document},
  };
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    tt_web_route route = all[i];
    route.context = routes;
    tt_web_add_route(web, &route);
  }
  tt_telemetry_influx_add(routes);
  tt_web_add_metrics(web, tt_telemetry_status_write_metrics, routes);
  tt_web_add_socket(web, &(tt_web_socket_route){"/telemetry/in", TT_ROLE_DRIVE,
                                                tt_upload_open_socket, TT_UPLOAD_MAX, routes});
  tt_web_add_socket(web, &(tt_web_socket_route){"/telemetry/live", TT_ROLE_WATCH,
                                                tt_telemetry_live_open, 1024, routes});
  tt_collector_on_durable(collector, tt_upload_on_durable, routes);
  return routes;
}

static void explain(void *context, const tt_web_request *request) {
  (void)context;
  const tt_store_backend *proposed = tt_store_default_backend();
  char text[256];
  snprintf(text, sizeof text,
           "no telemetry is collected here: give the scene a telemetry section, or run it with "
           "--set telemetry.store=%s",
           proposed ? proposed->example : "URL");
  tt_web_respond_error(request, TT_NOT_FOUND, text);
}

void tt_telemetry_routes_explain(tt_web *web) {
  static const char *const paths[] = {"/telemetry",      "/telemetry.xml", "/telemetry.csv",
                                      "/telemetry.json", "/telemetry/",    "/write",
                                      "/api/v2/write"};
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    tt_web_add_route(web, &(tt_web_route){.path = paths[i],
                                          .watch = "GET",
                                          .drive = "POST",
                                          .administer = "PUT DELETE",
                                          .handle = explain});
  }
}

void tt_telemetry_routes_stop(tt_telemetry_routes *routes) {
  if (routes) tt_collector_off_durable(routes->collector, tt_upload_on_durable, routes);
}

void tt_telemetry_routes_free(tt_telemetry_routes *routes) {
  if (!routes) return;
  g_ptr_array_unref(routes->waiting);
  g_ptr_array_unref(routes->inputs);
  g_strfreev(routes->device_tags);
  g_strfreev(routes->ignored_tags);
  g_free(routes);
}

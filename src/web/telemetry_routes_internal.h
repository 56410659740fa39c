/* telemetry_routes_internal.h: shared by telemetry_routes.c (what is at which path), telemetry_upload.c (messages in),
 * telemetry_formats.c (what they are written in), telemetry_influx.c (paths of InfluxDB), telemetry_tables.c (tables out), telemetry_live.c (samples as they come), telemetry_names.c (names and handling)
 * and telemetry_removal.c (what is to be gone).
 */
#ifndef TT_WEB_TELEMETRY_ROUTES_INTERNAL_H
#define TT_WEB_TELEMETRY_ROUTES_INTERNAL_H

#include "telemetry/table.h"
#include "web/telemetry_routes.h"

#include <json-c/json.h>

/** Of one POST, which may hold many messages. */
#define TT_UPLOAD_MAX (16u << 20)

struct tt_telemetry_routes {
  tt_web *web;
  tt_collector *collector;
  GPtrArray *waiting;                 /**< uploads: answers that wait for the store. Web's thread */
  GPtrArray *inputs;                  /**< uploads: open WebSockets. Web's thread */
  char **device_tags, **ignored_tags; /**< of line protocol: see tt_line_options */
  gint told;                          /**< atomic: a look at what became durable is scheduled */
};

/* Handlers of tt_web_route and tt_web_socket_route; their context is the tt_telemetry_routes. */

/** A POST of messages behind its body: answers once all is durable. False: it is no POST. */
bool tt_upload_answer(tt_telemetry_routes *routes, const tt_web_request *request);
void tt_upload_open_socket(void *context, const tt_web_request *request,
                           SoupWebsocketConnection *connection);
/** Something became durable: wakes those who wait. Store's thread. */
void tt_upload_on_durable(void *context);

/** GET /telemetry/status. */
void tt_telemetry_status_handle(void *context, const tt_web_request *request);
/** The same for Prometheus; see tt_web_add_metrics(). */
void tt_telemetry_status_write_metrics(void *context, GString *out);

/** Adds the paths at which clients of InfluxDB write. */
void tt_telemetry_influx_add(tt_telemetry_routes *routes);

/** What is answered with that came of asking the store: TT_FULL, so 503, where it can't be asked, since it may be there later; `error` says
 *  so and what to do. */
tt_status tt_telemetry_explain_store(tt_status status, tt_error *error);

/** GET of a table in any format. */
void tt_tables_handle(void *context, const tt_web_request *request);
/** GET of the newest value of each attribute. */
void tt_tables_handle_latest(void *context, const tt_web_request *request);
/** Reads a query like those of tables, the server's token left out; to be cleared. */
tt_status tt_tables_parse_query(const tt_web_request *request, tt_table_query *query,
                                tt_error *error);

/** A WebSocket that is sent samples as they come. */
void tt_telemetry_live_open(void *context, const tt_web_request *request,
                            SoupWebsocketConnection *connection);

/** GET lists, PUT names or sets, DELETE removes: devices, attributes, handling. */
void tt_telemetry_names_handle_devices(void *context, const tt_web_request *request);
void tt_telemetry_names_handle_attributes(void *context, const tt_web_request *request);
void tt_telemetry_names_handle_handling(void *context, const tt_web_request *request);

/** DELETE of a device or an attribute. True: it is one, and will be answered. */
bool tt_removal_answer_delete(tt_telemetry_routes *routes, const tt_web_request *request,
                              bool device);

/** Answers with an object or array, which is freed. */
void tt_telemetry_names_respond(const tt_web_request *request, struct json_object *object);

#endif

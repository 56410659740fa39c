/* telemetry_routes.h: telemetry over HTTP and WebSocket: messages in, tables and live samples out, names and handling. */
#ifndef TT_WEB_TELEMETRY_ROUTES_H
#define TT_WEB_TELEMETRY_ROUTES_H

#include "telemetry/service.h"
#include "web/server.h"

typedef struct tt_telemetry_routes tt_telemetry_routes;

/** Registers with a server that has not started; `collector` must outlive both. `keys` were checked; they say which tags are
 *  what. */
tt_telemetry_routes *tt_telemetry_routes_new(tt_web *web, tt_collector *collector,
                                             const tt_telemetry_keys *keys);
/** For a program that collects nothing: the same paths answer 404 and how to change that. */
void tt_telemetry_routes_explain(tt_web *web);
/** Before the server is freed: nothing wakes it any more. NULL-safe. */
void tt_telemetry_routes_stop(tt_telemetry_routes *routes);
/** After the server was freed. NULL-safe. */
void tt_telemetry_routes_free(tt_telemetry_routes *routes);

#endif

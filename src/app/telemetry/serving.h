/* serving.h: telemetry with its pages, until a signal ends it: what `tether collect` and `tether store` have in common. */
#ifndef TT_APP_TELEMETRY_SERVING_H
#define TT_APP_TELEMETRY_SERVING_H

#include "telemetry/service.h"
#include "web/section.h"

/** The same sections as a scene's, from the same declarations. */
typedef struct tt_serving_keys {
  tt_telemetry_keys *telemetry;
  tt_web_keys *web;
} tt_serving_keys;

/** Of a file that has these sections. Static. */
extern const cyaml_schema_value_t tt_serving_schema;

/** Checks what was read from `path`; a section that is not there is made, of defaults. */
tt_status tt_serving_check(tt_serving_keys *keys, const char *path, tt_error *error);
/** Sets telemetry.store, instead of what a file says. */
tt_status tt_serving_set_store(tt_serving_keys *keys, const char *store, tt_error *error);

typedef struct tt_serving {
  const tt_serving_keys *keys;
  bool pages; /**< they are served */
  /** What tt_telemetry_open() is to follow. NULL: nothing. */
  tt_status (*open_log)(void *context, tt_store_log **log, tt_error *error);
  /** Tells people, behind "ready"; `web` is NULL without pages. */
  void (*say_ready)(void *context, tt_telemetry *telemetry, const char *web);
  /** Called before all is closed. May be NULL. */
  void (*say_end)(void *context, const tt_collector_stats *stats);
  void *context;
} tt_serving;
/** Opens everything and serves it until SIGINT, SIGTERM or SIGHUP. Once in a process, whose threads are all begun here. */
tt_status tt_serve(const tt_serving *serving, tt_error *error);

#endif

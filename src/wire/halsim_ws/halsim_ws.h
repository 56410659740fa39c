/* halsim_ws.h: the adapter of the halsim-ws wire: a robot program on WPILib drives a robot over HALSim's WebSocket. */
#ifndef TT_WIRE_HALSIM_WS_HALSIM_WS_H
#define TT_WIRE_HALSIM_WS_HALSIM_WS_H

#include "halsim/mapping.h"
#include "host/wire.h"
#include "host/wire_keys.h"

/** Its keys in a scene. */
typedef struct tt_halsim_ws_config {
  tt_wire_common common;
  char *connect; /**< the program's server; default "ws://127.0.0.1:3300/wpilibws" */
  char *listen;  /**< instead: where the program's client comes to */
  char *path; /**< of `listen`: the path that this robot's program asks for; default "/wpilibws" */
  char *on_disconnect; /**< keep or reset */
  bool *ds;            /**< tells the program what the driver station says; default true */
  tt_halsim_entry *devices;
  unsigned device_count;
} tt_halsim_ws_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_halsim_ws_ops;
extern const tt_schema tt_halsim_ws_schema;

#endif

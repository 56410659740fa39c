/* link.h: the one WebSocket between a wire and its robot program, whoever of them listens. Wires that listen at the same
 * address share it, each with a path of its own.
 */
#ifndef TT_WIRE_HALSIM_WS_LINK_H
#define TT_WIRE_HALSIM_WS_LINK_H

#include "wire/halsim_ws/halsim_ws.h"

#include "websocket/websocket.h"

typedef struct tt_halsim_link tt_halsim_link;

/** Called in the world's thread, within tt_net_poll(). `context` is that of the link. */
typedef struct tt_halsim_link_handler {
  void (*on_open)(void *context, tt_websocket *websocket);
  void (*on_message)(void *context, bool text, const uint8_t *bytes, size_t size);
  /** `came`: there was a connection, which is gone; false: nobody was let in, or nobody let us in. */
  void (*on_close)(void *context, bool came, const char *reason);
} tt_halsim_link_handler;

/** Listens, or begins to connect and goes on trying. Errors are those of tt_websocket_listen(), begun with wire->where; two
 *  wires with the same path are one, too. */
tt_status tt_halsim_link_open(const tt_wire *wire, const tt_halsim_ws_config *config,
                              const tt_halsim_link_handler *handler, void *context,
                              tt_halsim_link **link, tt_error *error);
/** NULL-safe. */
void tt_halsim_link_close(tt_halsim_link *link);
/** Where it listens, with its path, or where it connects to. */
const char *tt_halsim_link_address(const tt_halsim_link *link);

#endif

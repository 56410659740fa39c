/* float_udp.h: the adapter of the float-udp wire: a list of commands in, a list of signals out. */
#ifndef TT_WIRE_FLOAT_UDP_FLOAT_UDP_H
#define TT_WIRE_FLOAT_UDP_FLOAT_UDP_H

#include "host/wire_keys.h"
#include "host/wire.h"

/** Its keys in a scene. */
typedef struct tt_float_udp_config {
  tt_wire_common common;
  char *bind;              /**< where commands arrive; default "127.0.0.1:5801" */
  char *peer;              /**< where sensors go, or "sender"; default "127.0.0.1:5802" */
  tt_name_entry *sensors;  /**< what is sent, in this order; also "time" and "none" */
  tt_name_entry *commands; /**< what arrives, in this order; also "stamp" and "none" */
  unsigned sensor_count, command_count;
  char *time; /**< "grow" (default): `time` goes on through resets; "restart": from 0 again */

  bool time_restarts; /**< set by the check */
} tt_float_udp_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_float_udp_ops;
extern const tt_schema tt_float_udp_schema;

#endif

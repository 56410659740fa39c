/* sharp_json.h: the adapter of the sharp-json wire: three motor speeds in, three encoder counts out, for any robot. */
#ifndef TT_WIRE_SHARP_JSON_SHARP_JSON_H
#define TT_WIRE_SHARP_JSON_SHARP_JSON_H

#include "host/wire_keys.h"
#include "sharp/codec.h"
#include "host/wire.h"

#define TT_SHARP_MOTORS 3 /**< left drive, right drive, elevator */

/** Its keys in a scene. */
typedef struct tt_sharp_json_config {
  tt_wire_common common;
  char *bind;  /**< where commands arrive and states leave from; default "127.0.0.1:8000" */
  char *peer;  /**< where states go, or "sender"; default "127.0.0.1:6000" */
  char *style; /**< "columns" (default) or "json" */
  /** left, right, elevator; the wire's number ÷ 512 is what the entry's scale applies to */
  tt_name_entry *commands;
  tt_name_entry *sensors; /**< left, right, elevator encoder */
  unsigned command_count, sensor_count;
} tt_sharp_json_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_sharp_json_ops;
extern const tt_schema tt_sharp_json_schema;

#endif

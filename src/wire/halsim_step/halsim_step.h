/* halsim_step.h: the adapter of the halsim-step wire: a robot program on WPILib drives a robot in lock-step, its clock stepped by
 * tether-halsim.so in its process (halsim/).
 */
#ifndef TT_WIRE_HALSIM_STEP_HALSIM_STEP_H
#define TT_WIRE_HALSIM_STEP_HALSIM_STEP_H

#include "halsim/mapping.h"
#include "host/wire.h"
#include "host/wire_keys.h"

/** Its keys in a scene. */
typedef struct tt_halsim_step_config {
  tt_wire_common common;
  char *listen;        /**< default "127.0.0.1:3301" */
  char *on_disconnect; /**< reset (default) | keep | exit */
  bool *ds;            /**< tells the program what the driver station says; default true */
  tt_halsim_entry *devices;
  unsigned device_count;
} tt_halsim_step_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_halsim_step_ops;
extern const tt_schema tt_halsim_step_schema;

#endif

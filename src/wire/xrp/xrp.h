/* xrp.h: the adapter of the xrp wire: what a WPILib program for an XRP says to its motors and servos, and what it hears. */
#ifndef TT_WIRE_XRP_XRP_H
#define TT_WIRE_XRP_XRP_H

#include "host/wire_keys.h"
#include "host/wire.h"

/** The lists of a scene. An entry's place is the number of what it means to the program: `motors[1]` is XRPMotor 1. */
typedef enum tt_xrp_list_kind {
  TT_XRP_MOTOR_LIST,
  TT_XRP_SERVO_LIST,  /**< from XRPServo 4 on */
  TT_XRP_OUTPUT_LIST, /**< DIO that the program writes */
  TT_XRP_ENCODER_LIST,
  TT_XRP_RATE_LIST, /**< of the encoders: counts a second */
  TT_XRP_INPUT_LIST,
  TT_XRP_ANALOG_LIST,
  TT_XRP_GYRO_LIST, /**< rate x, y, z, angle x, y, z */
  TT_XRP_ACCELEROMETER_LIST,
  TT_XRP_LISTS
} tt_xrp_list_kind;
#define TT_XRP_COMMAND_LISTS 3 /**< the first of them are commands, the others signals */
#define TT_XRP_ENTRIES 32      /**< of the longest list */

/** One of them, as the scene has it. */
typedef struct tt_xrp_list {
  tt_name_entry *entries;
  unsigned count;
} tt_xrp_list;

/** Its keys in a scene. */
typedef struct tt_xrp_config {
  tt_wire_common common;
  /** where a program's messages arrive, and ours leave from; default "127.0.0.1:3540" */
  char *bind;
  tt_xrp_list lists[TT_XRP_LISTS];
} tt_xrp_config;

/** Each list's key. Static. */
extern const char *const tt_xrp_list_keys[TT_XRP_LISTS];

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_xrp_ops;
extern const tt_schema tt_xrp_schema;

#endif

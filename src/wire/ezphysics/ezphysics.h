/* ezphysics.h: the adapter of the ezphysics wire: bodies, joints, feedback and contacts out; resets, forces and motors in. */
#ifndef TT_WIRE_EZPHYSICS_EZPHYSICS_H
#define TT_WIRE_EZPHYSICS_EZPHYSICS_H

#include "host/wire_keys.h"
#include "host/wire.h"

#include <stdint.h>

/** Whether a body or joint takes part; later marks override earlier ones. */
typedef struct tt_ez_mark {
  char *body;    /**< a body's name, "world", or "*" for all; either this or joint */
  char *joint;   /**< a joint's name or its body's, or "*" */
  bool *send;    /**< its packets are sent; default: as before */
  bool *receive; /**< joints: its commands are obeyed; default: as before */
} tt_ez_mark;

/** What the key `mode` says. */
typedef enum tt_ez_mode { TT_EZ_STEP, TT_EZ_REALTIME } tt_ez_mode;

/** Its keys in a scene. */
typedef struct tt_ezphysics_config {
  tt_wire_common common;
  char *listen;          /**< default "127.0.0.1:5803" unless `connect` stands there */
  char *connect;         /**< the simulator connects to this address instead */
  char *mode;            /**< step (default): send, then wait for a message; realtime: never wait */
  uint64_t steps;        /**< between messages; default: `period`, or the scene's io_period */
  char *connect_timeout; /**< at the start only; default 10 s with `connect`, else 0: no end */
  char *receive_timeout; /**< mode step: wait for a message; default 10 s; 0: no end */
  char *send_timeout;    /**< a peer that does not read is cut; default 5 s; 0: never */
  char *on_disconnect;   /**< keep (default): the world stays as it is; reset; exit */
  bool *names;           /**< name packets on connection; default false */
  tt_ez_mark *marks;     /**< default: all send, the joints of the wire's robot receive */
  unsigned mark_count;

  tt_ez_mode checked_mode;                               /**< set by the check */
  double connect_seconds, receive_seconds, send_seconds; /**< set by the check */
} tt_ezphysics_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_ezphysics_ops;
extern const tt_schema tt_ezphysics_schema;

#endif

/* lockstep_tcp.h: the adapter of the lockstep-tcp wire: one frame out, one set of velocities in, one frame's steps. */
#ifndef TT_WIRE_LOCKSTEP_TCP_LOCKSTEP_TCP_H
#define TT_WIRE_LOCKSTEP_TCP_LOCKSTEP_TCP_H

#include "host/wire_keys.h"
#include "host/wire.h"

#include <stdint.h>

/** Its keys in a scene. */
typedef struct tt_lockstep_tcp_config {
  tt_wire_common common;
  char *listen;             /**< default "127.0.0.1:11235" */
  char *on_disconnect;      /**< reset (default) | keep | exit */
  uint64_t steps_per_frame; /**< default 10 */
  char **joints; /**< default: every hinge and slide joint of its robot, in model order */
  unsigned joint_count;
  char *worlds;        /**< shared (default) | per-connection */
  uint64_t max_worlds; /**< per-connection: how many at once; default 16 */
  int connection;      /**< no key: an accepted connection to serve instead of listening; 0: none */
} tt_lockstep_tcp_config;

/** For the table of adapters, and the keys in a scene. Static. */
extern const tt_wire_ops tt_lockstep_tcp_ops;
extern const tt_schema tt_lockstep_tcp_schema;

#endif

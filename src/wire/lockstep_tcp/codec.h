/* codec.h: the two messages of lockstep-tcp, big-endian. Byte table: docs/wires/lockstep-tcp.md. */
#ifndef TT_WIRE_LOCKSTEP_TCP_CODEC_H
#define TT_WIRE_LOCKSTEP_TCP_CODEC_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define TT_LOCKSTEP_MAX 256 /**< joints in a message */
#define TT_LOCKSTEP_COUNTER 8
#define TT_LOCKSTEP_FRAME_BYTES(joints) (TT_LOCKSTEP_COUNTER + 4 * (joints))
#define TT_LOCKSTEP_VELOCITY_BYTES(joints) (4 * (joints))

/** Simulator → client: what stands after `counter` frames. */
typedef struct tt_lockstep_frame {
  uint64_t counter;
  float positions[TT_LOCKSTEP_MAX]; /**< rad in [−π, π], or m */
} tt_lockstep_frame;

/** Writes TT_LOCKSTEP_FRAME_BYTES(joints) and returns their number. */
size_t tt_lockstep_encode_frame(const tt_lockstep_frame *frame, int joints, uint8_t *bytes);
/** Reads as many. */
void tt_lockstep_decode_frame(const uint8_t *bytes, int joints, tt_lockstep_frame *frame);

/** Writes TT_LOCKSTEP_VELOCITY_BYTES(joints), rad/s or m/s, and returns their number. */
size_t tt_lockstep_encode_velocities(const float *velocities, int joints, uint8_t *bytes);
/** Reads as many. TT_BAD_MESSAGE when one is not finite: `field` says which, from 0. */
tt_status tt_lockstep_decode_velocities(const uint8_t *bytes, int joints, float *velocities,
                                        int *field);

#endif

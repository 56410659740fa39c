/* codec.c: lockstep-tcp frames and velocities to bytes and back. */
#include "wire/lockstep_tcp/codec.h"

#include "base/endian.h"

#include <math.h>

size_t tt_lockstep_encode_frame(const tt_lockstep_frame *frame, int joints, uint8_t *bytes) {
  tt_put_u64_be(bytes, frame->counter);
  for (int i = 0; i < joints; i++)
    tt_put_float_be(bytes + TT_LOCKSTEP_COUNTER + 4 * i, frame->positions[i]);
  return TT_LOCKSTEP_FRAME_BYTES((size_t)joints);
}

void tt_lockstep_decode_frame(const uint8_t *bytes, int joints, tt_lockstep_frame *frame) {
  frame->counter = tt_get_u64_be(bytes);
  for (int i = 0; i < joints; i++)
    frame->positions[i] = tt_get_float_be(bytes + TT_LOCKSTEP_COUNTER + 4 * i);
}

size_t tt_lockstep_encode_velocities(const float *velocities, int joints, uint8_t *bytes) {
  for (int i = 0; i < joints; i++) tt_put_float_be(bytes + 4 * i, velocities[i]);
  return TT_LOCKSTEP_VELOCITY_BYTES((size_t)joints);
}

tt_status tt_lockstep_decode_velocities(const uint8_t *bytes, int joints, float *velocities,
                                        int *field) {
  for (int i = 0; i < joints; i++) {
    velocities[i] = tt_get_float_be(bytes + 4 * i);
    if (isfinite(velocities[i])) continue;
    *field = i;
    return TT_BAD_MESSAGE;
  }
  return TT_OK;
}

/* codec_fuzz.c: any bytes as a lockstep-tcp frame and as velocities: read and written again they are the same, and no
 * accepted velocity is not finite. */
#include "wire/lockstep_tcp/codec.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int joints = size / 4 < TT_LOCKSTEP_MAX ? (int)(size / 4) : TT_LOCKSTEP_MAX;
  uint8_t again[TT_LOCKSTEP_FRAME_BYTES(TT_LOCKSTEP_MAX)];
  float velocities[TT_LOCKSTEP_MAX];
  int field = -1;
  if (tt_lockstep_decode_velocities(data, joints, velocities, &field) == TT_OK) {
    for (int i = 0; i < joints; i++) check(isfinite(velocities[i]));
    check(memcmp(again, data, tt_lockstep_encode_velocities(velocities, joints, again)) == 0);
  } else {
    check(field >= 0 && field < joints && !isfinite(velocities[field]));
  }
  if (size < TT_LOCKSTEP_COUNTER) return 0;
  joints = joints > 2 ? joints - 2 : 0;
  tt_lockstep_frame frame;
  tt_lockstep_decode_frame(data, joints, &frame);
  check(memcmp(again, data, tt_lockstep_encode_frame(&frame, joints, again)) == 0);
  return 0;
}

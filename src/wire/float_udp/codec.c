/* codec.c: float-udp numbers to bytes and back. */
#include "wire/float_udp/codec.h"

#include "base/endian.h"

#include <math.h>

tt_status tt_float_udp_decode(const uint8_t *bytes, size_t size, int count, float *values,
                              tt_drop *drop, int *field) {
  if (size != 4 * (size_t)count) {
    *drop = TT_DROP_LENGTH;
    *field = -1;
    return TT_BAD_MESSAGE;
  }
  for (int i = 0; i < count; i++) {
    values[i] = tt_get_float_le(bytes + 4 * i);
    if (isfinite(values[i])) continue;
    *drop = TT_DROP_NON_FINITE;
    *field = i;
    return TT_BAD_MESSAGE;
  }
  return TT_OK;
}

size_t tt_float_udp_encode(const float *values, int count, uint8_t *bytes) {
  for (int i = 0; i < count; i++) tt_put_float_le(bytes + 4 * i, values[i]);
  return 4 * (size_t)count;
}

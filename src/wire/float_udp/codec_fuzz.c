/* codec_fuzz.c: any bytes as a float-udp message: what is accepted is finite, and written again gives the same bytes. */
#include "wire/float_udp/codec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds) {
  if (!holds) abort();
}

/* The first byte says how many numbers are expected; the rest is the message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) return 0;
  int count = data[0] + 1, field = -2;
  data++;
  size--;
  float values[TT_FLOAT_UDP_MAX];
  uint8_t again[TT_FLOAT_UDP_BYTES];
  tt_drop drop = TT_DROP_COUNT;
  if (tt_float_udp_decode(data, size, count, values, &drop, &field) == TT_OK) {
    for (int i = 0; i < count; i++) check(isfinite(values[i]));
    check(tt_float_udp_encode(values, count, again) == size);
    check(memcmp(data, again, size) == 0);
  } else {
    check(drop == TT_DROP_LENGTH ? field == -1
                                 : drop == TT_DROP_NON_FINITE && field >= 0 && field < count);
  }
  return 0;
}

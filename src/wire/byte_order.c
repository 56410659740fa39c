#include "wire/byte_order.h"

#include "base/endian.h"

#include <math.h>

/* Nobody means such a number. */
static bool is_strange(float value, bool refused) {
  float size = fabsf(value);
  return fpclassify(value) == FP_SUBNORMAL || (refused && !(size < 1e6f));
}

bool tt_floats_look_swapped(const uint8_t *bytes, int count, bool big_endian, bool refused) {
  bool strange = false;
  for (int i = 0; i < count; i++) {
    float little = tt_get_float_le(bytes + 4 * i), big = tt_get_float_be(bytes + 4 * i);
    float here = big_endian ? big : little, size = fabsf(big_endian ? little : big);
    if (here != 0 && !(size > 1e-6f && size < 1e9f)) return false;
    strange = strange || is_strange(here, refused);
  }
  return strange;
}

#include "record/extremes.h"

#include <math.h>

tt_extremes tt_extremes_join(tt_extremes a, tt_extremes b) {
  const double values[4] = {a.one, a.other, b.one, b.other};
  int least = 0, greatest = 0;
  if (isnan(a.one)) return b;
  if (isnan(b.one)) return a;
  for (int i = 1; i < 4; i++) {
    if (values[i] < values[least]) least = i;
    if (values[i] > values[greatest]) greatest = i;
  }
  return least <= greatest ? (tt_extremes){values[least], values[greatest]}
                           : (tt_extremes){values[greatest], values[least]};
}

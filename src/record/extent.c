#include "record/extent.h"

#include <math.h>

void tt_extent_take_in(tt_extent *extent, const double at[3]) {
  for (int i = 0; i < 3; i++) {
    if (!extent->known || at[i] < extent->least[i]) extent->least[i] = at[i];
    if (!extent->known || at[i] > extent->most[i]) extent->most[i] = at[i];
  }
  extent->known = true;
}

double tt_extent_size(const tt_extent *extent) {
  double square = 0;
  for (int i = 0; i < 3; i++) {
    double side = extent->most[i] - extent->least[i];
    square += side * side;
  }
  return extent->known ? sqrt(square) : 0;
}

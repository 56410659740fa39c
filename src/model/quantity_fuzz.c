/* quantity_fuzz.c: any text as a quantity: what is read is finite, and reads the same again from its digits. */
#include "model/unit.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  memcpy(text, data, size);
  text[size] = '\0';
  tt_unit_find(text);
  for (int dimension = 0; dimension < TT_DIMENSION_COUNT; dimension++) {
    double si, again;
    char digits[64];
    if (!tt_quantity_parse(text, (tt_dimension)dimension, &si)) continue;
    snprintf(digits, sizeof digits, "%.17g %s", si, tt_unit_si((tt_dimension)dimension)->name);
    if (!isfinite(si) || !tt_quantity_parse(digits, (tt_dimension)dimension, &again) || si != again)
      abort();
  }
  free(text);
  return 0;
}

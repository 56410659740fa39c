#include "sweep/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 15 digits are always exact on the way there, 17 on the way back. */
static void print_number(double number, char *text, size_t size) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, size, "%.*g", digits, number);
    if (strtod(text, NULL) == number) return;
  }
}

const char *tt_sweep_value_text(const tt_sweep_value *value, char *text, size_t size) {
  if (value->kind == TT_SWEEP_NUMBER)
    print_number(value->number, text, size);
  else
    snprintf(text, size, "%s", value->kind == TT_SWEEP_TEXT ? value->text : "");
  return text;
}

bool tt_sweep_value_equal(const tt_sweep_value *a, const tt_sweep_value *b) {
  if (a->kind != b->kind) return false;
  if (a->kind == TT_SWEEP_TEXT) return strcmp(a->text, b->text) == 0;
  return a->kind == TT_SWEEP_NULL || memcmp(&a->number, &b->number, sizeof a->number) == 0;
}

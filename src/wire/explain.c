#include "wire/explain.h"

#include <math.h>
#include <stdio.h>

static tt_wire_field *add(tt_explanation *to, const char *name, const char *unit, int offset,
                          int size) {
  if (to->count == to->capacity) return NULL;
  tt_wire_field *field = &to->fields[to->count++];
  *field = (tt_wire_field){.offset = offset, .size = size};
  snprintf(field->name, sizeof field->name, "%s", name);
  snprintf(field->unit, sizeof field->unit, "%s", unit);
  return field;
}

tt_wire_field *tt_explain_field(tt_explanation *to, const char *name, const char *unit, int offset,
                                int size) {
  if (size <= to->size - offset) return add(to, name, unit, offset, size);
  if (size <= to->whole - offset) return NULL; /* it is in the message, but not here */
  int here = to->size > offset ? to->size - offset : 0;
  tt_wire_field *field = add(to, name, unit, offset, here);
  if (!field) return NULL;
  if (here)
    snprintf(field->value, sizeof field->value, "%d of %d bytes", here, size);
  else
    snprintf(field->value, sizeof field->value, "missing");
  field->wrong = true;
  return NULL;
}

void tt_explain_number(tt_wire_field *field, double value) {
  if (!field) return;
  snprintf(field->value, sizeof field->value, "%.9g", value);
  field->wrong = field->wrong || !isfinite(value);
}

void tt_explain_rest(tt_explanation *to, int offset) {
  if (to->whole <= offset) return;
  int here = to->size > offset ? to->size - offset : 0;
  tt_wire_field *field = add(to, "surplus", "", offset, here);
  if (!field) return;
  snprintf(field->value, sizeof field->value, "%d too many", to->whole - offset);
  field->wrong = true;
}

/* keep.c: the texts of a description: one pool, which owns them all. */
#include "engine/mujoco/physics_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char *physics_keep(physics_fixed *fixed, const char *format, ...) {
  if (fixed->string_count == fixed->string_capacity) {
    int capacity = fixed->string_capacity ? 2 * fixed->string_capacity : 64;
    char **grown = realloc(fixed->strings, sizeof *grown * (size_t)capacity);
    if (!grown) return NULL;
    fixed->strings = grown;
    fixed->string_capacity = capacity;
  }
  va_list arguments;
  va_start(arguments, format);
  char *text = NULL;
  int n = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (n < 0) return NULL;
  fixed->strings[fixed->string_count++] = text;
  return text;
}

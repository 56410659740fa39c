/* convert.c: unit, scale, offset and wrap, applied in that order on the way out and undone on the way in. */
#include "wire/convert.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static tt_wrap parse_wrap(const char *text) {
  if (text && strcmp(text, "pi") == 0) return TT_WRAP_PI;
  if (text && strcmp(text, "turn") == 0) return TT_WRAP_TURN;
  return TT_WRAP_NONE;
}

tt_status tt_conversion_prepare(const tt_name_entry *entry, tt_dimension dimension,
                                const char *where, tt_conversion *conversion, tt_error *error) {
  const tt_unit *unit = entry->unit ? tt_unit_find(entry->unit) : tt_unit_si(dimension);
  if (!unit || unit->dimension != dimension)
    return tt_fail(error, TT_INVALID, "%s.unit: '%s' does not measure %s; give one of %s", where,
                   entry->unit, entry->name, tt_unit_names(dimension));
  *conversion = (tt_conversion){.unit = unit->scale,
                                .scale = entry->scale,
                                .offset = entry->offset,
                                .wrap = parse_wrap(entry->wrap)};
  if (conversion->wrap != TT_WRAP_NONE && dimension != TT_ANGLE)
    return tt_fail(error, TT_INVALID, "%s.wrap: %s is no angle; leave wrap out", where,
                   entry->name);
  return TT_OK;
}

static double wrap(double si, tt_wrap wrap) {
  switch (wrap) {
    case TT_WRAP_PI: return remainder(si, 2 * PI);
    case TT_WRAP_TURN:
      return fmax(0, si - 2 * PI * floor(si / (2 * PI))); /* rounding may go below 0 */
    default: return si;
  }
}

static float to_float(double value) {
  if (value > FLT_MAX) return FLT_MAX;
  if (value < -FLT_MAX) return -FLT_MAX;
  return (float)value;
}

float tt_convert_out(const tt_conversion *conversion, double si) {
  double wrapped = wrap(si, conversion->wrap);
  float value = to_float(wrapped / conversion->unit * conversion->scale + conversion->offset);
  if (conversion->wrap == TT_WRAP_NONE) return value;
  /* The interval's end on the wire: what rounds beyond it (π) or reaches it (a whole turn) takes the float before. */
  double half = PI / conversion->unit * conversion->scale;
  double end = (conversion->wrap == TT_WRAP_PI ? copysign(half, wrapped * half) : 2 * half) +
               conversion->offset;
  bool beyond = end > conversion->offset ? value > end : value < end;
  if (conversion->wrap == TT_WRAP_TURN) beyond = beyond || value == to_float(end);
  return beyond ? nextafterf(value, (float)conversion->offset) : value;
}

double tt_convert_in(const tt_conversion *conversion, double wire) {
  double si = (wire - conversion->offset) / conversion->scale * conversion->unit;
  return wrap(si, conversion->wrap);
}

float tt_wrap_angle(double angle) {
  static const tt_conversion radians = {.unit = 1, .scale = 1, .wrap = TT_WRAP_PI};
  return tt_convert_out(&radians, angle);
}

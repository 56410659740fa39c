#include "game/field.h"

#include <math.h>

/* About the vertical axis through the origin. */
static void turn(double pose[7], double angle) {
  double x = pose[0], y = pose[1];
  double w = pose[3], i = pose[4], j = pose[5], k = pose[6];
  double c = cos(angle), s = sin(angle);
  double half_c = cos(angle / 2), half_s = sin(angle / 2);
  pose[0] = c * x - s * y;
  pose[1] = s * x + c * y;
  pose[3] = half_c * w - half_s * k;
  pose[4] = half_c * i - half_s * j;
  pose[5] = half_c * j + half_s * i;
  pose[6] = half_c * k + half_s * w;
}

void tt_field_from_arena(const tt_field *field, double pose[7]) {
  pose[0] -= field->x;
  pose[1] -= field->y;
  if (field->heading != 0) turn(pose, -field->heading);
}

void tt_field_to_arena(const tt_field *field, double pose[7]) {
  if (field->heading != 0) turn(pose, field->heading);
  pose[0] += field->x;
  pose[1] += field->y;
}

#include "gltf/place.h"

#include <math.h>

static void multiply(const double a[4], const double b[4], double to[4]) {
  to[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  to[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  to[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  to[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void tt_place_turn(const double q[4], const double v[3], double to[3]) {
  double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                 2 * (q[1] * v[1] - q[2] * v[0])};
  double turned[3] = {v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1],
                      v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2],
                      v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0]};
  for (int i = 0; i < 3; i++) to[i] = turned[i];
}

void tt_place_point(const tt_place *place, const double from[3], double to[3]) {
  tt_place_turn(place->rotation, from, to);
  for (int i = 0; i < 3; i++) to[i] += place->position[i];
}

tt_place tt_place_in(const tt_place *outer, const tt_place *inner) {
  tt_place made;
  tt_place_point(outer, inner->position, made.position);
  multiply(outer->rotation, inner->rotation, made.rotation);
  return made;
}

tt_place tt_place_inverse(const tt_place *place) {
  const double *q = place->rotation;
  tt_place made = {.rotation = {q[0], -q[1], -q[2], -q[3]}};
  tt_place_turn(made.rotation, place->position, made.position);
  for (int i = 0; i < 3; i++) made.position[i] = -made.position[i];
  return made;
}

void tt_place_turns(const double q[4], double turns[3]) {
  double sine = 2 * (q[0] * q[2] - q[3] * q[1]);
  turns[1] = asin(fmax(-1, fmin(sine, 1)));
  if (fabs(sine) > 1 - 1e-12) { /* x and z turn about one line: all of it is said about x */
    turns[0] = 2 * atan2(q[1], q[0]);
    turns[2] = 0;
    return;
  }
  turns[0] = atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
  turns[2] = atan2(2 * (q[0] * q[3] + q[1] * q[2]), 1 - 2 * (q[2] * q[2] + q[3] * q[3]));
}

/* surface.c: boxes, what a profile turned about z gives (spheres, capsules, cylinders), and meshes as triangles. */
#include "gltf/surface.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define SIDES 24  /* of a round thing */
#define QUARTER 6 /* steps from a sphere's pole to its equator */

typedef struct corner {
  double at[3], normal[3];
} corner;

/* y up: (x, y, z) becomes (x, z, -y). */
static void put_vector(tt_bytes *to, const double v[3], float written[3]) {
  written[0] = (float)v[0];
  written[1] = (float)v[2];
  written[2] = (float)-v[1];
  tt_bytes_append(to, written, 3 * sizeof(float));
}

static uint32_t put_corner(tt_surface *to, const tt_place *place, const corner *from) {
  double at[3], normal[3];
  float written[3];
  tt_place_point(place, from->at, at);
  tt_place_turn(place->rotation, from->normal, normal);
  double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  for (int i = 0; i < 3; i++) normal[i] /= length;
  put_vector(&to->normals, normal, written);
  put_vector(&to->positions, at, written);
  for (int i = 0; i < 3; i++) {
    double value = (double)written[i];
    to->lower[i] = to->points == 0 ? value : fmin(to->lower[i], value);
    to->upper[i] = to->points == 0 ? value : fmax(to->upper[i], value);
  }
  return to->points++;
}

static void put_triangle(tt_surface *to, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t corners[3] = {a, b, c};
  tt_bytes_append(&to->indices, corners, sizeof corners);
}

/* Four corners, seen from outside against the clock. */
static void put_quad(tt_surface *to, const tt_place *place, const corner corners[4]) {
  uint32_t first = to->points;
  for (int i = 0; i < 4; i++) put_corner(to, place, &corners[i]);
  put_triangle(to, first, first + 1, first + 2);
  put_triangle(to, first, first + 2, first + 3);
}

static void put_box(tt_surface *to, const tt_place *place, const double half[3]) {
  static const int turns[4][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  for (int axis = 0; axis < 3; axis++) {
    for (int side = -1; side <= 1; side += 2) {
      corner corners[4] = {0};
      for (int i = 0; i < 4; i++) {
        const int *turn = turns[side > 0 ? i : 3 - i];
        corners[i].at[axis] = side * half[axis];
        corners[i].at[(axis + 1) % 3] = turn[0] * half[(axis + 1) % 3];
        corners[i].at[(axis + 2) % 3] = turn[1] * half[(axis + 2) % 3];
        corners[i].normal[axis] = side;
      }
      put_quad(to, place, corners);
    }
  }
}

static void put_plane(tt_surface *to, const tt_place *place, const double size[3], double endless) {
  double x = size[0] > 0 ? size[0] : endless, y = size[1] > 0 ? size[1] : endless;
  const corner corners[4] = {{{-x, -y, 0}, {0, 0, 1}},
                             {{x, -y, 0}, {0, 0, 1}},
                             {{x, y, 0}, {0, 0, 1}},
                             {{-x, y, 0}, {0, 0, 1}}};
  put_quad(to, place, corners);
}

/* --- round things --- */

/* A point of a profile: distance from the axis, height, and the normal there in the same way. */
typedef struct profile_point {
  double r, z, nr, nz;
} profile_point;

/* Turns a profile, from the top down, about z, and stretches it. A piece between two points of one place is an edge. */
static void put_turned(tt_surface *to, const tt_place *place, const profile_point *profile,
                       int count, const double stretch[3]) {
  uint32_t first = to->points;
  for (int k = 0; k < count; k++) {
    for (int s = 0; s <= SIDES; s++) {
      const profile_point *p = &profile[k];
      double angle = 2 * PI * (s % SIDES) / SIDES, x = cos(angle), y = sin(angle);
      const corner made = {{stretch[0] * p->r * x, stretch[1] * p->r * y, stretch[2] * p->z},
                           {p->nr * x / stretch[0], p->nr * y / stretch[1], p->nz / stretch[2]}};
      put_corner(to, place, &made);
    }
  }
  for (int k = 0; k + 1 < count; k++) {
    const profile_point *above = &profile[k], *below = &profile[k + 1];
    if (above->r == below->r && above->z == below->z) continue;
    for (uint32_t s = 0; s < SIDES; s++) {
      uint32_t a = first + (uint32_t)k * (SIDES + 1) + s, b = a + SIDES + 1;
      if (above->r > 0) put_triangle(to, a, b, a + 1);
      if (below->r > 0) put_triangle(to, a + 1, b, b + 1);
    }
  }
}

/* A ball of this radius whose halves are drawn apart by twice `half`; 0: a sphere. */
static void put_ball(tt_surface *to, const tt_place *place, double radius, double half,
                     const double stretch[3]) {
  profile_point profile[2 * (QUARTER + 1)];
  int count = 0;
  for (int side = 1; side >= -1; side -= 2) {
    for (int k = 0; k <= QUARTER; k++) {
      int step = side > 0 ? k : QUARTER - k;
      double angle = PI / 2 * step / QUARTER, r = step == 0 ? 0 : sin(angle), z = side * cos(angle);
      if (half == 0 && side < 0 && k == 0) continue; /* the equator is there already */
      profile[count++] = (profile_point){radius * r, radius * z + side * half, r, z};
    }
  }
  put_turned(to, place, profile, count, stretch);
}

static void put_cylinder(tt_surface *to, const tt_place *place, double r, double half) {
  static const double as_it_is[3] = {1, 1, 1};
  const profile_point profile[] = {{0, half, 0, 1},  {r, half, 0, 1},   {r, half, 1, 0},
                                   {r, -half, 1, 0}, {r, -half, 0, -1}, {0, -half, 0, -1}};
  put_turned(to, place, profile, sizeof profile / sizeof *profile, as_it_is);
}

/* --- meshes --- */

/* Each triangle has corners of its own, since edges of machines are sharp. One without an area has no normal, and is left out. */
static void put_mesh(tt_surface *to, const tt_place *place, const tt_mesh *mesh) {
  for (int t = 0; t < mesh->triangle_count; t++) {
    corner corners[3];
    for (int i = 0; i < 3; i++) {
      const float *at = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)t + (size_t)i];
      for (int k = 0; k < 3; k++) corners[i].at[k] = (double)at[k];
    }
    double a[3], b[3], normal[3];
    for (int k = 0; k < 3; k++) a[k] = corners[1].at[k] - corners[0].at[k];
    for (int k = 0; k < 3; k++) b[k] = corners[2].at[k] - corners[0].at[k];
    for (int k = 0; k < 3; k++)
      normal[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    if (!(fabs(normal[0]) + fabs(normal[1]) + fabs(normal[2]) > 1e-14)) continue;
    uint32_t first = to->points;
    for (int i = 0; i < 3; i++) {
      memcpy(corners[i].normal, normal, sizeof normal);
      put_corner(to, place, &corners[i]);
    }
    put_triangle(to, first, first + 1, first + 2);
  }
}

void tt_surface_add(tt_surface *surface, const tt_shape *shape, const tt_mesh *meshes,
                    const tt_place *place, double endless) {
  static const double as_it_is[3] = {1, 1, 1};
  tt_place own;
  memcpy(own.position, shape->position, sizeof own.position);
  memcpy(own.rotation, shape->rotation, sizeof own.rotation);
  tt_place at = tt_place_in(place, &own);
  const double *size = shape->size;
  switch (shape->kind) {
    case TT_PLANE: put_plane(surface, &at, size, endless); break;
    case TT_SPHERE: put_ball(surface, &at, size[0], 0, as_it_is); break;
    case TT_CAPSULE: put_ball(surface, &at, size[0], size[1], as_it_is); break;
    case TT_ELLIPSOID: put_ball(surface, &at, 1, 0, size); break;
    case TT_CYLINDER: put_cylinder(surface, &at, size[0], size[1]); break;
    case TT_BOX: put_box(surface, &at, size); break;
    case TT_MESH:
    case TT_HEIGHTFIELD:
      if (shape->mesh >= 0) put_mesh(surface, &at, &meshes[shape->mesh]);
      break;
  }
}

void tt_surface_free(tt_surface *surface) {
  tt_bytes_free(&surface->positions);
  tt_bytes_free(&surface->normals);
  tt_bytes_free(&surface->indices);
}

#include "draft/picture.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 320.0
#define HEIGHT 200.0
#define MARGIN 8.0
#define MOST_SHAPES 4000
#define AROUND 20       /* corners of a circle */
#define MOST_POINTS 512 /* of a shape whose outline is drawn */

/* The eye looks from above one corner: unit vectors to the right and up in the picture, and towards the eye. */
static const double to_right[3] = {0.8660254, -0.5, 0},
                    to_top[3] = {0.2867882, 0.4967317, 0.8191520},
                    to_eye[3] = {-0.4095760, -0.7094065, 0.5735764};
static const double light[3] = {-0.35, -0.45, 0.82};

typedef struct point {
  double x, y;
} point;

/* A shape in the arena's frame, with what it is sorted by. */
typedef struct solid {
  const tt_shape *shape;
  double position[3], rotation[9];
  double depth; /* m, towards the eye */
  double top;   /* m */
  bool ground;  /* it lies below the others */
} solid;

typedef struct drawing {
  const tt_scenery *scenery;
  solid *solids;
  int count;
  double lower[2], upper[2]; /* of what is seen, m */
  double floor[2][2];        /* x and y of what stands on the ground, m */
  double scale;              /* pixels a metre */
  bool plane;
  FILE *out;
} drawing;

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void to_matrix(const double q[4], double m[9]) {
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double made[9] = {
      1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
      2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
      2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  memcpy(m, made, sizeof made);
}

static void transform(const double m[9], const double t[3], const double from[3], double to[3]) {
  for (int i = 0; i < 3; i++)
    to[i] = m[3 * i] * from[0] + m[3 * i + 1] * from[1] + m[3 * i + 2] * from[2] + t[i];
}

static point project(const double p[3]) { return (point){dot(p, to_right), -dot(p, to_top)}; }

/* --- outlines --- */

static int by_x(const void *one, const void *other) {
  const point *a = one, *b = other;
  return a->x < b->x ? -1 : a->x > b->x ? 1 : a->y < b->y ? -1 : a->y > b->y;
}

static double turn(point a, point b, point c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/* The convex outline of `count` points, which are put in order; its corners. */
static int outline(point *points, int count, point *hull) {
  int size = 0;
  qsort(points, (size_t)count, sizeof *points, by_x);
  for (int pass = 0; pass < 2; pass++) {
    const int start = size;
    for (int i = 0; i < count; i++) {
      const point next = points[pass ? count - 1 - i : i];
      while (size >= start + 2 && turn(hull[size - 2], hull[size - 1], next) <= 0) size--;
      hull[size++] = next;
    }
    size--;
  }
  return size;
}

/* Points on the surface in its own frame; how many. */
static int sample(const tt_scenery *scenery, const tt_shape *shape, double (*points)[3]) {
  const double *s = shape->size;
  int count = 0;
  if (shape->kind == TT_BOX || shape->kind == TT_HEIGHTFIELD) {
    for (int i = 0; i < 8; i++, count++)
      for (int k = 0; k < 3; k++) points[count][k] = (i >> k) & 1 ? s[k] : -s[k];
    return count;
  }
  if (shape->kind == TT_MESH) {
    if (shape->mesh < 0) return 0;
    const tt_mesh *mesh = &scenery->meshes[shape->mesh];
    const int step = mesh->vertex_count / MOST_POINTS + 1;
    for (int i = 0; i < mesh->vertex_count && count < MOST_POINTS; i += step, count++)
      for (int k = 0; k < 3; k++) points[count][k] = mesh->vertices[3 * i + k];
    return count;
  }
  const bool rings = shape->kind == TT_CYLINDER, capsule = shape->kind == TT_CAPSULE;
  const double half = rings || capsule ? s[1] : 0;
  const int levels = rings ? 1 : 4; /* circles of a hemisphere */
  for (int side = -1; side <= 1; side += 2)
    for (int level = 0; level < levels; level++)
      for (int i = 0; i < AROUND; i++, count++) {
        const double up = 1.5707963 * level / levels, about = 6.2831853 * i / AROUND;
        const double radius[3] = {s[0], shape->kind == TT_ELLIPSOID ? s[1] : s[0],
                                  shape->kind == TT_ELLIPSOID ? s[2]
                                  : rings                     ? 0
                                                              : s[0]};
        points[count][0] = radius[0] * cos(up) * cos(about);
        points[count][1] = radius[1] * cos(up) * sin(about);
        points[count][2] = side * (half + radius[2] * sin(up));
      }
  return count;
}

/* --- gathering --- */

static void grow(drawing *in, const double p[3]) {
  const point at = project(p);
  const double seen[2] = {at.x, at.y};
  for (int i = 0; i < 2; i++) {
    in->lower[i] = fmin(in->lower[i], seen[i]);
    in->upper[i] = fmax(in->upper[i], seen[i]);
    in->floor[i][0] = fmin(in->floor[i][0], p[i]);
    in->floor[i][1] = fmax(in->floor[i][1], p[i]);
  }
}

static void add_solid(drawing *in, const tt_view *view, const tt_shape *shape) {
  double body[9], own[9], points[MOST_POINTS][3], lower[3] = {DBL_MAX, DBL_MAX, DBL_MAX},
                                                  upper[3] = {-DBL_MAX, -DBL_MAX, -DBL_MAX};
  solid *made = &in->solids[in->count];
  *made = (solid){.shape = shape, .top = -DBL_MAX};
  to_matrix(view->body_rotation[shape->body], body);
  to_matrix(shape->rotation, own);
  transform(body, view->body_position[shape->body], shape->position, made->position);
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++)
      for (int l = 0; l < 3; l++) made->rotation[3 * i + k] += body[3 * i + l] * own[3 * l + k];
  const int count = sample(in->scenery, shape, points);
  for (int i = 0; i < count; i++) {
    double p[3];
    transform(made->rotation, made->position, points[i], p);
    grow(in, p);
    for (int k = 0; k < 3; k++) lower[k] = fmin(lower[k], p[k]), upper[k] = fmax(upper[k], p[k]);
  }
  if (!count) return;
  const double centre[3] = {(lower[0] + upper[0]) / 2, (lower[1] + upper[1]) / 2,
                            (lower[2] + upper[2]) / 2};
  made->depth = dot(centre, to_eye);
  made->top = upper[2];
  made->ground = upper[2] - lower[2] < 0.1 * fmin(upper[0] - lower[0], upper[1] - lower[1]);
  in->count++;
}

static bool is_seen(const tt_shape *shape) {
  return !shape->hidden && shape->rgba[3] > 0.02f && shape->kind != TT_PLANE;
}

static void gather(drawing *in, const tt_view *view) {
  for (int i = 0; i < in->scenery->shape_count && in->count < MOST_SHAPES; i++) {
    const tt_shape *shape = &in->scenery->shapes[i];
    in->plane = in->plane || (shape->kind == TT_PLANE && !shape->hidden);
    if (is_seen(shape)) add_solid(in, view, shape);
  }
}

/* What lies flat from the lowest on, then all else from the farthest on. */
static int by_depth(const void *one, const void *other) {
  const solid *a = one, *b = other;
  if (a->ground != b->ground) return a->ground ? -1 : 1;
  const double difference = a->ground ? a->top - b->top : a->depth - b->depth;
  return difference < 0 ? -1 : difference > 0;
}

/* --- drawing --- */

static point pixel(const drawing *in, point at) {
  return (point){WIDTH / 2 + in->scale * (at.x - (in->lower[0] + in->upper[0]) / 2),
                 HEIGHT / 2 + in->scale * (at.y - (in->lower[1] + in->upper[1]) / 2)};
}

static int channel(float value, double shade) {
  return (int)fmin(255, fmax(0, 255 * (double)value * shade));
}

static void draw(const drawing *in, const point *corners, int count, const float rgba[4],
                 double shade) {
  if (count < 3) return;
  fputs("<path d=\"", in->out);
  for (int i = 0; i < count; i++) {
    const point at = pixel(in, corners[i]);
    fprintf(in->out, "%c%.1f %.1f", i ? 'L' : 'M', at.x, at.y);
  }
  const int red = channel(rgba[0], shade), green = channel(rgba[1], shade),
            blue = channel(rgba[2], shade);
  fprintf(in->out, "z\" fill=\"#%02x%02x%02x\" stroke=\"#%02x%02x%02x\"", red, green, blue,
          red * 7 / 10, green * 7 / 10, blue * 7 / 10);
  if (rgba[3] < 0.99f) fprintf(in->out, " opacity=\"%.2f\"", (double)rgba[3]);
  fputs("/>\n", in->out);
}

static void draw_box(const drawing *in, const solid *box) {
  const double *s = box->shape->size;
  for (int axis = 0; axis < 3; axis++) {
    double normal[3];
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int i = 0; i < 3; i++) normal[i] = box->rotation[3 * i + axis];
    const double side = dot(normal, to_eye) > 0 ? 1 : -1;
    point corners[4];
    for (int i = 0; i < 4; i++) {
      double local[3], p[3];
      local[axis] = side * s[axis];
      local[u] = i == 0 || i == 3 ? -s[u] : s[u];
      local[v] = i < 2 ? -s[v] : s[v];
      transform(box->rotation, box->position, local, p);
      corners[i] = project(p);
    }
    draw(in, corners, 4, box->shape->rgba, 0.75 + 0.3 * side * dot(normal, light));
  }
}

/* The end of a cylinder that is seen. */
static void draw_end(const drawing *in, const solid *of) {
  point corners[AROUND];
  double axis[3];
  for (int i = 0; i < 3; i++) axis[i] = of->rotation[3 * i + 2];
  const double side = dot(axis, to_eye) > 0 ? 1 : -1;
  for (int i = 0; i < AROUND; i++) {
    const double about = 6.2831853 * i / AROUND;
    const double local[3] = {of->shape->size[0] * cos(about), of->shape->size[0] * sin(about),
                             side * of->shape->size[1]};
    double p[3];
    transform(of->rotation, of->position, local, p);
    corners[i] = project(p);
  }
  draw(in, corners, AROUND, of->shape->rgba, 0.75 + 0.3 * side * dot(axis, light));
}

static void draw_solid(const drawing *in, const solid *of) {
  double points[MOST_POINTS][3];
  point seen[MOST_POINTS], hull[MOST_POINTS + 1];
  if (of->shape->kind == TT_BOX) {
    draw_box(in, of);
    return;
  }
  const int count = sample(in->scenery, of->shape, points);
  for (int i = 0; i < count; i++) {
    double p[3];
    transform(of->rotation, of->position, points[i], p);
    seen[i] = project(p);
  }
  if (count > 2) draw(in, hull, outline(seen, count, hull), of->shape->rgba, 0.85);
  if (of->shape->kind == TT_CYLINDER) draw_end(in, of);
}

/* The ground, a little larger than what stands on it. */
static void draw_ground(const drawing *in) {
  const float grey[4] = {0.6f, 0.62f, 0.66f, 0.25f};
  const double more =
      0.15 * fmax(in->floor[0][1] - in->floor[0][0], in->floor[1][1] - in->floor[1][0]);
  point corners[4];
  for (int i = 0; i < 4; i++) {
    const bool right = i == 1 || i == 2, top = i > 1;
    corners[i] = project((double[3]){right ? in->floor[0][1] + more : in->floor[0][0] - more,
                                     top ? in->floor[1][1] + more : in->floor[1][0] - more, 0});
  }
  draw(in, corners, 4, grey, 1);
}

static void draw_all(drawing *in) {
  const double width = fmax(0.1, in->upper[0] - in->lower[0]),
               height = fmax(0.1, in->upper[1] - in->lower[1]);
  in->scale = fmin((WIDTH - 2 * MARGIN) / width, (HEIGHT - 2 * MARGIN) / height);
  if (in->plane && in->count) draw_ground(in);
  for (int i = 0; i < in->count; i++) draw_solid(in, &in->solids[i]);
}

char *tt_draft_picture(const tt_sim *sim) {
  char *text = NULL;
  size_t size;
  drawing in = {.scenery = tt_sim_scenery(sim),
                .lower = {DBL_MAX, DBL_MAX},
                .upper = {-DBL_MAX, -DBL_MAX},
                .floor = {{DBL_MAX, -DBL_MAX}, {DBL_MAX, -DBL_MAX}}};
  in.solids = calloc(MOST_SHAPES, sizeof *in.solids);
  in.out = in.solids ? open_memstream(&text, &size) : NULL;
  if (in.out) {
    gather(&in, tt_sim_view(sim));
    if (in.count) qsort(in.solids, (size_t)in.count, sizeof *in.solids, by_depth);
    fprintf(in.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" "
            "height=\"%.0f\" stroke-width=\"0.5\" stroke-linejoin=\"round\">\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_all(&in);
    fputs("</svg>\n", in.out);
    if (fclose(in.out) != 0) free(text), text = NULL;
  }
  free(in.solids);
  return text;
}

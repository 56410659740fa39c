#include "foxglove/scene.h"

#include <json-c/json.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FLOOR 20.0      /* m, half of what is shown of a plane without an end */
#define THICKNESS 0.002 /* m, of a plane */

/* ---- pieces ---- */

static void put(tt_bytes *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a call writes is short: numbers, and names of members. */
static void put(tt_bytes *to, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size < 0 || (size_t)size >= sizeof text)
    to->failed = true;
  else
    tt_bytes_append(to, text, (size_t)size);
}

/* A text of any length, in quotes and escaped. */
static void put_text(tt_bytes *to, const char *text) {
  struct json_object *value = json_object_new_string(text);
  const char *json = value ? json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN) : NULL;
  if (json)
    tt_bytes_append(to, json, strlen(json));
  else
    to->failed = true;
  json_object_put(value);
}

static void put_time(tt_bytes *to, uint64_t time_ns) {
  put(to, "{\"sec\":%llu,\"nsec\":%llu}", (unsigned long long)(time_ns / 1000000000u),
      (unsigned long long)(time_ns % 1000000000u));
}

static void put_vector(tt_bytes *to, const double v[3]) {
  put(to, "{\"x\":%.9g,\"y\":%.9g,\"z\":%.9g}", v[0], v[1], v[2]);
}

/* `q` is w x y z. */
static void put_rotation(tt_bytes *to, const double q[4]) {
  put(to, "{\"x\":%.9g,\"y\":%.9g,\"z\":%.9g,\"w\":%.9g}", q[1], q[2], q[3], q[0]);
}

static void put_pose(tt_bytes *to, const double position[3], const double rotation[4]) {
  put(to, "\"pose\":{\"position\":");
  put_vector(to, position);
  put(to, ",\"orientation\":");
  put_rotation(to, rotation);
  put(to, "}");
}

static void put_color(tt_bytes *to, const float rgba[4]) {
  put(to, "\"color\":{\"r\":%.4g,\"g\":%.4g,\"b\":%.4g,\"a\":%.4g}", (double)rgba[0],
      (double)rgba[1], (double)rgba[2], (double)rgba[3]);
}

/* A primitive that has a size, its brace left open. `along` m: moved on its own z axis. */
static void put_solid(tt_bytes *to, const tt_shape *shape, double x, double y, double z,
                      double along) {
  const double *q = shape->rotation;
  const double axis[3] = {2 * (q[1] * q[3] + q[0] * q[2]), 2 * (q[2] * q[3] - q[0] * q[1]),
                          1 - 2 * (q[1] * q[1] + q[2] * q[2])};
  double position[3];
  for (int i = 0; i < 3; i++) position[i] = shape->position[i] + along * axis[i];
  put(to, "{");
  put_pose(to, position, q);
  put(to, ",\"size\":");
  put_vector(to, (const double[3]){x, y, z});
  put(to, ",");
  put_color(to, shape->rgba);
}

/* ---- what a body shows ---- */

/* Of all shapes those of one kind of primitive; the bodies' shapes are looked at once for each. */
typedef struct drawing {
  tt_bytes *to;
  const tt_scenery *scenery;
  int body;
  int items; /* in the list at hand */
} drawing;

static void next_item(drawing *in) {
  if (in->items++) put(in->to, ",");
}

static void draw_cube(drawing *in, const tt_shape *shape) {
  const double *half = shape->size;
  if (shape->kind != TT_BOX && shape->kind != TT_PLANE) return;
  next_item(in);
  if (shape->kind == TT_BOX)
    put_solid(in->to, shape, 2 * half[0], 2 * half[1], 2 * half[2], 0);
  else
    put_solid(in->to, shape, 2 * (half[0] > 0 ? half[0] : FLOOR),
              2 * (half[1] > 0 ? half[1] : FLOOR), THICKNESS, -THICKNESS / 2);
  put(in->to, "}");
}

static void draw_sphere(drawing *in, const tt_shape *shape) {
  const double *size = shape->size;
  bool ellipsoid = shape->kind == TT_ELLIPSOID, capsule = shape->kind == TT_CAPSULE;
  if (shape->kind != TT_SPHERE && !ellipsoid && !capsule) return;
  for (int end = capsule ? -1 : 0; end <= (capsule ? 1 : 0); end += 2) {
    next_item(in);
    put_solid(in->to, shape, 2 * size[0], 2 * (ellipsoid ? size[1] : size[0]),
              2 * (ellipsoid ? size[2] : size[0]), end * size[1]);
    put(in->to, "}");
  }
}

static void draw_cylinder(drawing *in, const tt_shape *shape) {
  if (shape->kind != TT_CYLINDER && shape->kind != TT_CAPSULE) return;
  next_item(in);
  put_solid(in->to, shape, 2 * shape->size[0], 2 * shape->size[0], 2 * shape->size[1], 0);
  put(in->to, ",\"bottom_scale\":1,\"top_scale\":1}");
}

static void put_triangles(tt_bytes *to, const tt_shape *shape, const tt_mesh *mesh, int first,
                          int count) {
  put(to, "{");
  put_pose(to, shape->position, shape->rotation);
  put(to, ",\"points\":[");
  for (int corner = 3 * first; corner < 3 * (first + count); corner++) {
    const float *point = mesh->vertices + (ptrdiff_t)3 * mesh->triangles[corner];
    put(to, "%s{\"x\":%.5g,\"y\":%.5g,\"z\":%.5g}", corner > 3 * first ? "," : "", (double)point[0],
        (double)point[1], (double)point[2]);
  }
  put(to, "],");
  put_color(to, shape->rgba);
  put(to, ",\"colors\":[],\"indices\":[]}");
}

static const tt_mesh *mesh_of(const drawing *in, const tt_shape *shape) {
  return shape->mesh >= 0 && (shape->kind == TT_MESH || shape->kind == TT_HEIGHTFIELD)
             ? &in->scenery->meshes[shape->mesh]
             : NULL;
}

static bool is_shown(const drawing *in, const tt_shape *shape) {
  return shape->body == in->body && !shape->hidden && shape->rgba[3] > 0;
}

static void draw_all(drawing *in, const char *name, void (*draw)(drawing *, const tt_shape *)) {
  in->items = 0;
  put(in->to, ",\"%s\":[", name);
  for (int i = 0; i < in->scenery->shape_count; i++)
    if (is_shown(in, &in->scenery->shapes[i])) draw(in, &in->scenery->shapes[i]);
  put(in->to, "]");
}

/* Part 0 has what is no mesh; each further one some triangles of one. */
static bool find_triangles(const drawing *in, int part, const tt_shape **shape, int *first) {
  for (int i = 0; i < in->scenery->shape_count; i++) {
    const tt_shape *candidate = &in->scenery->shapes[i];
    const tt_mesh *mesh = is_shown(in, candidate) ? mesh_of(in, candidate) : NULL;
    for (int at = 0; mesh && at < mesh->triangle_count; at += TT_FOXGLOVE_MOST_TRIANGLES) {
      if (--part > 0) continue;
      *shape = candidate;
      *first = at;
      return true;
    }
  }
  return false;
}

static void draw_triangles(drawing *in, const tt_shape *shape, int first) {
  put(in->to, ",\"cubes\":[],\"spheres\":[],\"cylinders\":[],\"triangles\":[");
  const tt_mesh *mesh = mesh_of(in, shape);
  int left = mesh->triangle_count - first;
  put_triangles(in->to, shape, mesh, first,
                left < TT_FOXGLOVE_MOST_TRIANGLES ? left : TT_FOXGLOVE_MOST_TRIANGLES);
  put(in->to, "]");
}

bool tt_foxglove_put_entity(tt_bytes *to, const tt_model *model, const tt_scenery *scenery,
                            int body, int part) {
  drawing in = {.to = to, .scenery = scenery, .body = body};
  const tt_shape *shape = NULL;
  int first = 0;
  char id[16];
  if (part > 0 && !find_triangles(&in, part, &shape, &first)) return false;
  snprintf(id, sizeof id, "%d.%d", body, part);
  put(to, "{\"deletions\":[],\"entities\":[{\"timestamp\":{\"sec\":0,\"nsec\":0},\"frame_id\":");
  put_text(to, model->bodies[body].name);
  put(to, ",\"id\":\"%s\",\"lifetime\":{\"sec\":0,\"nsec\":0},\"frame_locked\":true", id);
  put(to, ",\"metadata\":[],\"arrows\":[],\"lines\":[],\"texts\":[],\"models\":[]");
  if (part == 0) {
    draw_all(&in, "cubes", draw_cube);
    draw_all(&in, "spheres", draw_sphere);
    draw_all(&in, "cylinders", draw_cylinder);
    put(to, ",\"triangles\":[]");
  } else {
    draw_triangles(&in, shape, first);
  }
  put(to, "}]}");
  return true;
}

/* ---- where bodies are ---- */

static void put_transform(tt_bytes *to, uint64_t time_ns, const char *parent, const char *child,
                          const double position[3], const double rotation[4]) {
  put(to, "{\"timestamp\":");
  put_time(to, time_ns);
  put(to, ",\"parent_frame_id\":");
  put_text(to, parent);
  put(to, ",\"child_frame_id\":");
  put_text(to, child);
  put(to, ",\"translation\":");
  put_vector(to, position);
  put(to, ",\"rotation\":");
  put_rotation(to, rotation);
  put(to, "}");
}

void tt_foxglove_put_transforms(tt_bytes *to, const tt_view *view, const tt_field *field,
                                uint64_t time_ns) {
  const tt_model *model = view->model;
  const char *world = model->bodies[0].name;
  put(to, "{\"transforms\":[");
  for (int i = 1; i < model->body_count; i++) {
    if (i > 1) put(to, ",");
    put_transform(to, time_ns, world, model->bodies[i].name, view->body_position[i],
                  view->body_rotation[i]);
  }
  if (field->x != 0 || field->y != 0 || field->heading != 0) {
    if (model->body_count > 1) put(to, ",");
    put_transform(to, time_ns, world, "field", (const double[3]){field->x, field->y, 0},
                  (const double[4]){cos(field->heading / 2), 0, 0, sin(field->heading / 2)});
  }
  put(to, "]}");
}

/* ---- others ---- */

void tt_foxglove_put_log(tt_bytes *to, uint64_t time_ns, const char *source, const char *text) {
  put(to, "{\"timestamp\":");
  put_time(to, time_ns);
  put(to, ",\"level\":2,\"message\":");
  put_text(to, text);
  put(to, ",\"name\":");
  put_text(to, source);
  put(to, ",\"file\":\"\",\"line\":0}");
}

void tt_foxglove_put_value(tt_bytes *to, double value) { put(to, "{\"value\":%.17g}", value); }

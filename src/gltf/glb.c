/* glb.c: nodes, meshes, materials and accessors as JSON, and their numbers behind it.
 *
 * A colour is one material, and all shapes of a thing that have it are one primitive. Pictures are not written: a shape that wears
 * one has its mean colour.
 */
#include "gltf/glb.h"

#include "base/endian.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_COLOURS 256 /* more than that are no help to anybody; the last takes the rest */

enum { ARRAY_BUFFER = 34962, ELEMENT_ARRAY_BUFFER = 34963, FLOAT = 5126, UNSIGNED_INT = 5125 };

typedef struct colour {
  float rgba[4];
  float roughness;
} colour;

typedef struct thing {
  char *name;
  tt_surface *surfaces; /* [MOST_COLOURS]; those without points were not used */
} thing;

struct tt_glb {
  const tt_scenery *scenery;
  thing *things;
  int thing_count;
  colour colours[MOST_COLOURS];
  int colour_count;
};

tt_glb *tt_glb_new(const tt_scenery *scenery) {
  tt_glb *glb = calloc(1, sizeof *glb);
  if (glb) glb->scenery = scenery;
  return glb;
}

void tt_glb_free(tt_glb *glb) {
  if (!glb) return;
  for (int i = 0; i < glb->thing_count; i++) {
    for (int c = 0; c < MOST_COLOURS; c++) tt_surface_free(&glb->things[i].surfaces[c]);
    free(glb->things[i].surfaces);
    free(glb->things[i].name);
  }
  free(glb->things);
  free(glb);
}

tt_status tt_glb_begin(tt_glb *glb, const char *name) {
  thing *grown = realloc(glb->things, sizeof *grown * (size_t)(glb->thing_count + 1));
  if (!grown) return TT_NOMEM;
  glb->things = grown;
  thing made = {strdup(name), calloc(MOST_COLOURS, sizeof(tt_surface))};
  if (!made.name || !made.surfaces) {
    free(made.name);
    free(made.surfaces);
    return TT_NOMEM;
  }
  glb->things[glb->thing_count++] = made;
  return TT_OK;
}

/* --- colours --- */

/* Screens' red, green and blue as the light that they stand for, which glTF asks for. */
static float light_of(double value) {
  double clipped = fmax(0, fmin(value, 1));
  return (float)(clipped <= 0.04045 ? clipped / 12.92 : pow((clipped + 0.055) / 1.055, 2.4));
}

static void mean_colour(const tt_texture *texture, double mean[3]) {
  size_t pixels = (size_t)texture->width * (size_t)texture->height * (texture->cube ? 6 : 1);
  double sums[3] = {0, 0, 0};
  for (size_t i = 0; i < 3 * pixels; i++) sums[i % 3] += texture->pixels[i];
  for (int k = 0; k < 3; k++) mean[k] = pixels > 0 ? sums[k] / (255.0 * (double)pixels) : 1;
}

static colour colour_of(const tt_scenery *scenery, const tt_shape *shape) {
  double mean[3] = {1, 1, 1};
  double shininess = 0.5;
  if (shape->material >= 0) {
    const tt_material *material = &scenery->materials[shape->material];
    shininess = material->shininess;
    if (material->texture >= 0) mean_colour(&scenery->textures[material->texture], mean);
  }
  colour made = {.roughness = (float)fmax(0.2, 1 - 0.7 * shininess)};
  for (int k = 0; k < 3; k++) made.rgba[k] = light_of((double)shape->rgba[k] * mean[k]);
  made.rgba[3] = fmaxf(0, fminf(shape->rgba[3], 1));
  return made;
}

static int find_colour(tt_glb *glb, const colour *wanted) {
  for (int i = 0; i < glb->colour_count; i++)
    if (memcmp(&glb->colours[i], wanted, sizeof *wanted) == 0) return i;
  if (glb->colour_count == MOST_COLOURS) return MOST_COLOURS - 1;
  glb->colours[glb->colour_count] = *wanted;
  return glb->colour_count++;
}

tt_status tt_glb_add_body(tt_glb *glb, int body, const tt_place *place, double endless) {
  const tt_scenery *scenery = glb->scenery;
  thing *to = &glb->things[glb->thing_count - 1];
  for (int i = 0; i < scenery->shape_count; i++) {
    const tt_shape *shape = &scenery->shapes[i];
    if (shape->body != body || shape->hidden || shape->rgba[3] <= 0) continue;
    colour wanted = colour_of(scenery, shape);
    tt_surface *surface = &to->surfaces[find_colour(glb, &wanted)];
    tt_surface_add(surface, shape, scenery->meshes, place, endless);
    if (surface->positions.failed || surface->normals.failed || surface->indices.failed)
      return TT_NOMEM;
  }
  return TT_OK;
}

/* --- the file --- */

typedef struct document {
  struct json_object *root, *nodes, *meshes, *accessors, *views, *shown;
  tt_bytes numbers;
} document;

static void add_number(struct json_object *to, double value) {
  json_object_array_add(to, json_object_new_double(value));
}

static void add_three(struct json_object *to, const char *key, const double values[3]) {
  struct json_object *list = tt_json_add_array(to, key);
  for (int i = 0; i < 3; i++) add_number(list, values[i]);
}

/* Appends the numbers and describes them. Returns the accessor's index. */
static int add_accessor(document *to, const tt_bytes *numbers, int target, int type,
                        const char *shape, size_t count, const tt_surface *bounds) {
  struct json_object *view = json_object_new_object(), *accessor = json_object_new_object();
  tt_json_add_int(view, "buffer", 0);
  tt_json_add_uint(view, "byteOffset", to->numbers.size);
  tt_json_add_uint(view, "byteLength", numbers->size);
  tt_json_add_int(view, "target", target);
  tt_bytes_append(&to->numbers, numbers->data, numbers->size); /* always a multiple of 4 */
  tt_json_add_uint(accessor, "bufferView", json_object_array_length(to->views));
  tt_json_add_int(accessor, "componentType", type);
  tt_json_add_uint(accessor, "count", count);
  tt_json_add_text(accessor, "type", shape);
  if (bounds) {
    add_three(accessor, "min", bounds->lower);
    add_three(accessor, "max", bounds->upper);
  }
  json_object_array_add(to->views, view);
  json_object_array_add(to->accessors, accessor);
  return (int)json_object_array_length(to->accessors) - 1;
}

static void add_primitive(document *to, struct json_object *primitives, const tt_surface *surface,
                          int material) {
  struct json_object *primitive = json_object_new_object(), *attributes = json_object_new_object();
  size_t points = surface->points;
  tt_json_add_int(
      attributes, "POSITION",
      add_accessor(to, &surface->positions, ARRAY_BUFFER, FLOAT, "VEC3", points, surface));
  tt_json_add_int(attributes, "NORMAL",
                  add_accessor(to, &surface->normals, ARRAY_BUFFER, FLOAT, "VEC3", points, NULL));
  tt_json_add(primitive, "attributes", attributes);
  tt_json_add_int(primitive, "indices",
                  add_accessor(to, &surface->indices, ELEMENT_ARRAY_BUFFER, UNSIGNED_INT, "SCALAR",
                               surface->indices.size / sizeof(uint32_t), NULL));
  tt_json_add_int(primitive, "material", material);
  json_object_array_add(primitives, primitive);
}

static void add_node(document *to, const char *name, int mesh) {
  struct json_object *node = json_object_new_object();
  tt_json_add_text(node, "name", name);
  if (mesh >= 0) tt_json_add_int(node, "mesh", mesh);
  json_object_array_add(to->shown, json_object_new_int((int)json_object_array_length(to->nodes)));
  json_object_array_add(to->nodes, node);
}

static void add_thing(document *to, const thing *from, int colours) {
  struct json_object *mesh = json_object_new_object();
  tt_json_add_text(mesh, "name", from->name);
  struct json_object *primitives = tt_json_add_array(mesh, "primitives");
  for (int c = 0; c < colours; c++)
    if (from->surfaces[c].points > 0) add_primitive(to, primitives, &from->surfaces[c], c);
  if (json_object_array_length(primitives) == 0) {
    json_object_put(mesh);
    return;
  }
  json_object_array_add(to->meshes, mesh);
  add_node(to, from->name, (int)json_object_array_length(to->meshes) - 1);
}

static void add_materials(struct json_object *root, const tt_glb *glb) {
  struct json_object *list = tt_json_add_array(root, "materials");
  for (int i = 0; i < glb->colour_count; i++) {
    const colour *from = &glb->colours[i];
    struct json_object *material = json_object_new_object(), *look = json_object_new_object();
    struct json_object *rgba = tt_json_add_array(look, "baseColorFactor");
    for (int k = 0; k < 4; k++) add_number(rgba, (double)from->rgba[k]);
    tt_json_add_double(look, "metallicFactor", 0);
    tt_json_add_double(look, "roughnessFactor", (double)from->roughness);
    tt_json_add(material, "pbrMetallicRoughness", look);
    if (from->rgba[3] < 1) tt_json_add_text(material, "alphaMode", "BLEND");
    json_object_array_add(list, material);
  }
}

static void describe(document *to, const tt_glb *glb) {
  struct json_object *asset = json_object_new_object(), *scene = json_object_new_object();
  to->root = json_object_new_object();
  tt_json_add_text(asset, "version", "2.0");
  tt_json_add_text(asset, "generator", "Tether " TETHER_VERSION);
  tt_json_add(to->root, "asset", asset);
  tt_json_add_int(to->root, "scene", 0);
  json_object_array_add(tt_json_add_array(to->root, "scenes"), scene);
  to->shown = tt_json_add_array(scene, "nodes");
  to->nodes = tt_json_add_array(to->root, "nodes");
  to->meshes = json_object_new_array();
  to->accessors = json_object_new_array();
  to->views = json_object_new_array();
  for (int i = 0; i < glb->thing_count; i++) add_thing(to, &glb->things[i], glb->colour_count);
  if (json_object_array_length(to->nodes) == 0) add_node(to, "nothing", -1);
  if (json_object_array_length(to->meshes) == 0) { /* lists must not be empty */
    json_object_put(to->meshes);
    json_object_put(to->accessors);
    json_object_put(to->views);
    return;
  }
  struct json_object *buffer = json_object_new_object();
  tt_json_add_uint(buffer, "byteLength", to->numbers.size);
  json_object_array_add(tt_json_add_array(to->root, "buffers"), buffer);
  tt_json_add(to->root, "meshes", to->meshes);
  tt_json_add(to->root, "accessors", to->accessors);
  tt_json_add(to->root, "bufferViews", to->views);
  add_materials(to->root, glb);
}

/* Length and kind, then what it holds, filled up to a multiple of 4. */
static void put_chunk(tt_bytes *to, const char kind[4], const void *data, size_t size, char fill) {
  tt_bytes_append_le(to, (size + 3) / 4 * 4, 4);
  tt_bytes_append(to, kind, 4);
  tt_bytes_append(to, data, size);
  while (to->size % 4 != 0 && !to->failed) tt_bytes_append(to, &fill, 1);
}

tt_status tt_glb_write(const tt_glb *glb, tt_bytes *to) {
  document made = {0};
  describe(&made, glb);
  size_t length;
  const char *text = json_object_to_json_string_length(made.root, JSON_C_TO_STRING_PLAIN, &length);
  tt_bytes_cut(to, 0);
  tt_bytes_append(to, "glTF", 4);
  tt_bytes_append_le(to, 2, 4);
  tt_bytes_append_le(to, 0, 4); /* the whole length, below */
  if (text) put_chunk(to, "JSON", text, length, ' ');
  if (made.numbers.size > 0) put_chunk(to, "BIN\0", made.numbers.data, made.numbers.size, 0);
  if (!to->failed) tt_put_le(to->data + 8, to->size, 4);
  bool whole = text && !to->failed && !made.numbers.failed;
  json_object_put(made.root);
  tt_bytes_free(&made.numbers);
  return whole ? TT_OK : TT_NOMEM;
}

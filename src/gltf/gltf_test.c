/* gltf_test.c: places, surfaces, and what a config says of a component. */
#include "base/json.h"
#include "gltf/advantagescope.h"
#include "gltf/glb.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define PI 3.14159265358979323846

#define assert_near(a, b, within)                                                                  \
  do {                                                                                             \
    double a_ = (a), b_ = (b);                                                                     \
    if (!(fabs(a_ - b_) <= (within))) fail_msg(#a " is %.9g, not " #b " = %.9g", a_, b_);          \
  } while (0)

static void turn_about(int axis, double angle, double v[3]) {
  double q[4] = {cos(angle / 2), 0, 0, 0};
  q[1 + axis] = sin(angle / 2);
  tt_place_turn(q, v, v);
}

static void turns_give_the_rotation_again(void **state) {
  (void)state;
  for (int n = 0; n < 400; n++) {
    /* Every eighth part of a turn about each axis: with all that lies on one line. */
    double angles[3] = {n % 8 * PI / 4, n / 8 % 8 * PI / 4, n / 64 % 8 * PI / 4}, turns[3];
    tt_place place = {.rotation = {1, 0, 0, 0}};
    for (int axis = 0; axis < 3; axis++) {
      tt_place next = {.rotation = {cos(angles[axis] / 2), 0, 0, 0}};
      next.rotation[1 + axis] = sin(angles[axis] / 2);
      place = tt_place_in(&next, &place);
    }
    tt_place_turns(place.rotation, turns);
    for (int k = 0; k < 3; k++) {
      double wanted[3] = {0, 0, 0}, made[3] = {0, 0, 0};
      wanted[k] = made[k] = 1;
      tt_place_turn(place.rotation, wanted, wanted);
      for (int axis = 0; axis < 3; axis++) turn_about(axis, turns[axis], made);
      for (int i = 0; i < 3; i++) assert_near(made[i], wanted[i], 1e-7);
    }
  }
}

static void an_inverse_undoes_its_place(void **state) {
  (void)state;
  tt_place place = {{1, -2, 0.5}, {0.5, -0.5, 0.5, 0.5}}, back = tt_place_inverse(&place);
  tt_place none = tt_place_in(&back, &place);
  for (int i = 0; i < 3; i++) assert_near(none.position[i], 0, 1e-12);
  assert_near(fabs(none.rotation[0]), 1, 1e-12);
}

/* Volume within the triangles, and the farthest point from the surface's own normal: all of them look outward. */
static double volume_of(const tt_surface *surface) {
  const float *at = (const float *)surface->positions.data;
  const uint32_t *index = (const uint32_t *)surface->indices.data;
  double volume = 0;
  for (size_t t = 0; t < surface->indices.size / 12; t++) {
    const float *a = at + 3 * index[3 * t], *b = at + 3 * index[3 * t + 1],
                *c = at + 3 * index[3 * t + 2];
    volume += (double)(a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
                       a[2] * (b[0] * c[1] - b[1] * c[0])) /
              6;
  }
  return volume;
}

static void surfaces_enclose_their_shapes(void **state) {
  (void)state;
  static const struct {
    tt_shape shape;
    double volume;
  } cases[] = {
      {{.kind = TT_BOX, .size = {1, 2, 3}}, 48},
      {{.kind = TT_SPHERE, .size = {2}}, 4.0 / 3 * PI * 8},
      {{.kind = TT_ELLIPSOID, .size = {1, 2, 3}}, 4.0 / 3 * PI * 6},
      {{.kind = TT_CYLINDER, .size = {1, 2}}, PI * 4},
      {{.kind = TT_CAPSULE, .size = {1, 2}}, PI * 4 + 4.0 / 3 * PI},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const tt_place place = {{5, 6, 7}, {0.5, 0.5, -0.5, 0.5}};
    tt_shape shape = cases[i].shape;
    tt_surface surface = {0};
    shape.rotation[0] = 1;
    tt_surface_add(&surface, &shape, NULL, &place, 1);
    assert_near(volume_of(&surface) / cases[i].volume, 1, 0.06); /* chords instead of arcs */
    const float *normal = (const float *)surface.normals.data;
    for (size_t n = 0; n < surface.points; n++) {
      double length = 0;
      for (size_t k = 0; k < 3; k++) length += pow((double)normal[3 * n + k], 2);
      assert_near(length, 1, 1e-5);
    }
    assert_near((surface.lower[0] + surface.upper[0]) / 2, 5, 1e-6); /* x, then z up as y */
    assert_near((surface.lower[1] + surface.upper[1]) / 2, 7, 1e-6);
    assert_near((surface.lower[2] + surface.upper[2]) / 2, -6, 1e-6);
    tt_surface_free(&surface);
  }
}

/* --- a robot with a wheel --- */

typedef struct kept {
  char config[4096];
  int models;
} kept;

static tt_status keep(void *context, const char *folder, const char *name, const void *bytes,
                      size_t size, tt_error *error) {
  kept *to = context;
  (void)error;
  assert_string_equal(folder, "Robot_cart");
  if (strcmp(name, "config.json") == 0) {
    assert_true(size < sizeof to->config);
    memcpy(to->config, bytes, size);
  } else {
    assert_memory_equal(bytes, "glTF", 4);
    to->models++;
  }
  return TT_OK;
}

static double number_in(struct json_object *list, size_t index) {
  return json_object_get_double(json_object_array_get_idx(list, index));
}

/* A point of the component's file, taken to the robot's origin as the viewer does, then to where the component's pose says, is
 * where the viewer draws it without a pose. */
static void a_components_pose_carries_it_to_its_place(void **state) {
  (void)state;
  static const tt_body bodies[] = {
      {.name = "world", .robot = TT_NO_ROBOT}, {.name = "chassis"}, {.name = "wheel", .parent = 1}};
  static const tt_robot robots[] = {{.name = "cart", .root_body = 1, .alliance = ""}};
  static const tt_shape shapes[] = {{.kind = TT_BOX,
                                     .body = 2,
                                     .size = {1, 1, 1},
                                     .rotation = {1, 0, 0, 0},
                                     .rgba = {1, 1, 1, 1},
                                     .mesh = -1,
                                     .material = -1}};
  const tt_model model = {.bodies = bodies, .body_count = 3, .robots = robots, .robot_count = 1};
  const tt_scenery scenery = {.shapes = shapes, .shape_count = 1};
  tt_view *view = tt_view_new(&model);
  assert_non_null(view);
  const tt_place root = {{3, 4, 0}, {sqrt(0.5), 0, 0, sqrt(0.5)}};
  const tt_place drawn = {{0.2, -0.3, 0.1}, {0.5, 0.5, 0.5, -0.5}};
  const tt_place stands = tt_place_in(&root, &drawn);
  memcpy(view->body_position[1], root.position, sizeof root.position);
  memcpy(view->body_rotation[1], root.rotation, sizeof root.rotation);
  memcpy(view->body_position[2], stands.position, sizeof stands.position);
  memcpy(view->body_rotation[2], stands.rotation, sizeof stands.rotation);
  kept files = {{0}, 0};
  const tt_assets assets = {.model = &model, .scenery = &scenery, .view = view, .arena = ""};
  const tt_asset_sink sink = {keep, &files};
  tt_error error = {""};
  assert_int_equal(tt_assets_write_robot(&assets, 0, &sink, &error), TT_OK);
  assert_int_equal(files.models, 2);
  struct json_object *config;
  assert_int_equal(
      tt_json_read(files.config, strlen(files.config), TT_JSON_STRICT, &config, &error), TT_OK);
  size_t count;
  struct json_object *component =
      json_object_array_get_idx(tt_json_list(config, "components", &count), 0);
  assert_int_equal(count, 1);
  double point[3] = {0.7, 0.6, -0.5}, upright[3];
  memcpy(upright, point, sizeof point);
  turn_about(0, PI / 2, upright); /* as the robot's own rotations say */
  struct json_object *turns = tt_json_list(component, "zeroedRotations", &count);
  for (size_t i = 0; i < count; i++) {
    struct json_object *turn = json_object_array_get_idx(turns, i), *degrees;
    assert_true(json_object_object_get_ex(turn, "degrees", &degrees));
    turn_about(tt_json_text(turn, "axis")[0] - 'x', json_object_get_double(degrees) * PI / 180,
               point);
  }
  struct json_object *position = tt_json_list(component, "zeroedPosition", &count);
  for (size_t k = 0; k < 3; k++) point[k] += number_in(position, k);
  tt_place_point(&drawn, point, point);
  for (int k = 0; k < 3; k++) assert_near(point[k], upright[k], 1e-9);
  json_object_put(config);
  tt_view_free(view);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(turns_give_the_rotation_again),
      cmocka_unit_test(an_inverse_undoes_its_place),
      cmocka_unit_test(surfaces_enclose_their_shapes),
      cmocka_unit_test(a_components_pose_carries_it_to_its_place),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

/* scene_test.c: a message has what its schema lists, all of it and nothing else. */
#include "foxglove/scene.h"

#include <json-c/json.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

/* Whether `value` is of the type that `schema` gives; a double that is whole is written as an integer. */
static bool has_type(struct json_object *value, const char *type) {
  switch (json_object_get_type(value)) {
    case json_type_object: return strcmp(type, "object") == 0;
    case json_type_array: return strcmp(type, "array") == 0;
    case json_type_string: return strcmp(type, "string") == 0;
    case json_type_boolean: return strcmp(type, "boolean") == 0;
    case json_type_int: return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case json_type_double: return strcmp(type, "number") == 0;
    default: return false;
  }
}

static void check(struct json_object *schema, struct json_object *value, const char *where) {
  struct json_object *properties = json_object_object_get(schema, "properties");
  const char *type = json_object_get_string(json_object_object_get(schema, "type"));
  if (!has_type(value, type)) fail_msg("%s is not of the type %s", where, type);
  if (properties) {
    json_object_object_foreach(properties, name, member) {
      struct json_object *found = json_object_object_get(value, name);
      if (!found) fail_msg("%s has no %s", where, name);
      check(member, found, name);
    }
    assert_int_equal(json_object_object_length(value), json_object_object_length(properties));
  }
  for (size_t i = 0; strcmp(type, "array") == 0 && i < json_object_array_length(value); i++)
    check(json_object_object_get(schema, "items"), json_object_array_get_idx(value, i), where);
}

/* Frees the message. */
static void check_message(const char *schema_text, tt_bytes *message) {
  struct json_object *schema = json_tokener_parse(schema_text);
  tt_bytes_append(message, "", 1);
  assert_false(message->failed);
  struct json_object *value = json_tokener_parse((const char *)message->data);
  assert_non_null(schema);
  assert_non_null(value);
  check(schema, value, "the message");
  json_object_put(schema);
  json_object_put(value);
  tt_bytes_free(message);
}

static const tt_body bodies[] = {{.name = "world"}, {.name = "arm \"1\""}};
static const tt_model model = {.bodies = bodies, .body_count = 2};

static void entities(void **state) {
  (void)state;
  const float corners[][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  const int triangle[] = {0, 1, 2};
  const tt_mesh mesh = {
      .vertices = corners[0], .triangles = triangle, .vertex_count = 3, .triangle_count = 1};
  tt_shape shapes[TT_HEIGHTFIELD + 1];
  for (int kind = 0; kind <= TT_HEIGHTFIELD; kind++)
    shapes[kind] = (tt_shape){.kind = (tt_shape_kind)kind,
                              .body = 1,
                              .size = {0.5, 0.25, 1},
                              .rotation = {1},
                              .rgba = {1, 0.5F, 0, 1},
                              .mesh = kind == TT_MESH ? 0 : -1};
  const tt_scenery scenery = {
      .shapes = shapes, .meshes = &mesh, .shape_count = TT_HEIGHTFIELD + 1, .mesh_count = 1};
  for (int part = 0; part < 2; part++) {
    tt_bytes message = {0};
    assert_true(tt_foxglove_put_entity(&message, &model, &scenery, 1, part));
    check_message(tt_foxglove_scene_schema, &message);
  }
  tt_bytes none = {0};
  assert_false(tt_foxglove_put_entity(&none, &model, &scenery, 1, 2));
  assert_int_equal(none.size, 0);
}

static void transforms(void **state) {
  (void)state;
  double positions[2][3] = {{0}}, rotations[2][4] = {{1}, {1}};
  const tt_view view = {.model = &model, .body_position = positions, .body_rotation = rotations};
  tt_bytes message = {0};
  tt_foxglove_put_transforms(&message, &view, &(tt_field){.x = 1}, 1500000000);
  check_message(tt_foxglove_transforms_schema, &message);
}

static void logs(void **state) {
  (void)state;
  tt_bytes message = {0};
  tt_foxglove_put_log(&message, 1500000000, "arm", "it \"stops\"");
  check_message(tt_foxglove_log_schema, &message);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(entities),
      cmocka_unit_test(transforms),
      cmocka_unit_test(logs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
